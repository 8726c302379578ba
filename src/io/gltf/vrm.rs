//! VRM 0 and 1: humanoid roles and springs of joints.
//!
//! Springs become virtual bones ([`BoneSettings::is_virtual`](crate::character::BoneSettings)):
//! they shape the flesh and swing with it. Role names are those of VRM 1.

use gltf::json::{Root, Value};
use serde_json::Map;

use super::document::children;
use crate::character::{Character, Severity};

/// Reads the document's VRM extensions.
pub fn read(
    vrm: &Map<String, Value>,
    root: &Root,
    joint_of_node: &[Option<usize>],
    character: &mut Character,
) {
    let joint = |node: &Value| {
        node.as_u64().and_then(|n| {
            joint_of_node
                .get(usize::try_from(n).ok()?)
                .copied()
                .flatten()
        })
    };
    let mut springs = Vec::new();
    if let Some(first) = vrm.get("VRM") {
        for bone in list(&first["humanoid"]["humanBones"]) {
            if let (Some(name), Some(joint)) = (bone["bone"].as_str(), joint(&bone["node"])) {
                character.humanoid.insert(of_version_1(name), joint);
            }
        }
        let tops = list(&first["secondaryAnimation"]["boneGroups"])
            .iter()
            .flat_map(|group| list(&group["bones"]));
        springs.extend(below(root, tops));
        character.faces_negative_z = true;
        character.note(Severity::Info, 0, "the character is VRM 0, which faces −Z");
    }
    for (name, bone) in vrm
        .get("VRMC_vrm")
        .and_then(|vrm| vrm["humanoid"]["humanBones"].as_object())
        .into_iter()
        .flatten()
    {
        if let Some(joint) = joint(&bone["node"]) {
            character.humanoid.insert(name.clone(), joint);
        }
    }
    if let Some(bones) = vrm.get("VRMC_springBone") {
        let joints = list(&bones["springs"])
            .iter()
            .flat_map(|spring| list(&spring["joints"]));
        springs.extend(
            joints
                .filter_map(|joint| joint["node"].as_u64())
                .filter_map(|n| usize::try_from(n).ok()),
        );
    }
    let mut swinging: Vec<usize> = springs
        .into_iter()
        .filter_map(|node| joint_of_node.get(node).copied().flatten())
        .collect();
    swinging.sort_unstable();
    swinging.dedup();
    swinging.retain(|joint| !character.humanoid.values().any(|human| human == joint));
    for &joint in &swinging {
        character.flesh.bones.entry(joint).or_default().is_virtual = true;
    }
    if !swinging.is_empty() {
        let text = format!(
            "springs of the file, which swing as virtual bones (virtual:off disables one): {}",
            swinging.len()
        );
        character.note(Severity::Info, swinging.len(), text);
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The nodes given and all below them.
fn below<'a>(root: &Root, tops: impl Iterator<Item = &'a Value>) -> Vec<usize> {
    let mut seen = vec![false; root.nodes.len()];
    let mut found = Vec::new();
    let mut stack: Vec<usize> = tops
        .filter_map(Value::as_u64)
        .filter_map(|n| usize::try_from(n).ok())
        .collect();
    while let Some(node) = stack.pop() {
        if node < seen.len() && !std::mem::replace(&mut seen[node], true) {
            found.push(node);
            stack.extend(children(&root.nodes[node]));
        }
    }
    found
}

/// Version 0 uses other names for the bones of the thumb.
fn of_version_1(name: &str) -> String {
    name.replace("ThumbProximal", "ThumbMetacarpal")
        .replace("ThumbIntermediate", "ThumbProximal")
}
