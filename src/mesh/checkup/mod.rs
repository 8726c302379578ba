//! Defects of a mesh, counted and located. Nothing is changed here: see [`super::repair()`].
//!
//! Connectivity follows the indices as they are: weld first, otherwise seams count as boundaries.

mod edges;
mod intersections;

use std::collections::HashSet;

use super::{Topology, TriMesh};
use crate::progress::{Cancelled, Progress};

pub(crate) use edges::EdgeFaces;
pub use intersections::{intersecting_faces, intersecting_pairs, triangles_intersect};

/// A face is degenerate if its area is below this fraction of its longest edge squared.
const FLAT: f64 = 1e-9;

/// Defects found; all lists ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshCheckup {
    /// Number of connected components.
    pub parts: usize,
    /// Boundary edges: exactly one face.
    pub boundary_edges: usize,
    /// Boundary loops: the vertices of each, the longest first.
    pub boundaries: Vec<Vec<u32>>,
    /// Non-manifold edges: more than two faces.
    pub non_manifold_edges: Vec<[u32; 2]>,
    /// Non-manifold vertices: more than one fan of faces.
    pub non_manifold_vertices: Vec<u32>,
    /// Faces of zero area, or with a repeated corner.
    pub degenerate_faces: Vec<u32>,
    /// Faces with the same corners as an earlier one.
    pub duplicate_faces: Vec<u32>,
    /// Edges whose two faces are inconsistently oriented.
    pub flipped_edges: Vec<[u32; 2]>,
    /// The first vertex of every closed component that is inside out.
    pub inside_out: Vec<u32>,
    /// Vertices without a face.
    pub unreferenced: Vec<u32>,
    /// Faces that intersect others.
    pub intersecting_faces: Vec<u32>,
}

impl MeshCheckup {
    /// Checks a mesh.
    ///
    /// # Errors
    /// [`Cancelled`].
    ///
    /// # Panics
    /// If a triangle index is out of range.
    pub fn of(mesh: &TriMesh, progress: &Progress) -> Result<Self, Cancelled> {
        progress.report(0.0, "Checking edges");
        let (degenerate_faces, duplicate_faces) = useless_faces(mesh);
        // Edge checks ignore degenerate and duplicate faces.
        let useless: HashSet<u32> = degenerate_faces
            .iter()
            .filter(|&&f| repeats(mesh.triangles[f as usize]))
            .copied()
            .collect();
        let sound = |index: &usize| !useless.contains(&(*index as u32));
        let triangles = (0..mesh.triangles.len())
            .filter(sound)
            .map(|index| mesh.triangles[index])
            .collect();
        let clean = TriMesh {
            positions: mesh.positions.clone(),
            triangles,
        };
        let topology = Topology::of(&clean);
        let edges = EdgeFaces::of(&clean);
        let mut used = vec![false; mesh.positions.len()];
        mesh.triangles
            .iter()
            .flatten()
            .for_each(|&v| used[v as usize] = true);
        let unreferenced: Vec<u32> = (0..used.len() as u32)
            .filter(|&v| !used[v as usize])
            .collect();
        progress.check()?;
        progress.report(0.3, "Looking for self-intersections");
        let intersecting_faces = intersecting_faces(mesh, progress)?;
        Ok(Self {
            parts: topology.components - unreferenced.len(),
            boundary_edges: topology.boundary_edges(),
            boundaries: edges.boundaries(),
            non_manifold_edges: edges.non_manifold(),
            non_manifold_vertices: edges::split_vertices(&clean),
            flipped_edges: edges.flipped(),
            inside_out: inside_out(&clean, &topology, &edges),
            degenerate_faces,
            duplicate_faces,
            unreferenced,
            intersecting_faces,
        })
    }
}

/// Degenerate faces, and duplicates of an earlier one.
fn useless_faces(mesh: &TriMesh) -> (Vec<u32>, Vec<u32>) {
    let mut seen = HashSet::with_capacity(mesh.triangles.len());
    let (mut degenerate, mut duplicate) = (Vec::new(), Vec::new());
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        let [a, b, c] = mesh.corners(index).map(nalgebra::OPoint::cast::<f64>);
        let longest = (b - a)
            .norm_squared()
            .max((c - b).norm_squared())
            .max((a - c).norm_squared());
        // A NaN area counts as degenerate.
        let has_area = (b - a).cross(&(c - a)).norm() / 2.0 > FLAT * longest;
        if repeats(*triangle) || !has_area {
            degenerate.push(index as u32);
        } else if !seen.insert(sorted) {
            duplicate.push(index as u32);
        }
    }
    (degenerate, duplicate)
}

