//! A character with helper joints.

use std::sync::Arc;

use super::{Attachment, Character, SourceMesh};
use crate::math::Affine;
use crate::rig::{Clip, Skeleton};
use crate::weights::SkinWeights;

/// Bind matrices that differ by no more than this part agree: files hold them in single precision.
const BIND_ROUNDING: f64 = 1e-4;

/// Where a skinned mesh is in the bind pose, if all joints that move it agree.
#[must_use]
pub fn common_placement(
    skeleton: &Skeleton,
    weights: &SkinWeights,
    joint_from_mesh: &[Affine],
) -> Option<Affine> {
    let mut joints = weights.joints.clone();
    joints.sort_unstable();
    joints.dedup();
    let mut places = joints.into_iter().map(|joint| {
        let joint = joint as usize;
        skeleton.joints()[joint].world_from_bind * joint_from_mesh[joint]
    });
    let first = places.next()?;
    let rounding = BIND_ROUNDING * (1.0 + first.matrix().amax());
    places
        .all(|place| (place.matrix() - first.matrix()).amax() <= rounding)
        .then_some(first)
}

impl Character {
    /// The character with further joints after its own, new weights and clips. `weights` has one entry per mesh; meshes without one are
    /// left as they are. The skin does not move in the bind pose.
    #[must_use]
    pub fn with_helpers(
        &self,
        skeleton: &Skeleton,
        weights: &[Option<SkinWeights>],
        clips: Vec<Clip>,
    ) -> Self {
        let mut made = self.clone();
        for (index, weights) in weights.iter().enumerate().take(self.meshes.len()) {
            let mesh = &mut made.meshes[index];
            if let Some(weights) = weights {
                if self.bind_to(mesh, weights, skeleton) {
                    made.place_morphs(index, &self.meshes[index], &self.skeleton);
                }
            } else if let Attachment::Skinned {
                joint_from_mesh, ..
            } = &mut mesh.attachment
            {
                joint_from_mesh.resize(skeleton.len(), Affine::identity());
            }
        }
        made.clips = clips;
        made.computed_weights = false;
        made.document = self.document.as_ref().map(|document| {
            let mut document = (**document).clone();
            document.rig_replaced = !document.joint_nodes.is_empty();
            Arc::new(document)
        });
        made.skeleton = skeleton.clone();
        made
    }

    /// Returns whether the mesh is now in the world's bind pose instead of in mesh space.
    fn bind_to(&self, mesh: &mut SourceMesh, weights: &SkinWeights, skeleton: &Skeleton) -> bool {
        let placement = match &mesh.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } => common_placement(&self.skeleton, weights, joint_from_mesh),
            _ => None,
        };
        let is_placed = placement.is_none();
        let world_from_mesh = placement.unwrap_or_else(|| {
            // Matrices that disagree bend the mesh into its bind pose; no single transform does.
            let is_bent = matches!(mesh.attachment, Attachment::Skinned { .. });
            mesh.positions = mesh.bind_positions(&self.skeleton);
            mesh.normals = mesh.normals.take().filter(|_| !is_bent);
            Affine::identity()
        });
        let from_mesh = |joint: &crate::rig::Joint| {
            let joint_from_world = joint.world_from_bind.try_inverse();
            joint_from_world.unwrap_or_else(Affine::identity) * world_from_mesh
        };
        mesh.attachment = Attachment::Skinned {
            weights: weights.clone(),
            joint_from_mesh: skeleton.joints().iter().map(from_mesh).collect(),
        };
        is_placed
    }
}
