//! One sparse system solved for the coordinates of points, frame after frame.
//!
//! The factor is distributed over threads as by [`super::partition`] and kept in `f32` tiles; x, y and z are solved together. A solve
//! allocates nothing, and its result does not depend on the number of threads.

use super::lanes::{Padded, Slots, add, zeroed_slots};
use super::partition::{Partition, Triangle, for_each_subdomain};
use super::pattern::Cliques;
use super::substitution::{Scratch, backward, forward};
use super::tiles::TiledFactor;
use super::{FactorError, SymmetricMatrix};

/// A factored symmetric positive definite matrix, n × n, with the memory of a solve for n points.
pub(crate) struct PointSolver {
    /// `None` for n = 0.
    system: Option<(Partition, TiledFactor)>,
    subdomains: Vec<Workspace>,
    top: Workspace,
}

/// Right-hand sides and solutions of a subdomain or of the top.
struct Workspace {
    b: Box<Slots>,
    scratch: Scratch,
}

impl Workspace {
    fn new(triangle: &Triangle) -> Self {
        Self {
            b: zeroed_slots(),
            scratch: Scratch::for_triangle(triangle),
        }
    }
}

impl PointSolver {
    /// Orders, analyses and factors a matrix.
    ///
    /// # Errors
    /// [`FactorError`] if an entry is not finite, the matrix is not positive definite, or couples too many unknowns with each other.
    pub(crate) fn of(matrix: &SymmetricMatrix) -> Result<Self, FactorError> {
        let unknowns = matrix.unknowns();
        if unknowns == 0 {
            return Ok(Self {
                system: None,
                subdomains: Vec::new(),
                top: Workspace::new(&Triangle::default()),
            });
        }
        if let Some((row, column, value)) = matrix.entries().find(|(.., value)| !value.is_finite())
        {
            return Err(FactorError::NotFinite { row, column, value });
        }
        let pairs: Vec<[u32; 2]> = matrix
            .entries()
            .filter(|(row, column, _)| row != column)
            .map(|(row, column, _)| [column as u32, row as u32])
            .collect();
        let cliques = Cliques::of(pairs.iter().map(|pair| &pair[..]));
        let partition = Partition::analyse(&cliques, unknowns, &|_| 0)?;
        let factor = TiledFactor::of(&partition, matrix.values())?;
        Ok(Self {
            subdomains: partition
                .subdomains
                .iter()
                .map(|part| Workspace::new(&part.triangle))
                .collect(),
            top: Workspace::new(&partition.top_triangle),
            system: Some((partition, factor)),
        })
    }

    /// Solves for the right-hand side whose row v is `right(v)`; [`PointSolver::solution`] has the result. Allocates nothing.
    pub(crate) fn solve(&mut self, right: &(impl Fn(u32) -> Padded + Sync)) {
        let Some((partition, factor)) = &self.system else {
            return;
        };
        let top_len = partition.top.len();
        for_each_subdomain(&mut self.subdomains, 0, &|index, own| {
            let part = &partition.subdomains[index];
            for (slot, &unknown) in own.b.iter_mut().zip(&part.unknowns) {
                *slot = right(unknown);
            }
            own.b[part.unknowns.len()..part.free_start].fill([0.0; 4]);
            let tiles = &factor.subdomains[index];
            forward(&part.triangle, tiles, None, &mut own.b, &mut own.scratch);
        });
        let Workspace { b, scratch } = &mut self.top;
        for (slot, &unknown) in b.iter_mut().zip(&partition.top) {
            *slot = right(unknown);
        }
        for (own, part) in self.subdomains.iter().zip(&partition.subdomains) {
            let sums = &own.b[part.unknowns.len()..];
            for (sum, b) in b[..top_len].iter_mut().zip(sums) {
                *sum = add(*sum, *b);
            }
        }
        forward(&partition.top_triangle, &factor.top, None, b, scratch);
        backward(&partition.top_triangle, &factor.top, None, b, scratch);
        let top = &b[..top_len];
        for_each_subdomain(&mut self.subdomains, 0, &|index, own| {
            let part = &partition.subdomains[index];
            let first = part.unknowns.len();
            own.b[first..first + top_len].copy_from_slice(top);
            let tiles = &factor.subdomains[index];
            backward(&part.triangle, tiles, None, &mut own.b, &mut own.scratch);
        });
    }

    /// Row v of the last solution; zero before the first.
    pub(crate) fn solution(&self, unknown: u32) -> Padded {
        let Some((partition, _)) = &self.system else {
            return [0.0; 4];
        };
        let [owner, row] = partition.place[unknown as usize];
        let own = self.subdomains.get(owner as usize).unwrap_or(&self.top);
        own.b[row as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Laplacian of a path or of a grid plus the identity, or only the identity.
    fn matrix(unknowns: usize, step: usize) -> SymmetricMatrix {
        let edges = (0..unknowns).flat_map(|v| {
            [1, step]
                .into_iter()
                .filter(move |&s| s > 0 && v + s < unknowns)
                .map(move |s| (v, v + s))
        });
        let triplets = edges.flat_map(|(a, b)| [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0)]);
        SymmetricMatrix::from_triplets(unknowns, triplets).plus_diagonal(&vec![1.0; unknowns])
    }

    #[test]
    fn a_solve_undoes_a_product_with_any_number_of_threads() {
        for (unknowns, step) in [(1, 0), (2, 1), (7, 3), (400, 20), (6400, 80)] {
            let matrix = matrix(unknowns, step);
            let expected: Vec<f64> = (0..unknowns).map(|v| (v as f64 * 0.7).sin()).collect();
            let right = matrix.multiply(&expected);
            let mut solver = PointSolver::of(&matrix).expect("is definite");
            let solved = [1, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().expect("threads").install(|| {
                    solver.solve(&|v| [right[v as usize] as f32, 1.0, 0.0, 0.0]);
                });
                (0..unknowns as u32)
                    .map(|v| solver.solution(v))
                    .collect::<Vec<_>>()
            });
            assert!(solved[0] == solved[1]);
            for (v, solved) in solved[0].iter().enumerate() {
                assert!((f64::from(solved[0]) - expected[v]).abs() < 1e-4, "{v}");
                // Rows of the Laplacian sum to 0: constants stay as they are.
                assert!((solved[1] - 1.0).abs() < 1e-4, "{v}");
            }
        }
    }

    #[test]
    fn without_unknowns_nothing_is_solved() {
        let mut solver = PointSolver::of(&matrix(0, 0)).expect("is definite");
        solver.solve(&|_| [1.0; 4]);
        assert_eq!(solver.solution(3), [0.0; 4]);
    }

    #[test]
    fn thousands_of_parts_are_solved() {
        let matrix = SymmetricMatrix::from_triplets(
            10_000,
            (0..5000).flat_map(|k| {
                let (a, b) = (2 * k, 2 * k + 1);
                [(a, a, 2.0), (b, b, 2.0), (a, b, -1.0)]
            }),
        );
        let mut solver = PointSolver::of(&matrix).expect("is definite");
        solver.solve(&|_| [1.0; 4]);
        assert!((0..10_000).all(|v| (solver.solution(v)[0] - 1.0).abs() < 1e-6));
    }
}
