//! Local and global steps, over and over, on parts that share nothing but the top.
//!
//! ```text
//!     every part:  local step on its prisms, right-hand side, forward substitution
//!     top:         sums of the parts, forward and backward substitution
//!     every part:  backward substitution, new positions
//! ```
//!
//! The solve is for the increment: (M/h² + Qᵀ W Q) Δx = M/h² (y − x) + Qᵀ W (p − Q x). Rounding errors of the `f32` solve correct
//! themselves, and the base needs no matrix of its own.

use std::time::Instant;

use super::anderson::Anderson;
use super::contacts::Factor as FactorKind;
use super::factor::Factor;
use super::lanes::Slot;
use super::local::{self, BlockWeights};
use super::rows::{Products, Rows, add};
use super::structure::{Part, Structure};
use super::substitution::{Scratch, backward, forward};
use super::touch::Touch;
use crate::math::Point;

/// An accelerated iterate is taken back if its energy is higher by more than this part: below, it is rounding.
const ENERGY_TOLERANCE: f64 = 1e-5;
/// The same for energies around zero, as a part of the sum of stiffness times volume.
const ENERGY_FLOOR: f64 = 1e-10;

/// What one thread works on.
pub(super) struct PartState {
    pub(super) rows: Rows,
    pub(super) weights: Vec<BlockWeights>,
    scratch: Scratch,
    energy: f64,
    products: Products,
    pub(super) farthest: f32,
    /// Time in the local step, and in all of the descent.
    local_secs: f64,
    descent_secs: f64,
}

/// Positions and everything that moves them.
pub(super) struct Solver {
    pub(super) parts: Vec<PartState>,
    pub(super) top: Rows,
    top_scratch: Scratch,
    /// Σ w V.
    pub(super) total_weight: f64,
    /// Resistance to changes of volume, relative to that to changes of shape.
    pub(super) volume: f32,
}

/// How to iterate.
pub(super) struct Plan<'a> {
    pub(super) structure: &'a Structure,
    pub(super) factor: &'a Factor,
    pub(super) iterations: usize,
    /// Differences that the acceleration remembers; 0 for plain iterations.
    pub(super) memory: usize,
    /// Without inertia: the constant that pulls on every unit of M/h².
    pub(super) constant: Option<Slot>,
    /// Stop when no vertex moves farther than this…
    pub(super) still: f32,
    /// …or when so many iterations brought nothing.
    pub(super) patience: usize,
    /// Stop at this moment, after one iteration at least.
    pub(super) deadline: Option<Instant>,
}

/// Contacts, and the positions by vertex that they read.
pub(super) struct Touching<'a> {
    pub(super) touch: &'a mut Touch,
    pub(super) positions: &'a mut [Point],
    /// Whether contacts are looked for again on the way, with the factor of equilibria.
    pub(super) refreshed: bool,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Done {
    pub(super) iterations: usize,
    pub(super) taken_back: usize,
    pub(super) last_change: f32,
    pub(super) local_secs: f64,
    pub(super) global_secs: f64,
}

impl Solver {
    pub(super) fn new(structure: &Structure) -> Self {
        let part = |part: &Part| PartState {
            rows: Rows::new(part.vertices.len()),
            weights: Vec::new(),
            scratch: Scratch::for_triangle(&part.triangle),
            energy: 0.0,
            products: Products::default(),
            farthest: 0.0,
            local_secs: 0.0,
            descent_secs: 0.0,
        };
        Self {
            parts: structure.parts.iter().map(part).collect(),
            top: Rows::new(structure.top.len()),
            top_scratch: Scratch::for_triangle(&structure.top_triangle),
            total_weight: 0.0,
            volume: 0.0,
        }
    }

    /// Iterates; positions are `rows.x` before and after.
    pub(super) fn iterate(&mut self, plan: &Plan<'_>, mut touching: Option<Touching<'_>>) -> Done {
        let mut done = Done::default();
        let mut anderson = Anderson::new(plan.memory);
        for part in &mut self.parts {
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
            if let Some(touching) = &mut touching
                && touching.refreshed
                && (ending || Touch::is_due(iteration))
            {
                self.give_positions(plan.structure, touching.positions);
                if touching.touch.begin(plan.structure, plan.factor, FactorKind::Static, touching.positions) {
                    ending = false;
                    anderson = Anderson::new(plan.memory);
                    (energy, best, since_best) = (f64::INFINITY, f32::INFINITY, 0);
                }
            }
            let descent = Instant::now();
            let mut now = self.descend(plan, anderson.is_on(), &mut touching);
            if anderson.is_on() {
                if now > energy + ENERGY_TOLERANCE * energy.abs() + floor {
                    done.taken_back += 1;
                    anderson.forget();
                    self.extrapolate(&[]);
                    now = self.descend(plan, true, &mut touching);
                }
                energy = now;
            }
            descent_secs += descent.elapsed().as_secs_f64();
            if let Some(Touching { touch, positions, .. }) = &mut touching {
                touch.press(plan.structure, plan.factor, self, positions);
            }
            self.solve_top(plan);
            let change = self.ascend(plan, &anderson);
            done.iterations = iteration;
            done.last_change = change;
            since_best = if change < 0.9 * best { 0 } else { since_best + 1 };
            best = best.min(change);
            let late = plan.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let still = change <= plan.still || since_best > plan.patience;
            let looks = touching.as_ref().is_some_and(|touching| touching.refreshed);
            let last = iteration == plan.iterations || late || (still && (ending || !looks));
            // Contacts are looked for once more before it ends.
            ending = still;
            if last || !anderson.is_on() {
                each(&mut self.parts, 0, &|_, part| {
                    part.rows.advance();
                });
                self.top.advance();
                if last {
                    break;
                }
            } else {
                let mut products = Products::default();
                for part in &self.parts {
                    products.add(&part.products);
                }
                let (slot, count) = anderson.next();
                products.add(&self.top.record(slot, count));
                let gamma = anderson.coefficients(&products);
                self.extrapolate(gamma.values());
            }
        }
        // Parts work at the same time or one after the other: of the time that descents took, local steps had their share.
        let sum = |of: fn(&PartState) -> f64| self.parts.iter().map(of).sum::<f64>();
        done.local_secs = descent_secs * sum(|part| part.local_secs) / sum(|part| part.descent_secs).max(f64::MIN_POSITIVE);
        done.global_secs = (start.elapsed().as_secs_f64() - done.local_secs).max(0.0);
        done
    }

