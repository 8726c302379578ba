//! Pictures. Software Vulkan is enough.

#[path = "../common/mod.rs"]
mod common;

mod looks;
mod pictures;
mod sheets;
