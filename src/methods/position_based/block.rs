//! Tets in lanes: the constraints of `compliant.rs`, solved for [`LANES`] tets at a time.

#![expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]

use nalgebra::Matrix3;

use super::model::Model;
use super::points::{Points, Vector, add, cross, dot, scaled, sub};
use crate::numerics::lanes::{LANES, Lanes};
use crate::numerics::polar::LaneMatrix;

/// Largest change of the deformation gradient by a volume constraint or by the guard in one correction, per free corner.
const MAX_CHANGE: f32 = 0.5;
/// The guard keeps det F at least at this.
const LEAST_VOLUME: f32 = 0.02;
/// Multipliers of a tet are kept from step to step if det F is at least this.
const LEAST_KEPT: f32 = 0.1;
/// α̃ relative to the trace of A at least.
const LEAST_COMPLIANCE: f64 = 1e-9;

pub(super) const ZERO: Lanes = [0.0; LANES];

/// Up to [`LANES`] tets of one colour.
pub(super) struct Block {
    corners: [[u32; LANES]; 4],
    /// Per corner, a bit for every lane in which it is free.
    free: [u16; 4],
    /// Gradients of the shape functions of corners 1 to 3.
    gradients: [[Lanes; 3]; 3],
    /// uᵢ.
    responses: [[Lanes; 3]; 4],
    /// The upper triangle of T: xx, xy, xz, yy, yz, zz.
    relaxation: [Lanes; 6],
    /// wᵢ/α̃ of the strain constraint.
    masses: [Lanes; 4],
}

/// α̃ λ of the constraints of a block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Multipliers {
    pub(super) strain: [[Lanes; 3]; 3],
    pub(super) volume: Lanes,
}

/// What the constraints depend on besides the rest shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a> {
    /// wᵢ of all points, 1/kg; 0 for points that stay.
    pub(super) inverse_masses: &'a [f32],
    /// k V of every tet of the model.
    pub(super) stiffness: &'a [f64],
    /// l/k: resistance to changes of volume relative to that against changes of shape.
    pub(super) volume: f64,
}

/// Corners of all lanes.
pub(super) type Corners = [[Lanes; 3]; 4];

impl Block {
    pub(super) fn of(model: &Model, tets: &[u32]) -> Self {
        let pads = model.points() as u32;
        let mut block = Self {
            corners: std::array::from_fn(|k| [pads + k as u32; LANES]),
            free: [0; 4],
            gradients: [[ZERO; 3]; 3],
            responses: [[ZERO; 3]; 4],
            relaxation: [ZERO; 6],
            masses: [ZERO; 4],
        };
        for k in 0..3 {
            block.gradients[k][k] = [1.0; LANES];
        }
        for (lane, &tet) in tets.iter().enumerate() {
            let tet = &model.tets[tet as usize];
            for (k, &corner) in tet.corners.iter().enumerate() {
                block.corners[k][lane] = corner;
                let is_free = model.is_free.get(corner as usize).copied();
                block.free[k] |= u16::from(is_free.unwrap_or(false)) << lane;
            }
            for (k, row) in tet.inverse.row_iter().enumerate() {
                for (entry, &value) in row.iter().enumerate() {
                    block.gradients[k][entry][lane] = value as f32;
                }
            }
        }
        block
    }

