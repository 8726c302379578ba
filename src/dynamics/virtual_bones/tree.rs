//! The global step of rods: direct solve on a tree.

use nalgebra::{Matrix4, Vector3};

use super::parts::{Rod, RodNode};

/// Block Cholesky factor of M/h² + Σ wₑ (I − 1 1ᵀ/8) over the unknown nodes, a forest. Elimination from the leaves causes no
/// fill-in.
#[derive(Clone, Default)]
pub(super) struct TreeFactor {
    /// In elimination order: the inverse of each node's diagonal block after all its children are eliminated.
    pub(super) inverse: Vec<Matrix4<f64>>,
    /// In elimination order: the parent node, and the off-diagonal block to it; `None` for roots.
    coupling: Vec<Option<(usize, Matrix4<f64>)>>,
    /// h².
    pub(super) step2: f64,
}

impl TreeFactor {
    /// Approximate memory of its vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.inverse) + size_of_val(&*self.coupling)
    }

    pub(super) fn factor(
        &mut self,
        nodes: &[RodNode],
        rods: &[Rod],
        order: &[usize],
        step_secs: f64,
    ) {
        self.step2 = step_secs * step_secs;
        let ones = Matrix4::repeat(1.0 / 8.0);
        let mut blocks: Vec<Matrix4<f64>> = nodes
            .iter()
            .map(|node| Matrix4::identity() * (node.mass / self.step2))
            .collect();
        for rod in rods {
            for end in rod.ends {
                blocks[end] += (Matrix4::identity() - ones) * rod.stiffness;
            }
        }
        self.inverse.clear();
        self.coupling.clear();
        for &node in order {
            // The block is positive definite: a mass on the diagonal plus stiffness.
            let inverse = blocks[node].try_inverse().unwrap_or_else(Matrix4::zeros);
            let coupling = nodes[node].parent_rod.map(|rod| {
                let [a, b] = rods[rod].ends;
                let parent = if a == node { b } else { a };
                let block = ones * -rods[rod].stiffness;
                blocks[parent] -= block.transpose() * inverse * block;
                (parent, block)
            });
            self.inverse.push(inverse);
            self.coupling.push(coupling);
        }
    }

    /// Replaces the residuals of the unknown nodes by the solution.
    pub(super) fn solve(&self, nodes: &mut [RodNode], order: &[usize]) {
        let rows = |node: &RodNode| nalgebra::Matrix4x3::from_fn(|k, c| node.residual[k][c]);
        let set = |node: &mut RodNode, rows: &nalgebra::Matrix4x3<f64>| {
            for k in 0..4 {
                node.residual[k] = Vector3::new(rows[(k, 0)], rows[(k, 1)], rows[(k, 2)]);
            }
        };
        for (at, &node) in order.iter().enumerate() {
            if let Some((parent, block)) = &self.coupling[at] {
                let updated = rows(&nodes[*parent])
                    - block.transpose() * (self.inverse[at] * rows(&nodes[node]));
                set(&mut nodes[*parent], &updated);
            }
        }
        for (at, &node) in order.iter().enumerate().rev() {
            let mut own = rows(&nodes[node]);
            if let Some((parent, block)) = &self.coupling[at] {
                own -= block * rows(&nodes[*parent]);
            }
            let solved = self.inverse[at] * own;
            set(&mut nodes[node], &solved);
        }
    }
}
