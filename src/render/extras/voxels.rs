//! The voxel domain of automatic weights: the edges on its surface, and the cubes inside of bones.

use crate::methods::Subject;
use crate::render::colormap::category;
use crate::render::overlay::{Overlay, Rgba};
use crate::weights::voxel::VoxelOutline;

/// Colour of the edges; with more than [`EDGES_SEEN`] of them they are fainter.
const EDGE: Rgba = [150, 196, 224, 110];
/// Number of edges up to which they are drawn at full opacity.
const EDGES_SEEN: f32 = 6000.0;
/// Least opacity of an edge, of 255.
const LEAST_ALPHA: f32 = 24.0;

/// Adds the outline, in the bind pose; the cubes have one colour per joint.
pub(super) fn add_voxels(overlay: &mut Overlay, voxels: &VoxelOutline) {
    let fade = (EDGES_SEEN / voxels.lines.len().max(1) as f32)
        .sqrt()
        .min(1.0);
    let [r, g, b, alpha] = EDGE;
    let color = [r, g, b, (f32::from(alpha) * fade).max(LEAST_ALPHA) as u8];
    for [from, to] in &voxels.lines {
        overlay.line(from, to, color, 1.0);
    }
    for face in &voxels.bone_faces {
        let [a, b, c, d] = face.corners;
        let [red, green, blue] = category(face.joint as usize);
        let color = [red, green, blue, 255];
        overlay.flat_triangle([a, b, c], color);
        overlay.flat_triangle([a, c, d], color);
    }
}

/// What the voxel domain of a character is, in one line; `None` until it has been computed.
///
/// ```text
/// Voxel domain in the bind pose: 18204 cells of 17.6 mm, colours: bones
/// ```
#[must_use]
pub fn voxel_note(subject: &Subject) -> Option<String> {
    let voxels = subject.voxels_if_made()?;
    let mm = voxels.edge * subject.metres_per_unit() * 1e3;
    let colors = if voxels.bone_faces.is_empty() {
        "no bone inside"
    } else {
        "colours: bones"
    };
    Some(format!(
        "Voxel domain in the bind pose: {} cells of {mm:.1} mm, {colors}",
        voxels.cells
    ))
}
