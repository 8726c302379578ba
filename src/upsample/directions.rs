//! Normals and tangents of source vertices, carried by the local frames of the fine vertices.

use rayon::prelude::*;

use super::frames::{Frames, LocalFrame};
use crate::math::Vec3;

/// Directions of one task.
const TASK: usize = 2048;
/// The fine vertex of a direction that has none.
const NOBODY: u32 = u32::MAX;

/// Directions at fine vertices, as they are at rest; any number at one vertex. Made once.
///
/// Normals go with the cofactors of the local deformation: they stay perpendicular to the surface, whether it bends, stretches or shears,
/// and an edge that is hard at rest stays as hard. Tangents go with the deformation itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    are_normals: bool,
    /// The fine vertex and the components in its frame.
    entries: Vec<(u32, [f32; 3])>,
}

impl Directions {
    /// Normals at rest and the fine vertex of each; those without a vertex are left alone. A zero normal becomes that of the smoothed
    /// surface. `rest` holds the frames at rest: those that
    /// [`Upsampling::positions_into`](super::Upsampling::positions_into) made of the coarse rest positions.
    #[must_use]
    pub fn normals(rest: &Frames, vertex_of: &[Option<u32>], normals: &[Vec3]) -> Self {
        Self::build(rest, vertex_of, normals, true)
    }

    /// Tangents at rest, as [`Directions::normals`]. A zero tangent becomes one of the frame's.
    #[must_use]
    pub fn tangents(rest: &Frames, vertex_of: &[Option<u32>], tangents: &[Vec3]) -> Self {
        Self::build(rest, vertex_of, tangents, false)
    }

    fn build(rest: &Frames, vertex_of: &[Option<u32>], directions: &[Vec3], are_normals: bool) -> Self {
        let entry = |(vertex, direction): (&Option<u32>, &Vec3)| {
            let Some(vertex) = vertex.filter(|&vertex| (vertex as usize) < rest.tangents.len()) else { return (NOBODY, [0.0; 3]) };
            let frame = LocalFrame::new(&rest.tangents[vertex as usize]);
            let Some(direction) = direction.try_normalize(1e-20).filter(|unit| unit.iter().all(|c| c.is_finite())) else {
                return (vertex, if are_normals { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] });
            };
            (vertex, if are_normals { frame.dual_components(&direction) } else { frame.components(&direction) })
        };
        Self { are_normals, entries: vertex_of.par_iter().zip(directions).map(entry).collect() }
    }

    /// Writes the unit directions in the state that `frames` was left in; those without a vertex stay what they are. A direction that
    /// collapsed becomes the normal of the surface. Allocates nothing.
    pub fn directions_into(&self, frames: &Frames, directions: &mut [Vec3]) {
        self.entries.par_chunks(TASK).zip(directions.par_chunks_mut(TASK)).for_each(|(entries, directions)| {
            for ((vertex, local), direction) in entries.iter().zip(directions) {
                let Some(tangents) = frames.tangents.get(*vertex as usize) else { continue };
                let frame = LocalFrame::new(tangents);
                let turned = if self.are_normals { frame.covector(local) } else { frame.vector(local) };
                let norm = turned.norm();
                // False for NaN too.
                *direction = if norm > f32::MIN_POSITIVE { turned / norm } else { frame.normal };
            }
        });
    }
}
