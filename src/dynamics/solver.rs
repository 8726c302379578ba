//! Alternating local and global steps on subdomains that are coupled only through the top (the separator).
//!
//! ```text
//!     every subdomain:  local step on its elements, right-hand side, forward substitution
//!     top:              sums of the subdomains, forward and backward substitution
//!     every subdomain:  backward substitution, new positions
//! ```
//!
//! The solve is for the increment: (M/h² + Qᵀ W Q) Δx = M/h² (y − x) + Qᵀ W (p − Q x). Later iterations correct rounding errors of
//! the `f32` solve, and prescribed points need no matrix of their own.

use std::time::Instant;

use rayon::prelude::*;

use super::contact_solver::ContactSolver;
use super::contacts::FactorKind;
use super::guidance::Quadratic;
use super::iterations::{IterationParams, IterationState, IterationStats};
use super::local::{self, BlockWeights, ForceTask};
use super::rows::Rows;
use super::system::System;
use crate::math::Point;
use crate::numerics::anderson::{Anderson, Gamma, Products};
use crate::numerics::lanes::add;
use crate::numerics::partition::{Partition, Subdomain, for_each_subdomain};
use crate::numerics::substitution::{Scratch, backward, forward};

/// An accelerated iterate is rejected if its energy increases by more than this fraction; smaller increases are rounding errors.
const ENERGY_TOLERANCE: f64 = 1e-5;
/// The same for energies close to zero, as a fraction of the sum of stiffness times volume.
const ENERGY_FLOOR: f64 = 1e-10;

/// Smallest number of vertices per parallel task.
const MIN_TASK: usize = 1024;

/// The state of a subdomain, owned by one thread at a time.
pub(super) struct SubdomainState {
    pub(super) rows: Rows,
    pub(super) weights: Vec<BlockWeights>,
    /// Its part of the guidance matrix.
    pub(super) guidance: Quadratic,
    scratch: Scratch,
    energy: f64,
    products: Products,
    pub(super) max_displacement: f32,
    /// Time of the local step, and of the whole forward pass.
    local_secs: f64,
    forward_secs: f64,
}

/// State of the iteration: all subdomains and the top.
pub(super) struct Solver {
    pub(super) subdomains: Vec<SubdomainState>,
    pub(super) top: Rows,
    pub(super) top_guidance: Quadratic,
    top_scratch: Scratch,
    /// Σ w V.
    pub(super) total_weight: f64,
    /// Resistance to changes of volume, relative to the resistance to changes of shape.
    pub(super) volume: f32,
}

/// The contact solver, and buffers for positions by vertex.
pub(super) struct IterationContacts<'a> {
    pub(super) solver: &'a mut ContactSolver,
    pub(super) positions: &'a mut [Point],
    /// Whether contacts are detected again between iterations (solve for an equilibrium).
    pub(super) redetect: bool,
}

impl Solver {
    pub(super) fn new(partition: &Partition) -> Self {
        let state = |part: &Subdomain| SubdomainState {
            rows: Rows::new(part.unknowns.len()),
            weights: Vec::new(),
            guidance: Quadratic::default(),
            scratch: Scratch::for_triangle(&part.triangle),
            energy: 0.0,
            products: Products::default(),
            max_displacement: 0.0,
            local_secs: 0.0,
            forward_secs: 0.0,
        };
        Self {
            subdomains: partition.subdomains.iter().map(state).collect(),
            top: Rows::new(partition.top.len()),
            top_guidance: Quadratic::default(),
            top_scratch: Scratch::for_triangle(&partition.top_triangle),
            total_weight: 0.0,
            volume: 0.0,
        }
    }

