//! A whole character on the device: frame → base → steps → surface, one submission per frame, without blocking readback.
//!
//! | lifetime                     | type                                                                              |
//! |------------------------------|-----------------------------------------------------------------------------------|
//! | per character and parameters | [`GpuModel`]: kernels and constants; any number of [`GpuFlesh`] share it            |
//! | per view                     | [`GpuFlesh`]: the state; a [`crate::methods::Device`] that an actor makes its steps by  |
//! |                              | [`GpuSkin`]: for methods that do not simulate; [`GpuDevice`] is either of the two     |
//! | per frame                    | [`DeviceSkin`]: positions and normals that are drawn from; three or four in turn      |
//! | late                         | `FrameReadback`: report of a frame, 16 bytes; every fourth time the whole state       |
//!
//! # Passes and bytes of a frame
//! A step is one pass for the base, then those of [`FleshStep`], with contacts those of [`super::collision::Collision`] among them; a frame ends with those of [`super::surface::Surface`], all
//! in one compute pass and one submission. Uploads: 128 bytes per bone and 64 per node and step, and 48 per joint and frame.
//! Readback: 16 bytes, and every fourth time 64 per simulated vertex, for recovery after a device loss. At most
//! [`FRAMES_BEHIND`] frames are in flight; the next one waits. Without simulation, a frame is the passes of the surface
//! only.

mod choice;
mod contacts;
mod crowd;
mod device;
mod direct;
mod profile;
mod readback;
mod skin;
mod skins;
mod touch;
mod work;

pub use choice::{
    DeviceChoice, DeviceDecision, Measured, because, decide_device, without_measuring,
};
pub use crowd::{CrowdError, CrowdSize, CrowdSkin, GpuCrowd};
pub use device::GpuDevice;
pub use direct::GpuSkin;
pub use skin::{DeviceSkin, LatestSkin};
pub use work::{ModelSize, StepBytes};

use std::sync::Arc;
use std::time::Instant;

use self::contacts::OwnContacts;
use self::skin::Followed;
use self::skins::Skins;
use self::touch::ContactSteps;
use super::GpuContext;
use super::collision::CollisionModel;
use super::flesh::solve::{BoundSolver, GlobalSolver, Kind, Limits};
use super::flesh::{FleshModel, FleshState, FleshStep};
use super::surface::{Base, BaseModel, SurfaceModel};
use crate::collision::Contact;
use crate::dynamics::State;
use crate::math::Affine;
use crate::methods::{
    Actor, Device, DeviceError, DeviceFrameReport, DeviceStep, Recipe, StepCollision,
    SurfaceDevice, SurfaceMut,
};

/// Steps per submission; a frame with more makes more submissions.
const STEPS: usize = 8;
/// Maximum number of frames in flight.
pub const FRAMES_BEHIND: usize = 3;

/// Kernels and constants of a character with certain parameters.
#[derive(Debug)]
pub struct GpuModel {
    gpu: GpuContext,
    flesh: FleshModel,
    solver: GlobalSolver,
    base: BaseModel,
    surface: Arc<SurfaceModel>,
    /// `None` if nothing collides, or the CPU finds the contacts.
    collision: Option<Arc<CollisionModel>>,
    why: String,
}

impl GpuModel {
    /// Prepares the simulation of an actor with its current parameters.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the actor's method does not simulate, or the device is too small for it.
    pub fn new(gpu: &GpuContext, actor: &Actor) -> Result<Self, DeviceError> {
        Self::with_solver(gpu, actor, None)
    }

    /// As [`GpuModel::new`], with this kind of global solver instead of the one that suits the character.
    ///
    /// # Errors
    /// As [`GpuModel::new`]; also if there is no solver of this kind for the character.
    pub fn with_solver(
        gpu: &GpuContext,
        actor: &Actor,
        kind: Option<Kind>,
    ) -> Result<Self, DeviceError> {
        gpu.check_compute().map_err(|error| unfit_error(&error))?;
        gpu.attempt(|| Self::build(gpu, actor, kind))
            .map_err(|error| unfit_error(&error))?
    }

