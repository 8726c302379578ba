//! Loads one character from several files.

use std::path::{Path, PathBuf};

use super::error::{IoError, ParseProblem, Parsed, bad, shown};
use super::finish::{LengthUnit, finish};
use super::kind::{FileKind, builtin_name, known};
use super::motion::{add_clips, take_motion};
use super::rigging::{is_rigged, take_clips, take_matrix, take_skeleton};
use super::roles::{FileRoles, FileSource, assign, stem, twice};
use super::{builtin, bvh, dmat, fbx, fps, gltf, medit, obj, off, ply, stl, tgf, usd};
use crate::character::{Character, NO_SKELETON, Severity};
use crate::mesh::Bounds;
use crate::progress::Progress;
use crate::rig::retarget::Mapping;

/// A file that may contain meshes, joints and motions.
struct LoadedScene {
    path: PathBuf,
    kind: FileKind,
    character: Character,
}

/// The joint order that other files refer to.
struct JointNumbering {
    /// Joint of every line of a `.skel`, for an `.anim`.
    joint_of_line: Vec<usize>,
    /// Joint of every column of a `.dmat`.
    joint_of_column: Vec<usize>,
}

/// Reads the files that make up one character, in any order:
///
/// - a mesh: `.obj .off .ply .stl .mesh`, a scene `.glb .gltf .vrm .fbx .usd`, or `builtin:NAME`;
/// - for a mesh without joints a skeleton: `.skel`, `.tgf`, or another scene with joints (its clips
///   are included);
/// - for a mesh and a skeleton skin weights: `.dmat`;
/// - any number of motions: `.anim` (for the character's own skeleton), `.bvh` and further scenes
///   (for any similar skeleton). For a mesh without a skeleton the first `.bvh` also provides the
///   skeleton;
/// - or an `.ini` that lists mesh, skeleton and motions.
///
/// # Errors
/// [`IoError`] with the file and the cause; [`IoError::Cancelled`].
pub fn load(paths: &[PathBuf], progress: &Progress) -> Result<Character, IoError> {
    load_with(paths, None, progress)
}

/// As [`load`], with the joints of motions matched by a mapping instead of by name.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    paths: &[PathBuf],
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<Character, IoError> {
    load_from(paths, FileSource::Disk, mapping, progress)
}

/// As [`load`], from files in memory. Each name must have the extension of its format; files that
/// these refer to are not available.
///
/// # Errors
/// As [`load`].
pub fn load_from_memory(
    files: &[(&str, &[u8])],
    progress: &Progress,
) -> Result<Character, IoError> {
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| PathBuf::from(name)).collect();
    load_from(&paths, FileSource::Memory(files), None, progress)
}

fn load_from(
    paths: &[PathBuf],
    files: FileSource<'_>,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<Character, IoError> {
    progress.report(0.0, "Reading");
    let roles = assign(paths, files)?;
    let mut scenes = Vec::with_capacity(roles.scenes.len());
    for (path, kind) in &roles.scenes {
        let character = read_file(path, *kind, files, progress)?;
        progress.check()?;
        scenes.push(LoadedScene {
            path: path.clone(),
            kind: *kind,
            character,
        });
    }
    let LoadedScene {
        path: mesh,
        kind,
        mut character,
    } = if let Some((path, kind)) = &roles.mesh {
        LoadedScene {
            path: path.clone(),
            kind: *kind,
            character: read_file(path, *kind, files, progress)?,
        }
    } else {
        reject_motion_only(&roles, files)?;
        main_scene(&mut scenes)?
    };
    progress.check()?;
    if character.source_triangles() == 0 {
        let why = if character.skeleton.is_empty() {
            "the file contains no triangles"
        } else {
            "the file contains a skeleton but no mesh: open it together with its mesh"
        };
        return Err(ParseProblem::new(why).in_file(&shown(&mesh)));
    }
    for note in &roles.missing {
        character.note(Severity::Info, 1, note.clone());
    }
    let numbering = add_skeleton(&mut character, &roles, files, &mut scenes)?;
    add_scenes(&mut character, &mesh, scenes, mapping, progress)?;
    add_matrices(
        &mut character,
        &roles.matrices,
        files,
        &numbering.joint_of_column,
    )?;
    add_motions(
        &mut character,
        &roles.motions,
        files,
        &numbering.joint_of_line,
        mapping,
        progress,
    )?;
    progress.check()?;
    character.name = roles.title.clone().unwrap_or_else(|| title_of(&mesh, kind));
    let unit = match kind {
        FileKind::Gltf | FileKind::Builtin => LengthUnit::Metres,
        FileKind::Fbx => LengthUnit::Said(character.metres_per_unit),
        FileKind::Usd if character.declared_metres_per_unit.is_some() => {
            LengthUnit::Said(character.metres_per_unit)
        }
        _ => LengthUnit::Unknown,
    };
    check_whole(&mut character, unit).map_err(|problem| problem.in_file(&shown(&mesh)))?;
    progress.check()?;
    progress.set_fraction(1.0);
    Ok(character)
}

