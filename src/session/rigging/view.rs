//! Read-only view of the rig editor.

use std::sync::Arc;

use super::Rigging;
use crate::methods::Subject;
use crate::rig::edit::{Mirror, Placer, Rig};
use crate::session::{Document, Mode};

/// The edited skeleton, read-only.
#[derive(Clone, Copy)]
pub struct RigView<'a> {
    pub(super) rigging: &'a Rigging,
    pub(super) document: &'a Document,
}

impl<'a> RigView<'a> {
    /// Pose mode or edit mode.
    #[must_use]
    pub fn mode(self) -> Mode {
        self.rigging.mode
    }

    /// The edited skeleton; `None` while nothing is open.
    #[must_use]
    pub fn rig(self) -> Option<&'a Arc<Rig>> {
        self.document.rig()
    }

    /// The joint selected in edit mode, an index into the rig.
    #[must_use]
    pub fn selected(self) -> Option<usize> {
        self.rig()?.index_of(self.rigging.selected?)
    }

    /// Whether edits are mirrored, where the mesh is symmetric.
    #[must_use]
    pub fn edits_both_sides(self) -> bool {
        !self.rigging.one_sided
    }

    /// The mirror plane of the mesh or of the skeleton; `None` if neither is symmetric, or until it has been
    /// computed.
    #[must_use]
    pub fn symmetry_plane(self) -> Option<&'a Mirror> {
        self.placer().and(self.rigging.sides.mirror())
    }

    /// The mirror plane of edits; `None` while symmetry is off or impossible.
    #[must_use]
    pub fn mirror(self) -> Option<&'a Mirror> {
        self.symmetry_plane().filter(|_| self.edits_both_sides())
    }

    /// Search structure for the middle of the flesh; ready soon after edit mode was entered.
    #[must_use]
    pub fn placer(self) -> Option<&'a Arc<Placer>> {
        self.rigging
            .bind_pose
            .placer(self.document.subject.as_ref()?)
    }

    /// Whether the flesh does not belong to the present rig yet.
    #[must_use]
    pub fn is_pending(self) -> bool {
        self.document
            .subject
            .as_ref()
            .zip(self.rig())
            .is_some_and(|(subject, rig)| subject.rig != *rig)
    }

    /// The index of a rig joint in the subject's skeleton; `None` until the flesh has been rebuilt.
    #[must_use]
    pub fn subject_joint(self, joint: usize) -> Option<usize> {
        self.joint_in(joint, self.document.subject.as_ref()?)
    }

    /// The index of a rig joint in the skeleton of a subject of this character; `None` if it has no such joint.
    #[must_use]
    pub fn joint_in(self, joint: usize, subject: &Subject) -> Option<usize> {
        subject.rig.index_of(self.rig()?.joints().get(joint)?.id)
    }

    /// Whether there is no skeleton to bind to: none, or an incomplete one.
    pub(in crate::session) fn is_unfinished(self) -> bool {
        self.mode() == Mode::Edit || self.rig().is_none_or(|rig| rig.is_empty())
    }
}
