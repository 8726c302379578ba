//! The state of one simulated skin, and its steps.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::anderson::Anderson;
use super::contacts::{Contacts, Factor};
use super::global::{Cholesky, FactorError, GlobalSolver};
use super::local::Forces;
use super::{Collisions, Params, System};
use crate::math::{Point, Vec3};

/// "Time step" of the solve for an equilibrium, s: so long that inertia plays no part.
const STATIC_STEP_SECS: f64 = 100.0;
/// An equilibrium is reached when no vertex moves farther in an iteration than this part of the size…
const STILL: f32 = 1e-8;
/// …or when so many iterations brought nothing…
const PATIENCE: usize = 60;
/// …or after this many.
const MAX_STATIC_ITERATIONS: usize = 1500;
/// No vertex is faster relative to its base than this many sizes a second: a jump of the pose must not shoot the skin away.
const MAX_SPEED_SIZES_PER_S: f32 = 8.0;
/// An equilibrium looks for contacts anew after so many iterations.
const CONTACT_REFRESH: usize = 8;
/// Vertices that one task handles.
const TASK: usize = 512;

/// What a step did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepReport {
    /// Milliseconds in local steps.
    pub local_ms: f64,
    /// Milliseconds in global steps, with the gathering of the right-hand side.
    pub global_ms: f64,
    /// Local/global iterations done.
    pub iterations: usize,
    /// How far the vertex that moved most in the last iteration went, world units.
    pub last_change: f32,
    /// How far the vertex that moved most relative to its base went in the whole step, world units.
    pub farthest: f32,
}

/// Positions and velocities of the skin over a moving base, with everything a step needs.
pub struct Simulation {
    system: Arc<System>,
    params: Params,
    dynamic: Cholesky,
    /// Factored when first asked for.
    equilibrium: Option<Cholesky>,
    /// M/h² of the dynamic step.
    inertia: Vec<f32>,
    size: f32,
    state: State,
    scratch: Scratch,
    /// None while parts pass through each other.
    contacts: Option<Contacts>,
}

#[derive(Clone)]
struct State {
    position: Vec<Point>,
    velocity: Vec<Vec3>,
    base: Vec<Point>,
}

#[derive(Default)]
struct Scratch {
    forces: Forces,
    /// Right-hand side and solution: x, y, z and a pad.
    residual: Vec<[f32; 4]>,
    predicted: Vec<Point>,
    before: Vec<Point>,
    base_velocity: Vec<Vec3>,
}

impl Simulation {
    /// Factors the system and starts at rest with the given skin over the given base, as [`crate::tissue::Anchors::place`] gives it.
    ///
    /// # Errors
    /// [`FactorError`] if the matrix is not positive definite.
    pub fn new(system: Arc<System>, params: &Params, position: Vec<Point>, base: Vec<Point>, size: f32) -> Result<Self, FactorError> {
        let params = params.sanitized();
        let dynamic = Cholesky::factor(&system.matrix(&params, params.simulated_step_secs()))?;
        let velocity = vec![Vec3::zeros(); position.len()];
        let inertia = inertia(&system, &params);
        let state = State { position, velocity, base };
        Ok(Self { system, params, dynamic, equilibrium: None, inertia, size, state, scratch: Scratch::default(), contacts: None })
    }

