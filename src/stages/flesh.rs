//! The stages of one character: each is computed on the first request, from the stages before it.

use std::sync::Arc;
use std::time::Instant;

use super::body::{Body, weights_of_file};
use super::cached;
use super::lazy::{Lazy, Timed};
use super::subject::Flesh;
use crate::cache::Cache;
use crate::character::{Character, FleshSettings, PaintMap};
use crate::dynamics::System;
use crate::mesh::{SimMesh, SkinMesh};
use crate::progress::{Cancelled, Progress};
use crate::tissue::{Tissue, TissueError};
use crate::upsample::{Upsampling, UpsamplingSettings};
use crate::weights::SkinWeights;

/// A stage, possibly shared by several subjects.
pub(super) type Stage<T> = Arc<Lazy<T>>;

/// Inputs of all stages. Each stage stores its inputs, so that its result does not depend on the caller.
pub(super) struct Inputs {
    pub(super) character: Arc<Character>,
    pub(super) skin: Arc<SkinMesh>,
    /// Diagonal of the bind pose's bounding box, world units.
    pub(super) size: f32,
    file_weights: Lazy<Option<SkinWeights>>,
}

impl Inputs {
    pub(super) fn new(character: &Arc<Character>, skin: &Arc<SkinMesh>, size: f32) -> Arc<Self> {
        let of_file = (character.clone(), skin.clone());
        Arc::new(Self {
            character: character.clone(),
            skin: skin.clone(),
            size,
            file_weights: Lazy::new(move |_| {
                let start = Instant::now();
                Ok(Timed::since(start, weights_of_file(&of_file.0, &of_file.1)))
            }),
        })
    }

    /// The file's weights on the skin; `None` if it has none.
    pub(super) fn file_weights(&self) -> Option<&SkinWeights> {
        self.file_weights.wait_for().as_ref()
    }

    /// The file's weights of some vertices of the skin; `None` unless all of them have weights.
    pub(super) fn file_weights_of(&self, vertices: &[u32]) -> Option<SkinWeights> {
        self.file_weights()
            .map(|weights| weights.of_some(vertices))
            .filter(SkinWeights::is_complete)
    }

    /// Painted thickness at some vertices of the skin; `None` if none is painted.
    fn thickness_of(&self, settings: &FleshSettings, vertices: &[u32]) -> Option<Vec<f32>> {
        settings.paint.codes(PaintMap::Thickness)?;
        let source_from_skin = self.skin.source_from_skin();
        let sources = vertices.iter();
        let sources: Vec<u32> = sources.map(|&v| source_from_skin[v as usize]).collect();
        settings.paint.values_at(PaintMap::Thickness, &sources)
    }
}

/// The stages from the welded skin to the flesh.
#[derive(Clone)]
pub(super) struct Stages {
    /// Inputs of parts and simulation mesh. They differ from those of the tissue if joints have moved since.
    body_inputs: Arc<Inputs>,
    inputs: Arc<Inputs>,
    pub(super) body: Stage<Body>,
    pub(super) sim: Stage<SimMesh>,
    pub(super) upsampling: Stage<Option<Arc<Upsampling>>>,
    pub(super) tissue: Stage<Result<Arc<Tissue>, TissueError>>,
    pub(super) flesh: Stage<Result<Flesh, TissueError>>,
}

impl Stages {
    /// All stages, new.
    pub(super) fn new(inputs: &Arc<Inputs>, settings: &Arc<FleshSettings>, cache: &Cache) -> Self {
        let body = body(inputs, settings, cache);
        Self::on_body(inputs, body, settings, cache)
    }

    fn on_body(
        inputs: &Arc<Inputs>,
        body: Stage<Body>,
        settings: &Arc<FleshSettings>,
        cache: &Cache,
    ) -> Self {
        let sim = sim(inputs, &body, settings, cache);
        let tissue = tissue(inputs, &sim, settings, cache);
        Self {
            body_inputs: inputs.clone(),
            inputs: inputs.clone(),
            upsampling: upsampling(&body, &sim, cache),
            flesh: flesh(inputs, &tissue, settings),
            body,
            sim,
            tissue,
        }
    }

    /// The same parts and simulation mesh, with a new tissue.
    pub(super) fn with_tissue(
        &self,
        inputs: &Arc<Inputs>,
        settings: &Arc<FleshSettings>,
        cache: &Cache,
    ) -> Self {
        let tissue = tissue(inputs, &self.sim, settings, cache);
        Self {
            inputs: inputs.clone(),
            flesh: flesh(inputs, &tissue, settings),
            tissue,
            ..self.clone()
        }
    }

    /// The stages for other settings. Stages with unchanged inputs are shared.
    pub(super) fn with_settings(
        &self,
        before: &FleshSettings,
        settings: &Arc<FleshSettings>,
        cache: &Cache,
    ) -> Self {
        let moved = !Arc::ptr_eq(&self.body_inputs, &self.inputs);
        let in_this_unit = FleshSettings {
            metres_per_unit: settings.metres_per_unit,
            ..before.clone()
        };
        if before.same_structure(settings) {
            self.clone()
        } else if in_this_unit.same_structure(settings) {
            // The geometry is in the file's unit.
            Self {
                flesh: flesh(&self.inputs, &self.tissue, settings),
                ..self.clone()
            }
        } else if before.parts != settings.parts
            || (moved && before.sim_vertices != settings.sim_vertices)
        {
            Self::new(&self.inputs, settings, cache)
        } else if before.sim_vertices != settings.sim_vertices {
            Self::on_body(&self.inputs, self.body.clone(), settings, cache)
        } else {
            self.with_tissue(&self.inputs, settings, cache)
        }
    }