    fn build(gpu: &GpuContext, actor: &Actor, kind: Option<Kind>) -> Result<Self, DeviceError> {
        let (Some(projective), Ok(flesh)) = (actor.projective(), actor.subject().flesh()) else {
            return Err(unfit_error(&"its method simulates nothing"));
        };
        if projective.is_guided() {
            return Err(unfit_error(
                &"flesh that follows the skin's weights has no form on the device; choose --base bones",
            ));
        }
        let equations = Arc::new(projective.simulation().equations());
        let choice = GlobalSolver::choose(&equations, Limits::of(gpu));
        let solver = GlobalSolver::new(gpu, &equations, kind.unwrap_or(choice.kind))
            .map_err(|error| unfit_error(&error))?;
        let flesh_model = FleshModel::new(gpu, equations).map_err(|error| unfit_error(&error))?;
        let base =
            BaseModel::new(gpu, &flesh.tissue.anchors).map_err(|error| unfit_error(&error))?;
        let contacts = projective.simulation().contacts();
        // Where there is no memory for them, the CPU finds the contacts.
        let collision = contacts
            .filter(|contacts| contacts.are_global())
            .and_then(|contacts| {
                let model = || CollisionModel::new(gpu, contacts, &flesh_model, &solver);
                gpu.attempt(model).ok().flatten()
            })
            .map(Arc::new);
        let surface = SurfaceModel::new(
            gpu,
            Arc::new(recipe_of(actor)?),
            flesh_model.row_of_vertex(),
        )
        .map_err(|error| unfit_error(&error))?;
        Ok(Self {
            gpu: gpu.clone(),
            flesh: flesh_model,
            solver,
            base,
            surface: Arc::new(surface),
            collision,
            why: choice.reason,
        })
    }

    /// The global solver and the reason for it in one sentence.
    #[must_use]
    pub fn solver_reason(&self) -> &str {
        &self.why
    }

    /// Bytes of the constants of global steps, of the surface and of contacts.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        let collision = self.collision.as_ref().map_or(0, |model| model.bytes());
        self.solver.bytes() as u64 + self.surface.constant_bytes() + collision
    }
}

/// The flesh of one character on the device, with its surface.
pub struct GpuFlesh {
    model: Arc<GpuModel>,
    state: FleshState,
    solver: BoundSolver,
    step: FleshStep,
    base: Base,
    /// Prepared steps whose base the device computes.
    queued: usize,
    /// The contacts that the device finds, if it does; whether the queued step has them.
    own: Option<OwnContacts>,
    own_queued: bool,
    /// Contacts that the CPU finds; created when parts first collide.
    touch: Option<ContactSteps>,
    /// Whether a step over a base from the CPU (because parts collide) is prepared but not submitted.
    touching: bool,
    /// Number of steps so far.
    steps: u64,
    skins: Skins,
}

impl GpuFlesh {
    /// Allocates one character; [`Device::set_state`] sets its state.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the device is too small.
    pub fn new(model: Arc<GpuModel>) -> Result<Self, DeviceError> {
        let gpu = model.gpu.clone();
        gpu.attempt(|| Self::build(model))
            .map_err(|error| unfit_error(&error))?
    }

    fn build(model: Arc<GpuModel>) -> Result<Self, DeviceError> {
        let gpu = &model.gpu;
        let state = FleshState::new(gpu, &model.flesh, 1).map_err(|error| unfit_error(&error))?;
        let solver = model
            .solver
            .on(gpu, 1, state.right_hand_side(), state.increment());
        let step = FleshStep::new(gpu, &model.flesh, &state, solver.dispatches());
        let base = model
            .base
            .on(gpu, state.base(), 1, STEPS)
            .map_err(|error| unfit_error(&error))?;
        let skins = Skins::new(gpu, &model.surface, Some(&state));
        let own = model.collision.as_ref().map(|collision| {
            let solve = solver.dispatches();
            OwnContacts::new(gpu, collision, &model.flesh, &state, solve, &base)
        });
        Ok(Self {
            state,
            solver,
            step,
            base,
            queued: 0,
            own,
            own_queued: false,
            touch: None,
            touching: false,
            steps: 0,
            skins,
            model,
        })
    }

    /// Compute passes of a step (including the base) and of the surface after it.
    #[must_use]
    pub fn passes(&self) -> (usize, usize) {
        (
            self.step.dispatches().len() + 1,
            self.model.surface.passes(),
        )
    }

    /// Submits the queued steps and, with a skin, the surface.
    fn submit(&mut self, skin: Option<&DeviceSkin>) {
        let start = Instant::now();
        let gpu = &self.model.gpu;
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("flesh"),
            });
        self.base.upload(gpu, self.queued);
        let touch = self.touch.as_mut().filter(|_| self.touching);
        {
            let bases = (0..self.queued).map(|step| self.base.step(step));
            let own = self.own.as_ref().filter(|_| self.own_queued);
            let step = own.map_or(&self.step, OwnContacts::step);
            let steps = bases.flat_map(|base| base.into_iter().chain(step.dispatches()));
            let touching = touch.iter().flat_map(|touch| touch.dispatches(&self.step));
            self.skins.encode(&mut encoder, steps.chain(touching), skin);
        }
        let touch = match touch {
            None => None,
            Some(touch) => {
                touch.copy(gpu, &mut encoder, &self.state);
                Some(touch)
            }
        };
        if let Some(skin) = skin {
            skin.copy_rows(&mut encoder, &self.state);
            self.skins.encode_readback(&mut encoder, Some(&self.state));
        }
        gpu.queue.submit([encoder.finish()]);
        if let Some(touch) = touch {
            touch.submitted();
        }
        let finds_contacts = self.own_queued;
        (self.queued, self.touching, self.own_queued) = (0, false, false);
        self.skins.add_host_time(start.elapsed());
        if skin.is_some() {
            self.skins.submitted(self.steps, finds_contacts);
        }
    }
}

