//! What must hold of whatever a reader accepted, and of everything that is made of it: welding, check-up, tissue, linear blend
//! skinning, export. Used by the fuzz targets and, by path, by `tests/torture`.

use std::path::Path;
use std::sync::Arc;

use sinew::character::Character;
use sinew::dynamics::Params;
use sinew::io::{
    load_from_memory, read_bvh_bytes, write_bvh, write_glb, write_obj, write_ply, write_skel,
};
use sinew::math::Point;
use sinew::methods::{Actor, Frame, MethodId};
use sinew::progress::Progress;
use sinew::rig::{Clip, Pose, Skeleton};
use sinew::stages::Subject;

/// Larger characters are only read: the guards of time and memory are for one file.
const MOST_VERTICES: usize = 3_000;
const MOST_TRIANGLES: usize = 6_000;
const MOST_JOINTS: usize = 100;
/// Longer clips are not written.
const LONGEST_CLIP_SECS: f64 = 10.0;

/// Indices inside, no number that is not finite, in any pose.
///
/// # Panics
/// If something does not hold; `what` names the file.
pub fn check(what: &str, character: &Character) {
    let skeleton = &character.skeleton;
    assert!(
        are_finite(&character.bind_positions()),
        "{what}: bind positions"
    );
    for pose in std::iter::once(skeleton.rest_pose()).chain(poses(character)) {
        let world = skeleton.world_from_joint(&pose);
        for mesh in &character.meshes {
            assert!(
                are_finite(&mesh.positions_at(&world)),
                "{what}: posed positions of {}",
                mesh.name
            );
        }
    }
    for mesh in &character.meshes {
        let count = mesh.positions.len();
        assert!(
            mesh.triangles
                .iter()
                .flatten()
                .all(|&v| (v as usize) < count),
            "{what}: triangle indices"
        );
        assert!(
            mesh.normals.as_ref().is_none_or(|n| n.len() == count),
            "{what}: normals"
        );
        assert!(
            mesh.tex_coords.as_ref().is_none_or(|t| t.len() == count),
            "{what}: texture coordinates"
        );
        assert!(
            mesh.material.is_none_or(|m| m < character.materials.len()),
            "{what}: material"
        );
    }
    let named = character
        .humanoid
        .values()
        .chain(character.flesh.bones.keys());
    assert!(
        named.into_iter().all(|&joint| joint < skeleton.len()),
        "{what}: joints"
    );
    assert!(
        character.metres_per_unit > 0.0 && character.metres_per_unit.is_finite(),
        "{what}: unit"
    );
}

/// At the start, within and at the end of every clip.
fn poses(character: &Character) -> impl Iterator<Item = Pose> + '_ {
    let times = |clip: &'_ Clip| [0.0, 0.37, 1.0].map(|part| part * clip.duration_secs);
    character
        .clips
        .iter()
        .flat_map(move |clip| times(clip).map(|time| clip.sample(&character.skeleton, time)))
}

fn are_finite(positions: &[Point]) -> bool {
    positions.iter().all(|p| p.iter().all(|c| c.is_finite()))
}

fn check_sentence(what: &str, stage: &str, error: &dyn std::fmt::Display) {
    let sentence = error.to_string();
    assert!(
        !sentence.is_empty() && !sentence.contains('\n') && sentence.len() < 1000,
        "{what}: {stage}: not one sentence: {sentence}"
    );
}

