//! Projective skinning: the simulated flesh follows the bones.
//!
//! The simulation uses a fixed time step with an accumulator, so that the motion does not depend on the frame rate.
//! Between two frames the pose is interpolated joint by joint. A jump (a turn by more than `JUMP_RAD` in one step) is
//! solved quasi-statically in small substeps, so that no element is inverted on the way. Flesh that no longer moves
//! while the bones are still goes to sleep: it costs no time and keeps its positions exactly.
//!
//! By default the base follows the skin's weights (`guided_base.rs`). Volume that a bend removes is then restored by bulges
//! around it (`volume_preserver`), and jumps need no substeps.
//!
//! Another device may make the steps ([`super::Device`], `on_device.rs`). Quasi-static solves (`quasistatic.rs`) always
//! run on the CPU.

mod explain;
mod fading;
mod floor;
mod guided_base;
mod method;
mod on_device;
mod params;
mod pose_stepper;
pub(super) mod poses;
mod quasistatic;
mod reseat;
mod saved_state;
mod volume_preserver;

pub(super) use guided_base::{GuidedBase, SavedGuide, heap_bytes_of_guide};
pub(super) use method::METHOD;
pub use pose_stepper::{PoseStepper, SettledState};

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use self::fading::Fading;
use self::floor::Floor;
use self::on_device::DeviceLink;
use self::params::{contacts, materials_of};
use self::poses::{compose, largest_turn, relative_into};
use self::reseat::{CALM_TOLERANCE, Reseat};
use super::check::check_joints;
use super::{BindError, DeviceError, Frame, SkinError, StepTimes};
use crate::collision::{
    CollisionBody, Detector, Penetration, PosedFootPoints, deepest_penetration,
};
use crate::dynamics::{Contacts, FactorError, Params, Simulation, VirtualBones};
use crate::math::{Affine, Point};
use crate::rig::Trs;
use crate::stages::{Flesh, Subject};
use crate::tissue::{BaseFrame, Guide, GuideFrame};

/// A joint that turns by more than this in one step is a jump; its inertia is meaningless.
const JUMP_RAD: f64 = 0.6;
/// Iterations of virtual bones towards their equilibrium in such a step.
const JUMP_ITERATIONS: usize = 6;

/// Flesh falls asleep if it moves less than this fraction of the size per step while the base is still…
const SLEEP_TOLERANCE: f32 = 2e-7;
/// …for this many consecutive steps.
const STEPS_TO_SLEEP: u32 = 20;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 2048;

/// How virtual bones follow the pose.
#[derive(Debug, Clone, Copy)]
enum FollowMode {
    /// By one time step, with inertia.
    Step,
    /// Towards their equilibrium, by this many iterations without inertia.
    Relax(usize),
}

/// The simulated skin of one character; its vertices are those of the simulation mesh.
pub struct Projective {
    subject: Arc<Subject>,
    flesh: Flesh,
    simulation: Simulation,
    virtual_bones: Option<VirtualBones>,
    /// Guide of the base; `None` if the base follows the bones.
    guided: Option<GuidedBase>,
    frame: BaseFrame,
    base: Vec<Point>,
    /// Poses as transforms relative to the parent joint: that of the base, that of the last frame, and that of the
    /// current frame.
    base_pose: Vec<Trs>,
    last_pose: Vec<Trs>,
    target_pose: Vec<Trs>,
    world: Vec<Affine>,
    /// The transforms that guided flesh with virtual bones follows.
    carried: Vec<Affine>,
    /// Time not yet simulated, s.
    pending_secs: f64,
    /// Whether the state continues from an earlier frame.
    started: bool,
    last_good: Vec<Point>,
    times: StepTimes,
    /// Consecutive steps in which nothing moved; asleep from [`STEPS_TO_SLEEP`] on.
    still_steps: u32,
    /// Consecutive steps in which hardly anything moved.
    calm_steps: u32,
    /// Whether the flesh is in the equilibrium of its pose, or on the way there.
    seated: bool,
    reseat: Option<Reseat>,
    fading: Option<Fading>,
    /// Device that makes the steps instead of `simulation`, if one is set.
    device_link: Option<DeviceLink>,
    /// The error for which the device was removed, until it is taken.
    fault: Option<DeviceError>,
}

