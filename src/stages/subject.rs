//! A character with all data derived from it, to which methods are bound.

mod bytes;
mod helper_rig;
mod weights;

use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use self::helper_rig::HelperCell;
use super::body::Body;
use super::flesh::{Inputs, Stages};
use super::source_weights::{SourceWeights, WeightStages};
use crate::cache::Cache;
use crate::character::{Character, FleshSettings, UpAxis};
use crate::dynamics::{FactorError, System};
use crate::math::{Point, Turn, Vec3, stage_with_up};
use crate::mesh::{Bounds, SimMesh, SkinMesh};
use crate::progress::{Cancelled, Progress};
use crate::rig::SkeletonError;
use crate::rig::edit::{Rig, clip_on};
use crate::tissue::{Tissue, TissueError};
use crate::upsample::Upsampling;
use crate::weights::WeightMethod;

/// A character with its welded skin, and the stages derived from it. Immutable and shared.
///
/// A stage (weights, parts, simulation mesh, tissue, upsampling) is computed when a method or a view first requests it, and shared by all
/// callers. [`Subject::make_flesh`] computes those of the flesh with progress and can be cancelled; accessors like
/// [`Subject::flesh`] wait for missing stages; [`Subject::flesh_if_made`] does not wait.
#[derive(Clone)]
pub struct Subject {
    /// The character as read, or on an edited rig.
    pub character: Arc<Character>,
    /// The edited skeleton.
    pub rig: Arc<Rig>,
    /// The character as read, if this one is on an edited rig.
    pub base: Option<Arc<Subject>>,
    /// All source vertices in the bind pose, world space.
    pub bind_positions: Arc<[Point]>,
    /// The welded skin at the source's resolution.
    pub skin: Arc<SkinMesh>,
    /// The user's settings of the flesh.
    pub settings: Arc<FleshSettings>,
    /// Diagonal of the bind pose's bounding box, in world units.
    pub size: f32,
    /// Bounding box of the skin in the bind pose, or of all vertices if nothing is skin.
    pub bounds: Bounds,
    weld_ms: f64,
    weight_method: WeightMethod,
    /// The stages of `weight_method`, from `all_weights`.
    weights: WeightStages,
    all_weights: Arc<SourceWeights>,
    /// The subjects of [`Subject::weighted`] that are in use.
    weighted: Arc<Mutex<Vec<Weak<Self>>>>,
    stages: Stages,
    /// The latest rig that was distilled from this character.
    helper_rig: HelperCell,
    /// Where derived data is kept.
    cache: Cache,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("character", &self.character.name)
            .field("size", &self.size)
            .finish_non_exhaustive()
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

/// Milliseconds of each stage of the set-up; 0 for those that were not computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct SetupTimes {
    /// Welding the source vertices.
    pub weld_ms: f64,
    /// Computing weights other than the file's.
    pub weights_ms: f64,
    /// Finding the parts, and decimation to the simulation mesh.
    pub reduce_ms: f64,
    /// Coefficients of the upsampling, computed in parallel with the tissue.
    pub upsample_ms: f64,
    /// Bones, foot points, shrinking, tets.
    pub tissue_ms: f64,
    /// Assembly.
    pub assemble_ms: f64,
}

