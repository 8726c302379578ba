//! History: the undo and redo steps. A step holds the document before it, and what it changed of what is seen beside it.

use std::collections::HashSet;
use std::sync::Arc;

use super::seen::{Seen, SeenParts};
use super::{Document, Gesture};
use crate::methods::Subject;

/// One undo step: the document before it, and its label.
#[derive(Debug, Clone)]
struct UndoStep {
    document: Document,
    seen: SeenParts,
    label: &'static str,
}

/// Undo and redo steps. The present document is stored by the owner.
#[derive(Debug, Default)]
pub(super) struct UndoHistory {
    past: Vec<UndoStep>,
    future: Vec<UndoStep>,
    /// Label of the drag whose step is still open.
    open: Option<&'static str>,
    /// Number of oldest steps that were dropped.
    forgotten: usize,
}

/// The steps as a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryView {
    /// Labels of the steps, oldest first.
    pub labels: Vec<&'static str>,
    /// Number of steps that are applied; the others are undone and can be redone.
    pub position: usize,
    /// Number of older steps that can no longer be undone.
    pub forgotten: usize,
}

/// Edited skeletons whose flesh is kept for undo; each may take tens of megabytes.
const MAX_EDITED_SUBJECTS: usize = 12;
/// Bytes of opened characters and their flesh that are kept for undo; older steps are forgotten.
const MOST_BYTES: u64 = 384 << 20;
/// Steps kept; each holds a pose and a few pointers.
pub(super) const MAX_STEPS: usize = 200;

impl UndoHistory {
    /// Records that a command turned `before` into `now`. A drag is one step, from before its first command to its last.
    pub(super) fn record(
        &mut self,
        before: Document,
        seen: SeenParts,
        now: &Document,
        label: &'static str,
        gesture: Gesture,
    ) {
        let continues = self.continues(label, gesture);
        if !(continues || before.same_as(now) && seen.is_empty()) {
            self.past.push(UndoStep {
                document: before,
                seen,
                label,
            });
            self.future.clear();
            self.drop_old_flesh();
            if self.past.len() > MAX_STEPS {
                self.forget(1);
            }
            self.forget(self.steps_beyond(MOST_BYTES, now));
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

    /// Whether a command continues the drag in progress.
    pub(super) fn continues(&self, label: &'static str, gesture: Gesture) -> bool {
        gesture != Gesture::Once && self.open == Some(label)
    }

    /// Removes the oldest steps.
    fn forget(&mut self, steps: usize) {
        self.past.drain(..steps);
        self.forgotten += steps;
    }

    /// How many of the oldest steps hold characters that, together with all newer ones, take more
    /// memory than allowed. What the present document holds is not counted.
    fn steps_beyond(&self, most_bytes: u64, now: &Document) -> usize {
        let mut seen: HashSet<usize> = HashSet::new();
        let mut left = most_bytes;
        bytes_of(now, &mut seen);
        for (at, step) in self.past.iter().enumerate().rev() {
            let bytes = bytes_of(&step.document, &mut seen);
            if bytes > left {
                return at + 1;
            }
            left -= bytes;
        }
        0
    }

    /// Drops the flesh of all but the latest edited skeletons; it is computed again when an older one is restored.
    fn drop_old_flesh(&mut self) {
        let mut kept: Vec<*const Subject> = Vec::new();
        for step in self.past.iter_mut().rev() {
            let Some(subject) = step
                .document
                .subject
                .as_ref()
                .filter(|subject| subject.base.is_some())
            else {
                continue;
            };
            let place = Arc::as_ptr(subject);
            if kept.contains(&place) {
                continue;
            }
            if kept.len() < MAX_EDITED_SUBJECTS {
                kept.push(place);
            } else {
                step.document.rest_on_file();
            }
        }
    }

    /// The document at the start of the drag in progress.
    pub(super) fn gesture_start(&self) -> Option<&Document> {
        self.open
            .and_then(|_| self.past.last())
            .map(|step| &step.document)
    }

    /// Ends the drag: the next one is a new step. A drag without a net change leaves none.
    pub(super) fn end_gesture(&mut self, now: &Document) {
        if self.open.take().is_some()
            && self
                .past
                .last()
                .is_some_and(|step| step.document.same_as(now) && step.seen.is_empty())
        {
            self.past.pop();
        }
    }

    /// Cancels the drag: its step goes, if the document is as before it or only the pose of a clip has become the one made by
    /// hand. Returns whether it went.
    pub(super) fn revert_gesture(&mut self, now: &mut Document, seen: &mut Seen) -> bool {
        let Some(step) = self.open.take().and_then(|_| self.past.last()) else {
            return false;
        };
        if !step.seen.is_empty() {
            now.pose.clone_from(&step.document.pose);
            now.free_poses.clone_from(&step.document.free_poses);
        }
        if !step.document.same_as(now) {
            return false;
        }
        let step = self.past.pop();
        step.is_some_and(|step| {
            step.seen.exchange(seen);
            true
        })
    }

    pub(super) fn undo(&mut self, now: &mut Document, seen: &mut Seen) -> bool {
        self.end_gesture(now);
        let Some(step) = self.past.pop() else {
            return false;
        };
        let after = std::mem::replace(now, step.document);
        self.future.push(UndoStep {
            document: after,
            seen: step.seen.exchange(seen),
            label: step.label,
        });
        true
    }

    pub(super) fn redo(&mut self, now: &mut Document, seen: &mut Seen) -> bool {
        self.end_gesture(now);
        let Some(step) = self.future.pop() else {
            return false;
        };
        let before = std::mem::replace(now, step.document);
        self.past.push(UndoStep {
            document: before,
            seen: step.seen.exchange(seen),
            label: step.label,
        });
        true
    }

    /// Moves to the document after the given number of steps. Returns whether that exists and differs from the present one.
    pub(super) fn jump(&mut self, now: &mut Document, seen: &mut Seen, position: usize) -> bool {
        self.end_gesture(now);
        let target = position.min(self.past.len() + self.future.len());
        if target == self.past.len() || target != position {
            return false;
        }
        while self.past.len() > target && self.undo(now, seen) {}
        while self.past.len() < target && self.redo(now, seen) {}
        true
    }

    /// All steps and the position of the present document among them.
    pub(super) fn view(&self) -> HistoryView {
        let labels = self
            .past
            .iter()
            .map(|step| step.label)
            .chain(self.future.iter().rev().map(|step| step.label))
            .collect();
        HistoryView {
            labels,
            position: self.past.len(),
            forgotten: self.forgotten,
        }
    }

    /// All documents that undo and redo can restore.
    pub(super) fn documents(&self) -> impl Iterator<Item = &Document> {
        self.past
            .iter()
            .chain(&self.future)
            .map(|step| &step.document)
    }

    /// Whether a drag is in progress.
    pub(super) fn is_dragging(&self) -> bool {
        self.open.is_some()
    }

    /// Label of the step that undo would undo.
    pub(super) fn undo_label(&self) -> Option<&'static str> {
        self.past.last().map(|step| step.label)
    }

    /// Label of the step that redo would redo.
    pub(super) fn redo_label(&self) -> Option<&'static str> {
        self.future.last().map(|step| step.label)
    }
}

