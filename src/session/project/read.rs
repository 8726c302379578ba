//! Reads one character with all settings of a project from paths, of which one may be a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::file::{FileRef, ProjectFile, ReachPart, RecoveryPart};
use super::restore::{Restored, restored};
use super::text::from_text;
use super::{
    Answer, MissingSources, ProjectError, SourceError, distilled, draft, files, motions, pack,
    painting, paths, transfers,
};
use crate::cache::Cache;
use crate::character::{Character, FleshSettings, MotionChoices, UNIT_RANGE};
use crate::dynamics::Params;
use crate::files::inside;
use crate::io::{FileRead, Reach, read_file, recorded, text_of, with_reach};
use crate::methods::{MethodId, MethodValues, Subject};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::session::distill::KeptFit;
use crate::session::{Source, WindowState, clips};
use crate::weights::WeightMethod;

/// Size limit of the serialized window, bytes.
const LARGEST_WINDOW: usize = 1 << 20;

/// Whether a file is a project, by its name.
#[must_use]
pub fn is_project(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("sinew"))
}

/// A character and its source.
pub(in crate::session) struct Loaded {
    pub character: Character,
    /// The files, with a project replaced by the files it refers to.
    pub source: Source,
    pub files_read: Vec<FileRead>,
    pub project: Option<ReadProject>,
}

/// Content of a project other than its file references.
pub(in crate::session) struct ReadProject {
    pub path: PathBuf,
    pub packed: bool,
    pub restored: Restored,
    pub window: Option<WindowState>,
    /// The distilled rig.
    pub distilled: Option<KeptFit>,
    /// Set if this was unsaved work.
    pub recovered: Option<Unsaved>,
    /// Sentences about differences since it was saved.
    pub notes: Vec<String>,
}

/// How a project shows its character: defaults of the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectState {
    /// The active view's pose made by hand.
    pub pose: Pose,
    /// Physics.
    pub params: Params,
    /// The methods' own parameters.
    pub method_values: MethodValues,
    /// The method of the active view.
    pub method: MethodId,
    /// The method of the comparison.
    pub compare: Option<MethodId>,
    /// The weights of methods that use them.
    pub weights: WeightMethod,
    /// Number of instances of the character.
    pub crowd: usize,
    /// The character's files, where they were found.
    pub files: Vec<PathBuf>,
    /// The window, if it was saved.
    pub window: Option<WindowState>,
}

/// Names the body on which the takes' planted feet stand: the character on the project's rig.
fn stand(restored: &mut Restored, base: &Character) {
    let rigged = restored.rig.as_ref().map(|rig| base.with_rig(rig));
    match rigged {
        Some(Ok(character)) => clips::stand(&mut restored.takes, &character),
        Some(Err(_)) => {}
        None => clips::stand(&mut restored.takes, base),
    }
}

/// Reads how a project shows the character that was opened from it.
///
/// # Errors
/// [`ProjectError`].
pub fn project_state(
    path: &Path,
    subject: &Subject,
    cache: &Cache,
) -> Result<ProjectState, ProjectError> {
    let Content { file, folder, .. } = read_content(path, cache, &Progress::new())?;
    let found = paths::resolve(&file.character.files, folder.as_deref(), &BTreeMap::new());
    let base = subject
        .base
        .as_ref()
        .map_or(&subject.character, |base| &base.character);
    let (mut restored, mut notes) = restored(&file, &base.skeleton);
    super::morphs::restore(&file, base, &mut restored, &mut notes);
    stand(&mut restored, base);
    let (method, compare, crowd) = (restored.method(), restored.compared(), restored.crowd());
    let weights = restored.weights();
    let (params, method_values) = restored.settings();
    let pose = restored
        .free_poses
        .remove(&restored.active)
        .unwrap_or(restored.pose);
    Ok(ProjectState {
        pose,
        params,
        method_values,
        method,
        compare,
        weights,
        crowd,
        files: found.map_or_else(|_| Vec::new(), |(files, _)| files),
        window: window_of(&file),
    })
}

/// The window, if it is readable and not too large.
fn window_of(file: &ProjectFile) -> Option<WindowState> {
    let window = file
        .window
        .as_ref()
        .filter(|window| window.get().len() <= LARGEST_WINDOW)?;
    serde_json::from_str(window.get()).ok()
}

/// Owner of unsaved work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::session) struct Unsaved {
    pub project: Option<PathBuf>,
    pub packed: bool,
    pub title: String,
    pub unix_secs: u64,
    pub reach: Reach,
}

impl From<&RecoveryPart> for Unsaved {
    fn from(part: &RecoveryPart) -> Self {
        let RecoveryPart {
            project,
            packed,
            title,
            unix_secs,
            reach,
        } = part.clone();
        Self {
            project: project.map(PathBuf::from),
            packed,
            title,
            unix_secs,
            reach: ReachPart::to_reach(reach.as_ref()),
        }
    }
}

