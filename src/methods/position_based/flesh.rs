//! Flesh that follows the frames: a fixed time step with an accumulator, jumps, equilibria, and sleep.

use std::sync::Arc;
use std::time::Instant;

use super::base_motion::{BaseMotion, Follow, SavedMotion};
use super::body::{Body, BodyState};
use super::model::Model;
use super::options::Options;
use super::physics::Setup;
use crate::character::FleshFactors;
use crate::dynamics::{Materials, Params};
use crate::math::{Affine, Point};
use crate::methods::{BindError, Frame, SkinError, StateError, StepTimes};
use crate::param::ParamValues;
use crate::stages::{Flesh, Subject};

/// A joint that turns by more than this in one step is a jump; its inertia is meaningless.
const JUMP_RAD: f64 = 0.6;
/// On the way from the bind pose to another, no joint turns by more than this at once.
const SUBSTEP_RAD: f64 = 0.25;
/// Steps towards the equilibrium there.
const SUBSTEP_STEPS: usize = 6;
/// Steps to an equilibrium at most…
const MAX_STATIC_STEPS: usize = 150;
/// …until none displaces the skin by more than this fraction of the size.
const STATIC_TOLERANCE: f32 = 5e-7;
/// Iterations of virtual bones in a jump, in a round towards their equilibrium, and such rounds at most.
const JUMP_ITERATIONS: usize = 6;
const SETTLING_ITERATIONS: usize = 50;
const SETTLING_ROUNDS: usize = 200;
/// Flesh falls asleep if it moves less than this fraction of the size per step while the base is still…
const SLEEP_TOLERANCE: f32 = 1e-6;
/// …for this many consecutive steps.
const STEPS_TO_SLEEP: u32 = 20;

/// The simulated skin of one character.
pub(super) struct PositionBased {
    subject: Arc<Subject>,
    flesh: Flesh,
    params: Params,
    materials: Materials,
    motion: BaseMotion,
    body: Body,
    /// Time not yet simulated, s.
    pending_secs: f64,
    /// Whether the state continues from an earlier frame.
    started: bool,
    still_steps: u32,
    times: StepTimes,
}

/// All state that the next frame depends on, except for parameters.
#[derive(Clone)]
pub(super) struct SavedState {
    motion: SavedMotion,
    body: BodyState,
    pending_secs: f64,
    started: bool,
    still_steps: u32,
}

impl SavedState {
    /// Approximate memory of its vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        self.motion.heap_bytes() + self.body.heap_bytes()
    }
}

impl PositionBased {
    pub(super) fn bind(
        subject: &Arc<Subject>,
        physics: &Params,
        options: Options,
    ) -> Result<Self, BindError> {
        let flesh = subject.flesh()?;
        let sim = &subject.sim().mesh;
        let params = physics.sanitized();
        let materials = materials_of(subject, flesh, &subject.settings.factors());
        let mut motion = BaseMotion::of(subject, flesh);
        motion.bind_virtual_bones(&params, &materials);
        motion.set_binding(options.bind() > 0.0);
        let interior = flesh.tissue.interior.iter().map(|p| p.cast::<f32>());
        let skin: Vec<Point> = sim.positions.iter().copied().chain(interior).collect();
        let model = Model::of(&flesh.tissue, &skin, &motion.base);
        let setup = Setup {
            params: &params,
            materials: &materials,
            options,
            size: subject.size,
        };
        let body = Body::new(model, &flesh.system, setup, &skin, &motion);
        Ok(Self {
            subject: subject.clone(),
            flesh: flesh.clone(),
            params,
            materials,
            motion,
            body,
            pending_secs: 0.0,
            started: false,
            still_steps: 0,
            times: StepTimes::default(),
        })
    }

