//! Bone settings beyond glTF: in the `extras` of nodes and of the asset, under `sinew`.
//!
//! | where                       | what                                                            |
//! |-----------------------------|-----------------------------------------------------------------|
//! | `node.extras.sinew.tail`    | end of the bone of a leaf, in the joint's frame                 |
//! | `node.extras.sinew.radius`  | radius of the joint's bones, in units of the file               |
//! | `node.extras.sinew.virtual` | the joint's bones are not in the skeleton's volume, only in the flesh                          |
//! | `asset.extras.sinew.weights`| `"computed"`|
//!
//! `glb_write` writes them. Entries of other forms are ignored.

use serde::Deserialize;
use serde_json::Value;

use crate::character::Character;
use crate::math::Point64;
use crate::rig::Skeleton;

/// Key of all entries.
pub(in crate::io) const KEY: &str = "sinew";

#[derive(Deserialize)]
struct BonesDocument {
    #[serde(default)]
    asset: ExtrasHolder,
    #[serde(default)]
    nodes: Vec<ExtrasHolder>,
}

#[derive(Default, Deserialize)]
struct ExtrasHolder {
    #[serde(default)]
    extras: Value,
}

/// Reads the bone settings of a document. `json` is the JSON text of the file.
pub(super) fn read(json: &[u8], joint_of_node: &[Option<usize>], character: &mut Character) {
    // Most files have no such entries; they are not parsed a second time.
    if !json.windows(KEY.len()).any(|word| word == KEY.as_bytes()) {
        return;
    }
    let text = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    let Ok(document) = serde_json::from_slice::<BonesDocument>(text) else {
        return;
    };
    character.computed_weights = document.asset.extras[KEY]["weights"] == "computed";
    let mut joints = character.skeleton.joints().to_vec();
    for (node, joint) in document.nodes.iter().zip(joint_of_node) {
        let Some(joint) = *joint else { continue };
        let said = &node.extras[KEY];
        if let Some(tail) = point(&said["tail"])
            .map(|tail| joints[joint].world_from_bind * tail)
            .filter(is_place)
        {
            joints[joint].tail = Some(tail);
        }
        if let Some(radius) = said["radius"]
            .as_f64()
            .filter(|radius| radius.is_finite() && *radius > 0.0)
        {
            character.flesh.radii.insert(joint, radius);
        }
        if said["virtual"] == true {
            character.flesh.bones.entry(joint).or_default().is_virtual = true;
        }
    }
    if let Ok(skeleton) = Skeleton::new(joints) {
        character.skeleton = skeleton;
    }
}

fn is_place(point: &Point64) -> bool {
    point.iter().all(|c| c.is_finite())
}

fn point(value: &Value) -> Option<Point64> {
    let [x, y, z] = value.as_array()?.as_slice() else {
        return None;
    };
    Some(Point64::new(x.as_f64()?, y.as_f64()?, z.as_f64()?))
}
