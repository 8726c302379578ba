//! The elastic energy of a moved domain, and weights that minimise it for dual quaternion skinning.
//!
//! For a rotation S by θ about the joint o, dual quaternions blended by (1 − w, w) turn about the axis of S by
//!
//! ```text
//! φ(w) = 2 atan2(w sin θ/2, 1 − w + w cos θ/2),    φ'(w) = 2 sin θ/2 / ((w sin θ/2)² + (1 − w + w cos θ/2)²)
//! ```
//!
//! so that ∂v/∂w = φ'(w) axis × (v − o). The global step is one Gauss–Newton step of the energy in w.

use nalgebra::{Matrix3, Unit};
use rayon::prelude::*;

use crate::math::{Point64, Vec64, closest_rotation};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::{Cancelled, Progress};
use crate::weights::voxel::VoxelDomain;

/// As for linear blending; see the module of the rounds.
const CHANGE: f64 = 5e-3;
/// Gauss–Newton needs a few rounds more than the linear problem.
const ROUNDS: usize = 24;
/// Factor of the Laplacian that regularises the system, as a part of the mean diagonal.
const REGULARISATION: f64 = 1e-6;

/// The angle, in rad, by which dual quaternions of weights (1 − w, w) turn, if the second turns by `angle`, and its derivative by w.
#[must_use]
pub fn quaternion_angle(angle: f64, w: f64) -> [f64; 2] {
    let (s, c) = (angle / 2.0).sin_cos();
    let (x, y) = (1.0 - w + w * c, w * s);
    [2.0 * y.atan2(x), 2.0 * s / (x * x + y * y)]
}

/// The signs of a corner's direction from the centre of its cell.
fn signs(corner: usize) -> Vec64 {
    let sign = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
    Vec64::new(sign(0), sign(1), sign(2))
}

/// Σ over the edges of a cell of e ẽᵀ, where the edges at rest are those of the grid.
fn covariance(corners: &[u32; 8], moved: &[Vec64], edge: f64) -> Matrix3<f64> {
    let mut sum = Matrix3::zeros();
    for (corner, &node) in corners.iter().enumerate() {
        sum += moved[node as usize] * (signs(corner) * edge).transpose();
    }
    sum
}

/// The energy of the nodes' positions: Σ over cells and their edges ½ ‖e − R ẽ‖² with the best rotation R of every cell; length².
///
/// # Panics
/// If there are fewer positions than nodes.
#[must_use]
pub fn elastic_energy(domain: &VoxelDomain, moved: &[Vec64]) -> f64 {
    let h = domain.grid.edge;
    let mut energies = vec![0.0; domain.corners.len()];
    energies
        .par_iter_mut()
        .zip(&domain.corners)
        .for_each(|(energy, corners)| {
            let m = covariance(corners, moved, h);
            let fit = closest_rotation(&m).dot(&m);
            let stretched: f64 = (0..8_usize)
                .flat_map(|from| [1, 2, 4].map(|axis| (from, from | axis)))
                .filter(|(from, to)| from != to)
                .map(|(from, to)| {
                    let ends = [from, to].map(|corner| moved[corners[corner] as usize]);
                    (ends[1] - ends[0]).norm_squared()
                })
                .sum();
            *energy = 0.5 * (stretched + 12.0 * h * h) - fit;
        });
    energies.iter().sum()
}

/// The positions of all nodes if the field `w` blends the rest linearly with a rotation about `origin`.
#[must_use]
pub fn blended_linearly(
    domain: &VoxelDomain,
    origin: &Point64,
    rotation: &Matrix3<f64>,
    w: &[f64],
) -> Vec<Vec64> {
    let turn = rotation - Matrix3::identity();
    w.iter()
        .enumerate()
        .map(|(node, &w)| {
            let at = domain.position(node);
            at.coords + turn * (at - origin) * w
        })
        .collect()
}

/// A rotation about the joint that weights are optimised for.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its axis.
    pub axis: Unit<Vec64>,
    /// Its angle, rad, within ±π.
    pub angle: f64,
}

