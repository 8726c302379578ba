//! Triangles and vertex rings of a mesh during decimation.

use crate::mesh::TriMesh;

/// Marks every corner of a removed triangle.
const GONE: u32 = u32::MAX;

/// The mesh during decimation. The ring of a vertex (its triangles) is a range of one flat pool; a
/// merged ring is stored where it fits, or at the pool's end.
#[derive(Debug, Clone)]
pub(super) struct LiveMesh {
    triangles: Vec<[u32; 3]>,
    rings: Vec<RingRange>,
    pool: Vec<u32>,
    marks: Vec<u32>,
    epoch: u32,
}

/// A range of the pool.
#[derive(Debug, Clone, Copy, Default)]
struct RingRange {
    start: u32,
    /// Number of entries, including removed triangles.
    len: u32,
    /// Capacity.
    room: u32,
    /// Number of removed triangles among the entries.
    gone: u32,
}

/// An edge with its incident triangles.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeTriangles {
    /// Its triangles, and the corner of each opposite to the edge.
    pub faces: Vec<(u32, u32)>,
    /// Number of triangles that traverse the edge from the first vertex to the second.
    forward: usize,
}

impl EdgeTriangles {
    /// Whether the edge does not have exactly two consistently oriented triangles: a boundary, a
    /// non-manifold edge, or one where the orientation flips.
    pub(super) fn is_feature(&self) -> bool {
        self.faces.len() != 2 || self.forward != 1
    }
}

/// The vertex of `triangle` after `v`, and the one after that.
fn others([a, b, c]: [u32; 3], v: u32) -> [u32; 2] {
    if a == v {
        [b, c]
    } else if b == v {
        [c, a]
    } else {
        [a, b]
    }
}

impl LiveMesh {
    /// Keeps the triangles with three different corners.
    pub(super) fn of(mesh: &TriMesh) -> Self {
        let n = mesh.positions.len();
        let proper = |&[a, b, c]: &[u32; 3]| {
            if a != b && b != c && c != a {
                [a, b, c]
            } else {
                [GONE; 3]
            }
        };
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(proper).collect();
        let mut rings = vec![RingRange::default(); n];
        for &v in triangles.as_flattened().iter().filter(|&&v| v != GONE) {
            rings[v as usize].room += 1;
        }
        let mut total = 0;
        for ring in &mut rings {
            ring.start = total;
            total += ring.room;
        }
        let mut pool = vec![0; total as usize];
        for (index, triangle) in triangles
            .iter()
            .enumerate()
            .filter(|(_, triangle)| triangle[0] != GONE)
        {
            for &v in triangle {
                let ring = &mut rings[v as usize];
                pool[(ring.start + ring.len) as usize] = index as u32;
                ring.len += 1;
            }
        }
        Self {
            triangles,
            rings,
            pool,
            marks: vec![0; n],
            epoch: 0,
        }
    }

