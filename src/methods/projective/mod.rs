//! Projective skinning: the simulated flesh follows the bones.
//!
//! A fixed simulation step with an accumulator: the same motion on any display. Between two frames the pose is interpolated joint
//! by joint; a jump is walked in small pieces so that no element is turned inside out on the way. Flesh that does not move over
//! bones that do not move sleeps: it costs nothing and stays exactly where it is.
//!
//! By default the base follows the skin's weights (`guided.rs`), volume that a bend takes away returns around it (`volume.rs`), and no
//! jump needs a walk.
//!
//! The steps may be made by another device ([`super::Device`], `elsewhere.rs`); the ways without inertia (`walk.rs`) are the processor's.

mod elsewhere;
mod guided;
mod method;
mod params;
pub(super) mod poses;
mod saved;
mod volume;
mod walk;
mod walker;

pub(super) use method::METHOD;
pub use walker::{Settled, Walker};

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::elsewhere::Elsewhere;
use self::guided::Guided;
use self::params::contacts;
use self::poses::{compose, largest_turn, relative_into};
use super::check::check_joints;
use super::{BindError, DeviceError, Frame, SkinError, StepTimes};
use crate::collision::{
    CollisionBody, Detector, Penetration, PosedFootPoints, deepest_penetration,
};
use crate::dynamics::{FactorError, Materials, Params, Simulation, VirtualBones};
use crate::math::{Affine, Point};
use crate::rig::Trs;
use crate::stages::{Flesh, Subject};
use crate::tissue::{BaseFrame, Guide, GuideFrame};

/// A single step in which a joint turns by more than this is a jump: its inertia means nothing.
const JUMP_RAD: f64 = 0.6;

/// Flesh that moves less than this part of the size in a step, over a base that stands, falls asleep…
const ASLEEP: f32 = 2e-7;
/// …after so many steps.
const STEPS_TO_SLEEP: u32 = 20;

/// How virtual bones follow the pose.
#[derive(Debug, Clone, Copy)]
enum FollowMode {
    /// By a time step.
    Step,
    /// Towards their equilibrium, by so many iterations.
    Creep(usize),
}

/// The simulated skin of one character; its vertices are those of the simulation mesh.
pub struct Projective {
    subject: Arc<Subject>,
    flesh: Flesh,
    simulation: Simulation,
    virtual_bones: Option<VirtualBones>,
    /// What the base follows, unless that is the bones alone.
    guided: Option<Guided>,
    frame: BaseFrame,
    base: Vec<Point>,
    /// Transforms relative to the parent, of the pose that the base is at, of the last frame's, and of the one asked for.
    at: Vec<Trs>,
    from: Vec<Trs>,
    to: Vec<Trs>,
    world: Vec<Affine>,
    /// Time not yet simulated, s.
    pending_secs: f64,
    /// Whether the state follows from an earlier frame.
    started: bool,
    good: Vec<Point>,
    times: StepTimes,
    /// Steps in a row in which nothing moved; [`STEPS_TO_SLEEP`] means asleep.
    still_steps: u32,
    /// What makes the steps instead of `simulation`, if anything does.
    elsewhere: Option<Elsewhere>,
    /// Why nothing does any more.
    fault: Option<DeviceError>,
}