impl Projective {
    /// Factors the system and starts at rest in the bind pose.
    ///
    /// # Errors
    /// [`BindError::Tissue`] if the subject has no flesh, [`BindError::Factor`] if it can't be solved for.
    pub fn bind(subject: &Arc<Subject>, params: &Params) -> Result<Self, BindError> {
        let flesh = subject.flesh()?.clone();
        let position = subject.sim().mesh.positions.clone();
        let base = flesh.tissue.anchors.at_rest();
        let mut simulation = Simulation::new(
            flesh.system.clone(),
            params,
            position.clone(),
            base.clone(),
            subject.size,
        )?;
        let mut guided = GuidedBase::bind(subject, &flesh.tissue, true);
        if let Some(guided) = &mut guided {
            guided.set_floor(Floor::of(subject, simulation.params().floor));
        }
        let guide = guided.as_ref().map(GuidedBase::guide);
        let materials = materials_of(subject, &flesh, &subject.settings.factors(), guide);
        if !materials.is_uniform() {
            simulation.set_materials(&materials)?;
        }
        simulation.set_contacts(contacts(subject, &flesh, params));
        let skeleton = &subject.character.skeleton;
        let virtual_bones = VirtualBones::bind(
            &flesh.tissue,
            &subject.sim().mesh,
            skeleton,
            &flesh.system,
            simulation.params(),
            simulation.materials(),
        );
        let mut bind = Vec::new();
        relative_into(
            &subject.character.skeleton,
            &subject.character.skeleton.bind_transforms(),
            &mut bind,
        );
        Ok(Self {
            subject: subject.clone(),
            simulation,
            virtual_bones,
            guided,
            flesh,
            frame: BaseFrame::default(),
            base,
            base_pose: bind.clone(),
            last_pose: bind.clone(),
            target_pose: bind,
            world: Vec::new(),
            carried: Vec::new(),
            pending_secs: 0.0,
            started: false,
            last_good: position,
            times: StepTimes::default(),
            still_steps: 0,
            calm_steps: 0,
            seated: false,
            reseat: None,
            fading: None,
            device_link: None,
            fault: None,
        })
    }

    /// The simulation, for inspection. While a device makes the steps, it holds the state of the last upload.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The guide of the base; `None` if the base follows the bones.
    pub(super) fn guide(&self) -> Option<&Guide> {
        self.guided.as_ref().map(GuidedBase::guide)
    }

    /// Whether virtual bones carry joints, so that [`Projective::carried_joints`] are known only after the step.
    pub(super) fn carries_joints(&self) -> bool {
        self.virtual_bones.is_some() && self.guided.is_some()
    }

    /// Computes [`Projective::carried_joints`].
    pub(super) fn carry_joints(&mut self, world_from_joint: &[Affine]) {
        match (&self.virtual_bones, &self.guided) {
            (Some(bones), Some(_)) => bones.carry_joints(world_from_joint, &mut self.carried),
            _ => self.carried.clear(),
        }
    }

    /// The transforms of joints that the skin follows in this pose: of guided flesh, those of virtual bones are where these are.
    pub(super) fn carried_joints<'a>(&'a self, world_from_joint: &'a [Affine]) -> &'a [Affine] {
        if self.carried.is_empty() {
            world_from_joint
        } else {
            &self.carried
        }
    }

    /// The guide transforms of a pose, if the last step was made in it.
    pub(super) fn guide_frame_of(&self, world_from_joint: &[Affine]) -> Option<&GuideFrame> {
        self.guided.as_ref()?.frame_of(world_from_joint)
    }

    /// Whether the base follows the skin's weights.
    #[must_use]
    pub fn is_guided(&self) -> bool {
        self.guided.is_some()
    }

