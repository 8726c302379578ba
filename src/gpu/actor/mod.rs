//! A whole character on the device: frame → base → steps → surface, one submission a frame, and nothing comes back that nobody asks for.
//!
//! | lifetime                     | type                                                                              |
//! |------------------------------|-----------------------------------------------------------------------------------|
//! | per character and parameters | [`GpuModel`]: kernels and constants; any number of [`GpuFlesh`] share it            |
//! | per view                     | [`GpuFlesh`]: the state; a [`crate::skin::Device`] that an actor makes its steps by  |
//! | per frame                    | [`DeviceSkin`]: positions and normals that are drawn from; three or four in turn      |
//! | late                         | `Echo`: what became of a frame, 16 bytes; every fourth time the whole state           |
//!
//! # Passes and bytes of a frame
//! A step is one pass for the base, then those of [`FleshStep`]; a frame ends with those of [`Surface`], all in one compute pass and one
//! submission. Up go 128 bytes a bone and 64 a node a step, and 48 a joint a frame; down come 16, and every fourth
//! time 64 a simulated vertex, for when the device is lost. A frame that goes unseen for longer
//! than [`FRAMES_BEHIND`] is waited for, so that time never runs ahead of the device.

mod choice;
mod crowd;
mod echo;
mod profile;
mod skin;
mod touch;

pub use choice::{DeviceChoice, Measured, Verdict, verdict, without_measuring};
pub use crowd::{CrowdError, CrowdSize, CrowdSkin, GpuCrowd};
pub use skin::{DeviceSkin, Shown};

use std::sync::Arc;

use self::echo::Echoes;
use self::profile::Profile;
use self::touch::Touch;
use super::flesh::solve::{BoundSolver, GlobalSolver, Limits};
use super::flesh::{FleshModel, FleshState, FleshStep};
use super::surface::{Base, BaseModel, Simulated, Surface, SurfaceModel};
use super::{GpuContext, GpuError};
use crate::dynamics::State;
use crate::math::Affine;
use crate::skin::{Actor, Device, DeviceError, DeviceStep, SurfaceMut, Watched};

/// Steps of a submission; a frame with more makes more submissions.
const STEPS: usize = 8;
/// Frames that may be under way.
pub const FRAMES_BEHIND: usize = 3;

/// Kernels and constants of a character under certain parameters.
#[derive(Debug)]
pub struct GpuModel {
    gpu: GpuContext,
    flesh: FleshModel,
    solver: GlobalSolver,
    base: BaseModel,
    surface: Arc<SurfaceModel>,
    why: String,
}

impl GpuModel {
    /// Prepares what an actor simulates: as it is now, with its parameters.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the actor simulates nothing, or the device is too small for it.
    pub fn new(gpu: &GpuContext, actor: &Actor) -> Result<Self, DeviceError> {
        gpu.check_compute().map_err(|error| unfit(&error))?;
        gpu.attempt(|| Self::build(gpu, actor)).map_err(|error| unfit(&error))?
    }

    fn build(gpu: &GpuContext, actor: &Actor) -> Result<Self, DeviceError> {
        let (Some(projective), Ok(flesh)) = (actor.projective(), &actor.subject().tissue) else {
            return Err(unfit(&"its method simulates nothing"));
        };
        let equations = Arc::new(projective.simulation().equations());
        let choice = GlobalSolver::choose(&equations, Limits::of(gpu));
        let solver = GlobalSolver::new(gpu, &equations, choice.kind).map_err(|error| unfit(&error))?;
        let flesh_model = FleshModel::new(gpu, equations).map_err(|error| unfit(&error))?;
        let base = BaseModel::new(gpu, &flesh.tissue.anchors).map_err(|error| unfit(&error))?;
        let surface = SurfaceModel::new(gpu, Arc::new(actor.recipe()), flesh_model.row_of_vertex()).map_err(|error| unfit(&error))?;
        Ok(Self { gpu: gpu.clone(), flesh: flesh_model, solver, base, surface: Arc::new(surface), why: choice.reason })
    }

    /// How its global steps are solved, and why: one sentence.
    #[must_use]
    pub fn solver_reason(&self) -> &str {
        &self.why
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// Bytes of the constants of global steps and of the surface.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        self.solver.bytes() as u64 + self.surface.constant_bytes()
    }
}

