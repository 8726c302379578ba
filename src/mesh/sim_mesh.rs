//! The simulation mesh: the mesh that methods simulate.

use super::TriMesh;
use super::decimate::Decimated;

/// The simulated mesh, in the bind pose, world space; it may be coarser than the skin.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SimMesh {
    /// Every vertex has a triangle.
    pub mesh: TriMesh,
    /// For every vertex the vertex of the skin nearest to it.
    pub skin_from_sim: Vec<u32>,
}

impl SimMesh {
    /// Whether all indices are valid, for the mesh and for this skin.
    #[must_use]
    pub(crate) fn is_of(&self, skin: &TriMesh) -> bool {
        let (own, others) = (
            self.mesh.positions.len() as u32,
            skin.positions.len() as u32,
        );
        self.skin_from_sim.len() == self.mesh.positions.len()
            && self.skin_from_sim.iter().all(|&vertex| vertex < others)
            && self
                .mesh
                .triangles
                .iter()
                .flatten()
                .all(|&vertex| vertex < own)
    }

    /// Uses the skin without decimation.
    #[must_use]
    pub(crate) fn same_as(skin: &TriMesh) -> Self {
        Self {
            mesh: skin.clone(),
            skin_from_sim: (0..skin.positions.len() as u32).collect(),
        }
    }

    /// The result of a decimation of the skin.
    #[must_use]
    pub fn reduced(skin: &TriMesh, decimated: Decimated) -> Self {
        let nearest = |(place, position): (&super::decimate::SurfacePoint, &crate::math::Point)| {
            let squared = |&v: &u32| (skin.positions[v as usize] - position).norm_squared();
            let [mut nearest, b, c] = skin.triangles[place.triangle as usize];
            for other in [b, c] {
                if squared(&other) < squared(&nearest) {
                    nearest = other;
                }
            }
            nearest
        };
        let skin_from_sim = decimated
            .places
            .iter()
            .zip(&decimated.mesh.positions)
            .map(nearest)
            .collect();
        Self {
            mesh: decimated.mesh,
            skin_from_sim,
        }
    }
}
