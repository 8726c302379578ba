//! Faces → vertices with one texture coordinate and normal each, triangles by material, and polygons.

use std::collections::HashMap;
use std::ops::Range;

use super::{FaceCorner, FaceGroup, Parser};
use crate::character::{Attachment, Polygons, SourceFaces, SourceMesh};
use crate::io::by_material::TrianglesByMaterial;
use crate::io::corners::{SplitVertices, split};
use crate::math::Vec3;

impl Parser {
    /// The mesh of a range of positions and the faces on it.
    pub(super) fn mesh(
        &mut self,
        range: Range<usize>,
        groups: &[&FaceGroup],
        index_of: &HashMap<String, usize>,
    ) -> SourceMesh {
        let split = self.split(&range, groups);
        let mut positions = self.positions[range].to_vec();
        for &vertex in &split.copies {
            positions.push(positions[vertex as usize]);
        }
        let mut by_material = TrianglesByMaterial::new();
        let mut polygons = Polygons::default();
        let mut corners = split.of_corner.iter().copied();
        for group in groups {
            let material = group.material.as_deref().unwrap_or_default();
            polygons.name(&group.object, &group.group, material);
            let triangles = by_material.of(&group.material);
            for face in group.faces() {
                polygons.push(corners.by_ref().take(face.len()));
                let ring = polygons.ring(polygons.len() - 1);
                self.polygons.add(ring, &positions, triangles);
            }
        }
        let grouped = by_material.finish(|name| index_of.get(name.as_ref()?.as_str()).copied());
        let name = groups.first().map_or("", |group| group.name());
        SourceMesh {
            name: if name.is_empty() { "mesh" } else { name }.to_owned(),
            triangles: grouped.triangles,
            normals: split.normals,
            tex_coords: split.tex_coords,
            material: grouped.material,
            faces: SourceFaces {
                copies: split.copies,
                sections: grouped.sections,
                polygons: Some(polygons.into()),
            },
            positions,
            attachment: Attachment::Unweighted,
        }
    }

    fn split(&self, range: &Range<usize>, groups: &[&FaceGroup]) -> SplitVertices {
        let corners = || groups.iter().flat_map(|group| &group.corners);
        let vertices: Vec<u32> = corners()
            .map(|corner| corner.position - range.start as u32)
            .collect();
        let has_uv = corners().any(|corner| corner.tex_coord.is_some());
        let uv = |corner: &FaceCorner| {
            let uv = corner.tex_coord.map(|i| self.tex_coords[i as usize]);
            uv.filter(|uv| uv.iter().all(|c| c.is_finite()))
                .unwrap_or_default()
        };
        let tex_coords: Option<Vec<[f32; 2]>> = has_uv.then(|| corners().map(uv).collect());
        // Of every corner, or of none: a normal that is missing cannot be mixed with others.
        let normals: Option<Vec<Vec3>> = corners()
            .map(|corner| {
                let normal = self.normals[corner.normal? as usize].try_normalize(1e-6)?;
                normal.iter().all(|c| c.is_finite()).then_some(normal)
            })
            .collect();
        let normals = normals.filter(|normals| !normals.is_empty());
        split(
            range.len(),
            &vertices,
            tex_coords.as_deref(),
            normals.as_deref(),
        )
    }
}
