//! The equations of a time step as flat arrays, for solvers on other devices (`gpu::flesh`).
//!
//! ```text
//!     minimise over x:  Σ_r inertia_r/2 ‖x_r − y_r‖² + Σ_t weight_t/2 (‖F_t − R_t‖² + volume ‖F_t − F*_t‖²)
//! ```
//! with F = E Ē⁻¹, E the edges of a tet along its chain. *Rows* are the unknowns in elimination order. In this order, coupled rows
//! are close to each other, and the Cholesky factor has little fill-in.

use faer::sparse::linalg::cholesky::SymbolicCholeskyRaw;

use super::system::System;
use super::{Materials, Params};
use crate::math::{Point, Vec3};
use crate::numerics::lanes::LANES;
use crate::numerics::{Elimination, RowMatrix};
use crate::tissue::{Corner, CornerKind};

/// Up to three tets over a chain of six points; tet t consists of the points t … t + 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EquationChain {
    /// Its points: rows of unknowns, or indices of prescribed points in the base of a step. Where there are fewer than six, the
    /// last one is repeated.
    pub corners: [Corner; 6],
    /// Number of points: number of tets plus three.
    pub points: usize,
    /// Ē⁻¹ of each tet, column-major, 1/world unit; zero for degenerate or missing tets.
    pub rest_inverse: [[f32; 9]; 3],
    /// Stiffness times volume of each tet; zero for degenerate or missing tets.
    pub weights: [f32; 3],
}

impl EquationChain {
    /// The rows of its unknowns, each with its index among the points.
    pub fn rows(&self) -> impl Iterator<Item = (usize, u32)> {
        self.corners[..self.points]
            .iter()
            .enumerate()
            .filter_map(|(k, corner)| Some((k, corner.as_unknown()?)))
    }
}

/// The constants of a time step, independent of the pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Equations {
    /// The unknown of each row.
    pub vertex_of_row: Vec<u32>,
    /// The elements, sorted by their rows.
    pub chains: Vec<EquationChain>,
    /// The constant matrix M/h² + Qᵀ W Q.
    pub matrix: RowMatrix,
    /// Supernodes of its Cholesky factor, children before parents.
    pub eliminations: Vec<Elimination>,
    /// M/h² per row, kg s⁻².
    pub inertia: Vec<f32>,
    /// Physical over inertial mass per row; 1 unless jiggle differs from 1.
    pub gravity_scale: Vec<f32>,
    /// Factor exp(−c h) of a step on a row's velocity relative to its base.
    pub damping_factor: Vec<f32>,
    /// Per row, the prescribed point that it moves with, see [`crate::tissue::Tissue::references`].
    pub references: Vec<u32>,
    /// Rows that are not simulated, each with the prescribed point that it is placed at.
    pub carried: Vec<[u32; 2]>,
    /// Number of prescribed points.
    pub base_points: usize,
    /// Simulated time of a step, s.
    pub step_secs: f32,
    /// Acceleration of gravity, world units s⁻².
    pub gravity: Vec3,
    /// Limit of a row's speed relative to its base, world units per simulated second.
    pub max_speed: f32,
    /// Σ w V over all tets: the scale of energies.
    pub total_weight: f64,
    /// Resistance to changes of volume, relative to the resistance to changes of shape.
    pub volume: f32,
    /// Local/global iterations of a step.
    pub iterations: u32,
    /// Number of earlier iterations that Anderson acceleration combines; 0 for plain iterations.
    pub acceleration: u32,
}

/// State of a simulation: positions and velocities, by unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// World positions.
    pub position: Vec<Point>,
    /// World units per simulated second.
    pub velocity: Vec<Vec3>,
    /// Velocity of the prescribed point that the unknown moves with, or of its target.
    pub base_velocity: Vec<Vec3>,
    /// The prescribed points, world positions.
    pub base: Vec<Point>,
}

impl State {
    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.position)
            + size_of_val(&*self.velocity)
            + size_of_val(&*self.base_velocity)
            + size_of_val(&*self.base)
    }
}

