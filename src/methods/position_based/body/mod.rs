//! The state of the flesh, and its steps.

mod equilibrium;
mod state;

pub(super) use state::BodyState;

use rayon::prelude::*;

use super::base_motion::BaseMotion;
use super::compliant::Compliant;
use super::model::Model;
use super::options::Options;
use super::physics::{Physics, Setup};
use super::plain::{Plain, per_sweep};
use super::points::{Points, Vector, add, dot, scaled, sub};
use crate::dynamics::{System, Target};
use crate::math::Point;

/// Unknowns per parallel task at least.
const MIN_TASK: usize = 512;
/// Passes of the guard in a step at most. It acts in every step again.
const GUARD_PASSES: usize = 2;
/// Multipliers kept from the step before move a vertex by at most this part of its largest lag.
const MAX_PUSH: f32 = 0.5;

/// Distance and volume constraints, or constraints with compliance.
enum Constraints {
    Plain(Plain),
    Compliant(Compliant),
}

/// Sweeps of a substep: its share of the iterations.
fn sweeps(setup: Setup<'_>) -> u32 {
    setup
        .params
        .iterations
        .div_ceil(setup.options.substeps())
        .max(1)
}

/// Points, constraints and their state.
pub(super) struct Body {
    model: Model,
    points: Points,
    constraints: Constraints,
    physics: Physics,
    options: Options,
    /// Of a substep.
    sweeps: u32,
    /// The step that the constraints are prepared for, s.
    prepared_secs: f64,
    velocity: Vec<Vector>,
    /// Positions at the start of a substep.
    before: Vec<Vector>,
    /// Positions before the multipliers of the step before push them.
    predicted: Vec<Vector>,
    /// Motion of the reference of every unknown in a step.
    carry: Vec<Vector>,
    spring_masses: Vec<f32>,
    /// The prescribed points and the targets that `points` belong to.
    base: Vec<Point>,
    targets: Vec<Target>,
}

/// A substep, or a step to an equilibrium.
#[derive(Debug, Clone, Copy)]
struct Substep {
    secs: f32,
    /// End of the substep as a fraction of the step.
    t: f32,
    /// Its part of the step.
    part: f32,
}

impl Body {
    /// At rest. `skin` are the unknowns at rest.
    pub(super) fn new(
        model: Model,
        system: &System,
        setup: Setup<'_>,
        skin: &[Point],
        motion: &BaseMotion,
    ) -> Self {
        let points = Points::new(model.points());
        let all = [skin, &motion.base].concat();
        let constraints = match setup.options {
            Options::Plain { .. } => Constraints::Plain(Plain::of(&model, &all)),
            Options::Compliant { .. } => Constraints::Compliant(Compliant::of(&model)),
        };
        let unknowns = model.unknowns;
        let mut body = Self {
            physics: Physics::of(&model, system, setup),
            constraints,
            points,
            options: setup.options,
            sweeps: sweeps(setup),
            prepared_secs: f64::NAN,
            velocity: vec![[0.0; 3]; unknowns],
            before: vec![[0.0; 3]; unknowns],
            predicted: vec![[0.0; 3]; unknowns],
            carry: vec![[0.0; 3]; unknowns],
            spring_masses: vec![0.0; unknowns],
            base: motion.base.clone(),
            targets: motion.targets.clone(),
            model,
        };
        body.set_positions(skin.iter().copied(), motion);
        body
    }

    /// Changes everything that does not belong to the state.
    pub(super) fn set(&mut self, system: &System, setup: Setup<'_>) {
        self.physics = Physics::of(&self.model, system, setup);
        self.options = setup.options;
        self.sweeps = sweeps(setup);
        self.prepared_secs = f64::NAN;
    }

    /// Position of an unknown.
    pub(super) fn position(&self, unknown: usize) -> Point {
        self.points.point(unknown)
    }

    /// Velocity of an unknown.
    pub(super) fn velocity(&self, unknown: usize) -> Vector {
        self.velocity[unknown]
    }

    /// Sweeps of a time step.
    pub(super) fn sweeps(&self) -> u32 {
        self.sweeps * self.options.substeps()
    }

    pub(super) fn base(&self) -> &[Point] {
        &self.base
    }

