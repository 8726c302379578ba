//! Pictures of takes, without a user interface: *take* (character, pose or clip, motion) × *methods* × *look* × *camera* → frames,
//! pictures, films. The window, its captures and the command line all draw with it.
//!
//! | type                      | what it is                                                                       |
//! |---------------------------|----------------------------------------------------------------------------------|
//! | [`Take`], [`Motion`]      | motion of the joints and the requested frames; [`Take::play`] advances actors      |
//! | [`ClipPlay`]              | a clip with range, speed, loops and blended seams: a pure function of time         |
//! | [`Snapshot`]              | the state of one method at one time, for drawing                                   |
//! | [`CrowdFrame`]            | the same for a crowd on a device                                                   |
//! | [`CrowdMotion`], [`CrowdScene`] | positions and motion of a crowd; its pictures                                 |
//! | [`GhostMaker`]            | skins at earlier and later times                                                   |
//! | [`Compare`]               | ways to compare two methods in one picture                                         |
//! | [`painter`]               | draws a [`Picture`](painter::Picture) of states onto a canvas                      |
//! | [`Drawing`]               | reads such pictures back, with their legends                                       |
//! | [`FieldCutting`]         | the cut through the composed field that a picture shows                            |
//! | [`SheetDrawing`]          | several methods on one sheet: side by side, as a wipe, or by their differences     |
//! | [`JointFocus`]            | the surroundings of a joint in a close-up                                          |

mod clip_play;
mod compare;
mod crowd;
mod crowd_scene;
mod drawing;
mod fields;
mod focus;
mod ghosts;
pub mod painter;
mod sheet;
mod snapshot;
mod take;

pub use clip_play::{ClipPlay, DEFAULT_BLEND_SECS, clamped_range};
pub use compare::Compare;
pub use crowd::{CrowdFrame, CrowdMotion};
pub use crowd_scene::{CrowdScene, CrowdSettings};
pub use drawing::Drawing;
pub use fields::FieldCutting;
pub use focus::JointFocus;
pub use ghosts::{GhostMaker, GhostPose, GhostSkin, GhostSkins, ghost_skins, method_of_ghosts};
pub use sheet::{LINE_HEIGHT, SheetDrawing, SheetSettings, SheetState};
pub use snapshot::{Shape, Snapshot, SnapshotContent};
pub use take::{DEFAULT_FPS, HOLD_SECS, Moments, Motion, PlayError, RAMP_SECS, Step, Take};
