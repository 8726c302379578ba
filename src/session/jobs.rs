//! Long work in the background: one thread a job, progress and cancel, the latest wins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::project::{Loaded, ReadProject, load_all};
use super::{Answer, OpenError, Source, Waker, with_takes};
use crate::cache::Cache;
use crate::character::{Character, FleshSettings};
use crate::dynamics::Params;
use crate::io::{FileRead, IoError, add_motion, recorded};
use crate::progress::{Cancelled, Progress};
use crate::rig::edit::Rig;
use crate::skin::{Actor, BindError, Method, Subject};

/// Stands in for a simulation that is not bound yet, or can't be: it is bound in a moment.
pub(super) const STAND_IN: Method = Method::Dqs;

/// A job as the user sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// What it is for: "Opening fox.glb".
    pub title: String,
    /// What it does now.
    pub stage: String,
    /// How much is done, 0..=1.
    pub fraction: f32,
}

/// A thread that will deliver one result. Dropping it cancels the work.
pub(super) struct Job<T> {
    title: String,
    progress: Progress,
    receiver: Receiver<T>,
}

/// What has come of a job.
pub(super) enum Outcome<T> {
    Running,
    Done(T),
    /// The thread ended without a result.
    Lost,
}

impl<T: Send + 'static> Job<T> {
    /// Starts the work on a thread of its own.
    pub(super) fn start(title: String, waker: Option<Waker>, work: impl FnOnce(&Progress) -> T + Send + 'static) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let progress = Progress::new();
        let shared = progress.clone();
        std::thread::Builder::new().name("job".into()).spawn(move || {
            // Nobody waits any more if sending fails.
            let _ = sender.send(work(&shared));
            drop(sender);
            if let Some(waker) = waker {
                waker();
            }
        })?;
        Ok(Self { title, progress, receiver })
    }

    pub(super) fn poll(&self) -> Outcome<T> {
        match self.receiver.try_recv() {
            Ok(result) => Outcome::Done(result),
            Err(TryRecvError::Empty) => Outcome::Running,
            Err(TryRecvError::Disconnected) => Outcome::Lost,
        }
    }

    /// Asks the work to stop; it says itself when it has.
    pub(super) fn cancel(&self) {
        self.progress.cancel();
    }

    pub(super) fn view(&self) -> JobView {
        JobView { title: self.title.clone(), stage: self.progress.stage(), fraction: self.progress.fraction() }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

/// What there is to show of a subject.
pub(super) struct Binding {
    /// Bound to the method asked for, or why that was impossible.
    pub(super) wanted: Result<Actor, BindError>,
    /// What is shown where that was impossible.
    pub(super) stand_in: Option<Actor>,
}

/// Binds the method asked for, or what stands in for it.
fn bind(subject: &Arc<Subject>, method: Method, params: &Params, progress: &Progress) -> Result<Binding, Cancelled> {
    let wanted = match Actor::bind(subject, method, params, progress) {
        Err(BindError::Cancelled(cancelled)) => return Err(cancelled),
        wanted => wanted,
    };
    let stands_in = wanted.is_err() && method.is_simulated();
    let stand_in = stands_in.then(|| Actor::bind(subject, STAND_IN, params, progress).ok()).flatten();
    Ok(Binding { wanted, stand_in })
}

/// A character that is ready to be shown.
pub(super) struct Opened {
    pub(super) source: Source,
    pub(super) subject: Arc<Subject>,
    /// What is shown of it.
    pub(super) binding: Binding,
    /// The first clip that was added, if the character is the one that was open before.
    pub(super) added: Option<usize>,
    /// It is the character that was open before, with more files.
    pub(super) continues: bool,
    /// The files that were read for it, or for what was added.
    pub(super) files_read: Vec<FileRead>,
    /// What the project says, if it is one.
    pub(super) project: Option<ReadProject>,
}

/// What to open.
pub(super) struct Opening {
    pub(super) source: Source,
    pub(super) cache: Cache,
    /// What to do about files of a project that are not what they were.
    pub(super) answers: BTreeMap<usize, Answer>,
}

/// A character with new flesh.
pub(super) struct Rebuilt {
    pub(super) subject: Arc<Subject>,
    /// What is shown of it.
    pub(super) binding: Binding,
}

/// Reads a character and derives what all methods share.
///
/// # Errors
/// [`OpenError`].
pub fn open(source: &Source, progress: &Progress) -> Result<Arc<Subject>, OpenError> {
    open_with(source, &Cache::none(), progress)
}

/// As [`open`], but what was derived from the same character before is read from the cache.
///
/// # Errors
/// [`OpenError`].
pub fn open_with(source: &Source, cache: &Cache, progress: &Progress) -> Result<Arc<Subject>, OpenError> {
    progress.report(0.0, "Reading");
    let Loaded { character, project, .. } = load_all(source, cache, &BTreeMap::new(), progress)?;
    let subject = build(source, character, project.as_ref(), cache, progress)?;
    Ok(project.map_or_else(|| subject.clone(), |project| with_takes(&subject, &project.restored.takes)))
}

/// The subject of a character, on the skeleton that its project has for it.
fn build(
    source: &Source,
    character: Character,
    project: Option<&ReadProject>,
    cache: &Cache,
    progress: &Progress,
) -> Result<Arc<Subject>, OpenError> {
    progress.check()?;
    let rig = project.and_then(|project| Some((project.restored.rig.as_ref()?, &project.restored.flesh)));
    let whole = progress;
    let progress = &whole.part(0.0, if rig.is_some() { 0.5 } else { 1.0 });
    let unusable = |error| match error {
        BindError::Cancelled(cancelled) => OpenError::Cancelled(cancelled),
        error => OpenError::Unusable { file: source.to_string(), error },
    };
    let subject = Subject::build_with(Arc::new(character), cache, progress).map_err(unusable)?;
    for (name, _) in &source.parts {
        subject.body.parts.check_name(name).map_err(|error| OpenError::Part { file: source.to_string(), error })?;
    }
    let subject = Arc::new(subject);
    match rig {
        Some((rig, flesh)) => Ok(Arc::new(subject.with_rig(rig, flesh, true, &whole.part(0.5, 1.0)).map_err(unusable)?)),
        None => Ok(subject),
    }
}

/// The same character with flesh by other settings, bound to a method.
pub(super) fn rebuild_and_bind(
    old: &Subject,
    settings: &FleshSettings,
    method: Method,
    params: &Params,
    progress: &Progress,
) -> Result<Rebuilt, BindError> {
    let subject = Arc::new(old.with_settings(settings, progress)?);
    let binding = bind(&subject, method, params, progress)?;
    Ok(Rebuilt { subject, binding })
}

/// The same character on another rig, bound to a method.
pub(super) fn rerig_and_bind(
    old: &Arc<Subject>,
    rig: &Arc<Rig>,
    settings: &FleshSettings,
    anew: bool,
    method: Method,
    params: &Params,
    progress: &Progress,
) -> Result<Rebuilt, BindError> {
    let subject = Arc::new(old.with_rig(rig, settings, anew, progress)?);
    let binding = bind(&subject, method, params, progress)?;
    Ok(Rebuilt { subject, binding })
}

/// Everything between a name and a living character. A project has a method and parameters of its own.
pub(super) fn open_and_bind(opening: Opening, method: Method, params: &Params, progress: &Progress) -> Result<Opened, OpenError> {
    let Opening { source: named, cache, answers } = opening;
    progress.report(0.0, "Reading");
    let Loaded { character, source, files_read, project } = load_all(&named, &cache, &answers, progress)?;
    let subject = build(&named, character, project.as_ref(), &cache, progress)?;
    let (method, params) = project.as_ref().map_or((method, *params), |project| (project.restored.method(), project.restored.params));
    let binding = bind(&subject, method, &params, progress).map_err(OpenError::Cancelled)?;
    Ok(Opened { source, subject, binding, added: None, continues: false, files_read, project })
}

/// The open character with more clips, bound again; its flesh is shared. `source` names the new files too.
pub(super) fn add_and_bind(
    old: &Subject,
    source: Source,
    files: &[PathBuf],
    method: Method,
    params: &Params,
    progress: &Progress,
) -> Result<Opened, OpenError> {
    let failed = |error| match error {
        IoError::Cancelled(cancelled) => OpenError::Cancelled(cancelled),
        error => OpenError::Load(error),
    };
    let mut character = (*old.character).clone();
    let added = Some(character.clips.len());
    if character.skeleton.is_empty() {
        // The motion brings the skeleton: everything is new.
        let opening = Opening { source, cache: old.cache().clone(), answers: BTreeMap::new() };
        return open_and_bind(opening, method, params, progress);
    }
    let add = || files.iter().try_for_each(|file| add_motion(&mut character, file, None, progress));
    let (result, files_read) = recorded(add);
    result.map_err(failed)?;
    let subject = Arc::new(old.with_clips(Arc::new(character)));
    let binding = bind(&subject, method, params, progress).map_err(OpenError::Cancelled)?;
    Ok(Opened { source, subject, binding, added, continues: true, files_read, project: None })
}
