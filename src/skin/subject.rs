//! What every method binds to: one character with everything that is derived from it once.

use std::sync::Arc;
use std::time::Instant;

use super::body::Body;
use super::kept;
use crate::cache::Cache;
use crate::character::{Attachment, Character, FleshSettings};
use crate::dynamics::{FactorError, System};
use crate::math::Point;
use crate::mesh::{Bounds, SimMesh, SkinMesh, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::rig::SkeletonError;
use crate::rig::edit::{Rig, clip_on};
use crate::tissue::{Tissue, TissueError};
use crate::upsample::{Settings, Upsampling};
use crate::weights::{SkinWeights, by_distance};

/// A character with its simulation mesh, weights and tissue. Immutable and shared.
#[derive(Clone)]
pub struct Subject {
    /// The character as read, or on an edited rig.
    pub character: Arc<Character>,
    /// The character's skeleton as it is edited.
    pub rig: Arc<Rig>,
    /// The character as read, if this is it on an edited rig.
    pub base: Option<Arc<Subject>>,
    /// All source vertices in the bind pose, world space.
    pub bind_positions: Arc<[Point]>,
    /// The welded skin at the source's resolution.
    pub skin: Arc<SkinMesh>,
    /// What of it is flesh, and what of that is simulated.
    pub body: Arc<Body>,
    /// How the flesh follows the simulation mesh; `None` where that is the flesh itself.
    pub upsampling: Option<Arc<Upsampling>>,
    /// For every source mesh the weights it gets where the file has none.
    pub fallback_weights: Arc<[Option<SkinWeights>]>,
    /// What the user says about the flesh; it is made by it.
    pub settings: Arc<FleshSettings>,
    /// Flesh, or why there is none.
    pub tissue: Result<Flesh, TissueError>,
    /// Diagonal of the bind pose's bounding box, in world units.
    pub size: f32,
    /// Box around the skin in the bind pose, or around everything where nothing is skin.
    pub bounds: Bounds,
    /// Where the time went.
    pub setup: SetupTimes,
    /// Where derived data is kept.
    cache: Cache,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("character", &self.character.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// The volumetric model and its assembled system.
#[derive(Clone)]
pub struct Flesh {
    /// Geometry.
    pub tissue: Arc<Tissue>,
    /// Physics.
    pub system: Arc<System>,
}

/// Milliseconds of each stage of the set-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct SetupTimes {
    /// Welding the source vertices, and weights where there are none.
    pub weld_ms: f64,
    /// Making the simulation mesh.
    pub reduce_ms: f64,
    /// Weights of the upsampling, made while the flesh is.
    pub upsample_ms: f64,
    /// Bones, foot points, shrinking, tets.
    pub tissue_ms: f64,
    /// Assembly.
    pub assemble_ms: f64,
}

/// Why a method can't be bound to a subject.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There is no triangle to skin.
    #[error("the character has no triangles, so there is nothing to skin")]
    NoTriangles,
    /// The method needs flesh and there is none.
    #[error("projective dynamics needs flesh: {0}")]
    Tissue(#[from] TissueError),
    /// An edited rig that makes no skeleton.
    #[error("the skeleton can't be used: {0}")]
    Rig(#[from] SkeletonError),
    /// The flesh can't be solved for.
    #[error("projective dynamics can't be prepared: {0}")]
    Factor(#[from] FactorError),
}

impl Subject {
    /// Derives all that the methods share. A character without usable flesh is no error: `tissue` then says why.
    ///
    /// # Errors
    /// [`BindError::NoTriangles`] or [`BindError::Cancelled`].
    pub fn build(character: Arc<Character>, progress: &Progress) -> Result<Self, BindError> {
        Self::build_with(character, &Cache::none(), progress)
    }

    /// As [`Subject::build`], but what was derived from the same inputs before is read from the cache.
    ///
    /// # Errors
    /// As [`Subject::build`].
    pub fn build_with(character: Arc<Character>, cache: &Cache, progress: &Progress) -> Result<Self, BindError> {
        progress.report(0.0, "Welding");
        let start = Instant::now();
        let positions = character.bind_positions();
        let triangles = character.triangles();
        if triangles.is_empty() {
            return Err(BindError::NoTriangles);
        }
        let is_skin: Vec<bool> = character.meshes.iter().flat_map(|m| std::iter::repeat_n(m.is_skin(), m.positions.len())).collect();
        let skin = SkinMesh::weld(&positions, &triangles, &is_skin);
        progress.check()?;
        let character = super::computed::forget_computed(character, &skin);
        let fallback_weights: Arc<[Option<SkinWeights>]> = fallback_weights(&character, &skin).into();
        let weld_ms = start.elapsed().as_secs_f64() * 1e3;

        let start = Instant::now();
        let body = Body::build(&character, &skin, &character.flesh, cache, &progress.part(0.05, 0.3))?;
        let reduce_ms = start.elapsed().as_secs_f64() * 1e3;
        let mut subject = Self {
            rig: Arc::new(Rig::of(&character.skeleton)),
            base: None,
            settings: Arc::new(character.flesh.clone()),
            size: Bounds::of(&positions).size(),
            bounds: Some(skin.mesh.bounds()).filter(|bounds| !bounds.is_empty()).unwrap_or_else(|| Bounds::of(&positions)),
            character,
            bind_positions: positions.into(),
            body: Arc::new(body),
            upsampling: None,
            skin: Arc::new(skin),
            fallback_weights,
            tissue: Err(TissueError::NoSkin),
            setup: SetupTimes { weld_ms, reduce_ms, ..SetupTimes::default() },
            cache: cache.clone(),
        };
        subject.grow(&progress.part(0.3, 1.0))?;
        Ok(subject)
    }

    /// The same character with flesh by other settings.
    ///
    /// # Errors
    /// [`BindError::Cancelled`].
    pub fn with_settings(&self, settings: &FleshSettings, progress: &Progress) -> Result<Self, BindError> {
        let mut subject = Self { settings: Arc::new(settings.clone()), ..self.clone() };
        if settings.sim_vertices != self.settings.sim_vertices || settings.parts != self.settings.parts {
            subject.reduce(&progress.part(0.0, 0.3))?;
        }
        subject.grow(&progress.part(0.3, 1.0))?;
        Ok(subject)
    }

    /// The same character on an edited rig, with flesh by other settings. Unless `anew`, the simulation mesh stays as it is: it is
    /// finest where the joints were.
    ///
    /// # Errors
    /// [`BindError::Cancelled`], or [`BindError::Rig`] for a rig that makes no skeleton.
    pub fn with_rig(
        self: &Arc<Self>,
        rig: &Arc<Rig>,
        settings: &FleshSettings,
        anew: bool,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        progress.report(0.0, "Moving the skeleton");
        let base = self.base.as_ref().unwrap_or(self);
        let mut character = base.character.with_rig(rig)?;
        // Clips that came later are of the rig that this subject has.
        let since = rig.relative_to(&self.rig);
        let later = self.character.clips.iter().skip(base.character.clips.len());
        character.clips.extend(later.map(|clip| clip_on(clip, &self.character.skeleton, &since)));
        character.retargets.clone_from(&self.character.retargets);
        let is_flesh = |character: &Character| character.meshes.iter().map(crate::character::SourceMesh::is_skin).collect::<Vec<_>>();
        let skin = if is_flesh(&character) == is_flesh(&self.character) {
            self.skin.clone()
        } else {
            let is_skin = character.meshes.iter().flat_map(|m| std::iter::repeat_n(m.is_skin(), m.positions.len())).collect::<Vec<_>>();
            Arc::new(SkinMesh::weld(&base.bind_positions, &character.triangles(), &is_skin))
        };
        progress.check()?;
        let mut subject = Self {
            fallback_weights: fallback_weights(&character, &skin).into(),
            bounds: Some(skin.mesh.bounds()).filter(|bounds| !bounds.is_empty()).unwrap_or_else(|| Bounds::of(&*base.bind_positions)),
            character: Arc::new(character),
            rig: rig.clone(),
            base: Some(base.clone()),
            settings: Arc::new(settings.clone()),
            // Passing states of an edit are not worth keeping.
            cache: Cache::none(),
            skin,
            ..(**self).clone()
        };
        progress.check()?;
        if anew || self.rig.is_empty() || rig.is_empty() || settings.sim_vertices != self.settings.sim_vertices {
            subject.reduce(&progress.part(0.05, 0.4))?;
        }
        subject.grow(&progress.part(0.4, 1.0))?;
        subject.cache = self.cache.clone();
        Ok(subject)
    }

    /// Whether two subjects show the same character, as read from the same files, whatever its skeleton is now.
    #[must_use]
    pub fn same_character(&self, other: &Self) -> bool {
        let of_file = |subject: &Self| subject.base.as_ref().map_or_else(|| subject.character.clone(), |base| base.character.clone());
        Arc::ptr_eq(&of_file(self), &of_file(other))
    }

    /// Finds the parts and makes the simulation mesh.
    fn reduce(&mut self, progress: &Progress) -> Result<(), BindError> {
        let start = Instant::now();
        self.body = Arc::new(Body::build(&self.character, &self.skin, &self.settings, &self.cache, progress)?);
        self.upsampling = None;
        self.setup.reduce_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Makes the flesh, and how the skin follows it.
    fn grow(&mut self, progress: &Progress) -> Result<(), BindError> {
        let body = &self.body;
        let follows = self.upsampling.is_none() && !body.is_simulated_as_it_is();
        let upsampling = || {
            let start = Instant::now();
            let (flesh, sim, settings) = (&body.flesh, &body.sim.mesh, Settings::default());
            let make = || Upsampling::build(flesh, sim, &settings, &progress.silent());
            let made = follows.then(|| kept::upsampling(&self.cache, flesh, sim, &settings, make));
            (made.transpose(), start.elapsed().as_secs_f64() * 1e3)
        };
        let ((flesh, times), (upsampling, upsample_ms)) = rayon::join(|| self.flesh(progress), upsampling);
        let (flesh, upsampling) = (flesh?, upsampling?);
        self.tissue = flesh;
        if let Some(upsampling) = upsampling {
            self.upsampling = Some(Arc::new(upsampling));
        }
        self.setup = SetupTimes { upsample_ms, tissue_ms: times[0], assemble_ms: times[1], ..self.setup };
        Ok(())
    }

    /// The same character with other clips; everything that was derived is shared.
    #[must_use]
    pub fn with_clips(&self, character: Arc<Character>) -> Self {
        Self { character, ..self.clone() }
    }

    /// Where what was derived is kept.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The box around the surface, for some positions of the source vertices: those without a triangle, which nobody sees, don't count.
    #[must_use]
    pub fn bounds_of_surface(&self, positions: &[Point]) -> Bounds {
        let mut first = 0;
        let corners = self.character.meshes.iter().flat_map(|mesh| {
            let start = first;
            first += mesh.positions.len();
            mesh.triangles.iter().flatten().map(move |&vertex| start + vertex as usize)
        });
        Bounds::of(corners.filter_map(|vertex| positions.get(vertex)))
    }

    /// What physics sees of the skin.
    #[must_use]
    pub fn sim(&self) -> &SimMesh {
        &self.body.sim
    }

    /// The flesh, or why there is none; and the milliseconds that geometry and assembly took.
    fn flesh(&self, progress: &Progress) -> (Result<Result<Flesh, TissueError>, BindError>, [f64; 2]) {
        let start = Instant::now();
        let character = &self.character;
        let weights = self.body.weights_of_file(character, &self.skin);
        let (sim, skeleton, weights, settings) = (&self.body.sim, &character.skeleton, weights.as_ref(), &self.settings);
        let make = || Tissue::build(sim, skeleton, weights, settings, progress);
        let tissue = match kept::tissue(&self.cache, sim, skeleton, weights, settings, make) {
            Err(TissueError::Cancelled(cancelled)) => return (Err(cancelled.into()), [0.0; 2]),
            other => other,
        };
        let tissue_ms = start.elapsed().as_secs_f64() * 1e3;
        let start = Instant::now();
        progress.report(0.95, "Assembling");
        let flesh = tissue.and_then(|tissue| {
            let system = System::assemble(&tissue, f64::from(self.size), character.metres_per_unit)
                .map_err(|error| TissueError::Unsolvable { reason: error.to_string() })?;
            Ok(Flesh { tissue: Arc::new(tissue), system: Arc::new(system) })
        });
        (Ok(flesh), [tissue_ms, start.elapsed().as_secs_f64() * 1e3])
    }
}

/// Distance weights for every mesh that brought none.
fn fallback_weights(character: &Character, skin: &SkinMesh) -> Vec<Option<SkinWeights>> {
    let wanted = |attachment: &Attachment| matches!(attachment, Attachment::Unweighted);
    if character.skeleton.is_empty() || !character.meshes.iter().any(|mesh| wanted(&mesh.attachment)) {
        return vec![None; character.meshes.len()];
    }
    let on_skin = by_distance(&skin.mesh, &character.skeleton);
    let mut first = 0;
    let weights_of = |mesh: &crate::character::SourceMesh| {
        let range = first..first + mesh.positions.len();
        first = range.end;
        wanted(&mesh.attachment).then(|| {
            // Vertices without a triangle are on nothing that moves: they take the nearest way, their own distances.
            let loose = TriMesh { positions: mesh.positions.clone(), triangles: Vec::new() };
            let alone = skin.skin_from_source[range.clone()].iter().any(Option::is_none).then(|| by_distance(&loose, &character.skeleton));
            let rows = range.map(|source| match (skin.skin_from_source[source], &alone) {
                (Some(v), _) => on_skin.row(v as usize),
                (None, Some(alone)) => alone.row(source - (first - mesh.positions.len())),
                (None, None) => Vec::new(),
            });
            SkinWeights::from_rows(rows.collect::<Vec<_>>()).0
        })
    };
    character.meshes.iter().map(weights_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::SourceMesh;

    #[test]
    fn what_is_in_no_triangle_is_not_seen() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]].map(Point::from);
        let of = |stray: f32| [&[Point::new(stray, stray, stray)], &corners[..]].concat();
        let mut character = Character::default();
        for stray in [100.0, -100.0] {
            character.meshes.push(SourceMesh::bare("m", of(stray), vec![[1, 2, 3]]));
        }
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        assert_eq!(subject.bounds_of_surface(&subject.bind_positions), Bounds::of(&corners));
        let moved: Vec<Point> = subject.bind_positions.iter().map(|at| at * 2.0).collect();
        assert_eq!(subject.bounds_of_surface(&moved).size(), 2.0 * Bounds::of(&corners).size());
    }
}
