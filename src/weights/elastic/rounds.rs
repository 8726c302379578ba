//! Alternating minimisation of the energy of one joint: rotations of the cells, then the field.

use nalgebra::Matrix3;

use super::region::Region;
use crate::numerics::lanes::LANES;
use crate::numerics::polar::{LaneMatrix, closest_rotations};
use crate::numerics::{Cholesky, FactorError, Ordering};
use crate::progress::{Cancelled, Progress};

/// Rounds end when no value changes by more than this.
const CHANGE: f64 = 5e-3;
/// Largest number of rounds.
const ROUNDS: usize = 12;
/// Blocks of [`LANES`] cells that are worked on together.
const BLOCKS: usize = 3;

/// Which quarter turns a field is optimised for, in the joint's frame, whose z is the direction of the bone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// ±90° about x and about y.
    Swing,
    /// ±90° about z.
    Twist,
}

impl Turns {
    /// Axis and sign of every sample.
    #[must_use]
    pub fn samples(self) -> &'static [(usize, f32)] {
        match self {
            Self::Swing => &[(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)],
            Self::Twist => &[(2, 1.0), (2, -1.0)],
        }
    }

    /// The diagonal of Σₖ (Sₖ − I)ᵀ (Sₖ − I): 2 in the plane of each quarter turn.
    pub(super) fn metric(self) -> [f64; 3] {
        match self {
            Self::Swing => [4.0, 4.0, 8.0],
            Self::Twist => [4.0, 4.0, 0.0],
        }
    }
}

/// The optimised values of all local nodes of a region for both kinds of turns; the start values where the system cannot be factored.
/// `frame` is `joint_from_world` of the region.
pub(super) fn fields(
    region: &Region,
    frame: &Matrix3<f64>,
    progress: &Progress,
) -> Result<[Vec<f64>; 2], Cancelled> {
    let mut factor: Option<Cholesky<f64>> = None;
    let mut made = [region.values.clone(), region.values.clone()];
    for (turns, values) in [Turns::Swing, Turns::Twist].into_iter().zip(&mut made) {
        if region.free == 0 {
            continue;
        }
        progress.check()?;
        let (matrix, right) = region.system(turns.metric());
        // Both systems have the same pattern: it is analysed once.
        let factored: Result<&Cholesky<f64>, FactorError> = match factor.take() {
            Some(mut other) => other.refactor(&matrix).map(|()| &*factor.insert(other)),
            None => Cholesky::factor(&matrix, Ordering::Natural).map(|made| &*factor.insert(made)),
        };
        if let Ok(factored) = factored {
            minimise(region, frame, turns, (factored, &right), values, progress)?;
        }
    }
    Ok(made)
}

/// Alternates both steps. Returns how many rounds that took.
pub(super) fn minimise(
    region: &Region,
    frame: &Matrix3<f64>,
    turns: Turns,
    (factor, right): (&Cholesky<f64>, &[f64]),
    values: &mut [f64],
    progress: &Progress,
) -> Result<usize, Cancelled> {
    let mut local = LocalStep::new(region, frame, turns);
    let mut memory = factor.memory();
    let mut solution = vec![0.0; region.free];
    for round in 1..=ROUNDS {
        progress.check()?;
        local.right_into(region, values, &mut solution);
        for (value, right) in solution.iter_mut().zip(right) {
            *value += right;
        }
        factor.solve_one(&mut solution, &mut memory);
        if !solution.iter().all(|value| value.is_finite()) {
            return Ok(round);
        }
        let mut change = 0.0_f64;
        for (value, &new) in values.iter_mut().zip(&solution) {
            change = change.max((*value - new).abs());
            *value = new;
        }
        if change < CHANGE {
            return Ok(round);
        }
    }
    Ok(ROUNDS)
}

/// Buffers of the local step.
struct LocalStep {
    turns: Turns,
    /// The entries of `joint_from_world`, column by column.
    frame: [f32; 9],
    /// w x of every local node.
    weighted: Vec<[f32; 3]>,
    /// Σ N s(c) over the cells of every local node.
    forces: Vec<[f32; 3]>,
    /// Per sample and block.
    matrices: Vec<LaneMatrix>,
    /// Per block: first the gradients G of w x, then N.
    blocks: [LaneMatrix; BLOCKS],
}

