//! A layer as a character: joints, materials, meshes, clips.

use super::layer::{Layer, Value};
use super::look_read::{Looks, Pictures};
use super::scene::Scene;
use super::skeleton_read::UsdJoints;
use super::{clips_read, mesh_read};
use crate::character::{Attachment, Character, Severity};
use crate::io::error::Parsed;
use crate::io::finish::static_to_unweighted;
use crate::progress::Progress;

/// Reads a character; it may lack meshes or joints.
pub(super) fn read(
    layer: &Layer,
    pictures: &Pictures<'_>,
    progress: &Progress,
) -> Parsed<Character> {
    let scene = Scene::of(layer)?;
    let unit = layer.meta("metersPerUnit").map(Value::numbers);
    let unit = unit.and_then(|numbers| numbers.first().copied());
    let unit = unit.filter(|unit| *unit > 0.0 && unit.is_finite());
    let mut character = Character {
        metres_per_unit: unit.unwrap_or(1.0),
        declared_metres_per_unit: unit,
        ..Character::default()
    };
    let joints = UsdJoints::of(&scene)?;
    let looks = Looks::read(&scene, pictures, &mut character);
    progress.set_fraction(0.7);
    let shapes = mesh_read::read(&scene, &joints, &looks, &mut character)?;
    character.clips = clips_read::read(&scene, &joints, &shapes);
    character.finish_morphs(shapes.morphs, Vec::new());
    character.skeleton = joints.skeleton;
    let is_static = |attachment: &Attachment| matches!(attachment, Attachment::Static { .. });
    let unskinned = character
        .meshes
        .iter()
        .all(|mesh| is_static(&mesh.attachment));
    if !character.skeleton.is_empty() && unskinned && !character.meshes.is_empty() {
        static_to_unweighted(&mut character);
        character.note(
            Severity::Info,
            0,
            "the file has joints and a mesh, but no skin weights",
        );
    }
    if scene.moving > 0 {
        let text = format!(
            "prims with transforms that change over time, of which the first are used: {}",
            scene.moving
        );
        character.note(Severity::Warning, scene.moving, text);
    }
    Ok(character)
}
