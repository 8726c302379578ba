//! Flesh on the device: the time steps of projective dynamics as compute passes.

mod press;
pub mod solve;

pub use press::{MOST_CONTACTS, Press, PressBuffers};

use super::StructLayout;

/// The structs that the shaders read.
pub(super) fn struct_layouts() -> Vec<StructLayout> {
    solve::layouts()
}
