//! The work of the jobs: reading a character, rebuilding its flesh, and binding methods to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cache::Cache;
use crate::character::{Character, FleshSettings, MotionChoices};
use crate::dynamics::Params;
use crate::io::{FileRead, IoError, add_motion, recorded};
use crate::methods::{Actor, BindError, MethodId, Requirement, Subject};
use crate::progress::{Cancelled, Progress};
use crate::rig::edit::Rig;
use crate::session::project::{Loaded, ReadProject, chosen, chosen_or_noted, load_all};
use crate::session::views::Need;
use crate::session::{Answer, Source, SourceError, with_takes};

/// Stand-in for a simulation that is not bound yet, or cannot be: binding it takes little time.
pub(in crate::session) const STAND_IN: MethodId = MethodId::DQS;

/// Whether the stand-in is shown until a method is bound, and where it cannot be.
pub(in crate::session) fn has_stand_in(method: MethodId) -> bool {
    method.needs(Requirement::Tissue) || method == MethodId::DISTILLED
}

/// The bound methods to show for a subject.
pub(in crate::session) struct Binding {
    /// The requested method, or why it could not be bound.
    pub(in crate::session) wanted: Result<Actor, BindError>,
    /// The stand-in if it could not be bound.
    pub(in crate::session) stand_in: Option<Actor>,
}

/// Binds the requested method, or its stand-in.
fn bind(
    subject: &Arc<Subject>,
    method: MethodId,
    params: &Params,
    progress: &Progress,
) -> Result<Binding, Cancelled> {
    let wanted = match Actor::bind(subject, method, params, progress) {
        Err(BindError::Cancelled(cancelled)) => return Err(cancelled),
        wanted => wanted,
    };
    let stands_in = wanted.is_err() && has_stand_in(method);
    let stand_in = stands_in
        .then(|| Actor::bind(subject, STAND_IN, params, progress).ok())
        .flatten();
    Ok(Binding { wanted, stand_in })
}

/// A character that is ready to be shown.
pub(in crate::session) struct Opened {
    pub(in crate::session) source: Source,
    pub(in crate::session) subject: Arc<Subject>,
    /// Its bound methods.
    pub(in crate::session) binding: Binding,
    /// The first added clip, if files were added to the open character.
    pub(in crate::session) added: Option<usize>,
    /// Whether files were added to the open character.
    pub(in crate::session) continues: bool,
    /// The files that were read.
    pub(in crate::session) files_read: Vec<FileRead>,
    /// The project's content, if it is one.
    pub(in crate::session) project: Option<ReadProject>,
}

/// Request to open files.
pub(in crate::session) struct Opening {
    pub(in crate::session) source: Source,
    pub(in crate::session) cache: Cache,
    /// The user's answers about files of a project that are missing or changed.
    pub(in crate::session) answers: BTreeMap<usize, Answer>,
}

/// A character with new flesh.
pub(in crate::session) struct Rebuilt {
    pub(in crate::session) subject: Arc<Subject>,
    /// Its bound methods.
    pub(in crate::session) binding: Binding,
}

/// Reads a character and makes the subject that all methods share.
///
/// # Errors
/// [`SourceError`].
pub fn open(source: &Source, progress: &Progress) -> Result<Arc<Subject>, SourceError> {
    open_with(source, &Cache::none(), progress)
}

/// As [`open`], with derived data of earlier runs read from the cache.
///
/// # Errors
/// [`SourceError`].
pub fn open_with(
    source: &Source,
    cache: &Cache,
    progress: &Progress,
) -> Result<Arc<Subject>, SourceError> {
    progress.report(0.0, "Reading");
    let Loaded {
        character, project, ..
    } = load_all(source, cache, &BTreeMap::new(), progress)?;
    let subject = build(source, character, project.as_ref(), cache, progress)?;
    Ok(project.map_or_else(
        || subject.clone(),
        |project| with_takes(&subject, &project.restored.takes),
    ))
}

/// The subject of a character, on the project's skeleton if it has one.
fn build(
    source: &Source,
    character: Character,
    project: Option<&ReadProject>,
    cache: &Cache,
    progress: &Progress,
) -> Result<Arc<Subject>, SourceError> {
    progress.check()?;
    let rig =
        project.and_then(|project| Some((project.restored.rig.as_ref()?, &project.restored.flesh)));
    let whole = progress;
    let progress = &whole.part(0.0, if rig.is_some() { 0.5 } else { 1.0 });
    let unusable = |error| match error {
        BindError::Cancelled(cancelled) => SourceError::Cancelled(cancelled),
        error => SourceError::Unusable {
            file: source.to_string(),
            error,
        },
    };
    let subject = Subject::build_with(Arc::new(character), cache, progress).map_err(unusable)?;
    for (name, _) in &source.parts {
        subject
            .body()
            .parts
            .check_name(name)
            .map_err(|error| SourceError::Part {
                file: source.to_string(),
                error,
            })?;
    }
    let subject = Arc::new(subject);
    let subject = match rig {
        Some((rig, flesh)) => Arc::new(
            subject
                .with_rig(rig, flesh, true, &whole.part(0.5, 1.0))
                .map_err(unusable)?,
        ),
        None => subject,
    };
    match project.map(|project| &project.restored.motions) {
        Some(choices) if !subject.character.follows_choices(choices) => {
            let character = chosen_or_noted(&subject.character, choices, whole)?;
            Ok(Arc::new(subject.with_clips(Arc::new(character))))
        }
        _ => Ok(subject),
    }
}

