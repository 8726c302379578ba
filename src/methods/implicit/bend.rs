//! The bend of a joint, spread over the fields around the outside of it.
//!
//! Vaillant et al. move every field rigidly with its bone. Where a joint opens, as at a buttock, the union of two rigid
//! fields is a flat piece between the ends of both, which no skin has told. Here both fields turn about the hinge of the joint, more and more
//! from one limb to the other. What is at the polar angle ψ̄ about the hinge at rest, over the outside to the limb below at π, is at
//!
//! ```text
//! ψ = ψ̄ + φ,   φ = θ smoothstep(a, b, ψ̄)
//! ```
//!
//! in a joint that is bent by θ; a and b are from the weights of the skin around the joint ([`super::spread`]).
//! The field above turns by φ, that below by φ − θ: both agree, and keep their distance from the hinge, as the skin of dual quaternions does.
//! Inside of the fold both stay rigid, since there they press each other. Far from the joint nothing turns.

use std::f32::consts::{PI, TAU};

use super::field::PartField;
use super::fold::Fold;
use super::motions::{between, cross, dot};
use super::spread::{Spread, Weighed};
use crate::math::{Affine, Point64, Vec64, smooth_and_slope, smoothstep};
use crate::methods::deformer::swing_and_twist;
use crate::numerics::lanes::Padded;

mod table;
mod turns;

pub(super) use turns::{Turns, turned};

use table::TurnTable;
use turns::Turn;

/// A smaller bend is none, rad.
const NOTHING: f64 = 1e-3;
/// The bend from which its spread fades out: beyond a half turn it has no outside.
const FADES: [f64; 2] = [160.0 * DEGREE, 178.0 * DEGREE];
/// Where the turn fades out, in radii of the limb from the joint.
const NEAR: [f64; 2] = [2.0, 3.0];
/// The part of the inside of the fold, from the other limb on, in which a field goes back to where it is.
const BACK: f32 = 0.25;
/// Newton steps to ψ̄.
const STEPS: usize = 3;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

type V = [f32; 3];

/// A joint whose bend is spread, in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Joint {
    /// Of the parts above and below.
    joints: [u32; 2],
    at: Vec64,
    /// Unit vector along the limb below.
    along: Vec64,
    /// Radius of the limb.
    radius: f64,
    spread: Spread,
}

/// All of them, and which fields they turn.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bends {
    joints: Vec<Joint>,
    /// Of every field, where its ends begin.
    starts: Vec<u32>,
    /// By field.
    ends: Vec<End>,
}

/// A joint that turns a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    /// Among the joints whose bends are spread.
    bend: u32,
    /// That of the field.
    joint: u32,
    /// Whether the field is below the bend.
    is_below: bool,
}

/// A joint in a pose, seen from one of its fields in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PosedBend {
    at: V,
    /// Unit vectors: the hinge, along the limb below, and to where that bends.
    hinge: V,
    along: V,
    inside: V,
    /// θ, rad; 0 for a joint that is not bent.
    bend: f32,
    /// a, and b − a.
    from: f32,
    width: f32,
    is_below: bool,
    /// Sine and cosine of what polar angles seen from the field are less than those seen from the part above.
    ahead: [f32; 2],
    near: [f32; 2],
    table: TurnTable,
}

impl Bends {
    /// `skin`: near a joint, of how far it is, given the joints of the limb above.
    pub(super) fn of(
        fields: &[PartField],
        folds: &[Fold],
        skin: impl Fn(&Fold, &[u32], f64) -> Vec<Weighed>,
    ) -> Self {
        let joints: Vec<Option<Joint>> = (0..folds.len())
            .map(|own| Joint::of(own, fields, folds))
            .collect();
        let reach = |joint: &Joint| NEAR[1] * joint.radius;
        // No skin tells a part with such a joint from the one that it hangs at: both are one.
        let is_inside = |(joint, fold): (&Option<Joint>, &Fold)| {
            let near = joint.map(|joint| skin(fold, &joint.joints[..1], reach(&joint)));
            near.is_some_and(|near| !near.iter().any(Weighed::is_shared))
        };
        let inside: Vec<bool> = joints.iter().zip(folds).map(is_inside).collect();
        let mut ends = Vec::new();
        let mut spread = Vec::new();
        for (own, (joint, fold)) in joints.into_iter().zip(folds).enumerate() {
            let Some(mut joint) = joint.filter(|_| !inside[own]) else {
                continue;
            };
            let mut above = vec![usize::from(fold.parent)];
            while let Some(&last) = above.last()
                && inside[last]
            {
                above.push(usize::from(folds[last].parent));
            }
            let joint_of = |&field: &usize| fields[field].joint;
            let parts: Vec<u32> = above.iter().map(joint_of).collect();
            let near = skin(fold, &parts, reach(&joint));
            let Some(found) = Spread::of(joint.along, &near) else {
                continue;
            };
            joint.spread = found;
            let bend = spread.len() as u32;
            for (field, is_below) in [(own, true)]
                .into_iter()
                .chain(above.iter().map(|&field| (field, false)))
            {
                let joint = fields[field].joint;
                ends.push((
                    field,
                    End {
                        bend,
                        joint,
                        is_below,
                    },
                ));
            }
            spread.push(joint);
        }
        ends.sort_by_key(|(field, _)| *field);
        let start = |field: usize| ends.partition_point(|(of, _)| *of < field) as u32;
        Self {
            joints: spread,
            starts: (0..=fields.len()).map(start).collect(),
            ends: ends.into_iter().map(|(_, end)| end).collect(),
        }
    }

