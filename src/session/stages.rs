//! The derived stages: subject and bound methods, and the jobs that make them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::history::History;
use super::jobs::{Binding, Job, Opened, Opening, Outcome, Rebuilt, STAND_IN, add_and_bind, open_and_bind, rebuild_and_bind};
use super::project::Restored;
use super::resting::Resting;
use super::views::Channel;
use super::{
    Answer, Document, JobView, Level, Mode, OpenError, ProjectError, Session, SimWorker, Source, UpAxis, ViewCommand, ViewId, Wants,
    up_axis,
};
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::progress::Progress;
use crate::skin::{Actor, BindError, Method, Subject};

/// Vertices of a character that a direct method is bound to within a frame.
const MOST_AT_ONCE: usize = 40_000;

/// A method that follows the pose of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) channel: Channel,
    pub(super) method: Method,
}

/// A method bound to the subject of the document, kept when another one is shown: a sleeping worker costs only memory.
pub(super) struct Bound {
    need: Need,
    worker: SimWorker,
    /// Whether a view shows it: it is told every pose.
    live: bool,
}

/// The bound methods and the jobs under way.
#[derive(Default)]
pub(super) struct Stages {
    /// What `bound` belongs to.
    subject: Option<Arc<Subject>>,
    bound: Vec<Bound>,
    /// What was bound to the subjects shown before.
    resting: Resting,
    /// Which of `bound` each view shows.
    shown: Vec<(ViewId, Need)>,
    /// Methods that could not be bound to the subject: not tried again by themselves.
    refused: Vec<Method>,
    opening: Option<Job<Result<Opened, OpenError>>>,
    /// What the last opening was asked for, to ask again when the user has said where files are.
    asked: Option<(Source, BTreeMap<usize, Answer>)>,
    binding: Option<(Need, Job<Result<Actor, BindError>>)>,
    /// New flesh for the document's character, and the settings it is made for.
    rebuilding: Option<(FleshSettings, Job<Result<Rebuilt, BindError>>)>,
    /// Settings whose flesh the user gave up, or that could not be made: not tried again by itself.
    refused_flesh: Option<FleshSettings>,
    /// What snapshots hold beyond what every view needs.
    wants: Wants,
    /// Numbers all states of all workers.
    sequences: Arc<AtomicU64>,
}

impl Stages {
    pub(super) fn bound_worker(&self, need: Need) -> Option<&SimWorker> {
        self.bound.iter().find(|bound| bound.need == need).map(|bound| &bound.worker)
    }

    pub(super) fn worker_of(&self, view: ViewId) -> Option<&SimWorker> {
        self.shown.iter().find(|(id, _)| *id == view).and_then(|(_, need)| self.bound_worker(*need))
    }

    pub(super) fn shown_method(&self, view: ViewId) -> Option<Method> {
        self.shown.iter().find(|(id, _)| *id == view).map(|(_, need)| need.method)
    }

    /// Numbers all states.
    pub(super) fn sequences(&self) -> Arc<AtomicU64> {
        self.sequences.clone()
    }

    /// The workers that some view shows, with the channel that each follows.
    pub(super) fn live_workers(&self) -> impl Iterator<Item = (Channel, &SimWorker)> {
        self.bound.iter().filter(|bound| bound.live).map(|bound| (bound.need.channel, &bound.worker))
    }

    /// How much of `dt_secs` the clock may let pass: the slowest simulation says.
    pub(super) fn accept(&self, dt_secs: f64) -> f64 {
        self.live_workers().fold(dt_secs, |dt, (_, worker)| worker.accept(dt))
    }