impl LocalStep {
    fn new(region: &Region, frame: &Matrix3<f64>, turns: Turns) -> Self {
        let mut entries = [0.0; 9];
        for (entry, value) in entries.iter_mut().zip(frame.iter()) {
            *entry = *value as f32;
        }
        Self {
            turns,
            frame: entries,
            weighted: vec![[0.0; 3]; region.nodes.len()],
            forces: vec![[0.0; 3]; region.nodes.len()],
            matrices: vec![[[0.0; LANES]; 9]; BLOCKS * turns.samples().len()],
            blocks: [[[0.0; LANES]; 9]; BLOCKS],
        }
    }

    /// The right-hand side r of the free nodes: rₐ = xₐ · Σ N s(c).
    fn right_into(&mut self, region: &Region, values: &[f64], right: &mut [f64]) {
        for ((weighted, position), &value) in
            self.weighted.iter_mut().zip(&region.positions).zip(values)
        {
            *weighted = position.map(|x| x * value as f32);
        }
        self.forces.fill([0.0; 3]);
        for cells in region.cells.chunks(BLOCKS * LANES) {
            self.gather(cells);
            self.turn();
            self.scatter(cells);
        }
        for ((right, position), force) in right.iter_mut().zip(&region.positions).zip(&self.forces)
        {
            *right = (0..3)
                .map(|axis| f64::from(position[axis]) * f64::from(force[axis]))
                .sum();
        }
    }

    /// G of every cell: column a is a quarter of the sum of the differences of w x along the four edges in direction a.
    fn gather(&mut self, cells: &[[u32; 8]]) {
        for (block, cells) in self.blocks.iter_mut().zip(cells.chunks(LANES)) {
            for (lane, corners) in cells.iter().enumerate() {
                let y = corners.map(|node| self.weighted[node as usize]);
                for row in 0..3 {
                    let at = |corner: usize| y[corner][row];
                    let pairs: [(f32, f32); 4] = std::array::from_fn(|k| {
                        let (a, b) = (at(2 * k), at(2 * k + 1));
                        (a + b, b - a)
                    });
                    let [p, q, r, s] = pairs;
                    block[row][lane] = 0.25 * (p.1 + q.1 + (r.1 + s.1));
                    block[3 + row][lane] = 0.25 * ((q.0 - p.0) + (s.0 - r.0));
                    block[6 + row][lane] = 0.25 * ((r.0 + s.0) - (p.0 + q.0));
                }
            }
        }
    }

    /// From G to N = Σₖ (Sₖ − I)ᵀ (Rₖ − F), with Rₖ closest to F + (Sₖ − I) G and F the frame.
    fn turn(&mut self) {
        let samples = self.turns.samples();
        let f = &self.frame;
        for (matrices, &(axis, sign)) in self.matrices.chunks_mut(BLOCKS).zip(samples) {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            for (matrix, g) in matrices.iter_mut().zip(&self.blocks) {
                for column in [0, 3, 6] {
                    matrix[column + axis] = [f[column + axis]; LANES];
                    for lane in 0..LANES {
                        let (gp, gq) = (g[column + p][lane], g[column + q][lane]);
                        matrix[column + p][lane] = f[column + p] - gp - sign * gq;
                        matrix[column + q][lane] = f[column + q] + sign * gp - gq;
                    }
                }
            }
        }
        closest_rotations(&mut self.matrices);
        self.blocks = [[[0.0; LANES]; 9]; BLOCKS];
        for (matrices, &(axis, sign)) in self.matrices.chunks(BLOCKS).zip(samples) {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            for (r, n) in matrices.iter().zip(&mut self.blocks) {
                for column in [0, 3, 6] {
                    for lane in 0..LANES {
                        let dp = r[column + p][lane] - f[column + p];
                        let dq = r[column + q][lane] - f[column + q];
                        n[column + p][lane] += sign * dq - dp;
                        n[column + q][lane] -= sign * dp + dq;
                    }
                }
            }
        }
    }

    /// Adds N s(c) at every corner, s being the signs of its direction from the centre of the cell; clears the blocks.
    fn scatter(&mut self, cells: &[[u32; 8]]) {
        for (block, cells) in self.blocks.iter().zip(cells.chunks(LANES)) {
            for (lane, corners) in cells.iter().enumerate() {
                let n: [f32; 9] = std::array::from_fn(|entry| block[entry][lane]);
                for (corner, &node) in corners.iter().enumerate() {
                    let sign = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
                    let [x, y, z] = [sign(0), sign(1), sign(2)];
                    let force = &mut self.forces[node as usize];
                    for row in 0..3 {
                        force[row] += x * n[row] + y * n[3 + row] + z * n[6 + row];
                    }
                }
            }
        }
        self.blocks = [[[0.0; LANES]; 9]; BLOCKS];
    }
}
