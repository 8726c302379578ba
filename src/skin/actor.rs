//! A bound method with full-resolution output.

use std::sync::Arc;
use std::time::Instant;

use super::direct::Direct;
use super::dqs::DualQuaternion;
use super::follower::Follower;
use super::lbs::{LinearBlend, check_joints};
use super::projective::Projective;
use super::{BindError, Device, DeviceError, DeviceTimes, Frame, Method, Recipe, Settled, SkinError, Skinner, Subject, SurfaceDevice};
use crate::character::{BoneMap, Character};
use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::mesh::{NormalGroups, WELD_TOLERANCE};
use crate::progress::Progress;

/// Where the time of the last frame went, milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct StepTimes {
    /// Moving the base surface with the bones.
    pub anchors_ms: f64,
    /// Simulation steps as a whole: prediction, iterations, velocities. Without a simulation: moving the vertices.
    pub step_ms: f64,
    /// Local steps: closest rotations.
    pub local_ms: f64,
    /// Global steps: linear solves.
    pub global_ms: f64,
    /// Upsampling to the source vertices.
    pub upsampling_ms: f64,
    /// Their normals.
    pub normals_ms: f64,
    /// Everything, as a clock on the wall sees it.
    pub total_ms: f64,
    /// Simulation steps taken.
    pub steps: u32,
    /// Local/global iterations in all of them.
    pub iterations: u32,
    /// What another device spent on the latest frame that it has told of.
    pub device: DeviceTimes,
    /// What it took the processor to set that frame up for it.
    pub host_ms: f64,
}

/// One character moving by one method: source positions and normals, frame by frame.
pub struct Actor {
    subject: Arc<Subject>,
    method: Method,
    bound: Bound,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    groups: NormalGroups,
    times: StepTimes,
    /// Whether positions and normals are those of the last frame, rather than what a device has.
    here: bool,
    /// Whether what a device presents is read back at once.
    reads_back: bool,
}

/// The skinner inside, by the vertices it works on.
enum Bound {
    /// Source vertices.
    Direct(Box<Direct>),
    /// Simulation vertices, and linear blending for what is not simulated (props), if there is any.
    Simulated { skinner: Box<Projective>, simulated: Vec<Point>, follower: Box<Follower>, props: Option<LinearBlend> },
}

impl Actor {
    /// Binds a method.
    ///
    /// # Errors
    /// [`BindError`] if the method can't work on this subject, or the work was cancelled.
    pub fn bind(subject: &Arc<Subject>, method: Method, params: &Params, progress: &Progress) -> Result<Self, BindError> {
        progress.check()?;
        let character = &subject.character;
        let weights = &subject.fallback_weights;
        let positions = subject.bind_positions.to_vec();
        let mut normals = vec![Vec3::y(); positions.len()];
        let mut groups = NormalGroups::new(&positions, &character.triangles(), &file_normals(character), WELD_TOLERANCE * subject.size);
        groups.normals_into(&positions, &mut normals);
        let direct = |skinner: Box<dyn Skinner>| Bound::Direct(Box::new(Direct::new(skinner, character.skeleton.len())));
        let bound = match method {
            Method::Rigid => direct(Box::new(LinearBlend::bind_rigid(character, weights))),
            Method::Lbs => direct(Box::new(LinearBlend::bind(character, weights))),
            Method::Dqs => direct(Box::new(DualQuaternion::bind(character, weights))),
            Method::Pd => {
                let all_simulated = subject.skin.skin_from_source.iter().all(Option::is_some);
                Bound::Simulated {
                    skinner: Box::new(Projective::bind(subject, params)?),
                    simulated: subject.sim().mesh.positions.clone(),
                    follower: Box::new(Follower::bind(subject, &normals, progress)?),
                    props: (!all_simulated).then(|| LinearBlend::bind(character, weights)),
                }
            }
        };
        progress.check()?;
        let times = StepTimes::default();
        let subject = subject.clone();
        Ok(Self { subject, method, bound, positions, normals, groups, times, here: true, reads_back: true })
    }

    /// Whether joints can be followed there: [`Actor::advance`] refuses others.
    ///
    /// # Errors
    /// [`SkinError::JointCount`], [`SkinError::BadPose`].
    pub fn check(&self, world_from_joint: &[Affine]) -> Result<(), SkinError> {
        check_joints(self.subject().character.skeleton.len(), &Frame { world_from_joint, dt_secs: 0.0 })
    }

