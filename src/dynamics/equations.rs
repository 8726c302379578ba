//! The equations of a time step as plain numbers, for solvers that run elsewhere (`gpu::flesh`).
//!
//! ```text
//!     minimise over x:  Σ_r inertia_r/2 ‖x_r − y_r‖² + Σ_t weight_t/2 (‖F_t − R_t‖² + volume ‖F_t − F*_t‖²)
//! ```
//! with F = E Ē⁻¹, E the edges of a tet along its prism's chain. *Rows* are the skin vertices in order of elimination: rows that are
//! coupled lie close to each other, and the factor of the matrix fills in little.

use faer::sparse::linalg::cholesky::SymbolicCholeskyRaw;

use super::lanes::LANES;
use super::system::System;
use super::{Materials, Params};
use crate::math::{Point, Vec3};

/// One prism of three tets, as a chain of six points; tet t is made of the points t … t + 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EquationPrism {
    /// Rows of its three skin points, the first of the chain.
    pub skin: [u32; 3],
    /// The base points that end it, as they are in the base that is handed to a step.
    pub base: [u32; 3],
    /// Ē⁻¹ of each tet, column by column, 1/world unit; zero for tets that take no part.
    pub rest_inverse: [[f32; 9]; 3],
    /// Stiffness times volume of each tet; zero for those that take no part.
    pub weights: [f32; 3],
}

/// M/h² + Qᵀ W Q, all entries of every row: the diagonal first, then ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct EquationMatrix {
    /// Where each row begins, and the number of entries at the end.
    pub starts: Vec<u32>,
    /// Column of every entry.
    pub columns: Vec<u32>,
    /// Value of every entry.
    pub values: Vec<f64>,
}

/// Rows that are eliminated together, and the rows below that they reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elimination {
    /// First row.
    pub first: u32,
    /// How many rows.
    pub count: u32,
    /// Later rows that these are coupled with when their turn comes, ascending.
    pub below: Vec<u32>,
}

/// Everything that a step needs and no pose changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Equations {
    /// Skin vertex of every row.
    pub vertex_of_row: Vec<u32>,
    /// The prisms; those that share rows follow each other.
    pub prisms: Vec<EquationPrism>,
    /// The constant matrix.
    pub matrix: EquationMatrix,
    /// Supernodes of its Cholesky factor, children before parents.
    pub eliminations: Vec<Elimination>,
    /// Mass over h² of every row, kg s⁻².
    pub inertia: Vec<f32>,
    /// Weight over inertial mass of every row: 1 but for jiggle.
    pub heaviness: Vec<f32>,
    /// The part of a row's velocity relative to its base that a step leaves.
    pub kept: Vec<f32>,
    /// Rows that are no unknowns, and the point of the base that each is put at.
    pub carried: Vec<[u32; 2]>,
    /// Points of the base: one under every skin vertex, by vertex, then those of the carried rows.
    pub base_points: usize,
    /// Simulated time of a step, s.
    pub step_secs: f32,
    /// Acceleration of gravity, world units s⁻².
    pub gravity: Vec3,
    /// No row is faster relative to its base, world units per simulated second.
    pub fastest: f32,
    /// Σ w V over all tets: the scale of energies.
    pub total_weight: f64,
    /// Resistance to changes of volume, relative to that to changes of shape.
    pub volume: f32,
    /// Local/global iterations of a step.
    pub iterations: u32,
    /// Earlier iterations that Anderson acceleration combines; 0 for plain iterations.
    pub acceleration: u32,
}

/// Where a simulation is and where it goes, by skin vertex.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// World positions.
    pub position: Vec<Point>,
    /// World units per simulated second.
    pub velocity: Vec<Vec3>,
    /// Velocity of the base below.
    pub base_velocity: Vec<Vec3>,
    /// The base that they are over, and after it the places of the carried vertices.
    pub base: Vec<Point>,
}

