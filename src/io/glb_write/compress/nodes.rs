//! Nodes and skins that take the points of a grid to where the positions were.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::super::blocks::matrix;
use super::super::draft::{remove, set};
use super::OpenGlb;
use super::grid::{Grid, Grids, IDENTITY, affine, is_plain};
use crate::io::error::Parsed;
use crate::io::gltf::accessor::Accessors;

impl OpenGlb {
    /// Places every node of a mesh with a grid.
    pub(super) fn place_on_grids(
        &mut self,
        grids: &Grids,
        accessors: &Accessors<'_>,
    ) -> Parsed<()> {
        let fixed = self.nodes_in_use();
        let mut nodes = self.take("nodes");
        let mut skins: HashMap<(u64, usize), usize> = HashMap::new();
        let mut moved: HashMap<u64, usize> = HashMap::new();
        for index in 0..nodes.len() {
            let mesh = nodes[index]["mesh"].as_u64();
            let Some((group, grid)) = mesh.and_then(|mesh| grids.get(mesh as usize)) else {
                continue;
            };
            if let Some(skin) = nodes[index]["skin"].as_u64() {
                let own = match skins.get(&(skin, group)) {
                    Some(own) => *own,
                    None => self.skin_on_grid(skin as usize, &grid, accessors)?,
                };
                skins.insert((skin, group), own);
                set(&mut nodes[index], "skin", json!(own));
            }
            let node = &mut nodes[index];
            let is_own =
                is_plain(node) && node["children"].is_null() && !fixed.contains(&(index as u64));
            if is_own {
                place(node, &grid);
                continue;
            }
            let mut child = json!({});
            for key in ["mesh", "skin", "weights"] {
                if let Some(value) = remove(node, key) {
                    set(&mut child, key, value);
                }
            }
            if !node["name"].is_null() {
                set(&mut child, "name", node["name"].clone());
            }
            place(&mut child, &grid);
            let at = nodes.len();
            match nodes[index]
                .get_mut("children")
                .and_then(Value::as_array_mut)
            {
                Some(children) => children.push(json!(at)),
                None => set(&mut nodes[index], "children", json!([at])),
            }
            nodes.push(child);
            moved.insert(index as u64, at);
        }
        self.put("nodes", nodes);
        self.follow(&moved);
        Ok(())
    }

    /// Nodes whose transforms are animated, or that are joints.
    fn nodes_in_use(&self) -> HashSet<u64> {
        let channels = (self.list("animations").iter())
            .flat_map(|animation| animation["channels"].as_array().into_iter().flatten())
            .filter(|channel| channel["target"]["path"] != "weights")
            .filter_map(|channel| channel["target"]["node"].as_u64());
        let joints = (self.list("skins").iter())
            .flat_map(|skin| skin["joints"].as_array().into_iter().flatten())
            .filter_map(Value::as_u64);
        channels.chain(joints).collect()
    }

    /// A copy of a skin that takes points of a grid to the joints.
    fn skin_on_grid(
        &mut self,
        skin: usize,
        grid: &Grid,
        accessors: &Accessors<'_>,
    ) -> Parsed<usize> {
        let mut skin = self.list("skins").get(skin).cloned().unwrap_or_default();
        let binds = match skin["inverseBindMatrices"].as_u64() {
            Some(binds) => accessors.reals::<16>(binds as usize)?,
            None => vec![IDENTITY; skin["joints"].as_array().map_or(0, Vec::len)],
        };
        let bytes = binds
            .iter()
            .flat_map(|bind| matrix(&(affine(bind) * grid.mesh_from_grid())))
            .flat_map(f32::to_le_bytes)
            .collect();
        let view = self.view(bytes, None);
        let accessor = json!({"bufferView": view, "componentType": 5126, "count": binds.len(), "type": "MAT4"});
        let accessor = self.push("accessors", accessor);
        set(&mut skin, "inverseBindMatrices", json!(accessor));
        Ok(self.push("skins", skin))
    }

    /// Leads animations of weights, and expressions of VRM 1, to the nodes that have the meshes now.
    fn follow(&mut self, moved: &HashMap<u64, usize>) {
        let lead = |reference: &mut Value| {
            if let Some(to) = reference.as_u64().and_then(|node| moved.get(&node)) {
                *reference = json!(to);
            }
        };
        let mut animations = self.take("animations");
        for channel in (animations.iter_mut())
            .filter_map(|animation| animation["channels"].as_array_mut())
            .flatten()
            .filter(|channel| channel["target"]["path"] == "weights")
        {
            lead(&mut channel["target"]["node"]);
        }
        self.put("animations", animations);
        let expressions = (self.tree.get_mut("extensions"))
            .and_then(|extensions| extensions.pointer_mut("/VRMC_vrm/expressions"))
            .and_then(Value::as_object_mut);
        for expression in (expressions.into_iter().flat_map(|kinds| kinds.values_mut()))
            .filter_map(Value::as_object_mut)
            .flat_map(|kind| kind.values_mut())
        {
            let binds = expression
                .get_mut("morphTargetBinds")
                .and_then(Value::as_array_mut);
            binds
                .into_iter()
                .flatten()
                .filter_map(|bind| bind.get_mut("node"))
                .for_each(lead);
        }
    }
}

/// Gives a node the transform of a grid.
fn place(node: &mut Value, grid: &Grid) {
    set(node, "translation", json!(grid.origin));
    set(node, "scale", json!([grid.step, grid.step, grid.step]));
}
