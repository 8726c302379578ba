//! The check-up of the current character, computed on a separate thread because self-intersections
//! take long.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Weak};

use egui::Context;

use crate::methods::Subject;
use crate::progress::Progress;
use crate::render::PositionMark;
use crate::session::Checkup;

/// The latest check-up, and the one in progress.
#[derive(Debug, Default)]
pub(super) struct CheckupWatch {
    /// The subject of `coming` or, if nothing is in progress, of `ready`.
    of: Weak<Subject>,
    ready: Option<Arc<Checkup>>,
    /// The places that `ready` found, to be marked.
    marks: Option<Arc<[PositionMark]>>,
    coming: Option<(Receiver<Checkup>, Progress)>,
    /// Whether the latest check-up stopped because of a fault.
    failed: bool,
}

impl CheckupWatch {
    /// The check-up of `subject`; while it is computed, that of the same character with other
    /// tissue; `None` if there is none.
    pub(super) fn of(&mut self, ctx: &Context, subject: &Arc<Subject>) -> Option<Arc<Checkup>> {
        let before = self.of.upgrade();
        if !before
            .as_ref()
            .is_some_and(|before| Arc::ptr_eq(before, subject))
        {
            let same = before.is_some_and(|before| before.same_character(subject));
            if !same {
                (self.ready, self.marks) = (None, None);
            }
            self.start(ctx, subject);
        }
        match self
            .coming
            .as_ref()
            .map(|(receiver, _)| receiver.try_recv())
        {
            Some(Ok(checkup)) => {
                self.marks = Some(checkup.marks().into());
                (self.ready, self.coming) = (Some(Arc::new(checkup)), None);
            }
            // Only a panic ends the thread without a result: its progress is cancelled by dropping it.
            Some(Err(TryRecvError::Disconnected)) => (self.coming, self.failed) = (None, true),
            Some(Err(TryRecvError::Empty)) | None => {}
        }
        self.ready.clone()
    }

    /// The places that the latest check-up found.
    pub(super) fn marks(&self) -> Option<&Arc<[PositionMark]>> {
        self.marks.as_ref()
    }

    /// Whether the latest check-up stopped without a result.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    fn start(&mut self, ctx: &Context, subject: &Arc<Subject>) {
        if let Some((_, progress)) = self.coming.take() {
            progress.cancel();
        }
        (self.of, self.failed) = (Arc::downgrade(subject), false);
        let (sender, receiver) = channel();
        let progress = Progress::new();
        let (subject, watched, ctx) = (subject.clone(), progress.clone(), ctx.clone());
        let work = move || {
            // Dropped in reverse order, also by a panic: the sender before the repaint.
            let _repaint = RepaintOnDrop(ctx);
            let sender = sender;
            if let Ok(checkup) = Checkup::with_progress(&subject, &watched) {
                // The receiver may have been dropped.
                let _ = sender.send(checkup);
            }
        };
        // Without a thread there is no check-up; nothing else depends on it.
        if std::thread::Builder::new()
            .name("check-up".to_owned())
            .spawn(work)
            .is_ok()
        {
            self.coming = Some((receiver, progress));
        } else {
            self.failed = true;
        }
    }
}

/// Draws the window again when the thread ends, however it ends.
struct RepaintOnDrop(Context);

impl Drop for RepaintOnDrop {
    fn drop(&mut self) {
        self.0.request_repaint();
    }
}

impl Drop for CheckupWatch {
    fn drop(&mut self) {
        if let Some((_, progress)) = &self.coming {
            progress.cancel();
        }
    }
}
