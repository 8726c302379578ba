//! One of many: its bones are placed here, its flesh is simulated together with that of the others by a device.

use std::sync::Arc;

use super::Projective;
use super::poses::{compose, largest_turn, relative_into};
use crate::dynamics::{State, VirtualBones};
use crate::math::Affine;
use crate::methods::check::check_joints;
use crate::methods::{Frame, SkinError, Subject};
use crate::rig::Trs;
use crate::tissue::BaseFrame;

/// The bones of one instance, from step to step, as [`Projective`] moves its own. What all instances share is not copied.
#[derive(Clone)]
pub struct Walker {
    subject: Arc<Subject>,
    virtual_bones: Option<VirtualBones>,
    frame: BaseFrame,
    at: Vec<Trs>,
    from: Vec<Trs>,
    to: Vec<Trs>,
    world: Vec<Affine>,
    target: Vec<Affine>,
}

/// Flesh that is still, and the bones under it: what an instance begins with.
#[derive(Clone)]
pub struct Settled {
    /// Where the flesh is.
    pub state: State,
    /// The bones; they go on from there.
    pub walker: Walker,
}

impl Projective {
    /// Settles in a pose, without inertia: the same state for the same pose, whatever was before. A device is let go of.
    ///
    /// # Errors
    /// [`SkinError`].
    pub(in crate::methods) fn settled_in(
        &mut self,
        world_from_joint: &[Affine],
    ) -> Result<Settled, SkinError> {
        self.keep_on_cpu();
        self.started = false;
        self.follow(&Frame {
            world_from_joint,
            dt_secs: 0.0,
        })?;
        let walker = Walker {
            subject: self.subject.clone(),
            virtual_bones: self.virtual_bones.clone(),
            frame: self.frame.clone(),
            at: self.to.clone(),
            from: self.to.clone(),
            to: self.to.clone(),
            world: Vec::new(),
            target: world_from_joint.to_vec(),
        };
        Ok(Settled {
            state: self.simulation.state(),
            walker,
        })
    }
}

impl Walker {
    /// Says where the joints are at the end of the frame that begins.
    ///
    /// # Errors
    /// [`SkinError::JointCount`].
    pub fn aim(&mut self, world_from_joint: &[Affine]) -> Result<(), SkinError> {
        let skeleton = &self.subject.character.skeleton;
        check_joints(skeleton.len(), world_from_joint)?;
        self.from.clone_from(&self.to);
        relative_into(skeleton, world_from_joint, &mut self.to);
        self.target.clear();
        self.target.extend_from_slice(world_from_joint);
        Ok(())
    }

    /// Makes the step that ends at the part `t` of the frame (0 to 1). Returns whether it did: a jump is no step, the instance has to be
    /// settled anew.
    #[must_use]
    pub fn step_to(&mut self, t: f64) -> bool {
        let next = self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t));
        // A turn that is no number is a jump, too.
        let turn = largest_turn(&self.at, next);
        if turn.is_nan() || turn > super::JUMP_RAD {
            return false;
        }
        let world = if t < 1.0 {
            self.at.clear();
            self.at
                .extend(self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t)));
            compose(&self.subject.character.skeleton, &self.at, &mut self.world);
            &self.world
        } else {
            self.at.clone_from(&self.to);
            &self.target
        };
        if let Some(bones) = &mut self.virtual_bones {
            bones.step(world);
            bones.write_frame(world, &mut self.frame);
        }
        if let Ok(flesh) = self.subject.flesh() {
            flesh.tissue.anchors.move_volumes(world, &mut self.frame);
        }
        true
    }

    /// Bones and joint spheres after the last step.
    #[must_use]
    pub fn frame(&self) -> &BaseFrame {
        &self.frame
    }
}
