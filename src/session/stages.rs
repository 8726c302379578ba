//! The derived stages: subject and bound methods, and the jobs that make them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::history::History;
use super::jobs::{Job, Opened, Opening, Outcome, Rebuilt, add_and_bind, open_and_bind, rebuild_and_bind};
use super::project::Restored;
use super::{Answer, Document, JobView, Level, OpenError, ProjectError, Session, SimWorker, Source, UpAxis, up_axis};
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::progress::Progress;
use crate::skin::{Actor, BindError, Method, Subject};

/// A method bound to the subject of the document, kept when another one is shown: a sleeping worker costs only memory.
struct Bound {
    method: Method,
    worker: SimWorker,
}

/// The bound methods and the jobs under way.
#[derive(Default)]
pub(super) struct Stages {
    /// What `bound` belongs to.
    subject: Option<Arc<Subject>>,
    bound: Vec<Bound>,
    /// Which of `bound` is shown.
    shown: Option<Method>,
    /// A method that could not be bound to the subject: not tried again by itself.
    refused: Option<Method>,
    opening: Option<Job<Result<Opened, OpenError>>>,
    /// What the last opening was asked for, to ask again when the user has said where files are.
    asked: Option<(Source, BTreeMap<usize, Answer>)>,
    binding: Option<(Method, Job<Result<Actor, BindError>>)>,
    /// New flesh for the document's character, and the settings it is made for.
    rebuilding: Option<(FleshSettings, Job<Result<Rebuilt, BindError>>)>,
    /// Settings whose flesh the user gave up, or that could not be made: not tried again by itself.
    refused_flesh: Option<FleshSettings>,
}

impl Stages {
    pub(super) fn worker(&self) -> Option<&SimWorker> {
        self.shown.and_then(|method| self.bound.iter().find(|b| b.method == method)).map(|b| &b.worker)
    }

    pub(super) fn shown_method(&self) -> Option<Method> {
        self.shown
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = &SimWorker> {
        self.bound.iter().map(|b| &b.worker)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.opening.is_some() || self.binding.is_some() || self.rebuilding.is_some()
    }

    pub(super) fn views(&self) -> Vec<JobView> {
        let binding = self.binding.iter().map(|(_, job)| job.view());
        let rebuilding = self.rebuilding.iter().map(|(_, job)| job.view());
        self.opening.iter().map(Job::view).chain(binding).chain(rebuilding).collect()
    }

    pub(super) fn cancel(&mut self) {
        self.opening = None;
        if let Some((method, _)) = self.binding.take() {
            self.refused = Some(method);
        }
        if let Some((flesh, _)) = self.rebuilding.take() {
            self.refused_flesh = Some(flesh);
        }
    }

    /// What was refused may be tried again.
    pub(super) fn forgive(&mut self) {
        (self.refused, self.refused_flesh) = (None, None);
    }

    fn is_of(&self, subject: &Arc<Subject>) -> bool {
        self.subject.as_ref().is_some_and(|mine| Arc::ptr_eq(mine, subject))
    }

    fn forget(&mut self, method: Method) {
        self.bound.retain(|b| b.method != method);
        self.shown = self.shown.filter(|&shown| shown != method);
    }
}

impl Session {
    /// Starts reading a character; a reading under way is given up.
    pub(super) fn start_opening(&mut self, source: Source) {
        self.start_opening_with(source, BTreeMap::new());
    }

    /// As [`Session::start_opening`], with what to do about files of a project that are not what they were.
    pub(super) fn start_opening_with(&mut self, source: Source, answers: BTreeMap<usize, Answer>) {
        self.messages.clear();
        self.stages.asked = Some((source.clone(), answers.clone()));
        let (method, params) = (self.document.method, self.document.params);
        let title = format!("Opening {}", source.title());
        let opening = Opening { source, cache: self.cache.clone(), answers };
        let work = move |progress: &Progress| open_and_bind(opening, method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.opening = Some(job),
            Err(error) => self.tell(Level::Error, format!("No thread could be started to read the files: {error}.")),
        }
    }

