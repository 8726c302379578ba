//! The repository itself: layers, shaders, and what README.md and CI promise.

mod circles;
mod dependencies;
mod layers;
#[cfg(feature = "cli")]
mod readme;
#[cfg(feature = "gpu")]
mod shaders;
