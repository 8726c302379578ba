//! A motion of one skeleton on another: other names, other proportions, another rest pose, another up axis.
//!
//! # How
//! 1. **Mapping.** Joints of both skeletons get roles ([`Role`]) by their names, and by the shape of the skeleton where names say
//!    nothing; joints of one role are a [`Pair`]. A [`Mapping`] is a plain list that can be saved and edited.
//! 2. **Stance.** The motion's rest pose is the stance that rotations are measured from, if it looks like a person standing;
//!    otherwise (some exporters lay all bones along one axis) its first frame, or the frame that looks most like one.
//! 3. **Alignment.** The character is put into that stance bone by bone (`align.rs`), so that an A-pose and a T-pose agree.
//! 4. **Transfer.** Every joint turns in the world as its partner does since the stance:
//!
//!    ```text
//!    R(t) = C · Rₛ(t) · Rₛ(stance)⁻¹ · C⁻¹ · R(aligned)
//!    ```
//!
//!    with C from the motion's axes to the character's. Rotation and twist are kept exactly. A chain (spine, neck) of another
//!    number of joints gets the partner chain's rotation in equal steps, by spherical interpolation.
//! 5. **Root.** The middle of the hip joints moves as in the motion, scaled by the length of the legs. It begins where the
//!    character stands. Height is measured from the ground that the motion's feet stand on, and corrected by what the legs' other
//!    proportions change, so that feet stand on the character's ground when the motion's feet do.
//! 6. **Feet.** A foot that stands in the motion is kept from sliding by small turns of hip and knee (`feet.rs`).
//!
//! A first frame that has nothing to do with the second (a T-pose put in front, as in the CMU library) is left out.

mod align;
mod feet;
mod ground;
mod mapping;
mod role;
mod roles;
mod source;
mod stance;
mod topology;
mod transfer;

pub use mapping::{Mapping, Pair, UpAxis};
pub use role::{Digit, Role, Side};
pub use roles::Roles;

use super::{Clip, PoseError, Skeleton};
use crate::progress::{Cancelled, Progress};

/// Why a motion can't be put onto a character.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// Too little of the two skeletons is alike.
    #[error(
        "the motion's skeleton can't be matched with the character's: {matched} of its joints were recognised{}; give a mapping",
        if *hips { "" } else { ", and no hips" }
    )]
    NoMatch {
        /// How many pairs there are.
        matched: usize,
        /// Whether hips are among them.
        hips: bool,
    },
    /// A mapping names a joint that is not there.
    #[error("the mapping names a joint that {of} doesn't have: {problem}")]
    UnknownJoint {
        /// "the character" or "the motion".
        of: &'static str,
        /// Which.
        problem: PoseError,
    },
    /// A joint of the character is to follow two masters.
    #[error("the mapping names joint \"{name}\" of the character twice")]
    Twice {
        /// Which.
        name: String,
    },
    /// A scale that is none.
    #[error("the mapping's scale must be a number above 0, not {scale}")]
    BadScale {
        /// What was given.
        scale: f64,
    },
    /// The motion has no frames.
    #[error("there are no frames in the motion")]
    Empty,
    /// Somewhere the motion is not finite.
    #[error("the motion puts joints infinitely far away")]
    NotFinite,
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A motion on its new skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Retargeted {
    /// Rotations of the joints that have a partner, and the translation of the hips.
    pub clip: Clip,
    /// Length of the character over length of the motion's skeleton.
    pub scale: f64,
    /// Up axis of the motion.
    pub up: UpAxis,
    /// Whether the first frame was left out.
    pub first_left_out: bool,
}

/// Puts a clip of `source` onto `target`.
///
/// # Errors
/// [`RetargetError`]: nothing to match, a wrong mapping, an empty motion, or [`RetargetError::Cancelled`].
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
