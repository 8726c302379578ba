//! Posing by dragging: a point of the body follows the hand, and the body follows the point.
//!
//! A drag works in units from the point held towards the hips:
//! 1. **Fingers**, tails, necks: any chain of joints (`minimise.rs`). What lies beyond its reach moves the limb that carries it.
//!    **Toes** bend up or down a little, and the foot goes along as it is turned (`toes.rs`).
//! 2. **Limbs**: arms and legs are solved exactly, as two bones and a hinge (`two_bone.rs`), in a plane that does not flip.
//! 3. **Body**: what is beyond a limb's reach is done by the joints that carry it, clavicle first, hips last (`minimise.rs`). It sets
//!    in softly shortly before the limb is straight.
//!
//! Joints that are pinned stay where they are, turned as they are: pinned limbs give way by themselves, and where feet are pinned the
//! hips may move. Everything is measured from the pose at the drag's start, so that the same target gives the same pose, and a drag
//! back to its beginning gives the beginning; only to stay continuous does a step begin at the result of the one before. Joint
//! limits are respected everywhere.
//!
//! Sources: the weighted least-norm view of redundant chains is that of D. Whitney, "Resolved Motion Rate Control", 1969, with the
//! damping of Y. Nakamura and H. Hanafusa, 1986 (here Levenberg–Marquardt's); the two-bone form is folklore.
//!
//! ```
//! use sinew::math::Point64;
//! use sinew::rig::{Skeleton, ik::{Grip, IkDrag, IkRig, Held}};
//! let p = |x: f64, y: f64| Point64::new(x, y, 0.0);
//! let arm = [("shoulder", None, p(0.0, 0.0)), ("elbow", Some(0), p(1.0, 0.1)), ("wrist", Some(1), p(2.0, 0.0))];
//! let skeleton = Skeleton::from_positions(&arm.map(|(name, parent, at)| (name.to_owned(), parent, at)))?;
//! let rig = IkRig::of(&skeleton);
//! let mut drag = IkDrag::begin(&skeleton, &rig, &skeleton.rest_pose(), Grip::of_joint(2), &Held::default()).expect("a wrist");
//! let pose = drag.reach(&skeleton, &p(0.5, 1.2));
//! let wrist = skeleton.world_from_joint(pose)[2] * Point64::origin();
//! assert!((wrist - p(0.5, 1.2)).norm() < 1e-9);
//! # Ok::<(), sinew::rig::SkeletonError>(())
//! ```

mod drag;
mod figure;
pub(super) mod limb;
mod minimise;
mod pins;
mod plan;
mod toes;
mod two_bone;

pub use drag::{EndTurn, Grip, Held, IkDrag};
pub use limb::Limb;
pub use pins::keep_pins;

use super::Skeleton;
use super::retarget::{Role, Roles};

/// What inverse kinematics knows of a skeleton. Depends on the skeleton only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IkRig {
    limbs: Vec<Limb>,
    hips: Option<usize>,
}

impl IkRig {
    /// Finds limbs and hips.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        let roles = Roles::of(skeleton);
        let limbs = limb::limbs_of(skeleton, &roles);
        let hips = roles.first(Role::Hips).filter(|&hips| limbs.iter().all(|limb| limb.upper != hips));
        Self { limbs, hips }
    }

    /// Arms and legs.
    #[must_use]
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// The joint that moves the whole body, if it is known.
    #[must_use]
    pub fn hips(&self) -> Option<usize> {
        self.hips
    }
}

#[cfg(test)]
mod tests;
