//! The forces of guidance at its targets, computed once per step.
//!
//! The rotation of a tet is the mean of those of its unknowns. The force on an unknown a is then a sum over its neighbours b
//! (including a) and over the base points s of its tets:
//!
//! ```text
//!     r_a = Σ_b R_b p_ab − Σ_b K_ab (y_b − y_a) − Σ_s K_as (s − y_a) + Σ_b L_ba m_b,
//!     m_b = k_b (R_b (L x̄)_b − (L y)_b)
//! ```
//!
//! with `p_ab = Σ_t w_t V_t gₐ / n_t` over the tets that contain both (each with `n_t` unknowns) and `K_ab = Σ_t w_t V_t gₐ·g_b`.
//! These tables, one row per unknown, replace a loop over tets.

use rayon::prelude::*;

use super::{Guidance, Target};
use crate::dynamics::chain::Chain;
use crate::math::{Point, Vec3, Vec64};
use crate::numerics::lanes::{Padded, add, scaled, sub};
use crate::tissue::CornerKind;

/// Smallest number of vertices per parallel task.
const MIN_TASK: usize = 512;

/// Coefficients of a neighbour b in the force on an unknown a.
#[derive(Clone, Copy, Default)]
struct Neighbor {
    unknown: u32,
    /// `K_ab`, and `L_ba`.
    stiffness: f32,
    laplacian: f32,
    /// `p_ab`.
    gradient: [f32; 3],
}

/// A target with precomputed terms of the sums.
#[derive(Clone, Copy, Default)]
struct TransformedTarget {
    position: Padded,
    /// Columns of the rotation matrix.
    rotation: [Padded; 3],
    /// `m_b`.
    bend: Padded,
}

/// The tables for one set of parameters, and the buffers of a step.
#[derive(Default)]
pub(in crate::dynamics) struct Forces {
    /// `neighbors[starts[a]..starts[a + 1]]` are the neighbours of unknown a, including a.
    starts: Vec<u32>,
    neighbors: Vec<Neighbor>,
    /// The prescribed points near each unknown with `K_as`, stored in the same way.
    base_starts: Vec<u32>,
    base: Vec<(u32, f32)>,
    /// `(L x̄)` and k of each unknown.
    curvature: Vec<(Vec3, f32)>,
    transformed: Vec<TransformedTarget>,
    /// r by unknown.
    pub(in crate::dynamics) values: Vec<Padded>,
}

/// The row of one unknown during assembly.
#[derive(Default, Clone)]
struct ForceRow {
    neighbors: Vec<(u32, f64, f64, Vec64)>,
    base: Vec<(u32, f64)>,
}

impl ForceRow {
    fn neighbor(&mut self, unknown: u32) -> &mut (u32, f64, f64, Vec64) {
        let found = self.neighbors.iter().position(|entry| entry.0 == unknown);
        let index = found.unwrap_or_else(|| {
            self.neighbors.push((unknown, 0.0, 0.0, Vec64::zeros()));
            self.neighbors.len() - 1
        });
        &mut self.neighbors[index]
    }

    fn add_base(&mut self, point: u32, stiffness: f64) {
        match self.base.iter_mut().find(|entry| entry.0 == point) {
            Some(entry) => entry.1 += stiffness,
            None => self.base.push((point, stiffness)),
        }
    }
}

/// Adds the tets of a chain, scaled by `weight`, to the rows of its unknowns.
fn add_chain(rows: &mut [ForceRow], chain: &Chain, weight: f64) {
    let corners = chain.own_corners();
    let unknowns = corners.iter().filter(|c| c.as_unknown().is_some()).count() as f64;
    for (a, corner) in corners.iter().enumerate() {
        let Some(row) = corner.as_unknown() else {
            continue;
        };
        let row = &mut rows[row as usize];
        let gradient = chain.volume_gradient(a) * (weight / unknowns);
        for (b, other) in corners.iter().enumerate() {
            let stiffness = chain.stiffness(a, b) * weight;
            match other.kind() {
                CornerKind::Unknown(unknown) => {
                    let entry = row.neighbor(unknown);
                    entry.1 += stiffness;
                    entry.3 += gradient;
                }
                CornerKind::Prescribed(point) => row.add_base(point, stiffness),
            }
        }
    }
}

