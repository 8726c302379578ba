//! State of the unknowns of one owner (a subdomain or the top): positions, velocities, right-hand side, and the history of the
//! acceleration.

use crate::numerics::anderson::Products;
use crate::numerics::lanes::{Padded, Slots, add, dot, scaled, sub, zeroed_slots};

/// Number of rows that are summed in `f32`; the sums of blocks are added in `f64`.
const SUM_BLOCK: usize = 64;

/// Positions and right-hand side are stored in slots: the owner's rows first, then the other points of a subdomain (top rows,
/// prescribed points).
pub(super) struct Rows {
    /// Number of unknowns of this owner.
    pub(super) count: usize,
    /// Positions, world units.
    pub(super) x: Box<Slots>,
    /// Right-hand side; after the solve, increments of the positions.
    pub(super) b: Box<Slots>,
    /// Guidance targets of the owner's rows, followed by those of the top; zero without guidance.
    pub(super) target_position: Box<Slots>,
    /// Difference x − y to the guidance targets, in the same order.
    pub(super) delta: Box<Slots>,
    /// Guidance forces r at the targets.
    pub(super) guidance_force: Vec<Padded>,
    /// Largest distance by which inertia may leave a row behind its reference motion, world units.
    pub(super) max_lag: Vec<f32>,
    /// M/h², kg s⁻².
    pub(super) inertia: Vec<f32>,
    /// Physical over inertial mass; 1 unless jiggle differs from 1.
    pub(super) gravity_scale: Vec<f32>,
    /// Factor exp(−c h) of a step on the velocity relative to the base.
    pub(super) damping_factor: Vec<f32>,
    /// Rows with a prescribed position, and that position.
    pub(super) carried: Vec<(usize, Padded)>,
    /// Inertial prediction y of the positions.
    pub(super) target: Vec<Padded>,
    /// Positions before the step.
    pub(super) before: Vec<Padded>,
    pub(super) velocity: Vec<Padded>,
    /// Velocity of the base point or target that the row moves with.
    pub(super) base_velocity: Vec<Padded>,
    history: IterateHistory,
}

/// Previous iterates and their differences, for Anderson acceleration.
#[derive(Default)]
struct IterateHistory {
    position: Vec<Padded>,
    increment: Vec<Padded>,
    positions: Vec<Vec<Padded>>,
    increments: Vec<Vec<Padded>>,
}

impl Rows {
    pub(super) fn new(count: usize) -> Self {
        let zeros = || vec![[0.0; 4]; count];
        Self {
            count,
            x: zeroed_slots(),
            b: zeroed_slots(),
            target_position: zeroed_slots(),
            delta: zeroed_slots(),
            guidance_force: zeros(),
            max_lag: vec![f32::INFINITY; count],
            inertia: vec![0.0; count],
            gravity_scale: vec![1.0; count],
            damping_factor: vec![1.0; count],
            carried: Vec::new(),
            target: zeros(),
            before: zeros(),
            velocity: zeros(),
            base_velocity: zeros(),
            history: IterateHistory::default(),
        }
    }

    /// Allocates the history for this number of differences, the first time only.
    pub(super) fn reserve_history(&mut self, memory: usize) {
        if memory == 0 {
            return;
        }
        let IterateHistory {
            position,
            increment,
            positions,
            increments,
        } = &mut self.history;
        position.resize(self.count, [0.0; 4]);
        increment.resize(self.count, [0.0; 4]);
        while positions.len() < memory {
            positions.push(vec![[0.0; 4]; self.count]);
            increments.push(vec![[0.0; 4]; self.count]);
        }
    }

