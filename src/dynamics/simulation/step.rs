//! Time steps, and the solve for an equilibrium.

use std::time::Instant;

use super::{Simulation, StepReport, slot};
use crate::dynamics::contacts::FactorKind;
use crate::dynamics::guidance::Target;
use crate::dynamics::rows::Rows;
use crate::dynamics::solver::{Done, Iteration, Touching, each};
use crate::dynamics::system::System;
use crate::math::Point;
use crate::numerics::FactorError;
use crate::numerics::lanes::{Padded, add, dot, scaled, sub};
use crate::numerics::tiles::TiledFactor;

/// "Time step" of the solve for an equilibrium, s: so long that inertia plays no part.
const STATIC_STEP_SECS: f64 = 100.0;
/// An equilibrium is reached when no vertex moves farther in an iteration than this part of the size…
const STILL: f32 = 1e-8;
/// …or when so many iterations did not lower the largest change…
const PATIENCE: usize = 60;
/// …or after this many.
const MAX_STATIC_ITERATIONS: usize = 1500;
/// The iterations of a step of guided flesh end when no vertex moves farther in one than this part of the size: they shorten the way
/// that is left by a factor of about eight each.
const CLOSE: f32 = 2e-5;
/// Differences remembered in the solve for an equilibrium.
const STATIC_MEMORY: usize = 6;

impl Simulation {
    /// One time step: the base moves to `base`, the skin follows.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step(&mut self, base: &[Point]) -> StepReport {
        self.step_until(base, None)
    }

    /// As [`Simulation::step`], but begins no iteration after the first when it is later than `deadline`.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step_until(&mut self, base: &[Point], deadline: Option<Instant>) -> StepReport {
        let h = self.params.simulated_step_secs() as f32;
        let gravity = slot(&(self.gravity() * (h * h)));
        let fastest = self.fastest();
        let iterations = self.params.iterations as usize;
        let memory = self.params.acceleration as usize;
        self.in_pool(|simulation| {
            let moved = CarrierMotion {
                system: &simulation.system,
                targets: [&simulation.targets, &simulation.aimed],
                base: [&simulation.base, base],
            };
            let predicted =
                |rows: &mut Rows, unknowns: &[u32]| predict(rows, unknowns, &moved, gravity, h);
            let partition = &simulation.system.partition;
            each(&mut simulation.solver.subdomains, 0, &|index, state| {
                predicted(&mut state.rows, &partition.subdomains[index].unknowns);
            });
            predicted(&mut simulation.solver.top, &partition.top);
            simulation.move_base(base);
            if let Some(touch) = &mut simulation.touch {
                let partition = &simulation.system.partition;
                simulation
                    .solver
                    .give_positions(partition, &mut simulation.position);
                touch.begin(
                    partition,
                    &simulation.dynamic,
                    FactorKind::Dynamic,
                    &simulation.position,
                );
            }
            let close = if simulation.is_guided() {
                CLOSE * simulation.size
            } else {
                0.0
            };
            let done = simulation.iterate(Inertia::Dynamic, iterations, memory, close, deadline);
            each(&mut simulation.solver.subdomains, 0, &|_, state| {
                state.farthest = finish(&mut state.rows, h, fastest);
            });
            let top = finish(&mut simulation.solver.top, h, fastest);
            simulation.give_out();
            if let Some(touch) = &mut simulation.touch {
                touch.contacts.end(&simulation.position);
            }
            let farthest = simulation
                .solver
                .subdomains
                .iter()
                .fold(top, |most, part| most.max(part.farthest));
            StepReport {
                farthest,
                ..report(&done)
            }
        })
    }

    /// Follows the base to `base` without inertia: a few iterations towards the equilibrium there, no velocity kept. For ramps.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn creep(&mut self, base: &[Point], iterations: usize) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let partition = &self.system.partition;
        let moved = CarrierMotion {
            system: &self.system,
            targets: [&self.targets, &self.aimed],
            base: [&self.base, base],
        };
        let carry = |rows: &mut Rows, unknowns: &[u32]| {
            for (row, &unknown) in unknowns.iter().enumerate() {
                rows.x[row] = add(rows.x[row], moved.of(unknown, rows.x[row]));
            }
        };
        for (state, part) in self.solver.subdomains.iter_mut().zip(&partition.subdomains) {
            carry(&mut state.rows, &part.unknowns);
        }
        carry(&mut self.solver.top, &partition.top);
        self.move_base(base);
        Ok(self.relax(iterations, 0.0))
    }

    /// The equilibrium over the present base: iterates until nothing moves any more, then stands still.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn settle(&mut self) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let report = self.relax(MAX_STATIC_ITERATIONS, STILL * self.size);
        for rows in self
            .solver
            .subdomains
            .iter_mut()
            .map(|part| &mut part.rows)
            .chain([&mut self.solver.top])
        {
            rows.base_velocity.fill([0.0; 4]);
        }
        Ok(report)
    }

    fn relax(&mut self, iterations: usize, still: f32) -> StepReport {
        self.in_pool(|simulation| {
            for rows in simulation
                .solver
                .subdomains
                .iter_mut()
                .map(|part| &mut part.rows)
                .chain([&mut simulation.solver.top])
            {
                rows.velocity.fill([0.0; 4]);
            }
            let done = simulation.iterate(Inertia::Static, iterations, STATIC_MEMORY, still, None);
            simulation.give_out();
            if let Some(touch) = &mut simulation.touch {
                touch.contacts.end(&simulation.position);
            }
            report(&done)
        })
    }

    fn iterate(
        &mut self,
        pull: Inertia,
        iterations: usize,
        memory: usize,
        still: f32,
        deadline: Option<Instant>,
    ) -> Done {
        let own_h = self.params.simulated_step_secs();
        let (factor, constant) = match (pull, &self.equilibrium) {
            (Inertia::Static, Some(factor)) => (
                factor,
                Some(slot(&(self.gravity() * (own_h * own_h) as f32))),
            ),
            _ => (&self.dynamic, None),
        };
        let refreshed = constant.is_some();
        let touching = self.touch.as_mut().map(|touch| Touching {
            touch,
            positions: &mut self.position,
            refreshed,
        });
        self.solver.iterate(
            &Iteration {
                system: &self.system,
                factor,
                iterations,
                memory,
                constant,
                still,
                patience: PATIENCE,
                deadline,
            },
            touching,
        )
    }

    fn factor_equilibrium(&mut self) -> Result<(), FactorError> {
        if self.equilibrium.is_none() {
            self.equilibrium = Some(TiledFactor::of(
                &self.system.partition,
                &self
                    .system
                    .matrix(&self.params, &self.materials, STATIC_STEP_SECS),
            )?);
        }
        Ok(())
    }

    /// Runs `work` inside the thread pool, so that forks don't have to enter it.
    fn in_pool<R: Send>(&mut self, work: impl FnOnce(&mut Self) -> R + Send) -> R {
        if self.solver.subdomains.len() < 2 || rayon::current_thread_index().is_some() {
            work(self)
        } else {
            rayon::scope(|_| work(self))
        }
    }
}

