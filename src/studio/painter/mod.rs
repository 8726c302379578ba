//! Draws pictures of states, one per canvas, for views that are shown and for pictures that are read back.
//!
//! | lifetime     | what                                                                             |
//! |--------------|----------------------------------------------------------------------------------|
//! | device       | [`GpuPainter`]: pipelines                                                          |
//! | character    | its model: indices, textures; shared by all views                                 |
//! | snapshot     | positions and normals on the device; written once, however many views show them    |
//! | canvas       | its picture, overlays and vertex colours; redrawn only when an input changed        |

mod gpu;
mod order;
mod pool;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::Arc;

pub use gpu::{GpuPainter, NoTextures, PainterOn, Textures, needs_numbers};
pub use thread::{PicturesWaker, ThreadPainter};

use crate::character::FleshPaint;
use crate::methods::FieldSlice;

use super::{Compare, CrowdFrame, GhostSkins, Snapshot};
use crate::render::{Camera, Legend, Look, PositionMark};

/// The state of another method in the same picture.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The other state.
    pub with: &'a Arc<Snapshot>,
    /// How the two are compared; [`Compare::Flicker`] shows this state.
    pub how: Compare,
    /// End of the colour range of a difference, millimetres; `None`: automatic.
    pub max_mm: Option<f32>,
    /// Onion skins of the other state, for its side of a wipe.
    pub ghosts: Option<&'a Arc<GhostSkins>>,
}

/// Contents of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// The canvas: a view, or a cell of a sheet.
    pub canvas: u32,
    /// Size in pixels.
    pub size: [u32; 2],
    /// Pixels per point of the screen: the scale of line widths.
    pub scale: f32,
    /// The camera.
    pub camera: &'a Camera,
    /// The state; `None` shows an empty studio.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// A crowd, drawn instead of the skin; overlays are drawn for the single character only.
    pub crowd: Option<&'a Arc<CrowdFrame>>,
    /// The comparison.
    pub compare: Option<Comparison<'a>>,
    /// The selected joints, the active one last.
    pub selected: &'a [usize],
    /// The joint under the pointer.
    pub hovered: Option<usize>,
    /// Display settings.
    pub look: &'a Look,
    /// Positions that may be marked.
    pub marks: Option<&'a Arc<[PositionMark]>>,
    /// Onion skins.
    pub ghosts: Option<&'a Arc<GhostSkins>>,
    /// The composed field of the state in a plane, if the look shows it.
    pub fields: Option<&'a Arc<FieldSlice>>,
    /// What is painted onto the skin, if that is newer than the character's.
    pub paint: Option<&'a FleshPaint>,
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
    /// Milliseconds spent; 0 if nothing had changed.
    pub ms: f64,
    /// Legend of the colours, if any.
    pub legends: Vec<Legend>,
    /// Whether it is empty, or a picture of an earlier camera, because that of the present one is not finished.
    pub lags: bool,
}

/// Draws pictures into textures that a window can show. Tests and headless runs use an implementation that draws nothing.
pub trait ViewportPainter {
    /// Draws, if an input has changed since the last time.
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