    /// Sets b = M/h² (y − x), or b = M/h² · `static_gravity` without inertia, and places carried rows. Returns the corresponding
    /// energy.
    pub(super) fn set_inertial_rhs(&mut self, static_gravity: Option<Padded>) -> f64 {
        for &(row, position) in &self.carried {
            (self.x[row], self.target[row]) = (position, position);
        }
        let mut energy = 0.0;
        let count = self.count;
        let (x, b) = (&self.x[..count], &mut self.b[..count]);
        if let Some(gravity) = static_gravity {
            for (((b, x), &m), &gravity_scale) in b
                .iter_mut()
                .zip(x)
                .zip(&self.inertia)
                .zip(&self.gravity_scale)
            {
                *b = scaled(gravity, m * gravity_scale);
                energy -= f64::from(dot(*b, *x));
            }
        } else {
            for (((b, x), y), &m) in b.iter_mut().zip(x).zip(&self.target).zip(&self.inertia) {
                let offset = sub(*y, *x);
                *b = scaled(offset, m);
                energy += 0.5 * f64::from(dot(*b, offset));
            }
        }
        energy
    }

    /// Sets the right-hand side of carried rows to zero.
    pub(super) fn clear_carried(&mut self) {
        for &(row, _) in &self.carried {
            self.b[row] = [0.0; 4];
        }
    }

    /// x ← x + f.
    pub(super) fn advance(&mut self) {
        for (x, f) in self.x[..self.count].iter_mut().zip(&self.b[..self.count]) {
            *x = add(*x, *f);
        }
        // Contacts and coupling may have moved carried rows: place them again.
        for &(row, position) in &self.carried {
            self.x[row] = position;
        }
    }

    /// Largest increment of a vertex, world units.
    pub(super) fn largest_increment(&self) -> f32 {
        self.b[..self.count]
            .iter()
            .fold(0.0_f32, |most, f| most.max(dot(*f, *f)))
            .sqrt()
    }

    /// Stores the differences to the previous iterate in `slot` (if there is a previous one), stores this iterate, and returns
    /// products with `count` slots.
    pub(super) fn record(&mut self, slot: Option<usize>, count: usize) -> Products {
        let rows = self.count;
        let (x, f) = (&self.x[..rows], &self.b[..rows]);
        let IterateHistory {
            position,
            increment,
            positions,
            increments,
        } = &mut self.history;
        if let Some(slot) = slot {
            let (dx, df) = (&mut positions[slot], &mut increments[slot]);
            for row in 0..rows {
                dx[row] = sub(x[row], position[row]);
                df[row] = sub(f[row], increment[row]);
            }
        }
        position.copy_from_slice(x);
        increment.copy_from_slice(f);
        let mut products = Products {
            norm2: product(f, f),
            ..Products::default()
        };
        for k in 0..count {
            if let Some(slot) = slot {
                products.newest[k] = product(&increments[slot], &increments[k]);
            }
            products.increment[k] = product(&increments[k], f);
        }
        products
    }

    /// x ← x + f − Σ γₖ (Δxₖ + Δfₖ), with the recorded differences.
    pub(super) fn extrapolate(&mut self, gamma: &[f32]) {
        let rows = self.count;
        let IterateHistory {
            position,
            increment,
            positions,
            increments,
        } = &self.history;
        let x = &mut self.x[..rows];
        for row in 0..rows {
            x[row] = add(position[row], increment[row]);
        }
        for ((dx, df), &g) in positions.iter().zip(increments).zip(gamma) {
            for row in 0..rows {
                x[row] = sub(x[row], scaled(add(dx[row], df[row]), g));
            }
        }
    }
}

/// ⟨a, b⟩ over x, y, z (the padding is zero). Blocks are added in a fixed order, so that the result is deterministic.
fn product(a: &[Padded], b: &[Padded]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(SUM_BLOCK).zip(b.chunks(SUM_BLOCK)) {
        let mut lanes = [0.0_f32; 4];
        for (a, b) in a.iter().zip(b) {
            for k in 0..4 {
                lanes[k] += a[k] * b[k];
            }
        }
        sum += f64::from(lanes[0]) + f64::from(lanes[1]) + f64::from(lanes[2]);
    }
    sum
}
