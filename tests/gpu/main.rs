//! What runs on a graphics device: agreement with the CPU, and the loss of the device. Software Vulkan is enough.

#[path = "../common/mod.rs"]
mod common;

mod actor;
mod base;
mod characters;
mod crowd;
mod deformed;
mod detection;
mod elements;
mod flesh;
mod pictures;
mod rotations;
mod skin;
mod solve;
mod stepping;
mod surface;
mod surfaces;
mod touch;
