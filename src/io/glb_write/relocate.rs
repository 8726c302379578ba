//! Detaches meshes from skins and hierarchies: onto root nodes without a transform, where positions
//! are world positions.
//!
//! A mesh node without other content is moved as it is, with its name and extras. A node with
//! children, a camera, an extension or a role in a skin or animation stays in place and hands its
//! mesh to a new root of the same name. The new roots come first in the scene, so that a
//! depth-first traversal visits the meshes in the character's order.
//!
//! Data that depended on the old location is removed: skin weights and tangents (viewers compute
//! tangents), morph targets and their animations, skins, and the animations of nodes without
//! visible descendants.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, remove, set};
use super::sweep;
use crate::character::SourcePrimitive;

/// Location of a source mesh in the changed document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MeshLocation {
    /// Its node, a root without a transform.
    pub(super) node: usize,
    /// The mesh of that node, used by no other node.
    pub(super) mesh: usize,
    /// Index of the primitive in that mesh.
    pub(super) primitive: usize,
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().map(|n| n as usize)
}

impl GlbDraft {
    /// Moves all given primitives; returns one location each, in order. Primitives of one node must
    /// be consecutive.
    pub(super) fn relocate(&mut self, sources: &[SourcePrimitive]) -> Vec<MeshLocation> {
        let originals = self.list("meshes").to_vec();
        let users = self.users_of_meshes();
        let baked_nodes: HashSet<usize> = sources.iter().map(|source| source.node).collect();
        let parents = self.parents();
        let pinned = self.pinned_nodes();
        let mut taken = HashSet::new();
        let (mut places, mut roots) = (Vec::with_capacity(sources.len()), Vec::new());
        for group in sources.chunk_by(|a, b| a.node == b.node) {
            let node = group[0].node;
            let Some(original) = self
                .list("nodes")
                .get(node)
                .and_then(|n| index(&n["mesh"]))
                .filter(|&m| m < originals.len())
            else {
                continue;
            };
            let wanted: Vec<usize> = group.iter().map(|source| source.primitive).collect();
            let (mesh, left_over) = split(&originals[original], &wanted);
            let alone = users[&original]
                .iter()
                .all(|user| baked_nodes.contains(user));
            let mesh = if alone && taken.insert(original) {
                self.list_mut("meshes")[original] = mesh;
                original
            } else {
                self.push("meshes", mesh)
            };
            let left_over = left_over.map(|left_over| self.push("meshes", left_over));
            let root = if pinned.contains(&node) || left_over.is_some() {
                self.copy_out(node, mesh, left_over)
            } else {
                self.move_out(node, parents[node], mesh);
                node
            };
            roots.push(root);
            places.extend((0..wanted.len()).map(|primitive| MeshLocation {
                node: root,
                mesh,
                primitive,
            }));
        }
        self.roots_first(&roots);
        self.drop_animations(&baked_nodes);
        sweep::skins(&mut self.tree);
        places
    }

    fn users_of_meshes(&self) -> HashMap<usize, Vec<usize>> {
        let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
        for (node, value) in self.list("nodes").iter().enumerate() {
            if let Some(mesh) = index(&value["mesh"]) {
                users.entry(mesh).or_default().push(node);
            }
        }
        users
    }

    /// Nodes that have more content than a mesh.
    fn pinned_nodes(&self) -> HashSet<usize> {
        let mut pinned = HashSet::new();
        for (node, value) in self.list("nodes").iter().enumerate() {
            if ["children", "camera", "extensions"]
                .into_iter()
                .any(|key| !value[key].is_null())
            {
                pinned.insert(node);
            }
        }
        let joints = self
            .list("skins")
            .iter()
            .flat_map(|skin| skin["joints"].as_array().into_iter().flatten());
        pinned.extend(joints.filter_map(index));
        for animation in self.list("animations") {
            let channels = animation["channels"].as_array().into_iter().flatten();
            let moved = channels
                .map(|channel| &channel["target"])
                .filter(|target| target["path"].as_str() != Some("weights"));
            pinned.extend(moved.filter_map(|target| index(&target["node"])));
        }
        pinned
    }

