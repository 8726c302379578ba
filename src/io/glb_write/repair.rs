//! Repairs small violations of the standard that are common in existing files and would make the
//! written file invalid too.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::draft::{GlbDraft, remove, set};

impl GlbDraft {
    /// Repairs that need no access to the binary data.
    pub(super) fn repair(&mut self) {
        self.repair_materials();
        self.repair_skins();
    }

    /// `alphaCutoff` is allowed for `MASK` only (3.9.4).
    fn repair_materials(&mut self) {
        for material in self
            .tree
            .get_mut("materials")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if material["alphaMode"].as_str() != Some("MASK") {
                remove(material, "alphaCutoff");
            }
        }
    }

    /// `skeleton` must be a common ancestor of all joints, or one of them (5.28). Where it is not,
    /// it is set to the lowest common ancestor, or removed if there is none. Blender places the
    /// armature by it.
    fn repair_skins(&mut self) {
        let parents = self.parents();
        let upwards = |node: usize| {
            std::iter::successors(Some(node), |&n| *parents.get(n)?).take(parents.len() + 1)
        };
        let index = |value: &Value| value.as_u64().map(|n| n as usize);
        for skin in self
            .tree
            .get_mut("skins")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let Some(top) = index(&skin["skeleton"]) else {
                continue;
            };
            let joints: Vec<usize> = skin["joints"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(index)
                .collect();
            let Some(&first) = joints.first() else {
                continue;
            };
            let mut common: Vec<usize> = upwards(first).collect();
            for &joint in &joints {
                let above: HashSet<usize> = upwards(joint).collect();
                common.retain(|node| above.contains(node));
            }
            if common.contains(&top) {
                continue;
            }
            match common.first() {
                Some(lowest) => set(skin, "skeleton", json!(lowest)),
                None => {
                    remove(skin, "skeleton");
                }
            }
        }
    }

    /// The parent of every node.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.list("nodes").len()];
        for (index, node) in self.list("nodes").iter().enumerate() {
            for child in node["children"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
            {
                if let Some(parent) = parents.get_mut(child as usize) {
                    *parent = Some(index);
                }
            }
        }
        parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_skeleton_hint_is_corrected_or_removed() {
        let mut draft = GlbDraft::new();
        draft.tree.insert(
            "nodes".into(),
            json!([{"children": [1]}, {"children": [2, 3]}, {}, {}, {}]),
        );
        let skin =
            |joints: [usize; 2], skeleton: usize| json!({"joints": joints, "skeleton": skeleton});
        draft.tree.insert(
            "skins".into(),
            json!([
                skin([2, 3], 0),
                skin([2, 3], 2),
                skin([1, 3], 9),
                skin([2, 4], 0)
            ]),
        );
        draft.tree.insert(
            "materials".into(),
            json!([{"alphaCutoff": 0.5}, {"alphaMode": "MASK", "alphaCutoff": 0.5}]),
        );
        draft.repair();
        assert_eq!(
            draft.tree["skins"],
            json!([skin([2, 3], 0), skin([2, 3], 1), skin([1, 3], 1), {"joints": [2, 4]}])
        );
        assert_eq!(
            draft.tree["materials"],
            json!([{}, {"alphaMode": "MASK", "alphaCutoff": 0.5}])
        );
    }
}