    /// Iterates from the positions in `rows.x`, and writes the result there. Stops after [`IterationParams::pause_after`] iterations;
    /// a further call with the same state goes on as if there had been no pause.
    pub(super) fn iterate(
        &mut self,
        plan: &IterationParams<'_>,
        state: &mut IterationState,
        mut contacts: Option<IterationContacts<'_>>,
    ) -> IterationStats {
        let mut stats = IterationStats::default();
        let pause = state.iterations.saturating_add(plan.pause_after);
        for part in &mut self.subdomains {
            part.rows.reserve_history(plan.memory);
            (part.local_secs, part.forward_secs) = (0.0, 0.0);
        }
        self.top.reserve_history(plan.memory);
        let start = Instant::now();
        let mut forward_secs = 0.0;
        let floor = ENERGY_FLOOR * self.total_weight;
        // The accelerated step that subdomains have not taken yet; they take it where they begin the next iteration anyway.
        let mut step: Option<Gamma> = None;
        while !state.finished && state.iterations < plan.iterations.min(pause) {
            state.iterations += 1;
            let iteration = state.iterations;
            if state.was_still || ContactSolver::is_detection_due(iteration) {
                self.take_step(step.take());
                if self.refresh_contacts(plan, &mut contacts) {
                    state.restart(plan.memory);
                }
            }
            let forward_start = Instant::now();
            let mut now =
                self.forward_pass(plan, step.take(), state.anderson.is_on(), &mut contacts);
            if state.anderson.is_on() {
                if now > state.energy + ENERGY_TOLERANCE * state.energy.abs() + floor {
                    stats.rejected += 1;
                    state.anderson.forget();
                    let plain = Gamma::default();
                    self.top.extrapolate(plain.values());
                    now = self.forward_pass(plan, Some(plain), true, &mut contacts);
                }
                state.energy = now;
            }
            forward_secs += forward_start.elapsed().as_secs_f64();
            if let Some(IterationContacts {
                solver, positions, ..
            }) = &mut contacts
            {
                solver.add_forces(&plan.system.partition, plan.factor, self, positions);
            }
            self.solve_top(plan);
            let change = self.backward_pass(plan, &state.anderson);
            stats.last_change = change;
            let is_late = plan
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline);
            let redetects = contacts.as_ref().is_some_and(|contacts| contacts.redetect);
            let settled = state.is_settled(plan, change, redetects);
            state.finished = iteration == plan.iterations || is_late || settled;
            if state.finished || !state.anderson.is_on() {
                for_each_subdomain(&mut self.subdomains, 0, &|_, part| {
                    part.rows.advance();
                });
                self.top.advance();
            } else {
                step = Some(self.accelerate(&mut state.anderson));
            }
        }
        self.take_step(step);
        stats.iterations = state.iterations;
        // Subdomains may run in parallel or one after the other: split the elapsed time of the forward passes by the share of the
        // local steps.
        let sum = |of: fn(&SubdomainState) -> f64| self.subdomains.iter().map(of).sum::<f64>();
        stats.local_secs = forward_secs * sum(|part| part.local_secs)
            / sum(|part| part.forward_secs).max(f64::MIN_POSITIVE);
        stats.global_secs = (start.elapsed().as_secs_f64() - stats.local_secs).max(0.0);
        stats
    }

    /// Detects contacts again if `redetect` is set. Returns whether a pair began or ended.
    fn refresh_contacts(
        &self,
        plan: &IterationParams<'_>,
        contacts: &mut Option<IterationContacts<'_>>,
    ) -> bool {
        let Some(contacts) = contacts.as_mut().filter(|contacts| contacts.redetect) else {
            return false;
        };
        let partition = &plan.system.partition;
        self.copy_positions(partition, contacts.positions);
        contacts.solver.begin(
            partition,
            plan.factor,
            FactorKind::Static,
            contacts.positions,
        )
    }

    /// Replaces the iterate of the top by the Anderson combination of the last iterates, and returns the coefficients for those of the
    /// subdomains.
    fn accelerate(&mut self, anderson: &mut Anderson) -> Gamma {
        let mut products = Products::default();
        for part in &self.subdomains {
            products.add(&part.products);
        }
        let (slot, count) = anderson.next();
        products.add(&self.top.record(slot, count));
        let gamma = anderson.coefficients(&products);
        self.top.extrapolate(gamma.values());
        gamma
    }

    /// Takes a step of the acceleration, then makes the local step and the forward substitution of all subdomains. Returns the energy if
    /// asked for.
    fn forward_pass(
        &mut self,
        plan: &IterationParams<'_>,
        step: Option<Gamma>,
        with_energy: bool,
        contacts: &mut Option<IterationContacts<'_>>,
    ) -> f64 {
        let IterationParams {
            system,
            factor,
            static_gravity,
            ..
        } = *plan;
        let Self {
            subdomains,
            top,
            top_guidance,
            volume,
            ..
        } = self;
        let (top_x, volume) = (&top.x[..top.count], *volume);
        for_each_subdomain(subdomains, 0, &|index, state| {
            let pass_start = Instant::now();
            let (part, tiles) = (
                &system.partition.subdomains[index],
                &factor.subdomains[index],
            );
            let own = state.rows.count;
            if let Some(gamma) = &step {
                state.rows.extrapolate(gamma.values());
            }
            state.rows.x[own..own + top_x.len()].copy_from_slice(top_x);
            state.energy = state.rows.set_inertial_rhs(static_gravity);
            let elements = &system.blocks[index];
            state.rows.b[own..elements.forces_end(part)].fill([0.0; 4]);
            state.energy += state.guidance.add_forces(&mut state.rows, top_x.len());
            let start = Instant::now();
            state.energy += local::add_forces(
                &elements.blocks,
                &state.weights,
                &state.rows.x,
                &mut state.rows.b,
                ForceTask {
                    volume,
                    inverted: system.inverted(),
                    with_energy,
                    first_three_only: elements.first_three_only,
                },
            );
            state.local_secs += start.elapsed().as_secs_f64();
            state.rows.clear_carried();
            forward(
                &part.triangle,
                tiles,
                None,
                &mut state.rows.b,
                &mut state.scratch,
            );
            state.forward_secs += pass_start.elapsed().as_secs_f64();
        });
        let mut energy = top.set_inertial_rhs(static_gravity);
        energy += top_guidance.add_forces(top, 0);
        for part in subdomains {
            energy += part.energy;
            let own = part.rows.count;
            for (sum, b) in top.b[..top.count].iter_mut().zip(&part.rows.b[own..]) {
                *sum = add(*sum, *b);
            }
        }
        top.clear_carried();
        if let Some(IterationContacts {
            solver, positions, ..
        }) = contacts
        {
            energy += solver.read_positions(self, positions);
        }
        energy
    }

    /// Copies positions to an array by vertex.
    pub(super) fn copy_positions(&self, partition: &Partition, positions: &mut [Point]) {
        positions
            .par_iter_mut()
            .zip(&partition.place)
            .with_min_len(MIN_TASK)
            .for_each(|(position, &place)| {
                let (rows, row) = self.rows_at(place);
                let [x, y, z, _] = rows.x[row];
                *position = Point::new(x, y, z);
            });
    }

    /// The rows of a subdomain, or of the top behind the last one, and the row there ([`Partition::place`]).
    pub(super) fn rows_at(&self, [part, row]: [u32; 2]) -> (&Rows, usize) {
        let subdomain = self.subdomains.get(part as usize);
        (
            subdomain.map_or(&self.top, |state| &state.rows),
            row as usize,
        )
    }

    fn solve_top(&mut self, plan: &IterationParams<'_>) {
        let triangle = &plan.system.partition.top_triangle;
        forward(
            triangle,
            &plan.factor.top,
            None,
            &mut self.top.b,
            &mut self.top_scratch,
        );
        backward(
            triangle,
            &plan.factor.top,
            None,
            &mut self.top.b,
            &mut self.top_scratch,
        );
    }

    /// Backward substitution of all subdomains. Returns the largest increment of a vertex.
    fn backward_pass(&mut self, plan: &IterationParams<'_>, anderson: &Anderson) -> f32 {
        let IterationParams { system, factor, .. } = *plan;
        let Self {
            subdomains, top, ..
        } = self;
        let top_b = &top.b[..top.count];
        let record = anderson.is_on().then(|| anderson.next());
        for_each_subdomain(subdomains, 0, &|index, state| {
            let (part, tiles) = (
                &system.partition.subdomains[index],
                &factor.subdomains[index],
            );
            let own = state.rows.count;
            state.rows.b[own..own + top_b.len()].copy_from_slice(top_b);
            backward(
                &part.triangle,
                tiles,
                None,
                &mut state.rows.b,
                &mut state.scratch,
            );
            state.max_displacement = state.rows.largest_increment();
            if let Some((slot, count)) = record {
                state.products = state.rows.record(slot, count);
            }
        });
        subdomains
            .iter()
            .fold(top.largest_increment(), |max_displacement, part| {
                max_displacement.max(part.max_displacement)
            })
    }

    /// Lets the subdomains take a step of the acceleration.
    fn take_step(&mut self, step: Option<Gamma>) {
        let Some(gamma) = step else {
            return;
        };
        for_each_subdomain(&mut self.subdomains, 0, &|_, part| {
            part.rows.extrapolate(gamma.values());
        });
    }

    /// Elastic and inertial energy at the current positions, in `f64` with exact rotations.
    pub(super) fn energy(&mut self, system: &System) -> f64 {
        let top = &mut self.top;
        let mut energy = top.set_inertial_rhs(None) + self.top_guidance.add_forces(top, 0);
        for (state, elements) in self.subdomains.iter_mut().zip(&system.blocks) {
            let own = state.rows.count;
            state.rows.x[own..own + top.count].copy_from_slice(&top.x[..top.count]);
            energy += state.rows.set_inertial_rhs(None);
            energy += state.guidance.add_forces(&mut state.rows, top.count);
            energy += elements
                .blocks
                .iter()
                .zip(&state.weights)
                .map(|(block, weights)| {
                    block.energy(weights, &state.rows.x, self.volume, system.inverted())
                })
                .sum::<f64>();
        }
        energy
    }
}
