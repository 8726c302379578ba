//! Draws the pictures behind the handles, one per view.
//!
//! | lifetime     | what                                                                             |
//! |--------------|----------------------------------------------------------------------------------|
//! | window       | [`GpuPainter`]: pipelines                                                          |
//! | character    | its model: indices, textures; shared by all views                                 |
//! | snapshot     | positions and normals on the device; written once, however many views show them    |
//! | view         | its picture, overlays and vertex colours; drawn anew only when something changed    |

mod gpu;
mod pool;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::TextureId;

pub use gpu::{GpuPainter, PainterOn, Textures, Unseen};

use crate::app::look::Look;
use crate::render::{Camera, Legend};
use crate::session::{Checkup, CrowdFrame, GhostSkins, Snapshot, ViewId};

/// How two methods are shown in one view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
    /// The view's own method on the left, the other on the right of a line at this part of the width, 0 to 1.
    Wipe(f32),
    /// The view's own method, coloured by the distance to the other.
    Difference {
        /// Where the colours end, millimetres; by itself for none.
        max_mm: Option<f32>,
    },
}

/// Another method's state in the same view.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// Its flesh.
    pub with: &'a Arc<Snapshot>,
    /// How.
    pub how: How,
}

/// What shall be seen.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Which view.
    pub view: ViewId,
    /// Pixels.
    pub size: [u32; 2],
    /// Pixels per point of the screen: lines are drawn as many times wider.
    pub scale: f32,
    /// From where.
    pub camera: &'a Camera,
    /// The flesh; none shows an empty studio.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// Many of the character, in place of the skin of one: of that only overlays are drawn.
    pub crowd: Option<&'a Arc<CrowdFrame>>,
    /// What it is compared with.
    pub compare: Option<Comparison<'a>>,
    /// The selected joints, the active one last.
    pub selected: &'a [usize],
    /// The joint under the pointer.
    pub hovered: Option<usize>,
    /// How to draw.
    pub look: &'a Look,
    /// What the check-up found, whose places may be marked.
    pub checkup: Option<&'a Arc<Checkup>>,
    /// Skins of other moments.
    pub ghosts: Option<&'a Arc<GhostSkins>>,
    /// Height of the floor.
    pub ground_height: f32,
    /// Diagonal of the character's box.
    pub character_size: f32,
}

/// What became of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Painted {
    /// Where it is; all of the texture.
    pub texture: TextureId,
    /// Milliseconds spent now; 0 if nothing had changed.
    pub ms: f64,
    /// What its colours mean, if they mean something.
    pub legends: Vec<Legend>,
}

/// Draws pictures into textures that egui can show. Tests and headless runs have none.
pub trait ViewportPainter {
    /// Draws, if anything has changed since the last time the view was drawn.
    fn paint(&mut self, picture: &Picture<'_>) -> Option<Painted>;
}

/// Draws nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPainter;

impl ViewportPainter for NoPainter {
    fn paint(&mut self, _picture: &Picture<'_>) -> Option<Painted> {
        None
    }
}
