//! Expressions of VRM 0 (`blendShapeMaster`) and VRM 1 (`expressions`): named combinations of morph targets.
//!
//! Preset names are those of VRM 1. Changes of materials and of texture transforms, and the overrides of blinking, looking and mouth,
//! are not read.

use serde_json::{Map, Value};

use super::morphs::NodeMorphs;
use crate::character::{Character, Expression, Severity};

/// Presets of VRM 0, and their names in VRM 1.
const PRESETS: [(&str, &str); 18] = [
    ("neutral", "neutral"),
    ("joy", "happy"),
    ("angry", "angry"),
    ("sorrow", "sad"),
    ("fun", "relaxed"),
    ("surprised", "surprised"),
    ("a", "aa"),
    ("i", "ih"),
    ("u", "ou"),
    ("e", "ee"),
    ("o", "oh"),
    ("blink", "blink"),
    ("blink_l", "blinkLeft"),
    ("blink_r", "blinkRight"),
    ("lookup", "lookUp"),
    ("lookdown", "lookDown"),
    ("lookleft", "lookLeft"),
    ("lookright", "lookRight"),
];

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

/// Reads the document's expressions; those without morph targets are counted in a note.
pub fn read(
    vrm: &Map<String, Value>,
    morphs: &NodeMorphs,
    character: &mut Character,
) -> Vec<Expression> {
    let mut read = Vec::new();
    let groups = vrm.get("VRM").map_or(&[][..], |first| {
        list(&first["blendShapeMaster"]["blendShapeGroups"])
    });
    read.extend(groups.iter().map(|group| of_version_0(group, morphs)));
    let expressions = vrm.get("VRMC_vrm").map(|vrm| &vrm["expressions"]);
    for key in ["preset", "custom"] {
        let named = expressions.and_then(|all| all[key].as_object());
        read.extend(
            named
                .into_iter()
                .flatten()
                .map(|(name, value)| of_version_1(name, value, morphs)),
        );
    }
    let all = read.len();
    read.retain(|expression| !expression.binds.is_empty());
    if read.len() < all {
        let without = all - read.len();
        let text = format!("expressions without morph targets, which are not read: {without}");
        character.note(Severity::Info, without, text);
    }
    read
}

fn of_version_0(group: &Value, morphs: &NodeMorphs) -> Expression {
    let preset = group["presetName"].as_str().unwrap_or("unknown");
    let preset = preset.to_lowercase();
    let known = PRESETS.iter().find(|(old, _)| *old == preset);
    let name = match known {
        Some((_, name)) => (*name).to_owned(),
        None => group["name"].as_str().unwrap_or_default().to_owned(),
    };
    let binds = list(&group["binds"]).iter().flat_map(|bind| {
        let found = || {
            let nodes = morphs.nodes_of_mesh.get(&index(&bind["mesh"])?)?;
            // In percent.
            let weight = bind["weight"].as_f64()? / 100.0;
            let target = index(&bind["index"])?;
            let binds = nodes
                .iter()
                .filter_map(move |node| bind_of(morphs, *node, target, weight));
            Some(binds.collect::<Vec<_>>())
        };
        found().unwrap_or_default()
    });
    Expression {
        name,
        is_binary: group["isBinary"].as_bool().unwrap_or(false),
        binds: binds.collect(),
    }
}

fn of_version_1(name: &str, value: &Value, morphs: &NodeMorphs) -> Expression {
    let bind = |bind: &Value| {
        let (node, target) = (index(&bind["node"])?, index(&bind["index"])?);
        bind_of(morphs, node, target, bind["weight"].as_f64()?)
    };
    Expression {
        name: name.to_owned(),
        is_binary: value["isBinary"].as_bool().unwrap_or(false),
        binds: list(&value["morphTargetBinds"])
            .iter()
            .filter_map(bind)
            .collect(),
    }
}

fn bind_of(morphs: &NodeMorphs, node: usize, target: usize, weight: f64) -> Option<(usize, f64)> {
    let (first, count) = morphs.of_nodes.get(&node)?;
    (target < *count).then_some((first + target, weight))
}
