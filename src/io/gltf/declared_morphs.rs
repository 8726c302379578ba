//! Declarations of morph targets, from the raw JSON.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Accessors of one target of a primitive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TargetAccessors {
    pub(super) positions: Option<usize>,
    pub(super) normals: Option<usize>,
}

/// The declarations of one mesh.
#[derive(Debug, Clone, Default)]
pub(super) struct MeshMorphs {
    /// By primitive and target.
    pub(super) targets: Vec<Vec<TargetAccessors>>,
    pub(super) names: Vec<Option<String>>,
    pub(super) weights: Vec<f64>,
}

/// The declarations of a document.
#[derive(Debug, Clone, Default)]
pub struct MorphDeclarations {
    pub(super) meshes: Vec<MeshMorphs>,
    /// Weights of every node that has its own.
    pub(super) of_nodes: HashMap<usize, Vec<f64>>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn weights(value: &Value) -> Vec<f64> {
    let weights = list(value).iter();
    weights.map(|w| w.as_f64().unwrap_or(0.0)).collect()
}

impl MorphDeclarations {
    /// Reads the whole document; invalid members count as absent.
    pub fn of(tree: &Map<String, Value>) -> Self {
        let all = |key: &str| tree.get(key).map_or(&[][..], list);
        let target = |value: &Value| TargetAccessors {
            positions: index(&value["POSITION"]),
            normals: index(&value["NORMAL"]),
        };
        let of_primitive =
            |primitive: &Value| list(&primitive["targets"]).iter().map(target).collect();
        let mesh = |mesh: &Value| MeshMorphs {
            targets: list(&mesh["primitives"]).iter().map(of_primitive).collect(),
            names: list(&mesh["extras"]["targetNames"])
                .iter()
                .map(|name| name.as_str().map(str::to_owned))
                .collect(),
            weights: weights(&mesh["weights"]),
        };
        let nodes = all("nodes").iter().enumerate();
        Self {
            meshes: all("meshes").iter().map(mesh).collect(),
            of_nodes: nodes
                .filter(|(_, node)| node["weights"].is_array())
                .map(|(index, node)| (index, weights(&node["weights"])))
                .collect(),
        }
    }
}
