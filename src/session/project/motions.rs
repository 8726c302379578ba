//! Joints of motions chosen by hand: in a project by the motion's file, then by names of joints.

use std::path::{Path, PathBuf};

use super::file::{FileRef, MotionsPart, ProjectFile};
use super::paths::Refer;
use super::{ProjectError, SourceError};
use crate::character::{Character, MotionChoices, RetargetedClip, Severity};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::rig::retarget::RetargetError;
use crate::session::{Document, Source};

/// The choices of a document, whose joints are those of `skeleton`.
pub(super) fn part_of(
    document: &Document,
    skeleton: &Skeleton,
    refer: Refer<'_>,
) -> Result<MotionsPart, ProjectError> {
    let chosen = document.motions.iter().filter(|(_, c)| !c.is_empty());
    chosen
        .map(|(file, choices)| {
            let named = choices.iter().filter_map(|(&joint, source)| {
                let joint = skeleton.joints().get(joint)?;
                Some((joint.name.clone(), source.clone()))
            });
            Ok((refer(file)?.path, named.collect()))
        })
        .collect()
}

/// The choices of a project, on `skeleton`; what does not fit is told in a sentence. `files`: where the project's files were found, in
/// order.
pub(super) fn restored(
    project: &ProjectFile,
    (files, folder): (&[PathBuf], Option<&Path>),
    character: &Character,
    skeleton: &Skeleton,
    notes: &mut Vec<String>,
) -> MotionChoices {
    let mut restored = MotionChoices::new();
    for (reference, joints) in &project.motions {
        let plain = |name: &str| name.replace(char::is_control, " ");
        let found = |retarget: &&RetargetedClip| {
            names(
                reference,
                &project.character.files,
                files,
                folder,
                &retarget.file,
            )
        };
        let Some(retarget) = character.retargets.iter().find(found) else {
            notes.push(format!(
                "no motion of another skeleton was read from {}, so the joints chosen for it were ignored",
                plain(reference)
            ));
            continue;
        };
        let choices = restored.entry(retarget.file.clone()).or_default();
        for (name, source) in joints {
            let known = |name: &String| retarget.motion.skeleton.find(name).is_some();
            match skeleton.find(name) {
                Some(joint) if source.as_ref().is_none_or(known) => {
                    choices.insert(joint, source.clone());
                }
                Some(_) => notes.push(format!(
                    "{} has no joint \"{}\" any more, so \"{}\" is matched automatically",
                    plain(reference),
                    plain(source.as_deref().unwrap_or_default()),
                    plain(name)
                )),
                None => notes.push(format!(
                    "the character has no \"{}\"; what was chosen for it in {} was ignored",
                    plain(name),
                    plain(reference)
                )),
            }
        }
    }
    restored
}

/// Whether a reference names the file of a motion.
fn names(
    reference: &str,
    known: &[FileRef],
    files: &[PathBuf],
    folder: Option<&Path>,
    motion: &Path,
) -> bool {
    if let Some(at) = known.iter().position(|file| file.path == reference) {
        return files.get(at).is_some_and(|file| file == motion);
    }
    // A file that another file of the character names.
    let path = folder.map_or_else(|| PathBuf::from(reference), |folder| folder.join(reference));
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole(&path) == whole(motion)
}

/// Adds the choices that a source makes for all motions.
pub(super) fn apply_source(
    source: &Source,
    character: &Character,
    skeleton: &Skeleton,
    choices: &mut MotionChoices,
) -> Result<(), SourceError> {
    let failed = |of: String| move |error| SourceError::Map { of, error };
    if !source.map.is_empty() && character.retargets.is_empty() {
        return Err(SourceError::NoMotion {
            file: source.to_string(),
        });
    }
    for (name, driver) in &source.map {
        let joint = skeleton
            .find_or_suggest(name)
            .map_err(failed(source.to_string()))?;
        for retarget in &character.retargets {
            if let Some(driver) = driver {
                let theirs = &retarget.motion.skeleton;
                let found = theirs.find_or_suggest(driver);
                found.map_err(failed(retarget.file.display().to_string()))?;
            }
            let of_file = choices.entry(retarget.file.clone()).or_default();
            of_file.insert(joint, driver.clone());
        }
    }
    Ok(())
}

/// The character with the joints chosen for its motions.
pub(in crate::session) fn chosen(
    character: &Character,
    choices: &MotionChoices,
    progress: &Progress,
) -> Result<Character, SourceError> {
    let made = character.with_motion_choices(choices, &progress.silent());
    made.map_err(|(file, error)| match error {
        RetargetError::Cancelled(cancelled) => SourceError::Cancelled(cancelled),
        error => SourceError::Motion {
            file: file.display().to_string(),
            error,
        },
    })
}

/// As [`chosen`]; choices that a motion cannot follow are told in a note, and it keeps the automatic match.
pub(in crate::session) fn chosen_or_noted(
    character: &Character,
    choices: &MotionChoices,
    progress: &Progress,
) -> Result<Character, SourceError> {
    match chosen(character, choices, progress) {
        Err(error @ SourceError::Motion { .. }) => {
            let mut noted = character.clone();
            let text = format!("{error}; the joints of the motion are matched automatically");
            noted.note(Severity::Warning, 1, text);
            Ok(noted)
        }
        made => made,
    }
}
