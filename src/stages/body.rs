//! The connected parts of the skin, the flesh among them, and the simulation mesh.

use super::cached;
use super::flesh::Inputs;
use super::source_weights::rows_on_skin;
use crate::cache::Cache;
use crate::character::{Attachment, Character, FleshSettings, PartMap, Place, SimVertices};
use crate::mesh::decimate::{Decimation, decimate, density_near};
use crate::mesh::{SimMesh, SkinMesh, TriMesh, repair};
use crate::progress::{Cancelled, Progress};
use crate::tissue::{Parts, Skin, joint_regions};
use crate::weights::SkinWeights;

/// The skin divided into parts, and the mesh of those that are flesh. Immutable.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Body {
    /// The connected parts of the skin and how each of them moves.
    pub parts: Parts,
    /// The parts that are flesh, at the skin's resolution, with repaired faces.
    pub flesh: TriMesh,
    /// For every vertex of `flesh` its vertex of the skin.
    pub skin_from_flesh: Vec<u32>,
}

impl Body {
    /// For every vertex of a skin of `vertices` its vertex of the flesh, if it has one.
    #[must_use]
    pub fn flesh_from_skin(&self, vertices: usize) -> Vec<Option<u32>> {
        let mut flesh_from_skin = vec![None; vertices];
        for (flesh, &skin) in (0u32..).zip(&self.skin_from_flesh) {
            flesh_from_skin[skin as usize] = Some(flesh);
        }
        flesh_from_skin
    }

    /// Classifies the parts. Without a skeleton everything is flesh.
    pub(super) fn build(
        inputs: &Inputs,
        settings: &FleshSettings,
        cache: &Cache,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let (character, skin) = (&*inputs.character, &*inputs.skin);
        if character.skeleton.is_empty() {
            return Ok(Self {
                parts: Parts::default(),
                flesh: skin.mesh.clone(),
                skin_from_flesh: (0..skin.mesh.positions.len() as u32).collect(),
            });
        }
        progress.report(0.0, "Finding the parts of the skin");
        let weights = inputs.file_weights();
        cached::body(cache, character, skin, weights, &settings.parts, || {
            let parts = find_parts(character, skin, weights, &settings.parts);
            progress.check()?;
            let (flesh, skin_from_flesh) = parts.flesh(&skin.mesh);
            Ok(Self {
                parts,
                flesh: repair(&flesh).mesh,
                skin_from_flesh,
            })
        })
    }

    /// Decimates the flesh to the wanted number of vertices. Without a skeleton it is not decimated.
    pub(super) fn reduce(
        &self,
        inputs: &Inputs,
        wanted: SimVertices,
        cache: &Cache,
        progress: &Progress,
    ) -> Result<SimMesh, Cancelled> {
        let (flesh, skeleton) = (&self.flesh, &inputs.character.skeleton);
        let target = wanted
            .target(flesh.positions.len())
            .filter(|_| !skeleton.is_empty());
        let Some(target_vertices) = target else {
            return Ok(self.in_skin(SimMesh::same_as(flesh)));
        };
        progress.report(0.0, "Reducing the mesh");
        let weights = inputs.file_weights_of(&self.skin_from_flesh);
        let (weights, skin) = (weights.as_ref(), &inputs.skin);
        cached::sim(
            cache,
            self,
            skeleton,
            weights,
            target_vertices,
            skin,
            || {
                let density = density_near(flesh, &joint_regions(flesh, skeleton, weights));
                let wanted = Decimation {
                    target_vertices,
                    density: &density,
                    ..Decimation::default()
                };
                let reduced = decimate(flesh, &wanted, progress)?;
                Ok(self.in_skin(SimMesh::reduced(flesh, reduced)))
            },
        )
    }

    /// Lets the vertices of a mesh derived from the flesh refer to the skin.
    fn in_skin(&self, mut sim: SimMesh) -> SimMesh {
        for vertex in &mut sim.skin_from_sim {
            *vertex = self.skin_from_flesh[*vertex as usize];
        }
        sim
    }

    /// Whether all indices are in range.
    pub(super) fn is_of(&self, skin: &SkinMesh) -> bool {
        let vertices = skin.mesh.positions.len();
        let flesh = self.flesh.positions.len();
        (self.parts.part_of_vertex.is_empty() || self.parts.part_of_vertex.len() == vertices)
            && self
                .parts
                .part_of_vertex
                .iter()
                .all(|&part| (part as usize) < self.parts.parts.len())
            && self.skin_from_flesh.len() == flesh
            && self
                .skin_from_flesh
                .iter()
                .all(|&vertex| (vertex as usize) < vertices)
            && self
                .flesh
                .triangles
                .iter()
                .flatten()
                .all(|&vertex| (vertex as usize) < flesh)
    }
}

/// The parts, from the file's weights and the user's settings.
fn find_parts(
    character: &Character,
    skin: &SkinMesh,
    weights: Option<&SkinWeights>,
    overrides: &PartMap,
) -> Parts {
    let names: Vec<String> = character
        .meshes
        .iter()
        .map(|mesh| mesh.name.clone())
        .collect();
    let mesh_of_source = character
        .meshes
        .iter()
        .enumerate()
        .flat_map(|(index, mesh)| std::iter::repeat_n(index as u32, mesh.positions.len()));
    let mesh_of_source: Vec<u32> = mesh_of_source.collect();
    let name_of_vertex: Vec<u32> = skin
        .source_from_skin()
        .iter()
        .map(|&source| mesh_of_source[source as usize])
        .collect();
    let is_there = |place: &Place| !matches!(place, Place::Rigid { joint } if *joint >= character.skeleton.len());
    let overrides: PartMap = overrides
        .iter()
        .filter(|(_, place)| is_there(place))
        .map(|(name, place)| (name.clone(), *place))
        .collect();
    let skin = Skin {
        mesh: &skin.mesh,
        skeleton: &character.skeleton,
        weights,
        names: &names,
        name_of_vertex: &name_of_vertex,
    };
    Parts::find(&skin, &overrides)
}

/// The file's weights on the skin, without influences where it has none; `None` if it has none at all.
pub(super) fn weights_of_file(character: &Character, skin: &SkinMesh) -> Option<SkinWeights> {
    let rows = rows_on_skin(character, skin, |mesh, vertex| {
        match &character.meshes[mesh].attachment {
            Attachment::Skinned { weights, .. } => weights.row(vertex),
            _ => Vec::new(),
        }
    });
    let weights = SkinWeights::from_rows(rows).0;
    (!weights.joints.is_empty()).then_some(weights)
}
