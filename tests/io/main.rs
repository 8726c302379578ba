//! Readers and writers of files.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "gpu")]
mod glb_export;
mod glb_write;
mod reading;
