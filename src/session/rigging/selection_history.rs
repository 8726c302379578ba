//! Restores the selection after undo and redo: the one at the time when the skeleton was last the same.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Rigging;
use crate::rig::edit::{JointId, Rig};
use crate::session::Document;

/// Selections on earlier skeletons, latest last.
#[derive(Default)]
pub(super) struct SelectionHistory {
    noted: VecDeque<(Arc<Rig>, Option<JointId>)>,
}

/// Number of skeletons whose selection is kept.
const MOST: usize = 64;

impl SelectionHistory {
    fn note(&mut self, rig: &Arc<Rig>, selected: Option<JointId>) {
        self.noted.retain(|(known, _)| !Arc::ptr_eq(known, rig));
        if self.noted.len() >= MOST {
            self.noted.pop_front();
        }
        self.noted.push_back((rig.clone(), selected));
    }

    /// The selection on a skeleton, which may be empty; `unknown` for a skeleton without an entry.
    fn of(&self, rig: &Arc<Rig>, unknown: impl FnOnce() -> Option<JointId>) -> Option<JointId> {
        let noted = self.noted.iter().find(|(known, _)| Arc::ptr_eq(known, rig));
        noted.map_or_else(unknown, |(_, selected)| *selected)
    }
}

impl Rigging {
    /// Stores the selection before an edit changes it.
    pub(super) fn note_selection(&mut self, document: &Document) {
        if let Some(rig) = document.rig() {
            self.selection_history.note(rig, self.selected);
        }
    }

    /// Restores the selection on a skeleton from the history. Without an entry the selection is kept;
    /// a removed joint is replaced by its nearest remaining ancestor.
    pub(in crate::session) fn recall_selection(&mut self, before: &Document, now: &Document) {
        let Some((before, now)) = before
            .rig()
            .zip(now.rig())
            .filter(|(before, now)| !Arc::ptr_eq(before, now))
        else {
            return;
        };
        let selected = self.selected;
        self.selection_history.note(before, selected);
        self.selected = self
            .selection_history
            .of(now, || selected.and_then(|id| surviving(before, id, now)));
    }
}

/// The joint if it still exists, else its nearest remaining ancestor.
fn surviving(before: &Rig, id: JointId, now: &Rig) -> Option<JointId> {
    let first = before.index_of(id)?;
    let above = std::iter::successors(Some(first), |&joint| before.joints()[joint].parent);
    above
        .map(|joint| before.joints()[joint].id)
        .find(|&id| now.index_of(id).is_some())
}
