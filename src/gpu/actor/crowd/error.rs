//! What can go wrong with a crowd.

use crate::gpu::GpuError;
use crate::methods::SkinError;
use crate::progress::Cancelled;

/// Why a crowd can't be shown, or does not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// More than the device has room for.
    #[error(
        "{wanted} characters are more than this graphics device has room for; of this one, {most} fit"
    )]
    TooMany {
        /// Characters asked for.
        wanted: usize,
        /// How many fit.
        most: usize,
    },
    /// The device says that its memory is full.
    #[error(
        "{wanted} characters do not fit into the memory that the graphics device has left; show fewer, or a coarser simulation mesh"
    )]
    Full {
        /// Characters asked for.
        wanted: usize,
    },
    /// There are no characters.
    #[error("a crowd has at least one character")]
    Nobody,
    /// Poses of another number of characters.
    #[error("{actual} poses were given for {expected} characters")]
    Poses {
        /// How many poses there are.
        actual: usize,
        /// How many characters there are.
        expected: usize,
    },
    /// The device can't show this character.
    #[error("the graphics device can't show this character: {reason}")]
    Unfit {
        /// What is missing.
        reason: String,
    },
    /// A pose is not one of this character, or its flesh finds no rest in it.
    #[error("character {instance}: {source}")]
    Pose {
        /// Which one, from 0.
        instance: usize,
        /// What happened.
        source: SkinError,
    },
    /// The device was lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The caller raised the cancel token: the crowd has to be settled before it goes on.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

pub(super) fn unfit(reason: &dyn std::fmt::Display) -> CrowdError {
    CrowdError::Unfit {
        reason: reason.to_string(),
    }
}
