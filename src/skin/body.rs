//! What of the skin is flesh, and the mesh that is simulated of it.

use super::kept;
use crate::cache::Cache;
use crate::character::{Attachment, Character, FleshSettings, PartMap, Place};
use crate::mesh::decimate::{Decimation, decimate, density_near};
use crate::mesh::{SimMesh, SkinMesh, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::tissue::{Parts, Skin, joint_regions};
use crate::weights::SkinWeights;

/// The skin taken apart. Immutable.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Body {
    /// The connected parts of the skin and how each of them moves.
    pub parts: Parts,
    /// The parts that are flesh, at the skin's resolution.
    pub flesh: TriMesh,
    /// For every vertex of `flesh` its vertex of the skin.
    pub skin_from_flesh: Vec<u32>,
    /// What physics sees of the flesh.
    pub sim: SimMesh,
}

impl Body {
    /// Finds the parts and makes the simulation mesh. Without a skeleton all is flesh, as fine as it is.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn build(
        character: &Character,
        skin: &SkinMesh,
        settings: &FleshSettings,
        cache: &Cache,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let skeleton = &character.skeleton;
        if skeleton.is_empty() {
            let all = (0..skin.mesh.positions.len() as u32).collect();
            let (parts, flesh) = (Parts::default(), skin.mesh.clone());
            return Ok(Self { parts, skin_from_flesh: all, sim: SimMesh::same_as(&flesh), flesh });
        }
        progress.report(0.0, "Taking apart");
        let weights = weights_of_file(character, skin);
        let make = || Self::make(character, skin, weights.as_ref(), settings, progress);
        kept::body(cache, character, skin, weights.as_ref(), settings, make)
    }

    fn make(
        character: &Character,
        skin: &SkinMesh,
        weights: Option<&SkinWeights>,
        settings: &FleshSettings,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let skeleton = &character.skeleton;
        let parts = find_parts(character, skin, weights, &settings.parts);
        progress.check()?;
        let (flesh, skin_from_flesh) = parts.flesh(&skin.mesh);
        let weights = weights.map(|weights| weights.of_some(&skin_from_flesh)).filter(SkinWeights::is_complete);
        progress.report(0.2, "Reducing");
        let mut sim = match settings.sim_vertices.target(flesh.positions.len()) {
            Some(target_vertices) => {
                let density = density_near(&flesh, &joint_regions(&flesh, skeleton, weights.as_ref()));
                let wanted = Decimation { target_vertices, density: &density, ..Decimation::default() };
                SimMesh::reduced(&flesh, decimate(&flesh, &wanted, &progress.part(0.2, 1.0))?)
            }
            None => SimMesh::same_as(&flesh),
        };
        for vertex in &mut sim.skin_from_sim {
            *vertex = skin_from_flesh[*vertex as usize];
        }
        Ok(Self { parts, flesh, skin_from_flesh, sim })
    }

    /// Whether every name in it is one of a vertex, of its own or of this skin.
    #[must_use]
    pub fn is_of(&self, skin: &SkinMesh) -> bool {
        let vertices = skin.mesh.positions.len();
        let flesh = self.flesh.positions.len();
        (self.parts.part_of_vertex.is_empty() || self.parts.part_of_vertex.len() == vertices)
            && self.parts.part_of_vertex.iter().all(|&part| (part as usize) < self.parts.parts.len())
            && self.skin_from_flesh.len() == flesh
            && self.skin_from_flesh.iter().all(|&vertex| (vertex as usize) < vertices)
            && self.flesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < flesh)
            && self.sim.is_of(&skin.mesh)
    }

    /// Whether the flesh is simulated as fine as it is.
    #[must_use]
    pub fn is_simulated_as_it_is(&self) -> bool {
        self.sim.mesh == self.flesh
    }

    /// The file's weights on the simulation mesh; `None` if any vertex of it has none.
    #[must_use]
    pub fn weights_of_file(&self, character: &Character, skin: &SkinMesh) -> Option<SkinWeights> {
        weights_of_file(character, skin).map(|weights| weights.of_some(&self.sim.skin_from_sim)).filter(SkinWeights::is_complete)
    }
}

/// The parts, by what the file and the user say.
fn find_parts(character: &Character, skin: &SkinMesh, weights: Option<&SkinWeights>, overrides: &PartMap) -> Parts {
    let names: Vec<String> = character.meshes.iter().map(|mesh| mesh.name.clone()).collect();
    let mesh_of_source =
        character.meshes.iter().enumerate().flat_map(|(index, mesh)| std::iter::repeat_n(index as u32, mesh.positions.len()));
    let mesh_of_source: Vec<u32> = mesh_of_source.collect();
    let name_of_vertex: Vec<u32> = skin.source_from_skin().iter().map(|&source| mesh_of_source[source as usize]).collect();
    let is_there = |place: &Place| !matches!(place, Place::Rigid { joint } if *joint >= character.skeleton.len());
    let overrides: PartMap = overrides.iter().filter(|(_, place)| is_there(place)).map(|(name, place)| (name.clone(), *place)).collect();
    let skin = Skin { mesh: &skin.mesh, skeleton: &character.skeleton, weights, names: &names, name_of_vertex: &name_of_vertex };
    Parts::find(&skin, &overrides)
}

/// The file's weights on the skin, nothing where it has none; `None` if it has none at all.
pub(super) fn weights_of_file(character: &Character, skin: &SkinMesh) -> Option<SkinWeights> {
    let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); skin.mesh.positions.len()];
    let mut source = 0;
    for mesh in &character.meshes {
        for vertex in 0..mesh.positions.len() {
            if let (Some(v), Attachment::Skinned { weights, .. }) = (skin.skin_from_source[source], &mesh.attachment)
                && rows[v as usize].is_empty()
            {
                rows[v as usize] = weights.row(vertex);
            }
            source += 1;
        }
    }
    let weights = SkinWeights::from_rows(rows).0;
    (!weights.joints.is_empty()).then_some(weights)
}