/// The same character with other joints chosen for its motions, bound to a method.
pub(in crate::session) fn map_and_bind(
    old: &Subject,
    choices: &MotionChoices,
    method: MethodId,
    params: &Params,
    progress: &Progress,
) -> Result<Rebuilt, SourceError> {
    let character = chosen(&old.character, choices, &progress.part(0.0, 0.5))?;
    let subject = Arc::new(old.with_clips(Arc::new(character)));
    let rest = progress.part(0.5, 1.0);
    let binding = bind(&subject, method, params, &rest).map_err(SourceError::Cancelled)?;
    Ok(Rebuilt { subject, binding })
}

/// The same character with new flesh settings, bound to a method.
pub(in crate::session) fn rebuild_and_bind(
    old: &Subject,
    settings: &FleshSettings,
    method: MethodId,
    params: &Params,
    progress: &Progress,
) -> Result<Rebuilt, BindError> {
    let subject = Arc::new(old.with_settings(settings));
    subject.make_flesh(&progress.part(0.0, 0.7))?;
    let binding = bind(&subject, method, params, &progress.part(0.7, 1.0))?;
    Ok(Rebuilt { subject, binding })
}

/// Whether a character on another rig gets its flesh at once. In a drag it does not if quick weights are shown by a method without flesh.
pub(in crate::session) fn makes_flesh(shown: Need, anew: bool) -> bool {
    anew || !shown.weights.is_quick() || shown.method.needs(Requirement::Tissue)
}

/// The same character on another rig, bound to the method and the weights that are shown. `anew`: it is no passing state of a drag.
///
/// Weights that are quick to compute are bound at once, so that they follow a drag; other ones are bound after the file's.
pub(in crate::session) fn rerig_and_bind(
    old: &Arc<Subject>,
    rig: &Arc<Rig>,
    settings: &FleshSettings,
    anew: bool,
    shown: Need,
    params: &Params,
    progress: &Progress,
) -> Result<Rebuilt, BindError> {
    let subject = Arc::new(old.with_rig(rig, settings, anew, &progress.part(0.0, 0.1))?);
    if makes_flesh(shown, anew) {
        subject.make_flesh(&progress.part(0.1, 0.7))?;
    }
    let weighted = if shown.weights.is_quick() {
        subject.weighted(shown.weights)
    } else {
        subject.clone()
    };
    let binding = bind(&weighted, shown.method, params, &progress.part(0.7, 1.0))?;
    Ok(Rebuilt { subject, binding })
}

/// All steps from file names to a bound character. A project has its own method and parameters.
pub(in crate::session) fn open_and_bind(
    opening: Opening,
    method: MethodId,
    params: &Params,
    progress: &Progress,
) -> Result<Opened, SourceError> {
    let Opening {
        source: named,
        cache,
        answers,
    } = opening;
    progress.report(0.0, "Reading");
    let Loaded {
        character,
        source,
        files_read,
        project,
    } = load_all(&named, &cache, &answers, progress)?;
    let subject = build(&named, character, project.as_ref(), &cache, progress)?;
    let (method, params) = project.as_ref().map_or((method, *params), |project| {
        (project.restored.method(), project.restored.params)
    });
    let binding = bind(&subject, method, &params, progress).map_err(SourceError::Cancelled)?;
    Ok(Opened {
        source,
        subject,
        binding,
        added: None,
        continues: false,
        files_read,
        project,
    })
}

/// The open character with more clips, bound again; its flesh is shared. `source` includes the new files.
pub(in crate::session) fn add_and_bind(
    old: &Subject,
    source: Source,
    files: &[PathBuf],
    method: MethodId,
    params: &Params,
    progress: &Progress,
) -> Result<Opened, SourceError> {
    let failed = |error| match error {
        IoError::Cancelled(cancelled) => SourceError::Cancelled(cancelled),
        error => SourceError::Load(error),
    };
    let mut character = (*old.character).clone();
    let added = Some(character.clips.len());
    if character.skeleton.is_empty() {
        // The motion defines the skeleton, so all stages are new.
        let opening = Opening {
            source,
            cache: old.cache().clone(),
            answers: BTreeMap::new(),
        };
        return open_and_bind(opening, method, params, progress);
    }
    let add = || {
        files
            .iter()
            .try_for_each(|file| add_motion(&mut character, file, None, progress))
    };
    let (result, files_read) = recorded(add);
    result.map_err(failed)?;
    let subject = Arc::new(old.with_clips(Arc::new(character)));
    let binding = bind(&subject, method, params, progress).map_err(SourceError::Cancelled)?;
    Ok(Opened {
        source,
        subject,
        binding,
        added,
        continues: true,
        files_read,
        project: None,
    })
}