    pub(super) fn options(&self) -> Options {
        self.options
    }

    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    pub(super) fn is_finite(&self) -> bool {
        (0..self.model.unknowns).all(|unknown| {
            let [x, y, z] = self.points.get(unknown as u32);
            (x + y + z).is_finite()
        })
    }

    /// Places unknowns and prescribed points; velocities become zero.
    pub(super) fn set_positions(&mut self, skin: impl Iterator<Item = Point>, motion: &BaseMotion) {
        for (unknown, at) in skin.enumerate() {
            self.points.set_point(unknown, &at);
        }
        self.velocity.fill([0.0; 3]);
        self.base.copy_from_slice(&motion.base);
        self.targets.copy_from_slice(&motion.targets);
        self.move_base(&motion.base, 1.0);
    }

    /// Writes the prescribed points and the unknowns that they carry.
    fn move_prescribed(&self, at: impl Fn(usize) -> Vector) {
        let unknowns = self.model.unknowns as u32;
        for point in 0..self.base.len() {
            self.points.set(unknowns + point as u32, at(point));
        }
        for &[unknown, point] in &self.model.carried {
            self.points.set(unknown, at(point as usize));
        }
    }

    /// Moves the prescribed points to the fraction `t` of their way to `base`.
    fn move_base(&self, base: &[Point], t: f32) {
        self.move_prescribed(|point| {
            let (from, to) = (&self.base[point], &base[point]);
            if t < 1.0 {
                (from + (to - from) * t).into()
            } else {
                (*to).into()
            }
        });
    }

