//! Motion files, and mappings that retarget them to characters.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::bvh::{BvhFile, read_bvh};
use super::bytes::{read_file, text_of};
use super::error::{IoError, ParseProblem, shown};
use super::finish::static_to_unweighted;
use super::rigging::check_inside;
use super::write::write_atomically;
use crate::character::{Character, Motion, RetargetedClip, Severity};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::rig::retarget::{JointChoices, Mapping, RetargetError};

/// Reads a `.bvh` with its own skeleton.
///
/// # Errors
/// [`IoError::Read`], or [`IoError::Malformed`] with the line.
pub fn read_motion(path: &Path) -> Result<BvhFile, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read {
        file: shown(path),
        source,
    })?;
    let name = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    read_bvh(&bytes, &name).map_err(|problem| problem.in_file(&shown(path)))
}

/// As [`read_motion`], from memory.
///
/// # Errors
/// [`IoError::Malformed`] with the line.
pub fn read_bvh_bytes(name: &str, bytes: &[u8]) -> Result<BvhFile, IoError> {
    read_bvh(bytes, name).map_err(|problem| problem.in_file(name))
}

/// Adds the motion of a `.bvh` as a clip. A character without a skeleton gets the motion's
/// skeleton. With an equal skeleton the motion is used unchanged; otherwise it is retargeted by
/// `mapping`, or by a match of names and topology.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Malformed`] (also if the skeletons cannot be matched),
/// [`IoError::Cancelled`].
pub fn add_motion(
    character: &mut Character,
    path: &Path,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    take_motion(character, read_motion(path)?, path, mapping, progress)
}

/// As [`add_motion`], for a file already read.
pub(super) fn take_motion(
    character: &mut Character,
    motion: BvhFile,
    path: &Path,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    let file = shown(path);
    let BvhFile {
        skeleton,
        clip,
        frames,
        notes,
    } = motion;
    progress.check()?;
    let notes: Vec<_> = notes
        .into_iter()
        .map(|note| (note.severity, note.count, format!("{file}: {}", note.text)))
        .collect();
    if character.skeleton.is_empty() {
        static_to_unweighted(character);
        character.skeleton = skeleton;
        check_inside(character).map_err(|problem| problem.in_file(&file))?;
        character.clips.extend((frames > 0).then_some(clip));
    } else if frames == 0 {
        return Err(ParseProblem::new("the file contains no frames").in_file(&file));
    } else if mapping.is_some() || !same_skeleton(&skeleton, &character.skeleton) {
        add_retargeted(
            character,
            Motion { skeleton, clip },
            path,
            mapping,
            progress,
        )?;
    } else {
        character.clips.push(clip);
    }
    for (severity, count, text) in notes {
        character.note(severity, count, text);
    }
    Ok(())
}

/// Retargets a clip of another skeleton to a character.
fn add_retargeted(
    character: &mut Character,
    motion: Motion,
    path: &Path,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    let file = shown(path);
    let made = RetargetedClip::make(
        (Arc::new(motion), path),
        mapping.cloned(),
        JointChoices::new(),
        (&character.skeleton, character.clips.len()),
        progress,
    );
    let (retargeted, clip) = made.map_err(|error| match error {
        RetargetError::Cancelled(cancelled) => IoError::Cancelled(cancelled),
        error => ParseProblem::new(error.to_string()).in_file(&file),
    })?;
    if retargeted.first_left_out {
        character.note(
            Severity::Info,
            1,
            format!("{file}: the first frame is unrelated to the others and is omitted"),
        );
    }
    character.retargets.push(retargeted);
    character.clips.push(clip);
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
        return Err(ParseProblem::new(
            "the mesh already has a skeleton, and the file contains no clip",
        )
        .in_file(&shown(path)));
    }
    for clip in other.clips.iter().filter(|clip| !clip.tracks.is_empty()) {
        let motion = Motion {
            skeleton: other.skeleton.clone(),
            clip: clip.clone(),
        };
        add_retargeted(character, motion, path, mapping, progress)?;
    }
    Ok(())
}

/// Whether two skeletons are equal joint by joint, so that clips need no change.
fn same_skeleton(a: &Skeleton, b: &Skeleton) -> bool {
    let size = a
        .joints()
        .iter()
        .map(|joint| joint.rest.translation.norm())
        .sum::<f64>();
    let same = |(a, b): (&crate::rig::Joint, &crate::rig::Joint)| {
        let rest = a.rest.to_affine().matrix() - b.rest.to_affine().matrix();
        let base = a.parent_from_base.matrix() - b.parent_from_base.matrix();
        a.name == b.name && a.parent == b.parent && rest.norm() + base.norm() <= 1e-6 * size
    };
    a.len() == b.len() && a.joints().iter().zip(b.joints()).all(same)
}

/// Reads a mapping in the format of [`write_mapping`].
///
/// # Errors
/// [`IoError::Read`], or [`IoError::Malformed`] with line and column.
pub fn read_mapping(path: &Path) -> Result<Mapping, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read {
        file: shown(path),
        source,
    })?;
    serde_json::from_str(&text_of(&bytes)).map_err(|error| {
        let form = r#"{"pairs": [{"role": "hips", "target": ["JOINT"], "source": ["JOINT OF THE MOTION"]}]}"#;
        ParseProblem::new(format!("not a mapping (expected {form}): {error}")).in_file(&shown(path))
    })
}

