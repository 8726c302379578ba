//! Projective dynamics.

mod params;

pub use params::{Params, Preset};
