//! What undo covers, and its history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::views::Channel;
use super::{Gesture, Source, ViewId};
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::rig::edit::Rig;
use crate::rig::limits::LimitMap;
use crate::rig::{KeyedClip, NamedPose, Pose, Skeleton};
use crate::skin::Subject;

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
    /// Clips made by the user.
    pub takes: Vec<Arc<KeyedClip>>,
    /// Poses under names.
    pub pose_library: Vec<Arc<NamedPose>>,
    /// How far joints may turn; those that are not listed turn freely.
    pub limits: LimitMap,
    /// Joints that stay where they are while others are dragged.
    pub pins: BTreeSet<usize>,
    /// Physical parameters.
    pub params: Params,
    /// How the flesh is to be made. The subject's flesh follows it.
    pub flesh: FleshSettings,
    /// The skeleton as edited; `None` means as in the files. The subject follows it, and all that is said of joints by index is of the
    /// subject's skeleton until then.
    pub rig: Option<Arc<Rig>>,
}

impl Document {
    /// The skeleton, if a character is open.
    #[must_use]
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.subject.as_deref().map(|subject| &subject.character.skeleton)
    }

    /// The pose made by hand in a channel.
    pub(super) fn pose_in(&self, channel: Channel) -> &Pose {
        channel.and_then(|view| self.free_poses.get(&view)).unwrap_or(&self.pose)
    }

    pub(super) fn pose_in_mut(&mut self, channel: Channel) -> &mut Pose {
        match channel {
            Some(view) => self.free_poses.entry(view).or_insert_with(|| self.pose.clone()),
            None => &mut self.pose,
        }
    }

    /// Whether the same character has the same poses made by hand.
    pub(super) fn poses_alike(&self, other: &Self) -> bool {
        let same_subject = match (&self.subject, &other.subject) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_subject && self.pose == other.pose && self.free_poses == other.free_poses
    }

    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.poses_alike(other)
            && self.source == other.source
            && alike(&self.takes, &other.takes)
            && alike(&self.pose_library, &other.pose_library)
            && self.limits == other.limits
            && self.pins == other.pins
            && self.params == other.params
            && self.flesh == other.flesh
            && self.rig == other.rig
    }
}

/// Equal, and quick about it where nothing was touched.
fn alike<T: PartialEq>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
}

/// One undo step: the document before it, and what it did.
#[derive(Debug, Clone)]
struct Step {
    document: Document,
    label: &'static str,
}

/// Steps back and forth. The present document lives with the owner.
#[derive(Debug, Default)]
pub(super) struct History {
    past: Vec<Step>,
    future: Vec<Step>,
    /// The label of the drag whose step is still open.
    open: Option<&'static str>,
}

/// Steps kept; each is a pose and a few pointers.
const MAX_STEPS: usize = 200;

impl History {
    /// Call after a command turned `before` into `now`. A drag keeps one step, from before its first command to its last.
    pub(super) fn record(&mut self, before: Document, now: &Document, label: &'static str, gesture: Gesture) {
        let continues = gesture != Gesture::Once && self.open == Some(label);
        if !continues && !before.same_as(now) {
            self.past.push(Step { document: before, label });
            self.future.clear();
            if self.past.len() > MAX_STEPS {
                self.past.remove(0);
            }
            self.open = (gesture == Gesture::Dragging).then_some(label);
        } else if continues {
            self.future.clear();
        }
        if gesture == Gesture::Released {
            self.end_gesture(now);
        } else if gesture == Gesture::Once {
            self.open = None;
        }
    }

    /// The document as it was when the drag under way began.
    pub(super) fn gesture_start(&self) -> Option<&Document> {
        self.open.and_then(|_| self.past.last()).map(|step| &step.document)
    }

    /// The next drag is a new step. A drag that came back to where it began leaves none.
    pub(super) fn end_gesture(&mut self, now: &Document) {
        if self.open.take().is_some() && self.past.last().is_some_and(|step| step.document.same_as(now)) {
            self.past.pop();
        }
    }

    pub(super) fn undo(&mut self, now: &mut Document) -> bool {
        self.end_gesture(now);
        let Some(step) = self.past.pop() else { return false };
        let after = std::mem::replace(now, step.document);
        self.future.push(Step { document: after, label: step.label });
        true
    }

    pub(super) fn redo(&mut self, now: &mut Document) -> bool {
        self.end_gesture(now);
        let Some(step) = self.future.pop() else { return false };
        let before = std::mem::replace(now, step.document);
        self.past.push(Step { document: before, label: step.label });
        true
    }

    /// Whether a drag is going on.
    pub(super) fn is_dragging(&self) -> bool {
        self.open.is_some()
    }

    /// What undo would take back.
    pub(super) fn undo_label(&self) -> Option<&'static str> {
        self.past.last().map(|step| step.label)
    }

    /// What redo would do again.
    pub(super) fn redo_label(&self) -> Option<&'static str> {
        self.future.last().map(|step| step.label)
    }
}

#[cfg(test)]
mod tests {
    use Gesture::{Dragging, Released};

    use super::*;

    fn with_density(density: f64) -> Document {
        Document { params: Params { density_kg_m3: density, ..Params::default() }, ..Document::default() }
    }

    /// Runs a list of `(density, gesture)` edits through a history.
    fn edit(history: &mut History, now: &mut Document, edits: &[(f64, Gesture)]) {
        for &(density, gesture) in edits {
            let before = std::mem::replace(now, with_density(density));
            history.record(before, now, "Density", gesture);
        }
    }

    #[test]
    fn a_drag_is_one_step_and_the_next_drag_another() {
        let (mut history, mut now) = (History::default(), with_density(1.0));
        edit(&mut history, &mut now, &[(2.0, Dragging), (3.0, Dragging), (4.0, Released), (5.0, Dragging), (6.0, Released)]);
        assert!(history.undo(&mut now));
        assert_eq!(now.params.density_kg_m3, 4.0);
        assert!(history.undo(&mut now));
        assert_eq!(now.params.density_kg_m3, 1.0);
        assert!(!history.undo(&mut now));
        assert!(history.redo(&mut now) && history.redo(&mut now) && !history.redo(&mut now));
        assert_eq!(now.params.density_kg_m3, 6.0);
    }

    #[test]
    fn what_changes_nothing_leaves_no_step() {
        let (mut history, mut now) = (History::default(), with_density(1.0));
        edit(&mut history, &mut now, &[(1.0, Gesture::Once)]);
        assert_eq!(history.undo_label(), None);
        edit(&mut history, &mut now, &[(2.0, Gesture::Dragging), (1.0, Gesture::Dragging), (1.0, Gesture::Released)]);
        assert_eq!(history.undo_label(), None);
    }

    #[test]
    fn a_new_edit_forgets_what_was_undone() {
        let (mut history, mut now) = (History::default(), with_density(1.0));
        edit(&mut history, &mut now, &[(2.0, Gesture::Once), (3.0, Gesture::Once)]);
        history.undo(&mut now);
        edit(&mut history, &mut now, &[(9.0, Gesture::Once)]);
        assert_eq!(history.redo_label(), None);
        history.undo(&mut now);
        assert_eq!(now.params.density_kg_m3, 2.0);
    }
}
