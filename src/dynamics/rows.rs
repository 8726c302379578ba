//! The unknowns of one owner (a subdomain or the top), with what a step and its acceleration remember of them.

use crate::numerics::anderson::Products;
use crate::numerics::lanes::{Padded, Slots, add, dot, scaled, sub, zeroed_slots};

/// Rows summed up in `f32` before the sum is taken on in `f64`.
const SUM_BLOCK: usize = 64;

/// Positions and right-hand side are slots: own rows come first, a subdomain's others behind them.
pub(super) struct Rows {
    /// How many unknowns are owned.
    pub(super) count: usize,
    /// Positions.
    pub(super) x: Box<Slots>,
    /// Right-hand side, then increments.
    pub(super) b: Box<Slots>,
    /// Targets of guidance, those of the top behind the own; zero without guidance.
    pub(super) target_position: Box<Slots>,
    /// x − y, likewise.
    pub(super) delta: Box<Slots>,
    /// Forces of guidance at the targets.
    pub(super) guidance_force: Vec<Padded>,
    /// Inertia leaves a row behind what carries it by at most this, world units.
    pub(super) max_lag: Vec<f32>,
    /// M/h².
    pub(super) inertia: Vec<f32>,
    /// Weight over inertial mass: 1 but for jiggle.
    pub(super) gravity_scale: Vec<f32>,
    /// The part of the velocity relative to its base that a step leaves.
    pub(super) damping_factor: Vec<f32>,
    /// Rows that are no unknowns, and where they are put.
    pub(super) carried: Vec<(usize, Padded)>,
    /// Where inertia alone would go.
    pub(super) target: Vec<Padded>,
    /// Positions before the step.
    pub(super) before: Vec<Padded>,
    pub(super) velocity: Vec<Padded>,
    /// Velocity of the base below.
    pub(super) base_velocity: Vec<Padded>,
    history: IterateHistory,
}

/// The last iterates and differences, for the acceleration.
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

    /// Room for an acceleration with this memory; allocates only the first time.
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

    /// b = M/h² (y − x), or the weight in a constant field; returns the energy of it. Carried rows are put into their places.
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

    /// Carried rows stay where they are.
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
        // Contacts push them, too.
        for &(row, position) in &self.carried {
            self.x[row] = position;
        }
    }

    /// How far the vertex that moves most goes.
    pub(super) fn largest_increment(&self) -> f32 {
        self.b[..self.count]
            .iter()
            .fold(0.0_f32, |most, f| most.max(dot(*f, *f)))
            .sqrt()
    }

    /// Puts the differences to the last iterate into `slot` (if there was one), keeps this one, and takes products over `count` slots.
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

    /// x ← x + f − Σ γₖ (Δxₖ + Δfₖ), from what was recorded.
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

/// ⟨a, b⟩ over x, y, z (the pads are zero), the blocks summed in a fixed order.
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
