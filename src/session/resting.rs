//! Bound methods of subjects that are not shown: who takes a step back finds the flesh as it was, without waiting.

use std::sync::Arc;

use super::stages::Bound;
use crate::skin::Subject;

/// Subjects kept; each may weigh tens of megabytes.
const MOST: usize = 2;

/// Sleeping workers by the subject they belong to, the latest last.
#[derive(Default)]
pub(super) struct Resting {
    list: Vec<(Arc<Subject>, Vec<Bound>)>,
}

impl Resting {
    /// Keeps the workers of a subject that is left, and forgets those left longest ago.
    pub(super) fn keep(&mut self, subject: Arc<Subject>, bound: Vec<Bound>) {
        if bound.is_empty() {
            return;
        }
        self.list.push((subject, bound));
        if self.list.len() > MOST {
            self.list.remove(0);
        }
    }

    /// The workers of a subject that is entered again.
    pub(super) fn take(&mut self, subject: &Arc<Subject>) -> Vec<Bound> {
        let place = self.list.iter().position(|(mine, _)| Arc::ptr_eq(mine, subject));
        place.map_or_else(Vec::new, |place| self.list.remove(place).1)
    }
}
