//! Sinew: a workbench for character skinning.
//!
//! # The way of the data
//! ```text
//! files ─io→ Character (source meshes as in the file, skeleton, clips, weights if any)
//!   ─mesh→   SkinMesh (welded; with the map back to every source vertex), SimMesh (what is simulated of it)
//!   ─tissue→ Tissue (bone volumes, shrunken base surface, tets, masses)          ─weights→ SkinWeights
//!   ─bind→   one Skinner per method (all that does not depend on the pose)
//!   per frame: Pose ─skin→ positions ─upsample→ source vertices + normals ─render→ view | ─io→ file
//! ```
//! Each arrow is one stage with one owner. A stage's output is immutable and shared (`Arc`); it is rebuilt only when an input of
//! its own changed. Only the per-frame part mutates, in place, without allocating.
//!
//! # Layers
//! Imports go down only; `tests/layers.rs` enforces it.
//! ```text
//! core:   { progress, cache, logbook } → math → mesh → rig → weights → character → { tissue, upsample } → collision → dynamics → skin
//! io:     on mesh, rig, weights, character (and tissue for export)
//! outer:  core → gpu → { render, session } → { app, cli }
//! ```
//! The core never names wgpu; only gpu, render and app do; egui is named only in app.
//!
//! # Units and notation
//! Transforms are named `to_from_from`: `world_from_joint`. SI units and radians inside; degrees only on screen and on the
//! command line. Right-handed, +Y up, as glTF. Lengths of a character stay in its file's units; `Character::metres_per_unit` says
//! what one is. *Size* is the diagonal of the bind pose's bounding box.

pub mod cache;
pub mod logbook;
pub mod progress;

pub mod math;
pub mod mesh;
pub mod rig;
pub mod weights;

pub mod character;
pub mod tissue;
pub mod upsample;

pub mod collision;
pub mod dynamics;
pub mod skin;

pub mod io;

pub mod gpu;
pub mod render;
pub mod session;

pub mod app;
pub mod cli;

#[cfg(test)]
#[path = "../tests/skip/mod.rs"]
mod skip;
