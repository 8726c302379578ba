//! The twist of a joint, spread over the fields on both sides of it.
//!
//! Vaillant et al. move every field rigidly with its bone. Where limbs are not round, as torsos are not, the union of two fields that are
//! turned against each other about their bones has the corners of both. Here a part whose bone is the straight continuation of the one
//! that it hangs at shares the twist with it: at a distance s from the joint along the bones, in units of the limb's radius r,
//!
//! ```text
//! W(s) = smoothstep(−r, r, s)
//! ```
//!
//! of the angle θ have been made. The field above turns by θ W about its bone, that below by −θ (1 − W): both agree everywhere.

use super::bend::{Turns, turned};
use super::field::PartField;
use super::fold::Fold;
use super::motions::{between, cross, dot};
use super::rod::Rod;
use crate::math::{Vec64, smooth_and_slope, smoothstep};
use crate::methods::deformer::swing_and_twist;
use crate::numerics::lanes::Padded;

/// A smaller twist is none, rad.
const NOTHING: f32 = 1e-4;
/// cos² of half the swing below which the twist fades out: beyond a half turn it has no meaning.
const FADES: [f64; 2] = [0.05, 0.25];

type V = [f32; 3];

/// A joint at which a twist is spread, in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Twist {
    /// The fields above and below.
    fields: [u16; 2],
    joints: [u32; 2],
    at: Vec64,
    /// Unit vectors along the bones above and below, away from the root.
    axes: [Vec64; 2],
    /// r.
    reach: f64,
}

/// Where a field is twisted near one of its joints.
#[derive(Debug, Clone, Copy, PartialEq)]
struct End {
    at: V,
    axis: V,
    /// How far it is turned at s = −∞, and how much farther at s = ∞, rad.
    turns: [f32; 2],
    /// The sine and the cosine of the turn before and beyond the joint, where it is the same everywhere.
    apart: [[f32; 2]; 2],
    /// 0 for a field that is not twisted there.
    per_reach: f32,
}

/// The turn of an end at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Turn {
    /// From the joint to the point.
    from: V,
    sin: f32,
    cos: f32,
    /// The derivative of the angle along the bone.
    slope: f32,
}

impl Turn {
    const NONE: Self = Self {
        from: [0.0; 3],
        sin: 0.0,
        cos: 1.0,
        slope: 0.0,
    };
}

/// Where a field has what it shows at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    pub(super) source: V,
    /// The turns on the way there, about hinges before those about bones.
    pub(super) bends: Turns,
    /// `None` for a field that is not twisted.
    turns: Option<[Turn; 2]>,
}

/// A field in a pose, as far as it is twisted: at its joint, and where the next bone begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PosedTwist {
    ends: [End; 2],
    is_twisted: bool,
}

impl Twist {
    /// All of them.
    pub(super) fn of(fields: &[PartField], folds: &[Fold]) -> Vec<Self> {
        let straight: Vec<Option<Self>> = folds
            .iter()
            .enumerate()
            .map(|(own, fold)| Self::at(own, fold, fields, folds))
            .collect();
        let is_alone = |twist: &Self| {
            let beside = straight.iter().flatten();
            beside.filter(|t| t.fields[0] == twist.fields[0]).count() == 1
        };
        let twists = straight.iter().flatten();
        twists.copied().filter(is_alone).collect()
    }

    fn at(own: usize, fold: &Fold, fields: &[PartField], folds: &[Fold]) -> Option<Self> {
        if *fold == Fold::NONE || usize::from(fold.parent) >= folds.len() {
            return None;
        }
        let above = fold.at - fold.parent_at;
        let axes = [
            above.try_normalize(1e-12)?,
            fold.along.try_normalize(1e-12)?,
        ];
        if !fold.is_straight() {
            return None;
        }
        let radius = fields[own]
            .radius
            .min(fields[usize::from(fold.parent)].radius);
        let reach = f64::from(radius).min(above.norm()).min(fold.along.norm());
        Some(Self {
            fields: [fold.parent, own as u16],
            joints: [fold.parent_joint, fold.joint],
            at: fold.at.coords,
            axes,
            reach,
        })
    }