    /// Moves on to the next frame.
    ///
    /// # Errors
    /// As [`Skinner::skin`]; the output stays the last good frame.
    pub fn advance(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        let start = Instant::now();
        let presented = match &mut self.bound {
            Bound::Direct(direct) => {
                let presented = direct.present(frame)?;
                if !presented {
                    direct.skin(frame, &mut self.positions)?;
                }
                let step_ms = start.elapsed().as_secs_f64() * 1e3;
                let (device, host_ms) = direct.told();
                self.times = StepTimes { step_ms, device, host_ms, ..StepTimes::default() };
                presented
            }
            Bound::Simulated { skinner, simulated, follower, props } => {
                let followed = skinner.follow(frame);
                self.times = skinner.times();
                followed?;
                let presented = skinner.present(frame.world_from_joint);
                if !presented {
                    skinner.write(simulated);
                    if let Some(props) = props {
                        props.skin(frame, &mut self.positions)?;
                    }
                    let upsampling_start = Instant::now();
                    follower.follow(simulated, frame.world_from_joint, &mut self.positions);
                    self.times.upsampling_ms = upsampling_start.elapsed().as_secs_f64() * 1e3;
                }
                presented
            }
        };
        self.here = !presented;
        if self.here {
            self.find_normals();
        } else if self.reads_back {
            self.read_back();
        }
        self.times.total_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// The normals of what is here.
    fn find_normals(&mut self) {
        let start = Instant::now();
        let follower = match &self.bound {
            Bound::Direct(_) => None,
            Bound::Simulated { follower, .. } => Some(&**follower),
        };
        if !follower.is_some_and(Follower::carries_all_normals) {
            self.groups.normals_into(&self.positions, &mut self.normals);
        }
        if let Some(follower) = follower {
            follower.normals_into(&mut self.normals);
        }
        self.times.normals_ms = start.elapsed().as_secs_f64() * 1e3;
    }

    /// Forgets velocities: the next frame starts settled in its pose.
    pub fn reset(&mut self) {
        match &mut self.bound {
            Bound::Direct(direct) => direct.reset(),
            Bound::Simulated { skinner, .. } => skinner.reset(),
        }
    }

    /// Changes physical parameters; takes effect with the next frame. Does nothing for methods without physics.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the flesh can't be solved with them; the old ones then stay.
    pub fn set_params(&mut self, params: &Params) -> Result<(), BindError> {
        match &mut self.bound {
            Bound::Direct(_) => Ok(()),
            Bound::Simulated { skinner, .. } => Ok(skinner.set_params(params)?),
        }
    }

    /// Changes the factors in the settings of bones; takes effect with the next frame. Does nothing for methods without physics.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the flesh can't be solved with them; the old ones then stay.
    pub fn set_bones(&mut self, bones: &BoneMap) -> Result<(), BindError> {
        match &mut self.bound {
            Bound::Direct(_) => Ok(()),
            Bound::Simulated { skinner, .. } => Ok(skinner.set_bones(bones)?),
        }
    }

    /// The simulation inside, for methods that have one.
    #[must_use]
    pub fn projective(&self) -> Option<&Projective> {
        match &self.bound {
            Bound::Direct(_) => None,
            Bound::Simulated { skinner, .. } => Some(skinner),
        }
    }

    /// Settles in a pose, for others to go on from there ([`super::Walker`]); nothing for methods that don't simulate. A device is let go
    /// of.
    ///
    /// # Errors
    /// As [`Actor::advance`].
    pub fn settled_in(&mut self, world_from_joint: &[Affine]) -> Result<Option<Settled>, SkinError> {
        match &mut self.bound {
            Bound::Direct(_) => Ok(None),
            Bound::Simulated { skinner, .. } => skinner.settled_in(world_from_joint).map(Some),
        }
    }

    /// Has another device make the steps from now on, and the surface over them, or the processor again. The state goes along. Does
    /// nothing for methods that don't simulate.
    pub fn set_device(&mut self, device: Option<Box<dyn Device>>) {
        if let Bound::Simulated { skinner, .. } = &mut self.bound {
            skinner.set_device(device);
        }
    }

    /// Has another device move the skin from now on, or the processor again. Does nothing for methods that simulate.
    pub fn set_surface_device(&mut self, device: Option<Box<dyn SurfaceDevice>>) {
        if let Bound::Direct(direct) = &mut self.bound {
            direct.set_device(device);
        }
    }

    /// Lets go of the device; the processor goes on where it was.
    pub fn leave_device(&mut self) {
        self.set_device(None);
        self.set_surface_device(None);
    }

    /// Gives the device of a simulation away; the processor goes on where it was.
    pub fn take_device(&mut self) -> Option<Box<dyn Device>> {
        match &mut self.bound {
            Bound::Direct(_) => None,
            Bound::Simulated { skinner, .. } => skinner.take_device(),
        }
    }

    /// Why the device was lost, if it was since the last call: the processor has gone on without it.
    pub fn take_fault(&mut self) -> Option<DeviceError> {
        match &mut self.bound {
            Bound::Direct(direct) => direct.take_fault(),
            Bound::Simulated { skinner, .. } => skinner.take_fault(),
        }
    }

    /// Whether there is a device, whether it works now or not.
    #[must_use]
    pub fn has_device(&self) -> bool {
        match &self.bound {
            Bound::Direct(direct) => direct.has_device(),
            Bound::Simulated { skinner, .. } => skinner.has_device(),
        }
    }

    /// Whether a device makes the steps now, or moves the skin.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        match &self.bound {
            Bound::Direct(direct) => direct.has_device(),
            Bound::Simulated { skinner, .. } => skinner.is_on_device(),
        }
    }

    /// Sets whether frames of a device are read back at once, which waits for it. They are by default; who draws from the device's own
    /// buffers doesn't need it.
    pub fn set_reads_back(&mut self, reads_back: bool) {
        self.reads_back = reads_back;
    }

    /// Whether [`Actor::positions`], [`Actor::normals`] and [`Actor::simulated`] are those of the last frame.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// Makes the positions those of the last frame, if a device has them. Waits for it. If that is lost meanwhile, the processor makes
    /// them; of what is simulated, those read back before stay.
    pub fn read_back(&mut self) {
        if self.here {
            return;
        }
        let (positions, normals) = (&mut self.positions, &mut self.normals);
        match &mut self.bound {
            Bound::Direct(direct) => {
                let with_normals = direct.fetch(positions, normals);
                self.here = true;
                if !with_normals {
                    self.find_normals();
                }
            }
            Bound::Simulated { skinner, simulated, .. } => self.here = skinner.fetch(positions, normals, simulated),
        }
    }

    /// World positions of all source vertices.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.positions
    }

    /// World positions of the simulation mesh; none for methods that don't simulate.
    #[must_use]
    pub fn simulated(&self) -> &[Point] {
        match &self.bound {
            Bound::Direct(_) => &[],
            Bound::Simulated { simulated, .. } => simulated,
        }
    }

    /// Unit normals of all source vertices; smooth across the seams of the source, sharp where the file is.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// All that a frame needs beside the simulated vertices and the pose, to make it elsewhere.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        let (subject, groups) = (&*self.subject, &self.groups);
        let bind = || LinearBlend::bind(&subject.character, &subject.fallback_weights);
        match (&self.bound, self.method) {
            (Bound::Simulated { follower, .. }, _) => Recipe::simulated(subject, follower, &bind(), groups),
            (Bound::Direct(_), Method::Rigid) => {
                let blend = LinearBlend::bind_rigid(&subject.character, &subject.fallback_weights);
                Recipe::blended(subject, &blend, false, groups)
            }
            (Bound::Direct(_), method) => Recipe::blended(subject, &bind(), method == Method::Dqs, groups),
        }
    }

    /// The method bound.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// What the method is bound to.
    #[must_use]
    pub fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// Where the time of the last frame went.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }
}

/// The file's normals of all source vertices, zero where it has none.
fn file_normals(character: &Character) -> Vec<Vec3> {
    let of = |mesh: &crate::character::SourceMesh| match &mesh.normals {
        Some(normals) if normals.len() == mesh.positions.len() => normals.clone(),
        _ => vec![Vec3::zeros(); mesh.positions.len()],
    };
    character.meshes.iter().flat_map(of).collect()
}