    /// Starts reading motions for the open character; a reading under way is given up.
    pub(super) fn start_adding(&mut self, files: Vec<PathBuf>) {
        let mut source = self.document.source.clone();
        source.files.extend(files.iter().cloned());
        let Some(subject) = self.document.subject.clone() else { return self.start_opening(source) };
        if files.is_empty() {
            return;
        }
        self.messages.clear();
        let (method, params) = (self.document.method, self.document.params);
        let title = format!("Adding {}", Source { files: files.clone(), ..Source::default() }.title());
        let work = move |progress: &Progress| add_and_bind(&subject, source, &files, method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.opening = Some(job),
            Err(error) => self.tell(Level::Error, format!("No thread could be started to read the files: {error}.")),
        }
    }

    /// Takes over what the jobs have made. Returns whether anything was.
    pub(super) fn take_finished_jobs(&mut self) -> bool {
        let mut changed = false;
        let opened = self.stages.opening.as_ref().map(Job::poll);
        if !matches!(opened, None | Some(Outcome::Running)) {
            self.stages.opening = None;
            changed = true;
        }
        match opened {
            Some(Outcome::Done(Ok(opened))) => self.take_over(opened),
            Some(Outcome::Done(Err(OpenError::Cancelled(_))) | Outcome::Running) | None => {}
            Some(Outcome::Done(Err(OpenError::Project(ProjectError::Sources(missing))))) => {
                if let Some((source, answers)) = self.stages.asked.take() {
                    self.ask_about_sources(source, answers, missing);
                }
            }
            Some(Outcome::Done(Err(error))) => self.tell(Level::Error, error.to_string()),
            Some(Outcome::Lost) => self.tell(Level::Error, "Reading stopped unexpectedly; the files could not be opened."),
        }
        changed |= self.take_saved();
        self.follow_document() || changed
    }

    /// A character has been read: it becomes the document's, as one undo step.
    fn take_over(&mut self, opened: Opened) {
        let before = self.document.clone();
        let first = before.subject.is_none();
        if let (Some(clip), false) = (opened.added, first) {
            return self.take_added(before, opened, clip);
        }
        let Opened { source, subject, actor, files_read, project, .. } = opened;
        let up = before.subject.as_deref().map_or_else(UpAxis::y, up_axis);
        let (pose, flesh) = (subject.character.skeleton.rest_pose(), (*subject.settings).clone());
        self.document = Document { source, subject: Some(subject.clone()), pose, flesh, files_read: files_read.into(), ..before.clone() };
        if let Some(project) = &project {
            let Restored { pose, method, params, flesh } = project.restored.clone();
            self.document = Document { pose, method, params, flesh, ..self.document.clone() };
        } else {
            // Gravity goes on pulling down, wherever that is in the new file.
            self.document.params.gravity_m_s2 = up_axis(&subject).gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        }
        self.enter_work(project);
        self.enter_subject(&subject);
        if first {
            // There is no going back to before there was anything.
            self.history = History::default();
        } else {
            self.history.record(before, &self.document, "Open", super::Gesture::Once);
        }
        self.forget_old_works();
        self.take_bound(self.document.method, actor);
    }

    /// The open character has got more clips: pose, bones and view stay, and the first new clip is shown. One undo step.
    fn take_added(&mut self, before: Document, opened: Opened, clip: usize) {
        let (selected, playback) = (self.selected_joint, self.playback.clone());
        // Gravity goes on pulling down, wherever that is in the new file.
        let up = before.subject.as_deref().map_or_else(UpAxis::y, up_axis);
        let gravity_m_s2 = up_axis(&opened.subject).gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        let params = Params { gravity_m_s2, ..before.params };
        let files_read = before.files_read.iter().cloned().chain(opened.files_read).collect();
        self.document = Document { params, source: opened.source, subject: Some(opened.subject.clone()), files_read, ..before.clone() };
        self.enter_subject(&opened.subject);
        (self.selected_joint, self.playback) = (selected, playback);
        self.refresh_shown();
        self.history.record(before, &self.document, "Add motion", super::Gesture::Once);
        self.take_bound(self.document.method, opened.actor);
        self.playback.playing = true;
        self.select_clip(Some(clip));
        self.refresh_shown();
    }

