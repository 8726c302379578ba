//! Weights of the source meshes and of the welded skin, by any weight method.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::cached;
use super::flesh::Stage;
use super::lazy::{Lazy, Timed};
use crate::cache::Cache;
use crate::character::{Attachment, Character, SourceMesh};
use crate::mesh::{SkinMesh, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::voxel::VoxelOutline;
use crate::weights::{
    ComputedWeights, Memo, SkinWeights, WeightError, WeightMethod, WeightReport, by_distance,
};

/// How many weight methods that nobody uses are kept.
const KEPT: usize = 6;

/// Weights of the source meshes.
pub(super) struct MeshWeights {
    /// For every source mesh, the weights that replace those of the file; `None` for a mesh that uses the file's, or has none.
    pub(super) of_meshes: Vec<Option<SkinWeights>>,
    /// What was noticed while they were computed; empty if none were.
    pub(super) report: WeightReport,
}

/// The stages of one weight method.
#[derive(Clone)]
pub(super) struct WeightStages {
    pub(super) of_meshes: Stage<MeshWeights>,
    /// Of every vertex of the welded skin; each has influences.
    pub(super) of_skin: Stage<SkinWeights>,
    /// The voxel domain of the welded skin, to be drawn.
    pub(super) voxels: Stage<VoxelOutline>,
}

/// The weights of one character, with the stages of every weight method that was requested.
pub(super) struct SourceWeights {
    character: Arc<Character>,
    skin: Arc<SkinMesh>,
    cache: Cache,
    /// What methods and values of parameters share.
    memo: Arc<Memo>,
    stages: Mutex<Vec<(WeightMethod, WeightStages)>>,
}

impl SourceWeights {
    pub(super) fn new(character: &Arc<Character>, skin: &Arc<SkinMesh>, cache: &Cache) -> Self {
        Self {
            character: character.clone(),
            skin: skin.clone(),
            cache: cache.clone(),
            memo: Arc::default(),
            stages: Mutex::default(),
        }
    }

    /// Intermediate results of the welded skin and the skeleton.
    pub(super) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// The stages of one weight method, shared by all callers.
    pub(super) fn by(&self, method: WeightMethod) -> WeightStages {
        let mut all = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stages)) = all.iter().find(|(other, _)| *other == method) {
            return stages.clone();
        }
        let (character, skin, cache, memo) = (
            self.character.clone(),
            self.skin.clone(),
            self.cache.clone(),
            self.memo.clone(),
        );
        let of_meshes = Arc::new(Lazy::new(move |progress| {
            let start = Instant::now();
            let weights = compute(&character, &skin, method, &memo, &cache, progress)?;
            Ok(Timed::since(start, weights))
        }));
        let (character, skin, by_mesh) =
            (self.character.clone(), self.skin.clone(), of_meshes.clone());
        let of_skin = Arc::new(Lazy::new(move |progress| {
            let by_mesh = by_mesh.get(progress)?;
            let start = Instant::now();
            let weights = on_skin(&character, &skin, &by_mesh.of_meshes);
            Ok(Timed::since(start, weights))
        }));
        let (character, skin, memo) =
            (self.character.clone(), self.skin.clone(), self.memo.clone());
        let voxels = Arc::new(Lazy::new(move |progress| {
            let start = Instant::now();
            let (mesh, skeleton) = (&skin.mesh, &character.skeleton);
            let binding = method.voxel_domain(mesh, skeleton, &memo, progress)?;
            Ok(Timed::since(start, VoxelOutline::of(&binding)))
        }));
        let stages = WeightStages {
            of_meshes,
            of_skin,
            voxels,
        };
        forget_unused(&mut all);
        all.push((method, stages.clone()));
        stages
    }
}

/// Drops the oldest stages that nobody but `all` holds: a parameter that is dragged leaves one for each of its values.
fn forget_unused(all: &mut Vec<(WeightMethod, WeightStages)>) {
    // `of_skin` holds `of_meshes`.
    let is_used = |stages: &WeightStages| {
        Arc::strong_count(&stages.of_skin) > 1 || Arc::strong_count(&stages.of_meshes) > 2
    };
    let mut unused = all.iter().filter(|(_, stages)| !is_used(stages)).count();
    all.retain(|(_, stages)| {
        if is_used(stages) || unused <= KEPT {
            return true;
        }
        unused -= 1;
        false
    });
}

fn compute(
    character: &Character,
    skin: &SkinMesh,
    method: WeightMethod,
    memo: &Memo,
    cache: &Cache,
    progress: &Progress,
) -> Result<MeshWeights, Cancelled> {
    let wanted = |mesh: &SourceMesh| match mesh.attachment {
        Attachment::Unweighted => true,
        Attachment::Skinned { .. } => method.is_computed(),
        Attachment::Rigid { .. } | Attachment::Static { .. } => false,
    };
    if character.skeleton.is_empty() || !character.meshes.iter().any(wanted) {
        return Ok(MeshWeights {
            of_meshes: vec![None; character.meshes.len()],
            report: WeightReport::default(),
        });
    }
    let automatic = if method.is_computed() {
        method
    } else {
        WeightMethod::AUTOMATIC
    };
    let computed = on_bind_pose(
        (&skin.mesh, &character.skeleton),
        automatic,
        memo,
        cache,
        progress,
    )?;
    Ok(MeshWeights {
        of_meshes: on_sources(character, skin, &computed.weights, wanted),
        report: computed.report,
    })
}

