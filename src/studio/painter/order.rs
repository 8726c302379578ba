//! A picture that owns its inputs, to be drawn on another thread.

use std::sync::Arc;

use super::{Comparison, Picture};
use crate::character::FleshPaint;
use crate::methods::FieldSlice;
use crate::render::{Camera, Look, PositionMark};
use crate::studio::{Compare, GhostSkins, Snapshot};

/// A picture to draw.
pub(super) struct Order {
    pub(super) canvas: u32,
    size: [u32; 2],
    scale: f32,
    pub(super) camera: Camera,
    snapshot: Option<Arc<Snapshot>>,
    compare: Option<OrderedComparison>,
    selected: Vec<usize>,
    hovered: Option<usize>,
    look: Look,
    marks: Option<Arc<[PositionMark]>>,
    ghosts: Option<Arc<GhostSkins>>,
    fields: Option<Arc<FieldSlice>>,
    paint: Option<FleshPaint>,
    ground_height: f32,
    character_size: f32,
}

struct OrderedComparison {
    with: Arc<Snapshot>,
    how: Compare,
    max_mm: Option<f32>,
    ghosts: Option<Arc<GhostSkins>>,
}

impl Order {
    pub(super) fn of(picture: &Picture<'_>) -> Self {
        Self {
            canvas: picture.canvas,
            size: picture.size,
            scale: picture.scale,
            camera: *picture.camera,
            snapshot: picture.snapshot.cloned(),
            compare: picture.compare.map(|compare| OrderedComparison {
                with: compare.with.clone(),
                how: compare.how,
                max_mm: compare.max_mm,
                ghosts: compare.ghosts.cloned(),
            }),
            selected: picture.selected.to_vec(),
            hovered: picture.hovered,
            look: *picture.look,
            marks: picture.marks.cloned(),
            ghosts: picture.ghosts.cloned(),
            fields: picture.fields.cloned(),
            paint: picture.paint.cloned(),
            ground_height: picture.ground_height,
            character_size: picture.character_size,
        }
    }

    /// The picture.
    pub(super) fn picture(&self) -> Picture<'_> {
        Picture {
            canvas: self.canvas,
            size: self.size,
            scale: self.scale,
            camera: &self.camera,
            snapshot: self.snapshot.as_ref(),
            crowd: None,
            compare: self.compare.as_ref().map(|compare| Comparison {
                with: &compare.with,
                how: compare.how,
                max_mm: compare.max_mm,
                ghosts: compare.ghosts.as_ref(),
            }),
            selected: &self.selected,
            hovered: self.hovered,
            look: &self.look,
            marks: self.marks.as_ref(),
            ghosts: self.ghosts.as_ref(),
            fields: self.fields.as_ref(),
            paint: self.paint.as_ref(),
            ground_height: self.ground_height,
            character_size: self.character_size,
        }
    }
}