    /// Whether the flesh is asleep: it does not move until the bones or the parameters change.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.still_steps >= STEPS_TO_SLEEP && !self.is_reseating()
    }

    /// Deepest self-penetration of the skin, whether collisions are on or not; `None` if there is no pose yet.
    #[must_use]
    pub fn penetration(&self) -> Option<Penetration> {
        if self.frame.bones().is_empty() {
            return None;
        }
        let body = match self.simulation.contacts() {
            Some(contacts) => contacts.body().clone(),
            None => Arc::new(CollisionBody::new(
                &self.subject.sim().mesh,
                &self.flesh.tissue,
            )),
        };
        let mut foot_points = PosedFootPoints::at_rest(&body);
        foot_points.update(&body, self.frame.bones());
        let positions = if self.is_on_device() {
            &self.last_good[..]
        } else {
            self.simulation.positions()
        };
        Some(deepest_penetration(
            &body,
            positions,
            &foot_points,
            &mut Detector::default(),
        ))
    }

    /// Time spent in each part of the last frame.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }

    /// Places the base in the pose at the fraction `between` from the last frame to the current one; `None` is exactly
    /// the current pose. Returns the last change of the virtual bones, 0 after a time step.
    fn place_base(&mut self, between: Option<f64>, target: &[Affine], motion: FollowMode) -> f64 {
        let start = Instant::now();
        // A device places its base itself, unless the contacts of the CPU modify it.
        let there = matches!(motion, FollowMode::Step)
            && self.is_on_device()
            && (self.simulation.contacts().is_none() || self.does_device_find_contacts());
        let world = match between {
            None => {
                self.base_pose.clone_from(&self.target_pose);
                target
            }
            Some(t) => {
                self.base_pose.clear();
                self.base_pose.extend(
                    self.last_pose
                        .iter()
                        .zip(&self.target_pose)
                        .map(|(a, b)| a.lerp(b, t)),
                );
                compose(
                    &self.subject.character.skeleton,
                    &self.base_pose,
                    &mut self.world,
                );
                &self.world
            }
        };
        let mut last_change = 0.0;
        if let Some(bones) = &mut self.virtual_bones {
            match motion {
                FollowMode::Step => bones.step(world),
                FollowMode::Relax(iterations) => {
                    last_change = bones.step_quasistatic(world, iterations);
                }
            }
            bones.write_frame(world, &mut self.frame);
        }
        let anchors = &self.flesh.tissue.anchors;
        if let Some(guided) = &mut self.guided {
            anchors.move_volumes(world, &mut self.frame);
            let carried = if let Some(bones) = &self.virtual_bones {
                bones.carry_joints(world, &mut self.carried);
                &self.carried
            } else {
                world
            };
            guided.place(carried, &mut self.base);
            self.simulation
                .set_next_targets(|vertex| guided.target(vertex));
        } else if there {
            anchors.move_volumes(world, &mut self.frame);
        } else {
            anchors.place(world, &mut self.frame, &mut self.base);
        }
        if let Some(contacts) = self.simulation.contacts_mut().filter(|_| !there) {
            contacts.move_foot_points(self.frame.bones());
            if self.guided.is_none() {
                contacts.separate_base(&mut self.base);
            }
        }
        self.times.anchors_ms += start.elapsed().as_secs_f64() * 1e3;
        last_change
    }

    /// Makes one step over the placed base; skipped if the flesh is asleep and the base has not moved.
    fn step_or_sleep(&mut self, deadline: Option<Instant>) {
        let tolerance = SLEEP_TOLERANCE * self.subject.size;
        if self.is_on_device() {
            match self.step_on_device(tolerance) {
                Ok(()) => return,
                Err(DeviceError::Crowded) => self.sync_from_device(),
                Err(error) => self.fall_back_to_cpu(error),
            }
            if !self.started {
                return;
            }
        }
        let motion = self
            .base
            .iter()
            .zip(self.simulation.base())
            .map(|(new, old)| (new - old).abs().max())
            .fold(0.0, f32::max);
        let moved = motion > tolerance;
        if !moved && self.still_steps >= STEPS_TO_SLEEP {
            return;
        }
        let calm = CALM_TOLERANCE * self.subject.size;
        self.seated &= motion <= calm;
        let start = Instant::now();
        let report = self.simulation.step_until(&self.base, deadline);
        if let Some(guided) = &mut self.guided {
            let contacts = self.simulation.contacts().map(Contacts::contacts);
            guided.update_volume(self.simulation.positions(), contacts.unwrap_or_default());
        }
        self.times.iterations += report.iterations as u32;
        self.times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        self.still_steps = if moved || report.max_displacement > tolerance {
            0
        } else {
            self.still_steps + 1
        };
        self.count_calm_step(motion.max(report.max_displacement) <= calm);
        self.times.local_ms += report.local_ms;
        self.times.global_ms += report.global_ms;
        self.reseat_if_calm();
    }

    fn advance(&mut self, frame: &Frame<'_>) -> Result<(), FactorError> {
        let step = self.simulation.params().time_step_secs;
        let (start, budget_ms) = (Instant::now(), self.simulation.params().budget_ms);
        let earlier = self.pending_secs;
        self.pending_secs += frame.dt_secs;
        let steps = ((self.pending_secs + 1e-9) / step).floor() as u32;
        for k in 1..=steps {
            if self.step_reseat(frame.world_from_joint)? {
                continue;
            }
            // The frame's pose is reached `dt` after the last one; this step ends at k h − `earlier` after it.
            let t = ((f64::from(k) * step - earlier) / frame.dt_secs).clamp(0.0, 1.0);
            let next = self
                .last_pose
                .iter()
                .zip(&self.target_pose)
                .map(|(a, b)| a.lerp(b, t));
            let jumps = largest_turn(&self.base_pose, next) > JUMP_RAD;
            if self.guided.is_none() && jumps {
                self.solve_from_bind(frame.world_from_joint)?;
                self.still_steps = 0;
                continue;
            }
            let motion = if jumps {
                FollowMode::Relax(JUMP_ITERATIONS)
            } else {
                FollowMode::Step
            };
            self.place_base((t < 1.0).then_some(t), frame.world_from_joint, motion);
            // Every step of the frame gets the same share of the time budget.
            let share = |ms: f64| {
                start + Duration::from_secs_f64(ms * 1e-3 * f64::from(k) / f64::from(steps))
            };
            self.step_or_sleep(budget_ms.map(share));
            if !self.started {
                // The device failed and its state was lost.
                return self.settle(frame.world_from_joint);
            }
        }
        self.times.steps = steps;
        self.pending_secs -= f64::from(steps) * step;
        self.last_pose.clone_from(&self.target_pose);
        Ok(())
    }
}

