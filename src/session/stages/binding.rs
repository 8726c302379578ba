//! Binding: methods are bound to the subject in the background, and each gets a worker that follows its channel's pose.

use std::sync::Arc;

use super::Bound;
use super::making::Binding;
use crate::methods::{Actor, BindError, MethodId, Subject};
use crate::progress::Progress;
use crate::session::jobs::{Job, Outcome};
use crate::session::views::Need;
use crate::session::{Level, Mode, Session, SimWorker};

impl Session {
    pub(super) fn start_binding(&mut self, subject: &Arc<Subject>, need: Need) {
        let (subject, params) = (subject.weighted(need.weights), self.document.params);
        let title = format!("Binding {}", need.method.label().to_lowercase());
        let work = move |progress: &Progress| Actor::bind(&subject, need.method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.binding = Some((need, job)),
            Err(error) => self.refuse(need.method, &format!("no thread could be started: {error}")),
        }
    }

    pub(super) fn take_finished_binding(&mut self, needs: &[Need]) -> bool {
        let Some((need, job)) = &self.stages.binding else {
            return false;
        };
        let need = *need;
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            // What stands in is asked for by nobody.
            if !needs.contains(&need) && !self.stages.bound.is_empty() {
                self.stages.binding = None;
            }
            return false;
        }
        self.stages.binding = None;
        match outcome {
            Outcome::Done(actor)
                if self.views.channels().any(|channel| channel == need.channel) =>
            {
                self.take_bound(need, actor);
            }
            Outcome::Done(_) | Outcome::Running => {}
            Outcome::Lost => self.refuse(need.method, "binding stopped unexpectedly"),
        }
        true
    }

    /// A job has made what is shown from now on.
    pub(in crate::session) fn take_binding(&mut self, need: Need, binding: Binding) {
        if let Some(actor) = binding.stand_in {
            self.take_actor(
                Need {
                    method: actor.method(),
                    ..need
                },
                actor,
            );
        }
        self.take_bound(need, binding.wanted);
    }

    /// A binding is done: it is shown from now on.
    pub(in crate::session) fn take_bound(&mut self, need: Need, actor: Result<Actor, BindError>) {
        match actor {
            Ok(actor) => self.take_actor(need, actor),
            Err(BindError::Cancelled(_)) => {}
            // A bare mesh, or half a skeleton: the window says how to go on.
            Err(BindError::Tissue(_))
                if self.mode() == Mode::Edit || self.rig().is_none_or(|rig| rig.is_empty()) =>
            {
                self.stages.refused.push(need.method);
            }
            Err(error) => self.refuse(need.method, &error.to_string()),
        }
    }

    pub(super) fn take_actor(&mut self, need: Need, actor: Actor) {
        // Opening and rebuilding bind with the file's weights; the view's own follow.
        let need = Need {
            weights: actor.subject().weight_method(),
            ..need
        };
        self.stages.forget(need);
        if let Some(channel) = self.channels.get_mut(need.channel) {
            channel.refresh(&self.document);
        }
        let world = self.channels.joints_in(need.channel).to_vec();
        match SimWorker::start(
            actor,
            world.clone(),
            self.stages.sequences.clone(),
            self.waker.clone(),
        ) {
            Ok(worker) => {
                // Both may have changed since the binding began.
                worker.set_params(self.document.params);
                if self
                    .document
                    .subject
                    .as_ref()
                    .is_some_and(|subject| subject.settings.bones != self.document.flesh.bones)
                {
                    worker.set_bones(self.document.flesh.bones.clone());
                }
                worker.settle(&world);
                worker.set_wants(self.stages.wants);
                self.stages.bound.push(Bound {
                    need,
                    worker,
                    live: true,
                });
            }
            Err(error) => {
                self.stages.refused.push(need.method);
                self.tell(
                    Level::Error,
                    format!("No thread could be started for the simulation: {error}."),
                );
            }
        }
    }

    pub(super) fn refuse(&mut self, method: MethodId, why: &str) {
        self.stages.refused.push(method);
        self.tell(
            Level::Warning,
            format!("{} can't be used here: {why}.", method.label()),
        );
    }

    /// Tells the user what went wrong on the simulations' threads.
    pub(in crate::session) fn watch_workers(&mut self) {
        let faults: Vec<String> = self
            .stages
            .workers()
            .filter_map(SimWorker::take_fault)
            .collect();
        for fault in faults {
            self.tell(Level::Warning, fault);
        }
        let dead: Vec<Need> = self
            .stages
            .bound
            .iter()
            .filter(|bound| bound.worker.is_dead())
            .map(|bound| bound.need)
            .collect();
        for need in dead {
            self.stages.forget(need);
            self.refuse(need.method, "its simulation stopped unexpectedly");
        }
    }
}