    pub(super) fn motion(&mut self) -> &mut BaseMotion {
        &mut self.motion
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    pub(super) fn times(&self) -> StepTimes {
        self.times
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.still_steps >= STEPS_TO_SLEEP
    }

    pub(super) fn set_params(&mut self, params: &Params) {
        self.params = params.sanitized();
        self.update(self.body.options());
    }

    pub(super) fn set_factors(&mut self, factors: &FleshFactors) {
        self.materials = materials_of(&self.subject, &self.flesh, factors);
        self.update(self.body.options());
    }

    pub(super) fn set_values(&mut self, values: &ParamValues) {
        let options = self.body.options().with(values);
        if options != self.body.options() {
            self.motion.set_binding(options.bind() > 0.0);
            self.update(options);
        }
    }

    fn update(&mut self, options: Options) {
        self.still_steps = 0;
        self.motion.set_params(&self.params, &self.materials);
        let setup = Setup {
            params: &self.params,
            materials: &self.materials,
            options,
            size: self.subject.size,
        };
        self.body.set(&self.flesh.system, setup);
    }

    /// Forgets velocities: the next frame is the equilibrium of its pose.
    pub(super) fn reset(&mut self) {
        self.started = false;
        self.pending_secs = 0.0;
    }

    pub(super) fn save(&self) -> SavedState {
        SavedState {
            motion: self.motion.save(),
            body: self.body.save(&self.motion),
            pending_secs: self.pending_secs,
            started: self.started,
            still_steps: self.still_steps,
        }
    }

    pub(super) fn restore(&mut self, saved: &SavedState) -> Result<(), StateError> {
        if !self.body.fits(&saved.body) || !self.motion.fits(&saved.motion) {
            return Err(StateError::OtherCharacter);
        }
        let SavedState { motion, body, .. } = saved;
        self.motion.restore(motion, &body.base, &body.targets);
        // The saved virtual bones contain the parameters of their time.
        self.motion.set_params(&self.params, &self.materials);
        self.body.restore(body, &mut self.motion);
        (self.pending_secs, self.started) = (saved.pending_secs, saved.started);
        self.still_steps = saved.still_steps;
        Ok(())
    }

    /// Advances the state to the frame.
    pub(super) fn follow(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        self.times = StepTimes::default();
        self.motion.set_target(frame.world_from_joint);
        if frame.dt_secs > 0.0 && self.started {
            self.advance(frame);
        } else {
            let start = Instant::now();
            self.settle(frame.world_from_joint);
            self.times.step_ms = start.elapsed().as_secs_f64() * 1e3;
        }
        if self.body.is_finite() {
            return Ok(());
        }
        self.reset();
        Err(SkinError::Diverged)
    }

    /// Writes the simulated skin of the last frame, extrapolated by the time not yet simulated.
    pub(super) fn write(&self, out: &mut [Point]) {
        let simulated = self.params.simulated_step_secs() / self.params.time_step_secs;
        let ahead = if self.is_asleep() {
            0.0
        } else {
            (self.pending_secs * simulated) as f32
        };
        for (unknown, out) in out.iter_mut().enumerate() {
            let velocity = crate::math::Vec3::from(self.body.velocity(unknown));
            *out = self.body.position(unknown) + velocity * ahead;
        }
    }

    fn advance(&mut self, frame: &Frame<'_>) {
        let step = self.params.time_step_secs;
        let earlier = self.pending_secs;
        self.pending_secs += frame.dt_secs;
        let steps = ((self.pending_secs + 1e-9) / step).floor() as u32;
        for k in 1..=steps {
            // The frame's pose is reached `dt` after the last one; this step ends at k h − `earlier` after it.
            let t = ((f64::from(k) * step - earlier) / frame.dt_secs).clamp(0.0, 1.0);
            let jumps = self.motion.turn_to(t) > JUMP_RAD;
            if jumps && !self.motion.is_guided() {
                self.solve_from_bind(frame.world_from_joint);
                self.still_steps = 0;
                continue;
            }
            let follow = if jumps {
                Follow::Relax(JUMP_ITERATIONS)
            } else {
                Follow::Step
            };
            let start = Instant::now();
            self.motion
                .place((t < 1.0).then_some(t), frame.world_from_joint, follow);
            self.times.anchors_ms += start.elapsed().as_secs_f64() * 1e3;
            let start = Instant::now();
            self.step_or_sleep(jumps);
            self.times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        }
        self.times.steps = steps;
        self.pending_secs -= f64::from(steps) * step;
        self.motion.finish_frame();
    }

    /// Makes one step over the placed base; skipped if the flesh is asleep and the base has not moved.
    fn step_or_sleep(&mut self, jumps: bool) {
        let tolerance = SLEEP_TOLERANCE * self.subject.size;
        let bases = self.motion.base.iter().zip(self.body.base());
        let moved = bases
            .into_iter()
            .any(|(new, old)| (new - old).abs().max() > tolerance);
        if !moved && self.is_asleep() {
            return;
        }
        let displaced = self.body.step(&mut self.motion, jumps);
        self.times.iterations += self.body.sweeps();
        self.still_steps = if moved || displaced > tolerance {
            0
        } else {
            self.still_steps + 1
        };
    }

    /// Solves for the equilibrium in the frame's pose, independent of the state before.
    fn settle(&mut self, target: &[Affine]) {
        self.solve_from_bind(target);
        if self.motion.has_virtual_bones() {
            self.settle_virtual_bones(target);
        }
        let tolerance = STATIC_TOLERANCE * self.subject.size;
        self.body
            .relax(&mut self.motion, MAX_STATIC_STEPS, tolerance);
        self.body.finish(&mut self.motion, tolerance);
        self.pending_secs = 0.0;
        self.started = true;
        self.still_steps = STEPS_TO_SLEEP;
    }

    /// From the bind pose to the frame's pose. Guided flesh starts at its targets; flesh on bones walks there in substeps, so that no
    /// tet is inverted on the way.
    fn solve_from_bind(&mut self, target: &[Affine]) {
        let moved = self.motion.restart(target);
        if self.motion.is_guided() {
            self.motion
                .place(None, target, Follow::Relax(SUBSTEP_STEPS));
            self.place_at_targets();
        } else {
            let skin = &self.subject.sim().mesh.positions;
            let carried = |p: &Point| (moved * p.cast::<f64>()).cast::<f32>();
            self.body
                .set_positions(skin.iter().map(carried), &self.motion);
            let substeps = (self.motion.turn_to(1.0) / SUBSTEP_RAD).ceil() as usize;
            for substep in 1..substeps {
                let t = substep as f64 / substeps as f64;
                self.motion
                    .place(Some(t), target, Follow::Relax(SUBSTEP_STEPS));
                self.body.relax(&mut self.motion, SUBSTEP_STEPS, 0.0);
            }
            self.motion
                .place(None, target, Follow::Relax(SUBSTEP_STEPS));
            self.body.relax(&mut self.motion, SUBSTEP_STEPS, 0.0);
        }
        self.motion.finish_frame();
    }

    fn place_at_targets(&mut self) {
        let Self { body, motion, .. } = self;
        let places: Vec<Point> = motion.targets.iter().map(|own| own.position).collect();
        body.set_positions(places.into_iter(), motion);
    }

    /// Moves virtual bones to their equilibrium, and flesh on bones with them.
    fn settle_virtual_bones(&mut self, target: &[Affine]) {
        for _ in 0..SETTLING_ROUNDS {
            let follow = Follow::Relax(SETTLING_ITERATIONS);
            let last_change = self.motion.place(None, target, follow);
            if !self.motion.is_guided() {
                self.body.relax(&mut self.motion, SUBSTEP_STEPS, 0.0);
            }
            if self.motion.is_converged(last_change) {
                break;
            }
        }
        if self.motion.is_guided() {
            self.place_at_targets();
        }
    }
}
/// Materials of the flesh by the settings of bones, and what is painted. These methods have no guidance: flesh is held by its stiffness.
fn materials_of(subject: &Subject, flesh: &Flesh, factors: &FleshFactors) -> Materials {
    let mesh = &subject.sim().mesh;
    let mut materials = Materials::of_bones(&flesh.tissue, mesh, &factors.bones);
    if !factors.paint.is_empty() {
        materials.apply_paint(&factors.paint, &subject.source_from_sim());
        materials.hold_by_stiffness();
    }
    materials.sanitized(flesh.system.unknowns())
}