impl Projective {
    /// Advances the state to the frame; the output is not changed.
    ///
    /// # Errors
    /// [`SkinError`].
    pub(super) fn follow(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        check_joints(
            self.subject.character.skeleton.len(),
            frame.world_from_joint,
        )?;
        self.times = StepTimes::default();
        let sound = self.poll();
        relative_into(
            &self.subject.character.skeleton,
            frame.world_from_joint,
            &mut self.target_pose,
        );
        self.end_reseat_if_moved();
        let solved = if frame.dt_secs > 0.0 && self.started {
            self.advance(frame)
        } else {
            self.settle(frame.world_from_joint)
        };
        let finite = self.is_on_device()
            || self
                .simulation
                .positions()
                .iter()
                .all(|p| (p.x + p.y + p.z).is_finite());
        if !sound || solved.is_err() || !finite {
            self.reset();
            return Err(SkinError::Diverged);
        }
        Ok(())
    }

    /// Time from the state to the frame in simulated seconds, by which the output is extrapolated linearly. It avoids
    /// lag, and judder on displays that refresh faster than the step.
    fn ahead_secs(&self) -> f32 {
        let params = self.simulation.params();
        let simulated = params.simulated_step_secs() / params.time_step_secs;
        if self.is_asleep() || self.is_reseating() {
            0.0
        } else {
            (self.pending_secs * simulated) as f32
        }
    }

    /// Writes the skin of the last frame, if the CPU computed it.
    pub(super) fn write(&mut self, out: &mut [Point]) {
        let ahead = self.ahead_secs();
        let velocities = self.simulation.velocities();
        out.par_iter_mut()
            .zip(self.simulation.positions())
            .zip(velocities)
            .with_min_len(MIN_TASK)
            .for_each(|((out, position), velocity)| *out = position + velocity * ahead);
        if let Some(fading) = &self.fading {
            for (vertex, out) in out.iter_mut().enumerate() {
                *out += fading.offset(vertex);
            }
        }
        self.last_good.copy_from_slice(out);
    }
}

impl Projective {
    /// Forgets velocities and warm starts: the next frame is the equilibrium of its pose.
    pub(super) fn reset(&mut self) {
        self.end_reseat();
        self.fading = None;
        self.started = false;
        self.pending_secs = 0.0;
    }
}