    /// The joints in a pose, by field. `rotations`: of every joint since the bind pose, x, y, z, w.
    pub(super) fn pose(
        &self,
        now_from_bind: &[Affine],
        rotations: &[Padded],
        posed: &mut Vec<PosedBend>,
    ) {
        posed.clear();
        posed.extend(self.ends.iter().map(|end| {
            let joint = &self.joints[end.bend as usize];
            let mut bend = joint.posed(rotations, end.is_below);
            let parent = joint.joints[0];
            if bend.bend > 0.0 && !end.is_below && end.joint != parent {
                let [own, parent] = [end.joint, parent].map(|joint| &now_from_bind[joint as usize]);
                match own.try_inverse() {
                    Some(inverse) => bend.seen_from(&(inverse * parent)),
                    None => bend.bend = 0.0,
                }
            }
            bend
        }));
    }

    /// Where in the posed joints those of a field are.
    pub(super) fn of_field(&self, field: usize) -> std::ops::Range<usize> {
        self.starts[field] as usize..self.starts[field + 1] as usize
    }
}

impl Joint {
    /// The joint of a field; `None` for one that hangs at no other or has no direction.
    fn of(own: usize, fields: &[PartField], folds: &[Fold]) -> Option<Self> {
        let fold = &folds[own];
        let along = fold.along.try_normalize(1e-12)?;
        let above = fields.get(usize::from(fold.parent))?;
        let radii = [&fields[own], above].map(|field| f64::from(field.radius));
        let mut radius = radii[0].min(radii[1]).min(fold.along.norm());
        if fold.is_straight() {
            radius = radius.min((fold.at - fold.parent_at).norm());
        }
        Some(Self {
            joints: [fold.parent_joint, fold.joint],
            at: fold.at.coords,
            along,
            radius,
            spread: Spread::even(along),
        })
    }

    fn posed(&self, rotations: &[Padded], is_below: bool) -> PosedBend {
        let relative = between(rotations, self.joints);
        let (swing, _) = swing_and_twist(&relative, &self.along);
        let array = |v: &Vec64| [v.x, v.y, v.z].map(|c| c as f32);
        let mut posed = PosedBend {
            at: array(&self.at),
            hinge: [0.0; 3],
            along: array(&self.along),
            inside: [0.0; 3],
            bend: 0.0,
            from: 0.0,
            width: PI,
            is_below,
            ahead: [0.0, 1.0],
            near: NEAR.map(|near| (near * self.radius) as f32),
            table: TurnTable::NONE,
        };
        let Some((hinge, bend)) = swing.axis_angle().filter(|(_, bend)| *bend > NOTHING) else {
            return posed;
        };
        let outside = -hinge.cross(&self.along);
        let [from, until] = self.spread.toward(&outside).map(|angle| angle as f32);
        (posed.from, posed.width) = (from, until - from);
        // The part below sees the hinge from where it has been twisted to.
        let hinge = if is_below {
            relative.inverse() * hinge.into_inner()
        } else {
            hinge.into_inner()
        };
        posed.hinge = array(&hinge);
        posed.inside = array(&hinge.cross(&self.along));
        posed.bend = (bend * (1.0 - smoothstep(FADES, bend))) as f32;
        if is_below {
            posed.ahead = posed.bend.sin_cos().into();
        }
        if posed.bend > 0.0 {
            posed.table = TurnTable::of(|angle| posed.turn(angle));
        }
        posed
    }
}

impl PosedBend {
    /// Sees it from another part, given the motion of the part above it relative to that one.
    fn seen_from(&mut self, motion: &Affine) {
        let at = motion * Point64::from(self.at.map(f64::from));
        let turned = |v: V| {
            let v = (motion * Vec64::from(v.map(f64::from))).normalize();
            [v.x, v.y, v.z].map(|c| c as f32)
        };
        self.at = [at.x, at.y, at.z].map(|c| c as f32);
        (self.hinge, self.along) = (turned(self.hinge), turned(self.along));
        self.inside = cross(self.hinge, self.along);
        let all = [self.at, self.hinge, self.along];
        if !all.as_flattened().iter().all(|c| c.is_finite()) {
            self.bend = 0.0;
        }
    }

