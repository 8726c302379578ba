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
    /// The ghosts that a view shows now.
    #[must_use]
    pub fn shown(&self, view: ViewId) -> Option<Arc<GhostSkins>> {
        self.workers.get(&view).and_then(GhostWorker::skins)
    }

    /// The ghosts of the views whose looks want some, as far as they are ready. Call it with every frame: it asks for what is missing.
    pub fn of(&mut self, ctx: &Context, session: &mut Session, looks: &[(ViewId, Look)]) -> BTreeMap<ViewId, Arc<GhostSkins>> {
        let haunted = |view: ViewId| looks.iter().any(|(id, look)| *id == view && look.ghosts.any());
        self.workers.retain(|view, _| haunted(*view));
        let mut ready = BTreeMap::new();
        let Some(subject) = session.subject().cloned() else { return ready };
        for (view, look) in looks.iter().filter(|(_, look)| look.ghosts.any()) {
            let poses = session.ghost_poses(*view, look.ghosts.offsets_secs());
            let method = session.views().get(*view).map_or(Method::Dqs, |view| view.method);
            let worker = self.workers.entry(*view).or_insert_with(|| {
                let waked = ctx.clone();
                GhostWorker::new(Some(Arc::new(move || waked.request_repaint())))
            });
            worker.ask(&subject, method, poses);
            if let Some(skins) = worker.skins().filter(|skins| Arc::ptr_eq(&skins.subject, &subject)) {
                ready.insert(*view, skins);
            }
        }
        ready
    }
}