    /// The skin, world space.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.state.position
    }

    /// The base under it, and after it the places of the loose vertices.
    #[must_use]
    pub fn base(&self) -> &[Point] {
        &self.state.base
    }

    /// Skin velocities, world units per simulated second.
    #[must_use]
    pub fn velocities(&self) -> &[Vec3] {
        &self.state.velocity
    }

    /// Lets parts of the skin collide, or no more.
    pub fn set_contacts(&mut self, contacts: Option<Contacts>) {
        self.contacts = contacts;
    }

    /// The contacts, if parts collide.
    #[must_use]
    pub fn contacts(&self) -> Option<&Contacts> {
        self.contacts.as_ref()
    }

    /// The contacts, to move what they are found by.
    pub fn contacts_mut(&mut self) -> Option<&mut Contacts> {
        self.contacts.as_mut()
    }

    /// The parameters in force.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Non-zero entries are those of the lower triangle.
    #[must_use]
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Puts the skin somewhere, without velocity.
    ///
    /// # Panics
    /// If the slices have other lengths than the system.
    pub fn place(&mut self, position: &[Point], base: &[Point]) {
        self.state.position.copy_from_slice(position);
        self.state.base.copy_from_slice(base);
        self.state.velocity.fill(Vec3::zeros());
        if let Some(contacts) = &mut self.contacts {
            contacts.clear();
        }
    }

    /// Changes parameters. Refactors numerically when a number of the matrix changes; the state stays.
    ///
    /// # Errors
    /// [`FactorError`]; the old parameters then stay.
    pub fn set_params(&mut self, params: &Params) -> Result<(), FactorError> {
        let params = params.sanitized();
        let same_matrix = Params { damping_per_s: 0.0, gravity_m_s2: [0.0; 3], iterations: 1, collisions: Collisions::Off, ..params }
            == Params { damping_per_s: 0.0, gravity_m_s2: [0.0; 3], iterations: 1, collisions: Collisions::Off, ..self.params };
        if !same_matrix {
            self.dynamic.refactor(&self.system.matrix(&params, params.simulated_step_secs()))?;
            self.equilibrium = None;
            self.inertia = inertia(&self.system, &params);
            if let Some(contacts) = &mut self.contacts {
                contacts.set_params(&self.system, &params);
            }
        }
        self.params = params;
        Ok(())
    }

    /// One time step: the base moves to `base`, the skin follows.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step(&mut self, base: &[Point]) -> StepReport {
        let h = self.params.simulated_step_secs() as f32;
        let gravity = self.gravity() * (h * h);
        let damping = (-self.params.damping_per_s * self.params.simulated_step_secs()).exp() as f32;
        let fastest = MAX_SPEED_SIZES_PER_S * self.size * (self.params.time_step_secs as f32 / h);
        let State { position, velocity, base: old_base } = &mut self.state;
        let scratch = &mut self.scratch;
        scratch.prepare(position.len());
        scratch.before.copy_from_slice(position);
        for v in 0..position.len() {
            // Guess: carried along by the base, with what it had of its own motion. The minimiser does not depend on the guess.
            let carried = base[v] - old_base[v];
            let own = velocity[v] * h - scratch.base_velocity[v] * h;
            scratch.predicted[v] = position[v] + velocity[v] * h + gravity;
            position[v] += carried + own;
            scratch.base_velocity[v] = carried / h;
        }
        old_base.copy_from_slice(base);
        let mut report = StepReport::default();
        if let Some(contacts) = &mut self.contacts {
            contacts.begin(position, &mut self.dynamic, Factor::Dynamic);
        }
        for _ in 0..self.params.iterations {
            let contacts = self.contacts.as_mut();
            let change =
                iterate(&self.system, &self.params, &mut self.dynamic, &self.inertia, &mut self.state, scratch, contacts, &mut report);
            report.last_change = change;
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.end(&self.state.position);
        }
        let State { position, velocity, .. } = &mut self.state;
        for v in 0..position.len() {
            let relative = (position[v] - scratch.before[v]) / h - scratch.base_velocity[v];
            let speed = relative.norm();
            report.farthest = report.farthest.max(speed * h);
            let kept = if speed > fastest { damping * fastest / speed } else { damping };
            velocity[v] = scratch.base_velocity[v] + relative * kept;
        }
        report
    }

    /// Follows the base to `base` without inertia: a few iterations towards the equilibrium there, no velocity kept. For ramps.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn creep(&mut self, base: &[Point], iterations: usize) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        for (v, position) in self.state.position.iter_mut().enumerate() {
            *position += base[v] - self.state.base[v];
        }
        self.state.base.copy_from_slice(base);
        Ok(self.relax(iterations, 0.0))
    }

    /// The equilibrium over the present base: iterates until nothing moves any more, then stands still.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn settle(&mut self) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let report = self.relax(MAX_STATIC_ITERATIONS, STILL * self.size);
        self.scratch.base_velocity.fill(Vec3::zeros());
        Ok(report)
    }

    fn factor_equilibrium(&mut self) -> Result<(), FactorError> {
        if self.equilibrium.is_none() {
            self.equilibrium = Some(Cholesky::factor(&self.system.matrix(&self.params, STATIC_STEP_SECS))?);
        }
        Ok(())
    }

    fn relax(&mut self, iterations: usize, still: f32) -> StepReport {
        let mut report = StepReport::default();
        self.scratch.prepare(self.state.position.len());
        self.state.velocity.fill(Vec3::zeros());
        let h2 = (STATIC_STEP_SECS * STATIC_STEP_SECS) as f32;
        let own_h = self.params.simulated_step_secs() as f32;
        // Weight without inertia: y − x = h² g, whatever h is.
        let gravity = self.gravity() * h2;
        let inertia: Vec<f32> = self.inertia.iter().map(|i| i * own_h * own_h / h2).collect();
        let Some(solver) = self.equilibrium.as_mut() else { return report };
        let mut anderson = Anderson::default();
        let (mut best, mut since_best) = (f32::INFINITY, 0);
        for iteration in 0..iterations {
            if let Some(contacts) = &mut self.contacts
                && iteration % CONTACT_REFRESH == 0
                && contacts.begin(&self.state.position, solver, Factor::Static)
            {
                anderson = Anderson::default();
                (best, since_best) = (f32::INFINITY, 0);
            }
            self.scratch.before.copy_from_slice(&self.state.position);
            for (predicted, position) in self.scratch.predicted.iter_mut().zip(&self.state.position) {
                *predicted = position + gravity;
            }
            let contacts = self.contacts.as_mut();
            let change = iterate(&self.system, &self.params, solver, &inertia, &mut self.state, &mut self.scratch, contacts, &mut report);
            report.last_change = change;
            since_best = if change < 0.9 * best { 0 } else { since_best + 1 };
            best = best.min(change);
            if change <= still || since_best > PATIENCE {
                break;
            }
            anderson.accelerate(&self.scratch.before, &mut self.state.position);
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.end(&self.state.position);
        }
        report
    }

    fn gravity(&self) -> Vec3 {
        let unit = self.system.unit(&self.params);
        Vec3::from(self.params.gravity_m_s2.map(|g| (g / unit) as f32))
    }

    /// E(x) of the step from `before` to the present state, J up to the unit of length: what every iteration must lower.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let elastic = self.system.blocks.energy(&self.state.position, &self.state.base) * self.system.stiffness_scale(&self.params);
        let inertial: f64 = self
            .state
            .position
            .iter()
            .zip(&self.scratch.predicted)
            .zip(&self.inertia)
            .map(|((x, y), inertia)| 0.5 * f64::from(*inertia) * f64::from((x - y).norm_squared()))
            .sum();
        let contact = self.contacts.as_ref().map_or(0.0, |contacts| contacts.energy(&self.state.position));
        elastic + inertial + contact
    }
}

