//! Flesh on the device: the time steps of projective dynamics as compute passes.

mod press;

pub use press::{MOST_CONTACTS, Press, PressBuffers};