    /// Moves the mesh to a new root with the node's name and extras.
    fn copy_out(&mut self, node: usize, mesh: usize, left_over: Option<usize>) -> usize {
        let old = &mut self.list_mut("nodes")[node];
        let mut new = json!({"mesh": mesh});
        for key in ["name", "extras"] {
            if !old[key].is_null() {
                new[key] = old[key].clone();
            }
        }
        remove(old, "weights");
        if let Some(left_over) = left_over {
            set(old, "mesh", json!(left_over));
        } else {
            remove(old, "mesh");
            remove(old, "skin");
        }
        self.push("nodes", new)
    }

    /// Makes the node itself a root without a transform.
    fn move_out(&mut self, node: usize, parent: Option<usize>, mesh: usize) {
        let nodes = self.list_mut("nodes");
        for key in [
            "matrix",
            "translation",
            "rotation",
            "scale",
            "skin",
            "weights",
        ] {
            remove(&mut nodes[node], key);
        }
        set(&mut nodes[node], "mesh", json!(mesh));
        let Some(children) =
            parent.and_then(|parent| nodes[parent].get_mut("children")?.as_array_mut())
        else {
            return;
        };
        children.retain(|child| index(child) != Some(node));
        if let (true, Some(parent)) = (children.is_empty(), parent) {
            remove(&mut nodes[parent], "children");
        }
    }

    /// Puts nodes to the front of the default scene.
    pub(super) fn roots_first(&mut self, roots: &[usize]) {
        if self.list("scenes").is_empty() {
            let parents = self.parents();
            let all: Vec<usize> = (0..parents.len())
                .filter(|&node| parents[node].is_none())
                .collect();
            self.push("scenes", json!({"nodes": all}));
            self.tree.insert("scene".to_owned(), json!(0));
        }
        let shown = self.tree.get("scene").and_then(index).unwrap_or(0);
        let Some(scene) = self.list_mut("scenes").get_mut(shown) else {
            return;
        };
        let before = scene["nodes"].as_array().cloned().unwrap_or_default();
        let others = before
            .into_iter()
            .filter(|node| index(node).is_none_or(|node| !roots.contains(&node)));
        let nodes: Vec<Value> = roots
            .iter()
            .map(|&root| json!(root))
            .chain(others)
            .collect();
        if !nodes.is_empty() {
            set(scene, "nodes", json!(nodes));
        }
    }

    /// Removes joints without remaining content, and ancestors that hold only them, from all
    /// scenes.
    pub(super) fn drop_joints(&mut self, joints: &[usize]) {
        let (carries, parents) = (self.nodes_that_carry(), self.parents());
        let mut removed = vec![false; parents.len()];
        for &joint in joints {
            let above =
                std::iter::successors(Some(joint), |&node| parents.get(node).copied().flatten())
                    .take(parents.len());
            above
                .take_while(|&node| carries.get(node) == Some(&false))
                .for_each(|node| removed[node] = true);
        }
        let is_kept =
            |node: &Value| index(node).is_none_or(|node| removed.get(node) != Some(&true));
        for (list, key) in [("nodes", "children"), ("scenes", "nodes")] {
            for holder in self.list_mut(list) {
                let Some(held) = holder.get_mut(key).and_then(Value::as_array_mut) else {
                    continue;
                };
                held.retain(is_kept);
                if held.is_empty() {
                    remove(holder, key);
                }
            }
        }
    }

