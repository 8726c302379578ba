//! The grids on which positions are stored.

use std::collections::{HashMap, HashSet};

use gltf::json::Root;
use serde_json::Value;

use super::super::draft::JsonObject;
use crate::io::error::Parsed;
use crate::io::gltf::accessor::Accessors;
use crate::io::gltf::document::number;
use crate::io::gltf::scene::NodeTree;
use crate::math::{Affine, Point64, linear_part};
use nalgebra::{Matrix4, Translation3};

/// Largest coordinate on a grid.
const LARGEST: f64 = 65535.0;
/// The grid is this many times as wide as the largest displacement: differences of its points then fit into `i16`.
const OF_DISPLACEMENT: f64 = 2.001;

/// Points of a cube: `origin + step · (i, j, k)` with coordinates of 0 to 65535.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub(super) origin: [f32; 3],
    pub(super) step: f32,
}

impl Grid {
    /// The nearest point of the grid, continued beyond the cube.
    pub(super) fn nearest(&self, position: [f64; 3]) -> [i32; 3] {
        std::array::from_fn(|c| {
            let along = (position[c] - f64::from(self.origin[c])) / f64::from(self.step);
            along.round() as i32
        })
    }

    /// Takes points of the grid to positions.
    pub(super) fn mesh_from_grid(&self) -> Affine {
        let place = Translation3::from(self.origin.map(f64::from));
        let scaled = Matrix4::new_scaling(f64::from(self.step));
        Affine::from_matrix_unchecked(place.to_homogeneous() * scaled)
    }
}

/// Box of positions, and the largest displacement along an axis.
#[derive(Debug, Clone, Copy)]
struct Reach {
    min: [f32; 3],
    max: [f32; 3],
    moved: f32,
}

impl Reach {
    const NONE: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
        moved: 0.0,
    };

    fn with(self, other: Self) -> Self {
        Self {
            min: std::array::from_fn(|c| self.min[c].min(other.min[c])),
            max: std::array::from_fn(|c| self.max[c].max(other.max[c])),
            moved: self.moved.max(other.moved),
        }
    }

    /// `None` if there is nothing to divide.
    fn grid(self) -> Option<Grid> {
        let edges = (0..3).map(|c| f64::from(self.max[c]) - f64::from(self.min[c]));
        let edge = edges.fold(OF_DISPLACEMENT * f64::from(self.moved), f64::max);
        // Rounded up, so that the last point is not before the end of the box.
        let step = ((edge / LARGEST) as f32).next_up();
        (edge > 0.0 && step.is_normal()).then_some(Grid {
            origin: self.min,
            step,
        })
    }
}

/// The grid of every mesh of a document that gets one.
#[derive(Debug)]
pub(super) struct Grids {
    of_meshes: Vec<Option<(usize, Grid)>>,
}

