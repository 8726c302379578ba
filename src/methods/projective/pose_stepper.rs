//! Bones of one instance of a crowd: computed on the CPU, while a device simulates the flesh of all instances together.

use std::sync::Arc;

use super::Projective;
use super::poses::{compose, largest_turn, relative_into};
use crate::dynamics::{State, VirtualBones};
use crate::math::Affine;
use crate::methods::check::check_joints;
use crate::methods::{Frame, SkinError, Subject};
use crate::rig::Trs;
use crate::tissue::BaseFrame;

/// The bones of one instance from step to step, computed as in [`Projective`]. Data shared by all instances is not
/// copied.
#[derive(Clone)]
pub struct PoseStepper {
    subject: Arc<Subject>,
    virtual_bones: Option<VirtualBones>,
    frame: BaseFrame,
    base_pose: Vec<Trs>,
    last_pose: Vec<Trs>,
    target_pose: Vec<Trs>,
    world: Vec<Affine>,
    target: Vec<Affine>,
}

/// Flesh at equilibrium and the bones under it: the initial state of an instance.
#[derive(Clone)]
pub struct SettledState {
    /// State of the flesh.
    pub state: State,
    /// The bones in the same pose.
    pub stepper: PoseStepper,
}

impl Projective {
    /// Settles in a pose, without inertia: the same pose gives the same state, whatever was before. Removes the device.
    ///
    /// # Errors
    /// [`SkinError`].
    pub(in crate::methods) fn settled_in(
        &mut self,
        world_from_joint: &[Affine],
    ) -> Result<SettledState, SkinError> {
        self.keep_on_cpu();
        self.started = false;
        self.follow(&Frame {
            world_from_joint,
            dt_secs: 0.0,
        })?;
        let stepper = PoseStepper {
            subject: self.subject.clone(),
            virtual_bones: self.virtual_bones.clone(),
            frame: self.frame.clone(),
            base_pose: self.target_pose.clone(),
            last_pose: self.target_pose.clone(),
            target_pose: self.target_pose.clone(),
            world: Vec::new(),
            target: world_from_joint.to_vec(),
        };
        Ok(SettledState {
            state: self.simulation.state(),
            stepper,
        })
    }
}

impl PoseStepper {
    /// Sets the joint transforms at the end of the next frame.
    ///
    /// # Errors
    /// [`SkinError::JointCount`].
    pub fn set_target(&mut self, world_from_joint: &[Affine]) -> Result<(), SkinError> {
        let skeleton = &self.subject.character.skeleton;
        check_joints(skeleton.len(), world_from_joint)?;
        self.last_pose.clone_from(&self.target_pose);
        relative_into(skeleton, world_from_joint, &mut self.target_pose);
        self.target.clear();
        self.target.extend_from_slice(world_from_joint);
        Ok(())
    }

    /// Makes the step that ends at the fraction `t` of the frame (0 to 1). Returns `false` for a jump: it is not
    /// stepped, and the instance has to be settled anew.
    #[must_use]
    pub fn step_to(&mut self, t: f64) -> bool {
        let next = self
            .last_pose
            .iter()
            .zip(&self.target_pose)
            .map(|(a, b)| a.lerp(b, t));
        // A turn that is NaN counts as a jump.
        let turn = largest_turn(&self.base_pose, next);
        if turn.is_nan() || turn > super::JUMP_RAD {
            return false;
        }
        let world = if t < 1.0 {
            self.base_pose.clear();
            self.base_pose.extend(
                self.last_pose
                    .iter()
                    .zip(&self.target_pose)
                    .map(|(a, b)| a.lerp(b, t)),
            );
            compose(
                &self.subject.character.skeleton,
                &self.base_pose,
                &mut self.world,
            );
            &self.world
        } else {
            self.base_pose.clone_from(&self.target_pose);
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
