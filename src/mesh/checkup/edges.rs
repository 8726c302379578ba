//! Edges with their incident faces and orientations.

use std::collections::BTreeMap;

use crate::mesh::TriMesh;
use crate::mesh::around::VertexTriangles;

/// An edge as a side of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeSide {
    edge: [u32; 2],
    face: u32,
    /// Whether the face traverses the edge from the smaller index to the larger.
    forward: bool,
}

/// All edges with their incident faces.
pub(crate) struct EdgeFaces {
    uses: Vec<EdgeSide>,
}

impl EdgeFaces {
    pub(crate) fn of(mesh: &TriMesh) -> Self {
        let mut uses = Vec::with_capacity(mesh.triangles.len() * 3);
        for (face, &[a, b, c]) in mesh.triangles.iter().enumerate() {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                uses.push(EdgeSide {
                    edge: [from.min(to), from.max(to)],
                    face: face as u32,
                    forward: from < to,
                });
            }
        }
        uses.sort_unstable();
        Self { uses }
    }

    fn edges(&self) -> impl Iterator<Item = &[EdgeSide]> {
        self.uses.chunk_by(|a, b| a.edge == b.edge)
    }

    /// Edges with one face.
    pub(crate) fn boundary(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.edges()
            .filter(|uses| uses.len() == 1)
            .map(|uses| uses[0].edge)
    }

    /// Edges with more than two faces.
    pub(crate) fn non_manifold(&self) -> Vec<[u32; 2]> {
        self.edges()
            .filter(|uses| uses.len() > 2)
            .map(|uses| uses[0].edge)
            .collect()
    }

    /// Edges whose two faces traverse them in the same direction, i.e. are inconsistently oriented.
    pub(crate) fn flipped(&self) -> Vec<[u32; 2]> {
        self.edges()
            .filter(|uses| matches!(uses, [a, b] if a.forward == b.forward))
            .map(|uses| uses[0].edge)
            .collect()
    }

    /// Pairs of faces that share an edge of exactly two faces, and whether they traverse it in
    /// opposite directions, i.e. consistently.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = ([u32; 2], bool)> + '_ {
        self.edges().filter_map(|uses| match uses {
            [a, b] => Some(([a.face, b.face], a.forward != b.forward)),
            _ => None,
        })
    }

    /// Vertices of boundary loops, loop by loop, the longest first. Loops that touch count as one.
    pub(crate) fn boundaries(&self) -> Vec<Vec<u32>> {
        let mut group: BTreeMap<u32, u32> = BTreeMap::new();
        for [a, b] in self.boundary() {
            group.entry(a).or_insert(a);
            group.entry(b).or_insert(b);
            let (a, b) = (root(&mut group, a), root(&mut group, b));
            group.insert(a.max(b), a.min(b));
        }
        let vertices: Vec<u32> = group.keys().copied().collect();
        let mut borders: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for vertex in vertices {
            borders
                .entry(root(&mut group, vertex))
                .or_default()
                .push(vertex);
        }
        let mut borders: Vec<Vec<u32>> = borders.into_values().collect();
        borders.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        borders
    }
}

/// The representative of a vertex (union-find with path compression).
fn root(group: &mut BTreeMap<u32, u32>, vertex: u32) -> u32 {
    let mut top = vertex;
    while let Some(&next) = group.get(&top).filter(|&&next| next != top) {
        top = next;
    }
    let mut walk = vertex;
    while walk != top {
        walk = group.insert(walk, top).unwrap_or(top);
    }
    top
}

/// Vertices whose faces form more than one fan: faces that share an edge at the vertex are in the
/// same fan.
pub(super) fn split_vertices(mesh: &TriMesh) -> Vec<u32> {
    let faces = VertexTriangles::of(mesh.positions.len(), &mesh.triangles);
    let mut split = Vec::new();
    let mut ends: Vec<(u32, usize)> = Vec::new();
    let mut fan: Vec<usize> = Vec::new();
    for vertex in 0..mesh.positions.len() as u32 {
        let around = faces.vertex(vertex);
        // Faces are joined through their common neighbours of the vertex.
        ends.clear();
        fan.clear();
        fan.extend(0..around.len());
        for (place, &face) in around.iter().enumerate() {
            ends.extend(
                mesh.triangles[face as usize]
                    .iter()
                    .filter(|&&v| v != vertex)
                    .map(|&v| (v, place)),
            );
        }
        ends.sort_unstable();
        let mut fans = around.len();
        for pair in ends.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (mut a, mut b) = (pair[0].1, pair[1].1);
            while fan[a] != a {
                a = fan[a];
            }
            while fan[b] != b {
                b = fan[b];
            }
            if a != b {
                fan[a.max(b)] = a.min(b);
                fans -= 1;
            }
        }
        if fans > 1 {
            split.push(vertex);
        }
    }
    split
}
