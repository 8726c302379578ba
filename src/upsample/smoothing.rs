//! Smoothing of what was upsampled: between simulated vertices fine skin bends as evenly as it can.
//!
//! Where skinning folds or crumples fine skin, the simulation mesh may be too coarse to see it, and then nothing that is upsampled from it
//! takes the fold away. The skin's own bending does: with the correction c of the upsampled positions x, the Laplacian L of the fine
//! mesh and its areas A, the rotations R of the guide and weights wᵢ, large at simulated vertices and small between them,
//!
//! ```text
//!     E(c) = ½ Σᵢ ‖(L (x + c))ᵢ − Rᵢ (L x̄)ᵢ‖² / Aᵢ + ½ Σᵢ wᵢ Dᵢ ‖cᵢ‖²,     D the diagonal of L A⁻¹ L
//! ```
//!
//! is decreased by a fixed number of iterations of Chebyshev's method, preconditioned by the diagonal (Golub & Varga, "Chebyshev
//! Semi-Iterative Methods", Numer. Math. 1961): a linear map, the same for any number of threads. It is the energy by which the
//! simulated skin bends ([`Bending`]), on the fine mesh. At rest, and wherever the skin moves rigidly, c is zero.

use nalgebra::UnitQuaternion;
use rayon::prelude::*;

use crate::math::{Point, Vec3};
use crate::mesh::{Bending, Topology, TriMesh};
use crate::numerics::lanes::{Padded, add, dot, scaled, sub};
use crate::weights::SkinWeights;

/// Iterations in a frame.
const ITERATIONS: usize = 4;
/// The largest eigenvalue of the preconditioned matrix over the smallest that iterations are made for.
const CONDITION: f32 = 8.0;
/// Weights of corrections at simulated vertices and between them, relative to the diagonal of the matrix.
const HELD: f64 = 0.5;
const FREE: f64 = 0.02;
/// Skin bends where the weights of neighbours differ by more than this in sum, and so many rings around.
const SAME: f32 = 1e-3;
const RINGS: usize = 3;
/// Rounds in which the largest eigenvalue is found, and how much larger it may be.
const ROUNDS: usize = 40;
const MARGIN: f32 = 1.1;
/// Vertices that one task handles at least.
const MIN_TASK: usize = 512;

/// Bending of the fine mesh where it bends, with the buffers of a frame.
pub struct Smoothing {
    /// The vertices that are corrected, and those around them, whose bends count.
    vertices: Vec<u32>,
    /// `starts[k]..starts[k + 1]` are the entries of the Laplacian's row of `vertices[k]`.
    starts: Vec<u32>,
    /// By entry its vertex; and its place in `vertices`, or behind them all if it is not there, with its value.
    columns: Vec<u32>,
    entries: Vec<(u32, f32)>,
    over_area: Vec<f32>,
    curvature: Vec<Vec3>,
    /// wᵢ Dᵢ, and 1 / ((1 + wᵢ) Dᵢ); 0 where nothing is corrected.
    weights: Vec<f32>,
    over_diagonal: Vec<f32>,
    largest: f32,
    /// A⁻¹ (L x − R L x̄), without and with the correction; the correction; and its last change.
    upsampled: Vec<Padded>,
    bends: Vec<Padded>,
    correction: Vec<Padded>,
    change: Vec<Padded>,
}