impl Scratch {
    fn prepare(&mut self, n: usize) {
        self.residual.resize(n, [0.0; 4]);
        self.predicted.resize(n, Point::origin());
        self.before.resize(n, Point::origin());
        self.base_velocity.resize(n, Vec3::zeros());
    }
}

fn inertia(system: &System, params: &Params) -> Vec<f32> {
    let h = params.simulated_step_secs();
    system.masses(params).iter().map(|m| (m / (h * h)) as f32).collect()
}

/// One local and one global step; how far the vertex that moved most went.
#[expect(clippy::too_many_arguments, reason = "the parts of a simulation, borrowed one by one")]
fn iterate(
    system: &System,
    params: &Params,
    solver: &mut dyn GlobalSolver,
    inertia: &[f32],
    state: &mut State,
    scratch: &mut Scratch,
    contacts: Option<&mut Contacts>,
    report: &mut StepReport,
) -> f32 {
    let start = Instant::now();
    system.blocks.forces(&state.position, &state.base, &mut scratch.forces);
    let middle = Instant::now();
    let n = state.position.len();
    let stiffness = system.stiffness_scale(params) as f32;
    let (forces, predicted, position) = (&scratch.forces, &scratch.predicted, &state.position);
    scratch.residual.par_chunks_mut(TASK).enumerate().for_each(|(task, residuals)| {
        for (k, residual) in residuals.iter_mut().enumerate() {
            let v = task * TASK + k;
            let sum = (predicted[v] - position[v]) * inertia[v] + system.blocks.force_on(v, forces) * stiffness;
            *residual = [sum.x, sum.y, sum.z, 0.0];
        }
    });
    for (&vertex, place) in system.loose.iter().zip(&state.base[n..]) {
        let v = vertex as usize;
        let pull = (place - state.position[v]) * (system.tie as f32 * stiffness);
        for (lane, pull) in scratch.residual[v].iter_mut().zip(pull.iter()) {
            *lane += pull;
        }
    }
    match contacts {
        Some(contacts) => contacts.solve(&state.position, &mut scratch.residual, solver),
        None => solver.solve(&mut scratch.residual),
    }
    let mut farthest = 0.0_f32;
    for (position, [x, y, z, _]) in state.position.iter_mut().zip(&scratch.residual) {
        let change = Vec3::new(*x, *y, *z);
        *position += change;
        farthest = farthest.max(change.norm_squared());
    }
    report.iterations += 1;
    report.local_ms += (middle - start).as_secs_f64() * 1e3;
    report.global_ms += middle.elapsed().as_secs_f64() * 1e3;
    farthest.sqrt()
}
