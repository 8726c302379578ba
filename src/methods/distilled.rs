//! The rig that was distilled from the character, as it moves in clips that were never simulated: linear blending with helper joints
//! that the pose drives.

use std::sync::Arc;

use super::lbs::LinearBlend;
use super::registry::{Descriptor, MethodId};
use super::{BindError, Frame, SkinError, Skinner};
use crate::character::HelperRig;
use crate::math::{Affine, Point, Quat};

impl MethodId {
    /// The distilled rig of the character ([`super::Subject::helper_rig`]). It is not among [`super::registry`]: it can be bound only to
    /// characters that have such a rig.
    pub const DISTILLED: Self = Self::of(&Descriptor {
        id: "distilled",
        label: "Distilled rig",
        short_label: "Rig",
        doc: "Linear blending with the helper joints and weights that were fitted to a simulation, moved by the pose. As a game engine \
              shows the character.",
        cost: "0.3 ms",
        source: "Le and Deng, Smooth Skinning Decomposition with Rigid Bones, SIGGRAPH Asia 2012",
        departures: &["helper joints are moved by the pose, by linear regression"],
        needs: &[],
        capabilities: &[],
        params: &[],
        bind: |input| {
            let rig = input.subject.helper_rig().ok_or(BindError::NotDistilled)?;
            Ok(Box::new(DistilledRig::bind(rig)))
        },
    });
}

struct DistilledRig {
    rig: Arc<HelperRig>,
    blend: LinearBlend,
    /// Local rotations of the joints in the last frame.
    rotations: Vec<Quat>,
    /// Transforms of joints and helpers in the last frame.
    world_from_joint: Vec<Affine>,
}

impl DistilledRig {
    fn bind(rig: Arc<HelperRig>) -> Self {
        let character = &rig.character;
        let joints = character.skeleton.len();
        let own_weights = vec![None; character.meshes.len()];
        Self {
            blend: LinearBlend::bind(character, &own_weights),
            rotations: Vec::with_capacity(joints),
            world_from_joint: Vec::with_capacity(joints),
            rig,
        }
    }
}

impl Skinner for DistilledRig {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let world = &mut self.world_from_joint;
        world.clear();
        world.extend_from_slice(frame.world_from_joint);
        let decomposition = &self.rig.decomposition;
        decomposition.add_driven(&mut self.rotations, world);
        let frame = Frame {
            world_from_joint: world,
            ..*frame
        };
        self.blend.skin(&frame, out)
    }
}