pub(super) fn repeats([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// First vertices of closed, consistently oriented components with negative volume.
fn inside_out(mesh: &TriMesh, topology: &Topology, edges: &EdgeFaces) -> Vec<u32> {
    let count = topology.components;
    let mut closed = vec![true; count];
    for [a, _] in edges
        .boundary()
        .chain(edges.flipped())
        .chain(edges.non_manifold())
    {
        closed[topology.component_of[a as usize] as usize] = false;
    }
    let volumes = volumes(mesh, topology);
    let mut first = vec![u32::MAX; count];
    for (vertex, &part) in topology.component_of.iter().enumerate().rev() {
        first[part as usize] = vertex as u32;
    }
    (0..count)
        .filter(|&part| closed[part] && volumes[part] < 0.0)
        .map(|part| first[part])
        .collect()
}

/// Signed volumes of the components, each relative to one of its corners.
pub(crate) fn volumes(mesh: &TriMesh, topology: &Topology) -> Vec<f64> {
    let mut volumes = vec![0.0; topology.components];
    let mut origins = vec![None; topology.components];
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let part = topology.component_of[triangle[0] as usize] as usize;
        let [a, b, c] = mesh.corners(index).map(nalgebra::OPoint::cast::<f64>);
        let origin = *origins[part].get_or_insert(a);
        let volume = (a - origin).dot(&(b - origin).cross(&(c - origin))) / 6.0;
        volumes[part] += if volume.is_finite() { volume } else { 0.0 };
    }
    volumes
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{ball, joined, moved, tube};
    use super::*;
    use crate::math::{Point, Vec3};

    fn check(mesh: &TriMesh) -> MeshCheckup {
        MeshCheckup::of(mesh, &Progress::new()).unwrap()
    }

    #[test]
    fn a_valid_ball_has_one_component_and_no_defects() {
        let found = check(&ball(Point::origin(), 1.0, 8, 12));
        assert_eq!(
            found,
            MeshCheckup {
                parts: 1,
                ..MeshCheckup::default()
            }
        );
    }

    #[test]
    fn an_open_tube_has_two_boundary_loops() {
        let found = check(&tube(0.1, 1.0, 4, 9, false));
        assert_eq!((found.parts, found.boundary_edges), (1, 18));
        assert_eq!(
            found.boundaries.iter().map(Vec::len).collect::<Vec<_>>(),
            [9, 9]
        );
        assert!(found.inside_out.is_empty());
    }

    #[test]
    fn inside_out_components_are_found() {
        let mut turned = ball(Point::new(5.0, 0.0, 0.0), 1.0, 8, 12);
        for triangle in &mut turned.triangles {
            triangle.swap(0, 1);
        }
        let sound = ball(Point::origin(), 1.0, 8, 12);
        let first = sound.positions.len() as u32;
        let found = check(&joined(&[sound, turned]));
        assert_eq!(
            (found.inside_out, found.flipped_edges.len()),
            (vec![first], 0)
        );
        let mut one = ball(Point::origin(), 1.0, 8, 12);
        one.triangles[20].swap(0, 1);
        let found = check(&one);
        assert_eq!((found.flipped_edges.len(), found.inside_out.len()), (3, 0));
    }

    #[test]
    fn degenerate_faces_and_unused_vertices_are_counted_once() {
        let mut mesh = ball(Point::origin(), 1.0, 8, 12);
        let faces = mesh.triangles.len() as u32;
        mesh.triangles.push([4, 4, 5]);
        let [a, b, c] = mesh.triangles[10];
        mesh.triangles.extend([[b, c, a], [a, c, b]]);
        mesh.positions.push(Point::origin());
        let found = check(&mesh);
        assert_eq!(
            (found.degenerate_faces, found.duplicate_faces),
            (vec![faces], vec![faces + 1, faces + 2])
        );
        assert_eq!(
            (
                found.unreferenced.len(),
                found.parts,
                found.non_manifold_edges.len()
            ),
            (1, 1, 3)
        );
    }

    #[test]
    fn fans_that_share_only_a_vertex_are_non_manifold() {
        let p = |x: f32, y: f32| Point::new(x, y, 0.0);
        let positions = vec![
            p(0.0, 0.0),
            p(1.0, 0.0),
            p(1.0, 1.0),
            p(-1.0, 0.0),
            p(-1.0, -1.0),
        ];
        let found = check(&TriMesh {
            positions,
            triangles: vec![[0, 1, 2], [0, 3, 4]],
        });
        assert_eq!((found.non_manifold_vertices, found.parts), (vec![0], 1));
    }

    #[test]
    fn intersecting_balls_are_found_and_disjoint_ones_are_not() {
        let ball = |x: f32| ball(Point::new(x, 0.0, 0.0), 1.0, 10, 14);
        assert!(
            check(&joined(&[ball(0.0), ball(2.5)]))
                .intersecting_faces
                .is_empty()
        );
        let both = joined(&[ball(0.0), moved(ball(1.0), Vec3::new(0.0, 0.013, 0.007))]);
        let found = check(&both).intersecting_faces;
        let half = both.triangles.len() as u32 / 2;
        assert!(
            found.iter().any(|&f| f < half)
                && found.iter().any(|&f| f >= half)
                && found.len() < half as usize,
            "{found:?}"
        );
    }

    #[test]
    fn an_empty_mesh_has_no_defects() {
        assert_eq!(check(&TriMesh::default()), MeshCheckup::default());
        let invalid = TriMesh {
            positions: vec![Point::new(f32::NAN, 0.0, f32::INFINITY); 3],
            triangles: vec![[0, 1, 2], [0, 0, 0]],
        };
        assert_eq!(check(&invalid).degenerate_faces, [0, 1]);
    }
}
