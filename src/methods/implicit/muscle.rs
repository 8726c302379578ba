//! Muscles: ellipsoids beside the bones that swell as a joint bends, composed with the field of the part that carries them.
//!
//! Vaillant et al., "Robust Iso-Surface Tracking for Interactive Character Skinning", SIGGRAPH Asia 2014.
//!
//! ```text
//! q² = (u·a)²/l² + |u − (u·a) a|²/(σ b)²          1 on the ellipsoid
//! σ  = 1 + k (bend − bend₀)/(bend₁ − bend₀)       from 1 to 1 + k
//! x  = s (h(q) − h(1)),  s = 0.7 σ b/r            as steep as the field of a part of radius r (field.rs)
//! ```
//!
//! with h(q) = √(1 + e²) √(q² + e²), which has no tip in the middle, plus c (q − 1)³ outside, so that the field ends near the muscle.

use super::field::{DEEPEST, PartField, Valued, compact};
use super::limbs::{Bend, Limbs, Placed};
use super::motions::dot;
use super::operators::{Meets, Operator, Tables};
use super::rod::Rod;
use crate::character::{Muscle, MuscleMeeting, MuscleShape};
use crate::math::Affine;

/// e²: how round the tip of the field in the middle of a muscle is.
const ROUND: f32 = 0.04;
/// c.
const FALL: f32 = 2.0;
/// A muscle that is wider by less than this part of its width has not swollen.
const EQUAL: f32 = 1e-6;

type V = [f32; 3];

/// A muscle in the bind pose, relative to the centre of the skin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Leaf {
    center: V,
    /// Unit vector along it.
    along: V,
    /// Half its length, half its width at rest, and the radius of its limb.
    half: [f32; 2],
    radius: f32,
    /// q from which on it is 0, whatever its width.
    reach: f32,
    meets: Meets,
    shape: MuscleShape,
    bend: Option<Bend>,
}

/// All muscles, in the order of the fields that carry them.
#[derive(Debug, PartialEq)]
pub(super) struct Muscles {
    leaves: Vec<Leaf>,
    /// Of every field, its leaves; empty without muscles.
    of_field: Vec<[u16; 2]>,
    /// Of every field, the corners of the box outside of which it and its muscles are 0.
    corners: Vec<[V; 2]>,
    /// Of every field, a cylinder around its bones outside of which they are 0.
    rods: Vec<Rod>,
}

/// The width of a muscle in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Swelling {
    /// Relative to that at rest.
    width: f32,
    /// Whether it has swollen, or had in the pose before.
    pub(super) moves: bool,
}

