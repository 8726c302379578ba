//! Linear blend skinning, and its limit with one joint a vertex.

use nalgebra::{Matrix3x4, Matrix4};
use rayon::prelude::*;

use super::direct::Direct;
use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::{Frame, Recipe, SkinError, Skinner, Subject};
use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::weights::SkinWeights;

impl MethodId {
    /// Linear blend skinning.
    pub const LBS: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "lbs",
    label: "Linear blend",
    short_label: "LBS",
    doc: "Blends the joints' matrices by weights. Fast; loses volume in bends and twists.",
    cost: "0.2 ms",
    source: "Magnenat-Thalmann, Laperrière, Thalmann, Joint-Dependent Local Deformations for Hand Animation and Object Grasping, Graphics Interface 1988",
    departures: &[],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[],
    bind: |input| Ok(Box::new(Direct::new(bind(input.subject), recipe))),
});

fn bind(subject: &Subject) -> LinearBlend {
    LinearBlend::bind(&subject.character, subject.mesh_weights())
}

fn recipe(subject: &Subject, groups: &NormalGroups) -> Recipe {
    Recipe::blended(subject, &bind(subject), false, groups)
}

/// One source mesh with the matrices it blends.
pub(super) struct BlendedMesh {
    pub(super) rest: Vec<Point>,
    pub(super) weights: SkinWeights,
    pub(super) joint_from_mesh: Vec<Affine>,
    pub(super) world_from_mesh: Vec<Matrix3x4<f32>>,
}

/// Binds all source vertices of a character: v' = Σⱼ wⱼ (`world_from_joint`ⱼ · `joint_from_mesh`ⱼ) v.
pub struct LinearBlend {
    pub(super) parts: Vec<BlendedMesh>,
}

impl LinearBlend {
    /// Binds with the file's weights, or with `computed` instead of them (one set per mesh, in order).
    #[must_use]
    pub fn bind(character: &Character, computed: &[Option<SkinWeights>]) -> Self {
        let parts = character
            .meshes
            .iter()
            .zip(computed)
            .map(|(mesh, extra)| BlendedMesh::of(character, mesh, extra.as_ref()))
            .collect();
        Self { parts }
    }

    /// As [`LinearBlend::bind`], with the strongest joint of every vertex only.
    #[must_use]
    pub fn bind_rigid(character: &Character, computed: &[Option<SkinWeights>]) -> Self {
        let mut bound = Self::bind(character, computed);
        for part in &mut bound.parts {
            let strongest =
                (0..part.weights.len()).map(|v| part.weights.strongest(v).map(|j| (j as u32, 1.0)));
            part.weights = SkinWeights::from_rows(strongest.collect::<Vec<_>>()).0;
        }
        bound
    }
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
        Self {
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

impl Skinner for LinearBlend {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let mut rest_of_out = out;
        for part in &mut self.parts {
            part.update(frame.world_from_joint);
            let (here, after) = rest_of_out.split_at_mut(part.rest.len());
            rest_of_out = after;
            let part = &*part;
            here.par_iter_mut()
                .with_min_len(2048)
                .enumerate()
                .for_each(|(vertex, out)| *out = part.blend(vertex));
        }
        Ok(())
    }
}

impl BlendedMesh {
    fn blend(&self, vertex: usize) -> Point {
        let rest = self.rest[vertex];
        let mut blended = Matrix3x4::zeros();
        let mut any = false;
        for (joint, weight) in self.weights.of(vertex) {
            blended += self.world_from_mesh[joint] * weight;
            any = true;
        }
        if !any {
            return rest;
        }
        let linear: Vec3 = blended.fixed_view::<3, 3>(0, 0) * rest.coords;
        Point::from(linear + blended.column(3))
    }
}
