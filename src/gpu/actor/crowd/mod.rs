//! A crowd: many instances of one character on the device, each with its own pose and place, in batched passes.
//!
//! All instances share the constants (matrix, tets, weights); each has its own state and adds workgroups to every dispatch.
//! A frame is one compute pass in one submission, with as many dispatches as for one character ([`super::GpuFlesh`]).
//! Nothing is read back.
//!
//! Joint transforms of all instances are computed on the CPU at the character's own place; the instance's offset is added
//! during upload, so that base, flesh and surface are in world space. Uploads: 128 bytes per bone and 64 per node for every
//! instance and step, and 48 per joint for every instance and frame. Readback: 16 bytes per instance, some frames late. An
//! instance that diverged or jumped is settled again; the others continue.
//!
//! # Departures
//! - Collisions are off in a crowd whatever the parameters say, within an instance and between instances.
//! - Flesh never sleeps: the passes run anyway for the instances that move.

mod bounds;
mod error;
mod fit;
mod flesh;
mod present;
mod skin;
mod submit;

pub use error::CrowdError;
pub use skin::CrowdSkin;

use std::collections::VecDeque;
use std::sync::Arc;

use self::error::unfit_error;
use self::flesh::CrowdFlesh;
use self::submit::submit_steps;
use super::profile::Profile;
use super::{FRAMES_BEHIND, GpuModel, recipe_of};
use crate::character::{FleshBase, FleshSettings};
use crate::dynamics::{Collisions, Params, State};

use crate::gpu::surface::{Surface, SurfaceModel};
use crate::gpu::waiting::{DoneSignal, done, lost_error, wait_until};
use crate::gpu::{GpuContext, GpuError};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::Bounds;
use crate::methods::Actor;
use crate::progress::Progress;

/// Device resources of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CrowdSize {
    /// Number of instances.
    pub instances: usize,
    /// Bytes that all instances share.
    pub constant_bytes: u64,
    /// Bytes of state per instance.
    pub instance_bytes: u64,
    /// Bytes uploaded per step for all instances.
    pub bytes_up_step: usize,
    /// Dispatches per step, whatever the number of instances; 0 for methods without simulation.
    pub passes_step: usize,
    /// Dispatches of the surface per frame.
    pub passes_surface: usize,
}

/// The actor with flesh that follows the bones, if its own follows the skin's weights: that has no form on the device.
fn on_bones(actor: &Actor) -> Result<Option<Actor>, CrowdError> {
    let Some(projective) = actor.projective().filter(|flesh| flesh.is_guided()) else {
        return Ok(None);
    };
    let settings = FleshSettings {
        base: FleshBase::Bones,
        ..actor.subject().settings.as_ref().clone()
    };
    let subject = Arc::new(actor.subject().with_settings(&settings));
    let actor = Actor::bind(
        &subject,
        actor.method(),
        projective.simulation().params(),
        &Progress::new(),
    );
    actor.map(Some).map_err(|error| unfit_error(&error))
}

/// Many instances of a character.
pub struct GpuCrowd {
    gpu: GpuContext,
    places: Vec<Vec3>,
    surface: Surface,
    flesh: Option<CrowdFlesh>,
    boxes: Vec<Bounds>,
    under_way: VecDeque<DoneSignal>,
}

impl GpuCrowd {
    /// Creates one instance per place of the character that the actor shows, with its method and parameters; collisions are
    /// off. A place is the offset of an instance from its joints' own position.
    ///
    /// # Errors
    /// [`CrowdError`] if there are none, or too many for the device.
    pub fn new(gpu: &GpuContext, mut actor: Actor, places: &[Vec3]) -> Result<Self, CrowdError> {
        if places.is_empty() {
            return Err(CrowdError::Nobody);
        }
        actor.set_device(None);
        if let Some(on_bones) = on_bones(&actor)? {
            actor = on_bones;
        }
        let params = actor.projective().map(|flesh| *flesh.simulation().params());
        if let Some(params) = params {
            actor
                .set_params(&Params {
                    collisions: Collisions::Off,
                    ..params
                })
                .map_err(|error| unfit_error(&error))?;
        }
        let wanted = places.len();
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let built = Self::build(gpu, actor, places);
        if pollster::block_on(scope.pop()).is_some() {
            return Err(CrowdError::Full { wanted });
        }
        built
    }