impl System {
    /// The equations under these parameters; rows are this system's own.
    pub(super) fn equations(&self, params: &Params, materials: &Materials, gravity: Vec3, fastest: f32) -> Equations {
        let h = params.simulated_step_secs();
        let (vertex_of_row, row_of_vertex) = self.rows();
        let by_row = |of: &dyn Fn(usize) -> f64| vertex_of_row.iter().map(|&v| of(v as usize) as f32).collect::<Vec<f32>>();
        let row = |v: u32| row_of_vertex[v as usize];
        let carried = self.carried.iter().enumerate().map(|(k, &vertex)| [row(vertex), (self.unknowns() + k) as u32]).collect();
        Equations {
            prisms: self.equation_prisms(params, materials, &row_of_vertex),
            matrix: self.equation_matrix(params, materials, &row_of_vertex),
            eliminations: self.eliminations(),
            inertia: by_row(&|v| self.inertial_mass(v, params, materials) / (h * h)),
            heaviness: by_row(&|v| 1.0 / materials.inertia(v, params)),
            kept: by_row(&|v| (-materials.damping_per_s(v, params) * h).exp()),
            carried,
            base_points: self.unknowns() + self.carried.len(),
            step_secs: h as f32,
            gravity,
            fastest,
            total_weight: self.total_volume * self.stiffness_scale(params),
            volume: params.volume as f32,
            iterations: params.iterations,
            acceleration: params.acceleration,
            vertex_of_row,
        }
    }

    /// Vertex of every row, and row of every vertex.
    fn rows(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.unknowns();
        let vertex_of_row: Vec<u32> = match self.structure.symbolic.perm() {
            Some(permutation) => permutation.arrays().0.to_vec(),
            None => (0..count as u32).collect(),
        };
        let mut row_of_vertex = vec![0; count];
        for (row, &vertex) in vertex_of_row.iter().enumerate() {
            row_of_vertex[vertex as usize] = row as u32;
        }
        (vertex_of_row, row_of_vertex)
    }

    fn equation_prisms(&self, params: &Params, materials: &Materials, row_of_vertex: &[u32]) -> Vec<EquationPrism> {
        let mut prisms = Vec::new();
        for part in &self.structure.parts {
            for (index, &element) in part.elements.iter().enumerate() {
                let (block, lane) = (&part.blocks[index / LANES], index % LANES);
                let corners = self.corners(element);
                prisms.push(EquationPrism {
                    skin: corners.map(|v| row_of_vertex[v as usize]),
                    base: corners,
                    rest_inverse: block.rest_inverse_of(lane),
                    weights: self.prism_weights(element, params, materials).map(|weight| weight as f32),
                });
            }
        }
        prisms.sort_by_key(|prism| {
            let mut rows = prism.skin;
            rows.sort_unstable();
            rows
        });
        prisms
    }

    fn equation_matrix(&self, params: &Params, materials: &Materials, row_of_vertex: &[u32]) -> EquationMatrix {
        let values = self.matrix(params, materials, params.simulated_step_secs());
        let pattern = &self.structure.pattern;
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.unknowns()];
        for column in 0..self.unknowns() {
            let range = pattern.column_starts[column] as usize..pattern.column_starts[column + 1] as usize;
            let own = row_of_vertex[column];
            for (&vertex, &value) in pattern.rows[range.clone()].iter().zip(&values[range]) {
                let other = row_of_vertex[vertex as usize];
                rows[own as usize].push((other, value));
                if other != own {
                    rows[other as usize].push((own, value));
                }
            }
        }
        let mut matrix = EquationMatrix { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for (row, mut entries) in rows.into_iter().enumerate() {
            entries.sort_by_key(|&(column, _)| (column as usize != row, column));
            matrix.columns.extend(entries.iter().map(|&(column, _)| column));
            matrix.values.extend(entries.iter().map(|&(_, value)| value));
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix
    }

    fn eliminations(&self) -> Vec<Elimination> {
        let SymbolicCholeskyRaw::Supernodal(nodes) = self.structure.symbolic.raw() else { return Vec::new() };
        let mut begin: Vec<u32> = nodes.supernode_begin().to_vec();
        begin.truncate(nodes.n_supernodes());
        begin.push(self.unknowns() as u32);
        let of = |s: usize| {
            let mut below = nodes.supernode(s).pattern().to_vec();
            below.sort_unstable();
            Elimination { first: begin[s], count: begin[s + 1] - begin[s], below }
        };
        (0..nodes.n_supernodes()).map(of).collect()
    }
}
