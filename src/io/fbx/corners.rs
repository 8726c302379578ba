//! Corners of polygons → vertices with one texture coordinate and normal each, triangles by material.

use super::number;
use crate::character::Polygons;
use crate::io::by_material::{GroupedTriangles, TrianglesByMaterial};
use crate::io::corners::{SplitVertices, split};
use crate::io::polygon::Triangulator;
use crate::math::{Point, Vec3};

/// Gives every combination of a control point, a texture coordinate and a normal a vertex.
pub(super) fn split_vertices(mesh: &ufbx::Mesh) -> SplitVertices {
    let corners: &[u32] = &mesh.vertex_indices;
    let tex_coords = at_corners(corners.len(), &mesh.vertex_uv.indices, |i| {
        // FBX measures v from the bottom of the image, glTF and this crate from the top.
        let uv = mesh.vertex_uv.values.get(i)?;
        let uv = [uv.x as f32, 1.0 - uv.y as f32];
        uv.iter().all(|c| c.is_finite()).then_some(uv)
    });
    let normals = at_corners(corners.len(), &mesh.vertex_normal.indices, |i| {
        let n = mesh.vertex_normal.values.get(i)?;
        let unit = Vec3::new(n.x as f32, n.y as f32, n.z as f32).try_normalize(1e-6)?;
        unit.iter().all(|c| c.is_finite()).then_some(unit)
    });
    split(
        mesh.vertices.len(),
        corners,
        tex_coords.as_deref(),
        normals.as_deref(),
    )
}

/// A property of all corners, if all of them have a usable value.
fn at_corners<T>(
    corners: usize,
    indices: &[u32],
    value: impl Fn(usize) -> Option<T>,
) -> Option<Vec<T>> {
    let is_whole = indices.len() == corners && corners > 0;
    let values = || indices.iter().map(|&i| value(i as usize)).collect();
    is_whole.then(values).flatten()
}

/// The faces of a mesh.
pub(super) struct FbxFaces {
    pub(super) grouped: GroupedTriangles,
    pub(super) polygons: Polygons,
}

impl FbxFaces {
    /// `of_corner` is the vertex of each corner.
    pub(super) fn of(
        scene: &ufbx::Scene,
        node: usize,
        mesh: &ufbx::Mesh,
        of_corner: &[u32],
        positions: &[Point],
        triangulator: &mut Triangulator,
    ) -> Self {
        let name: &str = &scene.nodes[node].element.name;
        let own = &scene.nodes[node].materials;
        let materials = if own.is_empty() { &mesh.materials } else { own };
        let material_of = |face: usize| {
            let slot = mesh.face_material.get(face).copied().unwrap_or_default();
            let material = materials.get(slot as usize)?;
            Some(number(&material.element)).filter(|&m| m < scene.materials.len())
        };
        let named = |material: &ufbx::Material, index: usize| {
            let name: &str = &material.element.name;
            if name.is_empty() {
                format!("material{index}")
            } else {
                name.to_owned()
            }
        };
        let mut by_material = TrianglesByMaterial::new();
        let mut polygons = Polygons::default();
        for (i, face) in mesh.faces.iter().enumerate() {
            let (start, count) = (face.index_begin as usize, face.num_indices as usize);
            let ring = of_corner.get(start..start.saturating_add(count));
            let (Some(ring), false) = (ring, mesh.face_hole.get(i).copied().unwrap_or(false))
            else {
                continue;
            };
            if count < 3 {
                continue;
            }
            let material = material_of(i);
            let named = material.map_or(String::new(), |m| named(&scene.materials[m], m));
            polygons.name(name, "", &named);
            polygons.push(ring.iter().copied());
            triangulator.add(ring, positions, by_material.of(material));
        }
        Self {
            grouped: by_material.finish(|material| *material),
            polygons,
        }
    }
}
