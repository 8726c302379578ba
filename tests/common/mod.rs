//! What tests of several areas share. Every integration binary includes it by path.

#![expect(dead_code, reason = "every test binary uses a part of it")]

pub mod bar;
pub mod chaos;
#[cfg(feature = "gpu")]
pub mod drawn;
pub mod fbx_binary;
pub mod fbx_text;
pub mod folder;
pub mod moved;
pub mod on_bones;
#[cfg(feature = "gpu")]
pub mod on_device;
pub mod random;
pub mod scaled;
pub mod skip;
