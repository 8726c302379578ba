//! Time steps, and the solve for an equilibrium.

use std::time::Instant;

use super::{Simulation, StepReport, slot};
use crate::dynamics::contacts::FactorKind;
use crate::dynamics::guidance::Target;
use crate::dynamics::iterations::{IterationParams, IterationState, IterationStats};
use crate::dynamics::rows::Rows;
use crate::dynamics::solver::IterationContacts;
use crate::dynamics::system::System;
use crate::math::Point;
use crate::numerics::lanes::{Padded, add, dot, scaled, sub};
use crate::numerics::partition::for_each_subdomain;
use crate::numerics::tiles::TiledFactor;
use crate::numerics::{FactorError, in_pool};

/// Time step of the solve for an equilibrium, s: so long that inertia is negligible.
const STATIC_STEP_SECS: f64 = 100.0;
/// The solve for an equilibrium ends when no vertex moves more than this fraction of the size in an iteration.
const STATIC_TOLERANCE: f32 = 1e-8;
/// It also ends when this many iterations did not decrease the largest change.
const PATIENCE: usize = 60;
/// Largest number of iterations of the solve for an equilibrium.
const MAX_STATIC_ITERATIONS: usize = 1500;
/// The iterations of a step of guided flesh end when no vertex moves more than this fraction of the size in one. Each iteration
/// reduces the remaining error by a factor of about eight.
const STEP_TOLERANCE: f32 = 2e-5;
/// Number of differences of Anderson acceleration in the solve for an equilibrium.
const STATIC_MEMORY: usize = 6;

/// A solve for an equilibrium that is made in parts, see [`Simulation::settle_part`].
#[derive(Default)]
pub struct Settling {
    /// `None` before the first part.
    iterations: Option<IterationState>,
}

