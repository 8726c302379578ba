//! Draws pictures of states, one per canvas, for views that are shown and for pictures that are read back.
//!
//! | lifetime     | what                                                                             |
//! |--------------|----------------------------------------------------------------------------------|
//! | device       | [`GpuPainter`]: pipelines                                                          |
//! | character    | its model: indices, textures; shared by all views                                 |
//! | snapshot     | positions and normals on the device; written once, however many views show them    |
//! | canvas       | its picture, overlays and vertex colours; drawn anew only when something changed    |

mod gpu;
mod pool;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use gpu::{GpuPainter, PainterOn, Textures, Unseen, needs_numbers};

use super::{Compare, CrowdFrame, GhostSkins, Snapshot};
use crate::render::{Camera, Legend, Look, PositionMark};

/// Another method's state in the same picture.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The other state.
    pub with: &'a Arc<Snapshot>,
    /// How the two are shown; [`Compare::Flicker`] shows the own one.
    pub how: Compare,
    /// Where the colours of a difference end, millimetres; `None` follows the differences.
    pub max_mm: Option<f32>,
    /// Skins of the other state at other moments: what a wipe shows beside it.
    pub ghosts: Option<&'a Arc<GhostSkins>>,
}

/// What is to be drawn.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Which canvas: a view, or a cell of a sheet.
    pub canvas: u32,
    /// Pixels.
    pub size: [u32; 2],
    /// Pixels per point of the screen: the scale of line widths.
    pub scale: f32,
    /// The camera.
    pub camera: &'a Camera,
    /// The state; none shows an empty studio.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// A crowd, drawn in place of the skin; of the single character only overlays are drawn.
    pub crowd: Option<&'a Arc<CrowdFrame>>,
    /// The comparison.
    pub compare: Option<Comparison<'a>>,
    /// The selected joints, the active one last.
    pub selected: &'a [usize],
    /// The joint under the pointer.
    pub hovered: Option<usize>,
    /// Display settings.
    pub look: &'a Look,
    /// Places that may be marked.
    pub marks: Option<&'a Arc<[PositionMark]>>,
    /// Skins of other moments.
    pub ghosts: Option<&'a Arc<GhostSkins>>,
    /// Height of the floor.
    pub ground_height: f32,
    /// Diagonal of the character's bounding box.
    pub character_size: f32,
}

/// Result of painting.
#[derive(Debug, Clone, PartialEq)]
pub struct Painted {
    /// The number of its texture, by [`Textures::register`].
    pub texture: u64,
    /// Milliseconds spent now; 0 if nothing had changed.
    pub ms: f64,
    /// Legend of the colours, if any.
    pub legends: Vec<Legend>,
}

/// Draws pictures into textures that a window can show. Tests and headless runs have none.
pub trait ViewportPainter {
    /// Draws, if anything has changed since the canvas was drawn last.
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