impl Projective {
    /// Factors and starts at rest in the bind pose.
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
        let materials =
            Materials::of_bones(&flesh.tissue, &subject.sim().mesh, &subject.settings.bones);
        if !materials.is_uniform() {
            simulation.set_materials(&materials)?;
        }
        simulation.set_contacts(contacts(subject, &flesh, params));
        let skeleton = &subject.character.skeleton;
        let virtual_bones =
            VirtualBones::bind(&flesh.tissue, &subject.sim().mesh, skeleton, &simulation);
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
            guided: Guided::bind(subject, &flesh.tissue),
            flesh,
            frame: BaseFrame::default(),
            base,
            at: bind.clone(),
            from: bind.clone(),
            to: bind,
            world: Vec::new(),
            pending_secs: 0.0,
            started: false,
            good: position,
            times: StepTimes::default(),
            still_steps: 0,
            elsewhere: None,
            fault: None,
        })
    }

    /// The simulation inside, to look at. While a device makes the steps, it is where the flesh was when that began.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The guide that the base follows, unless it follows the bones.
    pub(super) fn guide(&self) -> Option<&Guide> {
        self.guided.as_ref().map(Guided::guide)
    }

    /// Its transforms in a pose, if the last step was made there.
    pub(super) fn guide_in(&self, world_from_joint: &[Affine]) -> Option<&GuideFrame> {
        self.guided.as_ref()?.frame_in(world_from_joint)
    }

    /// Whether the base follows the skin's weights.
    #[must_use]
    pub fn is_guided(&self) -> bool {
        self.guided.is_some()
    }

    /// Whether nothing moves any more until the bones or the parameters do.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.still_steps >= STEPS_TO_SLEEP
    }

    /// How far the skin is inside itself now, whether collisions are on or not; `None` if there is no pose yet.
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
            &self.good[..]
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

    /// Where the time of the last frame went.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }

    /// Places the base in the pose between `from` and `to`; `None` is exactly the frame's pose. Returns how far virtual bones still are
    /// from rest.
    fn place_base(&mut self, between: Option<f64>, target: &[Affine], motion: FollowMode) -> f64 {
        let start = Instant::now();
        // A device places its base itself, unless contacts have a say in it.
        let there = matches!(motion, FollowMode::Step)
            && self.is_on_device()
            && self.simulation.contacts().is_none();
        let world = match between {
            None => {
                self.at.clone_from(&self.to);
                target
            }
            Some(t) => {
                self.at.clear();
                self.at
                    .extend(self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t)));
                compose(&self.subject.character.skeleton, &self.at, &mut self.world);
                &self.world
            }
        };
        let mut unrest = 0.0;
        if let Some(bones) = &mut self.virtual_bones {
            match motion {
                FollowMode::Step => bones.step(world),
                FollowMode::Creep(iterations) => unrest = bones.step_quasistatic(world, iterations),
            }
            bones.write_frame(world, &mut self.frame);
        }
        let anchors = &self.flesh.tissue.anchors;
        if let Some(guided) = &mut self.guided {
            anchors.move_volumes(world, &mut self.frame);
            guided.place(world, &mut self.base);
            self.simulation
                .set_next_targets(|vertex| guided.target(vertex));
        } else if there {
            anchors.move_volumes(world, &mut self.frame);
        } else {
            anchors.place(world, &mut self.frame, &mut self.base);
        }
        if let Some(contacts) = self.simulation.contacts_mut() {
            contacts.move_foot_points(self.frame.bones());
            if self.guided.is_none() {
                contacts.separate_base(&mut self.base);
            }
        }
        self.times.anchors_ms += start.elapsed().as_secs_f64() * 1e3;
        unrest
    }

    /// One step over the placed base, unless everything sleeps and the base has not moved.
    fn step_or_sleep(&mut self, deadline: Option<Instant>) {
        let tolerance = ASLEEP * self.subject.size;
        if self.is_on_device() {
            match self.step_there(tolerance) {
                Ok(()) => return,
                Err(DeviceError::Crowded) => self.sync_from_device(),
                Err(error) => self.lose_device(error),
            }
            if !self.started {
                return;
            }
        }
        let moved = self
            .base
            .iter()
            .zip(self.simulation.base())
            .any(|(new, old)| (new - old).abs().max() > tolerance);
        if !moved && self.still_steps >= STEPS_TO_SLEEP {
            return;
        }
        let start = Instant::now();
        let report = self.simulation.step_until(&self.base, deadline);
        if let Some(guided) = &mut self.guided {
            guided.keep_volume(self.simulation.positions());
        }
        self.times.iterations += report.iterations as u32;
        self.times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        self.still_steps = if moved || report.max_displacement > tolerance {
            0
        } else {
            self.still_steps + 1
        };
        self.times.local_ms += report.local_ms;
        self.times.global_ms += report.global_ms;
    }

    fn advance(&mut self, frame: &Frame<'_>) -> Result<(), FactorError> {
        let step = self.simulation.params().time_step_secs;
        let (start, budget_ms) = (Instant::now(), self.simulation.params().budget_ms);
        let earlier = self.pending_secs;
        self.pending_secs += frame.dt_secs;
        let steps = ((self.pending_secs + 1e-9) / step).floor() as u32;
        for k in 1..=steps {
            // The frame's pose stands `dt` after the last one's; this step ends k h − earlier after it.
            let t = ((f64::from(k) * step - earlier) / frame.dt_secs).clamp(0.0, 1.0);
            let next = self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t));
            if self.guided.is_none() && largest_turn(&self.at, next) > JUMP_RAD {
                self.walk(frame.world_from_joint)?;
                self.still_steps = 0;
                continue;
            }
            self.place_base(
                (t < 1.0).then_some(t),
                frame.world_from_joint,
                FollowMode::Step,
            );
            // Every step of the frame gets the same share of its time.
            let share = |ms: f64| {
                start + Duration::from_secs_f64(ms * 1e-3 * f64::from(k) / f64::from(steps))
            };
            self.step_or_sleep(budget_ms.map(share));
            if !self.started {
                // A device took all it knew with it.
                return self.settle(frame.world_from_joint);
            }
        }
        self.times.steps = steps;
        self.pending_secs -= f64::from(steps) * step;
        self.from.clone_from(&self.to);
        Ok(())
    }
}

impl Projective {
    /// Moves the state on to the frame; the output stays what it was.
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
            &mut self.to,
        );
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

    /// Simulated time from the state to the frame. Between two steps the skin goes on as it went: no lag, and no stutter on displays
    /// that are faster than the step.
    fn ahead_secs(&self) -> f32 {
        let params = self.simulation.params();
        let simulated = params.simulated_step_secs() / params.time_step_secs;
        if self.is_asleep() {
            0.0
        } else {
            (self.pending_secs * simulated) as f32
        }
    }

    /// The skin of the frame that was followed last, where the processor made it.
    pub(super) fn write(&mut self, out: &mut [Point]) {
        let ahead = self.ahead_secs();
        for ((out, position), velocity) in out
            .iter_mut()
            .zip(self.simulation.positions())
            .zip(self.simulation.velocities())
        {
            *out = position + velocity * ahead;
        }
        self.good.copy_from_slice(out);
    }
}

impl Projective {
    /// Forgets velocities and warm starts: the next frame is the equilibrium of its pose.
    pub(super) fn reset(&mut self) {
        self.started = false;
        self.pending_secs = 0.0;
    }
}
