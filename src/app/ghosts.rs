//! Onion skins of all views.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::Context;

use super::look::Look;
use crate::session::{GhostSkins, GhostWorker, Session, ViewId};

/// A builder of onion skins for every view that shows some.
#[derive(Default)]
pub struct OnionSkinCache {
    workers: BTreeMap<ViewId, GhostWorker>,
}

impl OnionSkinCache {
    /// The onion skins of a view.
    #[must_use]
    pub fn shown(&self, view: ViewId) -> Option<Arc<GhostSkins>> {
        self.workers.get(&view).and_then(GhostWorker::skins)
    }

    /// The onion skins of the views whose look requires them, as far as they are ready. Must be
    /// called every frame: missing ones are requested.
    pub fn of(
        &mut self,
        ctx: &Context,
        session: &mut Session,
        looks: &[(ViewId, Look)],
    ) -> BTreeMap<ViewId, Arc<GhostSkins>> {
        let has_ghosts = |view: ViewId| {
            looks
                .iter()
                .any(|(id, look)| *id == view && look.ghosts.any())
        };
        self.workers.retain(|view, _| has_ghosts(*view));
        let mut ready = BTreeMap::new();
        let Some(subject) = session.subject().cloned() else {
            return ready;
        };
        for (id, look) in looks.iter().filter(|(_, look)| look.ghosts.any()) {
            let Some(view) = session.views().get(*id).copied() else {
                continue;
            };
            let subject = subject.weighted(view.weights);
            let poses = session.channel_of(*id).map_or_else(Vec::new, |channel| {
                channel.ghost_poses(session.document(), look.ghosts.offsets_secs())
            });
            let worker = self.workers.entry(*id).or_insert_with(|| {
                let context = ctx.clone();
                GhostWorker::new(Some(Arc::new(move || context.request_repaint())))
            });
            let known = session.document().method_values_of(view.variant);
            let values = known.of(view.method);
            worker.request(&subject, view.method, &values, poses);
            if let Some(skins) = worker
                .skins()
                .filter(|skins| Arc::ptr_eq(&skins.subject, &subject))
            {
                ready.insert(*id, skins);
            }
        }
        ready
    }
}
