//! Where the fields are in a pose.

use super::bend::{Bends, PosedBend};
use super::field::PartField;
use super::fold::{Fold, PosedFold};
use super::motions::dot;
use super::muscle::{Muscles, Swelling};
use super::rod::Rod;
use super::twist::{PosedTwist, Seen, Twist};
use crate::math::{Affine, linear_part};
use crate::numerics::lanes::Padded;

type V = [f32; 3];

/// What the fields of a character are in the bind pose.
#[derive(Clone, Copy)]
pub(super) struct BoundFields<'a> {
    pub(super) fields: &'a [PartField],
    pub(super) folds: &'a [Fold],
    pub(super) twists: &'a [Twist],
    pub(super) bends: &'a Bends,
    pub(super) muscles: &'a Muscles,
}

/// A ball around the box of a field in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ball {
    center: V,
    /// The square of the radius; negative for a field whose transform has no inverse.
    reach: f32,
}

impl Ball {
    /// False for NaN.
    pub(super) fn holds(&self, at: V) -> bool {
        let d: V = std::array::from_fn(|c| at[c] - self.center[c]);
        dot(d, d) < self.reach
    }
}

/// All fields in a pose.
pub(super) struct PosedFields {
    pub(super) balls: Vec<Ball>,
    /// Rows of `bind_from_now` of each.
    rows: Vec<[[f32; 4]; 3]>,
    twists: Vec<PosedTwist>,
    /// Around what each field shows before it is twisted.
    rods: Vec<Rod>,
    /// The bends of joints, by field, and where those of a field are.
    bends: Vec<PosedBend>,
    bends_of: Vec<[u32; 2]>,
    pub(super) folds: Vec<PosedFold>,
    /// Whether fields end between the bones of any fold.
    pub(super) has_closed: bool,
    /// The widths of the muscles.
    pub(super) swellings: Vec<Swelling>,
}

impl PosedFields {
    pub(super) fn new(fields: usize) -> Self {
        let nowhere = Ball {
            center: [0.0; 3],
            reach: -1.0,
        };
        Self {
            balls: vec![nowhere; fields],
            rows: vec![[[0.0; 4]; 3]; fields],
            twists: vec![PosedTwist::NONE; fields],
            rods: vec![Rod::about([0.0; 3], [0.0; 3]); fields],
            bends: Vec::new(),
            bends_of: vec![[0; 2]; fields],
            folds: vec![PosedFold::NONE; fields],
            has_closed: false,
            swellings: Vec::new(),
        }
    }

    /// Moves the fields with their joints: `now_from_bind` of every joint, relative to the centre of the skin, and its rotation as x, y, z, w.
    pub(super) fn follow(
        &mut self,
        bound: &BoundFields<'_>,
        now_from_bind: &[Affine],
        rotations: &[Padded],
    ) {
        self.swell(bound.muscles, now_from_bind);
        Twist::pose(bound.twists, rotations, &mut self.twists);
        let bends = bound.bends;
        bends.pose(now_from_bind, rotations, &mut self.bends);
        for (posed, fold) in self.folds.iter_mut().zip(bound.folds) {
            *posed = fold.posed(now_from_bind);
        }
        self.has_closed = self.folds.iter().any(PosedFold::is_closed);
        for (index, field) in bound.fields.iter().enumerate() {
            let bends = bound.bends.of_field(index);
            let is_bent = self.bends[bends.clone()].iter().any(|b| b.reach() > 0.0);
            self.bends_of[index] = if is_bent {
                [bends.start as u32, bends.end as u32]
            } else {
                [0; 2]
            };
            let ball = &mut self.balls[index];
            let motion = &now_from_bind[field.joint as usize];
            let inverse = motion.try_inverse();
            let inverse = inverse.filter(|i| i.matrix().iter().all(|c| c.is_finite()));
            let Some(inverse) = inverse else {
                ball.reach = -1.0;
                continue;
            };
            let m = inverse.matrix();
            self.rows[index] = [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| m[(r, c)] as f32));
            self.rods[index] = self.twists[index].rod(bound.muscles.rod(index));
            let [low, high] = bound.muscles.corners(index);
            let middle: V = std::array::from_fn(|c| 0.5 * (low[c] + high[c]));
            let half: V = std::array::from_fn(|c| 0.5 * (high[c] - low[c]));
            let center = motion * crate::math::Point64::from(middle.map(f64::from));
            let stretch = linear_part(motion).norm() as f32;
            let mut radius = dot(half, half).sqrt() + self.twists[index].shift(middle);
            for bend in &self.bends[bends] {
                let away: V = std::array::from_fn(|c| bend.at()[c] - middle[c]);
                if bend.reach() > 0.0 {
                    radius = radius.max(dot(away, away).sqrt() + bend.reach());
                }
            }
            *ball = Ball {
                center: [center.x, center.y, center.z].map(|c| c as f32),
                reach: (radius * stretch.max(1.0)).powi(2),
            };
        }
    }

    /// Follows the joints with the muscles alone.
    pub(super) fn swell(&mut self, muscles: &Muscles, now_from_bind: &[Affine]) {
        muscles.follow(&mut self.swellings, now_from_bind);
    }

    /// Whether a muscle is or was wider than at rest.
    pub(super) fn swells(&self) -> bool {
        self.swellings.iter().any(|swelling| swelling.moves)
    }

    /// Forgets how wide the muscles were.
    pub(super) fn forget_swelling(&mut self) {
        self.swellings.clear();
    }

    /// Whether a field may show something at a point; much cheaper than what it shows.
    #[inline]
    pub(super) fn may_hold(&self, field: usize, muscles: &Muscles, at: V) -> bool {
        let here = self.here(field, at);
        let [first, end] = self.bends_of[field].map(|at| at as usize);
        let mut moved = 0.0;
        for bend in &self.bends[first..end] {
            moved += bend.moves_at_most(here, moved);
        }
        if !self.rods[field].holds(here, moved) {
            return false;
        }
        let [low, high] = muscles.corners(field);
        let is_in_box = || (0..3).all(|c| here[c] >= low[c] - moved && here[c] <= high[c] + moved);
        self.twists[field].is_twisted() || is_in_box()
    }

    /// A point seen from the bind pose of a field.
    #[inline]
    fn here(&self, field: usize, at: V) -> V {
        self.rows[field].map(|[x, y, z, w]| x * at[0] + y * at[1] + z * at[2] + w)
    }

    /// What a field shows at a point.
    #[inline]
    pub(super) fn seen(&self, field: usize, at: V) -> Seen {
        let here = self.here(field, at);
        let [first, end] = self.bends_of[field].map(|at| at as usize);
        if first == end {
            return self.twists[field].seen(here);
        }
        let (here, bends) = PosedBend::seen(&self.bends[first..end], here);
        let mut seen = self.twists[field].seen(here);
        seen.bends = bends;
        seen
    }

    /// The gradient of a field at a point, from that at its source.
    #[inline]
    pub(super) fn gradient(&self, field: usize, seen: &Seen, gradient: V) -> V {
        let g = self.twists[field].gradient(seen, gradient);
        let g = seen.bends.gradient(g);
        let rows = &self.rows[field];
        [0, 1, 2].map(|c| rows[0][c] * g[0] + rows[1][c] * g[1] + rows[2][c] * g[2])
    }
}
