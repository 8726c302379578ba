//! Matrices in the layout that conjugate gradients on GPUs read, and the same solver on the CPU.
//!
//! Komaritzan's thesis, section 3.2.3: every row has at least *width* entries, and that many are stored in ELL format: column-major, so
//! that neighbouring threads read neighbouring numbers, the diagonal first. What longer rows have besides is stored in CRS format and
//! read by all threads of a workgroup together.
//!
//! Chronopoulos, Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25(2), 1989, for s = 1: both
//! scalar products of an iteration are of vectors that are known at the same time, so that one pass over the rows is enough. With the
//! diagonal D, and everything preconditioned by it (û = D⁻¹r, ŵ = D⁻¹w, ŝ = D⁻¹s), iteration k is
//!
//! ```text
//!     γ = (û, Dû), δ = (ŵ, Dû),   β = γ/γ′ (0 at first),   α = γ/(δ − βγ/α′)
//!     p ← û + βp,  ŝ ← ŵ + βŝ,  x ← x + αp,  û ← û − αŝ,  ŵ ← D⁻¹ A û
//! ```
//!
//! Coordinates are three systems with the same matrix and each its own α and β.
//!
//! # Departures
//! - Rows that are coupled with nothing do not count for the width; they are filled up with zeros. Loose vertices would make it one.

use super::RowMatrix;
use super::lines::add;

/// Rows are filled up with rows of zeros to a multiple of this.
pub const HYBRID_ROWS: usize = 128;

/// An entry: column, and the bits of an `f32`.
pub type Entry = [u32; 2];

/// ELL and CRS.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridMatrix {
    /// Rows that are unknowns.
    pub rows: usize,
    /// Rows with those of zeros.
    pub stride: usize,
    /// Entries of every row in ELL format.
    pub width: usize,
    /// Entry k of row r at `k * stride + r`, k < `width`; the diagonal is k = 0.
    pub ell: Vec<Entry>,
    /// Where the rest of each of the `stride` rows begins in `crs`, and its length at the end.
    pub starts: Vec<u32>,
    /// The other entries, row by row.
    pub crs: Vec<Entry>,
}

fn entry(column: u32, value: f64) -> Entry {
    [column, (value as f32).to_bits()]
}

/// a / b, and 0 where b is not positive.
fn quotient(a: f32, b: f32) -> f32 {
    if b > 0.0 { a / b } else { 0.0 }
}

impl HybridMatrix {
    /// Of a matrix whose rows begin with the diagonal.
    #[must_use]
    pub fn of(matrix: &RowMatrix) -> Self {
        let rows = matrix.rows();
        let range = |row: usize| matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
        let stride = rows.next_multiple_of(HYBRID_ROWS);
        let width = (0..rows)
            .map(|row| range(row).len())
            .filter(|&entries| entries > 1)
            .min()
            .unwrap_or(1);
        let mut ell = vec![[0; 2]; width * stride];
        let mut starts = vec![0];
        let mut crs = Vec::new();
        for row in 0..rows {
            let entries: Vec<Entry> = range(row)
                .map(|k| entry(matrix.columns[k], matrix.values[k]))
                .collect();
            let (first, rest) = entries.split_at(width.min(entries.len()));
            for k in 0..width {
                ell[k * stride + row] = first.get(k).copied().unwrap_or([row as u32, 0]);
            }
            crs.extend_from_slice(rest);
            starts.push(crs.len() as u32);
        }
        starts.resize(stride + 1, crs.len() as u32);
        Self {
            rows,
            stride,
            width,
            ell,
            starts,
            crs,
        }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        8 * (self.ell.len() + self.crs.len()) + 4 * self.starts.len()
    }

    /// About what [`HybridMatrix::bytes`] would be.
    #[must_use]
    pub fn bytes_of(matrix: &RowMatrix) -> usize {
        8 * matrix.columns.len() + 4 * matrix.starts.len()
    }

    /// Row `row` times a vector, in the order of the entries.
    fn product(&self, row: usize, of: &[[f32; 3]]) -> [f32; 3] {
        let rest = self.starts[row] as usize..self.starts[row + 1] as usize;
        let mut sum = [0.0; 3];
        for [column, bits] in (0..self.width)
            .map(|k| self.ell[k * self.stride + row])
            .chain(self.crs[rest].iter().copied())
        {
            add(&mut sum, f32::from_bits(bits), of[column as usize]);
        }
        sum
    }

    fn diagonal(&self, row: usize) -> f32 {
        f32::from_bits(self.ell[row][1])
    }

    /// CPU twin of the device's solver: solves A x = b, starting from what is in x, and stops when (r, D⁻¹r) is at most `tolerance`² of (b, D⁻¹b).
    /// Returns the iterations done.
    ///
    /// # Panics
    /// If b or x have another length than the matrix has rows.
    pub fn gradients(
        &self,
        b: &[[f32; 3]],
        x: &mut [[f32; 3]],
        iterations: usize,
        tolerance: f32,
    ) -> usize {
        assert_eq!(
            [b.len(), x.len()],
            [self.rows; 2],
            "one right-hand side and one unknown a row"
        );
        let n = self.rows;
        let scaled = |v: [f32; 3], row: usize| v.map(|v| v / self.diagonal(row));
        let left = |row: usize| {
            let (b, product) = (b[row], self.product(row, x));
            [b[0] - product[0], b[1] - product[1], b[2] - product[2]]
        };
        let mut u: Vec<[f32; 3]> = (0..n).map(|row| scaled(left(row), row)).collect();
        let mut w: Vec<[f32; 3]> = (0..n)
            .map(|row| scaled(self.product(row, &u), row))
            .collect();
        let (mut p, mut s) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
        let (mut old_alpha, mut old_gamma) = ([0.0_f32; 3], [0.0_f32; 3]);
        let whole: f32 = (0..n)
            .map(|row| b[row].iter().map(|b| b * b).sum::<f32>() / self.diagonal(row))
            .sum();
        for done in 0..iterations {
            let (gamma, delta) = (self.dot(&u, &u), self.dot(&w, &u));
            if gamma.iter().sum::<f32>() <= tolerance * tolerance * whole {
                return done;
            }
            for (c, (gamma, delta)) in gamma.into_iter().zip(delta).enumerate() {
                let beta = quotient(gamma, old_gamma[c]);
                let alpha = quotient(gamma, delta - quotient(beta * gamma, old_alpha[c]));
                for row in 0..n {
                    p[row][c] = u[row][c] + beta * p[row][c];
                    s[row][c] = w[row][c] + beta * s[row][c];
                    x[row][c] += alpha * p[row][c];
                    u[row][c] -= alpha * s[row][c];
                }
                (old_alpha[c], old_gamma[c]) = (alpha, gamma);
            }
            for (row, w) in w.iter_mut().enumerate() {
                *w = scaled(self.product(row, &u), row);
            }
        }
        iterations
    }

    /// Σ D a·b for each coordinate; blocks are summed first, as workgroups do.
    fn dot(&self, a: &[[f32; 3]], b: &[[f32; 3]]) -> [f32; 3] {
        let mut total = [0.0; 3];
        for first in (0..self.rows).step_by(HYBRID_ROWS) {
            let mut sum = [0.0; 3];
            for row in first..(first + HYBRID_ROWS).min(self.rows) {
                let (a, b) = (a[row], b[row]);
                add(
                    &mut sum,
                    self.diagonal(row),
                    std::array::from_fn(|c| a[c] * b[c]),
                );
            }
            add(&mut total, 1.0, sum);
        }
        total
    }
}
