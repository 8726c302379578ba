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
            let mut sum = [0.0; 4];
            let row = starts[index] as usize..starts[index + 1] as usize;
            for &(column, value) in &entries[row] {
                sum = add(sum, scaled(values[column as usize], value));
            }
            sum
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
mod tests {
    use super::*;

    /// A grid of `SIDE` × `SIDE` vertices, bent a little so that it has curvature at rest; every third vertex in both directions is
    /// simulated.
    const SIDE: usize = 16;

    fn grid() -> TriMesh {
        let at = |i: usize, j: usize| {
            let (x, y) = (i as f32, j as f32);
            Point::new(x, y, 0.02 * (x - 7.0).powi(2) + 0.1 * (0.7 * y).sin())
        };
        let index = |i: usize, j: usize| (i * SIDE + j) as u32;
        let cells = (0..SIDE - 1).flat_map(|i| (0..SIDE - 1).map(move |j| (i, j)));
        TriMesh {
            positions: (0..SIDE * SIDE).map(|v| at(v / SIDE, v % SIDE)).collect(),
            triangles: cells
                .flat_map(|(i, j)| {
                    let [a, b, c, d] = [
                        index(i, j),
                        index(i + 1, j),
                        index(i + 1, j + 1),
                        index(i, j + 1),
                    ];
                    [[a, b, c], [a, c, d]]
                })
                .collect(),
        }
    }

    fn simulated() -> impl Iterator<Item = u32> {
        (0..SIDE * SIDE)
            .filter(|v| (v / SIDE).is_multiple_of(3) && (v % SIDE).is_multiple_of(3))
            .map(|v| v as u32)
    }

    /// Weights that change everywhere.
    fn blend(mesh: &TriMesh) -> SkinWeights {
        let row = |v: usize| {
            let share = v as f32 / mesh.positions.len() as f32;
            vec![(0, share), (1, 1.0 - share)]
        };
        SkinWeights::from_rows((0..mesh.positions.len()).map(row)).0
    }

    fn smoothing_of(mesh: &TriMesh) -> Smoothing {
        Smoothing::of(mesh, &blend(mesh), simulated())
    }

    fn farthest(a: &[Point], b: &[Point]) -> f32 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max)
    }

    /// Σ A ‖L x / A − R L x̄ / A‖², without turning.
    fn energy(mesh: &TriMesh, points: &[Point]) -> f64 {
        let bending = Bending::of(mesh, 1.0);
        let of_vertex = |vertex: usize| {
            let own = points[vertex].cast::<f64>();
            let bent = bending
                .row(vertex)
                .map(|(column, value)| (points[column as usize].cast::<f64>() - own) * value);
            let sum = bent.fold(-bending.curvature[vertex], |sum, b| sum + b);
            sum.norm_squared() / bending.areas[vertex]
        };
        (0..points.len()).map(of_vertex).sum()
    }

    #[test]
    fn what_is_at_rest_or_moves_rigidly_stays() {
        let mesh = grid();
        let mut smoothing = smoothing_of(&mesh);
        let turn = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
        for rotation in [UnitQuaternion::identity(), turn] {
            let moved = |p: &Point| rotation * p + Vec3::new(3.0, -1.0, 0.5);
            let expected: Vec<Point> = mesh.positions.iter().map(moved).collect();
            let mut points = expected.clone();
            smoothing.apply(|_| rotation, &mut points);
            assert!(farthest(&points, &expected) < 1e-4);
        }
    }

    #[test]
    fn a_crease_between_simulated_vertices_becomes_flat() {
        let mesh = grid();
        let mut smoothing = smoothing_of(&mesh);
        let creased = |(v, p): (usize, &Point)| {
            let outside = if v / SIDE == 7 { 0.5 } else { 0.0 };
            p + Vec3::z() * outside
        };
        let before: Vec<Point> = mesh.positions.iter().enumerate().map(creased).collect();
        let mut points = before.clone();
        smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
        let (first, last) = (energy(&mesh, &before), energy(&mesh, &points));
        assert!(last < 0.1 * first, "{first} to {last}");
        assert!(farthest(&points, &mesh.positions) < 0.25);
    }

    #[test]
    fn where_weights_do_not_change_nothing_is_corrected() {
        let mesh = grid();
        // The first bone has the first half.
        let row = |v: usize| vec![(u32::from(v / SIDE >= SIDE / 2), 1.0)];
        let weights = SkinWeights::from_rows((0..SIDE * SIDE).map(row)).0;
        let mut smoothing = Smoothing::of(&mesh, &weights, simulated());
        let bumpy = |(v, p): (usize, &Point)| p + Vec3::z() * (v as f32 * 1.3).sin() * 0.1;
        let before: Vec<Point> = mesh.positions.iter().enumerate().map(bumpy).collect();
        let mut points = before.clone();
        smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
        let row_moved = |i: usize| {
            let row = i * SIDE..(i + 1) * SIDE;
            farthest(&points[row.clone()], &before[row])
        };
        let (near, far) = (RINGS + 1, SIDE / 2);
        assert!((far - near..far + near).all(|i| row_moved(i) > 1e-3));
        assert!((0..far - near).all(|i| row_moved(i) == 0.0));
        assert!((far + near..SIDE).all(|i| row_moved(i) == 0.0));
    }

    /// Also where triangles are thin: what is iterated stays stable.
    #[test]
    fn noise_never_grows() {
        let mut mesh = grid();
        for point in &mut mesh.positions {
            point.x = point.x.powi(2) * 0.03;
        }
        let mut smoothing = smoothing_of(&mesh);
        let noisy = |(v, p): (usize, &Point)| {
            let x = (v as f32 * 78.233).sin() * 4_375.5;
            p + Vec3::new(x.fract(), (1.7 * x).fract(), (2.3 * x).fract()) * 0.1
        };
        let before: Vec<Point> = mesh.positions.iter().enumerate().map(noisy).collect();
        let mut points = before.clone();
        smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
        assert!(energy(&mesh, &points) < 0.5 * energy(&mesh, &before));
        assert!(farthest(&points, &before) < 0.5);
    }

    #[test]
    fn vertices_without_triangles_or_numbers_stay() {
        let mut mesh = grid();
        mesh.positions.push(Point::new(50.0, 0.0, 0.0));
        mesh.positions.push(Point::new(f32::NAN, 0.0, 0.0));
        let mut smoothing = smoothing_of(&mesh);
        let mut points = mesh.positions.clone();
        points[5 * SIDE + 5].z += 1.0;
        smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
        assert_eq!(points[SIDE * SIDE], mesh.positions[SIDE * SIDE]);
        assert!(
            points[..=SIDE * SIDE]
                .iter()
                .all(|p| p.iter().all(|c| c.is_finite()))
        );
        assert_eq!(Topology::of(&mesh).neighbors(SIDE * SIDE).len(), 0);
    }
}
