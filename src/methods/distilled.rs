//! The rig that was distilled from the character, as it moves in clips that were never simulated: linear blending with helper joints
//! that the pose drives, and springs that swing as programs for VRM move them.

use std::sync::Arc;

use super::lbs::LinearBlend;
use super::registry::{Capability, Descriptor, MethodId};
use super::state::{MethodState, StateError};
use super::{BindError, Frame, SkinError, Skinner};
use crate::character::HelperRig;
use crate::math::{Affine, Point, Quat};
use crate::weights::decomposition::Swinging;

impl MethodId {
    /// The distilled rig of the character ([`super::Subject::helper_rig`]). It is not among [`super::registry`]: it can be bound only to
    /// characters that have such a rig.
    pub const DISTILLED: Self = Self::of(&Descriptor {
        id: "distilled",
        label: "Distilled rig",
        short_label: "Rig",
        doc: "Linear blending with the helper joints and weights that were fitted to a simulation, moved by the pose. As a game engine \
              shows the character; its springs swing in steps of 1/60 s.",
        cost: "0.3 ms",
        source: "Le and Deng, Smooth Skinning Decomposition with Rigid Bones, SIGGRAPH Asia 2012",
        departures: &["helper joints are moved by the pose, by linear regression"],
        needs: &[],
        capabilities: &[Capability::State],
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
    /// Positions of all meshes without correctives.
    undisplaced: Vec<Vec<Point>>,
    /// Local rotations of the joints in the last frame.
    rotations: Vec<Quat>,
    /// Transforms of joints, helpers and springs in the last frame.
    world_from_joint: Vec<Affine>,
    swinging: Swinging,
}

impl DistilledRig {
    fn bind(rig: Arc<HelperRig>) -> Self {
        let character = &rig.character;
        let joints = character.skeleton.len();
        let own_weights = vec![None; character.meshes.len()];
        let blend = LinearBlend::bind(character, &own_weights);
        let has_morphs = !rig.correctives.is_empty();
        let parts = blend.parts.iter().filter(|_| has_morphs);
        Self {
            undisplaced: parts.map(|part| part.rest.clone()).collect(),
            blend,
            rotations: Vec::with_capacity(joints),
            world_from_joint: Vec::with_capacity(joints),
            swinging: Swinging::default(),
            rig,
        }
    }
}

impl DistilledRig {
    /// Displaces the meshes by the correctives, whose weights follow the rotations of the joints.
    fn displace_by_pose(&mut self) {
        for (part, bind) in self.blend.parts.iter_mut().zip(&self.undisplaced) {
            part.rest.copy_from_slice(bind);
        }
        for corrective in &self.rig.correctives {
            let driver = &self.rig.decomposition.morphs[corrective.driven].driver;
            let weight = driver.weight_by(|joint| self.rotations.get(joint).copied()) as f32;
            let shapes = &self.rig.character.morphs[corrective.morph].shapes;
            for target in shapes.iter().flat_map(|shape| &shape.targets) {
                let rest = &mut self.blend.parts[target.mesh].rest;
                for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                    rest[vertex as usize] += offset * weight;
                }
            }
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
        let springs = &self.rig.springs;
        self.swinging
            .add(decomposition, springs, frame.dt_secs, world);
        self.displace_by_pose();
        let frame = Frame {
            world_from_joint: &self.world_from_joint,
            ..*frame
        };
        self.blend.skin(&frame, out)
    }

    fn reset(&mut self) {
        self.swinging.reset();
    }

    fn save(&mut self) -> MethodState {
        MethodState::of(self.swinging.clone(), self.swinging.bytes())
    }

    fn restore(&mut self, state: &MethodState) -> Result<(), StateError> {
        self.swinging.clone_from(state.get()?);
        Ok(())
    }

    fn is_at_rest(&self) -> bool {
        self.swinging.is_at_rest()
    }
}