impl Smoothing {
    /// For a fine mesh at rest of which some vertices are simulated, and that bends where its weights change.
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
        let corrected = widened(bends(&topology, weights), &topology, RINGS);
        let around = widened(corrected.clone(), &topology, 1);
        let mut own_weights = vec![FREE; count];
        for vertex in simulated {
            own_weights[vertex as usize] = HELD;
        }
        let mut diagonal = vec![0.0_f64; count];
        for vertex in 0..count {
            for (column, value) in bending.row(vertex) {
                diagonal[column as usize] += value * value / bending.areas[vertex];
            }
        }
        let vertices: Vec<u32> = (0u32..)
            .zip(&around)
            .filter_map(|(vertex, &is)| is.then_some(vertex))
            .collect();
        let behind = vertices.len() as u32;
        let mut place = vec![behind; count];
        for (index, &vertex) in (0u32..).zip(&vertices) {
            place[vertex as usize] = index;
        }
        let buffer = || vec![[0.0; 4]; vertices.len() + 1];
        let mut built = Self {
            starts: vec![0],
            columns: Vec::new(),
            entries: Vec::new(),
            over_area: Vec::new(),
            curvature: Vec::new(),
            weights: Vec::new(),
            over_diagonal: Vec::new(),
            largest: 1.0,
            upsampled: buffer(),
            bends: buffer(),
            correction: buffer(),
            change: buffer(),
            vertices,
        };
        for &vertex in &built.vertices {
            let vertex = vertex as usize;
            for (column, value) in bending.row(vertex) {
                built.columns.push(column);
                built.entries.push((place[column as usize], value as f32));
            }
            built.starts.push(built.entries.len() as u32);
            built.over_area.push((1.0 / bending.areas[vertex]) as f32);
            built.curvature.push(bending.curvature[vertex].cast());
            let (weight, diagonal) = (own_weights[vertex], diagonal[vertex]);
            let inverse = (1.0 / (diagonal * (1.0 + weight))) as f32;
            let moves = corrected[vertex] && inverse.is_finite();
            built.weights.push((weight * diagonal) as f32);
            built.over_diagonal.push(if moves { inverse } else { 0.0 });
        }
        built.largest = built.find_largest() * MARGIN;
        built
    }

    /// Smooths points of a pose in which each vertex has turned by a rotation from rest. Allocates nothing.
    ///
    /// # Panics
    /// If there are fewer points than vertices.
    pub fn apply(
        &mut self,
        rotation_of: impl Fn(usize) -> UnitQuaternion<f32> + Sync,
        points: &mut [Point],
    ) {
        self.measure(rotation_of, points);
        self.correction.fill([0.0; 4]);
        self.change.fill([0.0; 4]);
        // Eigenvalues between `largest / CONDITION` and `largest`.
        let center = 0.5 * self.largest * (1.0 + 1.0 / CONDITION);
        let half = 0.5 * self.largest * (1.0 - 1.0 / CONDITION);
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
        for (&vertex, &[x, y, z, _]) in self.vertices.iter().zip(&self.correction) {
            if (x + y + z).is_finite() {
                points[vertex as usize] += Vec3::new(x, y, z);
            }
        }
    }

    /// Finds A⁻¹ (L x − R L x̄).
    fn measure(
        &mut self,
        rotation_of: impl Fn(usize) -> UnitQuaternion<f32> + Sync,
        points: &[Point],
    ) {
        let Self {
            vertices,
            starts,
            columns,
            entries,
            over_area,
            curvature,
            upsampled,
            ..
        } = self;
        upsampled[..vertices.len()]
            .par_iter_mut()
            .zip(&*vertices)
            .zip(&*curvature)
            .zip(&*over_area)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(index, (((out, &vertex), curvature), over_area))| {
                let vertex = vertex as usize;
                let mut sum = rotation_of(vertex) * -curvature;
                let row = starts[index] as usize..starts[index + 1] as usize;
                for (&column, &(_, value)) in columns[row.clone()].iter().zip(&entries[row]) {
                    // In differences of neighbours little is lost to rounding.
                    sum += (points[column as usize] - points[vertex]) * value;
                }
                sum *= *over_area;
                *out = [sum.x, sum.y, sum.z, 0.0];
            });
    }

    /// One iteration; the first one begins without a correction.
    fn iterate(&mut self, first: bool, keep: f32, step: f32) {
        let Self {
            starts,
            entries,
            over_area,
            weights,
            over_diagonal,
            upsampled,
            bends,
            correction,
            change,
            ..
        } = self;
        let times = |index: usize, values: &[Padded]| {
            let row = starts[index] as usize..starts[index + 1] as usize;
            // Two sums, so that one need not wait for the other.
            let mut sums = [[0.0; 4]; 2];
            let (pairs, rest) = entries[row].as_chunks::<2>();
            for [(a, own), (b, other)] in pairs {
                sums[0] = add(sums[0], scaled(values[*a as usize], *own));
                sums[1] = add(sums[1], scaled(values[*b as usize], *other));
            }
            for &(column, value) in rest {
                sums[0] = add(sums[0], scaled(values[column as usize], value));
            }
            add(sums[0], sums[1])
        };
        if !first {
            let correction = &*correction;
            bends
                .par_iter_mut()
                .zip(&*upsampled)
                .zip(&*over_area)
                .with_min_len(MIN_TASK)
                .enumerate()
                .for_each(|(index, ((bend, upsampled), &over_area))| {
                    *bend = add(*upsampled, scaled(times(index, correction), over_area));
                });
        }
        let bends = if first { upsampled } else { bends };
        change
            .par_iter_mut()
            .zip(correction)
            .zip(&*weights)
            .zip(&*over_diagonal)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(
                |(index, (((change, correction), &weight), &over_diagonal))| {
                    let slope = add(scaled(*correction, weight), times(index, bends));
                    *change = sub(scaled(*change, keep), scaled(slope, over_diagonal * step));
                    *correction = add(*correction, *change);
                },
            );
    }

    /// The largest eigenvalue of the preconditioned matrix, by power iteration.
    fn find_largest(&mut self) -> f32 {
        // No start that is in the span of a few eigenvectors.
        let start = self.correction.iter_mut().enumerate();
        for (vertex, correction) in start.take(self.vertices.len()) {
            let x = (vertex as f32 * 12.9898).sin() * 43_758.547;
            *correction = [x.fract(), (1.7 * x).fract(), (2.3 * x).fract(), 0.0];
        }
        let norm = |values: &[Padded]| {
            let sum: f64 = values.iter().map(|&v| f64::from(dot(v, v))).sum();
            sum.sqrt() as f32
        };
        let mut largest = 1.0;
        for _ in 0..ROUNDS {
            let before = norm(&self.correction);
            if !(before.is_finite() && before > 0.0) {
                break;
            }
            for value in &mut self.correction {
                *value = scaled(*value, 1.0 / before);
            }
            self.iterate(false, 0.0, 1.0);
            // `change` is minus the matrix times what was there.
            let now = norm(&self.change);
            if now.is_finite() {
                largest = now;
            }
            std::mem::swap(&mut self.correction, &mut self.change);
        }
        largest.max(1.0)
    }
}

/// The vertices whose weights differ from those of a neighbour.
fn bends(topology: &Topology, weights: &SkinWeights) -> Vec<bool> {
    let differ = |a: usize, b: usize| {
        let of = |vertex: usize, joint: usize| -> f32 {
            let own = weights.of(vertex).filter(|&(other, _)| other == joint);
            own.map(|(_, value)| value).sum()
        };
        let more = |a: usize, b: usize| -> f32 {
            let missing = weights
                .of(a)
                .map(|(joint, value)| (value - of(b, joint)).max(0.0));
            missing.sum()
        };
        more(a, b) + more(b, a) > SAME
    };
    let bends = |vertex: usize| {
        let mut near = topology.neighbors(vertex).iter();
        near.any(|&other| differ(vertex, other as usize))
    };
    (0..weights.len()).into_par_iter().map(bends).collect()
}

/// With so many rings around.
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
