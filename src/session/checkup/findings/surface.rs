//! Findings about faces and edges.

use super::{CheckupInput, Finding, FindingKind as Kind, counted, finding};
use crate::character::Severity;
use crate::mesh::TriMesh;
use crate::mesh::checkup::MeshCheckup;

/// Remedy text of defects that need no action.
const AS_FOUND: &str = "simulated as found";

impl CheckupInput<'_> {
    pub(super) fn surface(&self, mesh: &TriMesh, found: &MeshCheckup) -> Vec<Finding> {
        let mut findings = self.connectivity(found);
        findings.extend(self.faces(mesh, found));
        findings
    }

    /// Boundary edges, non-manifold edges and non-manifold vertices.
    fn connectivity(&self, found: &MeshCheckup) -> Vec<Finding> {
        let [borders, edges, vertices] = [
            found.boundaries.len(),
            found.non_manifold_edges.len(),
            found.non_manifold_vertices.len(),
        ];
        let rows = [
            self.defect(
                Kind::Boundaries,
                Severity::Info,
                borders,
                found.boundaries.iter().map(|rim| rim[0]),
                AS_FOUND,
                format!(
                    "{} with {}",
                    counted(borders, "open border", "open borders"),
                    counted(found.boundary_edges, "edge", "edges")
                ),
            ),
            self.defect(
                Kind::NonManifoldEdges,
                Severity::Info,
                edges,
                starts(&found.non_manifold_edges),
                AS_FOUND,
                format!(
                    "{} with more than two faces",
                    counted(edges, "edge", "edges")
                ),
            ),
            self.defect(
                Kind::NonManifoldVertices,
                Severity::Info,
                vertices,
                found.non_manifold_vertices.iter().copied(),
                AS_FOUND,
                format!(
                    "{} where surfaces touch in a point",
                    counted(vertices, "vertex", "vertices")
                ),
            ),
        ];
        rows.into_iter().flatten().collect()
    }

    /// Degenerate, duplicate, reversed and intersecting faces.
    fn faces(&self, mesh: &TriMesh, found: &MeshCheckup) -> Vec<Finding> {
        let [degenerate, duplicate, flipped, inside_out, intersecting] = [
            found.degenerate_faces.len(),
            found.duplicate_faces.len(),
            found.flipped_edges.len(),
            found.inside_out.len(),
            found.intersecting_faces.len(),
        ];
        let rows = [
            self.defect(
                Kind::DegenerateFaces,
                Severity::Info,
                degenerate,
                corners(mesh, &found.degenerate_faces),
                "moved with their neighbours",
                format!("{} without an area", counted(degenerate, "face", "faces")),
            ),
            self.defect(
                Kind::DuplicateFaces,
                Severity::Mended,
                duplicate,
                corners(mesh, &found.duplicate_faces),
                "counted once in the simulation",
                format!(
                    "{} with the same corners as another one",
                    counted(duplicate, "face", "faces")
                ),
            ),
            self.defect(
                Kind::FlippedFaces,
                Severity::Mended,
                flipped,
                starts(&found.flipped_edges),
                "oriented consistently for the simulation",
                format!(
                    "{} between faces of opposite orientation",
                    counted(flipped, "edge", "edges")
                ),
            ),
            self.defect(
                Kind::InsideOut,
                Severity::Mended,
                inside_out,
                found.inside_out.iter().copied(),
                "reoriented for the simulation",
                format!(
                    "{} inside out",
                    counted(inside_out, "closed part is", "closed parts are")
                ),
            ),
            self.defect(
                Kind::SelfIntersections,
                Severity::Info,
                intersecting,
                corners(mesh, &found.intersecting_faces),
                "contacts ignore what intersects at rest",
                format!(
                    "{} others at rest",
                    counted(intersecting, "face intersects", "faces intersect")
                ),
            ),
        ];
        rows.into_iter().flatten().collect()
    }

    fn defect(
        &self,
        kind: Kind,
        severity: Severity,
        count: usize,
        vertices: impl Iterator<Item = u32>,
        remedy: &str,
        text: String,
    ) -> Option<Finding> {
        (count > 0).then(|| Finding {
            text,
            remedy: remedy.to_owned(),
            places: self.distinct_places(vertices),
            ..finding(kind, severity, count)
        })
    }
}

/// The first vertex of each edge.
fn starts(edges: &[[u32; 2]]) -> impl Iterator<Item = u32> {
    edges.iter().map(|edge| edge[0])
}

/// The first corner of each face.
fn corners(mesh: &TriMesh, faces: &[u32]) -> impl Iterator<Item = u32> {
    faces.iter().map(|&face| mesh.triangles[face as usize][0])
}