/// Why a method cannot be bound to a subject.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There are no triangles.
    #[error("the character has no triangles, so there is nothing to skin")]
    NoTriangles,
    /// The method needs flesh, which cannot be made.
    #[error("the method needs flesh: {0}")]
    Tissue(#[from] TissueError),
    /// An edited rig that is not a valid skeleton.
    #[error("the skeleton can't be used: {0}")]
    Rig(#[from] SkeletonError),
    /// The equations of the flesh cannot be factored.
    #[error("projective dynamics can't be prepared: {0}")]
    Factor(#[from] FactorError),
    /// The method shows the distilled rig, and there is none.
    #[error("no rig has been distilled from this character")]
    NotDistilled,
}

impl Subject {
    /// Welds the skin. All other stages are computed on request. A character that cannot have flesh is not an error
    /// here.
    ///
    /// # Errors
    /// [`BindError::NoTriangles`] or [`BindError::Cancelled`].
    pub fn build(character: Arc<Character>, progress: &Progress) -> Result<Self, BindError> {
        Self::build_with(character, &Cache::none(), progress)
    }

    /// As [`Subject::build`], with derived data of the same inputs read from the cache.
    ///
    /// # Errors
    /// As [`Subject::build`].
    pub fn build_with(
        character: Arc<Character>,
        cache: &Cache,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        progress.report(0.0, "Welding");
        let start = Instant::now();
        let positions = character.bind_positions();
        let triangles = character.triangles();
        if triangles.is_empty() {
            return Err(BindError::NoTriangles);
        }
        let skin = SkinMesh::weld(&positions, &triangles, &is_skin(&character));
        progress.check()?;
        let character = super::computed::drop_computed_weights(character, &skin, cache, progress)?;
        let (skin, settings) = (Arc::new(skin), Arc::new(character.flesh.clone()));
        let size = Bounds::of(&positions).size();
        let inputs = Inputs::new(&character, &skin, size);
        let all_weights = Arc::new(SourceWeights::new(&character, &skin, cache));
        progress.set_fraction(1.0);
        Ok(Self {
            rig: Arc::new(Rig::of(&character.skeleton)),
            base: None,
            size,
            bounds: bounds_of(&skin, &positions),
            weight_method: WeightMethod::default(),
            weighted: Arc::default(),
            weights: all_weights.by(WeightMethod::default()),
            all_weights,
            stages: Stages::new(&inputs, &settings, cache),
            helper_rig: HelperCell::default(),
            settings,
            bind_positions: positions.into(),
            character,
            skin,
            weld_ms: start.elapsed().as_secs_f64() * 1e3,
            cache: cache.clone(),
        })
    }

    /// The same character with other settings of the flesh. Stages with unchanged inputs are shared.
    #[must_use]
    pub fn with_settings(&self, settings: &FleshSettings) -> Self {
        let settings = Arc::new(settings.clone());
        Self {
            stages: self
                .stages
                .with_settings(&self.settings, &settings, &self.cache),
            settings,
            weighted: Arc::default(),
            ..self.clone()
        }
    }

    /// The same flesh with the factors of these settings, which may be newer; unchanged if they ask for other flesh.
    #[must_use]
    pub fn with_factors_of(self: &Arc<Self>, settings: &FleshSettings) -> Arc<Self> {
        let has_them = self.settings.has_factors(&settings.factors());
        if has_them || !self.settings.same_structure(settings) {
            return self.clone();
        }
        Arc::new(self.with_settings(settings))
    }

    /// The same character on an edited rig, with other settings of the flesh. The simulation mesh is kept unless `anew`
    /// is set; a kept mesh is finest near the previous joints.
    ///
    /// # Errors
    /// [`BindError::Cancelled`], or [`BindError::Rig`] for a rig that is not a valid skeleton.
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
        // Clips added later are on this subject's rig.
        let since = rig.relative_to(&self.rig);
        let later = self.character.clips.iter().skip(base.character.clips.len());
        character
            .clips
            .extend(later.map(|clip| clip_on(clip, &self.character.skeleton, &since)));
        character.carry_retargets(
            (&self.character, &self.rig),
            (&base.character, &base.rig),
            rig,
        );
        let wanted = is_skin(&character);
        let skin = if wanted == is_skin(&self.character) {
            self.skin.clone()
        } else {
            let (positions, triangles) = (&base.bind_positions, character.triangles());
            Arc::new(SkinMesh::weld(positions, &triangles, &wanted))
        };
        progress.check()?;
        let (character, settings) = (Arc::new(character), Arc::new(settings.clone()));
        let inputs = Inputs::new(&character, &skin, self.size);
        // Intermediate states of an edit are not cached.
        let none = Cache::none();
        let all_weights = Arc::new(SourceWeights::new(&character, &skin, &none));
        let stages = if anew
            || self.rig.is_empty()
            || rig.is_empty()
            || settings.sim_vertices != self.settings.sim_vertices
        {
            Stages::new(&inputs, &settings, &none)
        } else {
            self.stages.with_tissue(&inputs, &settings, &none)
        };
        Ok(Self {
            weights: all_weights.by(self.weight_method),
            all_weights,
            bounds: bounds_of(&skin, &base.bind_positions),
            character,
            rig: rig.clone(),
            base: Some(base.clone()),
            settings,
            stages,
            skin,
            weighted: Arc::default(),
            helper_rig: HelperCell::default(),
            ..(**self).clone()
        })
    }

    /// Length of one unit in metres: as the user set it, as the file says, or guessed.
    #[must_use]
    pub fn metres_per_unit(&self) -> f64 {
        self.settings
            .metres_per_unit
            .unwrap_or(self.character.metres_per_unit)
    }

    /// The same with the user's unit in the character, for exports.
    #[must_use]
    pub fn in_set_unit(self: &Arc<Self>) -> Arc<Self> {
        let Some(metres_per_unit) = self.settings.metres_per_unit else {
            return self.clone();
        };
        let character = Character {
            metres_per_unit,
            declared_metres_per_unit: None,
            ..(*self.character).clone()
        };
        Arc::new(Self {
            character: Arc::new(character),
            ..(**self).clone()
        })
    }

    /// Whether two subjects are the same character, read from the same files; their skeletons may differ.
    #[must_use]
    pub fn same_character(&self, other: &Self) -> bool {
        let of_file = |subject: &Self| {
            subject
                .base
                .as_ref()
                .map_or_else(|| subject.character.clone(), |base| base.character.clone())
        };
        Arc::ptr_eq(&of_file(self), &of_file(other))
    }

    /// The source vertex at each vertex of the simulation mesh. Waits until the mesh is computed.
    #[must_use]
    pub fn source_from_sim(&self) -> Vec<u32> {
        let source_from_skin = self.skin.source_from_skin();
        let skin_from_sim = self.sim().skin_from_sim.iter();
        skin_from_sim
            .map(|&skin| source_from_skin[skin as usize])
            .collect()
    }

    /// Whether two subjects are the same character on the same skeleton, with the same clips by name: at most the motion of clips
    /// differs.
    #[must_use]
    pub fn differs_in_motion_only(&self, other: &Self) -> bool {
        let names = |subject: &Self| {
            let clips = subject.character.clips.iter();
            clips.map(|clip| clip.name.clone()).collect::<Vec<_>>()
        };
        Arc::ptr_eq(&self.bind_positions, &other.bind_positions)
            && self.rig == other.rig
            && names(self) == names(other)
    }

    /// Computes all stages of a simulation: parts, simulation mesh, tissue and its equations, upsampling. A character
    /// without flesh is not an error: [`Subject::flesh`] returns the reason.
    ///
    /// # Errors
    /// [`Cancelled`]. Finished stages are kept; a later call computes the rest.
    pub fn make_flesh(&self, progress: &Progress) -> Result<(), Cancelled> {
        self.stages.make(progress)
    }

    /// The flesh, or why there is none. Waits until it is computed.
    ///
    /// # Errors
    /// [`TissueError`], which is stored as the stage's value.
    pub fn flesh(&self) -> Result<&Flesh, TissueError> {
        if let Some(made) = self.flesh_if_made() {
            return made;
        }
        // Computes the upsampling in parallel. This progress has no other owner, so it cannot be cancelled.
        let _ = self.stages.make(&Progress::new());
        self.stages.flesh.wait_for().as_ref().map_err(Clone::clone)
    }

    /// The flesh, or why there is none, if that has been computed.
    #[must_use]
    pub fn flesh_if_made(&self) -> Option<Result<&Flesh, TissueError>> {
        let made = self.stages.flesh.made()?;
        Some(made.as_ref().map_err(Clone::clone))
    }

    /// Whether all stages of [`Subject::make_flesh`] have been computed.
    #[must_use]
    pub fn is_flesh_made(&self) -> bool {
        self.stages.are_computed()
    }

    /// Whether flesh has been computed.
    #[must_use]
    pub fn has_flesh(&self) -> bool {
        self.flesh_if_made().is_some_and(|flesh| flesh.is_ok())
    }

    /// The parts of the skin, and which of them are flesh. Waits until they are computed.
    #[must_use]
    pub fn body(&self) -> &Body {
        self.stages.body.wait_for()
    }

    /// The parts of the skin, if they have been computed.
    #[must_use]
    pub fn body_if_made(&self) -> Option<&Body> {
        self.stages.body.made()
    }

    /// The simulation mesh. Waits until it is computed.
    #[must_use]
    pub fn sim(&self) -> &SimMesh {
        self.stages.sim.wait_for()
    }

    /// The upsampling from the simulation mesh; `None` if the simulation mesh is the flesh itself. Waits until it is
    /// computed.
    #[must_use]
    pub fn upsampling(&self) -> Option<&Arc<Upsampling>> {
        self.stages.upsampling.wait_for().as_ref()
    }

    /// The up axis: guessed from skeleton and skin, or from all vertices if nothing is skin.
    #[must_use]
    pub fn up_axis(&self) -> UpAxis {
        UpAxis::guess(&self.character.skeleton, &self.bounds)
    }

    /// Rotation of the stage that cameras orbit: its +Y is up, and the character looks along its +Z.
    #[must_use]
    pub fn world_from_stage(&self) -> Turn {
        let upright = stage_with_up(&self.up_axis().direction());
        if self.character.faces_negative_z {
            upright * Turn::from_axis_angle(&Vec3::y_axis(), std::f32::consts::PI)
        } else {
            upright
        }
    }

    /// Milliseconds of the stages that have been computed.
    #[must_use]
    pub fn setup(&self) -> SetupTimes {
        let stages = &self.stages;
        SetupTimes {
            weld_ms: self.weld_ms,
            weights_ms: self.weights.of_meshes.ms(),
            reduce_ms: stages.body.ms() + stages.sim.ms(),
            upsample_ms: stages.upsampling.ms(),
            tissue_ms: stages.tissue.ms(),
            assemble_ms: stages.flesh.ms(),
        }
    }

    /// The same character with other clips; all derived data is shared.
    #[must_use]
    pub fn with_clips(&self, character: Arc<Character>) -> Self {
        Self {
            character,
            weighted: Arc::default(),
            ..self.clone()
        }
    }

    /// The cache of derived data.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Bounding box of the surface for given positions of the source vertices; vertices without a triangle are ignored.
    #[must_use]
    pub fn bounds_of_surface(&self, positions: &[Point]) -> Bounds {
        let mut first = 0;
        let corners = self.character.meshes.iter().flat_map(|mesh| {
            let start = first;
            first += mesh.positions.len();
            mesh.triangles
                .iter()
                .flatten()
                .map(move |&vertex| start + vertex as usize)
        });
        Bounds::of(corners.filter_map(|vertex| positions.get(vertex)))
    }
}

/// For every source vertex whether it is skin.
fn is_skin(character: &Character) -> Vec<bool> {
    let of = |mesh: &crate::character::SourceMesh| {
        std::iter::repeat_n(mesh.is_skin(), mesh.positions.len())
    };
    character.meshes.iter().flat_map(of).collect()
}

/// Bounding box of the skin, or of all vertices if nothing is skin.
fn bounds_of(skin: &SkinMesh, positions: &[Point]) -> Bounds {
    let bounds = skin.mesh.bounds();
    if bounds.is_empty() {
        Bounds::of(positions)
    } else {
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::SourceMesh;

    #[test]
    fn vertices_without_triangles_do_not_count() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]].map(Point::from);
        let of = |stray: f32| [&[Point::new(stray, stray, stray)], &corners[..]].concat();
        let mut character = Character::default();
        for stray in [100.0, -100.0] {
            character
                .meshes
                .push(SourceMesh::bare("m", of(stray), vec![[1, 2, 3]]));
        }
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        assert_eq!(
            subject.bounds_of_surface(&subject.bind_positions),
            Bounds::of(&corners)
        );
        let moved: Vec<Point> = subject.bind_positions.iter().map(|at| at * 2.0).collect();
        assert_eq!(
            subject.bounds_of_surface(&moved).size(),
            2.0 * Bounds::of(&corners).size()
        );
    }
}