/// A project's content, and the folder that its paths are relative to.
struct Content {
    file: ProjectFile,
    packed: bool,
    folder: Option<PathBuf>,
    /// Where the files of a packed project are: names in them lead into all of it.
    unpacked: Option<PathBuf>,
    notes: Vec<String>,
}

/// Reads the text of an unpacked project.
pub(super) fn read_text(
    name: &str,
    bytes: &[u8],
) -> Result<(ProjectFile, Vec<String>), ProjectError> {
    from_text(&text_of(bytes)).map_err(|error| ProjectError::Content {
        file: name.to_owned(),
        reason: error.to_string(),
    })
}

fn read_content(path: &Path, cache: &Cache, progress: &Progress) -> Result<Content, ProjectError> {
    let name = path.display().to_string().replace(char::is_control, " ");
    let (bytes, _) = recorded(|| read_file(path));
    let bytes = bytes.map_err(|source| ProjectError::Read {
        file: name.clone(),
        source,
    })?;
    let packed = pack::is_packed(&bytes);
    let (unpacked, folder) = if packed {
        progress.report(0.0, "Unpacking");
        let folder =
            pack::unpack(&bytes, cache, progress).map_err(|reason| ProjectError::Content {
                file: name.clone(),
                reason,
            })?;
        let path = folder.join(pack::CONTENT);
        let (bytes, _) = recorded(|| read_file(&path));
        (
            bytes.map_err(|source| ProjectError::Read {
                file: format!("{name}, {}", pack::CONTENT),
                source,
            })?,
            Some(folder),
        )
    } else {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        (bytes, absolute.parent().map(Path::to_owned))
    };
    let (mut file, unknown) = read_text(&name, &unpacked)?;
    if let Some(folder) = folder.as_deref().filter(|_| packed) {
        confine(&mut file, folder).map_err(|reason| ProjectError::Content {
            file: name.clone(),
            reason,
        })?;
    }
    let unpacked = match &folder {
        Some(folder) if packed => Some(folder.clone()),
        _ => draft::unpack_again(&mut file, cache, progress),
    };
    let mut notes = transfers::load(&mut file, folder.as_deref(), progress);
    if !unknown.is_empty() {
        notes.push(format!(
            "{name}: this version of Sinew does not know {}; ignored.",
            unknown.join(", ")
        ));
    }
    Ok(Content {
        file,
        packed,
        folder,
        unpacked,
        notes,
    })
}

/// Lets a packed project refer to files in it only: it may come from anybody.
fn confine(file: &mut ProjectFile, folder: &Path) -> Result<(), String> {
    let part = &mut file.character;
    let references = part.files.iter_mut().chain(&mut part.also_read);
    let mut names = Vec::new();
    for reference in references.chain(&mut part.mapping) {
        (reference.absolute, reference.path_bytes) = (None, None);
        names.push(reference.path.clone());
    }
    let weights = file.views.iter().filter_map(|view| view.weights.as_deref());
    let transfers = weights.filter_map(WeightMethod::transfer_file);
    names.extend(transfers.map(str::to_owned));
    for name in names
        .iter()
        .filter(|name| !paths::is_builtin(Path::new(name)))
    {
        inside(folder, folder, name)
            .map_err(|problem| format!("refers to the file \"{name}\", which {problem}"))?;
    }
    Ok(())
}

/// Removes the project from the files of a source and returns it.
fn project_in(source: &Source) -> Result<Option<PathBuf>, ProjectError> {
    let mut projects = source.files.iter().filter(|path| is_project(path));
    match (projects.next(), projects.next()) {
        (Some(first), Some(second)) => Err(ProjectError::Twice {
            first: first.display().to_string(),
            second: second.display().to_string(),
        }),
        (first, _) => Ok(first.cloned()),
    }
}

