//! Inverse kinematics: poses a body by dragging a point of it.
//!
//! A drag works on units, from the dragged point towards the hips:
//! 1. **Fingers**, tails, necks: chains of joints (`minimise.rs`). If a target exceeds their reach,
//!    the limb that carries them moves. **Toes** bend slightly up or down, and the foot follows
//!    without rotating (`toes.rs`).
//! 2. **Limbs**: arms and legs are solved exactly, as two bones and a hinge (`two_bone.rs`), in a
//!    plane that does not flip.
//! 3. **Body**: if a target exceeds a limb's reach, the joints that carry the limb move, clavicle
//!    first, hips last (`minimise.rs`). This starts smoothly shortly before the limb is straight.
//!
//! Pinned joints keep position and rotation: pinned limbs adapt, and if feet are pinned the hips
//! may move. All quantities are measured from the pose at the start of the drag, so that equal
//! targets give equal poses, and a drag back to the start restores the initial pose; the previous
//! result is only the initial value, for continuity. Joint limits are always respected.
//!
//! Sources: the weighted least-norm solution for redundant chains is D. Whitney, "Resolved Motion
//! Rate Control", 1969; damping is due to Y. Nakamura and H. Hanafusa, 1986 (here in
//! Levenberg–Marquardt form); the two-bone solution is standard.
//!
//! ```
//! use sinew::math::Point64;
//! use sinew::rig::{Skeleton, ik::{DraggedPoint, IkDrag, IkRig, DragConstraints}};
//! let p = |x: f64, y: f64| Point64::new(x, y, 0.0);
//! let arm = [("shoulder", None, p(0.0, 0.0)), ("elbow", Some(0), p(1.0, 0.1)), ("wrist", Some(1), p(2.0, 0.0))];
//! let skeleton = Skeleton::from_positions(&arm.map(|(name, parent, at)| (name.to_owned(), parent, at)))?;
//! let rig = IkRig::of(&skeleton);
//! let mut drag = IkDrag::begin(&skeleton, &rig, &skeleton.rest_pose(), DraggedPoint::of_joint(2), &DragConstraints::default()).expect("a wrist");
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

pub use drag::{DragConstraints, DraggedPoint, EndRotation, IkDrag};
pub use limb::Limb;
pub use pins::keep_pins;

pub(in crate::rig) use figure::{Figure, rotation_of};
pub(in crate::rig) use limb::any_across;
pub(in crate::rig) use pins::put_back;
pub(in crate::rig) use two_bone::TwoBone;

use super::Skeleton;
use super::retarget::{JointRoles, Role};

/// Limbs and hips of a skeleton, for inverse kinematics. Depends on the skeleton only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IkRig {
    limbs: Vec<Limb>,
    hips: Option<usize>,
}

impl IkRig {
    /// Finds limbs and hips.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        let roles = JointRoles::of(skeleton);
        let limbs = limb::limbs_of(skeleton, &roles);
        let hips = roles
            .first(Role::Hips)
            .filter(|&hips| limbs.iter().all(|limb| limb.upper != hips));
        Self { limbs, hips }
    }

    /// Arms and legs.
    #[must_use]
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// The hand or foot at the end of the limb that a joint belongs to.
    #[must_use]
    pub fn end_of(&self, skeleton: &Skeleton, joint: usize) -> Option<usize> {
        let own = |limb: &&Limb| pins::touches(skeleton, limb.upper, joint);
        let limb = self
            .limbs
            .iter()
            .filter(|_| joint < skeleton.len())
            .find(own);
        limb.map(|limb| limb.end)
    }

    /// The joint that moves the whole body, if determined.
    #[cfg(test)]
    pub(crate) fn hips(&self) -> Option<usize> {
        self.hips
    }
}

#[cfg(test)]
pub(in crate::rig) mod tests;