impl System {
    /// The equations with these parameters. Rows are in the elimination order of this system.
    pub(super) fn equations(
        &self,
        params: &Params,
        materials: &Materials,
        gravity: Vec3,
        max_speed: f32,
    ) -> Equations {
        let h = params.simulated_step_secs();
        let (vertex_of_row, row_of_vertex) = self.rows();
        let by_row = |of: &dyn Fn(usize) -> f64| {
            vertex_of_row
                .iter()
                .map(|&v| of(v as usize) as f32)
                .collect::<Vec<f32>>()
        };
        let row = |v: u32| row_of_vertex[v as usize];
        let carried = self
            .carried
            .iter()
            .map(|&[unknown, point]| [row(unknown), point])
            .collect();
        Equations {
            chains: self.equation_chains(params, materials, &row_of_vertex),
            matrix: self.equation_matrix(params, materials, &row_of_vertex),
            eliminations: self.eliminations(),
            inertia: by_row(&|v| self.inertial_mass(v, params, materials) / (h * h)),
            gravity_scale: by_row(&|v| 1.0 / materials.inertia(v, params)),
            damping_factor: by_row(&|v| (-materials.damping_per_s(v, params) * h).exp()),
            carried,
            references: vertex_of_row
                .iter()
                .map(|&unknown| self.references[unknown as usize])
                .collect(),
            base_points: self.prescribed,
            step_secs: h as f32,
            gravity,
            max_speed,
            total_weight: self.total_volume * self.stiffness_scale(params),
            volume: params.volume as f32,
            iterations: params.iterations,
            acceleration: params.acceleration,
            vertex_of_row,
        }
    }

    /// The unknown of each row, and the row of each unknown.
    fn rows(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.unknowns();
        let vertex_of_row: Vec<u32> = match self.partition.symbolic.perm() {
            Some(permutation) => permutation.arrays().0.to_vec(),
            None => (0..count as u32).collect(),
        };
        let mut row_of_vertex = vec![0; count];
        for (row, &vertex) in vertex_of_row.iter().enumerate() {
            row_of_vertex[vertex as usize] = row as u32;
        }
        (vertex_of_row, row_of_vertex)
    }

    /// The elements with the unknowns in their own order.
    pub(super) fn chains_by_unknown(
        &self,
        params: &Params,
        materials: &Materials,
    ) -> Vec<EquationChain> {
        let same: Vec<u32> = (0..self.unknowns() as u32).collect();
        self.equation_chains(params, materials, &same)
    }

    fn equation_chains(
        &self,
        params: &Params,
        materials: &Materials,
        row_of_vertex: &[u32],
    ) -> Vec<EquationChain> {
        let mut chains = Vec::new();
        for (subdomain, elements) in self.partition.subdomains.iter().zip(&self.blocks) {
            for (index, &element) in subdomain.cliques.iter().enumerate() {
                let (block, lane) = (&elements.blocks[index / LANES], index % LANES);
                let chain = &self.chains.chains[element as usize];
                chains.push(EquationChain {
                    corners: chain.corners.map(|corner| match corner.kind() {
                        CornerKind::Unknown(unknown) => {
                            Corner::unknown(row_of_vertex[unknown as usize])
                        }
                        CornerKind::Prescribed(_) => corner,
                    }),
                    points: chain.points,
                    rest_inverse: block.rest_inverse_of(lane),
                    weights: self
                        .chain_weights(element, params, materials)
                        .map(|weight| weight as f32),
                });
            }
        }
        chains.sort_by_key(|chain| {
            let mut rows: Vec<u32> = chain.rows().map(|(_, row)| row).collect();
            rows.sort_unstable();
            rows
        });
        chains
    }

    fn equation_matrix(
        &self,
        params: &Params,
        materials: &Materials,
        row_of_vertex: &[u32],
    ) -> RowMatrix {
        let values = self.matrix(params, materials, params.simulated_step_secs());
        let pattern = &self.partition.pattern;
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.unknowns()];
        for column in 0..self.unknowns() {
            let range = pattern.column(column);
            let own = row_of_vertex[column];
            for (&vertex, &value) in pattern.rows[range.clone()].iter().zip(&values[range]) {
                let other = row_of_vertex[vertex as usize];
                rows[own as usize].push((other, value));
                if other != own {
                    rows[other as usize].push((own, value));
                }
            }
        }
        let mut matrix = RowMatrix {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        for (row, mut entries) in rows.into_iter().enumerate() {
            entries.sort_by_key(|&(column, _)| (column as usize != row, column));
            matrix
                .columns
                .extend(entries.iter().map(|&(column, _)| column));
            matrix
                .values
                .extend(entries.iter().map(|&(_, value)| value));
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix
    }

    fn eliminations(&self) -> Vec<Elimination> {
        let SymbolicCholeskyRaw::Supernodal(nodes) = self.partition.symbolic.raw() else {
            return Vec::new();
        };
        let mut begin: Vec<u32> = nodes.supernode_begin().to_vec();
        begin.truncate(nodes.n_supernodes());
        begin.push(self.unknowns() as u32);
        let of = |s: usize| {
            let mut below = nodes.supernode(s).pattern().to_vec();
            below.sort_unstable();
            Elimination {
                first: begin[s],
                count: begin[s + 1] - begin[s],
                below,
            }
        };
        (0..nodes.n_supernodes()).map(of).collect()
    }
}