    /// θ, rad.
    fn angle(&self, rotations: &[Padded]) -> f32 {
        let (swing, twist) = swing_and_twist(&between(rotations, self.joints), &self.axes[1]);
        (twist * smoothstep(FADES, swing.w * swing.w)) as f32
    }

    /// The fields in a pose. `rotations`: of every joint since the bind pose, x, y, z, w.
    pub(super) fn pose(twists: &[Self], rotations: &[Padded], posed: &mut [PosedTwist]) {
        posed.fill(PosedTwist::NONE);
        let array = |v: &Vec64| [v.x, v.y, v.z].map(|c| c as f32);
        for twist in twists {
            let angle = twist.angle(rotations);
            // Also for NaN.
            if !(angle.abs() > NOTHING && twist.reach > 0.0) {
                continue;
            }
            for (side, first) in [(0, 0.0), (1, -angle)] {
                let field = &mut posed[usize::from(twist.fields[side])];
                field.is_twisted = true;
                field.ends[1 - side] = End {
                    at: array(&twist.at),
                    axis: array(&twist.axes[side]),
                    turns: [first, angle],
                    apart: [first, first + angle].map(|turn: f32| turn.sin_cos().into()),
                    per_reach: 1.0 / twist.reach as f32,
                };
            }
        }
    }
}

impl End {
    const NONE: Self = Self {
        at: [0.0; 3],
        axis: [0.0; 3],
        turns: [0.0; 2],
        apart: [[0.0, 1.0]; 2],
        per_reach: 0.0,
    };

    /// The turn at a point.
    #[inline]
    fn at(&self, at: V) -> Turn {
        if self.per_reach == 0.0 {
            return Turn::NONE;
        }
        let from: V = std::array::from_fn(|c| at[c] - self.at[c]);
        let along = 0.5 + 0.5 * self.per_reach * dot(from, self.axis);
        if along <= 0.0 || along >= 1.0 {
            let [sin, cos] = self.apart[usize::from(along > 0.0)];
            let slope = 0.0;
            return Turn {
                from,
                sin,
                cos,
                slope,
            };
        }
        let [made, slope] = smooth_and_slope(along);
        let [first, more] = self.turns;
        let (sin, cos) = (first + more * made).sin_cos();
        let slope = more * 0.5 * slope * self.per_reach;
        Turn {
            from,
            sin,
            cos,
            slope,
        }
    }

    /// Where the field has what it shows at a point with that turn.
    #[inline]
    fn source(&self, at: V, turn: &Turn) -> V {
        if turn.sin == 0.0 && turn.cos == 1.0 {
            return at;
        }
        let turned = turned(self.axis, -turn.sin, turn.cos, turn.from);
        std::array::from_fn(|c| self.at[c] + turned[c])
    }

    /// The gradient at a point with that turn, from that at its source.
    #[inline]
    fn gradient(&self, turn: &Turn, gradient: V) -> V {
        if turn.sin == 0.0 && turn.cos == 1.0 && turn.slope == 0.0 {
            return gradient;
        }
        let turned_back = turned(self.axis, turn.sin, turn.cos, gradient);
        let shear = turn.slope * dot(cross(self.axis, turn.from), turned_back);
        std::array::from_fn(|c| turned_back[c] - shear * self.axis[c])
    }
}

impl PosedTwist {
    pub(super) const NONE: Self = Self {
        ends: [End::NONE; 2],
        is_twisted: false,
    };

    /// How far turns about the bones may carry a point.
    pub(super) fn shift(&self, at: V) -> f32 {
        if !self.is_twisted {
            return 0.0;
        }
        let shift = |end: &End| {
            let across = cross(end.axis, std::array::from_fn(|c| at[c] - end.at[c]));
            2.0 * dot(across, across).sqrt()
        };
        self.ends.iter().map(shift).sum()
    }

    /// Whether it is twisted at all.
    pub(super) fn is_twisted(&self) -> bool {
        self.is_twisted
    }

    /// Around all that is in a cylinder once the twist is undone.
    pub(super) fn rod(&self, rod: &Rod) -> Rod {
        if !self.is_twisted {
            return *rod;
        }
        // What is seen first is turned last.
        let ends = self.ends.iter().rev();
        ends.fold(*rod, |rod, end| {
            rod.before_turn(end.at, end.axis, end.turns[1])
        })
    }

