//! Chains of tets, the packing of the elements for the local step.
//!
//! Consecutive tets of a layer that share three corners form a chain with points p₀ … p₅, where tet t consists of `p_t … p_t+3`.
//! Three tets then need five edges, and a vector unit loads six points instead of twelve. A tet that shares no face with its
//! predecessor in the list is a chain of its own. Each point is either unknown or prescribed, in any combination.

use nalgebra::{Matrix3, Vector3};

use crate::numerics::pattern::Cliques;
use crate::tissue::{Corner, Layer, Tet};

/// Largest number of tets per chain.
pub(super) const TETS: usize = 3;
/// Largest number of points per chain.
pub(super) const POINTS: usize = TETS + 3;

/// Up to three tets over up to six points.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// The points; the last one is repeated where there are fewer than six.
    pub(super) corners: [Corner; POINTS],
    /// Number of points: number of tets plus three.
    pub(super) points: usize,
    /// The cell that determines its material: an index into [`Chains::cells`].
    pub(super) cell: u32,
    /// Inverse of the rest edges along the chain, 1/world unit; zero for degenerate or missing tets.
    pub(super) rest_inverse: [Matrix3<f64>; TETS],
    /// Volume of each tet, world units³; zero for degenerate or missing tets.
    pub(super) volume: [f64; TETS],
}

impl Chain {
    fn new(cell: u32) -> Self {
        Self {
            corners: [Corner::unknown(0); POINTS],
            points: 0,
            cell,
            rest_inverse: [Matrix3::zeros(); TETS],
            volume: [0.0; TETS],
        }
    }

    /// Whether the tet begins with the last three points of the chain.
    fn continues_with(&self, tet: &Tet) -> bool {
        (4..POINTS).contains(&self.points)
            && self.corners[self.points - 3..self.points] == tet.corners[..3]
    }

    fn push(&mut self, tet: &Tet) {
        if self.points == 0 {
            self.corners[..3].copy_from_slice(&tet.corners[..3]);
            self.points = 3;
        }
        let index = self.points - 3;
        self.corners[self.points..].fill(tet.corners[3]);
        self.points += 1;
        if let Some(inverse) = tet.rest_inverse {
            // Edges from the first corner are sums of edges along the chain.
            let sums = Matrix3::new(1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0);
            self.rest_inverse[index] = sums * inverse;
            self.volume[index] = tet.volume;
        }
    }

    /// Its distinct points.
    pub(super) fn own_corners(&self) -> &[Corner] {
        &self.corners[..self.points]
    }

    /// Whether its first three points are unknown and all others prescribed. Then only the first three need forces.
    pub(super) fn has_only_first_three_unknown(&self) -> bool {
        (0..self.points).all(|k| self.corners[k].as_unknown().is_some() == (k < 3))
    }

    /// `g_a = ∂F/∂x_a` of a point in a tet of the chain, 1/world unit. A point is the end of one edge of the chain and the start of
    /// the next.
    fn gradient(&self, tet: usize, point: usize) -> Vector3<f64> {
        let row = |k: usize| self.rest_inverse[tet].row(k).transpose();
        match point.checked_sub(tet) {
            Some(0) => -row(0),
            Some(k @ 1..3) => row(k - 1) - row(k),
            Some(3) => row(2),
            _ => Vector3::zeros(),
        }
    }

    /// `Σ V g_a·g_b` over the tets, for two points of the chain, world units.
    pub(super) fn stiffness(&self, a: usize, b: usize) -> f64 {
        let tets = 0..self.points - 3;
        tets.map(|tet| self.volume[tet] * self.gradient(tet, a).dot(&self.gradient(tet, b)))
            .sum()
    }

    /// `Σ V g_a` over the tets, for one point of the chain, world units².
    pub(super) fn volume_gradient(&self, a: usize) -> Vector3<f64> {
        let tets = 0..self.points - 3;
        tets.map(|tet| self.gradient(tet, a) * self.volume[tet])
            .sum()
    }
}

