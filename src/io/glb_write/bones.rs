//! Writes bone settings that glTF has no fields for: see `io::gltf::bones`.

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, set};
use crate::character::{Attachment, Character};
use crate::io::gltf::bones::KEY;
use crate::math::Point64;

impl GlbDraft {
    /// Stores each joint's bone settings at its node.
    pub(super) fn say_bones(&mut self, character: &Character, joint_nodes: &[usize]) {
        for (index, (joint, &node)) in character
            .skeleton
            .joints()
            .iter()
            .zip(joint_nodes)
            .enumerate()
        {
            let mut said = JsonObject::new();
            let is_leaf = character.skeleton.children(index).is_empty();
            let joint_from_world = joint.world_from_bind.try_inverse();
            if let Some((tail, joint_from_world)) =
                joint.tail.filter(|_| is_leaf).zip(joint_from_world)
            {
                let Point64 { coords } = joint_from_world * tail;
                said.insert("tail".to_owned(), json!([coords.x, coords.y, coords.z]));
            }
            if let Some(radius) = character.flesh.radii.get(&index) {
                said.insert("radius".to_owned(), json!(radius));
            }
            if character
                .flesh
                .bones
                .get(&index)
                .is_some_and(|bone| bone.is_virtual)
            {
                said.insert("virtual".to_owned(), json!(true));
            }
            if let Some(node) = self.list_mut("nodes").get_mut(node) {
                say(node, said);
            }
        }
    }

    /// Stores whether the weights were computed from the joints, i.e. the character has no weights
    /// of its own.
    pub(super) fn say_weights(&mut self, character: &Character) {
        let painted = character
            .meshes
            .iter()
            .any(|mesh| matches!(mesh.attachment, Attachment::Skinned { .. }));
        let mut said = JsonObject::new();
        if !painted {
            said.insert("weights".to_owned(), json!("computed"));
        }
        if let Some(asset) = self.tree.get_mut("asset") {
            say(asset, said);
        }
    }
}

/// Writes the value into the extras, keeps entries of other programs, and replaces an earlier
/// value.
fn say(object: &mut Value, said: JsonObject) {
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
    if !said.is_empty() {
        set(&mut extras, KEY, Value::Object(said));
    }
    if extras.as_object().is_some_and(|extras| !extras.is_empty()) {
        set(object, "extras", extras);
    } else {
        super::draft::remove(object, "extras");
    }
}
