//! Bound methods of subjects that are not shown: undo to such a subject shows its flesh at once, without binding.

use std::sync::Arc;

use super::Bound;
use crate::methods::Subject;

/// Subjects kept; each may take tens of megabytes.
const MOST: usize = 2;

/// Sleeping workers by subject, the latest last.
#[derive(Default)]
pub(super) struct IdleWorkers {
    list: Vec<(Arc<Subject>, Vec<Bound>)>,
}

impl IdleWorkers {
    /// Stores the workers of a subject that is no longer shown, and drops the oldest.
    pub(super) fn keep(&mut self, subject: Arc<Subject>, bound: Vec<Bound>) {
        if bound.is_empty() {
            return;
        }
        self.list.push((subject, bound));
        if self.list.len() > MOST {
            self.list.remove(0);
        }
    }

    /// Takes the workers of a subject that is shown again.
    pub(super) fn take(&mut self, subject: &Arc<Subject>) -> Vec<Bound> {
        let place = self
            .list
            .iter()
            .position(|(mine, _)| Arc::ptr_eq(mine, subject));
        place.map_or_else(Vec::new, |place| self.list.remove(place).1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::methods::MethodId;
    use crate::session::{Command, Session, Source};

    fn settle(session: &mut Session) {
        while !session.jobs().is_empty() || session.snapshot().is_none() {
            session.tick(0.01);
            std::thread::yield_now();
        }
    }

    /// After undo, the previous character's flesh is shown at once with its own method and pose, without binding.
    #[test]
    fn an_earlier_subject_is_shown_at_once() {
        let mut session = Session::new();
        session.apply_once(Command::SetMethod(MethodId::PD));
        session.apply_once(Command::Open(Source::builtin("cylinder")));
        settle(&mut session);
        let cylinder = session.snapshot().unwrap();
        assert_eq!(cylinder.method, MethodId::PD);
        session.apply_once(Command::Open(Source::builtin("arm")));
        settle(&mut session);
        let arm = session.snapshot().unwrap();
        assert!(!Arc::ptr_eq(&arm.subject, &cylinder.subject));
        for (command, expected) in [
            (Command::Undo, &cylinder),
            (Command::Redo, &arm),
            (Command::Undo, &cylinder),
        ] {
            session.apply_once(command);
            session.tick(0.01);
            let shown = session.snapshot().unwrap();
            assert!(Arc::ptr_eq(&shown.subject, &expected.subject));
            assert_eq!(
                (shown.method, shown.positions().len()),
                (MethodId::PD, expected.positions().len())
            );
            assert!(session.jobs().is_empty(), "{:?}", session.jobs());
        }
    }
}
