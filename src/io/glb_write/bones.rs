//! Writes what glTF has no words for: see `io::gltf::bones`.

use serde_json::{Value, json};

use super::draft::{Draft, Object, set};
use crate::character::{Attachment, Character};
use crate::io::gltf::bones::KEY;
use crate::math::Point64;

impl Draft {
    /// Says of the node of every joint what is said of its bones.
    pub(super) fn say_bones(&mut self, character: &Character, joint_nodes: &[usize]) {
        for (index, (joint, &node)) in character.skeleton.joints().iter().zip(joint_nodes).enumerate() {
            let mut said = Object::new();
            let is_leaf = character.skeleton.children(index).is_empty();
            let joint_from_world = joint.world_from_bind.try_inverse();
            if let Some((tail, joint_from_world)) = joint.tail.filter(|_| is_leaf).zip(joint_from_world) {
                let Point64 { coords } = joint_from_world * tail;
                said.insert("tail".to_owned(), json!([coords.x, coords.y, coords.z]));
            }
            if let Some(radius) = character.flesh.radii.get(&index) {
                said.insert("radius".to_owned(), json!(radius));
            }
            if character.flesh.bones.get(&index).is_some_and(|bone| bone.is_virtual) {
                said.insert("virtual".to_owned(), json!(true));
            }
            if let Some(node) = self.list_mut("nodes").get_mut(node) {
                say(node, said);
            }
        }
    }

    /// Says whether the weights were computed from the joints, as they are where the character has none of its own.
    pub(super) fn say_weights(&mut self, character: &Character) {
        let painted = character.meshes.iter().any(|mesh| matches!(mesh.attachment, Attachment::Skinned { .. }));
        let mut said = Object::new();
        if !painted {
            said.insert("weights".to_owned(), json!("computed"));
        }
        if let Some(asset) = self.tree.get_mut("asset") {
            say(asset, said);
        }
    }
}

/// Puts it into the extras, beside what others say there; takes away what was said before.
fn say(object: &mut Value, said: Object) {
    let mut extras = object.get_mut("extras").map(Value::take).unwrap_or_default();
    match &mut extras {
        Value::Object(extras) => {
            extras.remove(KEY);
        }
        Value::Null => extras = Value::Object(Object::new()),
        // Extras may be anything; what is no object has no room for more.
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