    /// Removes channels whose targets were removed.
    fn drop_animations(&mut self, baked_nodes: &HashSet<usize>) {
        let carries = self.nodes_that_carry();
        let mut animations = std::mem::take(self.list_mut("animations"));
        for animation in &mut animations {
            let keeps = |channel: &Value| {
                let target = &channel["target"];
                let Some(node) = index(&target["node"]) else {
                    return true;
                };
                let drives_targets = target["path"].as_str() == Some("weights");
                if drives_targets {
                    !baked_nodes.contains(&node)
                } else {
                    carries.get(node).copied().unwrap_or(false)
                }
            };
            if let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) {
                channels.retain(keeps);
            }
            drop_samplers(animation);
        }
        animations.retain(|animation| {
            animation["channels"]
                .as_array()
                .is_some_and(|channels| !channels.is_empty())
        });
        *self.list_mut("animations") = animations;
    }

    /// Whether a mesh, a camera or an extension is at or below each node.
    fn nodes_that_carry(&self) -> Vec<bool> {
        let parents = self.parents();
        let mut carries = vec![false; parents.len()];
        for (node, value) in self.list("nodes").iter().enumerate() {
            if ["mesh", "camera", "extensions"]
                .into_iter()
                .all(|key| value[key].is_null())
            {
                continue;
            }
            let mut above = Some(node);
            while let Some(current) = above.filter(|&n| !carries[n]) {
                carries[current] = true;
                above = parents[current];
            }
        }
        carries
    }
}

/// Removes unused samplers.
fn drop_samplers(animation: &mut Value) {
    let channels = animation["channels"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let used: BTreeMap<usize, usize> = {
        let used: std::collections::BTreeSet<usize> = channels
            .iter()
            .filter_map(|channel| index(&channel["sampler"]))
            .collect();
        used.into_iter()
            .enumerate()
            .map(|(new, old)| (old, new))
            .collect()
    };
    for channel in animation
        .get_mut("channels")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(new) = index(&channel["sampler"]).and_then(|old| used.get(&old)) {
            set(channel, "sampler", json!(new));
        }
    }
    if let Some(samplers) = animation.get_mut("samplers").and_then(Value::as_array_mut) {
        let mut place = 0..;
        samplers.retain(|_| place.next().is_some_and(|old| used.contains_key(&old)));
    }
}

/// Splits a mesh into one with the wanted primitives, and one with the others that have a location,
/// if any.
fn split(mesh: &Value, wanted: &[usize]) -> (Value, Option<Value>) {
    let all = mesh["primitives"].as_array().cloned().unwrap_or_default();
    let with = |primitives: Vec<Value>| {
        let mut mesh = mesh.clone();
        remove(&mut mesh, "weights");
        set(&mut mesh, "primitives", json!(primitives));
        mesh
    };
    let taken: Vec<Value> = wanted
        .iter()
        .filter_map(|&i| all.get(i))
        .map(without_location)
        .collect();
    let has_place = |primitive: &Value| !primitive["attributes"]["POSITION"].is_null();
    let others = all
        .iter()
        .enumerate()
        .filter(|(i, primitive)| !wanted.contains(i) && has_place(primitive));
    let others: Vec<Value> = others.map(|(_, primitive)| primitive.clone()).collect();
    let mut placed = with(taken);
    forget_target_names(&mut placed);
    (
        placed,
        if others.is_empty() {
            None
        } else {
            Some(with(others))
        },
    )
}

/// Removes the members of a primitive that depended on its old location.
fn without_location(primitive: &Value) -> Value {
    let mut primitive = primitive.clone();
    if let Some(attributes) = primitive
        .get_mut("attributes")
        .and_then(Value::as_object_mut)
    {
        attributes.retain(|name, _| {
            name != "TANGENT" && !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_")
        });
    }
    remove(&mut primitive, "targets");
    let emptied = primitive
        .get_mut("extensions")
        .and_then(Value::as_object_mut)
        .map(|extensions: &mut JsonObject| {
            extensions.remove("KHR_draco_mesh_compression");
            extensions.is_empty()
        });
    if emptied == Some(true) {
        remove(&mut primitive, "extensions");
    }
    primitive
}

fn forget_target_names(mesh: &mut Value) {
    let emptied = mesh
        .get_mut("extras")
        .and_then(Value::as_object_mut)
        .map(|extras| {
            extras.remove("targetNames");
            extras.is_empty()
        });
    if emptied == Some(true) {
        remove(mesh, "extras");
    }
}
