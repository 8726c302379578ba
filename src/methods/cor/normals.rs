//! Normals: exact ones from the edges of the deformed surface, blended ones turned with the blended rotation.

use nalgebra::Matrix3;

use super::RotationCenters;
use crate::math::Vec3;
use crate::methods::blend_normals::{Differentiable, blended_cofactor};
use crate::methods::blended_mesh::BlendedMesh;

impl Differentiable for RotationCenters {
    const BY_EDGES: bool = true;

    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh> {
        self.parts.iter().map(|part| &part.blend)
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