    /// Indices of the triangles around a vertex, with the two other corners of each in order.
    pub(super) fn ring(&self, v: u32) -> impl Iterator<Item = (u32, [u32; 2])> + '_ {
        let ring = &self.rings[v as usize];
        let entries = &self.pool[ring.start as usize..(ring.start + ring.len) as usize];
        entries.iter().filter_map(move |&t| {
            let triangle = self.triangles[t as usize];
            (triangle[0] != GONE).then(|| (t, others(triangle, v)))
        })
    }

    /// Number of triangles of a vertex; 0 once it is merged into another.
    pub(super) fn degree(&self, v: u32) -> usize {
        let ring = &self.rings[v as usize];
        (ring.len - ring.gone) as usize
    }

    /// The remaining triangles.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.triangles
            .iter()
            .copied()
            .filter(|triangle| triangle[0] != GONE)
    }

    /// Writes the neighbours of `v`, each once.
    pub(super) fn neighbors_into(&mut self, v: u32, out: &mut Vec<u32>) {
        out.clear();
        let epoch = self.next_epoch();
        let RingRange { start, len, .. } = self.rings[v as usize];
        for entry in start..start + len {
            let triangle = self.triangles[self.pool[entry as usize] as usize];
            if triangle[0] == GONE {
                continue;
            }
            for other in others(triangle, v) {
                if self.marks[other as usize] != epoch {
                    self.marks[other as usize] = epoch;
                    out.push(other);
                }
            }
        }
    }

    /// Returns two mark values not yet in use.
    fn next_epoch(&mut self) -> u32 {
        if self.epoch > u32::MAX - 4 {
            self.epoch = 0;
            self.marks.fill(0);
        }
        self.epoch += 2;
        self.epoch
    }

    /// Collects the triangles at the edge from `u` to `v`.
    pub(super) fn edge_into(&self, u: u32, v: u32, edge: &mut EdgeTriangles) {
        edge.faces.clear();
        edge.forward = 0;
        for (t, [next, last]) in self.ring(u) {
            if next == v {
                edge.forward += 1;
                edge.faces.push((t, last));
            } else if last == v {
                edge.faces.push((t, next));
            }
        }
    }

    /// Link condition: merging the ends preserves the topology if the links of `u` and `v`
    /// intersect exactly in the link of the edge (Dey, Edelsbrunner, Guha, Nekhayev, "Topology
    /// preserving edge contraction", 1999).
    pub(super) fn link_condition(&mut self, u: u32, v: u32, edge: &EdgeTriangles) -> bool {
        let epoch = self.next_epoch();
        let mut common = 0;
        for (vertex, seen, mark) in [(u, None, epoch), (v, Some(epoch), epoch + 1)] {
            let RingRange { start, len, .. } = self.rings[vertex as usize];
            for entry in start..start + len {
                let triangle = self.triangles[self.pool[entry as usize] as usize];
                if triangle[0] == GONE {
                    continue;
                }
                for other in others(triangle, vertex) {
                    let slot = &mut self.marks[other as usize];
                    match seen {
                        None => *slot = mark,
                        Some(seen) if *slot == seen && other != u => {
                            *slot = mark;
                            common += 1;
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        if common != edge.faces.len() {
            return false;
        }
        // As many common neighbours as triangles, so they are the opposite corners. No triangle
        // between two of them may exist on both sides.
        let bridged = |vertex: u32, other_end: u32| {
            self.ring(vertex).any(|(_, pair)| {
                pair.iter()
                    .all(|&w| w != other_end && self.marks[w as usize] == epoch + 1)
            })
        };
        !(bridged(u, v) && bridged(v, u))
    }

    /// Merges `gone` into `kept`: the triangles at the edge are removed, the others of `gone` move
    /// to `kept`.
    pub(super) fn merge(
        &mut self,
        kept: u32,
        gone: u32,
        edge: &EdgeTriangles,
        scratch: &mut Vec<u32>,
    ) {
        for &(t, opposite) in &edge.faces {
            self.triangles[t as usize] = [GONE; 3];
            self.note_removed(opposite);
        }
        scratch.clear();
        scratch.extend(self.ring(kept).map(|(t, _)| t));
        let own = scratch.len();
        scratch.extend(self.ring(gone).map(|(t, _)| t));
        for &t in &scratch[own..] {
            for v in &mut self.triangles[t as usize] {
                if *v == gone {
                    *v = kept;
                }
            }
        }
        let len = scratch.len() as u32;
        let (a, b) = (self.rings[kept as usize], self.rings[gone as usize]);
        let mut ring = if a.room >= b.room { a } else { b };
        if ring.room < len {
            ring = RingRange {
                start: self.pool.len() as u32,
                room: len,
                ..RingRange::default()
            };
            self.pool.extend_from_slice(scratch);
        } else {
            self.pool[ring.start as usize..(ring.start + len) as usize].copy_from_slice(scratch);
        }
        self.rings[kept as usize] = RingRange {
            len,
            gone: 0,
            ..ring
        };
        self.rings[gone as usize] = RingRange::default();
    }

    /// Records that a triangle in the ring of `v` was removed; compacts the ring when half of it is
    /// removed.
    fn note_removed(&mut self, v: u32) {
        let ring = &mut self.rings[v as usize];
        ring.gone += 1;
        if ring.gone * 2 < ring.len {
            return;
        }
        let mut kept = ring.start;
        for entry in ring.start..ring.start + ring.len {
            let t = self.pool[entry as usize];
            if self.triangles[t as usize][0] != GONE {
                self.pool[kept as usize] = t;
                kept += 1;
            }
        }
        ring.len = kept - ring.start;
        ring.gone = 0;
    }
}
