//! The weights of one fine vertex: moving least squares with rank and amplification control.
//!
//! The shape functions Nᵢ = ωᵢ ψᵢᵀ K⁺ ψ(x) (thesis 3.8) equal Nᵢ = ωᵢ Σₘ φₘ(xᵢ) φₘ(x) with
//! monomials φₘ orthonormalised under the weights ωᵢ. Pivoted Gram–Schmidt, first over the linear,
//! then over the quadratic monomials, gives the pseudo-inverse with a rank criterion and the
//! fall-back from quadratic to linear to constant, one function at a time: functions that vanish at
//! the neighbours are dropped.
//!
//! On a surface that is nearly flat or nearly a quadric, three or four of the ten functions are small at all
//! neighbours. They represent noise in the positions of the coarse vertices rather than shape. Fitted like the others
//! they cause waves in strong bends. Fading them out reduces the error of a bent tube of 150 to 1000 coarse vertices by
//! a factor of two to four (positions and normals), to between a third and a fifth of that of normal displacements.

use nalgebra::Matrix3;

use super::front::Near;
use crate::math::{Point, Point64, Vec3, Vec64, smoothstep};

/// Maximum number of neighbours.
pub const MAX_NEIGHBOURS: usize = 48;

/// Monomials without the constant: x, y, z, x², y², z², xy, xz, yz.
const COLUMNS: usize = 9;
const LINEAR: usize = 3;
/// Rows: the neighbours, then the value at the point of evaluation, then two derivatives there.
const ROWS: usize = MAX_NEIGHBOURS + 3;

/// A function with a smaller root mean square at the neighbours (of radius 1) counts as zero.
const RANK_TOLERANCE: f64 = 1e-4;
/// Quadratic functions below the second value are attenuated, those below the first are dropped.
const FADE_RANGE: [f64; 2] = [0.01, 0.03];
/// Maximum of an orthonormal function at the point of evaluation; a larger value is an extrapolation and is damped.
const MAX_VALUE: f64 = 3.0;
/// Upper bound of Σ|Nᵢ|, the amplification of a disturbance of the coarse vertices; enforced by mixing with a lower
/// order.
const MAX_AMPLIFICATION: f64 = 2.5;
/// Upper bound of the derivatives' amplification, relative to the linear fit.
const MAX_DERIVATIVE_RATIO: f64 = 3.0;
/// Minimum area of the parallelogram of two rest tangents; 1 if no function was dropped.
const VALID_AREA: std::ops::Range<f64> = 0.3..3.0;
/// Margin of the support radius, so that the last neighbour gets a positive weight even if all are at the same
/// distance.
const RADIUS_MARGIN: f64 = 1.0 + 1e-3;
/// Support radius of a vertex with fewer neighbours than requested, relative to the distance of the farthest one.
const RADIUS_FACTOR: f64 = 1.5;

/// The weights of one fine vertex.
pub(super) struct Stencil {
    pub(super) count: usize,
    pub(super) coarse: [u32; MAX_NEIGHBOURS],
    /// Per neighbour: weight for the position and for two tangents, the latter in 1/length. The
    /// first sum to one, the others to zero.
    pub(super) weights: [[f64; 3]; MAX_NEIGHBOURS],
}

type Column = [f64; ROWS];

/// Computes the fits, one vertex after the other.
pub(super) struct Fitter<'a> {
    coarse: &'a [Point],
    /// Unit normals of the coarse mesh.
    normals: &'a [Vec3],
    columns: [Column; COLUMNS],
    omega: [f64; MAX_NEIGHBOURS],
    pub(super) stencil: Stencil,
}

/// A sum of functions up to some order: weights for the value and for two derivatives.
#[derive(Clone, Copy)]
struct Sums([[f64; 3]; MAX_NEIGHBOURS]);

impl<'a> Fitter<'a> {
    pub(super) fn new(coarse: &'a [Point], normals: &'a [Vec3]) -> Self {
        Self {
            coarse,
            normals,
            columns: [[0.0; ROWS]; COLUMNS],
            omega: [0.0; MAX_NEIGHBOURS],
            stencil: Stencil {
                count: 0,
                coarse: [0; MAX_NEIGHBOURS],
                weights: [[0.0; 3]; MAX_NEIGHBOURS],
            },
        }
    }

