//! What is shown: it follows the document and the views, through undo and redo too, and is never nothing.

use std::sync::Arc;

use super::Bound;
use super::making::STAND_IN;
use crate::methods::{Actor, Requirement, Subject};
use crate::progress::Progress;
use crate::session::ChannelId;
use crate::session::views::Need;
use crate::session::{Document, Session, View};
use crate::weights::WeightMethod;

/// Vertices of a character that a direct method is bound to within a frame.
const MOST_AT_ONCE: usize = 40_000;

impl Session {
    /// Makes what is shown follow the document: another subject (by undo), another method. Returns whether anything changed.
    pub(super) fn follow_document(&mut self) -> bool {
        let Some(subject) = self.document.subject.clone() else {
            return false;
        };
        let mut changed = false;
        if !self.stages.is_of(&subject) {
            self.enter_subject(&subject);
            changed = true;
        }
        if self.follow_rig(&subject) || (!self.rig_is_pending() && self.follow_settings(&subject)) {
            return true;
        }
        let needs = self.views.needs();
        changed |= self.take_finished_binding(&needs);
        changed |= self.stand_in(&subject);
        let missing = needs.iter().find(|need| {
            self.stages.bound_worker(**need).is_none()
                && !self.stages.refused.contains(&need.method)
        });
        if let (Some(&missing), None) = (missing, &self.stages.binding) {
            self.start_binding(&subject, missing);
        }
        changed |= self.follow_flesh(&subject);
        self.show_what_is_bound() || changed
    }

    /// View state that only makes sense for one character starts over, and so do the methods bound to a subject.
    pub(in crate::session) fn enter_subject(&mut self, subject: &Arc<Subject>) {
        self.exchange_bound(subject);
        self.stages.refused.clear();
        self.stages.binding = None;
        (self.stages.rebuilding, self.stages.refused_flesh) = (None, None);
        (self.stages.growing, self.stages.growing_cancelled) = (None, false);
        let before = self.stages.subject.replace(subject.clone());
        if let Some(before) = before.filter(|before| before.same_character(subject)) {
            self.enter_rig(&before, subject);
            self.refresh_pose_tools();
            self.channels.active_mut().refresh(&self.document);
            return;
        }
        self.forget_rig();
        self.refresh_pose_tools();
        self.selection.set(None);
        self.channels.start_over();
        self.channels.refresh(&self.document);
    }

    /// What is bound to the subject shown until now rests, and what was bound to this one before wakes.
    fn exchange_bound(&mut self, subject: &Arc<Subject>) {
        self.stages.shown.clear();
        let mut bound = std::mem::take(&mut self.stages.bound);
        for bound in &mut bound {
            bound.live = false;
        }
        if let Some(left) = self.stages.subject.clone() {
            self.stages.resting.keep(left, bound);
        }
        let channels: Vec<ChannelId> = self.views.channels().collect();
        let Document { params, flesh, .. } = &self.document;
        self.stages.bound = self.stages.resting.take(subject);
        self.stages
            .bound
            .retain(|bound| channels.contains(&bound.need.channel) && !bound.worker.is_dead());
        for Bound { worker, .. } in &self.stages.bound {
            worker.set_params(*params);
            worker.set_bones(flesh.bones.clone());
            worker.set_wants(self.stages.wants);
        }
    }

    /// Never nothing: what is bound in a moment is shown until the wanted method is. Of a big character even that takes too long to
    /// wait for; it is bound in the background.
    fn stand_in(&mut self, subject: &Arc<Subject>) -> bool {
        let wanted = self.views.active().need();
        let method = if wanted.method.needs(Requirement::Tissue) {
            STAND_IN
        } else {
            wanted.method
        };
        if !self.stages.bound.is_empty() || self.stages.refused.contains(&method) {
            return false;
        }
        // Other weights may take a while to compute.
        let need = Need {
            method,
            weights: WeightMethod::default(),
            ..wanted
        };
        if subject.bind_positions.len() > MOST_AT_ONCE {
            if self.stages.binding.is_none() {
                self.start_binding(subject, need);
            }
            return false;
        }
        match Actor::bind(subject, method, &self.document.params, &Progress::new()) {
            Ok(actor) => self.take_actor(need, actor),
            Err(error) => self.refuse(method, &error.to_string()),
        }
        true
    }

    /// Gives every view what it asks for, or what comes nearest to that, and wakes and rests the workers accordingly.
    fn show_what_is_bound(&mut self) -> bool {
        let mut changed = false;
        let views = self.views.list().to_vec();
        for view in &views {
            let need = view.need();
            let is_bound = |need: &Need| self.stages.bound_worker(*need).is_some();
            let present = self
                .stages
                .shown
                .iter()
                .find(|(id, _)| *id == view.id)
                .map(|(_, need)| *need);
            let kept =
                present.filter(|present| present.channel == need.channel && is_bound(present));
            let near = || {
                self.stages
                    .bound
                    .iter()
                    .map(|bound| bound.need)
                    .max_by_key(|other| other.channel == need.channel)
            };
            let shown = if is_bound(&need) {
                Some(need)
            } else {
                kept.or_else(near)
            };
            changed |= shown.is_some_and(|shown| self.stages.show(view.id, shown));
        }
        self.stages
            .shown
            .retain(|(id, _)| views.iter().any(|view| view.id == *id));
        let compared: Vec<Need> = views
            .iter()
            .copied()
            .filter_map(View::compared_need)
            .collect();
        for index in 0..self.stages.bound.len() {
            let need = self.stages.bound[index].need;
            let live = self.stages.shown.iter().any(|(_, shown)| *shown == need)
                || compared.contains(&need);
            let joints = self.channels.joints_in(need.channel);
            if live && !self.stages.bound[index].live {
                self.stages.bound[index].worker.settle(joints);
            }
            self.stages.bound[index].live = live;
        }
        changed
    }
}
