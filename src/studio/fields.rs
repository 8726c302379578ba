//! The cut through the composed field of implicit skinning, as a picture shows it.

use std::sync::Arc;

use super::Snapshot;
use super::painter::Picture;
use crate::math::Affine;
use crate::methods::{BodyField, FieldPlane, FieldSlice};
use crate::progress::{Cancelled, Progress};
use crate::render::{Camera, Look, field_note};

/// A slice to compute: the field in one pose, and the plane. Equal ones have equal slices.
#[derive(Debug, Clone)]
pub struct FieldCutting {
    field: Arc<BodyField>,
    world_from_joint: Vec<Affine>,
    plane: FieldPlane,
}

impl FieldCutting {
    /// The slice that a look shows of a state; `None` if it shows none, or the method has no field. `joint`: the one that the plane goes
    /// through.
    #[must_use]
    pub fn of(
        state: &Snapshot,
        look: &Look,
        joint: Option<usize>,
        camera: &Camera,
    ) -> Option<Self> {
        let field = state.body_field.as_ref().filter(|_| look.fields)?;
        let world_from_joint = &state.world_from_joint;
        let plane = look
            .field_cut
            .plane(&state.subject, world_from_joint, joint, camera);
        Some(Self {
            field: field.clone(),
            world_from_joint: world_from_joint.clone(),
            plane,
        })
    }

    /// The slice that a picture shows.
    pub(super) fn of_picture(picture: &Picture<'_>) -> Option<Self> {
        let state = picture.snapshot.filter(|_| picture.crowd.is_none())?;
        let joint = picture.selected.last().copied();
        Self::of(state, picture.look, joint, picture.camera)
    }

    /// Computes it.
    ///
    /// # Errors
    /// [`Cancelled`] if the progress is cancelled.
    pub fn slice(&self, progress: &Progress) -> Result<FieldSlice, Cancelled> {
        self.field
            .slice(&self.world_from_joint, &self.plane, progress)
    }
}

impl PartialEq for FieldCutting {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.field, &other.field)
            && self.plane == other.plane
            && self.world_from_joint == other.world_from_joint
    }
}

/// What is said about the slice of a picture, if it shows one.
pub(super) fn note_of(picture: &Picture<'_>) -> Option<String> {
    let state = picture.snapshot.filter(|_| picture.look.fields)?;
    let joint = picture.selected.last().copied();
    state
        .body_field
        .is_some()
        .then(|| field_note(&state.subject, &picture.look.field_cut, joint))
}