impl Simulation {
    /// One time step: the base moves to `base`, and the skin follows.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step(&mut self, base: &[Point]) -> StepReport {
        self.step_until(base, None)
    }

    /// As [`Simulation::step`], but starts no iteration after `deadline`, except the first one.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step_until(&mut self, base: &[Point], deadline: Option<Instant>) -> StepReport {
        let h = self.params.simulated_step_secs() as f32;
        let gravity = slot(&(self.gravity() * (h * h)));
        let max_speed = self.max_speed();
        let iterations = self.params.iterations as usize;
        let memory = self.params.acceleration as usize;
        self.in_pool(|simulation| {
            let motion = ReferenceMotion {
                system: &simulation.system,
                targets: [&simulation.targets, &simulation.next_targets],
                base: [&simulation.base, base],
            };
            let predicted =
                |rows: &mut Rows, unknowns: &[u32]| predict(rows, unknowns, &motion, gravity, h);
            let partition = &simulation.system.partition;
            for_each_subdomain(&mut simulation.solver.subdomains, 0, &|index, state| {
                predicted(&mut state.rows, &partition.subdomains[index].unknowns);
            });
            predicted(&mut simulation.solver.top, &partition.top);
            simulation.move_base(base);
            if let Some(contact_solver) = &mut simulation.contact_solver {
                let partition = &simulation.system.partition;
                simulation
                    .solver
                    .copy_positions(partition, &mut simulation.position);
                contact_solver.begin(
                    partition,
                    &simulation.dynamic_factor,
                    FactorKind::Dynamic,
                    &simulation.position,
                );
            }
            let tolerance = if simulation.is_guided() {
                STEP_TOLERANCE * simulation.size
            } else {
                0.0
            };
            let limits = Limits {
                iterations,
                tolerance,
                deadline,
                ..Limits::default()
            };
            let stats = simulation.iterate(
                SolveMode::Dynamic,
                &limits,
                &mut IterationState::new(memory),
            );
            for_each_subdomain(&mut simulation.solver.subdomains, 0, &|_, state| {
                state.max_displacement = update_velocities(&mut state.rows, h, max_speed);
            });
            let top = update_velocities(&mut simulation.solver.top, h, max_speed);
            simulation.read_solver_state();
            if let Some(contact_solver) = &mut simulation.contact_solver {
                contact_solver.contacts.end(&simulation.position);
            }
            let max_displacement = simulation
                .solver
                .subdomains
                .iter()
                .fold(top, |most, part| most.max(part.max_displacement));
            StepReport {
                max_displacement,
                ..report(&stats)
            }
        })
    }

    /// Quasi-static step: moves the base to `base` and makes a few iterations towards the equilibrium there, without inertia.
    /// Velocities become zero. Used to approach a pose in small increments.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn step_quasistatic(
        &mut self,
        base: &[Point],
        iterations: usize,
    ) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let partition = &self.system.partition;
        let motion = ReferenceMotion {
            system: &self.system,
            targets: [&self.targets, &self.next_targets],
            base: [&self.base, base],
        };
        let carry = |rows: &mut Rows, unknowns: &[u32]| {
            for (row, &unknown) in unknowns.iter().enumerate() {
                rows.x[row] = add(rows.x[row], motion.displacement(unknown, rows.x[row]));
            }
        };
        for (state, part) in self.solver.subdomains.iter_mut().zip(&partition.subdomains) {
            carry(&mut state.rows, &part.unknowns);
        }
        carry(&mut self.solver.top, &partition.top);
        self.move_base(base);
        Ok(self.relax(iterations))
    }

    /// Solves for the equilibrium over the current base. Velocities become zero.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn settle(&mut self) -> Result<StepReport, FactorError> {
        let mut settling = Settling::default();
        loop {
            if let Some(report) = self.settle_part(&mut settling, usize::MAX)? {
                return Ok(report);
            }
        }
    }

    /// Makes at most this many further iterations of [`Simulation::settle`]. Returns its report with the last part, and `None`
    /// before. The result does not depend on the parts. Until the last one, positions by vertex are those of before; the state must
    /// not be used otherwise.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn settle_part(
        &mut self,
        settling: &mut Settling,
        iterations: usize,
    ) -> Result<Option<StepReport>, FactorError> {
        self.factor_equilibrium()?;
        let limits = Limits {
            iterations: MAX_STATIC_ITERATIONS,
            pause_after: iterations,
            tolerance: STATIC_TOLERANCE * self.size,
            ..Limits::default()
        };
        let state = match &mut settling.iterations {
            Some(state) => state,
            none => {
                self.clear_velocities();
                none.insert(IterationState::new(STATIC_MEMORY))
            }
        };
        let positions = self.position.clone();
        let stats =
            self.in_pool(|simulation| simulation.iterate(SolveMode::Static, &limits, state));
        if !state.finished {
            self.position = positions;
            return Ok(None);
        }
        self.end_static_solve();
        self.for_all_rows(|rows| rows.base_velocity.fill([0.0; 4]));
        Ok(Some(report(&stats)))
    }

    fn relax(&mut self, iterations: usize) -> StepReport {
        self.clear_velocities();
        let limits = Limits {
            iterations,
            ..Limits::default()
        };
        let stats = self.in_pool(|simulation| {
            let mut state = IterationState::new(STATIC_MEMORY);
            simulation.iterate(SolveMode::Static, &limits, &mut state)
        });
        self.end_static_solve();
        report(&stats)
    }

    fn clear_velocities(&mut self) {
        self.for_all_rows(|rows| rows.velocity.fill([0.0; 4]));
    }

    fn end_static_solve(&mut self) {
        self.read_solver_state();
        if let Some(contact_solver) = &mut self.contact_solver {
            contact_solver.contacts.end(&self.position);
        }
    }

    fn for_all_rows(&mut self, change: impl Fn(&mut Rows)) {
        let subdomains = self.solver.subdomains.iter_mut();
        subdomains
            .map(|part| &mut part.rows)
            .chain([&mut self.solver.top])
            .for_each(change);
    }

    fn iterate(
        &mut self,
        mode: SolveMode,
        limits: &Limits,
        state: &mut IterationState,
    ) -> IterationStats {
        let own_h = self.params.simulated_step_secs();
        let (factor, static_gravity) = match (mode, &self.static_factor) {
            (SolveMode::Static, Some(factor)) => (
                factor,
                Some(slot(&(self.gravity() * (own_h * own_h) as f32))),
            ),
            _ => (&self.dynamic_factor, None),
        };
        let redetect = static_gravity.is_some();
        let contacts = self
            .contact_solver
            .as_mut()
            .map(|contact_solver| IterationContacts {
                solver: contact_solver,
                positions: &mut self.position,
                redetect,
            });
        self.solver.iterate(
            &IterationParams {
                system: &self.system,
                factor,
                iterations: limits.iterations,
                pause_after: limits.pause_after,
                memory: match mode {
                    SolveMode::Dynamic => self.params.acceleration as usize,
                    SolveMode::Static => STATIC_MEMORY,
                },
                static_gravity,
                tolerance: limits.tolerance,
                patience: PATIENCE,
                deadline: limits.deadline,
            },
            state,
            contacts,
        )
    }

    fn factor_equilibrium(&mut self) -> Result<(), FactorError> {
        if self.static_factor.is_none() {
            self.static_factor = Some(TiledFactor::of(
                &self.system.partition,
                &self
                    .system
                    .matrix(&self.params, &self.materials, STATIC_STEP_SECS),
            )?);
        }
        Ok(())
    }

    /// Runs `work` inside the thread pool if there is something to do in parallel.
    fn in_pool<R: Send>(&mut self, work: impl FnOnce(&mut Self) -> R + Send) -> R {
        if self.solver.subdomains.len() < 2 {
            work(self)
        } else {
            in_pool(|| work(self))
        }
    }
}

