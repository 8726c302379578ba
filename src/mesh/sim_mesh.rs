//! The simulation mesh: the skin that physics sees.

use super::TriMesh;

/// The mesh that is simulated, in the bind pose, world space; it may be coarser than the skin.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SimMesh {
    /// Every vertex has a triangle.
    pub mesh: TriMesh,
    /// For every vertex the vertex of the skin nearest to it.
    pub skin_from_sim: Vec<u32>,
}

impl SimMesh {
    /// The skin itself.
    #[must_use]
    pub fn same_as(skin: &TriMesh) -> Self {
        Self { mesh: skin.clone(), skin_from_sim: (0..skin.positions.len() as u32).collect() }
    }
}
