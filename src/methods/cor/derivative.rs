//! How the deformed surface changes along a tangent of the rest surface.
//!
//! v' = R S (v − c) + Σ w M c with R from the normalised sum of quaternions Σ ± w q and S = Σ w `S_j`. Along a tangent t, weights change by
//! g and the centre by d; with ω the rotation that the change of the quaternion means:
//! dv' = R S (t − d) + R (Σ g `S_j`) (v − c) + ω × R S (v − c) + (Σ w A) d + Σ g M c.

use nalgebra::{Matrix3, Vector4};

use super::{CenteredMesh, RotationCenters};
use crate::math::{Point, Vec3};
use crate::methods::blend_normals::{Differentiable, Slope, Tangents, blended_cofactor};
use crate::methods::blended_mesh::BlendedMesh;

impl Differentiable for RotationCenters {
    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh> {
        self.parts.iter().map(|part| &part.blend)
    }

    fn carried(&self) -> Option<Vec<&[Point]>> {
        Some(self.parts.iter().map(|part| &*part.centers).collect())
    }

    fn tangents(&self, part: usize, vertex: usize, rest: &Tangents, slopes: &[Slope]) -> [Vec3; 2] {
        self.parts[part].tangents(vertex, rest, slopes)
    }

    fn blended(&self, part: usize, vertex: usize, normal: &Vec3) -> Option<Vec3> {
        let part = &self.parts[part];
        part.blend.weights.of(vertex).next()?;
        let stretched = if part.is_rigid {
            *normal
        } else {
            let weighted = part.blend.weights.of(vertex);
            let terms = weighted.map(|(joint, weight)| (part.turns[joint].stretch, weight));
            blended_cofactor(terms, normal)
        };
        Some(part.blended_turn(vertex).rotate(&stretched))
    }

    fn strongest(&self, part: usize, vertex: usize) -> Option<Matrix3<f32>> {
        self.parts[part].blend.strongest_linear(vertex)
    }
}

impl CenteredMesh {
    fn tangents(&self, vertex: usize, rest: &Tangents, slopes: &[Slope]) -> [Vec3; 2] {
        let Some(first) = slopes.first() else {
            return rest.along;
        };
        if slopes.len() == 1 {
            let matrix = &self.blend.world_from_mesh[first.joint as usize];
            let linear = matrix.fixed_view::<3, 3>(0, 0);
            return rest.along.map(|tangent| linear * tangent);
        }
        let center = &self.centers[vertex];
        let arm = self.blend.rest[vertex] - center;
        let pivot = self.turns[first.joint as usize];
        let matrix_of = |slope: &Slope| &self.blend.world_from_mesh[slope.joint as usize];
        let image = |slope: &Slope| -> Vec3 {
            let matrix = matrix_of(slope);
            matrix.fixed_view::<3, 3>(0, 0) * center.coords + matrix.column(3)
        };
        // Derivatives of weights sum to 0, apart from small ones that are left out: images count relative to the first one's.
        let start = image(first);
        let mut sum = Vector4::<f32>::zeros();
        let mut sum_along = [Vector4::<f32>::zeros(); 2];
        let (mut linear, mut stretch) = (Matrix3::<f32>::zeros(), Matrix3::<f32>::zeros());
        let mut stretched_along = [Vec3::zeros(); 2];
        let mut along = [Vec3::zeros(); 2];
        for slope in slopes {
            let turn = &self.turns[slope.joint as usize];
            let signed = turn.rotation.coords * pivot.sign_of(turn);
            sum += signed * slope.weight;
            linear += matrix_of(slope).fixed_view::<3, 3>(0, 0) * slope.weight;
            let moved = image(slope) - start;
            for axis in 0..2 {
                sum_along[axis] += signed * slope.along[axis];
                along[axis] += moved * slope.along[axis];
            }
            if !self.is_rigid {
                stretch += turn.stretch * slope.weight;
                let stretched = (turn.stretch - pivot.stretch) * arm;
                for (sum, slope) in stretched_along.iter_mut().zip(slope.along) {
                    *sum += stretched * slope;
                }
            }
        }
        let norm = sum.norm();
        let unit = sum / norm;
        let turn = super::Turn {
            rotation: unit.into(),
            stretch: if self.is_rigid {
                Matrix3::identity()
            } else {
                stretch
            },
        };
        let turned_arm = turn.apply(&arm, self.is_rigid);
        for axis in 0..2 {
            let carried = rest.carried[axis];
            let change = sum_along[axis] / norm;
            let spin = spin(&unit, &change);
            along[axis] += turn.apply(&(rest.along[axis] - carried), self.is_rigid)
                + turn.rotate(&stretched_along[axis])
                + spin.cross(&turned_arm)
                + linear * carried;
        }
        along
    }
}

/// The angular velocity of a unit quaternion that changes by the part of `change` across it: 2 Im(q̇ q̄). Coordinates are x, y, z, w.
fn spin(unit: &Vector4<f32>, change: &Vector4<f32>) -> Vec3 {
    let (axis, rate): (Vec3, Vec3) = (unit.xyz(), change.xyz());
    (rate * unit.w - axis * change.w + axis.cross(&rate)) * 2.0
}
