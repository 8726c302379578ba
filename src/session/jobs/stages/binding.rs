//! Binding: methods are bound to the subject in the background, and each gets a worker that follows its channel's pose.

use std::sync::Arc;

use super::making::Binding;
use super::{Bound, Stages};
use crate::methods::{Actor, BindError, MethodId, Subject};
use crate::progress::Progress;
use crate::session::job::{Job, Outcome};
use crate::session::jobs::Around;
use crate::session::views::Need;
use crate::session::{Level, SimWorker};

impl Stages {
    pub(super) fn start_binding(
        &mut self,
        subject: &Arc<Subject>,
        need: Need,
        around: &mut Around<'_>,
    ) {
        let (subject, params) = (subject.weighted(need.weights), around.document.params);
        let values = around.document.method_values.of(need.method);
        let title = format!("Binding {}", need.method.label().to_lowercase());
        let work = move |progress: &Progress| {
            Actor::bind_with(&subject, need.method, &params, &values, progress)
        };
        match Job::start(title, around.waker.cloned(), work) {
            Ok(job) => self.binding = Some((need, job)),
            Err(error) => {
                let why = format!("no thread could be started: {error}");
                self.refuse(need.method, &why, around);
            }
        }
    }

    pub(super) fn take_finished_binding(
        &mut self,
        needs: &[Need],
        unfinished: bool,
        around: &mut Around<'_>,
    ) -> bool {
        let Some((need, job)) = &self.binding else {
            return false;
        };
        let need = *need;
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            // What stands in is asked for by nobody.
            if !needs.contains(&need) && !self.bound.is_empty() {
                self.binding = None;
            }
            return false;
        }
        self.binding = None;
        match outcome {
            Outcome::Done(actor)
                if around
                    .views
                    .channels()
                    .any(|channel| channel == need.channel) =>
            {
                self.take_bound(need, actor, unfinished, around);
            }
            Outcome::Done(_) | Outcome::Running => {}
            Outcome::Lost => self.refuse(need.method, "binding stopped unexpectedly", around),
        }
        true
    }

    /// A job has made what the active view shows from now on. `unfinished` says that the skeleton is not one to bind to yet.
    pub(in crate::session) fn take_binding(
        &mut self,
        binding: Binding,
        unfinished: bool,
        around: &mut Around<'_>,
    ) {
        let active = around.views.active().need();
        let method = binding.wanted.as_ref().map_or(active.method, Actor::method);
        let need = Need { method, ..active };
        if let Some(actor) = binding.stand_in {
            self.take_actor(
                Need {
                    method: actor.method(),
                    ..need
                },
                actor,
                around,
            );
        }
        self.take_bound(need, binding.wanted, unfinished, around);
    }

    /// A binding is done: it is shown from now on.
    fn take_bound(
        &mut self,
        need: Need,
        actor: Result<Actor, BindError>,
        unfinished: bool,
        around: &mut Around<'_>,
    ) {
        match actor {
            Ok(actor) => self.take_actor(need, actor, around),
            Err(BindError::Cancelled(_)) => {}
            // A bare mesh, or half a skeleton: the window says how to go on.
            Err(BindError::Tissue(_)) if unfinished => self.refused.push(need.method),
            Err(error) => self.refuse(need.method, &error.to_string(), around),
        }
    }

    pub(super) fn take_actor(&mut self, need: Need, actor: Actor, around: &mut Around<'_>) {
        // Opening and rebuilding bind with the file's weights; the view's own follow.
        let need = Need {
            weights: actor.subject().weight_method(),
            ..need
        };
        self.forget(need);
        let document = around.document;
        if let Some(channel) = around.channels.get_mut(need.channel) {
            channel.refresh(document);
        }
        let world = around.channels.joints_in(need.channel).to_vec();
        match SimWorker::start(
            actor,
            world.clone(),
            self.sequences.clone(),
            around.waker.cloned(),
        ) {
            Ok(worker) => {
                // They may have changed since the binding began.
                worker.set_params(document.params);
                worker.set_values(document.method_values.of(need.method));
                if document
                    .subject
                    .as_ref()
                    .is_some_and(|subject| subject.settings.bones != document.flesh.bones)
                {
                    worker.set_bones(document.flesh.bones.clone());
                }
                worker.settle(&world);
                worker.set_wants(self.wants);
                self.bound.push(Bound {
                    need,
                    worker,
                    live: true,
                });
            }
            Err(error) => {
                self.refused.push(need.method);
                around.tell(
                    Level::Error,
                    format!("No thread could be started for the simulation: {error}."),
                );
            }
        }
    }

    pub(super) fn refuse(&mut self, method: MethodId, why: &str, around: &mut Around<'_>) {
        self.refused.push(method);
        around.tell(
            Level::Warning,
            format!("{} can't be used here: {why}.", method.label()),
        );
    }

    /// Tells the user what went wrong on the simulations' threads.
    pub(in crate::session) fn watch_workers(&mut self, around: &mut Around<'_>) {
        for fault in self.workers().filter_map(SimWorker::take_fault) {
            around.tell(Level::Warning, fault);
        }
        let dead: Vec<Need> = self
            .bound
            .iter()
            .filter(|bound| bound.worker.is_dead())
            .map(|bound| bound.need)
            .collect();
        for need in dead {
            self.forget(need);
            self.refuse(need.method, "its simulation stopped unexpectedly", around);
        }
    }
}
