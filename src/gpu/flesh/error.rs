//! What can go wrong with flesh on the device.

use crate::gpu::GpuError;

/// Why a character can't be simulated on this device, or not so many of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleshError {
    /// A buffer would be larger than the device allows.
    #[error(
        "{instances} characters of {rows} vertices need {bytes} bytes for {what}, and this device binds at most {limit}; \
         simulate fewer at once, or on the CPU"
    )]
    TooLarge {
        /// What is in the buffer.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The device's limit.
        limit: u64,
        /// Skin vertices of the character.
        rows: usize,
        /// Characters.
        instances: u32,
    },
    /// More workgroups than a dispatch may have, or none.
    #[error("{wanted} {what} cannot be simulated at once on this device; expected 1 to {limit}")]
    Count {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        wanted: usize,
        /// The device's limit.
        limit: usize,
    },
    /// A state of another character.
    #[error("the state has {actual} {what}, and the character {expected}")]
    State {
        /// What there is a wrong number of.
        what: &'static str,
        /// How many the state has.
        actual: usize,
        /// How many the character has.
        expected: usize,
    },
    /// There is no such instance.
    #[error("there is no character {instance}; expected 0 to {last}")]
    Instance {
        /// The one asked for.
        instance: u32,
        /// The last there is.
        last: u32,
    },
    /// The device was lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