    /// The file's weights on the skin; `None` if it has none.
    pub(super) fn file_weights(&self) -> Option<&SkinWeights> {
        self.inputs.file_weights()
    }

    /// Whether flesh and upsampling have been computed.
    pub(super) fn are_computed(&self) -> bool {
        self.flesh.made().is_some() && self.upsampling.made().is_some()
    }

    /// Computes all stages.
    pub(super) fn make(&self, progress: &Progress) -> Result<(), Cancelled> {
        self.body.get(&progress.part(0.0, 0.1))?;
        self.sim.get(&progress.part(0.1, 0.3))?;
        let rest = progress.part(0.3, 1.0);
        let flesh = || self.flesh.get(&rest).map(drop);
        let silent = rest.silent();
        let upsampling = || self.upsampling.get(&silent).map(drop);
        // A job of the thread pool must not wait for a stage: a worker could take it while it computes part of that
        // same stage, and would then wait for itself.
        if rayon::current_thread_index().is_some() {
            return flesh().and_then(|()| upsampling());
        }
        std::thread::scope(|scope| {
            let beside = scope.spawn(upsampling);
            let flesh = flesh();
            let upsampling = beside
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            flesh.and(upsampling)
        })
    }
}

fn body(inputs: &Arc<Inputs>, settings: &Arc<FleshSettings>, cache: &Cache) -> Stage<Body> {
    let (inputs, settings, cache) = (inputs.clone(), settings.clone(), cache.clone());
    Arc::new(Lazy::new(move |progress| {
        let start = Instant::now();
        let body = Body::build(&inputs, &settings, &cache, progress)?;
        Ok(Timed::since(start, body))
    }))
}

fn sim(
    inputs: &Arc<Inputs>,
    body: &Stage<Body>,
    settings: &Arc<FleshSettings>,
    cache: &Cache,
) -> Stage<SimMesh> {
    let (inputs, body, cache) = (inputs.clone(), body.clone(), cache.clone());
    let wanted = settings.sim_vertices;
    Arc::new(Lazy::new(move |progress| {
        let body = body.get(&progress.part(0.0, 0.2))?;
        let start = Instant::now();
        let sim = body.reduce(&inputs, wanted, &cache, &progress.part(0.2, 1.0))?;
        Ok(Timed::since(start, sim))
    }))
}

/// The upsampling from the simulation mesh; `None` if the simulation mesh is the flesh itself.
fn upsampling(
    body: &Stage<Body>,
    sim: &Stage<SimMesh>,
    cache: &Cache,
) -> Stage<Option<Arc<Upsampling>>> {
    let (body, sim, cache) = (body.clone(), sim.clone(), cache.clone());
    Arc::new(Lazy::new(move |progress| {
        let (body, sim) = (body.get(progress)?, sim.get(progress)?);
        let start = Instant::now();
        let (fine, coarse, settings) = (&body.flesh, &sim.mesh, UpsamplingSettings::default());
        if fine == coarse {
            return Ok(Timed::since(start, None));
        }
        let make = || Upsampling::build(fine, coarse, &settings, progress);
        let made = cached::upsampling(&cache, fine, coarse, &settings, make)?;
        Ok(Timed::since(start, Some(Arc::new(made))))
    }))
}

fn tissue(
    inputs: &Arc<Inputs>,
    sim: &Stage<SimMesh>,
    settings: &Arc<FleshSettings>,
    cache: &Cache,
) -> Stage<Result<Arc<Tissue>, TissueError>> {
    let (inputs, sim) = (inputs.clone(), sim.clone());
    let (settings, cache) = (settings.clone(), cache.clone());
    Arc::new(Lazy::new(move |progress| {
        let sim = sim.get(progress)?;
        let start = Instant::now();
        let skeleton = &inputs.character.skeleton;
        let weights = inputs.file_weights_of(&sim.skin_from_sim);
        let weights = weights.as_ref();
        let thickness = inputs.thickness_of(&settings, &sim.skin_from_sim);
        let thickness = thickness.as_deref();
        let make = || Tissue::build(sim, skeleton, weights, &settings, thickness, progress);
        match cached::tissue(&cache, sim, skeleton, weights, (&settings, thickness), make) {
            Err(TissueError::Cancelled(cancelled)) => Err(cancelled),
            other => Ok(Timed::since(start, other.map(Arc::new))),
        }
    }))
}

/// The tissue and its equations.
fn flesh(
    inputs: &Arc<Inputs>,
    tissue: &Stage<Result<Arc<Tissue>, TissueError>>,
    settings: &FleshSettings,
) -> Stage<Result<Flesh, TissueError>> {
    let (inputs, tissue) = (inputs.clone(), tissue.clone());
    let metres = settings
        .metres_per_unit
        .unwrap_or(inputs.character.metres_per_unit);
    Arc::new(Lazy::new(move |progress| {
        let tissue = tissue.get(&progress.part(0.0, 0.95))?.clone();
        let start = Instant::now();
        progress.report(0.95, "Assembling");
        let size = f64::from(inputs.size);
        let flesh = tissue.and_then(|tissue| {
            let system = System::assemble(&tissue, size, metres).map_err(|error| {
                TissueError::Unsolvable {
                    reason: error.to_string(),
                }
            })?;
            Ok(Flesh {
                tissue,
                system: Arc::new(system),
            })
        });
        Ok(Timed::since(start, flesh))
    }))
}