impl Grids {
    pub(super) fn of<'a>(
        tree: &JsonObject,
        accessors: &impl Fn() -> Accessors<'a>,
    ) -> Parsed<Self> {
        let list = |name: &str| {
            tree.get(name)
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice)
        };
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        let mut left_out = HashSet::new();
        let below: HashSet<u64> = (list("nodes").iter())
            .flat_map(|node| node["children"].as_array().into_iter().flatten())
            .filter_map(Value::as_u64)
            .collect();
        for (index, node) in list("nodes").iter().enumerate() {
            let Some(mesh) = node["mesh"].as_u64().map(|mesh| mesh as usize) else {
                continue;
            };
            let is_shared =
                !node["skin"].is_null() || (is_plain(node) && !below.contains(&(index as u64)));
            // The first grid is shared.
            let group = if is_shared { 0 } else { 1 + mesh };
            let known = group_of.entry(mesh).or_insert(group);
            *known = (*known).max(group);
            if node["extensions"]["EXT_mesh_gpu_instancing"].is_object() {
                left_out.insert(mesh);
            }
        }
        let mut reaches: HashMap<usize, Reach> = HashMap::new();
        let mut groups = Vec::with_capacity(list("meshes").len());
        for (index, mesh) in list("meshes").iter().enumerate() {
            let group = group_of.get(&index).filter(|_| !left_out.contains(&index));
            let reach = match group {
                Some(_) => reach_of(mesh, list("accessors"), accessors)?,
                None => None,
            };
            groups.push(group.copied().filter(|_| reach.is_some()));
            if let (Some(&group), Some(reach)) = (group, reach) {
                let all = reaches.entry(group).or_insert(Reach::NONE);
                *all = all.with(reach);
            }
        }
        let grid = |group: usize| Some((group, reaches.get(&group)?.grid()?));
        Ok(Self {
            of_meshes: groups.into_iter().map(|group| grid(group?)).collect(),
        })
    }

    /// The grid of a mesh, and its number.
    pub(super) fn get(&self, mesh: usize) -> Option<(usize, Grid)> {
        self.of_meshes.get(mesh).copied().flatten()
    }

    /// The largest step in the world, at the rest pose.
    pub(super) fn world_step(&self, root: &Root, accessors: &Accessors<'_>) -> Parsed<f64> {
        let scene = NodeTree::of(root)?;
        let longest = |transform: &Affine| {
            let columns = linear_part(transform);
            (columns.column_iter())
                .map(|c| c.norm())
                .fold(0.0, f64::max)
        };
        let mut largest = 0.0_f64;
        for &node in &scene.visible {
            let Some((_, grid)) = number(root.nodes[node].mesh).and_then(|mesh| self.get(mesh))
            else {
                continue;
            };
            let mut scale = longest(&scene.world[node]);
            if let Some(skin) = root.nodes[node].skin.and_then(|skin| root.get(skin)) {
                let binds = match number(skin.inverse_bind_matrices) {
                    Some(binds) => accessors.reals::<16>(binds)?,
                    None => vec![IDENTITY; skin.joints.len()],
                };
                let joints = skin
                    .joints
                    .iter()
                    .zip(&binds)
                    .map(|(joint, bind)| longest(&(scene.world[joint.value()] * affine(bind))));
                scale = joints.fold(0.0, f64::max);
            }
            largest = largest.max(scale * f64::from(grid.step));
        }
        Ok(largest)
    }
}

pub(super) const IDENTITY: [f32; 16] = [
    1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
];

/// By columns, as glTF stores matrices.
pub(super) fn affine(columns: &[f32; 16]) -> Affine {
    Affine::from_matrix_unchecked(Matrix4::from_column_slice(&columns.map(f64::from)))
}

/// Whether a node has no transform.
pub(super) fn is_plain(node: &Value) -> bool {
    ["matrix", "translation", "rotation", "scale"]
        .iter()
        .all(|key| node[key].is_null())
}

/// Where the vertices of a mesh are; `None` if its positions are no plain numbers.
fn reach_of<'a>(
    mesh: &Value,
    list: &[Value],
    accessors: &impl Fn() -> Accessors<'a>,
) -> Parsed<Option<Reach>> {
    let mut all = Reach::NONE;
    for primitive in mesh["primitives"].as_array().into_iter().flatten() {
        if primitive["extensions"]["KHR_draco_mesh_compression"].is_object() {
            return Ok(None);
        }
        let targets = primitive["targets"].as_array().into_iter().flatten();
        let displacements = targets
            .map(|target| &target["POSITION"])
            .filter(|at| !at.is_null());
        let base = std::iter::once((&primitive["attributes"]["POSITION"], true));
        for (at, is_base) in base.chain(displacements.map(|at| (at, false))) {
            let index = at.as_u64().map_or(usize::MAX, |index| index as usize);
            if list
                .get(index)
                .is_none_or(|accessor| accessor["componentType"] != 5126)
            {
                return Ok(None);
            }
            for vector in accessors().reals::<3>(index)? {
                if !Point64::from(vector.map(f64::from))
                    .iter()
                    .all(|c| c.abs() < 1e15)
                {
                    return Ok(None);
                }
                all = all.with(if is_base {
                    Reach {
                        min: vector,
                        max: vector,
                        moved: 0.0,
                    }
                } else {
                    let moved = vector.iter().fold(0.0, |most: f32, c| most.max(c.abs()));
                    Reach {
                        moved,
                        ..Reach::NONE
                    }
                });
            }
        }
    }
    Ok(Some(all).filter(|all| all.min[0].is_finite()))
}