    fn build(gpu: &GpuContext, actor: Actor, places: &[Vec3]) -> Result<Self, CrowdError> {
        gpu.check_compute().map_err(|error| unfit_error(&error))?;
        let wanted = places.len();
        let (surface_model, model) = if actor.projective().is_some() {
            let model = Arc::new(GpuModel::new(gpu, &actor).map_err(|error| unfit_error(&error))?);
            (model.surface.clone(), Some(model))
        } else {
            let recipe = recipe_of(&actor).map_err(|error| unfit_error(&error))?;
            let surface = SurfaceModel::new(gpu, Arc::new(recipe), &[])
                .map_err(|error| unfit_error(&error))?;
            (Arc::new(surface), None)
        };
        let most = fit::most(gpu, &surface_model, model.as_deref());
        if wanted > most {
            return Err(CrowdError::TooMany { wanted, most });
        }
        let flesh = model
            .map(|model| CrowdFlesh::new(gpu, model, actor, wanted))
            .transpose()?;
        let simulated = flesh.as_ref().map(CrowdFlesh::simulated);
        let surface = Surface::new(gpu, &surface_model, simulated, wanted)
            .map_err(|error| unfit_error(&error))?;
        let boxes = vec![Bounds::of([]); wanted];
        Ok(Self {
            gpu: gpu.clone(),
            places: places.to_vec(),
            surface,
            flesh,
            boxes,
            under_way: VecDeque::new(),
        })
    }

    /// Advances by `dt_secs` to these poses, one per instance, in the character's own place. The first call, and a call with
    /// 0 s, puts all instances at rest. [`GpuCrowd::encode`] submits the work. Waits if the device is several frames late.
    ///
    /// # Errors
    /// [`CrowdError`]; a lost crowd must be created again.
    pub fn advance(&mut self, poses: &[Vec<Affine>], dt_secs: f64) -> Result<(), CrowdError> {
        self.step(poses, dt_secs, &Progress::new())
    }

    /// Puts all instances at rest in these poses, like [`GpuCrowd::advance`] with 0 s: every distinct pose is settled, which
    /// takes time.
    ///
    /// # Errors
    /// [`CrowdError`]; after [`CrowdError::Cancelled`] the crowd must be settled again before it can advance.
    pub fn settle(&mut self, poses: &[Vec<Affine>], progress: &Progress) -> Result<(), CrowdError> {
        self.step(poses, 0.0, progress)
    }

    /// Sets the instances' places, one each; used when they are settled next.
    pub fn set_places(&mut self, places: &[Vec3]) {
        for (mine, place) in self.places.iter_mut().zip(places) {
            *mine = *place;
        }
    }

    fn step(
        &mut self,
        poses: &[Vec<Affine>],
        dt_secs: f64,
        progress: &Progress,
    ) -> Result<(), CrowdError> {
        let boxes = self.boxes_of(poses);
        self.check()?;
        self.make_room()?;
        let Self {
            gpu,
            places,
            surface,
            flesh,
            ..
        } = self;
        if poses.len() != places.len() {
            return Err(CrowdError::Poses {
                actual: poses.len(),
                expected: places.len(),
            });
        }
        let mut ahead_secs = 0.0;
        if let Some(flesh) = flesh {
            if flesh.begins() || dt_secs <= 0.0 {
                flesh.begin(gpu, (poses, places), progress)?;
            } else {
                ahead_secs = flesh.advance(gpu, (poses, places), dt_secs, |flesh| {
                    submit_steps(gpu, flesh);
                })?;
            }
        }
        surface.set_poses(|instance| {
            let offset = nalgebra::Translation3::from(places[instance].cast::<f64>());
            poses[instance].iter().map(|joint| offset * joint).collect()
        });
        for instance in 0..poses.len() {
            surface.set_ahead(instance, ahead_secs);
        }
        self.boxes = boxes;
        Ok(())
    }

