//! Reading and writing files.

mod glb_write;

pub use glb_write::{GlbWriteError, write_glb};
