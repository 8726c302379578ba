//! Chooses what each view shows from document and views; there is always something to show.

use std::sync::Arc;

use super::fields::FieldJob;
use super::making::{STAND_IN, has_stand_in};
use super::motions::MotionsJob;
use super::{Bound, DerivedStages};
use crate::methods::{Actor, MethodId, Subject};
use crate::progress::Progress;
use crate::session::jobs::JobContext;
use crate::session::views::Need;
use crate::session::{ChannelId, Channels, Document, View, Views};
use crate::weights::WeightMethod;

/// Largest vertex count of a character for which a direct method is bound within a frame.
const MOST_AT_ONCE: usize = 40_000;

impl DerivedStages {
    /// Binds the requested methods and shows the best available ones. Returns whether anything changed. `unfinished`: the
    /// skeleton cannot be bound to yet.
    pub(in crate::session) fn follow_views(
        &mut self,
        subject: &Arc<Subject>,
        unfinished: bool,
        context: &mut JobContext<'_>,
    ) -> bool {
        let needs = context.views.needs();
        let mut changed = self.take_finished_binding(&needs, unfinished, context);
        changed |= self.bind_stand_in(subject, context);
        let missing = needs.iter().find(|need| {
            self.bound_worker(**need).is_none() && !self.refused.contains(&need.method)
        });
        if let (Some(&missing), None) = (missing, &self.binding) {
            self.start_binding(subject, missing, context);
        }
        changed |= self.follow_flesh(subject, context);
        changed |= self.show_what_is_bound(context.views, context.channels);
        changed |= self.fields.follow(context);
        self.follow_overlays(context) || changed
    }

    /// Changes the subject that is shown. Returns the previous one.
    pub(in crate::session) fn enter_subject(
        &mut self,
        subject: &Arc<Subject>,
        document: &Document,
        views: &Views,
    ) -> Option<Arc<Subject>> {
        self.exchange_bound(subject, document, views);
        self.forget_frames();
        self.refused.clear();
        self.binding = None;
        (self.rebuilding, self.refused_flesh) = (None, None);
        self.motions = MotionsJob::default();
        (self.flesh_job, self.flesh_cancelled) = (None, false);
        self.overlays.start_over();
        self.fields = FieldJob::default();
        self.subject.replace(subject.clone())
    }

    /// Stores the workers of the previous subject and restores those of this one.
    fn exchange_bound(&mut self, subject: &Arc<Subject>, document: &Document, views: &Views) {
        self.shown.clear();
        let mut bound = std::mem::take(&mut self.bound);
        // The rig may be another one when the subject is shown again.
        bound.retain(|bound| bound.need.method != MethodId::DISTILLED);
        for bound in &mut bound {
            bound.live = false;
        }
        if let Some(left) = self.subject.clone() {
            self.idle.keep(left, bound);
        }
        let channels: Vec<ChannelId> = views.channels().collect();
        let Document { flesh, .. } = document;
        self.bound = self.idle.take(subject);
        self.bound
            .retain(|bound| channels.contains(&bound.need.channel) && !bound.worker.has_stopped());
        for Bound { worker, need, .. } in &self.bound {
            worker.set_params(*document.params_of(need.variant));
            worker.set_values(document.method_values_of(need.variant).of(need.method));
            worker.set_factors(flesh.factors());
            worker.set_wants(self.wants);
        }
    }

    /// Binds a fast method to show until the requested one is ready. For a large character that too takes
    /// noticeable time, so it is bound in the background.
    fn bind_stand_in(&mut self, subject: &Arc<Subject>, context: &mut JobContext<'_>) -> bool {
        let wanted = context.views.active().need();
        let method = if has_stand_in(wanted.method) {
            STAND_IN
        } else {
            wanted.method
        };
        if !self.bound.is_empty() || self.refused.contains(&method) {
            return false;
        }
        // Computing other weights may take a while.
        let need = Need {
            method,
            weights: WeightMethod::default(),
            ..wanted
        };
        if subject.bind_positions.len() > MOST_AT_ONCE {
            if self.binding.is_none() {
                self.start_binding(subject, need, context);
            }
            return false;
        }
        let document = context.document;
        let values = document.method_values_of(need.variant).of(method);
        let params = document.params_of(need.variant);
        match Actor::bind_with(subject, method, params, &values, &Progress::new()) {
            Ok(actor) => self.take_actor(need, actor, context),
            Err(error) => self.note_failure(method, &error.to_string(), context),
        }
        true
    }

    /// Assigns to every view the requested method or the best available one, and wakes or suspends the workers accordingly.
    fn show_what_is_bound(&mut self, views: &Views, channels: &Channels) -> bool {
        let mut changed = false;
        let views = views.list();
        for view in views {
            let need = view.need();
            let is_bound = |need: &Need| self.bound_worker(*need).is_some();
            let present = self
                .shown
                .iter()
                .find(|(id, _)| *id == view.id)
                .map(|(_, need)| *need);
            let kept =
                present.filter(|present| present.channel == need.channel && is_bound(present));
            let near = || {
                self.bound
                    .iter()
                    .map(|bound| bound.need)
                    .max_by_key(|other| other.channel == need.channel)
            };
            let shown = if is_bound(&need) {
                Some(need)
            } else {
                kept.or_else(near)
            };
            changed |= shown.is_some_and(|shown| self.show(view.id, shown));
        }
        self.shown
            .retain(|(id, _)| views.iter().any(|view| view.id == *id));
        let compared: Vec<Need> = views
            .iter()
            .copied()
            .filter_map(View::compared_need)
            .collect();
        for bound in &mut self.bound {
            let need = bound.need;
            let live =
                self.shown.iter().any(|(_, shown)| *shown == need) || compared.contains(&need);
            if live && !bound.live {
                let joints = channels.joints_in(need.channel);
                bound
                    .worker
                    .settle(joints, &channels.morphs_in(need.channel));
            }
            bound.live = live;
        }
        changed
    }
}
