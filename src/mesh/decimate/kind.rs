//! Classifies vertices: inside a sheet, on a feature curve, or fixed.

use super::live::LiveMesh;

/// Admissible merges of a vertex. The kind of two merged vertices is the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum VertexKind {
    /// Interior of one sheet.
    #[default]
    Regular,
    /// On a curve of edges without exactly two consistently oriented triangles (a boundary, for
    /// example): merges only along the curve.
    Curve,
    /// Where curves end or cross, or sheets share only a vertex: it stays, and others merge into
    /// it.
    Fixed,
}

/// The kind of every vertex.
pub(super) fn kinds(live: &LiveMesh, n: usize) -> Vec<VertexKind> {
    let mut star = Star {
        slot_of: vec![u32::MAX; n],
        spokes: Vec::new(),
    };
    (0..n as u32).map(|v| star.kind(live, v)).collect()
}

/// An edge at the vertex under inspection.
struct Spoke {
    end: u32,
    /// Number of triangles that traverse it outwards, and inwards.
    out: u32,
    back: u32,
    /// Another spoke of the same fan; the first spoke refers to itself.
    fan: u32,
}

struct Star {
    slot_of: Vec<u32>,
    spokes: Vec<Spoke>,
}

impl Star {
    fn kind(&mut self, live: &LiveMesh, v: u32) -> VertexKind {
        for spoke in self.spokes.drain(..) {
            self.slot_of[spoke.end as usize] = u32::MAX;
        }
        let mut fans = 0_usize;
        for (_, [next, last]) in live.ring(v) {
            let (a, b) = (self.spoke(next, &mut fans), self.spoke(last, &mut fans));
            self.spokes[a].out += 1;
            self.spokes[b].back += 1;
            let (a, b) = (self.root(a), self.root(b));
            if a != b {
                self.spokes[a.max(b)].fan = a.min(b) as u32;
                fans -= 1;
            }
        }
        let mut features = self
            .spokes
            .iter()
            .filter(|spoke| (spoke.out, spoke.back) != (1, 1));
        match (fans, features.next(), features.next(), features.next()) {
            (1, None, ..) => VertexKind::Regular,
            (1, Some(a), Some(b), None) if a.out + a.back == b.out + b.back => VertexKind::Curve,
            _ => VertexKind::Fixed,
        }
    }

    /// The slot of the spoke to `end`; a new spoke starts a new fan.
    fn spoke(&mut self, end: u32, fans: &mut usize) -> usize {
        let slot = self.slot_of[end as usize];
        if slot != u32::MAX {
            return slot as usize;
        }
        let slot = self.spokes.len() as u32;
        self.slot_of[end as usize] = slot;
        self.spokes.push(Spoke {
            end,
            out: 0,
            back: 0,
            fan: slot,
        });
        *fans += 1;
        slot as usize
    }

    fn root(&mut self, mut slot: usize) -> usize {
        while self.spokes[slot].fan as usize != slot {
            let above = self.spokes[slot].fan as usize;
            self.spokes[slot].fan = self.spokes[above].fan;
            slot = above;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::mesh::TriMesh;

    fn kinds_of(n: usize, triangles: &[[u32; 3]]) -> Vec<VertexKind> {
        let mesh = TriMesh {
            positions: vec![Point::origin(); n],
            triangles: triangles.to_vec(),
        };
        kinds(&LiveMesh::of(&mesh), n)
    }

    #[test]
    fn interior_boundary_and_shared_vertices_are_classified() {
        use VertexKind::{Curve, Fixed, Regular};
        let fan = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]];
        assert_eq!(kinds_of(5, &fan), [Regular, Curve, Curve, Curve, Curve]);
        let bow_tie = [[0, 1, 2], [0, 3, 4]];
        assert_eq!(kinds_of(5, &bow_tie), [Fixed, Curve, Curve, Curve, Curve]);
        // Three sheets share the edge 0–1: its ends also end three boundaries.
        let book = [[0, 1, 2], [0, 1, 3], [0, 1, 4]];
        assert_eq!(kinds_of(5, &book), [Fixed, Fixed, Curve, Curve, Curve]);
        // The second triangle is reversed.
        let turned = [[0, 1, 2], [0, 3, 2], [0, 3, 4], [0, 4, 1]];
        assert_eq!(kinds_of(5, &turned)[0], Curve);
    }
}