/// Weights of the nodes for dual quaternion skinning: those of a sub-tree that turns about `origin` by each of the samples, where the
/// others stand still. `free` and `start` have one entry per node; nodes that are not free keep their values.
///
/// # Errors
/// [`Cancelled`].
///
/// # Panics
/// If there are fewer entries than nodes.
pub fn quaternion_weights(
    domain: &VoxelDomain,
    origin: &Point64,
    samples: &[Sample],
    free: &[bool],
    start: &[f64],
    progress: &Progress,
) -> Result<Vec<f64>, Cancelled> {
    let mut w = start.to_vec();
    let mut unknown_of = vec![usize::MAX; w.len()];
    let free: Vec<usize> = (0..w.len()).filter(|&node| free[node]).collect();
    for (unknown, &node) in free.iter().enumerate() {
        unknown_of[node] = unknown;
    }
    if free.is_empty() {
        return Ok(w);
    }
    for _ in 0..ROUNDS {
        progress.check()?;
        let Some(step) = gauss_newton_step(domain, origin, samples, &unknown_of, &w) else {
            break;
        };
        let mut change = 0.0_f64;
        for (&node, step) in free.iter().zip(&step) {
            w[node] += step;
            change = change.max(step.abs());
        }
        if change < CHANGE {
            break;
        }
    }
    Ok(w)
}

/// The step of the free weights; `None` if the system cannot be solved.
fn gauss_newton_step(
    domain: &VoxelDomain,
    origin: &Point64,
    samples: &[Sample],
    unknown_of: &[usize],
    w: &[f64],
) -> Option<Vec<f64>> {
    let (h, unknowns) = (
        domain.grid.edge,
        unknown_of.iter().filter(|&&u| u != usize::MAX).count(),
    );
    let mut right = vec![0.0; unknowns];
    let mut slopes: Vec<Vec<Vec64>> = Vec::new();
    for sample in samples {
        let at = |node: usize| {
            let [angle, slope] = quaternion_angle(sample.angle, w[node]);
            let turn = nalgebra::Rotation3::from_axis_angle(&sample.axis, angle);
            let arm = turn * (domain.position(node) - origin);
            (arm, sample.axis.cross(&arm) * slope)
        };
        let (moved, slope): (Vec<Vec64>, Vec<Vec64>) = (0..w.len()).into_par_iter().map(at).unzip();
        let forces: Vec<[Vec64; 8]> = domain
            .corners
            .par_iter()
            .map(|corners| residual_forces(corners, &moved, h))
            .collect();
        for (corners, forces) in domain.corners.iter().zip(&forces) {
            for (&node, force) in corners.iter().zip(forces) {
                if let Some(right) = right.get_mut(unknown_of[node as usize]) {
                    *right += slope[node as usize].dot(force);
                }
            }
        }
        slopes.push(slope);
    }
    let product = |a: u32, b: u32| -> f64 {
        slopes
            .iter()
            .map(|slope| slope[a as usize].dot(&slope[b as usize]))
            .sum()
    };
    let mut diagonal = vec![(0.0, 0.0); unknowns];
    for edge in &domain.edges {
        for node in edge.nodes {
            if let Some((entry, degree)) = diagonal.get_mut(unknown_of[node as usize]) {
                *entry += f64::from(edge.cells) * product(node, node);
                *degree += f64::from(edge.cells);
            }
        }
    }
    let mean = diagonal.iter().map(|(entry, _)| entry).sum::<f64>() / unknowns as f64;
    let least = REGULARISATION * mean;
    let own = diagonal
        .iter()
        .enumerate()
        .map(|(unknown, (entry, degree))| (unknown, unknown, entry + least * degree));
    let coupled = domain.edges.iter().filter_map(|edge| {
        let [a, b] = edge.nodes;
        let [i, j] = edge.nodes.map(|node| unknown_of[node as usize]);
        let is_free = i < unknowns && j < unknowns;
        is_free.then(|| (i, j, -f64::from(edge.cells) * (product(a, b) + least)))
    });
    let matrix = SymmetricMatrix::from_triplets(unknowns, own.chain(coupled));
    let factor = Cholesky::<f64>::factor(&matrix, Ordering::default()).ok()?;
    factor.solve(&mut right);
    right.iter().all(|x| x.is_finite()).then_some(right)
}

/// Σ over the edges of a cell at each of its corners of ±(R ẽ − e).
fn residual_forces(corners: &[u32; 8], moved: &[Vec64], h: f64) -> [Vec64; 8] {
    let rotation = closest_rotation(&covariance(corners, moved, h));
    std::array::from_fn(|corner| {
        let here = moved[corners[corner] as usize];
        let mut force = rotation * signs(corner) * h;
        for axis in [1, 2, 4] {
            force -= here - moved[corners[corner ^ axis] as usize];
        }
        force
    })
}