    /// Fits at a point with the given neighbours, nearest first: `neighbours + 1`, or all
    /// available. `hint` is the normal to use if the neighbours have no common one.
    pub(super) fn fit(&mut self, near: &[Near], neighbours: usize, at: &Point, hint: &Vec3) {
        let n = self.set_omega(near, neighbours);
        self.stencil.count = n;
        for (slot, near) in self.stencil.coarse.iter_mut().zip(&near[..n]) {
            *slot = near.coarse;
        }
        let scale = self.set_columns(n, at, hint);
        let (mut constant, mut found) = (Sums([[0.0; 3]; MAX_NEIGHBOURS]), [false; COLUMNS]);
        for (row, omega) in constant.0.iter_mut().zip(&self.omega[..n]) {
            row[0] = *omega;
        }
        let mut linear = constant;
        self.add_group(n, 0, LINEAR, &mut found, &mut linear);
        let mut quadratic = linear;
        if n > LINEAR + 1 {
            self.add_group(n, LINEAR, COLUMNS, &mut found, &mut quadratic);
        }
        limit(&mut linear, &constant, 0, MAX_AMPLIFICATION, n);
        limit(&mut quadratic, &linear, 0, MAX_AMPLIFICATION, n);
        for column in 1..3 {
            let most = MAX_DERIVATIVE_RATIO * amplification(&linear, column, n);
            limit(&mut quadratic, &linear, column, most, n);
        }
        for (weights, sum) in self.stencil.weights.iter_mut().zip(&quadratic.0[..n]) {
            *weights = [sum[0], sum[1] / scale, sum[2] / scale];
        }
        if !self.has_frame() {
            for weights in &mut self.stencil.weights[..n] {
                *weights = [weights[0], 0.0, 0.0];
            }
        }
    }

    /// Whether the tangents span enough area to determine the vertex's rotation.
    fn has_frame(&self) -> bool {
        let Stencil {
            count,
            coarse,
            weights,
        } = &self.stencil;
        let tangent = |c: usize| -> Vec64 {
            coarse[..*count]
                .iter()
                .zip(weights)
                .map(|(&i, weights)| self.coarse[i as usize].coords.cast::<f64>() * weights[c])
                .sum()
        };
        VALID_AREA.contains(&tangent(1).cross(&tangent(2)).norm())
    }

    /// ω(r) = (1 − r/ρ)³, normalised to sum 1. Returns the number of neighbours.
    fn set_omega(&mut self, near: &[Near], neighbours: usize) -> usize {
        let n = near.len().min(neighbours).min(MAX_NEIGHBOURS);
        let farthest = near.last().map_or(0.0, |near| f64::from(near.distance));
        let radius = farthest
            * if near.len() > n {
                RADIUS_MARGIN
            } else {
                RADIUS_FACTOR
            };
        let mut sum = 0.0;
        for (omega, near) in self.omega.iter_mut().zip(&near[..n]) {
            *omega = if radius > 0.0 {
                (1.0 - f64::from(near.distance) / radius).powi(3)
            } else {
                1.0
            };
            sum += *omega;
        }
        for omega in &mut self.omega[..n] {
            *omega /= sum;
        }
        n
    }

    /// Monomials in the frame of the neighbourhood (the third axis is the normal), centred and scaled to the unit ball. Returns the
    /// scale.
    fn set_columns(&mut self, n: usize, at: &Point, hint: &Vec3) -> f64 {
        let (mut mean, mut normal) = (Vec64::zeros(), Vec64::zeros());
        for (&omega, &c) in self.omega[..n].iter().zip(&self.stencil.coarse) {
            mean += self.coarse[c as usize].coords.cast::<f64>() * omega;
            let own = self.normals[c as usize];
            if own.iter().all(|c| c.is_finite()) {
                normal += own.cast::<f64>() * omega;
            }
        }
        let mean = Point64::from(mean);
        if normal.norm() < 0.3 {
            normal = hint.cast();
        }
        let axes = frame(&normal);
        let offset = |point: &Point| axes.tr_mul(&(point.cast::<f64>() - mean));
        let neighbours = self.stencil.coarse;
        let mut scale = 0.0_f64;
        for &c in &neighbours[..n] {
            scale = scale.max((self.coarse[c as usize].cast::<f64>() - mean).norm());
        }
        if scale <= 0.0 {
            scale = 1.0;
        }
        for row in 0..=n {
            let point = if row < n {
                &self.coarse[neighbours[row] as usize]
            } else {
                at
            };
            let [x, y, z] = (offset(point) / scale).into();
            for (column, value) in
                self.columns
                    .iter_mut()
                    .zip([x, y, z, x * x, y * y, z * z, x * y, x * z, y * z])
            {
                column[row] = value;
            }
            if row == n {
                let along_x = [1.0, 0.0, 0.0, 2.0 * x, 0.0, 0.0, y, z, 0.0];
                let along_y = [0.0, 1.0, 0.0, 0.0, 2.0 * y, 0.0, x, 0.0, z];
                for ((column, dx), dy) in self.columns.iter_mut().zip(along_x).zip(along_y) {
                    column[n + 1] = dx;
                    column[n + 2] = dy;
                }
            }
        }
        for column in &mut self.columns {
            let mean: f64 = self.omega[..n]
                .iter()
                .zip(&column[..n])
                .map(|(omega, value)| omega * value)
                .sum();
            for value in &mut column[..=n] {
                *value -= mean;
            }
        }
        scale
    }

