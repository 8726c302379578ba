//! Smoothing of the positions of one frame.

use rayon::prelude::*;

use super::options::{Form, Options};
use super::rings::Rings;
use crate::mesh::{Topology, TriMesh};
use crate::methods::BindError;
use crate::methods::smoothing::{Padded, Surface};
use crate::numerics::{PointSolver, SymmetricMatrix};

/// Vertices of one task.
const CHUNK: usize = 1024;

/// `s = (M + L_τ)⁻¹ M x`, or passes of averaging, for the positions of a frame.
pub(super) enum Smoother {
    /// Solves for s − x: a right-hand side of differences is exact in `f32` where positions are not.
    Implicit {
        solver: Box<PointSolver>,
        /// With weights τ k.
        rings: Rings,
        pinned: Vec<bool>,
    },
    /// With weights of ½ over the number of neighbours.
    Passes {
        passes: usize,
        rings: Rings,
        inverse_degrees: Vec<f32>,
        next: Vec<Padded>,
    },
}

impl Smoother {
    pub(super) fn of(
        surface: &Surface,
        radii: &[f64],
        pinned: Vec<bool>,
        form: Form,
    ) -> Result<Self, BindError> {
        let is_pinned = |v: u32| pinned[v as usize];
        match form {
            Form::Reach(reach) => {
                let times: Vec<f64> = radii.iter().map(|r| (reach * r).powi(2)).collect();
                let matrix = held(&surface.implicit(&times), &pinned);
                let weight = |index: usize| {
                    let edge = &surface.edges[index];
                    // In units of the mean area, as the matrix.
                    edge.conductance * edge.mean_of(&times) * unit_of(surface)
                };
                Ok(Self::Implicit {
                    solver: Box::new(PointSolver::of(&scaled(&matrix, unit_of(surface)))?),
                    rings: Rings::of(surface, weight),
                    pinned,
                })
            }
            Form::Passes(passes) => {
                let rings = Rings::of(surface, |_| 0.5);
                let inverse_degrees = (0..surface.len() as u32)
                    .map(|v| match rings.around(v as usize).len() {
                        0 => 0.0,
                        _ if is_pinned(v) => 0.0,
                        degree => 1.0 / degree as f32,
                    })
                    .collect();
                Ok(Self::Passes {
                    passes,
                    rings,
                    inverse_degrees,
                    next: vec![[0.0; 4]; surface.len()],
                })
            }
        }
    }

    /// Writes the smoothed positions. Allocates nothing.
    pub(super) fn smooth(&mut self, x: &[Padded], smoothed: &mut Vec<Padded>) {
        match self {
            Self::Implicit {
                solver,
                rings,
                pinned,
            } => {
                solver.solve(&|vertex| {
                    let vertex = vertex as usize;
                    if pinned[vertex] {
                        [0.0; 4]
                    } else {
                        rings.flow(vertex, x)
                    }
                });
                for (vertex, (s, x)) in smoothed.iter_mut().zip(x).enumerate() {
                    let moved = solver.solution(vertex as u32);
                    for c in 0..4 {
                        s[c] = x[c] + moved[c];
                    }
                }
            }
            Self::Passes {
                passes,
                rings,
                inverse_degrees,
                next,
            } => {
                smoothed.copy_from_slice(x);
                for _ in 0..*passes {
                    let now = &*smoothed;
                    next.par_chunks_mut(CHUNK)
                        .enumerate()
                        .for_each(|(chunk, next)| {
                            for (k, next) in next.iter_mut().enumerate() {
                                let vertex = chunk * CHUNK + k;
                                let flow = rings.flow(vertex, now);
                                for c in 0..4 {
                                    next[c] = now[vertex][c] + inverse_degrees[vertex] * flow[c];
                                }
                            }
                        });
                    std::mem::swap(smoothed, next);
                }
            }
        }
    }
}

/// One over the mean area: the matrix is solved without a unit, so that `f32` suffices for characters of any size.
fn unit_of(surface: &Surface) -> f64 {
    surface.len() as f64 / surface.areas.iter().sum::<f64>()
}

fn scaled(matrix: &SymmetricMatrix, factor: f64) -> SymmetricMatrix {
    let entries = matrix.entries();
    SymmetricMatrix::from_triplets(
        matrix.unknowns(),
        entries.map(|(row, column, value)| (row, column, factor * value)),
    )
}

/// The matrix without what couples pinned unknowns with others.
fn held(matrix: &SymmetricMatrix, pinned: &[bool]) -> SymmetricMatrix {
    let entries = matrix.entries();
    let stays =
        |&(row, column, _): &(usize, usize, f64)| row == column || !(pinned[row] || pinned[column]);
    SymmetricMatrix::from_triplets(matrix.unknowns(), entries.filter(stays))
}

/// Which vertices are on an edge with a single triangle; none if borders are not pinned.
pub(super) fn pinned(mesh: &TriMesh, options: &Options) -> Vec<bool> {
    let mut pinned = vec![false; mesh.positions.len()];
    if options.pins_borders {
        let topology = Topology::of(mesh);
        for (edge, &faces) in topology.edges.iter().zip(&topology.edge_faces) {
            if faces == 1 {
                for &vertex in edge {
                    pinned[vertex as usize] = true;
                }
            }
        }
    }
    pinned
}
