//! Errors of flesh on the device.

use crate::gpu::GpuError;

/// Why the device cannot simulate a character, or not this many instances.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleshError {
    /// A buffer would be larger than the device allows.
    #[error(
        "{instances} characters of {rows} vertices need {bytes} bytes for {what}, and this device binds at most {limit}; \
         simulate fewer at once, or on the CPU"
    )]
    TooLarge {
        /// Contents of the buffer.
        what: &'static str,
        /// Its size in bytes.
        bytes: u64,
        /// The device's limit.
        limit: u64,
        /// Skin vertices of the character.
        rows: usize,
        /// Characters.
        instances: u32,
    },
    /// A dispatch would have no workgroups, or more than the device allows.
    #[error("{wanted} {what} cannot be simulated at once on this device; expected 1 to {limit}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// The count.
        wanted: usize,
        /// The device's limit.
        limit: usize,
    },
    /// A state of another character.
    #[error("the state has {actual} {what}, and the character {expected}")]
    State {
        /// What is counted.
        what: &'static str,
        /// The state's count.
        actual: usize,
        /// The character's count.
        expected: usize,
    },
    /// There is no such instance.
    #[error("there is no character {instance}; expected 0 to {last}")]
    Instance {
        /// The requested instance.
        instance: u32,
        /// The last valid instance.
        last: u32,
    },
    /// The device was lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