impl SurfaceDevice for GpuFlesh {
    fn present(&mut self, world_from_joint: &[Affine], ahead_secs: f32) -> Result<(), DeviceError> {
        let followed = Followed {
            state: &self.state,
            row_of_vertex: self.model.flesh.row_of_vertex(),
        };
        let skin = self
            .skins
            .begin(world_from_joint, ahead_secs, Some(followed))?;
        self.submit(Some(&skin));
        self.skins.end(skin)
    }

    fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.skins.watched()
    }

    fn fetch(&mut self, mut surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        self.skins.fetch(&mut surface)
    }
}

impl Device for GpuFlesh {
    fn set_state(&mut self, state: &State) -> Result<(), DeviceError> {
        self.skins.check()?;
        (self.queued, self.touching, self.own_queued) = (0, false, false);
        self.skins.forget_kept();
        if let Some(touch) = &mut self.touch {
            touch.set_state(Some(state));
        }
        if let Some(own) = &mut self.own {
            own.set_contacts(&self.model.gpu, &[], 0);
        }
        self.state
            .upload(&self.model.gpu, 0, state)
            .map_err(|error| lost_error(&error))
    }

    fn step(&mut self, step: DeviceStep<'_>) -> Result<(), DeviceError> {
        self.skins.check()?;
        // Several plain steps go into one submission.
        let is_plain = matches!(step.collision, StepCollision::Off);
        if self.queued == STEPS
            || self.touching
            || self.own_queued
            || (self.queued > 0 && !is_plain)
        {
            self.submit(None);
        }
        if let StepCollision::Given(colliding) = step.collision {
            let Self {
                model,
                state,
                solver,
                touch,
                skins,
                ..
            } = self;
            let touch = touch.get_or_insert_with(|| ContactSteps::new(&model.gpu, state));
            skins.add_host_time(touch.prepare(model, state, solver.dispatches(), colliding)?);
            self.touching = true;
        } else {
            if let Some(touch) = &mut self.touch {
                touch.set_state(None);
            }
            let start = Instant::now();
            if let Some(own) = &mut self.own {
                if is_plain {
                    own.set_contacts(&self.model.gpu, &[], 0);
                } else {
                    own.prepare(&self.model.gpu, step.frame);
                    self.own_queued = true;
                }
            }
            self.base.set(self.queued, 0, step.frame);
            self.queued += 1;
            self.skins.add_host_time(start.elapsed());
        }
        self.steps += 1;
        Ok(())
    }

    fn state(&mut self) -> Result<State, DeviceError> {
        self.skins.check()?;
        if self.queued > 0 || self.touching {
            self.submit(None);
        }
        self.state
            .download(&self.model.gpu, 0)
            .map_err(|error| lost_error(&error))
    }

    fn last_state(&mut self) -> Option<State> {
        let kept = self.skins.kept()?;
        let mut state = State::default();
        self.state.decode(kept, &mut state);
        Some(state)
    }

    fn set_contacts(&mut self, contacts: &[Contact], searches: usize) {
        if let Some(own) = &mut self.own {
            own.set_contacts(&self.model.gpu, contacts, searches);
        }
    }

    fn contacts(&mut self) -> Result<Vec<Contact>, DeviceError> {
        let contacts = self.own.as_ref().map(|own| own.contacts(&self.model.gpu));
        contacts
            .transpose()
            .map(Option::unwrap_or_default)
            .map_err(|error| lost_error(&error))
    }

    fn finds_contacts(&self) -> bool {
        self.own.is_some()
    }

    fn takes_contacts(&self) -> bool {
        true
    }
}

/// The skinning data that the device needs from an actor.
///
/// # Errors
/// [`DeviceError::Unfit`] if its method has no device form.
fn recipe_of(actor: &Actor) -> Result<Recipe, DeviceError> {
    actor.recipe().ok_or_else(|| {
        let method = actor.method().label();
        unfit_error(&format_args!("{method} has no form on the device"))
    })
}

fn unfit_error(reason: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Unfit {
        reason: reason.to_string(),
    }
}

fn lost_error(reason: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Lost {
        reason: reason.to_string(),
    }
}
