//! A crowd: many instances of one character on the device, each in a pose and at a place of its own, their passes batched.
//!
//! All instances share the constants (matrix, tets, weights); each has a state, and is a row of workgroups in every dispatch. A frame is
//! one compute pass in one submission, with as many dispatches as for one character: those of [`super::GpuFlesh`]. Nothing is read back.
//!
//! The joints are placed on the processor, all instances at once, where the character itself stands; an instance's place is added to its
//! transforms on their way to the device, so that base, flesh and surface are there from the start. Up go 128 bytes a bone and 64 a node
//! for every instance and step, and 48 a joint for every instance and frame. Back come 16 bytes an instance, late: an instance that
//! diverged is settled anew, and so is one that jumps; the others go on.
//!
//! # Departures
//! - Nothing collides in a crowd, whatever the parameters say, neither with itself nor with others.
//! - Flesh never sleeps: the passes are made for those who move anyway.

mod error;
mod fit;
mod flesh;
mod skin;
mod submit;

pub use error::CrowdError;
pub use skin::CrowdSkin;

use std::collections::VecDeque;
use std::sync::Arc;

use self::error::unfit;
use self::flesh::CrowdFlesh;
use self::submit::{submit_passes, submit_steps};
use super::profile::Profile;
use super::{FRAMES_BEHIND, GpuModel, recipe_of};
use crate::dynamics::{Collisions, Params, State};
use crate::gpu::compute::{fetch, storage};
use crate::gpu::surface::{Surface, SurfaceModel};
use crate::gpu::waiting::{DoneSignal, done, lost, wait_for_all, wait_until};
use crate::gpu::{GpuContext, GpuError};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::Bounds;
use crate::methods::{Actor, DeviceTimes};
use crate::progress::Progress;

/// Flesh may bulge out of the box that its joints alone give, by this part of the box.
const BULGE: f32 = 0.05;