    /// The radius about the joint in which the field turns; 0 for none.
    pub(super) fn reach(&self) -> f32 {
        if self.bend > 0.0 { self.near[1] } else { 0.0 }
    }

    /// The joint, in the bind pose.
    pub(super) fn at(&self) -> V {
        self.at
    }

    /// The turn about the hinge at a polar angle seen from the part above, and its derivative.
    fn turn(&self, angle: f32) -> [f32; 2] {
        let below = PI + self.bend;
        if angle <= below {
            let all = if self.is_below { self.bend } else { 0.0 };
            if angle <= self.from {
                return [-all, 0.0];
            }
            if angle >= self.from + self.width + self.bend {
                return [self.bend - all, 0.0];
            }
            // ψ grows at least as fast as ψ̄.
            let part = (angle - self.from) / (self.width + self.bend);
            let mut rest = self.from + part * self.width;
            let mut rate = 1.0;
            for _ in 0..STEPS {
                let [made, slope] = smooth_and_slope((rest - self.from) / self.width);
                rate = 1.0 + self.bend * slope / self.width;
                rest -= (rest + self.bend * made - angle) / rate;
                rest = rest.clamp(0.0, PI);
            }
            return [angle - rest - all, 1.0 - 1.0 / rate];
        }
        let width = BACK * (TAU - below);
        let (from, amount, all) = if self.is_below {
            (TAU - width, -self.bend, 0.0)
        } else {
            (below, -self.bend, self.bend)
        };
        let [made, slope] = smooth_and_slope((angle - from) / width);
        [all + amount * made, amount * slope / width]
    }

    /// The turn at a point of the bind pose; `None` where there is none.
    fn at_point(&self, at: V) -> Option<Turn> {
        let from: V = std::array::from_fn(|c| at[c] - self.at[c]);
        let squared = dot(from, from);
        // False for NaN.
        let is_near = squared < self.near[1] * self.near[1];
        if !is_near {
            return None;
        }
        let [turn, slope] = self.turn_toward(from)?;
        let distance = squared.sqrt();
        let width = self.near[1] - self.near[0];
        let [far, falls] = smooth_and_slope((distance - self.near[0]) / width);
        let angle = turn * (1.0 - far);
        if angle == 0.0 && slope == 0.0 {
            return None;
        }
        let (sin, cos) = angle.sin_cos();
        let across = cross(self.hinge, from);
        let (around, away) = (
            slope * (1.0 - far),
            -turn * falls / (width * distance.max(f32::MIN_POSITIVE)),
        );
        Some(Turn {
            hinge: self.hinge,
            sin,
            cos,
            across,
            slope: std::array::from_fn(|c| around * across[c] + away * from[c]),
        })
    }

    /// How far from a point the field has what it shows there, at most, for a point that has been `moved` so far already.
    #[inline]
    pub(super) fn moves_at_most(&self, at: V, moved: f32) -> f32 {
        let from: V = std::array::from_fn(|c| at[c] - self.at[c]);
        let distance = dot(from, from).sqrt();
        if distance - moved >= self.near[1] {
            return 0.0;
        }
        if moved == 0.0 {
            return distance * self.turn_toward(from).map_or(0.0, |[turn, _]| turn.abs());
        }
        self.bend * (distance + moved).min(self.near[1])
    }

    /// The turn in a direction from the joint, before it fades out with the distance, and its derivative by the polar angle, divided by the
    /// square of the distance from the hinge; `None` where there is none.
    #[inline]
    fn turn_toward(&self, from: V) -> Option<[f32; 2]> {
        let (x, y) = (-dot(from, self.along), -dot(from, self.inside));
        if x * x + y * y <= 1e-6 * self.near[0] * self.near[0] {
            return None;
        }
        let [sin, cos] = self.ahead;
        self.table.at(cos * x - sin * y, sin * x + cos * y)
    }

    /// Where the field has what it shows at a point, and the turns on the way there.
    #[inline]
    pub(super) fn seen(bends: &[Self], at: V) -> (V, Turns) {
        let (mut at, mut turns) = (at, Turns::NONE);
        for bend in bends {
            if bend.bend == 0.0 || turns.is_full() {
                continue;
            }
            if let Some(turn) = bend.at_point(at) {
                let from: V = std::array::from_fn(|c| at[c] - bend.at[c]);
                let source = turned(bend.hinge, -turn.sin, turn.cos, from);
                at = std::array::from_fn(|c| bend.at[c] + source[c]);
                turns.push(turn);
            }
        }
        (at, turns)
    }
}

#[cfg(test)]
mod tests;
