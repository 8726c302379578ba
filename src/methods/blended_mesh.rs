//! Source meshes bound to joints: what all methods that blend joint transforms start from.

use nalgebra::{Matrix3, Matrix3x4, Matrix4};

use super::morph_offsets::MeshOffsets;

use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Point, Vec3};
use crate::weights::SkinWeights;

/// One source mesh with the matrices it blends.
pub(super) struct BlendedMesh {
    pub(super) rest: Vec<Point>,
    pub(super) weights: SkinWeights,
    pub(super) joint_from_mesh: Vec<Affine>,
    pub(super) world_from_mesh: Vec<Matrix3x4<f32>>,
    /// Whether `rest` is in the world's bind pose instead of in mesh space.
    pub(super) in_bind_pose: bool,
    /// `rest` without morphs, while they displace it.
    pub(super) undisplaced: Vec<Point>,
}

impl BlendedMesh {
    pub(super) fn of(
        character: &Character,
        mesh: &SourceMesh,
        extra: Option<&SkinWeights>,
    ) -> Self {
        let joints = &character.skeleton;
        let count = mesh.positions.len();
        let all_on = |joint: u32| SkinWeights::from_rows((0..count).map(|_| [(joint, 1.0)])).0;
        let none = || SkinWeights::from_rows((0..count).map(|_| [])).0;
        let from_bind = || {
            let inverse = |joint: &crate::rig::Joint| {
                joint
                    .world_from_bind
                    .try_inverse()
                    .unwrap_or_else(Affine::identity)
            };
            joints.joints().iter().map(inverse).collect::<Vec<_>>()
        };
        let (rest, weights, joint_from_mesh) = match &mesh.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } => match extra {
                Some(computed) => (mesh.bind_positions(joints), computed.clone(), from_bind()),
                None => (
                    mesh.positions.clone(),
                    weights.clone(),
                    joint_from_mesh.clone(),
                ),
            },
            Attachment::Rigid {
                joint,
                joint_from_mesh,
            } => {
                let mut all = vec![Affine::identity(); joints.len()];
                all[*joint] = *joint_from_mesh;
                (mesh.positions.clone(), all_on(*joint as u32), all)
            }
            Attachment::Static { .. } => (mesh.positions_at(&[]), none(), Vec::new()),
            Attachment::Unweighted => match extra {
                Some(weights) => (mesh.positions.clone(), weights.clone(), from_bind()),
                None => (mesh.positions.clone(), none(), from_bind()),
            },
        };
        let world_from_mesh = vec![Matrix3x4::zeros(); joint_from_mesh.len()];
        let in_bind_pose = match &mesh.attachment {
            Attachment::Skinned { .. } => extra.is_some(),
            Attachment::Rigid { .. } => false,
            Attachment::Static { .. } | Attachment::Unweighted => true,
        };
        Self {
            in_bind_pose,
            undisplaced: Vec::new(),
            rest,
            weights,
            joint_from_mesh,
            world_from_mesh,
        }
    }

    /// Updates the joint matrices; vertices without influences keep their rest positions.
    pub(super) fn update(&mut self, world_from_joint: &[Affine]) {
        for ((target, joint_from_mesh), world) in self
            .world_from_mesh
            .iter_mut()
            .zip(&self.joint_from_mesh)
            .zip(world_from_joint)
        {
            let matrix: Matrix4<f64> = (world * joint_from_mesh).to_homogeneous();
            *target = matrix.fixed_view::<3, 4>(0, 0).into_owned().cast::<f32>();
        }
    }
}

/// Writes the displaced vertices of a mesh.
pub(super) fn displace(mesh: &MeshOffsets, offsets: &[Vec3], bind: &[Point], rest: &mut [Point]) {
    for (&vertex, offset) in mesh.vertices.iter().zip(offsets) {
        let vertex = vertex as usize;
        rest[vertex] = bind[vertex] + offset;
    }
}

impl BlendedMesh {
    /// The position of a vertex.
    pub(super) fn blend(&self, vertex: usize) -> Point {
        let rest = &self.rest[vertex];
        let mut blended = Matrix3x4::zeros();
        let mut any = false;
        for (joint, weight) in self.weights.of(vertex) {
            blended += self.world_from_mesh[joint] * weight;
            any = true;
        }
        if !any {
            return *rest;
        }
        let linear: Vec3 = blended.fixed_view::<3, 3>(0, 0) * rest.coords;
        Point::from(linear + blended.column(3))
    }

    /// The displacements in the space of `rest`.
    pub(super) fn offsets<'a>(&self, offsets: &'a MeshOffsets) -> &'a [Vec3] {
        if self.in_bind_pose {
            &offsets.in_bind_pose
        } else {
            &offsets.in_mesh
        }
    }

    /// Displaces the rest positions; without offsets they are as bound. Allocates at the first displacement only.
    pub(super) fn displace(&mut self, offsets: Option<&MeshOffsets>) {
        match offsets {
            Some(offsets) => {
                if self.undisplaced.is_empty() {
                    self.undisplaced.extend_from_slice(&self.rest);
                }
                displace(
                    offsets,
                    self.offsets(offsets),
                    &self.undisplaced,
                    &mut self.rest,
                );
            }
            None if !self.undisplaced.is_empty() => self.rest.copy_from_slice(&self.undisplaced),
            None => {}
        }
    }

    /// A displacement in the space of `rest`, turned as the vertex is.
    pub(super) fn turned(&self, vertex: usize, offset: &Vec3) -> Vec3 {
        let mut blended = Matrix3::zeros();
        let mut any = false;
        for (joint, weight) in self.weights.of(vertex) {
            blended += self.world_from_mesh[joint].fixed_view::<3, 3>(0, 0) * weight;
            any = true;
        }
        if any { blended * offset } else { *offset }
    }

    /// The linear part of the motion of the joint with the largest weight.
    pub(super) fn strongest_linear(&self, vertex: usize) -> Option<Matrix3<f32>> {
        let joint = self.weights.strongest(vertex)?;
        Some(self.world_from_mesh[joint].fixed_view::<3, 3>(0, 0).into())
    }
}
