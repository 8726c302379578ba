//! VRM in a written document: spring bones that are added, and the nodes of joints and meshes that were replaced.
//!
//! Springs are written as `VRMC_springBone` 1.0 after those of the source, if any; in a document of VRM 0 as bone groups of its
//! `secondaryAnimation`, which follow the same rule. The extension needs no other part of VRM.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, remove, set};
use crate::character::{Character, SpringJoint};

/// The extension of springs.
const SPRING_BONE: &str = "VRMC_springBone";
/// The extension of constraints, at nodes.
const CONSTRAINT: &str = "VRMC_node_constraint";

impl GlbDraft {
    /// Adds springs, with lengths of the character in units of so many metres.
    pub(super) fn write_springs(
        &mut self,
        character: &Character,
        springs: &[SpringJoint],
        metres: f64,
    ) {
        if springs.is_empty() {
            return;
        }
        let joints = character.skeleton.joints();
        let named = |spring: &SpringJoint| joints[spring.joint].name.clone();
        let nodes = self.joint_nodes.clone();
        let stiffness = |spring: &SpringJoint| (spring.stiffness * metres) as f32;
        let extensions = self.extensions_mut();
        if let Some(first) = extensions.get_mut("VRM").filter(|vrm| vrm.is_object()) {
            let groups = list_of(object_of(first, "secondaryAnimation"), "boneGroups");
            groups.extend(springs.iter().map(|spring| {
                json!({
                    "comment": named(spring),
                    // The spelling of the standard.
                    "stiffiness": stiffness(spring),
                    "gravityPower": 0.0,
                    "gravityDir": {"x": 0.0, "y": -1.0, "z": 0.0},
                    "dragForce": spring.drag as f32,
                    "center": -1,
                    "hitRadius": 0.0,
                    "bones": [nodes[spring.joint]],
                    "colliderGroups": [],
                })
            }));
            return;
        }
        let bones = extensions
            .entry(SPRING_BONE)
            .or_insert_with(|| json!({"specVersion": "1.0"}));
        let list = list_of(bones, "springs");
        for spring in springs {
            let is_taken = |name: &str| list.iter().any(|other| other["name"] == name);
            let mut name = named(spring);
            let mut number = 1;
            while is_taken(&name) {
                number += 1;
                name = format!("{} {number}", named(spring));
            }
            let joint = json!({
                "node": nodes[spring.joint],
                "hitRadius": 0.0,
                "stiffness": stiffness(spring),
                "gravityPower": 0.0,
                "gravityDir": [0.0, -1.0, 0.0],
                "dragForce": spring.drag as f32,
            });
            let tail = json!({"node": nodes[spring.joint + 1]});
            list.push(json!({"name": name, "joints": [joint, tail]}));
        }
        let used = self.list_mut("extensionsUsed");
        if !used.iter().any(|name| name == SPRING_BONE) {
            used.push(json!(SPRING_BONE));
        }
    }

    fn extensions_mut(&mut self) -> &mut JsonObject {
        let entry = self.tree.entry("extensions").or_insert_with(|| json!({}));
        if !entry.is_object() {
            *entry = json!({});
        }
        match entry {
            Value::Object(extensions) => extensions,
            // Ensured above.
            _ => unreachable!("\"extensions\" was made an object"),
        }
    }

    /// Lets VRM refer to the nodes that took the place of others: of joints, and of meshes.
    pub(super) fn follow_nodes(
        &mut self,
        joints: &HashMap<usize, usize>,
        meshes: &HashMap<usize, usize>,
    ) {
        for (&old, &new) in joints {
            let nodes = self.list_mut("nodes");
            let Some(extensions) = nodes[old].get_mut("extensions") else {
                continue;
            };
            let Some(mut constraint) = remove(extensions, CONSTRAINT) else {
                continue;
            };
            if extensions.as_object().is_some_and(JsonObject::is_empty) {
                remove(&mut nodes[old], "extensions");
            }
            for kind in ["roll", "aim", "rotation"] {
                let source = constraint.pointer_mut(&format!("/constraint/{kind}/source"));
                if let Some(node) = source {
                    follow(node, joints);
                }
            }
            set(
                object_of(&mut nodes[new], "extensions"),
                CONSTRAINT,
                constraint,
            );
        }
        let Some(extensions) = self.tree.get_mut("extensions") else {
            return;
        };
        for (places, map) in [(OF_JOINTS, joints), (OF_MESHES, meshes)] {
            for place in places {
                visit(extensions, place, &mut |node| follow(node, map));
            }
        }
    }
}

/// References to joints: members from the extensions down, `*` for all of a list or an object.
const OF_JOINTS: &[&[&str]] = &[
    &["VRMC_vrm", "humanoid", "humanBones", "*", "node"],
    &[SPRING_BONE, "colliders", "*", "node"],
    &[SPRING_BONE, "springs", "*", "center"],
    &[SPRING_BONE, "springs", "*", "joints", "*", "node"],
    &["VRM", "humanoid", "humanBones", "*", "node"],
    &["VRM", "firstPerson", "firstPersonBone"],
    &["VRM", "secondaryAnimation", "boneGroups", "*", "center"],
    &["VRM", "secondaryAnimation", "boneGroups", "*", "bones", "*"],
    &["VRM", "secondaryAnimation", "colliderGroups", "*", "node"],
];
/// References to nodes with meshes.
const OF_MESHES: &[&[&str]] = &[
    &["VRMC_vrm", "firstPerson", "meshAnnotations", "*", "node"],
    &[
        "VRMC_vrm",
        "expressions",
        "*",
        "*",
        "morphTargetBinds",
        "*",
        "node",
    ],
];

fn follow(node: &mut Value, map: &HashMap<usize, usize>) {
    let new = node.as_u64().and_then(|old| map.get(&(old as usize)));
    if let Some(new) = new {
        *node = json!(new);
    }
}

/// All values at a place.
fn visit(value: &mut Value, place: &[&str], each: &mut dyn FnMut(&mut Value)) {
    let Some((first, rest)) = place.split_first() else {
        return each(value);
    };
    match value {
        Value::Array(list) if *first == "*" => {
            for item in list {
                visit(item, rest, each);
            }
        }
        Value::Object(members) if *first == "*" => {
            for member in members.values_mut() {
                visit(member, rest, each);
            }
        }
        Value::Object(members) => {
            if let Some(member) = members.get_mut(*first) {
                visit(member, rest, each);
            }
        }
        _ => {}
    }
}

/// A member of an object, made an object if it is none.
fn object_of<'a>(object: &'a mut Value, key: &str) -> &'a mut Value {
    if !object[key].is_object() {
        object[key] = json!({});
    }
    &mut object[key]
}

/// A list of an object, made one if there is none.
fn list_of<'a>(object: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    if !object.is_object() {
        *object = json!({});
    }
    if !object[key].is_array() {
        object[key] = json!([]);
    }
    match &mut object[key] {
        Value::Array(list) => list,
        // Ensured above.
        _ => unreachable!("\"{key}\" was made a list"),
    }
}

#[cfg(test)]
mod tests;
