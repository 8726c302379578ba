//! Alternating local and global steps, on subdomains that share nothing but the top.
//!
//! ```text
//!     every subdomain:  local step on its elements, right-hand side, forward substitution
//!     top:              sums of the subdomains, forward and backward substitution
//!     every subdomain:  backward substitution, new positions
//! ```
//!
//! The solve is for the increment: (M/h² + Qᵀ W Q) Δx = M/h² (y − x) + Qᵀ W (p − Q x). Rounding errors of the `f32` solve correct
//! themselves, and the base needs no matrix of its own.

use std::time::Instant;

use super::contacts::FactorKind;
use super::guidance::Quadratic;
use super::local::{self, BlockWeights, ForceTask};
use super::rows::Rows;
use super::system::System;
use super::touch::Touch;
use crate::math::Point;
use crate::numerics::anderson::{Anderson, Products};
use crate::numerics::lanes::{Padded, add};
use crate::numerics::partition::{Partition, Subdomain};
use crate::numerics::substitution::{Scratch, backward, forward};
use crate::numerics::tiles::TiledFactor;

/// An accelerated iterate is rejected if its energy is higher by more than this part: below, it is rounding.
const ENERGY_TOLERANCE: f64 = 1e-5;
/// The same for energies around zero, as a part of the sum of stiffness times volume.
const ENERGY_FLOOR: f64 = 1e-10;

/// The state of a subdomain, owned by one thread at a time.
pub(super) struct SubdomainState {
    pub(super) rows: Rows,
    pub(super) weights: Vec<BlockWeights>,
    /// Its part of the matrix of guidance.
    pub(super) guidance: Quadratic,
    scratch: Scratch,
    energy: f64,
    products: Products,
    pub(super) farthest: f32,
    /// Time in the local step, and in all of the descent.
    local_secs: f64,
    descent_secs: f64,
}

/// The state of the iteration: all subdomains and the top.
pub(super) struct Solver {
    pub(super) subdomains: Vec<SubdomainState>,
    pub(super) top: Rows,
    pub(super) top_guidance: Quadratic,
    top_scratch: Scratch,
    /// Σ w V.
    pub(super) total_weight: f64,
    /// Resistance to changes of volume, relative to that to changes of shape.
    pub(super) volume: f32,
}

/// Parameters of the iterations.
pub(super) struct Iteration<'a> {
    pub(super) system: &'a System,
    pub(super) factor: &'a TiledFactor,
    pub(super) iterations: usize,
    /// Differences that the acceleration remembers; 0 for plain iterations.
    pub(super) memory: usize,
    /// Without inertia: the constant that pulls on every unit of M/h².
    pub(super) constant: Option<Padded>,
    /// Stop when no vertex moves farther than this…
    pub(super) still: f32,
    /// …or when so many iterations did not lower the largest change.
    pub(super) patience: usize,
    /// Stop at this moment, after one iteration at least.
    pub(super) deadline: Option<Instant>,
}

/// Contacts, and the positions by vertex that they read.
pub(super) struct Touching<'a> {
    pub(super) touch: &'a mut Touch,
    pub(super) positions: &'a mut [Point],
    /// Whether contacts are detected again between iterations, with the factor of equilibria.
    pub(super) refreshed: bool,
}