impl Forces {
    /// Builds the tables for the weights μ w of the chains and the weights k of bending.
    pub(in crate::dynamics) fn set_weights(
        &mut self,
        guidance: &Guidance,
        chains: &[Chain],
        of_chains: &[f64],
        of_bending: &[f64],
    ) {
        let bending = &guidance.bending;
        let mut rows = vec![ForceRow::default(); bending.len()];
        for (chain, &weight) in chains.iter().zip(of_chains) {
            add_chain(&mut rows, chain, weight);
        }
        for (vertex, row) in rows.iter_mut().enumerate() {
            // The Laplacian is symmetric.
            for (column, value) in bending.row(vertex) {
                row.neighbor(column).2 += value;
            }
        }
        (self.starts, self.base_starts) = (vec![0], vec![0]);
        self.neighbors.clear();
        self.base.clear();
        for row in &mut rows {
            row.neighbors.sort_unstable_by_key(|entry| entry.0);
            row.base.sort_unstable_by_key(|entry| entry.0);
            let neighbors = row.neighbors.iter();
            self.neighbors
                .extend(
                    neighbors.map(|&(unknown, stiffness, laplacian, gradient)| Neighbor {
                        unknown,
                        stiffness: stiffness as f32,
                        laplacian: laplacian as f32,
                        gradient: gradient.cast::<f32>().into(),
                    }),
                );
            let base = row.base.iter();
            self.base
                .extend(base.map(|&(point, stiffness)| (point, stiffness as f32)));
            self.starts.push(self.neighbors.len() as u32);
            self.base_starts.push(self.base.len() as u32);
        }
        let curvature = bending.curvature.iter().zip(of_bending);
        self.curvature = curvature
            .map(|(curvature, &weight)| (curvature.cast::<f32>(), weight as f32))
            .collect();
        self.transformed
            .resize(bending.len(), TransformedTarget::default());
        self.values.resize(bending.len(), [0.0; 4]);
    }

    /// Computes r for these targets and this base.
    pub(in crate::dynamics) fn compute(&mut self, targets: &[Target], base: &[Point]) {
        let Self {
            starts,
            neighbors,
            base_starts,
            base: near_base,
            curvature,
            transformed,
            values,
        } = self;
        let (starts, neighbors) = (&*starts, &*neighbors);
        let range_of =
            |starts: &[u32], vertex: usize| starts[vertex] as usize..starts[vertex + 1] as usize;
        transformed
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .zip(&*curvature)
            .enumerate()
            .for_each(|(vertex, (out, (curvature, weight)))| {
                let own = &targets[vertex];
                let position = padded(&own.position.coords);
                let matrix = own.rotation.to_rotation_matrix().into_inner();
                let [a, b, c]: [[f32; 3]; 3] = matrix.into();
                let rotation = [
                    [a[0], a[1], a[2], 0.0],
                    [b[0], b[1], b[2], 0.0],
                    [c[0], c[1], c[2], 0.0],
                ];
                let mut bend = rotate(&rotation, (*curvature).into());
                for neighbor in &neighbors[range_of(starts, vertex)] {
                    let other = padded(&targets[neighbor.unknown as usize].position.coords);
                    bend = sub(bend, scaled(sub(other, position), neighbor.laplacian));
                }
                *out = TransformedTarget {
                    position,
                    rotation,
                    bend: scaled(bend, *weight),
                };
            });
        let transformed = &*transformed;
        values
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, out)| {
                let position = transformed[vertex].position;
                let mut sum = [0.0; 4];
                for neighbor in &neighbors[range_of(starts, vertex)] {
                    let other = &transformed[neighbor.unknown as usize];
                    sum = add(sum, rotate(&other.rotation, neighbor.gradient));
                    sum = add(sum, scaled(other.bend, neighbor.laplacian));
                    sum = sub(
                        sum,
                        scaled(sub(other.position, position), neighbor.stiffness),
                    );
                }
                for &(point, stiffness) in &near_base[range_of(base_starts, vertex)] {
                    let other = padded(&base[point as usize].coords);
                    sum = sub(sum, scaled(sub(other, position), stiffness));
                }
                *out = sum;
            });
    }
}

fn padded(v: &Vec3) -> Padded {
    [v.x, v.y, v.z, 0.0]
}

/// R v.
fn rotate(rotation: &[Padded; 3], [x, y, z]: [f32; 3]) -> Padded {
    let [a, b, c] = rotation;
    add(scaled(*a, x), add(scaled(*b, y), scaled(*c, z)))
}
