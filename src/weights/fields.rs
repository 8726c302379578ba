//! Fields of weights that minimise a quadratic energy with some nodes given: the linear systems of harmonic and biharmonic weights.
//!
//! With a Laplacian L (n × n, rows sum to 0) and masses M (n, diagonal), free nodes f and given nodes h with the values B:
//!
//! ```text
//! harmonic    Q = L                minimise Σⱼ ½ wⱼᵀ Q wⱼ:   Q_ff W = −Q_fh B        all columns at once
//! biharmonic  Q = L M⁻¹ L
//! ```

use rayon::prelude::*;

use super::WeightError;
use crate::numerics::{Cholesky, FactorError, Ordering, Scalar, SymmetricMatrix};
use crate::progress::Progress;

/// Right-hand sides between two looks at the cancel flag.
const COLUMNS: usize = 16;

/// Nodes whose weights are given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GivenNodes {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// Column and weight of each of them.
    pub rows: Vec<Vec<(u32, f64)>>,
}

/// A quadratic energy on free nodes: ½ wᵀ Q w summed over the columns of W.
#[derive(Debug, Clone)]
pub struct FieldSystem {
    /// `Q_ff`, free × free.
    pub matrix: SymmetricMatrix,
    /// `−Q_fh B`, free × columns, column by column.
    pub right: Vec<f64>,
    /// Columns of `right`.
    pub columns: usize,
    /// `½ Σⱼ Bⱼᵀ Q_hh Bⱼ`: the part of the energy that the free nodes don't change.
    pub constant: f64,
}

impl FieldSystem {
    /// The harmonic system of a Laplacian. `free` are the nodes to solve for, ascending; nodes neither free nor given count as 0 and
    /// must not be connected to free ones.
    #[must_use]
    pub fn harmonic(
        laplacian: &SymmetricMatrix,
        free: &[u32],
        given: &GivenNodes,
        columns: usize,
    ) -> Self {
        let rows = Rows::of(laplacian);
        let place = places(free, rows.len());
        let entries = laplacian.entries().filter_map(|(row, column, value)| {
            let (a, b) = (place[row], place[column]);
            (a != u32::MAX && b != u32::MAX).then_some((a as usize, b as usize, value))
        });
        let matrix = SymmetricMatrix::from_triplets(free.len(), entries);
        let (right, constant) = given_part(rows.len(), free, given, columns, &|x| rows.times(x));
        Self {
            matrix,
            right,
            columns,
            constant,
        }
    }

    /// The biharmonic system of a Laplacian and masses (one a node, positive); see [`FieldSystem::harmonic`].
    ///
    /// # Panics
    /// If there are not as many masses as nodes.
    #[must_use]
    pub fn biharmonic(
        laplacian: &SymmetricMatrix,
        mass: &[f64],
        free: &[u32],
        given: &GivenNodes,
        columns: usize,
    ) -> Self {
        assert_eq!(mass.len(), laplacian.unknowns(), "one mass a node");
        let rows = Rows::of(laplacian);
        let place = places(free, rows.len());
        let mut entries = Vec::new();
        for (middle, &mass) in mass.iter().enumerate() {
            let own: Vec<(usize, f64)> = rows
                .of_row(middle)
                .filter(|&(node, _)| place[node] != u32::MAX)
                .map(|(node, value)| (place[node] as usize, value))
                .collect();
            for (k, &(a, va)) in own.iter().enumerate() {
                entries.extend(own[..=k].iter().map(|&(b, vb)| (a, b, va * vb / mass)));
            }
        }
        let matrix = SymmetricMatrix::from_triplets(free.len(), entries);
        let apply = |x: &[f64]| {
            let mut y = rows.times(x);
            for (value, mass) in y.iter_mut().zip(mass) {
                *value /= mass;
            }
            rows.times(&y)
        };
        let (right, constant) = given_part(rows.len(), free, given, columns, &apply);
        Self {
            matrix,
            right,
            columns,
            constant,
        }
    }

    /// How many nodes are free.
    #[must_use]
    pub fn free(&self) -> usize {
        self.matrix.unknowns()
    }

