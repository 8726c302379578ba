//! Sinew: character skinning as a library, with a workbench and a command line on top of it.
//!
//! ```no_run
//! use sinew::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let subject = sinew::open("hero.glb")?;
//! println!("{} joints", subject.character.skeleton.len());
//! # Ok(())
//! # }
//! ```
//! `examples/ten_lines.rs` goes on from here: it poses a joint and skins the character. [`prelude`] has the names for that.
//!
//! # The way of the data
//! ```text
//! files ─io→ Character (source meshes as in the file, skeleton, clips, weights if any)
//!   ─stages→ only what the chosen methods need, when they need it, each cached under a hash of its inputs:
//!            SkinMesh (welded) · SimMesh (decimated) · SkinWeights · Tissue (tets on volumetric bones) · Upsampling
//!   ─bind→   one method × its parameters (all that does not depend on the pose: factor, tables, device buffers)
//!   per frame: Pose ─method→ positions (of the source mesh, or of the simulation mesh ─upsample→ source) + normals
//!              ─render→ picture | ─metrics→ numbers | ─io→ file
//! ```
//! Each arrow is one stage with one owner. A stage's output is immutable and shared (`Arc`); it is made again only when an input of
//! its own changed. Only the per-frame part mutates, in place, without allocating.
//!
//! # A tour
//! 1. [`io::load`] reads files into a [`character::Character`]; [`open`](open()) does this and the next step.
//! 2. A [`stages::Subject`] is a character with everything that methods share.
//! 3. [`methods::Actor::bind`] binds a method to it; [`methods::Actor::advance`] skins one frame.
//! 4. [`metrics`] measures the frame; [`io`] writes it; `studio` draws it.
//! 5. `report` compares methods over many poses and writes the result as a page and tables.
//! 6. `session` is the workbench without its window: document, undo, jobs, views.
//!
//! # Layers
//! Imports go down only; `tests/source/layers.rs` enforces it and lists every module.
//! ```text
//! base:     progress, files, cache, logbook, param → math → numerics
//! shape:    mesh → rig → weights → character
//! body:     tissue, upsample → collision → dynamics
//! methods:  stages → metrics, methods · io
//! outer:    gpu (device forms of methods) → render → studio → report → session → app | cli; python, above methods and io
//! ```
//! The core never names wgpu; only `gpu`, `render`, `studio` and `app` do. egui is named only in `app`. `app` and `cli` do not see each other.
//!
//! # Features
//! | feature | adds                                         | default        |
//! |---------|----------------------------------------------|----------------|
//! | `gpu`   | `gpu`, `render`, `studio`, `report`, `session` (wgpu), compression of `.glb` (meshopt, in C++) | by `app`, `cli` |
//! | `app`   | `app`, the workbench (egui, winit)           | yes            |
//! | `cli`   | `cli` and the binary `sinew` (clap)          | yes            |
//! | `python` | `python`, the functions of the Python module (`PyO3`) | no     |
//!
//! Without features the crate is a library of the layers up to `methods`, `metrics` and `io`.
//!
//! # Extending
//! | to add            | touch                                                              |
//! |-------------------|--------------------------------------------------------------------|
//! | a method          | its file or folder under `src/methods`, a line of its registry     |
//! | a weight method   | its file under `src/weights`, a line of its registry               |
//! | a metric          | its file under `src/metrics`, a line of its registry               |
//! | a file format     | its file under `src/io`, lines of `src/io/{kind,load}.rs`          |
//! | a panel           | its file under `src/app/panels`, a line of `src/app/panels/mod.rs` |
//!
//! # Words
//! | word            | meaning                                                                                              |
//! |-----------------|------------------------------------------------------------------------------------------------------|
//! | joint           | a frame of the skeleton                                                                              |
//! | bone            | the segment from a joint to its child, or from a leaf to its tail                                    |
//! | bind pose       | the pose in which the skin was modelled; *rest pose*: the joints' transforms without motion          |
//! | source mesh     | a mesh as in the file; *skin*: the visible surface, welded from the source meshes                    |
//! | flesh           | the parts of the skin that are simulated, as opposed to cloth and props that follow                  |
//! | simulation mesh | the decimated flesh surface on which physics works                                                   |
//! | base surface    | the simulation mesh shrunken onto the bones: the inner boundary of the tissue                        |
//! | foot point      | the point of a bone line that a vertex of the base surface belongs to                                |
//! | tissue          | the volume between base surface and simulation mesh, in tets                                         |
//! | paint           | materials of the flesh that the user paints onto the skin: stiffness, hold, thickness, relaxation    |
//! | joint mapping   | which joints of a motion of another skeleton drive the character's                                   |
//! | method          | a way of skinning (`lbs`, `dqs`, `pd`, …); *weight method*: a way of computing skin weights          |
//! | Character       | what was read: meshes, skeleton, clips, materials                                                    |
//! | Subject         | a character with the stages that methods share                                                       |
//! | Body            | the skin split into parts, which of them are flesh, and the simulation mesh                          |
//! | Actor           | a method bound to a subject; holds the state and the positions of the last frame                     |
//! | Descriptor      | what is known of a method without binding it; the registry of methods is a list of them               |
//! | Skinner         | a bound method                                                                                       |
//! | Frame           | input of one frame of a method: joint transforms and the time since the last frame                   |
//! | `SourceMap`     | takes the simulation mesh to the source vertices: upsampling, then cloth and props                   |
//! | `PoseStepper`   | the bones of one instance of a crowd, moved step by step on the CPU                                  |
//! | Recipe          | per-vertex skinning data in flat arrays, for upload to the GPU                                       |
//! | Riding          | how cloth and props follow the flesh                                                                 |
//! | Reach           | bounds of how far each joint moves the skin, for boxes around a posed character without skinning it  |
//! | reference       | the converged solution of the same elasticity, to which methods are compared                         |
//! | channel         | clock, pose and shown joints of one or several views of a session                                    |
//! | take            | a character, a pose or clip, and a motion: what a bake or a film shows                               |
//! | metric          | a number that is measured on a frame                                                                 |
//! | range of motion | poses of a body's movements, found by the roles of its joints                                        |
//! | comparison      | methods × poses, measured                                                                            |
//! | size            | the diagonal of the bind pose's bounding box                                                         |
//!
//! # Units and notation
//! Transforms are named `to_from_from`: `world_from_joint`. SI units and radians inside; degrees only on screen and on the
//! command line. Right-handed, +Y up, as glTF. Lengths of a character stay in its file's units;
//! [`metres_per_unit`](character::Character::metres_per_unit) converts them.

#[macro_use]
mod by_id;
pub mod cache;
pub mod files;
pub mod logbook;
pub mod param;
pub mod progress;

pub mod math;
pub mod mesh;
pub mod numerics;
pub mod rig;
pub mod weights;

pub mod character;
pub mod tissue;
pub mod upsample;

pub mod collision;
pub mod dynamics;
pub mod methods;
pub mod metrics;
pub mod stages;

pub mod io;

mod open;
pub mod prelude;

pub use open::{OpenError, open, transfer_weights};

#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
pub mod render;
#[cfg(feature = "gpu")]
pub mod studio;

#[cfg(feature = "gpu")]
pub mod report;
#[cfg(feature = "gpu")]
pub mod session;

#[cfg(feature = "app")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "python")]
pub mod python;

#[cfg(all(test, feature = "gpu"))]
#[path = "../tests/common/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../tests/common/folder.rs"]
mod test_folder;
