//! Smoothing of upsampled skin: between simulated vertices the fine skin minimises its bending energy.
//!
//! Skinning may fold or crumple fine skin where the simulation mesh is too coarse to represent it; upsampling then
//! keeps the fold. The bending energy of the fine skin removes it. With the correction c of the upsampled positions x,
//! the rest positions x̄, the Laplacian L of the fine mesh and its vertex areas A, the rotations R of the guide, and
//! weights wᵢ that are large at simulated vertices and small between them, the energy
//!
//! ```text
//!     E(c) = ½ Σᵢ ‖(L (x + c))ᵢ − Rᵢ (L x̄)ᵢ‖² / Aᵢ + ½ Σᵢ wᵢ Dᵢ ‖cᵢ‖²,     D the diagonal of L A⁻¹ L
//! ```
//!
//! is reduced by a fixed number of iterations of Chebyshev's method, preconditioned by the diagonal (Golub & Varga,
//! "Chebyshev Semi-Iterative Methods", Numer. Math. 1961). The result is a linear map of x and bit-equal for any number
//! of threads. The energy is the bending energy of the simulated skin ([`Bending`]), on the fine mesh. At rest, and
//! wherever the skin moves rigidly, c is zero.

use nalgebra::UnitQuaternion;
use rayon::prelude::*;

use super::row_groups::RowGroups;
use crate::math::{Point, Vec3};
use crate::mesh::{Bending, Topology, TriMesh};
use crate::numerics::lanes::{Padded, add, dot, scaled, sub};
use crate::weights::SkinWeights;

/// Chebyshev iterations per frame.
const ITERATIONS: usize = 4;
/// Ratio of the largest to the smallest eigenvalue of the preconditioned matrix for which the iterations are optimal.
const CONDITION: f32 = 8.0;
/// Weights wᵢ at simulated vertices and between them, relative to the diagonal D.
const SIMULATED_WEIGHT: f64 = 0.5;
const FREE_WEIGHT: f64 = 0.02;
/// Vertices are corrected where the weights of neighbours differ by more than this in sum, and in so many rings around.
const WEIGHT_TOLERANCE: f32 = 1e-3;
const RINGS: usize = 3;
/// Power iterations for the largest eigenvalue, and the safety factor on it.
const POWER_ITERATIONS: usize = 40;
const EIGENVALUE_MARGIN: f32 = 1.1;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;
/// Vertices per task of an iteration; a multiple of the rows that are computed at a time.
const TASK: usize = 1024;

/// Bending of the fine mesh where its weights change, with the buffers of a frame.
pub struct Smoothing {
    /// The corrected vertices and their neighbours, whose curvature enters the energy; neighbours are near each other here, whatever
    /// their order in the mesh. There are `count` of them. Behind them are the neighbours of these.
    vertices: Vec<u32>,
    count: usize,
    /// For every vertex of the mesh, its index in `vertices`; of one that is not among them their number.
    place_of: Vec<u32>,
    /// The rows of the Laplacian of the first `count` vertices, with indices in `vertices`.
    laplacian: RowGroups,
    inverse_area: Vec<f32>,
    curvature: Vec<Vec3>,
    /// wᵢ Dᵢ, and 1 / ((1 + wᵢ) Dᵢ), which is 0 for vertices that are not corrected.
    weights: Vec<f32>,
    inverse_diagonal: Vec<f32>,
    largest_eigenvalue: f32,
    /// The points, A⁻¹ (L x − R L x̄) without and with the correction, the correction, and its last change; of `vertices`, and a zero. All
    /// but the points are zero behind the first `count`.
    posed: Vec<Padded>,
    initial_error: Vec<Padded>,
    curvature_error: Vec<Padded>,
    correction: Vec<Padded>,
    change: Vec<Padded>,
}

