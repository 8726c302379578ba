//! Retargeting: applies a motion to another skeleton, with other names, proportions, rest pose or
//! up axis.
//!
//! # How
//! 1. **Mapping.** Joints of both skeletons get roles ([`Role`]) by their names, otherwise by the
//!    skeleton's topology; joints of equal role form a [`JointPair`]. A [`Mapping`] is a plain list
//!    that can be saved and edited; joints chosen by hand ([`JointChoices`]) win over it.
//! 2. **Stance.** Rotations are measured from the motion's rest pose if it resembles a standing
//!    person; otherwise (some exporters align all bones with one axis) from its first frame, or the
//!    frame that resembles one most.
//! 3. **Alignment.** The character is put into that stance bone by bone (`align.rs`), so that
//!    A-pose and T-pose agree.
//! 4. **Transfer.** Every joint rotates in the world as its partner does since the stance:
//!
//!    ```text
//!    R(t) = C · Rₛ(t) · Rₛ(stance)⁻¹ · C⁻¹ · R(aligned)
//!    ```
//!
//! with C from the motion's axes to the character's. Rotation and twist are preserved exactly. A
//! chain (spine, neck) with another number of joints gets the partner chain's rotation in equal
//! steps, by spherical interpolation.
//! 5. **Root.** The centre of the hip joints moves as in the motion, scaled by the ratio of leg
//!    lengths, starting at the character's position. Height is measured from the ground under the
//!    motion's feet, and corrected for other leg proportions, so that feet stand on the character's
//!    ground when the motion's feet do.
//! 6. **Feet.** A standing foot is kept from sliding by small rotations of hip and knee
//!    (`feet.rs`).
//!
//! A first frame that is unrelated to the second (a T-pose before the motion, as in the CMU
//! library) is omitted.

mod align;
mod choices;
mod feet;
mod ground;
mod mapping;
mod role;
mod roles;
mod source;
mod stance;
mod topology;
mod transfer;

pub use choices::{JointChoices, JointDriver};
pub(in crate::rig) use feet::standing;
pub use mapping::{JointPair, Mapping, SignedAxis};
pub use role::{Digit, Role, Side};
pub use roles::JointRoles;

use super::{Clip, PoseError, Skeleton};
use crate::math::Affine;
use crate::progress::{Cancelled, Progress};

/// Why a motion cannot be retargeted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// The skeletons have too few common joints.
    #[error(
        "the motion's skeleton cannot be matched with the character's: {matched} of its joints were recognised{}; provide a mapping",
        if *hips { "" } else { ", and no hips" }
    )]
    NoMatch {
        /// Number of matched pairs.
        matched: usize,
        /// Whether hips are among them.
        hips: bool,
    },
    /// A mapping refers to a missing joint.
    #[error("the mapping refers to a joint that {of} does not have: {problem}")]
    UnknownJoint {
        /// "the character" or "the motion".
        of: &'static str,
        /// The mismatch.
        problem: PoseError,
    },
    /// A joint of the character is in two pairs.
    #[error("the mapping lists joint \"{name}\" of the character twice")]
    Twice {
        /// The joint.
        name: String,
    },
    /// The scale is invalid.
    #[error("the mapping's scale must be a number above 0, not {scale}")]
    BadScale {
        /// The given scale.
        scale: f64,
    },
    /// The motion has no frames.
    #[error("there are no frames in the motion")]
    Empty,
    /// The motion has non-finite transforms.
    #[error("the motion has non-finite joint transforms")]
    NotFinite,
    /// The caller cancelled the operation.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A retargeted motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Retargeted {
    /// Rotations of the joints with a partner, and the translation of the hips.
    pub clip: Clip,
    /// Ratio of the character's length to that of the motion's skeleton.
    pub scale: f64,
    /// Up axis of the motion.
    pub up: SignedAxis,
    /// Whether the first frame was omitted.
    pub first_left_out: bool,
    /// Time of the clip's start in the motion, seconds.
    pub start_secs: f64,
    /// Takes a point of the motion to where it is beside the character: the motion's hips to the character's, before feet are put on
    /// the ground.
    pub character_from_motion: Affine,
}

/// Retargets a clip of `source` to `target`.
///
/// # Errors
/// [`RetargetError`]: no match, an invalid mapping, an empty motion, or
/// [`RetargetError::Cancelled`].
pub fn retarget(
    source: &Skeleton,
    clip: &Clip,
    target: &Skeleton,
    mapping: &Mapping,
    progress: &Progress,
) -> Result<Retargeted, RetargetError> {
    let links = mapping.links(source, target)?;
    if let Some(scale) = mapping.scale.filter(|scale| !(1e-9..=1e9).contains(scale)) {
        return Err(RetargetError::BadScale { scale });
    }
    transfer::transfer(source, clip, target, mapping, &links, progress)
}

#[cfg(test)]
mod tests;
