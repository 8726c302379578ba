//! Writes bone settings that glTF has no fields for: see `io::gltf::bones`.

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, set};
use crate::character::{Attachment, Character};
use crate::io::gltf::bones::KEY;
use crate::math::Point64;

impl GlbDraft {
    /// Stores each joint's bone settings at its node.
    pub(super) fn write_bone_settings(&mut self, character: &Character, joint_nodes: &[usize]) {
        for (index, (joint, &node)) in character
            .skeleton
            .joints()
            .iter()
            .zip(joint_nodes)
            .enumerate()
        {
            let mut settings = JsonObject::new();
            let is_leaf = character.skeleton.children(index).is_empty();
            let joint_from_world = joint.world_from_bind.try_inverse();
            if let Some((tail, joint_from_world)) =
                joint.tail.filter(|_| is_leaf).zip(joint_from_world)
            {
                let Point64 { coords } = joint_from_world * tail;
                settings.insert("tail".to_owned(), json!([coords.x, coords.y, coords.z]));
            }
            if let Some(radius) = character.flesh.radii.get(&index) {
                settings.insert("radius".to_owned(), json!(radius));
            }
            if character
                .flesh
                .bones
                .get(&index)
                .is_some_and(|bone| bone.is_virtual)
            {
                settings.insert("virtual".to_owned(), json!(true));
            }
            if let Some(node) = self.list_mut("nodes").get_mut(node) {
                set_extras(node, settings);
            }
        }
    }

    /// Stores whether the weights were computed from the joints, i.e. the character has no weights
    /// of its own.
    pub(super) fn write_weight_source(&mut self, character: &Character) {
        let painted = character
            .meshes
            .iter()
            .any(|mesh| matches!(mesh.attachment, Attachment::Skinned { .. }));
        let mut settings = JsonObject::new();
        if !painted {
            settings.insert("weights".to_owned(), json!("computed"));
        }
        if let Some(asset) = self.tree.get_mut("asset") {
            set_extras(asset, settings);
        }
    }
}

/// Writes the value into the extras, keeps entries of other programs, and replaces an earlier
/// value.
fn set_extras(object: &mut Value, settings: JsonObject) {
    let mut extras = object
        .get_mut("extras")
        .map(Value::take)
        .unwrap_or_default();
    match &mut extras {
        Value::Object(extras) => {
            extras.remove(KEY);
        }
        Value::Null => extras = Value::Object(JsonObject::new()),
        // Extras may be any JSON value; only an object can take a member.
        _ => return set(object, "extras", extras),
    }
    if !settings.is_empty() {
        set(&mut extras, KEY, Value::Object(settings));
    }
    if extras.as_object().is_some_and(|extras| !extras.is_empty()) {
        set(object, "extras", extras);
    } else {
        super::draft::remove(object, "extras");
    }
}
