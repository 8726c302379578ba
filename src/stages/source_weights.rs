//! Weights of the source meshes, by any weight method.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::cached;
use super::flesh::Stage;
use super::lazy::{Lazy, Timed};
use crate::cache::Cache;
use crate::character::{Attachment, Character, SourceMesh};
use crate::mesh::{SkinMesh, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::weights::{SkinWeights, WeightError, WeightInput, WeightMethod, by_distance};

/// For every source mesh the weights in place of those of the file; `None` for a mesh that keeps those, or moves otherwise.
pub(super) type MeshWeights = Vec<Option<SkinWeights>>;

/// The weights of one character, a stage for each weight method that was asked for.
pub(super) struct SourceWeights {
    character: Arc<Character>,
    skin: Arc<SkinMesh>,
    cache: Cache,
    stages: Mutex<Vec<(WeightMethod, Stage<MeshWeights>)>>,
}

impl SourceWeights {
    pub(super) fn new(character: &Arc<Character>, skin: &Arc<SkinMesh>, cache: &Cache) -> Self {
        Self {
            character: character.clone(),
            skin: skin.clone(),
            cache: cache.clone(),
            stages: Mutex::default(),
        }
    }

    /// The stage of one weight method: the same for all who ask.
    pub(super) fn by(&self, method: WeightMethod) -> Stage<MeshWeights> {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stage)) = stages.iter().find(|(other, _)| *other == method) {
            return stage.clone();
        }
        let (character, skin, cache) = (
            self.character.clone(),
            self.skin.clone(),
            self.cache.clone(),
        );
        let stage = Arc::new(Lazy::new(move |progress| {
            let start = Instant::now();
            let weights = compute(&character, &skin, method, &cache, progress)?;
            Ok(Timed::since(start, weights))
        }));
        stages.push((method, stage.clone()));
        stage
    }
}

fn compute(
    character: &Character,
    skin: &SkinMesh,
    method: WeightMethod,
    cache: &Cache,
    progress: &Progress,
) -> Result<MeshWeights, Cancelled> {
    let descriptor = method.descriptor();
    let wanted = |mesh: &SourceMesh| match mesh.attachment {
        Attachment::Unweighted => true,
        Attachment::Skinned { .. } => descriptor.compute.is_some(),
        Attachment::Rigid { .. } | Attachment::Static { .. } => false,
    };
    if character.skeleton.is_empty() || !character.meshes.iter().any(wanted) {
        return Ok(vec![None; character.meshes.len()]);
    }
    let (mesh, skeleton) = (&skin.mesh, &character.skeleton);
    let on_skin = match descriptor.compute {
        None => by_distance(mesh, skeleton),
        Some(compute) => {
            let make = || compute(&WeightInput { mesh, skeleton }, progress);
            cached::weights(cache, descriptor, mesh, skeleton, make)
                .map_err(|WeightError::Cancelled(cancelled)| cancelled)?
        }
    };
    Ok(on_sources(character, skin, &on_skin, wanted))
}

/// Takes weights on the skin to the vertices of the source meshes.
fn on_sources(
    character: &Character,
    skin: &SkinMesh,
    on_skin: &SkinWeights,
    wanted: impl Fn(&SourceMesh) -> bool,
) -> MeshWeights {
    let mut first = 0;
    let weights_of = |mesh: &SourceMesh| {
        let range = first..first + mesh.positions.len();
        first = range.end;
        wanted(mesh).then(|| {
            // Vertices without a triangle are not part of the skin: they are weighted by their own distances.
            let loose = || TriMesh {
                positions: mesh.bind_positions(&character.skeleton),
                triangles: Vec::new(),
            };
            let alone = skin.skin_from_source[range.clone()]
                .iter()
                .any(Option::is_none)
                .then(|| by_distance(&loose(), &character.skeleton));
            let start = range.start;
            let rows = range.map(|source| match (skin.skin_from_source[source], &alone) {
                (Some(v), _) => on_skin.row(v as usize),
                (None, Some(alone)) => alone.row(source - start),
                (None, None) => Vec::new(),
            });
            SkinWeights::from_rows(rows.collect::<Vec<_>>()).0
        })
    };
    character.meshes.iter().map(weights_of).collect()
}