    /// Computes the motion of the references: targets, or base points.
    fn carry(&mut self, motion: &BaseMotion) {
        let (points, model) = (&self.points, &self.model);
        let (targets, base) = (&self.targets, &self.base);
        self.carry
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(unknown, carry)| {
                let own = [targets, &motion.targets].map(|targets| targets.get(unknown));
                *carry = if let [Some(from), Some(to)] = own {
                    let at = points.point(unknown);
                    (to.transport(from, &at) - at).into()
                } else {
                    let point = model.references[unknown] as usize;
                    (motion.base[point] - base[point]).into()
                };
            });
    }

    /// The base and the targets of `motion` become current.
    fn arrive(&mut self, motion: &BaseMotion) {
        self.base.copy_from_slice(&motion.base);
        self.targets.copy_from_slice(&motion.targets);
    }

    /// Prepares the constraints for a step of this length.
    fn prepare(&mut self, secs: f64) {
        if self.prepared_secs == secs {
            return;
        }
        self.prepared_secs = secs;
        if let (Constraints::Compliant(own), Options::Compliant { volume, .. }) =
            (&mut self.constraints, self.options)
        {
            own.prepare(&self.model, &self.physics.weights(volume), secs);
        }
        let bind = self.options.bind();
        self.physics
            .spring_masses(bind, secs, &mut self.spring_masses);
    }

    /// One time step to the base of `motion`; `anew` after a jump, when what the constraints did before means nothing. Returns the largest displacement of an unknown relative to its reference, world units.
    pub(super) fn step(&mut self, motion: &mut BaseMotion, anew: bool) -> f32 {
        let substeps = self.options.substeps();
        let secs = self.physics.step_secs / f64::from(substeps);
        self.prepare(secs);
        self.carry(motion);
        let mut moved = 0.0;
        for k in 1..=substeps {
            let substep = Substep {
                secs: secs as f32,
                t: k as f32 / substeps as f32,
                part: 1.0 / substeps as f32,
            };
            self.predict(substep);
            self.move_base(&motion.base, substep.t);
            self.begin(motion, anew && k == 1);
            for _ in 0..self.sweeps {
                self.sweep(motion, substep.t, self.sweeps);
            }
            if k == substeps {
                self.guard(GUARD_PASSES);
            }
            moved += self.update_velocities(substep);
        }
        self.arrive(motion);
        moved
    }

    /// Moves the unknowns by inertia and gravity; inertia may leave them behind their references by a limited way.
    fn predict(&mut self, substep: Substep) {
        let (points, physics) = (&self.points, &self.physics);
        let is_free = &self.model.is_free;
        let h = substep.secs;
        let gravity: Vector = (physics.gravity * (h * h)).into();
        let (velocity, carry) = (&self.velocity, &self.carry);
        self.before
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(v, before)| {
                let at = points.get(v as u32);
                *before = at;
                if !is_free[v] {
                    return;
                }
                let own = scaled(velocity[v], h);
                let carried = scaled(carry[v], substep.part);
                let lag = sub(own, carried);
                let most = physics.max_lag[v] * substep.part;
                let length = dot(lag, lag).sqrt();
                let limited = if length > most && substep.part > 0.0 {
                    add(carried, scaled(lag, most / length))
                } else {
                    own
                };
                let fall = scaled(gravity, physics.gravity_scale[v]);
                points.set(v as u32, add(at, add(limited, fall)));
            });
    }

    /// Velocities of a substep, with damping and the speed limit relative to the references. Returns the largest displacement relative to
    /// these.
    fn update_velocities(&mut self, substep: Substep) -> f32 {
        let (points, physics, carry) = (&self.points, &self.physics, &self.carry);
        let h = substep.secs;
        let before = &self.before;
        self.velocity
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .map(|(v, velocity)| {
                let carried = scaled(carry[v], substep.part / h);
                let now = scaled(sub(points.get(v as u32), before[v]), 1.0 / h);
                let relative = sub(now, carried);
                let speed = dot(relative, relative).sqrt();
                let damping = (-physics.damping_per_s[v] * h).exp();
                let limit = (physics.max_speed / speed).min(1.0);
                *velocity = add(carried, scaled(relative, damping * limit));
                speed * h
            })
            .reduce(|| 0.0, f32::max)
    }

    /// Starts a step of constraints with compliance, from the predicted positions and the multipliers of the step before: the points move
    /// where these push them. With `anew` all multipliers start at zero.
    fn begin(&mut self, motion: &mut BaseMotion, anew: bool) {
        let Constraints::Compliant(own) = &mut self.constraints else {
            return;
        };
        if anew {
            own.begin();
        }
        if let Some(binding) = &mut motion.binding
            && anew
        {
            binding.begin();
        }
        if anew {
            return;
        }
        let (points, physics) = (&self.points, &self.physics);
        self.predicted
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(v, predicted)| *predicted = points.get(v as u32));
        own.push(points);
        if let Some(binding) = &motion.binding {
            binding.push(points, &self.spring_masses);
        }
        self.predicted
            .par_iter()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(v, predicted)| {
                let way = sub(points.get(v as u32), *predicted);
                let (length, most) = (dot(way, way).sqrt(), MAX_PUSH * physics.max_lag[v]);
                if length > most {
                    let limited = add(*predicted, scaled(way, most / length));
                    points.set(v as u32, limited);
                }
            });
    }

    fn sweep(&mut self, motion: &mut BaseMotion, t: f32, sweeps: u32) {
        let binding = motion.binding.as_mut();
        match (&mut self.constraints, self.options) {
            (Constraints::Plain(own), Options::Plain { stiffness, bind }) => {
                own.set_stiffness(stiffness.map(|k| per_sweep(k, sweeps)));
                let masses = &self.physics.inverse_masses;
                if let Some(binding) = binding {
                    binding.sweep_plain(&self.points, masses, t, per_sweep(bind, sweeps));
                }
                own.sweep(&self.points, masses);
            }
            (Constraints::Compliant(own), _) => {
                if let Some(binding) = binding {
                    binding.sweep_compliant(&self.points, &self.spring_masses, t);
                }
                own.sweep(&self.points);
            }
            (Constraints::Plain(_), _) => {}
        }
    }

    /// Opens inverted tets, if the method does so, in at most so many passes.
    fn guard(&self, passes: usize) {
        if let (Constraints::Compliant(own), Options::Compliant { guard: true, .. }) =
            (&self.constraints, self.options)
        {
            for _ in 0..passes {
                if own.guard(&self.points) == 0 {
                    break;
                }
            }
        }
    }

    /// det F of every tet of the model.
    pub(super) fn volume_ratios(&self) -> impl Iterator<Item = f64> + '_ {
        self.model.tets.iter().map(|tet| {
            let at = |k: usize| self.points.point(tet.corners[k] as usize).cast::<f64>();
            let edges = [1, 2, 3].map(|k| at(k) - at(0));
            (nalgebra::Matrix3::from_columns(&edges) * tet.inverse).determinant()
        })
    }
}
