//! Dual quaternions: v' = R S v + 2 Im(d r̄), with (r, d) the sum Σ ± w (`r_j`, `d_j`) divided by the length of its real part, and
//! S = Σ w `S_j`.
//!
//! Along a tangent t the sums change by (ρ, δ) = Σ ± g (`r_j`, `d_j`), divided by the same length N; the parts across r are
//! r' = ρ/N − r (r · ρ/N) and d' = δ/N − d (r · ρ/N). Then dv' = R (S t + Σ g `S_j` v) + ω × R S v + 2 Im(d' r̄ + d r̄'), ω = 2 Im(r' r̄).

use nalgebra::{Matrix3, Quaternion, Vector4};

use super::DualQuaternion;
use crate::math::{SplitTransform, Vec3};
use crate::methods::blend_normals::{Differentiable, Slope, Tangents, blended_cofactor};
use crate::methods::blended_mesh::BlendedMesh;

/// Sums of quaternions that are shorter than this cancel each other: as [`SplitTransform::blend`].
const CANCELLED: f32 = 1e-6;

impl Differentiable for DualQuaternion {
    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh> {
        self.parts.iter()
    }

    fn tangents(&self, mesh: usize, vertex: usize, rest: &Tangents, slopes: &[Slope]) -> [Vec3; 2] {
        let (part, splits, rigid) = (&self.parts[mesh], &self.splits[mesh], self.rigid[mesh]);
        let Some(pivot) = slopes.first().map(|first| &splits[first.joint as usize]) else {
            return rest.along;
        };
        if slopes.len() == 1 {
            let real = pivot.real.coords;
            return rest
                .along
                .map(|tangent| rotated(&real, &(pivot.stretch * tangent)));
        }
        let at = &part.rest[vertex].coords;
        let mut sum = Rates::default();
        let mut along = [Rates::default(); 2];
        for slope in slopes {
            let split = &splits[slope.joint as usize];
            let sign = sign(pivot, split);
            sum.add(split, sign, slope.weight);
            if !rigid {
                sum.stretch += split.stretch * slope.weight;
            }
            for (rates, rate) in along.iter_mut().zip(slope.along) {
                rates.add(split, sign, rate);
                if !rigid {
                    // Derivatives of weights sum to 0, apart from small ones that are left out: stretches count relative to the
                    // first one's.
                    rates.stretch += (split.stretch - pivot.stretch) * rate;
                }
            }
        }
        let norm = sum.real.norm();
        if norm < CANCELLED {
            // Such a vertex stays where it is at rest.
            return rest.along;
        }
        let (real, dual) = (sum.real / norm, sum.dual / norm);
        let turn = |vector: &Vec3| rotated(&real, vector);
        let stretched = |rates: &Rates, vector: &Vec3| rates.stretch * vector;
        let turned = if rigid {
            turn(at)
        } else {
            turn(&stretched(&sum, at))
        };
        let of = |rates: &Rates, tangent: &Vec3| {
            let (real_rate, dual_rate) = (rates.real / norm, rates.dual / norm);
            let longer = real.dot(&real_rate);
            let (real_rate, dual_rate) = (real_rate - real * longer, dual_rate - dual * longer);
            let spin = twice_imag(&real, &real_rate);
            let moved = if rigid {
                *tangent
            } else {
                stretched(&sum, tangent) + stretched(rates, at)
            };
            turn(&moved)
                + spin.cross(&turned)
                + twice_imag(&real, &dual_rate)
                + twice_imag(&real_rate, &dual)
        };
        [of(&along[0], &rest.along[0]), of(&along[1], &rest.along[1])]
    }

    fn blended(&self, mesh: usize, vertex: usize, normal: &Vec3) -> Option<Vec3> {
        let (part, splits) = (&self.parts[mesh], &self.splits[mesh]);
        let weighted = || {
            let weighted = part.weights.of(vertex);
            weighted.map(|(joint, weight)| (&splits[joint], weight))
        };
        let blend = SplitTransform::blend(weighted())?;
        let stretched = if self.rigid[mesh] {
            *normal
        } else {
            blended_cofactor(
                weighted().map(|(split, weight)| (split.stretch, weight)),
                normal,
            )
        };
        Some(rotated(&blend.real.coords, &stretched))
    }

    fn strongest(&self, mesh: usize, vertex: usize) -> Option<Matrix3<f32>> {
        let joint = self.parts[mesh].weights.strongest(vertex)?;
        let split = &self.splits[mesh][joint];
        let rotation = split.motion().rotation.to_rotation_matrix();
        Some(rotation.into_inner() * split.stretch)
    }
}

/// A weighted sum of dual quaternions and stretches; coordinates are x, y, z, w. Stretches are zero if no joint stretches.
#[derive(Debug, Clone, Copy, Default)]
struct Rates {
    real: Vector4<f32>,
    dual: Vector4<f32>,
    stretch: Matrix3<f32>,
}

impl Rates {
    /// Adds a dual quaternion, not its stretch.
    fn add(&mut self, split: &SplitTransform, sign: f32, weight: f32) {
        self.real += split.real.coords * (sign * weight);
        self.dual += split.dual.coords * (sign * weight);
    }
}

fn sign(pivot: &SplitTransform, other: &SplitTransform) -> f32 {
    if other.real.coords.dot(&pivot.real.coords) < 0.0 {
        -1.0
    } else {
        1.0
    }
}

/// 2 Im(b ā).
fn twice_imag(a: &Vector4<f32>, b: &Vector4<f32>) -> Vec3 {
    let (u, v): (Vec3, Vec3) = (a.xyz(), b.xyz());
    (v * a.w - u * b.w + u.cross(&v)) * 2.0
}

fn rotated(real: &Vector4<f32>, vector: &Vec3) -> Vec3 {
    let real = Quaternion::from(*real);
    let axis: Vec3 = real.imag();
    let twice = axis.cross(vector) * 2.0;
    vector + twice * real.w + axis.cross(&twice)
}
