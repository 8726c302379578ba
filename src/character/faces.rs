//! How a file divides a surface into vertices, polygons and materials, where that is not what is drawn.
//!
//! A vertex of a mesh has one texture coordinate and one normal, as in glTF. Formats with indices per corner (FBX, OBJ) have several
//! at seams and sharp edges: their readers append a copy of the vertex for each further combination. The vertices of the file come
//! first and in the file's order, so that what is written per vertex of the file is a prefix of each mesh.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Character, SourceMesh};

/// The file's vertices, polygons and materials of a mesh. The default: vertices, triangles and one material, as the mesh has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceFaces {
    /// The file's vertex of every copy, which are the last vertices of the mesh.
    pub copies: Vec<u32>,
    /// Consecutive triangles with one material; empty: all triangles have the mesh's.
    pub sections: Vec<MaterialSection>,
    /// The polygons of the file, if it has polygons.
    pub polygons: Option<Arc<Polygons>>,
}

/// Triangles with one material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaterialSection {
    /// Number of triangles.
    pub triangles: usize,
    /// Index into [`Character::materials`].
    pub material: Option<usize>,
}

/// Polygons in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Polygons {
    /// Vertices of the mesh, copies included, polygon after polygon.
    pub corners: Vec<u32>,
    /// End of each polygon in `corners`.
    pub ends: Vec<u32>,
    /// Names of polygons; the first starts at polygon 0.
    pub groups: Vec<PolygonGroup>,
}

/// Names of consecutive polygons; empty where the file has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolygonGroup {
    /// Its first polygon.
    pub first: usize,
    /// Name of the object.
    pub object: String,
    /// Name of the group.
    pub group: String,
    /// Name of the material.
    pub material: String,
}

impl Polygons {
    /// Number of polygons.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The corners of a polygon.
    #[must_use]
    pub fn ring(&self, polygon: usize) -> &[u32] {
        &self.corners[self.range(polygon)]
    }

    /// The place of a polygon's corners.
    fn range(&self, polygon: usize) -> Range<usize> {
        let start = polygon.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[polygon] as usize
    }

    /// Appends a polygon.
    pub fn push(&mut self, ring: impl IntoIterator<Item = u32>) {
        self.corners.extend(ring);
        self.ends.push(self.corners.len() as u32);
    }

    /// Reverses the orientation of all polygons.
    pub fn turn(&mut self) {
        for polygon in 0..self.len() {
            let range = self.range(polygon);
            self.corners[range].reverse();
        }
    }

    /// Gives the following polygons these names, unless they have them.
    pub fn name(&mut self, object: &str, group: &str, material: &str) {
        let same = |last: &PolygonGroup| {
            last.object == object && last.group == group && last.material == material
        };
        if !self.groups.last().is_some_and(same) {
            self.groups.push(PolygonGroup {
                first: self.len(),
                object: object.to_owned(),
                group: group.to_owned(),
                material: material.to_owned(),
            });
        }
    }
}

impl SourceMesh {
    /// Number of vertices that the file has; the others are copies of these.
    #[must_use]
    pub fn file_vertices(&self) -> usize {
        self.positions.len().saturating_sub(self.faces.copies.len())
    }

    /// The file's vertex of a vertex.
    #[must_use]
    pub fn file_vertex(&self, vertex: usize) -> usize {
        let copy = vertex.checked_sub(self.file_vertices());
        copy.map_or(vertex, |copy| self.faces.copies[copy] as usize)
    }

    /// Ranges of triangles with one material.
    pub fn sections(&self) -> impl Iterator<Item = (Range<usize>, Option<usize>)> {
        let whole = MaterialSection {
            triangles: self.triangles.len(),
            material: self.material,
        };
        let own = self.faces.sections.iter().copied();
        let sections = own.chain(self.faces.sections.is_empty().then_some(whole));
        sections.scan(0, |end, section| {
            let start = *end;
            *end += section.triangles;
            Some((start..*end, section.material))
        })
    }
}

impl Character {
    /// Number of vertices that the files have, without copies at seams.
    #[must_use]
    pub fn file_vertices(&self) -> usize {
        self.meshes.iter().map(SourceMesh::file_vertices).sum()
    }

    /// Of values of all vertices those of the file's vertices, in the file's order.
    ///
    /// # Panics
    /// If there are fewer values than vertices.
    #[must_use]
    pub fn at_file_vertices<'a, T: Copy>(&self, values: &'a [T]) -> Cow<'a, [T]> {
        if self.meshes.iter().all(|mesh| mesh.faces.copies.is_empty()) {
            return Cow::Borrowed(values);
        }
        let mut first = 0;
        let mut kept = Vec::with_capacity(self.file_vertices());
        for mesh in &self.meshes {
            kept.extend_from_slice(&values[first..first + mesh.file_vertices()]);
            first += mesh.positions.len();
        }
        Cow::Owned(kept)
    }

    /// Values of all vertices from those of the file's vertices; `None` unless there is one for each.
    #[must_use]
    pub fn from_file_vertices<T: Copy>(&self, values: &[T]) -> Option<Vec<T>> {
        if values.len() != self.file_vertices() {
            return None;
        }
        let mut all = Vec::with_capacity(self.source_vertices());
        let mut first = 0;
        for mesh in &self.meshes {
            all.extend((0..mesh.positions.len()).map(|v| values[first + mesh.file_vertex(v)]));
            first += mesh.file_vertices();
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    #[test]
    fn values_go_to_the_file_and_back() {
        let mut a = SourceMesh::bare("a", vec![Point::origin(); 5], vec![[0, 1, 2]; 4]);
        a.faces.copies = vec![2, 0];
        a.faces.sections = [(1, Some(4)), (3, None)]
            .map(|(triangles, material)| MaterialSection {
                triangles,
                material,
            })
            .to_vec();
        let b = SourceMesh::bare("b", vec![Point::origin(); 2], vec![]);
        let character = Character {
            meshes: vec![a, b],
            ..Character::default()
        };
        assert_eq!(character.file_vertices(), 5);
        let all = character.from_file_vertices(&[10, 11, 12, 20, 21]).unwrap();
        assert_eq!(all, [10, 11, 12, 12, 10, 20, 21]);
        assert_eq!(*character.at_file_vertices(&all), [10, 11, 12, 20, 21]);
        assert_eq!(character.from_file_vertices(&[1, 2]), None);
        let sections: Vec<_> = character.meshes[0].sections().collect();
        assert_eq!(sections, [(0..1, Some(4)), (1..4, None)]);
        let whole: Vec<_> = character.meshes[1].sections().collect();
        assert_eq!(whole, [(0..0, None)]);
    }

    #[test]
    fn polygons_keep_their_names() {
        let mut polygons = Polygons::default();
        polygons.name("o", "g", "red");
        polygons.push([0, 1, 2, 3]);
        polygons.name("o", "g", "red");
        polygons.push([2, 1, 0]);
        polygons.name("o", "g", "blue");
        polygons.push([4, 5, 6]);
        assert_eq!(polygons.len(), 3);
        assert_eq!(polygons.ring(1), [2, 1, 0]);
        let firsts: Vec<usize> = polygons.groups.iter().map(|group| group.first).collect();
        assert_eq!(firsts, [0, 2]);
    }
}