/// Bytes of the characters and the paint that a document holds and that were not seen before.
fn bytes_of(document: &Document, seen: &mut HashSet<usize>) -> u64 {
    let first = document.subject.as_ref();
    let subjects = std::iter::successors(first, |subject| subject.base.as_ref());
    let mut bytes = 0;
    for subject in subjects {
        if seen.insert(subject.bytes_key()) {
            bytes += subject.bytes();
        }
        if seen.insert(Arc::as_ptr(&subject.character) as usize) {
            bytes += subject.character.bytes();
        }
    }
    let painted = document.flesh.paint.lists();
    for (place, size) in painted {
        if seen.insert(place) {
            bytes += size;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use Gesture::{Dragging, Released};

    use super::*;
    use crate::dynamics::Params;

    fn with_density(density: f64) -> Document {
        Document {
            params: Params {
                density_kg_m3: density,
                ..Params::default()
            },
            ..Document::default()
        }
    }

    /// Applies a list of `(density, gesture)` edits through a history.
    fn edit(history: &mut UndoHistory, now: &mut Document, edits: &[(f64, Gesture)]) {
        for &(density, gesture) in edits {
            let before = std::mem::replace(now, with_density(density));
            history.record(before, SeenParts::default(), now, "Density", gesture);
        }
    }

    #[test]
    fn a_drag_is_one_step_and_the_next_drag_another() {
        let (mut history, mut now) = (UndoHistory::default(), with_density(1.0));
        edit(
            &mut history,
            &mut now,
            &[
                (2.0, Dragging),
                (3.0, Dragging),
                (4.0, Released),
                (5.0, Dragging),
                (6.0, Released),
            ],
        );
        assert!(history.undo(&mut now, &mut Seen::default()));
        assert_eq!(now.params.density_kg_m3, 4.0);
        assert!(history.undo(&mut now, &mut Seen::default()));
        assert_eq!(now.params.density_kg_m3, 1.0);
        assert!(!history.undo(&mut now, &mut Seen::default()));
        assert!(
            history.redo(&mut now, &mut Seen::default())
                && history.redo(&mut now, &mut Seen::default())
                && !history.redo(&mut now, &mut Seen::default())
        );
        assert_eq!(now.params.density_kg_m3, 6.0);
    }

    #[test]
    fn an_edit_without_change_leaves_no_step() {
        let (mut history, mut now) = (UndoHistory::default(), with_density(1.0));
        edit(&mut history, &mut now, &[(1.0, Gesture::Once)]);
        assert_eq!(history.undo_label(), None);
        edit(
            &mut history,
            &mut now,
            &[
                (2.0, Gesture::Dragging),
                (1.0, Gesture::Dragging),
                (1.0, Gesture::Released),
            ],
        );
        assert_eq!(history.undo_label(), None);
    }

    #[test]
    fn a_new_edit_drops_undone_steps() {
        let (mut history, mut now) = (UndoHistory::default(), with_density(1.0));
        edit(
            &mut history,
            &mut now,
            &[(2.0, Gesture::Once), (3.0, Gesture::Once)],
        );
        history.undo(&mut now, &mut Seen::default());
        edit(&mut history, &mut now, &[(9.0, Gesture::Once)]);
        assert_eq!(history.redo_label(), None);
        history.undo(&mut now, &mut Seen::default());
        assert_eq!(now.params.density_kg_m3, 2.0);
    }

    #[test]
    fn any_step_can_be_jumped_to_and_the_list_says_where_one_is() {
        let (mut history, mut now) = (UndoHistory::default(), with_density(0.0));
        let edits: Vec<_> = (1..=9).map(|n| (f64::from(n), Gesture::Once)).collect();
        edit(&mut history, &mut now, &edits);
        for position in [3, 9, 0, 5, 4] {
            assert!(history.jump(&mut now, &mut Seen::default(), position));
            assert_eq!(now.params.density_kg_m3, position as f64);
            assert_eq!(
                history.view(),
                HistoryView {
                    labels: vec!["Density"; 9],
                    position,
                    forgotten: 0
                }
            );
        }
        assert!(
            !history.jump(&mut now, &mut Seen::default(), 4)
                && !history.jump(&mut now, &mut Seen::default(), 10)
                && !history.jump(&mut now, &mut Seen::default(), usize::MAX)
        );
        assert_eq!(now.params.density_kg_m3, 4.0);
    }

    #[test]
    fn the_list_is_bounded() {
        let (mut history, mut now) = (UndoHistory::default(), with_density(0.0));
        let edits: Vec<_> = (1..=MAX_STEPS + 7)
            .map(|n| (n as f64, Gesture::Once))
            .collect();
        edit(&mut history, &mut now, &edits);
        let view = history.view();
        assert_eq!(
            (view.labels.len(), view.position, view.forgotten),
            (MAX_STEPS, MAX_STEPS, 7)
        );
        while history.undo(&mut now, &mut Seen::default()) {}
        assert_eq!(now.params.density_kg_m3, 7.0);
    }

    #[test]
    fn steps_that_hold_too_much_memory_are_forgotten() {
        use crate::progress::Progress;
        let opened = || {
            let character = crate::io::builtin::load_builtin("arm").unwrap();
            let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
            Document {
                subject: Some(Arc::new(subject)),
                ..Document::default()
            }
        };
        let (mut history, mut now) = (UndoHistory::default(), opened());
        for density in 0..5 {
            let mut next = if density == 0 { now.clone() } else { opened() };
            next.params.density_kg_m3 = f64::from(density) + 1.0;
            let before = std::mem::replace(&mut now, next);
            history.record(before, SeenParts::default(), &now, "Open", Gesture::Once);
        }
        let one = bytes_of(&now, &mut HashSet::new());
        assert!(one > 10_000);
        assert_eq!(history.steps_beyond(10 * one, &now), 0);
        // The first two steps share a character.
        assert_eq!(history.steps_beyond(4 * one, &now), 0);
        assert_eq!(history.steps_beyond(2 * one, &now), 3);
        assert_eq!(history.steps_beyond(0, &now), 5);
        history.forget(3);
        assert_eq!(
            (history.view().forgotten, history.view().labels.len()),
            (3, 2)
        );
    }
}
