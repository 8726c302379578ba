//! Pixar's Universal Scene Description: text (`.usda`), binary (`.usdc`) and packages (`.usdz`).
//!
//! - Read: meshes with skins and blend shapes of `UsdSkel`, its animations, `UsdPreviewSurface` materials. File → [`Layer`](layer::Layer) ([`text`],
//!   [`binary`], [`package`]) → prims ([`scene`]) → character ([`assemble`]).
//! - Written: point caches ([`frames`]), and characters with skeleton, weights, morphs and clips ([`rig_write`]).
//!
//! # Departures
//! - A file is one layer: references, payloads, inherits, sublayers and variants are refused by a sentence, not resolved.
//! - The world is rotated so that +Y is up; lengths stay in the file's unit.
//! - Of attributes that change over time, other than joints and weights of animations, the first value is read.

mod assemble;
mod binary;
mod clips_read;
mod clips_write;
mod frames;
mod influences_read;
mod joints_write;
mod keys;
mod layer;
mod look_read;
mod look_write;
mod mesh_read;
mod mesh_write;
mod names;
mod package;
mod rig_write;
mod scene;
mod shapes_read;
mod shapes_write;
mod skeleton_read;
mod text;
mod text_write;

use std::path::Path;

pub use frames::UsdFrames;
pub use rig_write::{usd_bytes, write_refitted_usd};

use self::package::Package;
use super::error::{Parsed, bad};
use crate::character::Character;
use crate::progress::Progress;

/// A format that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsdFormat {
    /// `.usda`.
    Text,
    /// `.usdc`, and `.usd`.
    Binary,
}

impl UsdFormat {
    /// The format that a file's extension stands for.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "usda" => Some(Self::Text),
            "usdc" | "usd" => Some(Self::Binary),
            _ => None,
        }
    }
}

/// Reads a scene; textures are in the package, or searched in `folder`. The character may lack meshes or joints.
pub(super) fn read(bytes: &[u8], folder: Option<&Path>, progress: &Progress) -> Parsed<Character> {
    let package = if bytes.starts_with(package::MAGIC) {
        Some(Package::read(bytes)?)
    } else {
        None
    };
    let bytes = match &package {
        Some(package) => package.layer()?,
        None => bytes,
    };
    let layer = if bytes.starts_with(binary::MAGIC) {
        binary::read(bytes)?
    } else if bytes.trim_ascii_start().starts_with(b"#usda") {
        text::read(bytes)?
    } else {
        return bad("not a USD file: it starts with neither #usda nor PXR-USDC");
    };
    progress.set_fraction(0.5);
    assemble::read(&layer, &look_read::Pictures { package, folder }, progress)
}

#[cfg(test)]
mod tests;