/// The weights of a mesh in the bind pose by a method that computes some, from the cache if they are there.
pub(super) fn on_bind_pose(
    (mesh, skeleton): (&TriMesh, &Skeleton),
    method: WeightMethod,
    memo: &Memo,
    cache: &Cache,
    progress: &Progress,
) -> Result<ComputedWeights, Cancelled> {
    let computed = || {
        let weights = method.compute(mesh, skeleton, memo, progress);
        weights.unwrap_or_else(|| Ok(ComputedWeights::default()))
    };
    cached::weights(cache, method, mesh, skeleton, computed)
        .map_err(|WeightError::Cancelled(cancelled)| cancelled)
}

/// The weights that move a source mesh, computed ones or the file's; `None` if it moves otherwise.
pub(super) fn weights_of_mesh<'a>(
    character: &'a Character,
    computed: &'a [Option<SkinWeights>],
    mesh: usize,
) -> Option<&'a SkinWeights> {
    computed
        .get(mesh)?
        .as_ref()
        .or_else(|| match &character.meshes.get(mesh)?.attachment {
            Attachment::Skinned { weights, .. } => Some(weights),
            _ => None,
        })
}

/// For every vertex of the skin the influences of its first source vertex that has any. `influences_of` gets the index
/// of the mesh and of the vertex in it.
pub(super) fn rows_on_skin(
    character: &Character,
    skin: &SkinMesh,
    influences_of: impl Fn(usize, usize) -> Vec<(u32, f32)>,
) -> Vec<Vec<(u32, f32)>> {
    let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); skin.mesh.positions.len()];
    let mut skin_of = skin.skin_from_source.iter();
    for (index, mesh) in character.meshes.iter().enumerate() {
        for (vertex, skin) in skin_of.by_ref().take(mesh.positions.len()).enumerate() {
            if let Some(row) = skin.map(|skin| &mut rows[skin as usize])
                && row.is_empty()
            {
                *row = influences_of(index, vertex);
            }
        }
    }
    rows
}

/// The weights of every vertex of the skin; by distance where the source meshes have none.
fn on_skin(
    character: &Character,
    skin: &SkinMesh,
    computed: &[Option<SkinWeights>],
) -> SkinWeights {
    let rows = rows_on_skin(character, skin, |mesh, vertex| {
        match (
            &character.meshes[mesh].attachment,
            weights_of_mesh(character, computed, mesh),
        ) {
            (_, Some(weights)) => weights.row(vertex),
            (Attachment::Rigid { joint, .. }, _) => vec![(*joint as u32, 1.0)],
            _ => Vec::new(),
        }
    });
    let (weights, without) = SkinWeights::from_rows(rows);
    if without.is_empty() {
        return weights;
    }
    let by_distance = by_distance(&skin.mesh, &character.skeleton);
    let rows = (0..weights.len()).map(|vertex| match weights.strongest(vertex) {
        Some(_) => weights.row(vertex),
        None => by_distance.row(vertex),
    });
    SkinWeights::from_rows(rows).0
}

/// Transfers weights on the skin to the vertices of the source meshes.
pub(super) fn on_sources(
    character: &Character,
    skin: &SkinMesh,
    on_skin: &SkinWeights,
    wanted: impl Fn(&SourceMesh) -> bool,
) -> Vec<Option<SkinWeights>> {
    let mut first = 0;
    let weights_of = |mesh: &SourceMesh| {
        let range = first..first + mesh.positions.len();
        first = range.end;
        wanted(mesh).then(|| {
            // Vertices without a triangle are not part of the skin: their weights are computed from their own
            // distances.
            let without_triangles = || TriMesh {
                positions: mesh.bind_positions(&character.skeleton),
                triangles: Vec::new(),
            };
            let by_own_distance = skin.skin_from_source[range.clone()]
                .iter()
                .any(Option::is_none)
                .then(|| by_distance(&without_triangles(), &character.skeleton));
            let start = range.start;
            let rows =
                range.map(
                    |source| match (skin.skin_from_source[source], &by_own_distance) {
                        (Some(v), _) => on_skin.row(v as usize),
                        (None, Some(by_own_distance)) => by_own_distance.row(source - start),
                        (None, None) => Vec::new(),
                    },
                );
            SkinWeights::from_rows(rows.collect::<Vec<_>>()).0
        })
    };
    character.meshes.iter().map(weights_of).collect()
}