fn title_of(path: &Path, kind: FileKind) -> String {
    match builtin_name(path) {
        Some(name) if kind == FileKind::Builtin => name.to_owned(),
        _ => stem(path),
    }
}

fn read_file(
    path: &Path,
    kind: FileKind,
    files: FileSource<'_>,
    progress: &Progress,
) -> Result<Character, IoError> {
    if let Some(name) = builtin_name(path) {
        return builtin::load_builtin(name);
    }
    let bytes = files.bytes(path)?;
    progress.set_fraction(0.1);
    let folder = files.folder(path);
    let read: Parsed<Character> = match kind {
        FileKind::Gltf => gltf::read_document(folder, &bytes, progress),
        FileKind::Fbx => fbx::read(&bytes, folder, progress),
        FileKind::Usd => usd::read(&bytes, folder, progress),
        FileKind::Obj => obj::read(&bytes, folder),
        FileKind::Ply => ply::read(&bytes, folder),
        FileKind::Stl => stl::read(&bytes),
        FileKind::Medit => medit::read(&bytes),
        _ => off::read(&bytes),
    };
    read.map_err(|problem| problem.in_file(&shown(path)))
}

/// Removes and returns the main scene: one with a mesh; of several, one without joints, which the
/// others provide.
fn main_scene(scenes: &mut Vec<LoadedScene>) -> Result<LoadedScene, IoError> {
    if scenes.is_empty() {
        let text = format!(
            "a mesh is missing: add a .glb, .fbx or .obj file, or another of {}",
            known()
        );
        return Err(IoError::Combination(ParseProblem::new(text)));
    }
    let has_surface = |scene: &LoadedScene| scene.character.source_triangles() > 0;
    let bare = scenes
        .iter()
        .position(|scene| has_surface(scene) && !is_rigged(&scene.character));
    let bare = bare.filter(|_| scenes.iter().any(|scene| is_rigged(&scene.character)));
    let chosen = bare
        .or_else(|| scenes.iter().position(has_surface))
        .unwrap_or(0);
    Ok(scenes.remove(chosen))
}

/// Gives a mesh without joints the skeleton of another file, if there is one.
fn add_skeleton(
    character: &mut Character,
    roles: &FileRoles,
    files: FileSource<'_>,
    scenes: &mut Vec<LoadedScene>,
) -> Result<JointNumbering, IoError> {
    if let Some((path, kind)) = &roles.skeleton {
        let file = shown(path);
        let in_file = |problem: ParseProblem| problem.in_file(&file);
        if is_rigged(character) {
            return Err(in_file(ParseProblem::new(
                "the mesh already has a skeleton; remove this file",
            )));
        }
        let bytes = files.bytes(path)?;
        let (skeleton, numbering) = if *kind == FileKind::Skel {
            let read = fps::read_skel(&bytes).map_err(in_file)?;
            let joint_of_column = read.joint_of_line.clone();
            (
                read.skeleton,
                JointNumbering {
                    joint_of_line: read.joint_of_line,
                    joint_of_column,
                },
            )
        } else {
            let read = tgf::read(&bytes).map_err(in_file)?;
            let joint_of_line = (0..read.skeleton.len()).collect();
            (
                read.skeleton,
                JointNumbering {
                    joint_of_line,
                    joint_of_column: read.joint_of_column,
                },
            )
        };
        take_skeleton(
            character,
            Character {
                skeleton,
                ..Character::default()
            },
        )
        .map_err(in_file)?;
        return Ok(numbering);
    }
    if !is_rigged(character) {
        // A file with only joints is preferred to one that has a mesh.
        let jointed = |scene: &LoadedScene| !scene.character.skeleton.is_empty();
        let pure = scenes
            .iter()
            .position(|scene| jointed(scene) && scene.character.source_triangles() == 0);
        if let Some(chosen) = pure.or_else(|| scenes.iter().position(jointed)) {
            let LoadedScene {
                path,
                character: rig,
                ..
            } = scenes.remove(chosen);
            take_skeleton(character, rig).map_err(|problem| problem.in_file(&shown(&path)))?;
        }
    }
    let joints: Vec<usize> = (0..character.skeleton.len()).collect();
    Ok(JointNumbering {
        joint_of_line: joints.clone(),
        joint_of_column: joints,
    })
}

