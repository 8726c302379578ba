//! What can be read of the editing of the skeleton.

use std::sync::Arc;

use super::Rigging;
use crate::rig::edit::{Mirror, Placer, Rig};
use crate::session::{Document, Mode};

/// The skeleton as it is edited: reading only.
#[derive(Clone, Copy)]
pub struct RigView<'a> {
    pub(super) rigging: &'a Rigging,
    pub(super) document: &'a Document,
}

impl<'a> RigView<'a> {
    /// What the hand does with the skeleton.
    #[must_use]
    pub fn mode(self) -> Mode {
        self.rigging.mode
    }

    /// The skeleton as edited; `None` while nothing is open.
    #[must_use]
    pub fn rig(self) -> Option<&'a Arc<Rig>> {
        self.document.rig()
    }

    /// The joint selected in edit mode, an index into the rig.
    #[must_use]
    pub fn selected(self) -> Option<usize> {
        self.rig()?.index_of(self.rigging.selected?)
    }

    /// Whether edits of one side are done on the other, too, where the mesh has two sides.
    #[must_use]
    pub fn edits_both_sides(self) -> bool {
        !self.rigging.one_sided
    }

    /// The plane between the two sides, of the mesh or of the skeleton; `None` if neither has two that are alike, or until it has been
    /// looked for.
    #[must_use]
    pub fn symmetry_plane(self) -> Option<&'a Mirror> {
        self.placer().and(self.rigging.sides.mirror())
    }

    /// The plane that edits are mirrored about; `None` while symmetry is off or impossible.
    #[must_use]
    pub fn mirror(self) -> Option<&'a Mirror> {
        self.symmetry_plane().filter(|_| self.edits_both_sides())
    }

    /// What finds the middle of the flesh; ready a moment after edit mode was entered.
    #[must_use]
    pub fn placer(self) -> Option<&'a Arc<Placer>> {
        self.rigging.still.placer(self.document.subject.as_ref()?)
    }

    /// Whether the flesh is not yet that of the rig.
    #[must_use]
    pub fn is_pending(self) -> bool {
        self.document
            .subject
            .as_ref()
            .zip(self.rig())
            .is_some_and(|(subject, rig)| subject.rig != *rig)
    }

    /// The joint of the subject's skeleton that a joint of the rig is; `None` until the flesh has followed.
    #[must_use]
    pub fn subject_joint(self, joint: usize) -> Option<usize> {
        let id = self.rig()?.joints().get(joint)?.id;
        self.document.subject.as_ref()?.rig.index_of(id)
    }

    /// Whether there is no skeleton to bind to: none at all, or one in the making.
    pub(in crate::session) fn is_unfinished(self) -> bool {
        self.mode() == Mode::Edit || self.rig().is_none_or(|rig| rig.is_empty())
    }
}
