//! Contacts that the device finds itself, step by step.

use std::sync::Arc;

use nalgebra::Matrix3x4;

use crate::collision::Contact;
use crate::gpu::collision::{Collision, CollisionModel};
use crate::gpu::compute::Dispatch;
use crate::gpu::flesh::{FleshModel, FleshState, FleshStep};
use crate::gpu::surface::Base;
use crate::gpu::{GpuContext, GpuError};
use crate::tissue::BaseFrame;

/// The contacts of one character.
#[derive(Debug)]
pub(super) struct OwnContacts {
    collision: Collision,
    bones: Vec<Matrix3x4<f32>>,
    /// Whether there are none, because none were found since they were cleared.
    is_clear: bool,
}

impl OwnContacts {
    pub(super) fn new(
        gpu: &GpuContext,
        model: &Arc<CollisionModel>,
        flesh: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
        base: &Base,
    ) -> Self {
        Self {
            collision: Collision::new(gpu, model, flesh, state, solve, base),
            bones: Vec::new(),
            is_clear: true,
        }
    }

    /// A time step with contacts.
    pub(super) fn step(&self) -> &FleshStep {
        self.collision.step()
    }

    /// Uploads what the next step needs besides the bones.
    pub(super) fn prepare(&mut self, gpu: &GpuContext, frame: &BaseFrame) {
        self.bones.clear();
        self.bones
            .extend(frame.plain_bones().map(|bone| bone.stretched));
        self.collision.prepare(gpu, &self.bones);
        self.is_clear = false;
    }

    /// Replaces the contacts; `searches` led to them.
    pub(super) fn set_contacts(&mut self, gpu: &GpuContext, contacts: &[Contact], searches: usize) {
        if !(self.is_clear && contacts.is_empty() && searches == 0) {
            self.collision.set_contacts(gpu, contacts, searches);
        }
        self.is_clear = contacts.is_empty();
    }

    /// The contacts after the last step. Waits.
    pub(super) fn contacts(&self, gpu: &GpuContext) -> Result<Vec<Contact>, GpuError> {
        if self.is_clear {
            return Ok(Vec::new());
        }
        self.collision.contacts(gpu)
    }
}