    pub(super) fn prepare(
        &mut self,
        model: &Model,
        weights: &Weights<'_>,
        step_secs: f64,
        tets: &[u32],
    ) {
        for (lane, &index) in tets.iter().enumerate().filter(|(_, tet)| **tet != u32::MAX) {
            let tet = &model.tets[index as usize];
            let gradients = tet.gradients();
            let masses = tet
                .corners
                .map(|corner| f64::from(weights.inverse_masses[corner as usize]));
            let mut a = Matrix3::zeros();
            for (g, w) in gradients.iter().zip(masses) {
                a += g * g.transpose() * w;
            }
            let compliance = 1.0 / (weights.stiffness[index as usize] * step_secs * step_secs);
            let compliance = compliance.max(LEAST_COMPLIANCE * a.trace());
            let inverse = (a + Matrix3::identity() * compliance)
                .try_inverse()
                .unwrap_or_else(Matrix3::zeros);
            for (k, (g, w)) in gradients.iter().zip(masses).enumerate() {
                let response = inverse * g * w;
                for (axis, &value) in self.responses[k].iter_mut().zip(response.iter()) {
                    axis[lane] = value as f32;
                }
                self.masses[k][lane] = (w / compliance) as f32;
            }
            for (entry, (row, column)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
                .into_iter()
                .enumerate()
            {
                self.relaxation[entry][lane] = (inverse[(row, column)] * compliance) as f32;
            }
        }
    }

    #[inline(always)]
    pub(super) fn gather(&self, points: &Points) -> Corners {
        let mut corners = [[ZERO; 3]; 4];
        for (own, indices) in corners.iter_mut().zip(&self.corners) {
            for (lane, &index) in indices.iter().enumerate() {
                let at = points.get(index);
                for axis in 0..3 {
                    own[axis][lane] = at[axis];
                }
            }
        }
        corners
    }

    #[inline(always)]
    pub(super) fn scatter(&self, corners: &Corners, points: &Points) {
        for ((own, indices), free) in corners.iter().zip(&self.corners).zip(self.free) {
            for lane in (0..LANES).filter(|lane| free >> lane & 1 == 1) {
                points.set(indices[lane], [own[0][lane], own[1][lane], own[2][lane]]);
            }
        }
    }

    /// F of all lanes.
    #[inline(always)]
    pub(super) fn gradient(&self, corners: &Corners, f: &mut LaneMatrix) {
        for row in 0..3 {
            for column in 0..3 {
                for lane in 0..LANES {
                    let edge = |k: usize| corners[k + 1][row][lane] - corners[0][row][lane];
                    f[3 * column + row][lane] = edge(0) * self.gradients[0][column][lane]
                        + edge(1) * self.gradients[1][column][lane]
                        + edge(2) * self.gradients[2][column][lane];
                }
            }
        }
    }

    /// Moves the corners by the strain constraints; `f` holds F and `r` R.
    #[inline(always)]
    pub(super) fn solve_strain(
        &self,
        own: &mut Multipliers,
        f: &LaneMatrix,
        r: &LaneMatrix,
        corners: &mut Corners,
    ) {
        let [xx, xy, xz, yy, yz, zz] = &self.relaxation;
        for row in 0..3 {
            let mut residual = [ZERO; 3];
            for (column, residual) in residual.iter_mut().enumerate() {
                for lane in 0..LANES {
                    let entry = 3 * column + row;
                    residual[lane] =
                        f[entry][lane] - r[entry][lane] + own.strain[row][column][lane];
                }
            }
            let [x, y, z] = &residual;
            let [own_x, own_y, own_z] = &mut own.strain[row];
            for lane in 0..LANES {
                own_x[lane] -= xx[lane] * x[lane] + xy[lane] * y[lane] + xz[lane] * z[lane];
                own_y[lane] -= xy[lane] * x[lane] + yy[lane] * y[lane] + yz[lane] * z[lane];
                own_z[lane] -= xz[lane] * x[lane] + yz[lane] * y[lane] + zz[lane] * z[lane];
            }
            for (corner, response) in corners.iter_mut().zip(&self.responses) {
                for lane in 0..LANES {
                    corner[row][lane] -= response[0][lane] * x[lane]
                        + response[1][lane] * y[lane]
                        + response[2][lane] * z[lane];
                }
            }
        }
    }

    /// Moves the corners by the volume constraints.
    #[inline(always)]
    pub(super) fn solve_volume(&self, own: &mut Multipliers, volume: f32, corners: &mut Corners) {
        for lane in 0..LANES {
            let tet = self.tet(corners, lane);
            let residual = tet.determinant - 1.0 + own.volume[lane];
            let masses: [f32; 4] = std::array::from_fn(|k| volume * self.masses[k][lane]);
            let step = tet.limited(-residual / (1.0 + tet.response(masses)), masses);
            own.volume[lane] += step;
            tet.shift(corners, lane, masses, step);
        }
    }

    /// det F and its gradients in one lane.
    #[inline(always)]
    fn tet(&self, corners: &Corners, lane: usize) -> LaneTet {
        let at = |k: usize| [0, 1, 2].map(|axis| corners[k][axis][lane]);
        let origin = at(0);
        let edges = [1, 2, 3].map(|k| sub(at(k), origin));
        let g = [0, 1, 2].map(|k| self.gradients[k].map(|entry| entry[lane]));
        // det F = det(edges) det(rest inverse); its gradients are those of the edges' determinant, scaled.
        let scale = dot(g[0], cross(g[1], g[2]));
        let of_edges = [
            cross(edges[1], edges[2]),
            cross(edges[2], edges[0]),
            cross(edges[0], edges[1]),
        ];
        let determinant = scale * dot(edges[0], of_edges[0]);
        let [a, b, c] = of_edges.map(|of| scaled(of, scale));
        let sum = add(g[0], add(g[1], g[2]));
        LaneTet {
            determinant,
            of_volume: [scaled(add(a, add(b, c)), -1.0), a, b, c],
            steepness: [
                dot(sum, sum),
                dot(g[0], g[0]),
                dot(g[1], g[1]),
                dot(g[2], g[2]),
            ],
        }
    }

    pub(super) fn push(&self, own: &mut Multipliers, points: &Points) {
        own.volume = ZERO;
        let mut corners = self.gather(points);
        for lane in 0..LANES {
            if self.tet(&corners, lane).determinant < LEAST_KEPT {
                for entry in own.strain.as_flattened_mut() {
                    entry[lane] = 0.0;
                }
                continue;
            }
            let [a, b, c] = [0, 1, 2].map(|k| self.gradients[k].map(|entry| entry[lane]));
            let first = scaled(add(a, add(b, c)), -1.0);
            let gradients = [first, a, b, c].into_iter().zip(&self.masses);
            for (corner, (g, mass)) in corners.iter_mut().zip(gradients) {
                for (own_axis, strain) in corner.iter_mut().zip(&own.strain) {
                    own_axis[lane] += mass[lane] * dot(strain.map(|entry| entry[lane]), g);
                }
            }
        }
        self.scatter(&corners, points);
    }

    pub(super) fn guard(&self, points: &Points) -> usize {
        let mut corners = self.gather(points);
        let mut found = 0;
        for lane in 0..LANES {
            let tet = self.tet(&corners, lane);
            if tet.determinant >= LEAST_VOLUME {
                continue;
            }
            found += 1;
            let masses: [f32; 4] = std::array::from_fn(|k| self.masses[k][lane]);
            let response = tet.response(masses);
            if response > f32::MIN_POSITIVE {
                let step = (LEAST_VOLUME - tet.determinant) / response;
                tet.shift(&mut corners, lane, masses, tet.limited(step, masses));
            }
        }
        if found > 0 {
            self.scatter(&corners, points);
        }
        found
    }
}

/// The volume of one tet.
struct LaneTet {
    /// det F.
    determinant: f32,
    /// ∂ det F/∂xᵢ.
    of_volume: [Vector; 4],
    /// |gᵢ|².
    steepness: [f32; 4],
}

impl LaneTet {
    /// Σ wᵢ |Gᵢ|².
    #[inline(always)]
    fn response(&self, masses: [f32; 4]) -> f32 {
        let of = |k: usize| masses[k] * dot(self.of_volume[k], self.of_volume[k]);
        (0..4).map(of).sum()
    }

    /// Moves the corners in one lane along the gradients, by the masses times the multiplier.
    #[inline(always)]
    fn shift(&self, corners: &mut Corners, lane: usize, masses: [f32; 4], step: f32) {
        let along = self.of_volume.iter().zip(masses);
        for (corner, (of_volume, mass)) in corners.iter_mut().zip(along) {
            for (axis, of) in corner.iter_mut().zip(of_volume) {
                axis[lane] += mass * step * of;
            }
        }
    }

    /// The multiplier, smaller if it would change F by more than [`MAX_CHANGE`]: a constraint whose gradient vanishes, as that of a tet
    /// that is flat to a line, must not throw its corners away.
    #[inline(always)]
    fn limited(&self, step: f32, masses: [f32; 4]) -> f32 {
        let change = |k: usize| {
            let moved = masses[k] * step;
            moved * moved * dot(self.of_volume[k], self.of_volume[k]) * self.steepness[k]
        };
        let most = (0..4).map(change).fold(0.0, f32::max).sqrt();
        if most > MAX_CHANGE {
            step * (MAX_CHANGE / most)
        } else {
            step
        }
    }
}