impl Smoothing {
    /// For a fine mesh at rest, of which some vertices are simulated; corrects it where its weights change.
    ///
    /// # Panics
    /// If there are fewer weights than vertices.
    #[must_use]
    pub fn of(
        mesh: &TriMesh,
        weights: &SkinWeights,
        simulated: impl IntoIterator<Item = u32>,
    ) -> Self {
        let bending = Bending::of(mesh, 1.0);
        let count = bending.len();
        let topology = Topology::of(mesh);
        let corrected = widened(where_weights_change(&topology, weights), &topology, RINGS);
        let around = widened(corrected.clone(), &topology, 1);
        let mut own_weights = vec![FREE_WEIGHT; count];
        for vertex in simulated {
            own_weights[vertex as usize] = SIMULATED_WEIGHT;
        }
        let mut diagonal = vec![0.0_f64; count];
        for vertex in 0..count {
            for (column, value) in bending.row(vertex) {
                diagonal[column as usize] += value * value / bending.areas[vertex];
            }
        }
        let mut vertices = topology.breadth_first(around.clone());
        let inner = vertices.len();
        let seen = widened(around.clone(), &topology, 1);
        vertices.extend((0..count as u32).filter(|&v| seen[v as usize] && !around[v as usize]));
        let behind = vertices.len() as u32;
        let mut place = vec![behind; count];
        for (index, &vertex) in (0u32..).zip(&vertices) {
            place[vertex as usize] = index;
        }
        let buffer = || vec![[0.0; 4]; vertices.len() + 1];
        let mut built = Self {
            count: inner,
            place_of: Vec::new(),
            laplacian: RowGroups::of(&[], behind),
            inverse_area: Vec::new(),
            curvature: Vec::new(),
            weights: Vec::new(),
            inverse_diagonal: Vec::new(),
            largest_eigenvalue: 1.0,
            posed: buffer(),
            initial_error: buffer(),
            curvature_error: buffer(),
            correction: buffer(),
            change: buffer(),
            vertices,
        };
        let mut rows = Vec::with_capacity(inner);
        for &vertex in &built.vertices[..inner] {
            let vertex = vertex as usize;
            let row = bending.row(vertex);
            rows.push(
                row.map(|(column, value)| (place[column as usize], value as f32))
                    .collect(),
            );
            built
                .inverse_area
                .push((1.0 / bending.areas[vertex]) as f32);
            built.curvature.push(bending.curvature[vertex].cast());
            let (weight, diagonal) = (own_weights[vertex], diagonal[vertex]);
            let inverse = (1.0 / (diagonal * (1.0 + weight))) as f32;
            let moves = corrected[vertex] && inverse.is_finite();
            built.weights.push((weight * diagonal) as f32);
            built
                .inverse_diagonal
                .push(if moves { inverse } else { 0.0 });
        }
        built.place_of = place;
        built.laplacian = RowGroups::of(&rows, behind);
        built.largest_eigenvalue = built.find_largest_eigenvalue() * EIGENVALUE_MARGIN;
        built
    }

    /// Smooths the points of a pose, given the rotation of each vertex from rest. Allocates nothing.
    ///
    /// # Panics
    /// If there are fewer points than vertices.
    pub fn apply(
        &mut self,
        rotation_of: impl Fn(usize) -> UnitQuaternion<f32> + Sync,
        points: &mut [Point],
    ) {
        self.compute_initial_error(rotation_of, points);
        // Chebyshev interval of eigenvalues: `largest_eigenvalue / CONDITION` to `largest_eigenvalue`.
        let center = 0.5 * self.largest_eigenvalue * (1.0 + 1.0 / CONDITION);
        let half = 0.5 * self.largest_eigenvalue * (1.0 - 1.0 / CONDITION);
        let sigma = center / half;
        let mut rho = 1.0 / sigma;
        for iteration in 0..ITERATIONS {
            let (keep, step) = if iteration == 0 {
                (0.0, 1.0 / center)
            } else {
                let next = 1.0 / (2.0 * sigma - rho);
                let factors = (rho * next, 2.0 * next / half);
                rho = next;
                factors
            };
            self.iterate(iteration == 0, keep, step);
        }
        let correction = &self.correction;
        points
            .par_iter_mut()
            .zip(&self.place_of)
            .with_min_len(MIN_TASK)
            .for_each(|(point, &place)| {
                let [x, y, z, _] = correction[place as usize];
                if (x + y + z).is_finite() {
                    *point += Vec3::new(x, y, z);
                }
            });
    }

    /// Computes A⁻¹ (L x − R L x̄).
    fn compute_initial_error(
        &mut self,
        rotation_of: impl Fn(usize) -> UnitQuaternion<f32> + Sync,
        points: &[Point],
    ) {
        let Self {
            vertices,
            count,
            laplacian,
            inverse_area,
            curvature,
            posed,
            initial_error,
            ..
        } = self;
        posed
            .par_iter_mut()
            .zip(&*vertices)
            .with_min_len(MIN_TASK)
            .for_each(|(out, &vertex)| {
                let point = points[vertex as usize];
                *out = [point.x, point.y, point.z, 0.0];
            });
        let posed = &*posed;
        initial_error[..*count]
            .par_chunks_mut(TASK)
            .enumerate()
            .for_each(|(task, errors)| {
                let write = |error: &mut Padded, row: usize, product: Padded| {
                    let turned = rotation_of(vertices[row] as usize) * curvature[row];
                    let wanted = [turned.x, turned.y, turned.z, 0.0];
                    *error = scaled(sub(product, wanted), inverse_area[row]);
                };
                laplacian.for_each_difference(task * TASK, posed, errors, write);
            });
    }