    /// Lets go of what followed other channels.
    pub(super) fn keep_channels(&mut self, channels: &[Channel]) {
        self.bound.retain(|bound| channels.contains(&bound.need.channel));
        self.shown.retain(|(_, need)| channels.contains(&need.channel));
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = &SimWorker> {
        self.bound.iter().map(|b| &b.worker)
    }

    pub(super) fn set_wants(&mut self, wants: Wants) {
        if wants != self.wants {
            self.wants = wants;
            self.workers().for_each(|worker| worker.set_wants(wants));
        }
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
        if let Some((need, _)) = self.binding.take() {
            self.refused.push(need.method);
        }
        if let Some((flesh, _)) = self.rebuilding.take() {
            self.refused_flesh = Some(flesh);
        }
    }

    /// What was refused may be tried again.
    pub(super) fn forgive(&mut self) {
        self.refused.clear();
        self.refused_flesh = None;
    }

    fn is_of(&self, subject: &Arc<Subject>) -> bool {
        self.subject.as_ref().is_some_and(|mine| Arc::ptr_eq(mine, subject))
    }

    fn forget(&mut self, need: Need) {
        self.bound.retain(|bound| bound.need != need);
        self.shown.retain(|(_, shown)| *shown != need);
    }

    /// What a view shows from now on. Returns whether that is something else than before.
    fn show(&mut self, view: ViewId, need: Need) -> bool {
        if let Some((_, shown)) = self.shown.iter_mut().find(|(id, _)| *id == view) {
            std::mem::replace(shown, need) != need
        } else {
            self.shown.push((view, need));
            true
        }
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
        let (method, params) = (self.views.active().method, self.document.params);
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
        let (method, params) = (self.views.active().method, self.document.params);
        let title = format!("Adding {}", Source { files: files.clone(), ..Source::default() }.title());
        let only_motions = files.iter().all(|file| file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bvh")));
        let opening = Opening { source: source.clone(), cache: self.cache.clone(), answers: BTreeMap::new() };
        let work = move |progress: &Progress| {
            if only_motions {
                return add_and_bind(&subject, source, &files, method, &params, progress);
            }
            // What else belongs to a character can only be understood together with all the rest of it.
            open_and_bind(opening, method, &params, progress).map(|opened| Opened { continues: true, ..opened })
        };
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
        changed |= self.take_exported();
        changed |= self.follow_still();
        changed |= self.follow_symmetry();
        self.follow_document() || changed
    }

    /// A character has been read: it becomes the document's, as one undo step.
    fn take_over(&mut self, opened: Opened) {
        let before = self.document.clone();
        let first = before.subject.is_none();
        if let (Some(clip), false) = (opened.added, first) {
            return self.take_added(before, opened, clip);
        }
        let Opened { source, subject, binding, files_read, project, continues, .. } = opened;
        let up = before.subject.as_deref().map_or_else(UpAxis::y, up_axis);
        let (pose, flesh) = (subject.character.skeleton.rest_pose(), (*subject.settings).clone());
        let free_poses = before.free_poses.keys().map(|&view| (view, pose.clone())).collect();
        // Clips, poses, limits and pins of the user are of the skeleton before.
        let fresh = Document { work: before.work, params: before.params, ..Document::default() };
        self.timeline.start_over();
        let files_read = files_read.into();
        self.document = Document { source, subject: Some(subject.clone()), pose, free_poses, flesh, files_read, ..fresh };
        let same_joints = || before.skeleton().is_some_and(|skeleton| skeleton.joints() == subject.character.skeleton.joints());
        if let Some(project) = &project {
            self.take_restored(project.restored.clone());
        } else if continues && same_joints() {
            let Document { source, subject, files_read, .. } = self.document.clone();
            self.document = Document { source, subject, files_read, ..before.clone() };
        } else {
            // Gravity goes on pulling down, wherever that is in the new file.
            self.document.params.gravity_m_s2 = up_axis(&subject).gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        }
        if !continues || first {
            self.enter_work(project);
        }
        self.enter_subject(&subject);
        if first {
            // There is no going back to before there was anything.
            self.history = History::default();
        } else {
            self.history.record(before, &self.document, if continues { "Add files" } else { "Open" }, super::Gesture::Once);
        }
        self.forget_old_works();
        self.take_binding(self.views.active().need(), binding);
    }

    /// What a project says takes the place of what a fresh character has.
    fn take_restored(&mut self, restored: Restored) {
        let Restored { pose, free_poses, views, active, params, flesh, rig, limits, pins, takes, pose_library } = restored;
        let said = Document { pose, free_poses, limits, pins, takes, pose_library, params, flesh, rig, ..Document::default() };
        let Document { source, subject, files_read, work, .. } = self.document.clone();
        self.document = Document { source, subject, files_read, work, ..said };
        self.apply_view(ViewCommand::SetAll(views));
        self.apply_view(ViewCommand::Activate(active));
    }

    /// The open character has got more clips: pose, bones and view stay, and the first new clip is shown. One undo step.
    fn take_added(&mut self, before: Document, opened: Opened, clip: usize) {
        let (selected, playback) = (self.selection.clone(), self.playback.clone());
        // Gravity goes on pulling down, wherever that is in the new file.
        let up = before.subject.as_deref().map_or_else(UpAxis::y, up_axis);
        let gravity_m_s2 = up_axis(&opened.subject).gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        let params = Params { gravity_m_s2, ..before.params };
        let files_read = before.files_read.iter().cloned().chain(opened.files_read).collect();
        let clips = self.clips().names();
        self.document = Document { params, source: opened.source, subject: Some(opened.subject.clone()), files_read, ..before.clone() };
        self.enter_subject(&opened.subject);
        (self.selection, self.playback) = (selected, playback);
        self.follow_clips(&clips);
        self.refresh_shown();
        self.history.record(before, &self.document, "Add motion", super::Gesture::Once);
        self.take_binding(self.views.active().need(), opened.binding);
        self.playback.playing = true;
        self.select_clip(Some(clip));
        self.refresh_shown();
    }

    /// View state that only makes sense for one character starts over, and so do the methods bound to a subject.
    pub(super) fn enter_subject(&mut self, subject: &Arc<Subject>) {
        self.exchange_bound(subject);
        self.stages.refused.clear();
        self.stages.binding = None;
        (self.stages.rebuilding, self.stages.refused_flesh) = (None, None);
        let before = self.stages.subject.replace(subject.clone());
        if let Some(before) = before.filter(|before| before.same_character(subject)) {
            self.enter_rig(&before, subject);
            self.refresh_pose_tools();
            self.refresh_shown();
            return;
        }
        self.forget_rig();
        self.refresh_pose_tools();
        self.selection.set(None);
        self.playback = self.playback.for_another();
        for (playback, _) in self.parked.values_mut() {
            *playback = playback.for_another();
        }
        self.refresh_shown();
        for channel in self.parked_channels() {
            self.in_channel(channel, Self::refresh_shown);
        }
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
        let channels: Vec<Channel> = self.views.channels().collect();
        let Document { params, flesh, .. } = &self.document;
        self.stages.bound = self.stages.resting.take(subject);
        self.stages.bound.retain(|bound| channels.contains(&bound.need.channel) && !bound.worker.is_dead());
        for Bound { worker, .. } in &self.stages.bound {
            worker.set_params(*params);
            worker.set_bones(flesh.bones.clone());
            worker.set_wants(self.stages.wants);
        }
    }

    /// A job has made what is shown from now on.
    pub(super) fn take_binding(&mut self, need: Need, binding: Binding) {
        if let Some(actor) = binding.stand_in {
            self.take_actor(Need { method: actor.method(), ..need }, actor);
        }
        self.take_bound(need, binding.wanted);
    }

    /// A binding is done: it is shown from now on.
    pub(super) fn take_bound(&mut self, need: Need, actor: Result<Actor, BindError>) {
        match actor {
            Ok(actor) => self.take_actor(need, actor),
            Err(BindError::Cancelled(_)) => {}
            // A bare mesh, or half a skeleton: the window says how to go on.
            Err(BindError::Tissue(_)) if self.mode() == Mode::Edit || self.rig().is_none_or(|rig| rig.is_empty()) => {
                self.stages.refused.push(need.method);
            }
            Err(error) => self.refuse(need.method, &error.to_string()),
        }
    }

    fn refuse(&mut self, method: Method, why: &str) {
        self.stages.refused.push(method);
        self.tell(Level::Warning, format!("{} can't be used here: {why}.", method.label()));
    }

    fn take_actor(&mut self, need: Need, actor: Actor) {
        self.stages.forget(need);
        self.in_channel(need.channel, Self::refresh_shown);
        let world = self.joints_in(need.channel).to_vec();
        match SimWorker::start(actor, world.clone(), self.stages.sequences.clone(), self.waker.clone()) {
            Ok(worker) => {
                // Both may have changed since the binding began.
                worker.set_params(self.document.params);
                if self.document.subject.as_ref().is_some_and(|subject| subject.settings.bones != self.document.flesh.bones) {
                    worker.set_bones(self.document.flesh.bones.clone());
                }
                worker.settle(&world);
                worker.set_wants(self.stages.wants);
                self.stages.bound.push(Bound { need, worker, live: true });
            }
            Err(error) => {
                self.stages.refused.push(need.method);
                self.tell(Level::Error, format!("No thread could be started for the simulation: {error}."));
            }
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
        if self.follow_rig(&subject) || (!self.rig_is_pending() && self.follow_settings(&subject)) {
            return true;
        }
        let needs = self.views.needs();
        changed |= self.take_finished_binding(&needs);
        changed |= self.stand_in(&subject);
        let missing = needs.iter().find(|need| self.stages.bound_worker(**need).is_none() && !self.stages.refused.contains(&need.method));
        if let (Some(&missing), None) = (missing, &self.stages.binding) {
            self.start_binding(&subject, missing);
        }
        self.show_what_is_bound() || changed
    }

    /// Never nothing: what is bound in a moment is shown until the wanted method is. Of a big character even that takes too long to
    /// wait for; it is bound in the background.
    fn stand_in(&mut self, subject: &Arc<Subject>) -> bool {
        let wanted = self.views.active().need();
        let method = if wanted.method.is_simulated() { STAND_IN } else { wanted.method };
        if !self.stages.bound.is_empty() || self.stages.refused.contains(&method) {
            return false;
        }
        let need = Need { method, ..wanted };
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
            let present = self.stages.shown.iter().find(|(id, _)| *id == view.id).map(|(_, need)| *need);
            let kept = present.filter(|present| present.channel == need.channel && is_bound(present));
            let near = || self.stages.bound.iter().map(|bound| bound.need).max_by_key(|other| other.channel == need.channel);
            let shown = if is_bound(&need) { Some(need) } else { kept.or_else(near) };
            changed |= shown.is_some_and(|shown| self.stages.show(view.id, shown));
        }
        self.stages.shown.retain(|(id, _)| views.iter().any(|view| view.id == *id));
        let compared: Vec<Need> = views.iter().copied().filter_map(super::View::compared_need).collect();
        for index in 0..self.stages.bound.len() {
            let need = self.stages.bound[index].need;
            let live = self.stages.shown.iter().any(|(_, shown)| *shown == need) || compared.contains(&need);
            let joints = self.joints_in(need.channel);
            if live && !self.stages.bound[index].live {
                self.stages.bound[index].worker.settle(joints);
            }
            self.stages.bound[index].live = live;
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
        let (method, params) = (self.views.active().method, self.document.params);
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
        let active = self.views.active().need();
        let method = rebuilt.binding.wanted.as_ref().map_or(active.method, Actor::method);
        self.document.subject = Some(rebuilt.subject.clone());
        self.enter_subject(&rebuilt.subject);
        self.take_binding(Need { method, ..active }, rebuilt.binding);
    }

    fn take_finished_binding(&mut self, needs: &[Need]) -> bool {
        let Some((need, job)) = &self.stages.binding else { return false };
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
            Outcome::Done(actor) if self.views.channels().any(|channel| channel == need.channel) => self.take_bound(need, actor),
            Outcome::Done(_) | Outcome::Running => {}
            Outcome::Lost => self.refuse(need.method, "binding stopped unexpectedly"),
        }
        true
    }

    fn start_binding(&mut self, subject: &Arc<Subject>, need: Need) {
        let (subject, params) = (subject.clone(), self.document.params);
        let title = format!("Binding {}", need.method.label().to_lowercase());
        let work = move |progress: &Progress| Actor::bind(&subject, need.method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.binding = Some((need, job)),
            Err(error) => self.refuse(need.method, &format!("no thread could be started: {error}")),
        }
    }

    /// Tells the user what went wrong on the simulations' threads.
    pub(super) fn watch_workers(&mut self) {
        let faults: Vec<String> = self.stages.workers().filter_map(SimWorker::take_fault).collect();
        for fault in faults {
            self.tell(Level::Warning, fault);
        }
        let dead: Vec<Need> = self.stages.bound.iter().filter(|bound| bound.worker.is_dead()).map(|bound| bound.need).collect();
        for need in dead {
            self.stages.forget(need);
            self.refuse(need.method, "its simulation stopped unexpectedly");
        }
    }
}
