//! Ghosts of all views that want them.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::Context;

use super::look::Look;
use crate::session::{GhostSkins, GhostWorker, Session, ViewId};
use crate::skin::Method;

/// A maker of ghosts for every view that shows some.
#[derive(Default)]
pub struct Ghosts {
    workers: BTreeMap<ViewId, GhostWorker>,
}

impl Ghosts {
    /// The ghosts of a view now; nothing if its look wants none. Call it with every frame of a view: it asks for what is missing.
    pub fn of(&mut self, ctx: &Context, session: &mut Session, view: ViewId, look: &Look) -> Option<Arc<GhostSkins>> {
        let subject = session.subject().filter(|_| look.ghosts.any()).cloned();
        let Some(subject) = subject else {
            self.workers.remove(&view);
            return None;
        };
        let poses = session.ghost_poses(view, look.ghosts.offsets_secs());
        let method = session.views().get(view).map_or(Method::Dqs, |view| view.method);
        let worker = self.workers.entry(view).or_insert_with(|| {
            let waked = ctx.clone();
            GhostWorker::new(Some(Arc::new(move || waked.request_repaint())))
        });
        worker.ask(&subject, method, poses);
        worker.skins().filter(|skins| Arc::ptr_eq(&skins.subject, &subject))
    }

    /// Lets go of views that are gone.
    pub fn keep(&mut self, views: impl Fn(ViewId) -> bool) {
        self.workers.retain(|view, _| views(*view));
    }
}