    /// Local step and forward substitution of all parts; returns the energy if asked for.
    fn descend(&mut self, plan: &Plan<'_>, with_energy: bool, touching: &mut Option<Touching<'_>>) -> f64 {
        let Plan { structure, factor, constant, .. } = *plan;
        let Self { parts, top, volume, .. } = self;
        let (top_x, volume) = (&top.x[..top.count], *volume);
        each(parts, 0, &|index, state| {
            let begin = Instant::now();
            let (part, tiles) = (&structure.parts[index], &factor.parts[index]);
            let own = state.rows.count;
            state.rows.x[own..own + top_x.len()].copy_from_slice(top_x);
            state.energy = state.rows.pull(constant);
            state.rows.b[own..part.base_start].fill([0.0; 4]);
            let start = Instant::now();
            state.energy += local::add_forces(&part.blocks, &state.weights, &state.rows.x, &mut state.rows.b, volume, with_energy);
            state.local_secs += start.elapsed().as_secs_f64();
            state.rows.hold_carried();
            forward(&part.triangle, tiles, None, &mut state.rows.b, &mut state.scratch);
            state.descent_secs += begin.elapsed().as_secs_f64();
        });
        let mut energy = top.pull(constant);
        for part in parts {
            energy += part.energy;
            let own = part.rows.count;
            for (sum, b) in top.b[..top.count].iter_mut().zip(&part.rows.b[own..]) {
                *sum = add(*sum, *b);
            }
        }
        top.hold_carried();
        if let Some(Touching { touch, positions, .. }) = touching {
            energy += touch.look(self, positions);
        }
        energy
    }

    /// Positions by vertex.
    pub(super) fn give_positions(&self, structure: &Structure, positions: &mut [Point]) {
        let owners = self.parts.iter().zip(&structure.parts).map(|(state, part)| (&state.rows, &part.vertices));
        for (rows, vertices) in owners.chain([(&self.top, &structure.top)]) {
            for (&[x, y, z, _], &v) in rows.x.iter().zip(vertices) {
                positions[v as usize] = Point::new(x, y, z);
            }
        }
    }

    fn solve_top(&mut self, plan: &Plan<'_>) {
        let triangle = &plan.structure.top_triangle;
        forward(triangle, &plan.factor.top, None, &mut self.top.b, &mut self.top_scratch);
        backward(triangle, &plan.factor.top, None, &mut self.top.b, &mut self.top_scratch);
    }

    /// Backward substitution of all parts; how far the vertex that moves most would go.
    fn ascend(&mut self, plan: &Plan<'_>, anderson: &Anderson) -> f32 {
        let Plan { structure, factor, .. } = *plan;
        let Self { parts, top, .. } = self;
        let top_b = &top.b[..top.count];
        let record = anderson.is_on().then(|| anderson.next());
        each(parts, 0, &|index, state| {
            let (part, tiles) = (&structure.parts[index], &factor.parts[index]);
            let own = state.rows.count;
            state.rows.b[own..own + top_b.len()].copy_from_slice(top_b);
            backward(&part.triangle, tiles, None, &mut state.rows.b, &mut state.scratch);
            state.farthest = state.rows.largest_increment();
            if let Some((slot, count)) = record {
                state.products = state.rows.record(slot, count);
            }
        });
        parts.iter().fold(top.largest_increment(), |farthest, part| farthest.max(part.farthest))
    }

    fn extrapolate(&mut self, gamma: &[f32]) {
        each(&mut self.parts, 0, &|_, part| part.rows.extrapolate(gamma));
        self.top.extrapolate(gamma);
    }

    /// Elastic and inertial energy at the present positions, in `f64` with exact rotations.
    pub(super) fn energy(&mut self, structure: &Structure) -> f64 {
        let top = &mut self.top;
        let mut energy = top.pull(None);
        for (state, part) in self.parts.iter_mut().zip(&structure.parts) {
            let own = state.rows.count;
            state.rows.x[own..own + top.count].copy_from_slice(&top.x[..top.count]);
            energy += state.rows.pull(None);
            energy += part
                .blocks
                .iter()
                .zip(&state.weights)
                .map(|(block, weights)| block.energy(weights, &state.rows.x, self.volume))
                .sum::<f64>();
        }
        energy
    }
}

/// Does something for every part, at the same time where there are threads.
pub(super) fn each(parts: &mut [PartState], first: usize, work: &(impl Fn(usize, &mut PartState) + Sync)) {
    match parts {
        [] => {}
        [one] => work(first, one),
        _ => {
            let middle = parts.len() / 2;
            let (left, right) = parts.split_at_mut(middle);
            rayon::join(|| each(left, first, work), || each(right, first + middle, work));
        }
    }
}
