//! The check-up of the character on screen, made on a thread of its own: looking for self-intersections takes a while.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Weak};

use egui::Context;

use crate::progress::Progress;
use crate::session::Checkup;
use crate::skin::Subject;

/// The latest check-up, and the one under way.
#[derive(Debug, Default)]
pub(super) struct CheckupWatch {
    /// Of which subject `coming` or, if nothing is under way, `ready` is.
    of: Weak<Subject>,
    ready: Option<Arc<Checkup>>,
    coming: Option<(Receiver<Checkup>, Progress)>,
}

impl CheckupWatch {
    /// The check-up of `subject`; that of the same character with other flesh while the new one is made, nothing while there is none.
    pub(super) fn of(&mut self, ctx: &Context, subject: &Arc<Subject>) -> Option<Arc<Checkup>> {
        let before = self.of.upgrade();
        if !before.as_ref().is_some_and(|before| Arc::ptr_eq(before, subject)) {
            let same = before.is_some_and(|before| before.same_character(subject));
            self.ready.take_if(|_| !same);
            self.start(ctx, subject);
        }
        match self.coming.as_ref().map(|(receiver, _)| receiver.try_recv()) {
            Some(Ok(checkup)) => (self.ready, self.coming) = (Some(Arc::new(checkup)), None),
            Some(Err(TryRecvError::Disconnected)) => self.coming = None,
            Some(Err(TryRecvError::Empty)) | None => {}
        }
        self.ready.clone()
    }

    fn start(&mut self, ctx: &Context, subject: &Arc<Subject>) {
        if let Some((_, progress)) = self.coming.take() {
            progress.cancel();
        }
        self.of = Arc::downgrade(subject);
        let (sender, receiver) = channel();
        let progress = Progress::new();
        let (subject, watched, ctx) = (subject.clone(), progress.clone(), ctx.clone());
        let work = move || {
            if let Ok(checkup) = Checkup::with_progress(&subject, &watched) {
                // Nobody may be waiting any more.
                let _ = sender.send(checkup);
                ctx.request_repaint();
            }
        };
        // Without a thread there is no check-up, and nothing else is the worse for it.
        if std::thread::Builder::new().name("check-up".to_owned()).spawn(work).is_ok() {
            self.coming = Some((receiver, progress));
        }
    }
}

impl Drop for CheckupWatch {
    fn drop(&mut self) {
        if let Some((_, progress)) = &self.coming {
            progress.cancel();
        }
    }
}