    /// Encodes the frame as one compute pass. [`GpuCrowd::submitted`] must be called after its submission.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.encode_with(encoder, None);
    }

    fn encode_with(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        mut profile: Option<&mut Profile>,
    ) {
        let Self {
            gpu,
            surface,
            flesh,
            ..
        } = self;
        surface.upload(gpu);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("crowd"),
                timestamp_writes: None,
            });
            if let Some(profile) = &mut profile {
                profile.begin(&mut pass);
            }
            let steps = flesh
                .iter()
                .flat_map(|flesh| flesh.dispatches(gpu))
                .map(|dispatch| (dispatch, false));
            for (dispatch, above) in
                steps.chain(surface.dispatches().iter().map(|dispatch| (dispatch, true)))
            {
                dispatch.encode(&mut pass);
                if let Some(profile) = &mut profile {
                    profile.mark(&mut pass, dispatch.label(), above);
                }
            }
        }
        if let Some(flesh) = flesh {
            flesh.encode_readback(encoder);
        }
    }

    /// Must be called after the encoded commands were submitted. Does not wait.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn submitted(&mut self) -> Result<(), CrowdError> {
        self.check()?;
        if let Some(flesh) = &mut self.flesh {
            flesh.submitted();
        }
        self.under_way.push_back(done(&self.gpu));
        Ok(())
    }

    fn check(&self) -> Result<(), GpuError> {
        if self.gpu.is_lost() {
            Err(lost_error(&"it does not answer any more"))
        } else {
            Ok(())
        }
    }

    /// Waits until the device is at most a few frames late.
    fn make_room(&mut self) -> Result<(), GpuError> {
        while self.under_way.len() >= FRAMES_BEHIND {
            self.under_way
                .pop_front()
                .map_or(Ok(()), |done| wait_until(&self.gpu, &done))?;
        }
        Ok(())
    }

    /// Sets the flesh of one instance to a state of the character in its own place. Does nothing if there is no such
    /// instance or no flesh.
    ///
    /// # Errors
    /// [`CrowdError::Unfit`] if the state belongs to another character.
    pub fn set_state(&mut self, instance: usize, state: &State) -> Result<(), CrowdError> {
        match (&mut self.flesh, self.places.get(instance)) {
            (Some(flesh), Some(place)) => flesh.place(&self.gpu, instance, state, place),
            _ => Ok(()),
        }
    }

    /// The number of times an instance was settled again because it diverged or jumped.
    #[must_use]
    pub fn recovered(&self) -> usize {
        self.flesh.as_ref().map_or(0, |flesh| flesh.recovered)
    }

    /// The global solver and the reason for it in one sentence, for methods that simulate.
    #[must_use]
    pub fn solver_reason(&self) -> Option<&str> {
        self.flesh
            .as_ref()
            .map(|flesh| flesh.model().solver_reason())
    }

    /// Its device resources.
    #[must_use]
    pub fn size(&self) -> CrowdSize {
        let model = self.surface.model();
        let flesh = self.flesh.as_ref();
        CrowdSize {
            instances: self.places.len(),
            constant_bytes: flesh.map_or_else(
                || model.constant_bytes(),
                |flesh| flesh.model().constant_bytes(),
            ),
            instance_bytes: fit::bytes_per_instance(model, flesh.map(CrowdFlesh::model)),
            bytes_up_step: flesh.map_or(0, CrowdFlesh::bytes_per_step),
            passes_step: flesh.map_or(0, CrowdFlesh::passes),
            passes_surface: self.surface.dispatches().len(),
        }
    }

    /// Positions and normals of all instances as a shared handle, with bounds.
    #[must_use]
    pub fn skin(&self) -> CrowdSkin {
        CrowdSkin::new(&self.gpu, &self.surface, self.bounds())
    }

    /// Reads back positions and normals of all instances in order. Waits: for files and tests, not for display.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn fetch(&self) -> Result<(Vec<Point>, Vec<Vec3>), CrowdError> {
        Ok(self.surface.fetch(&self.gpu)?)
    }
}
