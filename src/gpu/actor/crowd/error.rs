//! Errors of crowds.

use crate::gpu::GpuError;
use crate::methods::SkinError;
use crate::progress::Cancelled;

/// Why a crowd cannot be created or cannot advance.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// More than the device has room for.
    #[error(
        "{wanted} characters are more than this graphics device has room for; of this one, {most} fit"
    )]
    TooMany {
        /// Requested instances.
        wanted: usize,
        /// How many fit.
        most: usize,
    },
    /// The device is out of memory.
    #[error(
        "{wanted} characters do not fit into the memory that the graphics device has left; show fewer, or a coarser simulation mesh"
    )]
    Full {
        /// Requested instances.
        wanted: usize,
    },
    /// The crowd has no instances.
    #[error("a crowd has at least one character")]
    Nobody,
    /// The number of poses differs from the number of instances.
    #[error("{actual} poses were given for {expected} characters")]
    Poses {
        /// Number of poses.
        actual: usize,
        /// Number of instances.
        expected: usize,
    },
    /// The device does not support this character.
    #[error("the graphics device can't show this character: {reason}")]
    Unfit {
        /// What is missing.
        reason: String,
    },
    /// A pose does not fit the character, or its flesh does not settle in it.
    #[error("character {instance}: {source}")]
    Pose {
        /// Its index.
        instance: usize,
        /// What happened.
        source: SkinError,
    },
    /// The device was lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The caller cancelled: the crowd must be settled before it can advance.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

pub(super) fn unfit_error(reason: &dyn std::fmt::Display) -> CrowdError {
    CrowdError::Unfit {
        reason: reason.to_string(),
    }
}
