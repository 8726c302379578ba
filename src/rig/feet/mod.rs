//! Feet on the ground: planted feet of a clip, soles that do not sink, and balance.
//!
//! | part        | what                                                                          |
//! |-------------|-------------------------------------------------------------------------------|
//! | [`rules`]   | what a clip says of its feet: planted intervals, and that they stay above ground |
//! | `sole`      | the points of the skin on which a foot stands                                   |
//! | `hold`      | a clip → the clip that keeps its rules                                          |
//! | `tracks`    | the curves of what the rules change                                             |
//! | `balance`   | centre of mass, and hips that put it above the feet                             |
//!
//! A rule is a constraint beside the keys, not an edit of them: keys keep their values, and the
//! rule changes what is played. A planted foot keeps the place and rotation that it has when the
//! interval starts. The leg is solved exactly (two bones and a hinge, see [`ik`](super::ik)), and
//! the hips come down as far as the legs need to reach.

mod balance;
mod hold;
mod rules;
mod sole;
#[cfg(test)]
mod tests;
mod tracks;

use super::Skeleton;
use super::ik::{IkRig, Limb};
use super::retarget::{JointRoles, Role};
use crate::math::{Point64, Vec64, origin_of};

pub use rules::{FeetRules, Plant};

use balance::Mass;

/// Smaller changes are rounding: lengths of a leg, and radians.
const NOTHING: f64 = 1e-7;

/// The limbs of a body, its soles, and the ground under it, in world space. Depends on skeleton and skin at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Stance {
    skeleton: Skeleton,
    hips: Option<usize>,
    limbs: Vec<StandingLimb>,
    masses: Vec<Mass>,
    up: Vec64,
    ground: f64,
}

/// An arm or a leg.
#[derive(Debug, Clone, PartialEq)]
struct StandingLimb {
    limb: Limb,
    /// Length of its two bones in the bind pose.
    length: f64,
    /// For a leg: points of the skin under the foot, each in the frame of its joint.
    sole: Vec<(usize, Point64)>,
}

impl Stance {
    /// For a skeleton, the unit vector that points up, and the skin's vertices in the bind pose, all in world space. The ground is at
    /// the height of the lowest vertex, or of the lowest joint if there is no skin. `None` for a body without limbs.
    #[must_use]
    pub fn of(skeleton: &Skeleton, up: &Vec64, skin: &[Point64]) -> Option<Self> {
        let rig = IkRig::of(skeleton);
        if rig.limbs().is_empty() {
            return None;
        }
        let bind = skeleton.bind_transforms();
        let heights = skin.iter().map(|vertex| vertex.coords.dot(up));
        let mut ground = heights.fold(f64::INFINITY, f64::min);
        if !ground.is_finite() {
            let joints = bind.iter().map(|joint| origin_of(joint).coords.dot(up));
            ground = joints.fold(f64::INFINITY, f64::min);
        }
        let length = |limb: &Limb| {
            let [a, b, c] = [limb.upper, limb.lower, limb.end].map(|joint| origin_of(&bind[joint]));
            (b - a).norm() + (c - b).norm()
        };
        let soles = sole::soles_of(skeleton, &bind, rig.limbs(), up, ground, skin);
        let limbs = rig.limbs().iter().zip(soles);
        let roles = JointRoles::of(skeleton);
        Some(Self {
            skeleton: skeleton.clone(),
            hips: roles.first(Role::Hips),
            limbs: limbs
                .map(|(limb, sole)| StandingLimb {
                    limb: *limb,
                    length: length(limb),
                    sole,
                })
                .collect(),
            masses: balance::masses_of(skeleton, &roles),
            up: *up,
            ground,
        })
    }

    /// Whether a joint belongs to a leg.
    #[must_use]
    pub fn is_of_leg(&self, joint: usize) -> bool {
        let mut legs = self.limbs.iter().filter(|known| known.limb.is_leg);
        legs.any(|leg| {
            self.skeleton
                .path_up(joint)
                .any(|above| above == leg.limb.upper)
        })
    }

    /// Whether a joint is the hips or above them.
    #[must_use]
    pub fn carries_hips(&self, joint: usize) -> bool {
        let hips = self.hips.into_iter();
        hips.flat_map(|hips| self.skeleton.path_up(hips))
            .any(|above| above == joint)
    }

    /// Height of the ground along the up axis.
    #[must_use]
    pub fn ground(&self) -> f64 {
        self.ground
    }
}