/// The remaining files provide clips: for the same joints, or for those of another skeleton.
fn add_scenes(
    character: &mut Character,
    mesh: &Path,
    scenes: Vec<LoadedScene>,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    for LoadedScene {
        path,
        character: other,
        ..
    } in scenes
    {
        if other.clips.is_empty() && other.source_triangles() > 0 {
            return Err(twice("meshes", mesh, &path));
        }
        if other.skeleton.is_empty() {
            return Err(ParseProblem::new("the file contains no joints").in_file(&shown(&path)));
        }
        let known = other
            .skeleton
            .joints()
            .iter()
            .any(|joint| character.skeleton.find(&joint.name).is_some());
        if known {
            take_clips(character, other).map_err(|problem| problem.in_file(&shown(&path)))?;
        } else {
            add_clips(character, &other, &path, mapping, progress)?;
        }
    }
    Ok(())
}

fn add_matrices(
    character: &mut Character,
    matrices: &[PathBuf],
    files: FileSource<'_>,
    joint_of_column: &[usize],
) -> Result<(), IoError> {
    for path in matrices {
        let matrix =
            dmat::read(&files.bytes(path)?).map_err(|problem| problem.in_file(&shown(path)))?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        take_matrix(character, &name, &matrix, joint_of_column);
    }
    Ok(())
}

fn add_motions(
    character: &mut Character,
    motions: &[(PathBuf, FileKind)],
    files: FileSource<'_>,
    joint_of_line: &[usize],
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<(), IoError> {
    for (path, kind) in motions {
        let name = shown(path);
        if *kind == FileKind::Bvh {
            take_motion(character, read_bvh(path, files)?, path, mapping, progress)?;
            continue;
        }
        if character.skeleton.is_empty() {
            return Err(ParseProblem::new(
                "a motion needs a skeleton: add a .skel, a .tgf or a rigged .glb",
            )
            .in_file(&name));
        }
        let clip = fps::read_anim(
            &files.bytes(path)?,
            &stem(path),
            &character.skeleton,
            joint_of_line,
        );
        character
            .clips
            .push(clip.map_err(|problem| problem.in_file(&name))?);
    }
    Ok(())
}

fn read_bvh(path: &Path, files: FileSource<'_>) -> Result<bvh::BvhFile, IoError> {
    bvh::read_bvh(&files.bytes(path)?, &stem(path)).map_err(|problem| problem.in_file(&shown(path)))
}

/// Rejects a motion without a character; an error in the file itself is reported first.
fn reject_motion_only(roles: &FileRoles, files: FileSource<'_>) -> Result<(), IoError> {
    let motion = roles
        .motions
        .iter()
        .find(|(_, kind)| *kind == FileKind::Bvh);
    let Some((motion, _)) = motion.filter(|_| roles.scenes.is_empty()) else {
        return Ok(());
    };
    read_bvh(motion, files)?;
    Err(IoError::Combination(ParseProblem::new(format!(
        "{}: a motion needs a character: add one",
        shown(motion)
    ))))
}

/// Final checks over all files together.
fn check_whole(character: &mut Character, unit: LengthUnit) -> Parsed<()> {
    finish(character, unit)?;
    if Bounds::of(&character.bind_positions()).size() <= 0.0 {
        return bad("all vertices have the same position");
    }
    if character.skeleton.is_empty() {
        let text = NO_SKELETON;
        character.note(Severity::Warning, 0, text);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
