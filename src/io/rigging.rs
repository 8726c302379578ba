//! Adds a skeleton, clips and weights from other files to a mesh.

use super::dmat::DenseMatrix;
use super::error::{Parsed, bad};
use super::finish::static_to_unweighted;
use super::gltf::give_to_nearest_bone;
use crate::character::{Attachment, Character, Severity};
use crate::math::{Affine, Point};
use crate::mesh::Bounds;
use crate::rig::{Skeleton, Track};
use crate::weights::SkinWeights;

/// Whether meshes are attached to joints.
pub(super) fn is_rigged(character: &Character) -> bool {
    let hangs = |attachment: &Attachment| {
        matches!(
            attachment,
            Attachment::Skinned { .. } | Attachment::Rigid { .. }
        )
    };
    !character.skeleton.is_empty() || character.meshes.iter().any(|mesh| hangs(&mesh.attachment))
}

/// Gives a mesh without joints the skeleton (with its clips and settings) of another file.
pub(super) fn take_skeleton(character: &mut Character, rig: Character) -> Parsed<()> {
    if rig.skeleton.is_empty() {
        return bad("the file contains no joints");
    }
    static_to_unweighted(character);
    let ids = rig.morph_ids();
    for mut clip in rig.clips {
        character.take_morphs(&mut clip, &ids);
        character.clips.push(clip);
    }
    character.skeleton = rig.skeleton;
    character.humanoid = rig.humanoid;
    character.flesh.bones = rig.flesh.bones;
    character.flesh.muscles = rig.flesh.muscles;
    check_inside(character)
}

/// Adds the clips of a file with the same joints, matched by name.
pub(super) fn take_clips(character: &mut Character, other: Character) -> Parsed<()> {
    let joint_of: Vec<Option<usize>> = other
        .skeleton
        .joints()
        .iter()
        .map(|joint| character.skeleton.find(&joint.name))
        .collect();
    if joint_of.iter().all(Option::is_none) {
        return bad("none of its joints is in the mesh's skeleton");
    }
    let ids = other.morph_ids();
    let mut unknown = 0;
    for mut clip in other.clips {
        character.take_morphs(&mut clip, &ids);
        let known = |track: &Track| joint_of.get(track.joint).copied().flatten();
        let before = clip.tracks.len();
        clip.tracks = clip
            .tracks
            .into_iter()
            .filter_map(|track| known(&track).map(|joint| Track { joint, ..track }))
            .collect();
        unknown += before - clip.tracks.len();
        character.clips.push(clip);
    }
    if unknown > 0 {
        character.note(
            Severity::Warning,
            unknown,
            format!("tracks of the second file on joints outside the mesh's skeleton: {unknown}"),
        );
    }
    Ok(())
}

/// A skeleton from another file must overlap the mesh.
pub(super) fn check_inside(character: &Character) -> Parsed<()> {
    let mesh = Bounds::of(&character.bind_positions());
    let joints: Vec<Point> = (0..character.skeleton.len())
        .map(|j| character.skeleton.bind_position(j).cast())
        .collect();
    let inside = |p: &&Point| (0..3).all(|c| (mesh.min[c]..=mesh.max[c]).contains(&p[c]));
    // A mesh without finite coordinates is rejected later.
    if mesh.is_empty() || joints.iter().any(|p| inside(&p)) {
        return Ok(());
    }
    let (m, s) = (mesh.center(), Bounds::of(&joints).center());
    bad(format!(
        "the skeleton lies outside the mesh (skeleton: size {:.3}, centre {:.3} {:.3} {:.3}; mesh: size {:.3}, centre {:.3} {:.3} {:.3}); both must use the same origin and unit",
        Bounds::of(&joints).size(),
        s.x,
        s.y,
        s.z,
        mesh.size(),
        m.x,
        m.y,
        m.z
    ))
}

/// Uses a matrix as skin weights, one row per vertex and one column per joint of `joint_of_column`;
/// an unsuitable matrix is only noted.
pub(super) fn take_matrix(
    character: &mut Character,
    name: &str,
    matrix: &DenseMatrix,
    joint_of_column: &[usize],
) {
    let vertices = character.file_vertices();
    let unskinned = character
        .meshes
        .iter()
        .all(|mesh| matches!(mesh.attachment, Attachment::Unweighted));
    let why = if matrix.rows != vertices || matrix.columns < 2 {
        format!(
            "skin weights need {vertices} rows, the matrix is {} × {}",
            matrix.rows, matrix.columns
        )
    } else if character.skeleton.is_empty() {
        "weights need the skeleton that they belong to".to_owned()
    } else if !unskinned {
        "the mesh already has weights".to_owned()
    } else if matrix.columns != joint_of_column.len() {
        format!(
            "it has weights for {} bones, the skeleton has {}",
            matrix.columns,
            joint_of_column.len()
        )
    } else {
        skin(character, matrix, joint_of_column);
        return;
    };
    character.note(Severity::Warning, 0, format!("{name} is not used: {why}"));
}

fn skin(character: &mut Character, matrix: &DenseMatrix, joint_of_column: &[usize]) {
    let skeleton = std::mem::take(&mut character.skeleton);
    let joint_from_mesh = joints_from_world(&skeleton);
    let mut without = 0;
    let mut start = 0;
    for mesh in &mut character.meshes {
        let row = |vertex: usize| {
            let row = start + mesh.file_vertex(vertex);
            let value = move |column: usize| matrix.values[column * matrix.rows + row] as f32;
            joint_of_column
                .iter()
                .enumerate()
                .map(move |(column, &joint)| (joint as u32, value(column)))
        };
        let (weights, empty) = SkinWeights::from_rows((0..mesh.positions.len()).map(row));
        let count = mesh.file_vertices();
        without += empty.iter().filter(|&&vertex| vertex < count).count();
        let weights = give_to_nearest_bone(weights, &empty, &mesh.positions, &skeleton);
        mesh.attachment = Attachment::Skinned {
            weights,
            joint_from_mesh: joint_from_mesh.clone(),
        };
        start += count;
    }
    character.skeleton = skeleton;
    if without > 0 {
        let text =
            format!("vertices without a usable skin weight, bound to the nearest bone: {without}");
        character.note(Severity::Mended, without, text);
    }
}

/// Inverse bind matrices of a mesh in world space.
pub(super) fn joints_from_world(skeleton: &Skeleton) -> Vec<Affine> {
    skeleton
        .bind_transforms()
        .iter()
        .map(|bind| bind.try_inverse().unwrap_or_else(Affine::identity))
        .collect()
}