/// Reads a character from its files, or from a project and perhaps additional files. `answers`: what to do about files that
/// are missing or changed. Packed projects are unpacked beside the cache.
pub(in crate::session) fn load_all(
    source: &Source,
    cache: &Cache,
    answers: &BTreeMap<usize, Answer>,
    progress: &Progress,
) -> Result<Loaded, SourceError> {
    let Some(path) = project_in(source)? else {
        let load = || files::load_files(source, progress);
        let (character, files_read) = recorded(|| with_reach(source.reach.clone(), load));
        let mut character = character?;
        files::apply_flesh_settings(source, &character.skeleton, &mut character.flesh)?;
        let mut choices = MotionChoices::new();
        motions::apply_source(source, &character, &character.skeleton, &mut choices)?;
        let character = motions::chosen(&character, &choices, progress)?;
        return Ok(Loaded {
            character,
            source: source.clone(),
            files_read,
            project: None,
        });
    };
    progress.report(0.0, "Reading");
    let Content {
        file,
        packed,
        folder,
        unpacked,
        mut notes,
    } = read_content(&path, cache, progress)?;
    progress.check()?;
    let (whole, moved) = source_of(source, &file, &path, folder.as_deref(), answers)?;
    notes.extend(moved);
    // The files of a packed project were put there together.
    let reach = unpacked.map_or(source.reach.clone(), Reach::Within);
    let load = || files::load_files(&whole, progress);
    let (character, files_read) = recorded(|| with_reach(reach.clone(), load));
    let mut character = character?;
    notes.extend(changed_beside(
        &file.character.also_read,
        folder.as_deref(),
        &files_read,
    ));
    let (mut restored, mut unfitting) = restored(&file, &character.skeleton);
    super::morphs::restore(&file, &character, &mut restored, &mut unfitting);
    stand(&mut restored, &character);
    // Settings in the source override those of the project; they refer to the project's skeleton.
    let edited = restored
        .rig
        .as_ref()
        .and_then(|rig| rig.to_skeleton(&character.skeleton).ok());
    let skeleton = edited.as_ref().unwrap_or(&character.skeleton);
    let places = (whole.files.as_slice(), folder.as_deref());
    restored.motions = motions::restored(&file, places, &character, skeleton, &mut unfitting);
    motions::apply_source(source, &character, skeleton, &mut restored.motions)?;
    restored.flesh.paint = painting::restored(&file.flesh.paint, &character, &mut unfitting);
    notes.extend(
        unfitting
            .into_iter()
            .map(|note| format!("{}: {note}.", path.display())),
    );
    files::apply_flesh_settings(source, skeleton, &mut restored.flesh)?;
    // Settings for an edited skeleton do not apply to the skeleton in the files.
    character.flesh = if restored.rig.is_some() {
        FleshSettings::default()
    } else {
        restored.flesh.clone()
    };
    let distilled = file.distilled.as_deref().map(distilled::rig_of);
    let distilled = distilled.and_then(|rig| {
        let note = |why| notes.push(format!("{}: {why}.", path.display()));
        rig.map_err(note).ok()
    });
    let project = ReadProject {
        path,
        packed,
        restored,
        window: window_of(&file),
        distilled,
        recovered: file.recovery.as_ref().map(Unsaved::from),
        notes,
    };
    // All settings of the flesh are in the document from here on.
    let source = Source {
        files: whole.files,
        metres_per_unit: whole.metres_per_unit,
        mapping: whole.mapping,
        reach,
        ..Source::default()
    };
    Ok(Loaded {
        character,
        source,
        files_read,
        project: Some(project),
    })
}

/// Replaces the project by its files.
fn source_of(
    source: &Source,
    file: &ProjectFile,
    path: &Path,
    folder: Option<&Path>,
    answers: &BTreeMap<usize, Answer>,
) -> Result<(Source, Vec<String>), ProjectError> {
    let part = &file.character;
    let references: Vec<FileRef> = part.files.iter().chain(&part.mapping).cloned().collect();
    let found = paths::resolve(&references, folder, answers);
    let (mut files, notes) = found.map_err(|list| {
        ProjectError::Sources(MissingSources {
            project: path.to_owned(),
            list,
        })
    })?;
    let mapping = part.mapping.as_ref().and_then(|_| files.pop());
    files.extend(
        source
            .files
            .iter()
            .filter(|path| !is_project(path))
            .cloned(),
    );
    let metres_per_unit = source.metres_per_unit.or(part
        .metres_per_unit
        .filter(|unit| UNIT_RANGE.contains(unit)));
    Ok((
        Source {
            files,
            mapping: source.mapping.clone().or(mapping),
            metres_per_unit,
            ..source.clone()
        },
        notes,
    ))
}

/// Sentences about changed buffers and textures: the files that refer to them count as changed too.
fn changed_beside(references: &[FileRef], folder: Option<&Path>, read: &[FileRead]) -> Vec<String> {
    let changed = |reference: &&FileRef| {
        let place = folder.map_or_else(
            || PathBuf::from(&reference.path),
            |folder| folder.join(&reference.path),
        );
        let now = read.iter().find(|file| {
            file.path == place
                || reference
                    .absolute
                    .as_deref()
                    .is_some_and(|old| file.path == Path::new(old))
        });
        now.is_some_and(|now| {
            reference
                .blake3
                .as_deref()
                .is_some_and(|hash| hash != now.hash.to_hex().as_str())
        })
    };
    let sentence = |reference: &FileRef| {
        format!(
            "{} has changed since the project was saved.",
            reference.path
        )
    };
    references.iter().filter(changed).map(sentence).collect()
}