/// Motion of the references of unknowns in a step: their guidance targets, or their base points without guidance.
struct ReferenceMotion<'a> {
    system: &'a System,
    /// Before and after the step; empty without guidance.
    targets: [&'a [Target]; 2],
    base: [&'a [Point]; 2],
}

impl ReferenceMotion<'_> {
    /// Displacement of an unknown at `x` that moves with its target, or else with its base point.
    fn displacement(&self, unknown: u32, x: Padded) -> Padded {
        let unknown = unknown as usize;
        let [from, to] = self.targets.map(|targets| targets.get(unknown));
        if let (Some(from), Some(to)) = (from, to) {
            let point = Point::new(x[0], x[1], x[2]);
            return slot(&(to.transport(from, &point) - point));
        }
        let point = self.system.references[unknown] as usize;
        slot(&(self.base[1][point] - self.base[0][point]))
    }
}

/// Where iterations end, see [`IterationParams`].
struct Limits {
    iterations: usize,
    pause_after: usize,
    tolerance: f32,
    deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iterations: 0,
            pause_after: usize::MAX,
            tolerance: 0.0,
            deadline: None,
        }
    }
}

/// Which inertial term an iteration uses.
#[derive(Clone, Copy)]
enum SolveMode {
    /// M/h² (y − x).
    Dynamic,
    /// Gravity only.
    Static,
}

/// Sets the inertial prediction and the initial guess: the displacement of the reference, plus the vertex's own relative velocity
/// times h. The minimiser does not depend on the guess.
fn predict(
    rows: &mut Rows,
    unknowns: &[u32],
    motion: &ReferenceMotion<'_>,
    gravity: Padded,
    h: f32,
) {
    for (row, &unknown) in unknowns.iter().enumerate() {
        let (x, inertial) = (rows.x[row], scaled(rows.velocity[row], h));
        let carried = motion.displacement(unknown, x);
        let own = sub(inertial, scaled(rows.base_velocity[row], h));
        rows.before[row] = x;
        rows.target[row] = add(add(x, inertial), scaled(gravity, rows.gravity_scale[row]));
        rows.x[row] = add(x, add(carried, own));
        let lag = sub(rows.target[row], rows.x[row]);
        let (length, most) = (dot(lag, lag).sqrt(), rows.max_lag[row]);
        if length > most {
            rows.target[row] = add(rows.x[row], scaled(lag, most / length));
        }
        rows.base_velocity[row] = scaled(carried, 1.0 / h);
    }
}

/// Updates velocities, with damping and the speed limit. Returns the largest displacement relative to the base.
fn update_velocities(rows: &mut Rows, h: f32, max_speed: f32) -> f32 {
    for &(row, _) in &rows.carried {
        rows.base_velocity[row] = scaled(sub(rows.x[row], rows.before[row]), 1.0 / h);
    }
    let mut max_displacement = 0.0_f32;
    for row in 0..rows.count {
        let base = rows.base_velocity[row];
        let relative = sub(scaled(sub(rows.x[row], rows.before[row]), 1.0 / h), base);
        let speed = dot(relative, relative).sqrt();
        max_displacement = max_displacement.max(speed * h);
        let damping_factor = if speed > max_speed {
            rows.damping_factor[row] * max_speed / speed
        } else {
            rows.damping_factor[row]
        };
        rows.velocity[row] = add(base, scaled(relative, damping_factor));
    }
    max_displacement
}

fn report(stats: &IterationStats) -> StepReport {
    StepReport {
        local_ms: stats.local_secs * 1e3,
        global_ms: stats.global_secs * 1e3,
        iterations: stats.iterations,
        rejected: stats.rejected,
        last_change: stats.last_change,
        max_displacement: 0.0,
    }
}