    /// What the field shows at a point of its own space.
    #[inline]
    pub(super) fn seen(&self, at: V) -> Seen {
        if !self.is_twisted {
            return Seen {
                source: at,
                bends: Turns::NONE,
                turns: None,
            };
        }
        let [first, second] = &self.ends;
        let one = first.at(at);
        let between = first.source(at, &one);
        let other = second.at(between);
        Seen {
            source: second.source(between, &other),
            bends: Turns::NONE,
            turns: Some([one, other]),
        }
    }

    /// The gradient at a point, from that at its source.
    #[inline]
    pub(super) fn gradient(&self, seen: &Seen, gradient: V) -> V {
        let Some([one, other]) = &seen.turns else {
            return gradient;
        };
        let [first, second] = &self.ends;
        first.gradient(one, second.gradient(other, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::super::motions::UNTURNED;
    use super::*;
    use crate::math::{Point64, Quat};

    /// Two bones along x that meet in the origin.
    fn joint() -> Twist {
        Twist {
            fields: [0, 1],
            joints: [0, 1],
            at: Point64::origin().coords,
            axes: [Vec64::x(); 2],
            reach: 0.5,
        }
    }

    /// With the bone below turned.
    fn turned_by(turn: &Quat) -> [PosedTwist; 2] {
        let mut posed = [PosedTwist::NONE; 2];
        let turn = [turn.i, turn.j, turn.k, turn.w].map(|c| c as f32);
        Twist::pose(&[joint()], &[UNTURNED, turn], &mut posed);
        posed
    }

    fn posed(degrees: f64) -> [PosedTwist; 2] {
        turned_by(&Quat::from_axis_angle(
            &Vec64::x_axis(),
            degrees.to_radians(),
        ))
    }

    #[test]
    fn both_sides_of_a_twisted_joint_agree_everywhere() {
        let degrees = 110.0_f32;
        let (sin, cos) = degrees.to_radians().sin_cos();
        let [above, below] = posed(f64::from(degrees));
        for k in -8_i16..=8 {
            let at = [0.1 * f32::from(k), 0.2, -0.3];
            let seen_above = above.seen(at).source;
            // The field below sees the point from a space that has turned with it.
            let seen_below = below.seen(turned([1.0, 0.0, 0.0], -sin, cos, at)).source;
            for c in 0..3 {
                assert!((seen_above[c] - seen_below[c]).abs() < 1e-6, "{at:?}");
            }
        }
        // Away from the joint each is rigid with its own bone.
        assert_eq!(above.seen([-0.6, 0.2, 0.1]).source, [-0.6, 0.2, 0.1]);
        assert_eq!(below.seen([0.6, 0.2, 0.1]).source, [0.6, 0.2, 0.1]);
    }

    #[test]
    fn gradients_are_those_of_the_twisted_field() {
        let [above, below] = posed(75.0);
        let field = |p: V| (1.3 * p[0]).sin() + p[1] * p[1] - 0.7 * p[1] * p[2] + p[2];
        let slope = |p: V| {
            [
                1.3 * (1.3 * p[0]).cos(),
                2.0 * p[1] - 0.7 * p[2],
                1.0 - 0.7 * p[1],
            ]
        };
        for twist in [above, below] {
            for at in [[0.1, 0.3, -0.2], [-0.3, 0.1, 0.4], [0.9, -0.2, 0.1]] {
                let seen = twist.seen(at);
                let found = twist.gradient(&seen, slope(seen.source));
                for c in 0..3 {
                    let moved = |by: f32| {
                        let mut at = at;
                        at[c] += by;
                        field(twist.seen(at).source)
                    };
                    let change = (moved(2e-3) - moved(-2e-3)) / 4e-3;
                    assert!(
                        (found[c] - change).abs() < 2e-3,
                        "{at:?}: {found:?} {change}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_bend_is_no_twist() {
        let posed = turned_by(&Quat::from_axis_angle(&Vec64::z_axis(), 1.2));
        assert!(posed == [PosedTwist::NONE; 2]);
    }
}