/// Takes a character that was read through all stages, if it is small. Files are written into `folder`, if one is given; `check_up`
/// examines the welded character. Returns whether the character could be skinned.
///
/// # Panics
/// If a stage panics, gives a number that is not finite, refuses in more than one sentence, or writes what can't be read.
pub fn run(
    what: &str,
    character: Character,
    folder: Option<&Path>,
    check_up: fn(&Subject),
) -> bool {
    let is_small = character.source_vertices() <= MOST_VERTICES
        && character.source_triangles() <= MOST_TRIANGLES
        && character.skeleton.len() <= MOST_JOINTS;
    if !is_small {
        return false;
    }
    export_whole(what, &character, folder);
    let progress = Progress::new();
    let subject = match Subject::build(Arc::new(character), &progress) {
        Ok(subject) => Arc::new(subject),
        Err(error) => {
            check_sentence(what, "welding", &error);
            return false;
        }
    };
    check_up(&subject);
    match subject.flesh() {
        Ok(flesh) => {
            let tissue = &flesh.tissue;
            let mut points = tissue
                .base
                .iter()
                .chain(&tissue.foot_points)
                .chain(&tissue.interior);
            assert!(
                points.all(|p| p.iter().all(|c| c.is_finite())),
                "{what}: tissue"
            );
        }
        Err(error) => check_sentence(what, "tissue", &error),
    }
    skin(what, &subject, folder)
}

fn skin(what: &str, subject: &Arc<Subject>, folder: Option<&Path>) -> bool {
    let mut actor = match Actor::bind(subject, MethodId::LBS, &Params::default(), &Progress::new())
    {
        Ok(actor) => actor,
        Err(error) => {
            check_sentence(what, "binding", &error);
            return false;
        }
    };
    let character = &subject.character;
    let skeleton = &character.skeleton;
    for pose in std::iter::once(skeleton.rest_pose()).chain(poses(character).take(3)) {
        let world_from_joint = &skeleton.world_from_joint(&pose);
        let frame = Frame {
            world_from_joint,
            dt_secs: 1.0 / 30.0,
        };
        match actor.advance(&frame) {
            Ok(()) => assert!(are_finite(actor.positions()), "{what}: skinned positions"),
            Err(error) => check_sentence(what, "skinning", &error),
        }
    }
    if let Some(folder) = folder {
        let (positions, normals) = (actor.positions(), actor.normals());
        for name in ["out.obj", "out.ply"] {
            let path = folder.join(name);
            let written = if name == "out.obj" {
                write_obj(&path, character, positions, normals)
            } else {
                write_ply(&path, character, positions, normals)
            };
            written.unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
            let bytes =
                std::fs::read(&path).unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
            let again = load_from_memory(&[(name, &bytes)], &Progress::new());
            let again =
                again.unwrap_or_else(|error| panic!("{what}: can't be read again: {error}"));
            assert_eq!(
                again.source_vertices(),
                character.source_vertices(),
                "{what}: {name}"
            );
        }
    }
    true
}

/// The character in formats that hold it whole, read again.
fn export_whole(what: &str, character: &Character, folder: Option<&Path>) {
    match write_glb(character) {
        Ok(bytes) => {
            let again = load_from_memory(&[("out.glb", &bytes)], &Progress::new());
            let again =
                again.unwrap_or_else(|error| panic!("{what}: can't be read again: {error}"));
            check(what, &again);
            assert_eq!(
                again.source_triangles(),
                character.source_triangles(),
                "{what}: triangles in .glb"
            );
        }
        Err(error) => check_sentence(what, ".glb", &error),
    }
    let Some(folder) = folder.filter(|_| !character.skeleton.is_empty()) else {
        return;
    };
    let path = folder.join("out.skel");
    write_skel(&path, &character.skeleton).unwrap_or_else(|error| panic!("{what}: .skel: {error}"));
    let short = |clip: &&Clip| clip.duration_secs <= LONGEST_CLIP_SECS;
    if let Some(clip) = character.clips.iter().find(short) {
        write_and_read_bvh(what, &character.skeleton, clip, folder);
    }
}

fn write_and_read_bvh(what: &str, skeleton: &Skeleton, clip: &Clip, folder: &Path) {
    let path = folder.join("out.bvh");
    write_bvh(&path, skeleton, clip, 30.0).unwrap_or_else(|error| panic!("{what}: .bvh: {error}"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{what}: .bvh: {error}"));
    if let Err(error) = read_bvh_bytes("out.bvh", &bytes) {
        panic!("{what}: can't be read again: {error}");
    }
}