impl Muscles {
    pub(super) fn of(limbs: &Limbs, muscles: &[Muscle], fields: &[PartField]) -> Self {
        let mut placed: Vec<(u16, Leaf)> = muscles
            .iter()
            .filter_map(|muscle| {
                let placed = limbs.place(muscle)?;
                let field = limbs.carrier(placed.bone, fields)?;
                let bend = Bend::of(limbs, placed.driver);
                Some((field, Leaf::of(&placed, &muscle.shape.sanitized(), bend)))
            })
            .collect();
        placed.sort_by_key(|(field, _)| *field);
        let mut corners: Vec<[V; 2]> = fields.iter().map(PartField::corners).collect();
        let mut rods: Vec<Rod> = fields.iter().map(PartField::rod).collect();
        for (field, leaf) in &placed {
            let [low, high] = &mut corners[usize::from(*field)];
            let half = [0, 1, 2].map(|c| leaf.extent(c));
            for c in 0..3 {
                low[c] = low[c].min(leaf.center[c] - half[c]);
                high[c] = high[c].max(leaf.center[c] + half[c]);
            }
            for corner in 0..8_u8 {
                rods[usize::from(*field)].include(std::array::from_fn(|c| {
                    let sign = if corner >> c & 1 == 1 { 1.0 } else { -1.0 };
                    leaf.center[c] + sign * half[c]
                }));
            }
        }
        let until = |field: u16| placed.partition_point(|(of, _)| *of < field) as u16;
        let fields = if placed.is_empty() { 0 } else { fields.len() };
        let range = |field: usize| [until(field as u16), until(field as u16 + 1)];
        Self {
            of_field: (0..fields).map(range).collect(),
            leaves: placed.into_iter().map(|(_, leaf)| leaf).collect(),
            corners,
            rods,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The corners of the box outside of which a field and its muscles are 0.
    pub(super) fn corners(&self, field: usize) -> &[V; 2] {
        &self.corners[field]
    }

    /// A cylinder around the bones of a field outside of which it and its muscles are 0.
    pub(super) fn rod(&self, field: usize) -> &Rod {
        &self.rods[field]
    }

    /// Follows the joints: `now_from_bind` of every joint, relative to the centre of the skin.
    pub(super) fn follow(&self, swellings: &mut Vec<Swelling>, now_from_bind: &[Affine]) {
        let at_rest = Swelling {
            width: 1.0,
            moves: false,
        };
        swellings.resize(self.leaves.len(), at_rest);
        for (swelling, leaf) in swellings.iter_mut().zip(&self.leaves) {
            let bend = leaf.bend.as_ref().map_or(0.0, |b| b.angle(now_from_bind));
            let width = leaf.shape.swelling(bend) as f32;
            let is_wide = |width: f32| (width - 1.0).abs() > EQUAL;
            *swelling = Swelling {
                width,
                moves: is_wide(width) || is_wide(swelling.width),
            };
        }
    }

    fn range(&self, field: u16) -> std::ops::Range<usize> {
        match self.of_field.get(usize::from(field)) {
            Some(&[from, until]) => usize::from(from)..usize::from(until),
            None => 0..0,
        }
    }

    /// Composes the value of a part at a point of the bind pose with those of its muscles.
    #[inline]
    pub(super) fn joined(
        &self,
        field: u16,
        part: Valued,
        at: V,
        swellings: &[Swelling],
        tables: &Tables,
    ) -> Valued {
        let mut joined = part;
        for index in self.range(field) {
            let leaf = &self.leaves[index];
            // None is known before the first pose.
            let width = swellings.get(index).map_or(1.0, |known| known.width);
            let muscle = leaf.at(at, width);
            if muscle.value > 0.0 {
                joined = leaf.join(&joined, &muscle, tables);
            }
        }
        joined
    }

    /// Whether a muscle of a field moves the surface at a point of the bind pose.
    pub(super) fn moves_at(&self, field: u16, at: V, swellings: &[Swelling]) -> bool {
        self.range(field).any(|index| {
            let moves = swellings.get(index).is_some_and(|known| known.moves);
            moves && self.leaves[index].covers(at)
        })
    }
}

impl Leaf {
    fn of(placed: &Placed, shape: &MuscleShape, bend: Option<Bend>) -> Self {
        let operator = match shape.meets {
            MuscleMeeting::Union => Operator::Union,
            MuscleMeeting::Blend => Operator::Blend,
        };
        let array = |v: &crate::math::Vec64| [v.x, v.y, v.z].map(|c| c as f32);
        let mut leaf = Self {
            center: array(&placed.center.coords),
            along: array(&placed.along),
            half: placed.half.map(|half| half as f32),
            radius: placed.radius as f32,
            reach: 0.0,
            meets: operator.into(),
            shape: *shape,
            bend,
        };
        let narrow = leaf.widest().0.min(1.0);
        leaf.reach = leaf.end(narrow);
        leaf
    }

    /// The least and the largest width.
    fn widest(&self) -> (f32, f32) {
        let full = (1.0 + self.shape.bulge) as f32;
        (full.min(1.0), full.max(1.0))
    }

    /// s for a width.
    fn slope(&self, width: f32) -> f32 {
        DEEPEST as f32 * width * self.half[1] / self.radius
    }

    /// q where the field of a muscle of that width ends.
    fn end(&self, width: f32) -> f32 {
        let most = 1.0 / self.slope(width);
        let (mut inside, mut outside) = (1.0_f32, 1.0 + (most / FALL).cbrt());
        for _ in 0..40 {
            let middle = 0.5 * (inside + outside);
            if height(middle * middle)[0] < most {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    }

    /// Half the size of its box along an axis of space.
    fn extent(&self, axis: usize) -> f32 {
        let [length, width] = [self.half[0], self.half[1] * self.widest().1];
        let along = self.along[axis];
        let across = (1.0 - along * along).max(0.0);
        self.reach * (length * length * along * along + width * width * across).sqrt()
    }

    /// q² and half its gradient at a point.
    fn square(&self, at: V, width: f32) -> (f32, V) {
        let u: V = std::array::from_fn(|c| at[c] - self.center[c]);
        let along = dot(u, self.along);
        let [l, b] = [self.half[0], width * self.half[1]];
        let (per_length, per_width) = (1.0 / (l * l), 1.0 / (b * b));
        let half: V = std::array::from_fn(|c| {
            let part = along * self.along[c];
            per_length * part + per_width * (u[c] - part)
        });
        (dot(u, half), half)
    }

    /// Whether a point is in its field at its largest width.
    fn covers(&self, at: V) -> bool {
        self.square(at, self.widest().1).0 < self.reach * self.reach
    }

    /// Its field at a point of the bind pose.
    fn at(&self, at: V, width: f32) -> Valued {
        let (square, half) = self.square(at, width);
        if square >= self.reach * self.reach || square.is_nan() {
            return Valued {
                value: 0.0,
                gradient: [0.0; 3],
            };
        }
        let slope = self.slope(width);
        let [h, change] = height(square);
        let [value, fall] = compact(slope * h);
        Valued {
            value,
            gradient: half.map(|c| fall * slope * change * c),
        }
    }

    fn join(&self, part: &Valued, muscle: &Valued, tables: &Tables) -> Valued {
        let lengths = dot(part.gradient, part.gradient) * dot(muscle.gradient, muscle.gradient);
        let cosine = if lengths > 0.0 {
            dot(part.gradient, muscle.gradient) / lengths.sqrt()
        } else {
            1.0
        };
        let depth = self.meets.depth(cosine, 0.0);
        let joined = tables.at(&self.meets, part.value, muscle.value, depth);
        let [s, t] = joined.slopes;
        Valued {
            value: joined.value,
            gradient: std::array::from_fn(|c| s * part.gradient[c] + t * muscle.gradient[c]),
        }
    }
}

/// h(q) − h(1) for q², and its derivative by q, divided by q.
fn height(square: f32) -> [f32; 2] {
    let (one, root) = ((1.0 + ROUND).sqrt(), (square + ROUND).sqrt());
    let (mut height, mut change) = (one * root - one * one, one / root);
    if square > 1.0 {
        let q = square.sqrt();
        let beyond = q - 1.0;
        height += FALL * beyond * beyond * beyond;
        change += 3.0 * FALL * beyond * beyond / q;
    }
    [height, change]
}

#[cfg(test)]
mod tests;
