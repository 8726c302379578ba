//! What is selected after steps through the history: what was selected when the skeleton was last like that.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Rigging;
use crate::rig::edit::{JointId, Rig};
use crate::session::Document;

/// What was selected on earlier skeletons, the latest last.
#[derive(Default)]
pub(super) struct Recall {
    noted: VecDeque<(Arc<Rig>, Option<JointId>)>,
}

/// Skeletons whose selection is kept.
const MOST: usize = 64;

impl Recall {
    fn note(&mut self, rig: &Arc<Rig>, selected: Option<JointId>) {
        self.noted.retain(|(known, _)| !Arc::ptr_eq(known, rig));
        if self.noted.len() >= MOST {
            self.noted.pop_front();
        }
        self.noted.push_back((rig.clone(), selected));
    }

    /// What was selected on a skeleton, which may be nothing; `unknown` for one that was never seen.
    fn of(&self, rig: &Arc<Rig>, unknown: impl FnOnce() -> Option<JointId>) -> Option<JointId> {
        let noted = self.noted.iter().find(|(known, _)| Arc::ptr_eq(known, rig));
        noted.map_or_else(unknown, |(_, selected)| *selected)
    }
}

impl Rigging {
    /// Remembers what is selected, before an edit selects something else.
    pub(super) fn note_selection(&mut self, document: &Document) {
        if let Some(rig) = document.rig() {
            self.recall.note(rig, self.selected);
        }
    }

    /// Selects, on a skeleton that the history brought back, what was selected on it. Where that is not known, what is selected stays so;
    /// of a joint that is gone, the nearest one above it that is left is.
    pub(in crate::session) fn recall_selection(&mut self, before: &Document, now: &Document) {
        let Some((before, now)) = before
            .rig()
            .zip(now.rig())
            .filter(|(before, now)| !Arc::ptr_eq(before, now))
        else {
            return;
        };
        let selected = self.selected;
        self.recall.note(before, selected);
        self.selected = self
            .recall
            .of(now, || selected.and_then(|id| surviving(before, id, now)));
    }
}

/// The joint itself if it is still there, else the nearest one above it that is.
fn surviving(before: &Rig, id: JointId, now: &Rig) -> Option<JointId> {
    let first = before.index_of(id)?;
    let above = std::iter::successors(Some(first), |&joint| before.joints()[joint].parent);
    above
        .map(|joint| before.joints()[joint].id)
        .find(|&id| now.index_of(id).is_some())
}