    /// Orthonormalises the columns of a group, the largest first, and adds the non-zero ones to the
    /// sums.
    fn add_group(
        &mut self,
        n: usize,
        start: usize,
        end: usize,
        found: &mut [bool; COLUMNS],
        sums: &mut Sums,
    ) {
        for _ in start..end {
            let norm2 = |column: &Column| -> f64 {
                self.omega[..n]
                    .iter()
                    .zip(&column[..n])
                    .map(|(omega, v)| omega * v * v)
                    .sum()
            };
            let mut pivot = (0.0, start);
            for p in (start..end).filter(|&p| !found[p]) {
                let size = norm2(&self.columns[p]);
                if size > pivot.0 {
                    pivot = (size, p);
                }
            }
            let (size, p) = pivot;
            if size < RANK_TOLERANCE * RANK_TOLERANCE {
                return;
            }
            found[p] = true;
            let scale = 1.0 / size.sqrt();
            let mut phi = self.columns[p];
            for value in &mut phi[..n + 3] {
                *value *= scale;
            }
            for other in (0..COLUMNS).filter(|&other| !found[other]) {
                let column = &mut self.columns[other];
                let shared: f64 = (0..n).map(|i| self.omega[i] * phi[i] * column[i]).sum();
                for (value, phi) in column[..n + 3].iter_mut().zip(&phi) {
                    *value -= shared * phi;
                }
            }
            let damped = |value: f64, most: f64| {
                if value.abs() > most {
                    most * most / value
                } else {
                    value
                }
            };
            let value = damped(phi[n], MAX_VALUE);
            let share = if start < LINEAR {
                1.0
            } else {
                smoothstep(FADE_RANGE, size.sqrt())
            };
            for i in 0..n {
                let part = share * self.omega[i] * phi[i];
                sums.0[i][0] += part * value;
                sums.0[i][1] += part * phi[n + 1];
                sums.0[i][2] += part * phi[n + 2];
            }
        }
    }
}

/// Σ|Nᵢ|.
fn amplification(sums: &Sums, column: usize, n: usize) -> f64 {
    sums.0[..n].iter().map(|row| row[column].abs()).sum()
}

/// Mixes with a lower order until the amplification is at most `most`.
fn limit(sums: &mut Sums, lower: &Sums, column: usize, most: f64, n: usize) {
    let (own, low) = (
        amplification(sums, column, n),
        amplification(lower, column, n),
    );
    if own <= most || own <= low {
        return;
    }
    // The amplification is convex in the mixing parameter, so it stays below the chord.
    let share = ((most - low) / (own - low)).clamp(0.0, 1.0);
    for (row, lower) in sums.0[..n].iter_mut().zip(&lower.0) {
        row[column] = lower[column] + share * (row[column] - lower[column]);
    }
}

/// A right-handed orthonormal frame whose third axis is along `normal`.
pub(super) fn frame(normal: &Vec64) -> Matrix3<f64> {
    let z = normal
        .try_normalize(1e-30)
        .filter(|z| z.iter().all(|c| c.is_finite()))
        .unwrap_or_else(Vec64::z);
    let mut side = Vec64::zeros();
    side[z.iamin()] = 1.0;
    let x = (side - z * z.dot(&side)).normalize();
    Matrix3::from_columns(&[x, z.cross(&x), z])
}
