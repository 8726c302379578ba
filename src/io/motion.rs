//! Motions in files of their own, and the mappings that put them onto characters.

use std::io::Write;
use std::path::Path;

use super::bvh::{BvhFile, read_bvh};
use super::bytes::{read_file, text_of};
use super::error::{IoError, Problem, shown};
use super::finish::static_to_unweighted;
use super::load::check_inside;
use super::write::write_atomically;
use crate::character::{Character, RetargetedClip, Severity};
use crate::progress::Progress;
use crate::rig::retarget::{Mapping, RetargetError, retarget};
use crate::rig::{Clip, Skeleton};

/// Reads a `.bvh` with its own skeleton.
///
/// # Errors
/// [`IoError::Read`], or [`IoError::Malformed`] with the line.
pub fn read_motion(path: &Path) -> Result<BvhFile, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read { file: shown(path), source })?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    read_bvh(&bytes, &name).map_err(|problem| problem.in_file(&shown(path)))
}

/// Adds the motion of a `.bvh` as a clip. A character without a skeleton gets the motion's; one with the same skeleton takes the
/// motion as it is; onto another skeleton it is put by `mapping`, or by what names and shape say.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Malformed`] also if the skeletons can't be matched, [`IoError::Cancelled`].
pub fn add_motion(character: &mut Character, path: &Path, mapping: Option<&Mapping>, progress: &Progress) -> Result<(), IoError> {
    let file = shown(path);
    let BvhFile { skeleton, clip, frames, notes } = read_motion(path)?;
    progress.check()?;
    let notes: Vec<_> = notes.into_iter().map(|note| (note.severity, note.count, format!("{file}: {}", note.text))).collect();
    if character.skeleton.is_empty() {
        static_to_unweighted(character);
        character.skeleton = skeleton;
        check_inside(character).map_err(|problem| problem.in_file(&file))?;
        character.clips.extend((frames > 0).then_some(clip));
    } else if frames == 0 {
        return Err(Problem::new("there are no frames in it").in_file(&file));
    } else if mapping.is_some() || !same_skeleton(&skeleton, &character.skeleton) {
        let mapping = mapping.cloned().unwrap_or_else(|| Mapping::guess(&skeleton, &character.skeleton));
        add_retargeted(character, (&skeleton, &clip), path, mapping, progress)?;
    } else {
        character.clips.push(clip);
    }
    for (severity, count, text) in notes {
        character.note(severity, count, text);
    }
    Ok(())
}

/// Puts a clip of another skeleton onto a character.
fn add_retargeted(
    character: &mut Character,
    (skeleton, clip): (&Skeleton, &Clip),
    path: &Path,
    mapping: Mapping,
    progress: &Progress,
) -> Result<(), IoError> {
    let file = shown(path);
    let retargeted = retarget(skeleton, clip, &character.skeleton, &mapping, progress).map_err(|error| match error {
        RetargetError::Cancelled(cancelled) => IoError::Cancelled(cancelled),
        error => Problem::new(error.to_string()).in_file(&file),
    })?;
    if retargeted.first_left_out {
        character.note(Severity::Info, 1, format!("{file}: the first frame, which has nothing to do with the others, is left out"));
    }
    let (clip, scale) = (character.clips.len(), retargeted.scale);
    character.retargets.push(RetargetedClip { clip, file: path.to_owned(), mapping, scale });
    character.clips.push(retargeted.clip);
    Ok(())
}

/// Adds the clips of a character with another skeleton.
///
/// # Errors
/// As [`add_motion`].
pub(super) fn add_clips(
    character: &mut Character,
    other: &Character,
    path: &Path,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    if other.clips.is_empty() {
        return Err(Problem::new("the mesh has a skeleton already, and there is no clip in it").in_file(&shown(path)));
    }
    let mapping = mapping.cloned().unwrap_or_else(|| Mapping::guess(&other.skeleton, &character.skeleton));
    for clip in other.clips.iter().filter(|clip| !clip.tracks.is_empty()) {
        add_retargeted(character, (&other.skeleton, clip), path, mapping.clone(), progress)?;
    }
    Ok(())
}

/// Whether two skeletons are the same joint by joint, so that clips need no change.
fn same_skeleton(a: &Skeleton, b: &Skeleton) -> bool {
    let size = a.joints().iter().map(|joint| joint.rest.translation.norm()).sum::<f64>();
    let same = |(a, b): (&crate::rig::Joint, &crate::rig::Joint)| {
        let rest = a.rest.to_affine().matrix() - b.rest.to_affine().matrix();
        let base = a.parent_from_base.matrix() - b.parent_from_base.matrix();
        a.name == b.name && a.parent == b.parent && rest.norm() + base.norm() <= 1e-6 * size
    };
    a.len() == b.len() && a.joints().iter().zip(b.joints()).all(same)
}

/// Reads a mapping as [`write_mapping`] writes it.
///
/// # Errors
/// [`IoError::Read`], or [`IoError::Malformed`] with line and column.
pub fn read_mapping(path: &Path) -> Result<Mapping, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read { file: shown(path), source })?;
    serde_json::from_str(&text_of(&bytes)).map_err(|error| {
        let form = r#"{"pairs": [{"role": "hips", "target": ["JOINT"], "source": ["JOINT OF THE MOTION"]}]}"#;
        Problem::new(format!("not a mapping, which is {form}: {error}")).in_file(&shown(path))
    })
}

/// Writes a mapping, a pair a line.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_mapping(path: &Path, mapping: &Mapping) -> Result<(), IoError> {
    write_atomically(path, |out| {
        writeln!(out, "{{\"pairs\": [")?;
        for (index, pair) in mapping.pairs.iter().enumerate() {
            serde_json::to_writer(&mut *out, pair)?;
            writeln!(out, "{}", if index + 1 < mapping.pairs.len() { "," } else { "" })?;
        }
        write!(out, "]")?;
        if let Some(up) = mapping.up {
            write!(out, ", \"up\": {}", serde_json::to_string(&up)?)?;
        }
        if let Some(scale) = mapping.scale {
            write!(out, ", \"scale\": {}", serde_json::to_string(&scale)?)?;
        }
        writeln!(out, "}}")
    })
}
