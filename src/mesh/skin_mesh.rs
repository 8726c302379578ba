//! The welded skin at the source's resolution, and its mapping to the source.

use super::{TriMesh, weld};
use crate::math::Point;

/// Welding tolerance, relative to the size.
pub const WELD_TOLERANCE: f32 = 1e-6;

/// The welded skin in the bind pose, world space, and the welded vertex of every source vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinMesh {
    /// The welded mesh. Every vertex has a triangle.
    pub mesh: TriMesh,
    /// For every source vertex its vertex of `mesh`; `None` for props and for vertices without a triangle.
    pub skin_from_source: Vec<Option<u32>>,
}

impl SkinMesh {
    /// Welds the source vertices that are skin. `is_skin` has one entry per source vertex.
    #[must_use]
    pub fn weld(positions: &[Point], triangles: &[[u32; 3]], is_skin: &[bool]) -> Self {
        let size = super::Bounds::of(positions).size();
        let kept: Vec<[u32; 3]> = triangles
            .iter()
            .copied()
            .filter(|t| t.iter().all(|&v| is_skin[v as usize]))
            .collect();
        let welded = weld(positions, &kept, size * WELD_TOLERANCE);
        // Numbers only vertices that a triangle uses, in source order.
        let mut compact: Vec<Option<u32>> = vec![None; welded.mesh.positions.len()];
        for &v in welded.mesh.triangles.as_flattened() {
            compact[v as usize] = Some(0);
        }
        let mut mesh = TriMesh::default();
        for (slot, position) in compact
            .iter_mut()
            .zip(&welded.mesh.positions)
            .filter(|(slot, _)| slot.is_some())
        {
            *slot = Some(mesh.positions.len() as u32);
            mesh.positions.push(*position);
        }
        mesh.triangles = welded
            .mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| compact[v as usize].unwrap_or_default()))
            .collect();
        let skin_from_source = welded
            .welded_from_input
            .iter()
            .zip(is_skin)
            .map(|(&v, &skin)| if skin { compact[v as usize] } else { None })
            .collect();
        Self {
            mesh,
            skin_from_source,
        }
    }

    /// For every vertex of the skin the first source vertex welded into it.
    #[must_use]
    pub(crate) fn source_from_skin(&self) -> Vec<u32> {
        let mut source_from_skin = vec![u32::MAX; self.mesh.positions.len()];
        for (source, skin) in self.skin_from_source.iter().enumerate().rev() {
            if let Some(skin) = skin {
                source_from_skin[*skin as usize] = source as u32;
            }
        }
        source_from_skin
    }
}
