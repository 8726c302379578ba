//! Linear blending: v' = Σ w M v, so dv' = (Σ w A) t + Σ g M v along a tangent t with the derivatives g of the weights.

use nalgebra::Matrix3;

use super::LinearBlend;
use crate::math::Vec3;
use crate::methods::blend_normals::{Differentiable, Slope, Tangents, blended_cofactor};
use crate::methods::blended_mesh::BlendedMesh;

impl Differentiable for LinearBlend {
    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh> {
        self.parts.iter()
    }

    fn tangents(&self, mesh: usize, vertex: usize, rest: &Tangents, slopes: &[Slope]) -> [Vec3; 2] {
        let part = &self.parts[mesh];
        let (Some(first), at) = (slopes.first(), &part.rest[vertex].coords) else {
            return rest.along;
        };
        let image = |slope: &Slope| -> (Matrix3<f32>, Vec3) {
            let matrix = &part.world_from_mesh[slope.joint as usize];
            let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
            (linear, linear * at + matrix.column(3))
        };
        let (linear, start) = image(first);
        if slopes.len() == 1 {
            return rest.along.map(|tangent| linear * tangent);
        }
        let mut linear = linear * first.weight;
        // The derivatives of the weights sum to 0: images count relative to the first one's, which is more precise far from the origin.
        let [mut a, mut b] = [Vec3::zeros(); 2];
        for slope in &slopes[1..] {
            let (own, image) = image(slope);
            linear += own * slope.weight;
            let moved = image - start;
            a += moved * slope.along[0];
            b += moved * slope.along[1];
        }
        [a + linear * rest.along[0], b + linear * rest.along[1]]
    }

    fn blended(&self, mesh: usize, vertex: usize, normal: &Vec3) -> Option<Vec3> {
        let part = &self.parts[mesh];
        part.weights.of(vertex).next()?;
        let linear = |joint: usize| part.world_from_mesh[joint].fixed_view::<3, 3>(0, 0).into();
        let weighted = part.weights.of(vertex);
        let terms = weighted.map(|(joint, weight)| (linear(joint), weight));
        Some(blended_cofactor(terms, normal))
    }

    fn strongest(&self, mesh: usize, vertex: usize) -> Option<Matrix3<f32>> {
        self.parts[mesh].strongest_linear(vertex)
    }
}
