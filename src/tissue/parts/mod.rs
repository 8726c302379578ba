//! Classification of the connected parts of the skin: flesh, riding on the flesh, or rigid with a joint.
//!
//! A character often consists of many closed or open shells: limbs with ball joints, eyes, teeth, buttons, hair cards,
//! weapons, clothes over skin. A shell that bones run through gets tissue of its own, unless the file binds it to one
//! joint alone: armour and machines keep their shape. A shell that is too small for that, or lies over other flesh as a
//! layer, rides on the surface next to it ([`crate::methods::Riding`]). A shell that moves with one joint and has no
//! flesh near is rigid with the joint.
//!
//! The order of the decisions: flesh by the bones inside (`bone_lines`); layers over flesh removed again (`layers`);
//! the other parts by the file's weights, their size and their distance to the flesh (`decide`). A part that would have
//! nothing to ride on becomes flesh. Overrides by the user come first.

mod bone_lines;
mod clusters;
mod decide;
mod layers;
mod measurements;
mod overrides;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::character::{PartError, PartMap, Place};
use crate::mesh::{Bounds, Topology, TriMesh};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// The welded skin at full resolution, in the bind pose.
#[derive(Debug, Clone, Copy)]
pub struct Skin<'a> {
    /// The mesh.
    pub mesh: &'a TriMesh,
    /// Its skeleton, possibly empty.
    pub skeleton: &'a Skeleton,
    /// Weights, one row per vertex, if there are any; rows may be empty.
    pub weights: Option<&'a SkinWeights>,
    /// Names of the source meshes.
    pub names: &'a [String],
    /// For every vertex its source mesh, an index into `names`.
    pub name_of_vertex: &'a [u32],
}

/// A connected part of the skin.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SkinComponent {
    /// Unique name: that of the source mesh, with a number where the mesh has several parts, the largest first.
    pub name: String,
    /// Name of the source mesh.
    pub mesh: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Area, square world units.
    pub area: f64,
    /// Bounding box, world space.
    pub bounds: Bounds,
    /// How it moves.
    pub place: Place,
    /// For parts that ride: parts with the same number move together rigidly (an eye, its pupil, its lashes). With
    /// `None` each vertex rides by itself, as cloth does.
    pub cluster: Option<u32>,
    /// Whether the user chose `place`.
    pub by_user: bool,
    /// The reason for `place`: a clause shown to the user.
    pub reason: String,
}

/// The connected parts of a skin and how each of them moves. Immutable.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Parts {
    /// For every vertex its part, an index into `parts`.
    pub part_of_vertex: Vec<u32>,
    /// The parts, in the order of their first vertices.
    pub parts: Vec<SkinComponent>,
}

impl Parts {
    /// Classifies the parts of a skin. `overrides` that name no part are ignored: see [`Parts::check_name`].
    #[must_use]
    pub fn find(skin: &Skin<'_>, overrides: &PartMap) -> Self {
        let topology = Topology::of(skin.mesh);
        let mut parts = Self {
            parts: measure(skin, &topology),
            part_of_vertex: topology.component_of,
        };
        decide::decide(&mut parts, skin, overrides);
        parts
    }

    /// Whether a vertex is simulated.
    #[must_use]
    pub fn is_flesh(&self, vertex: usize) -> bool {
        self.parts[self.part_of_vertex[vertex] as usize].place == Place::Flesh
    }

    /// Whether everything is simulated.
    #[must_use]
    pub fn all_flesh(&self) -> bool {
        self.parts.iter().all(|part| part.place == Place::Flesh)
    }

    /// Place and cluster of each part: two classifications are the same if these are equal.
    #[must_use]
    pub fn places(&self) -> Vec<(Place, Option<u32>)> {
        self.parts
            .iter()
            .map(|part| (part.place, part.cluster))
            .collect()
    }

    /// The flesh alone, with vertices and triangles in their order, and for each of its vertices the vertex of the
    /// skin.
    #[must_use]
    pub fn flesh(&self, skin: &TriMesh) -> (TriMesh, Vec<u32>) {
        let skin_from_flesh: Vec<u32> = (0..skin.positions.len() as u32)
            .filter(|&v| self.is_flesh(v as usize))
            .collect();
        let mut flesh_from_skin = vec![u32::MAX; skin.positions.len()];
        for (flesh, &v) in skin_from_flesh.iter().enumerate() {
            flesh_from_skin[v as usize] = flesh as u32;
        }
        let mesh = TriMesh {
            positions: skin_from_flesh
                .iter()
                .map(|&v| skin.positions[v as usize])
                .collect(),
            triangles: skin
                .triangles
                .iter()
                .filter(|t| self.is_flesh(t[0] as usize))
                .map(|t| t.map(|v| flesh_from_skin[v as usize]))
                .collect(),
        };
        (mesh, skin_from_flesh)
    }
}

impl SkinComponent {
    /// Diagonal of its bounding box.
    #[must_use]
    pub fn size(&self) -> f64 {
        f64::from(self.bounds.size())
    }
}

/// Counts, areas, bounding boxes and names of the parts.
fn measure(skin: &Skin<'_>, topology: &Topology) -> Vec<SkinComponent> {
    let empty = SkinComponent {
        name: String::new(),
        mesh: String::new(),
        vertices: 0,
        triangles: 0,
        area: 0.0,
        bounds: Bounds::of([]),
        place: Place::Flesh,
        cluster: None,
        by_user: false,
        reason: String::new(),
    };
    let mut parts = vec![empty; topology.components];
    for (vertex, position) in skin.mesh.positions.iter().enumerate() {
        let part = &mut parts[topology.component_of[vertex] as usize];
        if part.vertices == 0 {
            let mesh = skin
                .name_of_vertex
                .get(vertex)
                .and_then(|&name| skin.names.get(name as usize));
            part.mesh = mesh
                .filter(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| "part".to_owned());
        }
        part.vertices += 1;
        if position.iter().all(|c| c.is_finite()) {
            part.bounds.min = part.bounds.min.inf(position);
            part.bounds.max = part.bounds.max.sup(position);
        }
    }
    for (index, triangle) in skin.mesh.triangles.iter().enumerate() {
        let part = &mut parts[topology.component_of[triangle[0] as usize] as usize];
        let [a, b, c] = skin.mesh.corners(index).map(nalgebra::OPoint::cast::<f64>);
        let area = (b - a).cross(&(c - a)).norm() / 2.0;
        part.triangles += 1;
        part.area += if area.is_finite() { area } else { 0.0 };
    }
    name(&mut parts);
    parts
}

/// Sets unique names: that of the source mesh, with a number by descending area where the mesh has several parts.
fn name(parts: &mut [SkinComponent]) {
    let mut of_mesh: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        of_mesh.entry(part.mesh.clone()).or_default().push(index);
    }
    let mut taken: std::collections::BTreeSet<String> = of_mesh.keys().cloned().collect();
    for (mesh, mut members) in of_mesh {
        if let [only] = members[..] {
            parts[only].name = mesh;
            continue;
        }
        members.sort_by(|&a, &b| parts[b].area.total_cmp(&parts[a].area).then(a.cmp(&b)));
        let mut number = 0;
        for member in members {
            parts[member].name = loop {
                number += 1;
                let name = format!("{mesh}.{number}");
                if taken.insert(name.clone()) {
                    break name;
                }
            };
        }
    }
}