/// Counts and times of the iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Done {
    pub(super) iterations: usize,
    pub(super) rejected: usize,
    pub(super) last_change: f32,
    pub(super) local_secs: f64,
    pub(super) global_secs: f64,
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
            farthest: 0.0,
            local_secs: 0.0,
            descent_secs: 0.0,
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

    /// Iterates; positions are `rows.x` before and after.
    pub(super) fn iterate(
        &mut self,
        plan: &Iteration<'_>,
        mut touching: Option<Touching<'_>>,
    ) -> Done {
        let mut done = Done::default();
        let mut anderson = Anderson::new(plan.memory);
        for part in &mut self.subdomains {
            part.rows.remember(plan.memory);
            (part.local_secs, part.descent_secs) = (0.0, 0.0);
        }
        self.top.remember(plan.memory);
        let start = Instant::now();
        let mut descent_secs = 0.0;
        let (mut energy, mut best, mut since_best) = (f64::INFINITY, f32::INFINITY, 0);
        let floor = ENERGY_FLOOR * self.total_weight;
        let mut ending = false;
        for iteration in 1..=plan.iterations {
            if (ending || Touch::is_due(iteration)) && self.refresh_contacts(plan, &mut touching) {
                ending = false;
                anderson = Anderson::new(plan.memory);
                (energy, best, since_best) = (f64::INFINITY, f32::INFINITY, 0);
            }
            let descent = Instant::now();
            let mut now = self.descend(plan, anderson.is_on(), &mut touching);
            if anderson.is_on() {
                if now > energy + ENERGY_TOLERANCE * energy.abs() + floor {
                    done.rejected += 1;
                    anderson.forget();
                    self.extrapolate(&[]);
                    now = self.descend(plan, true, &mut touching);
                }
                energy = now;
            }
            descent_secs += descent.elapsed().as_secs_f64();
            if let Some(Touching {
                touch, positions, ..
            }) = &mut touching
            {
                touch.press(&plan.system.partition, plan.factor, self, positions);
            }
            self.solve_top(plan);
            let change = self.ascend(plan, &anderson);
            done.iterations = iteration;
            done.last_change = change;
            since_best = if change < 0.9 * best {
                0
            } else {
                since_best + 1
            };
            best = best.min(change);
            let late = plan
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline);
            let still = change <= plan.still || since_best > plan.patience;
            let looks = touching.as_ref().is_some_and(|touching| touching.refreshed);
            let last = iteration == plan.iterations || late || (still && (ending || !looks));
            // Contacts are looked for once more before it ends.
            ending = still;
            if last || !anderson.is_on() {
                each(&mut self.subdomains, 0, &|_, part| {
                    part.rows.advance();
                });
                self.top.advance();
                if last {
                    break;
                }
            } else {
                self.accelerate(&mut anderson);
            }
        }
        // Subdomains work at the same time or one after the other: of the time that descents took, local steps had their share.
        let sum = |of: fn(&SubdomainState) -> f64| self.subdomains.iter().map(of).sum::<f64>();
        done.local_secs = descent_secs * sum(|part| part.local_secs)
            / sum(|part| part.descent_secs).max(f64::MIN_POSITIVE);
        done.global_secs = (start.elapsed().as_secs_f64() - done.local_secs).max(0.0);
        done
    }

    /// Detects contacts again where that is wanted between iterations; returns whether a pair began or ended.
    fn refresh_contacts(&self, plan: &Iteration<'_>, touching: &mut Option<Touching<'_>>) -> bool {
        let Some(touching) = touching.as_mut().filter(|touching| touching.refreshed) else {
            return false;
        };
        let partition = &plan.system.partition;
        self.give_positions(partition, touching.positions);
        touching.touch.begin(
            partition,
            plan.factor,
            FactorKind::Static,
            touching.positions,
        )
    }

    /// Replaces the iterate by the combination of the last ones.
    fn accelerate(&mut self, anderson: &mut Anderson) {
        let mut products = Products::default();
        for part in &self.subdomains {
            products.add(&part.products);
        }
        let (slot, count) = anderson.next();
        products.add(&self.top.record(slot, count));
        let gamma = anderson.coefficients(&products);
        self.extrapolate(gamma.values());
    }

    /// Local step and forward substitution of all subdomains; returns the energy if asked for.
    fn descend(
        &mut self,
        plan: &Iteration<'_>,
        with_energy: bool,
        touching: &mut Option<Touching<'_>>,
    ) -> f64 {
        let Iteration {
            system,
            factor,
            constant,
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
        each(subdomains, 0, &|index, state| {
            let begin = Instant::now();
            let (part, tiles) = (
                &system.partition.subdomains[index],
                &factor.subdomains[index],
            );
            let own = state.rows.count;
            state.rows.x[own..own + top_x.len()].copy_from_slice(top_x);
            state.energy = state.rows.pull(constant);
            let elements = &system.blocks[index];
            state.rows.b[own..elements.forces_end(part)].fill([0.0; 4]);
            state.energy += state.guidance.pull(&mut state.rows, top_x.len());
            let start = Instant::now();
            state.energy += local::add_forces(
                &elements.blocks,
                &state.weights,
                &state.rows.x,
                &mut state.rows.b,
                ForceTask {
                    volume,
                    with_energy,
                    first_three_only: elements.first_three_only,
                },
            );
            state.local_secs += start.elapsed().as_secs_f64();
            state.rows.hold_carried();
            forward(
                &part.triangle,
                tiles,
                None,
                &mut state.rows.b,
                &mut state.scratch,
            );
            state.descent_secs += begin.elapsed().as_secs_f64();
        });
        let mut energy = top.pull(constant);
        energy += top_guidance.pull(top, 0);
        for part in subdomains {
            energy += part.energy;
            let own = part.rows.count;
            for (sum, b) in top.b[..top.count].iter_mut().zip(&part.rows.b[own..]) {
                *sum = add(*sum, *b);
            }
        }
        top.hold_carried();
        if let Some(Touching {
            touch, positions, ..
        }) = touching
        {
            energy += touch.look(self, positions);
        }
        energy
    }

    /// Positions by vertex.
    pub(super) fn give_positions(&self, partition: &Partition, positions: &mut [Point]) {
        let owners = self
            .subdomains
            .iter()
            .zip(&partition.subdomains)
            .map(|(state, part)| (&state.rows, &part.unknowns));
        for (rows, vertices) in owners.chain([(&self.top, &partition.top)]) {
            for (&[x, y, z, _], &v) in rows.x.iter().zip(vertices) {
                positions[v as usize] = Point::new(x, y, z);
            }
        }
    }

    fn solve_top(&mut self, plan: &Iteration<'_>) {
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

    /// Backward substitution of all subdomains; how far the vertex that moves most would go.
    fn ascend(&mut self, plan: &Iteration<'_>, anderson: &Anderson) -> f32 {
        let Iteration { system, factor, .. } = *plan;
        let Self {
            subdomains, top, ..
        } = self;
        let top_b = &top.b[..top.count];
        let record = anderson.is_on().then(|| anderson.next());
        each(subdomains, 0, &|index, state| {
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
            state.farthest = state.rows.largest_increment();
            if let Some((slot, count)) = record {
                state.products = state.rows.record(slot, count);
            }
        });
        subdomains
            .iter()
            .fold(top.largest_increment(), |farthest, part| {
                farthest.max(part.farthest)
            })
    }

    fn extrapolate(&mut self, gamma: &[f32]) {
        each(&mut self.subdomains, 0, &|_, part| {
            part.rows.extrapolate(gamma);
        });
        self.top.extrapolate(gamma);
    }

    /// Elastic and inertial energy at the present positions, in `f64` with exact rotations.
    pub(super) fn energy(&mut self, system: &System) -> f64 {
        let top = &mut self.top;
        let mut energy = top.pull(None) + self.top_guidance.pull(top, 0);
        for (state, elements) in self.subdomains.iter_mut().zip(&system.blocks) {
            let own = state.rows.count;
            state.rows.x[own..own + top.count].copy_from_slice(&top.x[..top.count]);
            energy += state.rows.pull(None);
            energy += state.guidance.pull(&mut state.rows, top.count);
            energy += elements
                .blocks
                .iter()
                .zip(&state.weights)
                .map(|(block, weights)| block.energy(weights, &state.rows.x, self.volume))
                .sum::<f64>();
        }
        energy
    }
}

/// Runs `work` for every subdomain, in parallel.
pub(super) fn each(
    subdomains: &mut [SubdomainState],
    first: usize,
    work: &(impl Fn(usize, &mut SubdomainState) + Sync),
) {
    match subdomains {
        [] => {}
        [one] => work(first, one),
        _ => {
            let middle = subdomains.len() / 2;
            let (left, right) = subdomains.split_at_mut(middle);
            rayon::join(
                || each(left, first, work),
                || each(right, first + middle, work),
            );
        }
    }
}