    /// Factors the matrix.
    ///
    /// # Errors
    /// [`FactorError`], if a free node is not connected to a given one.
    pub fn factor<T: Scalar>(&self) -> Result<Cholesky<T>, FactorError> {
        Cholesky::factor(&self.matrix, Ordering::NestedDissection)
    }

    /// The energy of free × columns weights, row by row.
    #[must_use]
    pub fn energy(&self, rows: &[f64]) -> f64 {
        let free = self.free();
        let of_column = |column: usize| {
            let own: Vec<f64> = (0..free).map(|k| rows[k * self.columns + column]).collect();
            let right = &self.right[column * free..(column + 1) * free];
            let product = self.matrix.multiply(&own);
            let terms = own.iter().zip(product).zip(right);
            terms.map(|((w, q), b)| w * (0.5 * q - b)).sum::<f64>()
        };
        let energies: Vec<f64> = (0..self.columns).into_par_iter().map(of_column).collect();
        self.constant + energies.iter().sum::<f64>()
    }
}

/// Solves for all columns, in blocks between which a cancel is heeded.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn solve<T: Scalar>(
    factor: &Cholesky<T>,
    columns: &mut [T],
    progress: &Progress,
) -> Result<(), WeightError> {
    let free = factor.unknowns();
    if free == 0 {
        return Ok(());
    }
    let count = columns.len() / free;
    for (block, own) in columns.chunks_mut(COLUMNS * free).enumerate() {
        progress.check()?;
        progress.set_fraction((block * COLUMNS) as f32 / count.max(1) as f32);
        factor.solve(own);
    }
    Ok(())
}

/// The place of every node among the free ones, `u32::MAX` for others.
fn places(free: &[u32], nodes: usize) -> Vec<u32> {
    let mut place = vec![u32::MAX; nodes];
    for (k, &node) in free.iter().enumerate() {
        place[node as usize] = k as u32;
    }
    place
}

/// The right-hand sides and the constant of the energy.
fn given_part(
    nodes: usize,
    free: &[u32],
    given: &GivenNodes,
    columns: usize,
    apply: &(dyn Fn(&[f64]) -> Vec<f64> + Sync),
) -> (Vec<f64>, f64) {
    let mut entries: Vec<Vec<(u32, f64)>> = vec![Vec::new(); columns];
    for (&node, row) in given.nodes.iter().zip(&given.rows) {
        for &(column, value) in row {
            entries[column as usize].push((node, value));
        }
    }
    let of_column = |own: &Vec<(u32, f64)>| {
        let mut values = vec![0.0; nodes];
        for &(node, value) in own {
            values[node as usize] += value;
        }
        let product = apply(&values);
        let right: Vec<f64> = free.iter().map(|&node| -product[node as usize]).collect();
        let constant: f64 = values.iter().zip(&product).map(|(x, y)| 0.5 * x * y).sum();
        (right, constant)
    };
    let found: Vec<(Vec<f64>, f64)> = entries.par_iter().map(of_column).collect();
    let constant = found.iter().map(|(_, constant)| constant).sum();
    (
        found.into_iter().flat_map(|(right, _)| right).collect(),
        constant,
    )
}

/// A symmetric matrix by full rows.
struct Rows {
    starts: Vec<u32>,
    entries: Vec<(u32, f64)>,
}

impl Rows {
    fn of(matrix: &SymmetricMatrix) -> Self {
        let count = matrix.unknowns();
        let mut starts = vec![0_u32; count + 1];
        let both = |row: usize, column: usize| {
            [(row, column), (column, row)]
                .into_iter()
                .take(if row == column { 1 } else { 2 })
        };
        for (row, column, _) in matrix.entries() {
            for (from, _) in both(row, column) {
                starts[from + 1] += 1;
            }
        }
        for row in 0..count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[count] as usize];
        for (row, column, value) in matrix.entries() {
            for (from, to) in both(row, column) {
                entries[next[from] as usize] = (to as u32, value);
                next[from] += 1;
            }
        }
        Self { starts, entries }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of_row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.entries[range]
            .iter()
            .map(|&(column, value)| (column as usize, value))
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.len())
            .map(|row| {
                self.of_row(row)
                    .map(|(column, value)| value * x[column])
                    .sum()
            })
            .collect()
    }
}