/// Writes a mapping, one pair per line.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_mapping(path: &Path, mapping: &Mapping) -> Result<(), IoError> {
    write_atomically(path, |out| {
        writeln!(out, "{{\"pairs\": [")?;
        for (index, pair) in mapping.pairs.iter().enumerate() {
            serde_json::to_writer(&mut *out, pair)?;
            writeln!(
                out,
                "{}",
                if index + 1 < mapping.pairs.len() {
                    ","
                } else {
                    ""
                }
            )?;
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::io::{load, load_with};
    use crate::rig::retarget::JointPair;

    const BOX: &str =
        "v 0 0 0\nv 1 0 0\nv 1 4 0\nv 0 4 0\nv 0 0 1\nv 1 4 1\nf 1 2 3 4\nf 1 2 5\nf 3 4 6\n";
    const CHAIN: &str = "HIERARCHY\nROOT lower\n{ OFFSET 0.5 0.5 0.5 CHANNELS 3 Zrotation Xrotation Yrotation\nJOINT upper\n\
        { OFFSET 0 1.5 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 1.5 0 } } }\n\
        MOTION\nFrames: 2\nFrame Time: 0.5\n0 0 0 0 0 0\n0 0 0 90 0 0\n";

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("sinew-motion-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, content) in files {
            std::fs::write(folder.join(file), content).unwrap();
        }
        folder
    }

    #[test]
    fn a_motion_provides_skeleton_and_clip_for_an_unrigged_mesh() {
        let folder = folder(
            "bare",
            &[
                ("box.obj", BOX),
                ("bend.bvh", CHAIN),
                ("far.bvh", &CHAIN.replace("0.5 0.5 0.5", "99 99 99")),
            ],
        );
        let read = |names: &[&str]| {
            load(
                &names
                    .iter()
                    .map(|name| folder.join(name))
                    .collect::<Vec<_>>(),
                &Progress::new(),
            )
        };
        let character = read(&["box.obj", "bend.bvh"]).unwrap();
        let names: Vec<&str> = character
            .skeleton
            .joints()
            .iter()
            .map(|joint| joint.name.as_str())
            .collect();
        assert_eq!(
            (names, character.clips.len(), character.retargets.len()),
            (vec!["lower", "upper", "upper_end"], 1, 0)
        );
        // An equal skeleton: used unchanged.
        let twice = read(&["box.obj", "bend.bvh", "bend.bvh"]).unwrap();
        assert_eq!((twice.clips.len(), twice.retargets.len()), (2, 0));
        assert!(
            read(&["box.obj", "far.bvh"])
                .unwrap_err()
                .to_string()
                .contains("outside the mesh")
        );
        assert!(
            read(&["bend.bvh"])
                .unwrap_err()
                .to_string()
                .contains("needs a character")
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_mapping_round_trips_through_a_file() {
        let folder = folder("mapping", &[("bend.bvh", CHAIN)]);
        let pair = |role: &str, target: &str, source: &str| JointPair {
            role: role.into(),
            target: vec![target.into()],
            source: vec![source.into()],
        };
        let mapping = Mapping {
            pairs: vec![
                pair("hips", "hips", "lower"),
                pair("spine", "spine.1", "upper"),
            ],
            up: None,
            scale: Some(0.5),
        };
        let path = folder.join("mapping.json");
        write_mapping(&path, &mapping).unwrap();
        assert_eq!(read_mapping(&path).unwrap(), mapping);
        let files = [PathBuf::from("builtin:mannequin"), folder.join("bend.bvh")];
        let character = load_with(&files, Some(&mapping), &Progress::new()).unwrap();
        let made = &character.retargets[0];
        assert_eq!(
            (
                &made.mapping,
                made.scale,
                character.clips[made.clip].name.as_str()
            ),
            (&mapping, 0.5, "bend")
        );
        let refusal = load(&files, &Progress::new()).unwrap_err().to_string();
        assert!(
            refusal.contains("cannot be matched") && !refusal.contains('\n'),
            "{refusal}"
        );
        std::fs::write(&path, "{\"pairs\": 3}").unwrap();
        assert!(
            read_mapping(&path)
                .unwrap_err()
                .to_string()
                .contains("not a mapping")
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn clips_of_another_character_are_retargeted() {
        let mut character = load(&[PathBuf::from("builtin:gecko")], &Progress::new()).unwrap();
        let clips = character.clips.len();
        let other = load(&[PathBuf::from("builtin:mannequin")], &Progress::new()).unwrap();
        add_clips(
            &mut character,
            &other,
            Path::new("other.glb"),
            None,
            &Progress::new(),
        )
        .unwrap();
        assert_eq!(character.clips.len(), clips + other.clips.len());
        let file = read_bvh_bytes("x.bvh", b"HIERARCHY");
        assert!(file.unwrap_err().to_string().starts_with("x.bvh: "));
    }
}
