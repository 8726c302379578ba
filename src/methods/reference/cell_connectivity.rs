//! Joining of cell corners: which corners are one node, and which hang on the edge or face of a larger cell.

use super::inside::Inside;
use super::octree::{Cell, Octree};
use super::pieces::{self, ACROSS, OUTSIDE, Pieces};

/// A corner of an element: eight times the element's index plus the corner's number, whose bits give its end along each
/// axis.
pub(super) type CellCorner = u32;

/// A corner of a small cell in the middle of an edge or face of a large one: the mean of these corners.
pub(super) struct Hanging {
    pub slot: CellCorner,
    pub masters: Vec<CellCorner>,
}

/// Union–find of disjoint sets; each is represented by its smallest member.
pub(super) struct DisjointSets(Vec<u32>);

impl DisjointSets {
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    pub fn root(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            let above = self.0[self.0[member as usize] as usize];
            self.0[member as usize] = above;
            member = above;
        }
        member
    }

    pub fn merge(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// The result of joining elements.
pub(super) struct Joins {
    /// Corners that are one node.
    pub slots: DisjointSets,
    /// Elements that are joined, directly or through others.
    pub elements: DisjointSets,
    pub hanging: Vec<Hanging>,
}

/// Finds the joins of all pieces of all cells; `first` has the first element of every cell.
pub(super) fn find(
    octree: &Octree,
    inside: &Inside<'_>,
    pieces: &[Pieces],
    first: &[u32],
    elements: usize,
) -> Joins {
    let mut joins = Joins {
        slots: DisjointSets::new(8 * elements),
        elements: DisjointSets::new(elements),
        hanging: Vec::new(),
    };
    let faces = Faces {
        octree,
        inside,
        pieces,
    };
    for (index, &cell) in octree.cells.iter().enumerate() {
        for axis in 0..3 {
            for up in [false, true] {
                let mut beyond = cell.min;
                beyond[axis] += if up { cell.side() } else { -1 };
                let Some(other) = octree.leaf_at(beyond) else {
                    continue;
                };
                let neighbour = octree.cells[other as usize];
                // A face is processed from its smaller cell; between equal cells, from the lower one.
                if neighbour.level < cell.level || (neighbour.level == cell.level && !up) {
                    continue;
                }
                for [a, b] in faces.joined([index, other as usize], axis, up) {
                    let a = first[index] + u32::from(a);
                    let b = first[other as usize] + u32::from(b);
                    joins.join([a, b], [cell, neighbour], axis, up);
                }
            }
        }
    }
    joins
}

struct Faces<'a> {
    octree: &'a Octree,
    inside: &'a Inside<'a>,
    pieces: &'a [Pieces],
}

impl Faces<'_> {
    /// Pairs of pieces of a cell and its neighbour, of the same size or larger, that are connected across the face
    /// between them.
    fn joined(&self, cells: [usize; 2], axis: usize, up: bool) -> Vec<[u8; 2]> {
        let [own, other] = cells.map(|cell| &self.pieces[cell]);
        let [cell, neighbour] = cells.map(|cell| self.octree.cells[cell]);
        let mut found: Vec<[u8; 2]> = Vec::new();
        if own.count == 0 || other.count == 0 {
            return found;
        }
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for k in 0..ACROSS * ACROSS {
            let mut at = [0; 3];
            (at[u], at[v]) = (k % ACROSS, k / ACROSS);
            at[axis] = if up { ACROSS - 1 } else { 0 };
            let sample = pieces::sample_at(at);
            let across = opposite(cell, neighbour, at, axis, up);
            let pair = [own.piece[sample], other.piece[across]];
            if pair.contains(&OUTSIDE) || found.contains(&pair) {
                continue;
            }
            let way = [(cell, sample), (neighbour, across)]
                .map(|(cell, sample)| pieces::position(self.octree, cell, sample));
            let is_open = own.is_whole && other.is_whole;
            if is_open || self.inside.joined(&way[0], own.winding[sample], &way[1]) {
                found.push(pair);
            }
        }
        found
    }
}

/// The neighbour's sample nearest across the face.
fn opposite(cell: Cell, neighbour: Cell, at: [usize; 3], axis: usize, up: bool) -> usize {
    let ratio = (neighbour.side() / cell.side()) as usize;
    let mut across = [0; 3];
    for k in 0..3 {
        if k == axis {
            across[k] = if up { 0 } else { ACROSS - 1 };
        } else {
            let offset = ((cell.min[k] - neighbour.min[k]) / cell.side()) as usize;
            across[k] = (offset * ACROSS + at[k]) / ratio;
        }
    }
    pieces::sample_at(across)
}

impl Joins {
    /// Joins two elements across a face: corners at the same position become one, others hang.
    fn join(&mut self, [a, b]: [u32; 2], [cell, neighbour]: [Cell; 2], axis: usize, up: bool) {
        self.elements.merge(a, b);
        for corner in 0..8_u32 {
            if (corner >> axis & 1 == 1) != up {
                continue;
            }
            let slot = 8 * a + corner;
            // Along each axis the corner lies at the neighbour's lower end, its upper end, or in the middle.
            let mut masters = vec![8 * b];
            for k in 0..3 {
                let at =
                    cell.min[k] + cell.side() * (corner >> k & 1).cast_signed() - neighbour.min[k];
                let bit = 1 << k;
                if at == neighbour.side() {
                    for master in &mut masters {
                        *master |= bit;
                    }
                } else if at != 0 {
                    let upper: Vec<CellCorner> =
                        masters.iter().map(|master| master | bit).collect();
                    masters.extend(upper);
                }
            }
            if masters.len() == 1 {
                self.slots.merge(slot, masters[0]);
            } else {
                self.hanging.push(Hanging { slot, masters });
            }
        }
    }
}