/// The motion of what carries the skin.
struct CarrierMotion<'a> {
    system: &'a System,
    /// Before and after; empty without guidance.
    targets: [&'a [Target]; 2],
    base: [&'a [Point]; 2],
}

impl CarrierMotion<'_> {
    /// How far the point `x` of an unknown goes: with its target, or else with its base.
    fn of(&self, unknown: u32, x: Padded) -> Padded {
        let unknown = unknown as usize;
        let [from, to] = self.targets.map(|targets| targets.get(unknown));
        if let (Some(from), Some(to)) = (from, to) {
            let point = Point::new(x[0], x[1], x[2]);
            return slot(&(to.carry(from, &point) - point));
        }
        let point = self.system.references[unknown] as usize;
        slot(&(self.base[1][point] - self.base[0][point]))
    }
}

/// What stands for inertia.
enum Inertia {
    /// M/h² (y − x).
    Dynamic,
    /// Gravity alone.
    Static,
}

/// Guess: carried along by the base, with what it had of its own motion. The minimiser does not depend on the guess.
fn predict(rows: &mut Rows, unknowns: &[u32], moved: &CarrierMotion<'_>, gravity: Padded, h: f32) {
    for (row, &unknown) in unknowns.iter().enumerate() {
        let (x, way) = (rows.x[row], scaled(rows.velocity[row], h));
        let carried = moved.of(unknown, x);
        let own = sub(way, scaled(rows.base_velocity[row], h));
        rows.before[row] = x;
        rows.target[row] = add(add(x, way), scaled(gravity, rows.heaviness[row]));
        rows.x[row] = add(x, add(carried, own));
        let lag = sub(rows.target[row], rows.x[row]);
        let (length, most) = (dot(lag, lag).sqrt(), rows.most_lag[row]);
        if length > most {
            rows.target[row] = add(rows.x[row], scaled(lag, most / length));
        }
        rows.base_velocity[row] = scaled(carried, 1.0 / h);
    }
}

/// New velocities; how far the vertex that moved most relative to its base went.
fn finish(rows: &mut Rows, h: f32, fastest: f32) -> f32 {
    for &(row, _) in &rows.carried {
        rows.base_velocity[row] = scaled(sub(rows.x[row], rows.before[row]), 1.0 / h);
    }
    let mut farthest = 0.0_f32;
    for row in 0..rows.count {
        let base = rows.base_velocity[row];
        let relative = sub(scaled(sub(rows.x[row], rows.before[row]), 1.0 / h), base);
        let speed = dot(relative, relative).sqrt();
        farthest = farthest.max(speed * h);
        let kept = if speed > fastest {
            rows.kept[row] * fastest / speed
        } else {
            rows.kept[row]
        };
        rows.velocity[row] = add(base, scaled(relative, kept));
    }
    farthest
}

fn report(done: &Done) -> StepReport {
    StepReport {
        local_ms: done.local_secs * 1e3,
        global_ms: done.global_secs * 1e3,
        iterations: done.iterations,
        rejected: done.rejected,
        last_change: done.last_change,
        farthest: 0.0,
    }
}