/// All elements of a tissue.
pub(super) struct Chains {
    /// The chains, in the order of the tets.
    pub(super) chains: Vec<Chain>,
    /// The unknowns of each cell, in order of appearance.
    pub(super) cells: Cliques,
}

impl Chains {
    /// Packs the tets of layers into chains. Chains without any unknown are dropped.
    pub(super) fn of(layers: &[Layer]) -> Self {
        let mut chains: Vec<Chain> = Vec::new();
        let mut cells: Vec<Vec<u32>> = Vec::new();
        for layer in layers {
            for cell in layer.tets.chunk_by(|a, b| a.cell == b.cell) {
                let mut unknowns: Vec<u32> = Vec::new();
                for unknown in cell
                    .iter()
                    .flat_map(|tet| tet.corners)
                    .filter_map(Corner::as_unknown)
                {
                    if !unknowns.contains(&unknown) {
                        unknowns.push(unknown);
                    }
                }
                if unknowns.is_empty() {
                    continue;
                }
                let first = chains.len();
                for tet in cell {
                    if !chains[first..]
                        .last()
                        .is_some_and(|chain| chain.continues_with(tet))
                    {
                        chains.push(Chain::new(cells.len() as u32));
                    }
                    if let Some(chain) = chains.last_mut() {
                        chain.push(tet);
                    }
                }
                cells.push(unknowns);
            }
        }
        chains.retain(|chain| {
            chain
                .own_corners()
                .iter()
                .any(|corner| corner.as_unknown().is_some())
        });
        Self {
            chains,
            cells: Cliques::of(cells.iter().map(|cell| &cell[..])),
        }
    }

    /// The unknowns of each chain.
    pub(super) fn cliques(&self) -> Cliques {
        let unknowns: Vec<Vec<u32>> = self
            .chains
            .iter()
            .map(|chain| {
                let corners = chain.own_corners().iter();
                corners.filter_map(|corner| corner.as_unknown()).collect()
            })
            .collect();
        Cliques::of(unknowns.iter().map(|clique| &clique[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    fn tet(corners: [Corner; 4], cell: u32) -> Tet {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Tet::at_rest(corners, cell, &points.map(Point64::from), true)
    }

    #[test]
    fn tets_that_share_three_corners_are_packed_together() {
        let (u, p) = (Corner::unknown, Corner::prescribed);
        let layer = Layer {
            tets: vec![
                tet([u(0), u(1), u(2), p(0)], 0),
                tet([u(1), u(2), p(0), p(1)], 0),
                tet([u(2), p(0), p(1), p(2)], 0),
                // Another cell: two tets that share a face, but not in chain order.
                tet([p(0), p(1), p(2), u(3)], 1),
                tet([u(3), p(1), p(2), u(4)], 1),
                // No unknowns.
                tet([p(0), p(1), p(2), p(3)], 2),
            ],
            cells: 3,
        };
        let chains = Chains::of(&[layer]);
        let packed: Vec<(usize, u32, bool)> = chains
            .chains
            .iter()
            .map(|chain| {
                (
                    chain.points,
                    chain.cell,
                    chain.has_only_first_three_unknown(),
                )
            })
            .collect();
        assert_eq!(packed, [(6, 0, true), (4, 1, false), (4, 1, false)]);
        assert_eq!(chains.cells.get(0), [0, 1, 2]);
        assert_eq!(chains.cells.get(1), [3, 4]);
    }

    /// Gradients of a linear function add up to zero, and so do the rows of the element's matrix.
    #[test]
    fn rows_of_the_stiffness_add_up_to_zero() {
        let u = Corner::unknown;
        let layer = Layer {
            tets: vec![
                tet([u(0), u(1), u(2), u(3)], 0),
                tet([u(1), u(2), u(3), u(4)], 0),
            ],
            cells: 1,
        };
        let chains = Chains::of(&[layer]).chains;
        assert_eq!(chains.len(), 1);
        for a in 0..5 {
            let sum: f64 = (0..5).map(|b| chains[0].stiffness(a, b)).sum();
            assert!(sum.abs() < 1e-12, "{a} {sum}");
        }
    }
}
