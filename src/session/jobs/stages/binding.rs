//! Binding: methods are bound to the subject in the background; each bound method gets a worker that follows its channel's pose.

use std::sync::Arc;

use super::making::Binding;
use super::{Bound, DerivedStages};
use crate::methods::{Actor, BindError, MethodId, Subject};
use crate::progress::Progress;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::session::views::Need;
use crate::session::{Level, SimWorker};

impl DerivedStages {
    pub(super) fn start_binding(
        &mut self,
        subject: &Arc<Subject>,
        need: Need,
        context: &mut JobContext<'_>,
    ) {
        let (subject, document) = (subject.weighted(need.weights), context.document);
        let params = *document.params_of(need.variant);
        let values = document.method_values_of(need.variant).of(need.method);
        let title = format!("Binding {}", need.method.label().to_lowercase());
        let work = move |progress: &Progress| {
            Actor::bind_with(&subject, need.method, &params, &values, progress)
        };
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.binding = Some((need, job)),
            Err(error) => {
                let why = format!("no thread could be started: {error}");
                self.note_failure(need.method, &why, context);
            }
        }
    }

    pub(super) fn take_finished_binding(
        &mut self,
        needs: &[Need],
        unfinished: bool,
        context: &mut JobContext<'_>,
    ) -> bool {
        let Some((need, job)) = &self.binding else {
            return false;
        };
        let need = *need;
        let outcome = job.poll();
        if matches!(outcome, JobState::Running) {
            // No view asks for a stand-in.
            if !needs.contains(&need) && !self.bound.is_empty() {
                self.binding = None;
            }
            return false;
        }
        self.binding = None;
        match outcome {
            JobState::Done(actor)
                if context
                    .views
                    .channels()
                    .any(|channel| channel == need.channel) =>
            {
                self.take_bound(need, actor, unfinished, context);
            }
            JobState::Done(_) | JobState::Running => {}
            JobState::Lost => {
                self.note_failure(need.method, "binding stopped unexpectedly", context);
            }
        }
        true
    }

    /// Shows the result of a job in the active view. `unfinished`: the skeleton cannot be bound to yet.
    pub(in crate::session) fn take_binding(
        &mut self,
        binding: Binding,
        unfinished: bool,
        context: &mut JobContext<'_>,
    ) {
        let active = context.views.active().need();
        let method = binding.wanted.as_ref().map_or(active.method, Actor::method);
        let need = Need { method, ..active };
        if let Some(actor) = binding.stand_in {
            self.take_actor(
                Need {
                    method: actor.method(),
                    ..need
                },
                actor,
                context,
            );
        }
        self.take_bound(need, binding.wanted, unfinished, context);
    }

    /// Shows a finished binding.
    fn take_bound(
        &mut self,
        need: Need,
        actor: Result<Actor, BindError>,
        unfinished: bool,
        context: &mut JobContext<'_>,
    ) {
        match actor {
            Ok(actor) => self.take_actor(need, actor, context),
            Err(BindError::Cancelled(_)) => {}
            // A mesh without a skeleton, or an incomplete one: the window tells the user what to do.
            Err(BindError::Tissue(_)) if unfinished => self.refused.push(need.method),
            Err(error) => self.note_failure(need.method, &error.to_string(), context),
        }
    }

    pub(super) fn take_actor(&mut self, need: Need, actor: Actor, context: &mut JobContext<'_>) {
        // Opening and new flesh bind with the file's weights; bindings with a view's own weights come after, unless they are quick.
        let need = Need {
            weights: actor.subject().weight_method(),
            ..need
        };
        self.forget(need);
        let document = context.document;
        if let Some(channel) = context.channels.get_mut(need.channel) {
            channel.refresh(document);
        }
        let world = context.channels.joints_in(need.channel).to_vec();
        match SimWorker::start(
            actor,
            world.clone(),
            self.sequences.clone(),
            context.waker.cloned(),
        ) {
            Ok(worker) => {
                // Parameters may have changed since the binding started.
                worker.set_params(*document.params_of(need.variant));
                worker.set_values(document.method_values_of(need.variant).of(need.method));
                if document
                    .subject
                    .as_ref()
                    .is_some_and(|subject| !subject.settings.has_factors(&document.flesh.factors()))
                {
                    worker.set_factors(document.flesh.factors());
                }
                worker.settle(&world, &context.channels.morphs_in(need.channel));
                worker.set_wants(self.wants);
                self.bound.push(Bound {
                    need,
                    worker,
                    live: true,
                });
            }
            Err(error) => {
                self.refused.push(need.method);
                context.add_message(
                    Level::Error,
                    format!("No thread could be started for the simulation: {error}."),
                );
            }
        }
    }

    pub(super) fn note_failure(
        &mut self,
        method: MethodId,
        why: &str,
        context: &mut JobContext<'_>,
    ) {
        self.refused.push(method);
        context.add_message(
            Level::Warning,
            format!("{} can't be used here: {why}.", method.label()),
        );
    }

    /// Reports errors of the simulation threads to the user.
    pub(in crate::session) fn report_worker_faults(&mut self, context: &mut JobContext<'_>) {
        for fault in self.workers().filter_map(SimWorker::take_fault) {
            context.add_message(Level::Warning, fault);
        }
        let stopped: Vec<Need> = self
            .bound
            .iter()
            .filter(|bound| bound.worker.has_stopped())
            .map(|bound| bound.need)
            .collect();
        for need in stopped {
            self.forget(need);
            self.note_failure(need.method, "its simulation stopped unexpectedly", context);
        }
    }
}
