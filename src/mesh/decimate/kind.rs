//! Which vertices lie inside a surface, on a curve of it, or where nothing may be merged away.

use super::live::Live;

/// What the surroundings of a vertex allow. What two merged vertices are is the larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Kind {
    /// Inside one sheet.
    #[default]
    Regular,
    /// On a boundary or another curve of edges without exactly two equally oriented triangles: it merges along the curve only.
    Curve,
    /// Where curves end or cross, or sheets touch in a point only: it stays, and others merge into it.
    Fixed,
}

/// What every vertex is.
pub(super) fn kinds(live: &Live, n: usize) -> Vec<Kind> {
    let mut star = Star { slot_of: vec![u32::MAX; n], spokes: Vec::new() };
    (0..n as u32).map(|v| star.kind(live, v)).collect()
}

/// An edge from the vertex that is looked at.
struct Spoke {
    end: u32,
    /// Triangles that run outwards along it, and inwards.
    out: u32,
    back: u32,
    /// Another spoke of the same fan; itself for the first.
    fan: u32,
}

struct Star {
    slot_of: Vec<u32>,
    spokes: Vec<Spoke>,
}

impl Star {
    fn kind(&mut self, live: &Live, v: u32) -> Kind {
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
        let mut features = self.spokes.iter().filter(|spoke| (spoke.out, spoke.back) != (1, 1));
        match (fans, features.next(), features.next(), features.next()) {
            (1, None, ..) => Kind::Regular,
            (1, Some(a), Some(b), None) if a.out + a.back == b.out + b.back => Kind::Curve,
            _ => Kind::Fixed,
        }
    }

    /// The slot of the spoke to `end`; a new one is a fan of its own.
    fn spoke(&mut self, end: u32, fans: &mut usize) -> usize {
        let slot = self.slot_of[end as usize];
        if slot != u32::MAX {
            return slot as usize;
        }
        let slot = self.spokes.len() as u32;
        self.slot_of[end as usize] = slot;
        self.spokes.push(Spoke { end, out: 0, back: 0, fan: slot });
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

    fn kinds_of(n: usize, triangles: &[[u32; 3]]) -> Vec<Kind> {
        let mesh = TriMesh { positions: vec![Point::origin(); n], triangles: triangles.to_vec() };
        kinds(&Live::of(&mesh), n)
    }

    #[test]
    fn inside_on_the_rim_and_where_two_sheets_touch() {
        use Kind::{Curve, Fixed, Regular};
        let fan = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]];
        assert_eq!(kinds_of(5, &fan), [Regular, Curve, Curve, Curve, Curve]);
        let bow_tie = [[0, 1, 2], [0, 3, 4]];
        assert_eq!(kinds_of(5, &bow_tie), [Fixed, Curve, Curve, Curve, Curve]);
        // Three sheets on the edge 0–1: its ends also end three boundaries.
        let book = [[0, 1, 2], [0, 1, 3], [0, 1, 4]];
        assert_eq!(kinds_of(5, &book), [Fixed, Fixed, Curve, Curve, Curve]);
        // The second triangle is turned over.
        let turned = [[0, 1, 2], [0, 3, 2], [0, 3, 4], [0, 4, 1]];
        assert_eq!(kinds_of(5, &turned)[0], Curve);
    }
}