    /// View state that only makes sense for one character starts over, and so do the methods bound to a subject.
    fn enter_subject(&mut self, subject: &Arc<Subject>) {
        self.stages.bound.clear();
        (self.stages.shown, self.stages.refused, self.stages.binding) = (None, None, None);
        (self.stages.rebuilding, self.stages.refused_flesh) = (None, None);
        let before = self.stages.subject.replace(subject.clone());
        if before.is_some_and(|before| before.same_character(subject)) {
            self.refresh_shown();
            return;
        }
        self.selected_joint = None;
        let kept = &self.playback;
        self.playback =
            super::Playback { speed: kept.speed, looping: kept.looping, blend_secs: kept.blend_secs, ..super::Playback::default() };
        self.refresh_shown();
    }

    /// A binding is done: it is shown from now on.
    fn take_bound(&mut self, method: Method, actor: Result<Actor, BindError>) {
        match actor {
            Ok(actor) => self.show_actor(method, actor),
            Err(BindError::Cancelled(_)) => {}
            Err(error) => self.refuse(method, &error.to_string()),
        }
    }

    fn refuse(&mut self, method: Method, why: &str) {
        self.stages.refused = Some(method);
        self.tell(Level::Warning, format!("{} can't be used here: {why}.", method.label()));
    }

    fn show_actor(&mut self, method: Method, actor: Actor) {
        self.stages.forget(method);
        self.refresh_shown();
        let world = self.shown.world_from_joint.clone();
        match SimWorker::start(actor, world, self.last_sequence + 1, self.waker.clone()) {
            Ok(worker) => {
                // Both may have changed since the binding began.
                worker.set_params(self.document.params);
                if self.document.subject.as_ref().is_some_and(|subject| subject.settings.bones != self.document.flesh.bones) {
                    worker.set_bones(self.document.flesh.bones.clone());
                }
                worker.settle(&self.shown.world_from_joint);
                self.stages.bound.push(Bound { method, worker });
                self.stages.shown = Some(method);
            }
            Err(error) => self.tell(Level::Error, format!("No thread could be started for the simulation: {error}.")),
        }
    }

    /// Makes what is shown follow the document: another subject (by undo), another method. Returns whether anything changed.
    fn follow_document(&mut self) -> bool {
        let Some(subject) = self.document.subject.clone() else { return false };
        let mut changed = false;
        if !self.stages.is_of(&subject) {
            self.enter_subject(&subject);
            changed = true;
        }
        if self.follow_settings(&subject) {
            return true;
        }
        let wanted = self.document.method;
        changed |= self.take_finished_binding(wanted);
        if self.stages.shown == Some(wanted) {
            return changed;
        }
        if let Some(bound) = self.stages.bound.iter().find(|b| b.method == wanted) {
            bound.worker.settle(&self.shown.world_from_joint);
            (self.stages.shown, self.stages.binding) = (Some(wanted), None);
            return true;
        }
        if self.stages.refused != Some(wanted) && self.stages.binding.as_ref().is_none_or(|(method, _)| *method != wanted) {
            self.start_binding(&subject, wanted);
        }
        // Never nothing: a direct method is bound in a moment and stands in.
        if self.stages.shown.is_none() {
            let stand_in = if wanted.is_simulated() { Method::Dqs } else { wanted };
            match Actor::bind(&subject, stand_in, &self.document.params, &Progress::new()) {
                Ok(actor) => self.show_actor(stand_in, actor),
                Err(error) => self.refuse(stand_in, &error.to_string()),
            }
            changed = true;
        }
        changed
    }