/// The flesh of one character on the device, with its surface.
pub struct GpuFlesh {
    model: Arc<GpuModel>,
    state: FleshState,
    solver: BoundSolver,
    step: FleshStep,
    base: Base,
    /// Steps that are set but not submitted, over bases that the device places.
    queued: usize,
    /// Made when parts first collide.
    touch: Option<Touch>,
    /// A step over a base that the processor placed, because parts collide, is prepared but not submitted.
    touching: bool,
    /// Steps made.
    steps: u64,
    ring: Vec<Arc<DeviceSkin>>,
    shown: Arc<Shown>,
    echoes: Echoes,
    profile: Option<Profile>,
}

impl GpuFlesh {
    /// Whether steps take contacts; the processor makes them otherwise while parts collide.
    pub const TAKES_CONTACTS: bool = true;

    /// Room for one character; [`Device::set_state`] says where it is.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the device is too small.
    pub fn new(model: Arc<GpuModel>) -> Result<Self, DeviceError> {
        let gpu = model.gpu.clone();
        gpu.attempt(|| Self::build(model)).map_err(|error| unfit(&error))?
    }

    fn build(model: Arc<GpuModel>) -> Result<Self, DeviceError> {
        let gpu = &model.gpu;
        let state = FleshState::new(gpu, &model.flesh, 1).map_err(|error| unfit(&error))?;
        let solver = model.solver.on(gpu, 1, state.right_hand_side(), state.increment());
        let step = FleshStep::new(gpu, &model.flesh, &state, solver.dispatches());
        let base = model.base.on(gpu, state.base(), 1, STEPS).map_err(|error| unfit(&error))?;
        let echoes = Echoes::new(gpu, &state);
        let shown = Arc::new(Shown::default());
        Ok(Self {
            state,
            solver,
            step,
            base,
            queued: 0,
            touch: None,
            touching: false,
            steps: 0,
            ring: Vec::new(),
            shown,
            echoes,
            profile: None,
            model,
        })
    }

    /// Where the latest skin is always to be found.
    #[must_use]
    pub fn shown(&self) -> Arc<Shown> {
        self.shown.clone()
    }

    /// Measures every pass from now on, where the device can: [`Watched::work_ms`]. That keeps passes apart that could overlap.
    pub fn set_profiled(&mut self, profiled: bool) {
        self.profile = if profiled { Profile::new(&self.model.gpu) } else { None };
    }

    /// As [`GpuModel::constant_bytes`].
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        self.model.constant_bytes()
    }

    /// Compute passes of a step, and of the surface after it.
    #[must_use]
    pub fn passes(&self) -> (usize, usize) {
        (self.step.dispatches().len() + 1, self.model.surface.passes())
    }

    fn check(&self) -> Result<(), DeviceError> {
        if self.model.gpu.is_lost() { Err(lost(&"it does not answer any more")) } else { Ok(()) }
    }

    /// A skin that nobody looks at.
    fn free_skin(&mut self) -> Result<Arc<DeviceSkin>, DeviceError> {
        let latest = self.shown.latest();
        let is_free =
            |skin: &Arc<DeviceSkin>| Arc::strong_count(skin) == 1 && latest.as_ref().is_none_or(|latest| !Arc::ptr_eq(latest, skin));
        if let Some(place) = self.ring.iter().position(is_free) {
            return Ok(self.ring.swap_remove(place));
        }
        // More than a few are kept by somebody for good: theirs now.
        if self.ring.len() > 2 * FRAMES_BEHIND {
            self.ring.remove(0);
        }
        let stride = self.state.dims().row_stride as usize;
        let simulated = Simulated { positions: self.state.positions(), velocities: Some(self.state.velocities()), stride };
        let gpu = &self.model.gpu;
        let make = || {
            let surface = Surface::new(gpu, &self.model.surface, Some(simulated), 1).map_err(|error| unfit(&error))?;
            Ok(Arc::new(DeviceSkin::new(gpu, surface, self.model.flesh.row_of_vertex(), stride)))
        };
        gpu.attempt(make).map_err(|error| unfit(&error))?
    }

    /// Submits the steps that are queued, and with a skin the surface over them.
    fn submit(&mut self, skin: Option<&mut DeviceSkin>) {
        let gpu = &self.model.gpu;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("flesh") });
        self.base.upload(gpu, self.queued);
        let touch = self.touch.as_mut().filter(|_| self.touching);
        let is_frame = skin.is_some();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("flesh"), timestamp_writes: None });
            let mut profile = self.profile.as_mut();
            if let Some(profile) = &mut profile {
                profile.begin(&mut pass);
            }
            let bases = (0..self.queued).map(|step| self.base.step(step));
            let steps = bases.flat_map(|base| base.into_iter().chain(self.step.dispatches()));
            let touching = touch.iter().flat_map(|touch| touch.dispatches(&self.step));
            let steps = steps.chain(touching);
            let surface = skin.iter().flat_map(|skin| skin.surface().dispatches());
            for (dispatch, above) in steps.map(|dispatch| (dispatch, false)).chain(surface.map(|dispatch| (dispatch, true))) {
                dispatch.encode(&mut pass);
                if let Some(profile) = &mut profile {
                    profile.mark(&mut pass, dispatch.label(), above);
                }
            }
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
            self.echoes.copy(&mut encoder, &self.state, self.profile.as_mut());
        }
        gpu.queue.submit([encoder.finish()]);
        if let Some(touch) = touch {
            touch.submitted();
        }
        (self.queued, self.touching) = (0, false);
        if is_frame {
            self.echoes.submitted(self.steps);
        }
    }
}