/// What a crowd takes of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CrowdSize {
    /// Characters.
    pub instances: usize,
    /// Bytes that all of them share.
    pub constant_bytes: u64,
    /// Bytes of the state of each.
    pub instance_bytes: u64,
    /// Bytes that a step uploads for all of them.
    pub bytes_up_step: usize,
    /// Dispatches of a step, however many there are; 0 for methods that don't simulate…
    pub passes_step: usize,
    /// …and of the surface, once a frame.
    pub passes_surface: usize,
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
    /// As many instances of what the actor shows as there are places, by its method and parameters; collisions are off. A place is how far
    /// an instance stands from where its joints have it.
    ///
    /// # Errors
    /// [`CrowdError`] if there are none, or too many for the device.
    pub fn new(gpu: &GpuContext, mut actor: Actor, places: &[Vec3]) -> Result<Self, CrowdError> {
        if places.is_empty() {
            return Err(CrowdError::Nobody);
        }
        actor.set_device(None);
        let params = actor.projective().map(|flesh| *flesh.simulation().params());
        if let Some(params) = params {
            actor
                .set_params(&Params {
                    collisions: Collisions::Off,
                    ..params
                })
                .map_err(|error| unfit(&error))?;
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
        gpu.check_compute().map_err(|error| unfit(&error))?;
        let wanted = places.len();
        let (surface_model, model) = if actor.projective().is_some() {
            let model = Arc::new(GpuModel::new(gpu, &actor).map_err(|error| unfit(&error))?);
            (model.surface.clone(), Some(model))
        } else {
            let recipe = recipe_of(&actor).map_err(|error| unfit(&error))?;
            let surface =
                SurfaceModel::new(gpu, Arc::new(recipe), &[]).map_err(|error| unfit(&error))?;
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
        let surface =
            Surface::new(gpu, &surface_model, simulated, wanted).map_err(|error| unfit(&error))?;
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

    /// Goes on by `dt_secs` to these poses, one an instance, with the joints where the character itself would stand. With the first ones,
    /// or after 0 s, everybody begins at rest. Nothing is submitted yet: [`GpuCrowd::encode`] does the rest. Waits if the device is frames
    /// behind.
    ///
    /// # Errors
    /// [`CrowdError`]; a crowd that was lost has to be made anew.
    pub fn advance(&mut self, poses: &[Vec<Affine>], dt_secs: f64) -> Result<(), CrowdError> {
        self.go_on(poses, dt_secs, &Progress::new())
    }

    /// Everybody at rest in these poses, as [`GpuCrowd::advance`] by 0 s: each that differs is settled, which takes its time.
    ///
    /// # Errors
    /// [`CrowdError`]; after [`CrowdError::Cancelled`] it has to be settled again before it goes on.
    pub fn settle(&mut self, poses: &[Vec<Affine>], progress: &Progress) -> Result<(), CrowdError> {
        self.go_on(poses, 0.0, progress)
    }

    /// Has them stand elsewhere, one place each, from when they are settled next.
    pub fn set_places(&mut self, places: &[Vec3]) {
        for (mine, place) in self.places.iter_mut().zip(places) {
            *mine = *place;
        }
    }

    fn go_on(
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
        let mut world = Vec::new();
        for (instance, (pose, place)) in poses.iter().zip(places).enumerate() {
            let offset = nalgebra::Translation3::from(place.cast::<f64>());
            world.clear();
            world.extend(pose.iter().map(|joint| offset * joint));
            surface.set_pose(instance, &world);
            surface.set_ahead(instance, ahead_secs);
        }
        self.boxes = boxes;
        Ok(())
    }

    /// Encodes the frame: one compute pass. [`GpuCrowd::submitted`] has to follow its submission.
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

    /// To be called after the submission of what was encoded. Waits for nothing.
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
            Err(lost(&"it does not answer any more"))
        } else {
            Ok(())
        }
    }

    /// Waits until the device is no more than some frames behind.
    fn make_room(&mut self) -> Result<(), GpuError> {
        while self.under_way.len() >= FRAMES_BEHIND {
            self.under_way
                .pop_front()
                .map_or(Ok(()), |done| wait_until(&self.gpu, &done))?;
        }
        Ok(())
    }

    /// Submits the frame by itself: one submission.
    ///
    /// # Errors
    /// As [`GpuCrowd::submitted`].
    pub fn present(&mut self) -> Result<(), CrowdError> {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("crowd"),
            });
        self.encode(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        self.submitted()
    }

    /// Makes the frame beside somebody who draws from the same device: steps and surface are submissions of their own, and each is waited
    /// for without keeping others from the device, so that their pictures come in between. The surface of everybody is written by one
    /// submission, and a queue goes through its submissions one after the other: who draws sees all of this frame, or all of the last.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn present_aside(&mut self) -> Result<(), CrowdError> {
        let Self { gpu, flesh, .. } = self;
        if let Some(flesh) = flesh.as_mut().filter(|flesh| flesh.queued > 0) {
            if gpu.is_software() {
                submit_passes(gpu, flesh)?;
            } else {
                submit_steps(gpu, flesh);
                wait_for_all(gpu)?;
            }
        }
        // One submission is under way at most: nothing is waited for in the driver.
        self.present()?;
        self.under_way.clear();
        Ok(wait_for_all(&self.gpu)?)
    }

    /// As [`GpuCrowd::present`], but measures the passes by the device's own clock, and waits for it. That keeps passes apart that could
    /// overlap. Nothing is told where there is no clock.
    ///
    /// # Errors
    /// As [`GpuCrowd::submitted`].
    pub fn present_measured(&mut self) -> Result<Option<DeviceTimes>, CrowdError> {
        let Some(mut profile) = Profile::new(&self.gpu) else {
            self.present()?;
            return Ok(None);
        };
        let stamps = storage::<u8>(&self.gpu, "times of passes", Profile::BYTES as usize);
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("crowd, measured"),
            });
        self.encode_with(&mut encoder, Some(&mut profile));
        let marks = profile.resolve(&mut encoder, &stamps, 0);
        self.gpu.queue.submit([encoder.finish()]);
        self.submitted()?;
        let ticks: Vec<u8> = fetch(&self.gpu, &stamps, Profile::BYTES as usize)?;
        Ok(Some(profile.times(&ticks, &marks)))
    }

    /// Waits until all that was submitted is done.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn wait(&mut self) -> Result<(), CrowdError> {
        self.under_way.clear();
        Ok(wait_for_all(&self.gpu)?)
    }

    /// Puts the flesh of one instance into a state, as the character itself would be in it. Nothing happens if there is no such instance,
    /// or no flesh.
    ///
    /// # Errors
    /// [`CrowdError::Unfit`] if it is the state of another character.
    pub fn set_state(&mut self, instance: usize, state: &State) -> Result<(), CrowdError> {
        match (&mut self.flesh, self.places.get(instance)) {
            (Some(flesh), Some(place)) => flesh.place(&self.gpu, instance, state, place),
            _ => Ok(()),
        }
    }

    /// How often an instance was settled anew because it diverged or jumped.
    #[must_use]
    pub fn recovered(&self) -> usize {
        self.flesh.as_ref().map_or(0, |flesh| flesh.recovered)
    }

    /// How its global steps are solved, and why: one sentence, for methods that simulate.
    #[must_use]
    pub fn solver_reason(&self) -> Option<&str> {
        self.flesh
            .as_ref()
            .map(|flesh| flesh.model().solver_reason())
    }

    /// What it takes of the device.
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

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// Positions and normals of all instances, to be drawn from ([`Surface::positions`], [`Surface::normals`]).
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The same to hand on, with where they are.
    #[must_use]
    pub fn skin(&self) -> CrowdSkin {
        CrowdSkin::new(&self.gpu, &self.surface, self.bounds())
    }

    /// Boxes around the instances in the latest poses, somewhat too large.
    #[must_use]
    pub fn boxes(&self) -> &[Bounds] {
        &self.boxes
    }

    /// The same in other poses.
    #[must_use]
    pub fn boxes_of(&self, poses: &[Vec<Affine>]) -> Vec<Bounds> {
        let reach = &self.surface.model().recipe().reach;
        let boxed = |(pose, place): (&Vec<Affine>, &Vec3)| {
            let bounds = bulged(&reach.bounds(pose));
            if bounds.is_empty() {
                bounds
            } else {
                Bounds {
                    min: bounds.min + place,
                    max: bounds.max + place,
                }
            }
        };
        poses.iter().zip(&self.places).map(boxed).collect()
    }

    /// A box around all of them.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.boxes
            .iter()
            .filter(|bounds| !bounds.is_empty())
            .fold(Bounds::of([]), |all, one| Bounds {
                min: all.min.inf(&one.min),
                max: all.max.sup(&one.max),
            })
    }

    /// Reads positions and normals of all instances back, one after the other. Waits: for files and tests, not for display.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn fetch(&self) -> Result<(Vec<Point>, Vec<Vec3>), CrowdError> {
        Ok(self.surface.fetch(&self.gpu)?)
    }
}

fn bulged(tight: &Bounds) -> Bounds {
    if tight.is_empty() {
        return *tight;
    }
    let bulge = (tight.max - tight.min) * BULGE;
    Bounds {
        min: tight.min - bulge,
        max: tight.max + bulge,
    }
}
