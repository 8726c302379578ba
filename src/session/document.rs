//! What undo covers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ChannelId, Clips, Source, ViewId};
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::io::FileRead;
use crate::methods::{MethodValues, Subject};
use crate::rig::edit::Rig;
use crate::rig::limits::LimitMap;
use crate::rig::{KeyedClip, NamedPose, Pose, Skeleton};

/// Everything that undo restores. Cheap to clone: what is heavy is shared.
///
/// Selection, views with their methods, camera, overlays, the clip that plays and its clock belong to the view and are not here.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What was opened.
    pub source: Source,
    /// What came of it. Kept here rather than read again, so that undo never depends on a file that may be gone.
    pub subject: Option<Arc<Subject>>,
    /// The pose made by hand; one local transform per joint of the subject's skeleton.
    pub pose: Pose,
    /// Poses made by hand in views that are not linked with the others.
    pub free_poses: BTreeMap<ViewId, Pose>,
    /// How far joints may turn; those that are not listed turn freely.
    pub limits: LimitMap,
    /// Joints that stay where they are while others are dragged.
    pub pins: BTreeSet<usize>,
    /// Clips made by the user.
    pub takes: Vec<Arc<KeyedClip>>,
    /// Poses under names.
    pub pose_library: Vec<Arc<NamedPose>>,
    /// Physical parameters.
    pub params: Params,
    /// The methods' own parameters.
    pub method_values: MethodValues,
    /// How the flesh is to be made. The subject's flesh follows it.
    pub flesh: FleshSettings,
    /// The skeleton as edited; `None` means as in the files. The subject follows it, and all that is said of joints by index is of the
    /// subject's skeleton until then.
    pub rig: Option<Arc<Rig>>,
    /// The files that were read for the source, with those that they name; what was in them then.
    pub files_read: Arc<[FileRead]>,
    /// Tells documents apart that were opened one after the other: each has a project file of its own.
    pub(super) work: u64,
}

impl Document {
    /// The skeleton, if a character is open.
    #[must_use]
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.subject
            .as_deref()
            .map(|subject| &subject.character.skeleton)
    }

    /// The clips of the open character, and after them those made by the user.
    #[must_use]
    pub fn clips(&self) -> Clips<'_> {
        self.subject
            .as_ref()
            .map_or_else(Clips::default, |subject| {
                Clips::new(&subject.character.clips, &self.takes)
            })
    }

    /// The pose made by hand in a channel.
    pub(super) fn pose_in(&self, channel: ChannelId) -> &Pose {
        channel
            .and_then(|view| self.free_poses.get(&view))
            .unwrap_or(&self.pose)
    }

    pub(super) fn pose_in_mut(&mut self, channel: ChannelId) -> &mut Pose {
        match channel {
            Some(view) => self
                .free_poses
                .entry(view)
                .or_insert_with(|| self.pose.clone()),
            None => &mut self.pose,
        }
    }

    /// Whether the same character has the same poses made by hand.
    pub(super) fn poses_alike(&self, other: &Self) -> bool {
        self.same_subject_as(other)
            && self.pose == other.pose
            && self.free_poses == other.free_poses
    }

    fn same_subject_as(&self, other: &Self) -> bool {
        match (&self.subject, &other.subject) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether nothing was changed between the two, be it only that other flesh is ready.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.same_subject_as(other) && self.work == other.work && self.same_content_as(other)
    }

    /// Whether the same would be saved: everything that the user said is equal, whatever was derived from it.
    #[must_use]
    pub fn same_content_as(&self, other: &Self) -> bool {
        self.source == other.source
            && self.pose == other.pose
            && self.free_poses == other.free_poses
            && self.limits == other.limits
            && self.pins == other.pins
            && alike(&self.takes, &other.takes)
            && alike(&self.pose_library, &other.pose_library)
            && self.params == other.params
            && self.method_values == other.method_values
            && self.flesh == other.flesh
            && self.rig == other.rig
    }
}

/// Equal, and quick about it where nothing was touched.
fn alike<T: PartialEq>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
}