    /// Makes the flesh follow the document's settings. Returns whether there is a new subject.
    fn follow_settings(&mut self, subject: &Arc<Subject>) -> bool {
        let wanted = &self.document.flesh;
        if subject.settings.same_structure(wanted) {
            self.stages.rebuilding = None;
            return false;
        }
        if self.stages.rebuilding.as_ref().is_none_or(|(made_for, _)| !made_for.same_structure(wanted)) {
            if self.stages.refused_flesh.as_ref().is_none_or(|refused| !refused.same_structure(wanted)) {
                self.start_rebuilding(subject);
            }
            return false;
        }
        let outcome = self.stages.rebuilding.as_ref().map(|(_, job)| job.poll());
        let refused = match outcome {
            None | Some(Outcome::Running) => return false,
            Some(Outcome::Done(Ok(rebuilt))) => {
                self.take_rebuilt(rebuilt);
                return true;
            }
            Some(Outcome::Done(Err(BindError::Cancelled(_)))) => "it was cancelled".to_owned(),
            Some(Outcome::Done(Err(error))) => error.to_string(),
            Some(Outcome::Lost) => "the work stopped unexpectedly".to_owned(),
        };
        self.stages.refused_flesh = self.stages.rebuilding.take().map(|(flesh, _)| flesh);
        self.tell(Level::Warning, format!("The flesh could not be rebuilt: {refused}."));
        false
    }

    fn start_rebuilding(&mut self, subject: &Arc<Subject>) {
        let (subject, flesh) = (subject.clone(), self.document.flesh.clone());
        let (method, params) = (self.document.method, self.document.params);
        let made_for = flesh.clone();
        let work = move |progress: &Progress| rebuild_and_bind(&subject, &flesh, method, &params, progress);
        match Job::start("Rebuilding the flesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.stages.rebuilding = Some((made_for, job)),
            Err(error) => {
                self.stages.refused_flesh = Some(made_for);
                self.tell(Level::Error, format!("No thread could be started to rebuild the flesh: {error}."));
            }
        }
    }

    /// New flesh is ready. No undo step of its own: it belongs to the change of the bone.
    fn take_rebuilt(&mut self, rebuilt: Rebuilt) {
        let method = rebuilt.actor.as_ref().map_or(self.document.method, Actor::method);
        self.document.subject = Some(rebuilt.subject.clone());
        self.enter_subject(&rebuilt.subject);
        self.take_bound(method, rebuilt.actor);
    }

    fn take_finished_binding(&mut self, wanted: Method) -> bool {
        let Some((method, job)) = &self.stages.binding else { return false };
        let method = *method;
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            if method != wanted {
                self.stages.binding = None;
            }
            return false;
        }
        self.stages.binding = None;
        match outcome {
            Outcome::Done(actor) => self.take_bound(method, actor),
            Outcome::Lost => self.refuse(method, "binding stopped unexpectedly"),
            Outcome::Running => {}
        }
        true
    }

    fn start_binding(&mut self, subject: &Arc<Subject>, method: Method) {
        let (subject, params) = (subject.clone(), self.document.params);
        let title = format!("Binding {}", method.label().to_lowercase());
        let work = move |progress: &Progress| Actor::bind(&subject, method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.binding = Some((method, job)),
            Err(error) => self.refuse(method, &format!("no thread could be started: {error}")),
        }
    }

    /// Tells the user what went wrong on the simulation's thread.
    pub(super) fn watch_worker(&mut self) {
        let Some(worker) = self.stages.worker() else { return };
        let (fault, dead) = (worker.take_fault(), worker.is_dead());
        if let Some(fault) = fault {
            self.tell(Level::Warning, fault);
        }
        if let (true, Some(method)) = (dead, self.stages.shown) {
            self.stages.forget(method);
            self.refuse(method, "its simulation stopped unexpectedly");
        }
    }
}