impl Device for GpuFlesh {
    fn set_state(&mut self, state: &State) -> Result<(), DeviceError> {
        self.check()?;
        (self.queued, self.touching) = (0, false);
        self.echoes.forget_kept();
        if let Some(touch) = &mut self.touch {
            touch.set_state(Some(state));
        }
        self.state.upload(&self.model.gpu, 0, state).map_err(|error| lost(&error))
    }

    fn step(&mut self, step: DeviceStep<'_>) -> Result<(), DeviceError> {
        self.check()?;
        if self.queued == STEPS || self.touching || (self.queued > 0 && step.colliding.is_some()) {
            self.submit(None);
        }
        if let Some(colliding) = step.colliding {
            let Self { model, state, solver, touch, .. } = self;
            let touch = touch.get_or_insert_with(|| Touch::new(&model.gpu, state));
            touch.prepare(model, state, solver.dispatches(), colliding)?;
            self.touching = true;
        } else {
            if let Some(touch) = &mut self.touch {
                touch.set_state(None);
            }
            self.base.set(self.queued, 0, step.frame);
            self.queued += 1;
        }
        self.steps += 1;
        Ok(())
    }

    fn present(&mut self, world_from_joint: &[Affine], ahead_secs: f32) -> Result<(), DeviceError> {
        self.check()?;
        self.echoes.make_room(&self.model.gpu).map_err(|error| lost(&error))?;
        let mut skin = self.free_skin()?;
        if let Some(skin) = Arc::get_mut(&mut skin) {
            skin.prepare(world_from_joint, ahead_secs);
            self.submit(Some(skin));
        }
        self.check()?;
        self.ring.push(skin.clone());
        self.shown.set(skin);
        Ok(())
    }

    fn watched(&mut self) -> Option<Watched> {
        self.echoes.next(&self.model.gpu, self.profile.as_ref())
    }

    fn state(&mut self) -> Result<State, DeviceError> {
        self.check()?;
        if self.queued > 0 || self.touching {
            self.submit(None);
        }
        self.state.download(&self.model.gpu, 0).map_err(|error| lost(&error))
    }

    fn last_state(&mut self) -> Option<State> {
        let kept = self.echoes.kept()?;
        Some(self.state.decode(&self.model.flesh.equations().vertex_of_row, kept))
    }

    fn takes_contacts(&self) -> bool {
        Self::TAKES_CONTACTS
    }

    fn fetch(&mut self, mut surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        self.check()?;
        let latest = self.shown.latest().ok_or_else(|| lost(&"nothing was presented"))?;
        latest.fetch_into(&mut surface).map_err(|error: GpuError| lost(&error))
    }
}

fn unfit(reason: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Unfit { reason: reason.to_string() }
}

fn lost(reason: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Lost { reason: reason.to_string() }
}
