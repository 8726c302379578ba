//! Small breaches of the standard that files in the wild have and that would make a written file invalid too.

use serde_json::Value;

use super::draft::{Draft, remove};

impl Draft {
    /// Mends what needs no look at the data.
    pub(super) fn mend(&mut self) {
        self.mend_materials();
        self.mend_skins();
    }

    /// A cutoff is for `MASK` only (3.9.4).
    fn mend_materials(&mut self) {
        for material in self.tree.get_mut("materials").and_then(Value::as_array_mut).into_iter().flatten() {
            if material["alphaMode"].as_str() != Some("MASK") {
                remove(material, "alphaCutoff");
            }
        }
    }

    /// `skeleton` must be above all joints (5.28); as a hint that nobody needs it goes where it is not.
    fn mend_skins(&mut self) {
        let parents = self.parents();
        let is_above =
            |top: usize, joint: usize| std::iter::successors(Some(joint), |&n| *parents.get(n)?).take(parents.len() + 1).any(|n| n == top);
        let index = |value: &Value| value.as_u64().map(|n| n as usize);
        for skin in self.tree.get_mut("skins").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(top) = index(&skin["skeleton"]) else { continue };
            let joints = skin["joints"].as_array().into_iter().flatten().filter_map(index);
            if !joints.into_iter().all(|joint| is_above(top, joint)) {
                remove(skin, "skeleton");
            }
        }
    }

    /// The parent of every node.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.list("nodes").len()];
        for (index, node) in self.list("nodes").iter().enumerate() {
            for child in node["children"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
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
    use serde_json::json;

    use super::*;

    #[test]
    fn hints_that_are_wrong_go() {
        let mut draft = Draft::new();
        draft.tree.insert("nodes".into(), json!([{"children": [1]}, {}, {}]));
        draft.tree.insert(
            "skins".into(),
            json!([{"joints": [1], "skeleton": 0}, {"joints": [1], "skeleton": 2}, {"joints": [1], "skeleton": 9}]),
        );
        draft.tree.insert("materials".into(), json!([{"alphaCutoff": 0.5}, {"alphaMode": "MASK", "alphaCutoff": 0.5}]));
        draft.mend();
        assert_eq!(draft.tree["skins"], json!([{"joints": [1], "skeleton": 0}, {"joints": [1]}, {"joints": [1]}]));
        assert_eq!(draft.tree["materials"], json!([{}, {"alphaMode": "MASK", "alphaCutoff": 0.5}]));
    }
}