    /// One Chebyshev iteration; the first one starts from a zero correction, whatever is stored.
    fn iterate(&mut self, first: bool, keep: f32, step: f32) {
        let Self {
            laplacian,
            inverse_area,
            weights,
            inverse_diagonal,
            initial_error,
            curvature_error,
            correction,
            change,
            count,
            ..
        } = self;
        let count = *count;
        if !first {
            let (correction, initial_error) = (&*correction, &*initial_error);
            curvature_error[..count]
                .par_chunks_mut(TASK)
                .enumerate()
                .for_each(|(task, errors)| {
                    let write = |error: &mut Padded, row: usize, product: Padded| {
                        *error = add(initial_error[row], scaled(product, inverse_area[row]));
                    };
                    laplacian.for_each(task * TASK, correction, errors, write);
                });
        }
        let curvature_error = if first {
            initial_error
        } else {
            curvature_error
        };
        let curvature_error = &*curvature_error;
        change[..count]
            .par_chunks_mut(TASK)
            .zip(correction[..count].par_chunks_mut(TASK))
            .enumerate()
            .for_each(|(task, (changes, corrections))| {
                let start = task * TASK;
                if first {
                    let write = |change: &mut Padded, row: usize, slope: Padded| {
                        *change = scaled(slope, -inverse_diagonal[row] * step);
                    };
                    laplacian.for_each(start, curvature_error, changes, write);
                    corrections.copy_from_slice(changes);
                    return;
                }
                let write = |change: &mut Padded, row: usize, product: Padded| {
                    let slope = add(scaled(corrections[row - start], weights[row]), product);
                    *change = sub(
                        scaled(*change, keep),
                        scaled(slope, inverse_diagonal[row] * step),
                    );
                };
                laplacian.for_each(start, curvature_error, changes, write);
                for (correction, change) in corrections.iter_mut().zip(changes) {
                    *correction = add(*correction, *change);
                }
            });
    }

    /// The largest eigenvalue of the preconditioned matrix, by power iteration.
    fn find_largest_eigenvalue(&mut self) -> f32 {
        // A pseudo-random start, which has a part along every eigenvector.
        let start = self.correction.iter_mut().enumerate();
        for (vertex, correction) in start.take(self.count) {
            let x = (vertex as f32 * 12.9898).sin() * 43_758.547;
            *correction = [x.fract(), (1.7 * x).fract(), (2.3 * x).fract(), 0.0];
        }
        let norm = |values: &[Padded]| {
            let sum: f64 = values.iter().map(|&v| f64::from(dot(v, v))).sum();
            sum.sqrt() as f32
        };
        let mut largest = 1.0;
        for _ in 0..POWER_ITERATIONS {
            let before = norm(&self.correction);
            if !(before.is_finite() && before > 0.0) {
                break;
            }
            for value in &mut self.correction {
                *value = scaled(*value, 1.0 / before);
            }
            self.iterate(false, 0.0, 1.0);
            // `change` is minus the matrix times the previous correction.
            let now = norm(&self.change);
            if now.is_finite() {
                largest = now;
            }
            std::mem::swap(&mut self.correction, &mut self.change);
        }
        largest.max(1.0)
    }
}

/// For every vertex whether its weights differ from those of a neighbour.
fn where_weights_change(topology: &Topology, weights: &SkinWeights) -> Vec<bool> {
    let differ = |a: usize, b: usize| {
        let sum = |vertex: usize| weights.of(vertex).map(|(_, value)| value).sum::<f32>();
        sum(a) + sum(b) - 2.0 * weights.overlap(a, b) > WEIGHT_TOLERANCE
    };
    let changes = |vertex: usize| {
        let mut near = topology.neighbors(vertex).iter();
        near.any(|&other| differ(vertex, other as usize))
    };
    (0..weights.len()).into_par_iter().map(changes).collect()
}

/// The marked vertices with this many rings around them.
fn widened(mut is_in: Vec<bool>, topology: &Topology, rings: usize) -> Vec<bool> {
    for _ in 0..rings {
        let wider = |vertex: usize| {
            is_in[vertex]
                || topology
                    .neighbors(vertex)
                    .iter()
                    .any(|&other| is_in[other as usize])
        };
        is_in = (0..is_in.len()).map(wider).collect();
    }
    is_in
}

#[cfg(test)]
mod tests;
