//! The body inside each cell: samples, and the separate pieces that they form.

use rayon::prelude::*;

use super::inside::Inside;
use super::octree::{Cell, Octree};
use crate::math::{Point64, Vec64};
use crate::mesh::Bounds;

/// Samples along each edge of a cell.
pub(super) const ACROSS: usize = 4;
/// Samples in a cell.
pub(super) const SAMPLES: usize = ACROSS * ACROSS * ACROSS;
/// Marks a sample outside the body.
pub(super) const OUTSIDE: u8 = u8::MAX;
/// Offset of the samples within their parts of the cell, so that no line of samples runs along an edge of the skin.
const SAMPLE_OFFSET: [f64; 3] = [0.0113, -0.0171, 0.0071];

/// The pieces of the body in one cell.
#[derive(Clone)]
pub(super) struct Pieces {
    /// Winding number of each sample; 0 is outside.
    pub winding: [i8; SAMPLES],
    /// The piece of each sample, or [`OUTSIDE`].
    pub piece: [u8; SAMPLES],
    /// Number of pieces.
    pub count: u8,
    /// Whether no triangle is near the cell.
    pub is_whole: bool,
}

/// Position of a sample in its cell, in sample spacings.
pub(super) fn coordinates(sample: usize) -> [usize; 3] {
    [
        sample % ACROSS,
        sample / ACROSS % ACROSS,
        sample / (ACROSS * ACROSS),
    ]
}

/// The inverse of [`coordinates`].
pub(super) fn sample_at([x, y, z]: [usize; 3]) -> usize {
    x + ACROSS * (y + ACROSS * z)
}

/// World position of a sample.
pub(super) fn position(octree: &Octree, cell: Cell, sample: usize) -> Point64 {
    let step = f64::from(cell.side()) * octree.spacing / ACROSS as f64;
    let at = coordinates(sample);
    let offset = Vec64::from_fn(|axis, _| (at[axis] as f64 + 0.5 + SAMPLE_OFFSET[axis]) * step);
    octree.corner(cell) + offset
}

/// The pieces in every cell of an octree.
pub(super) fn find(octree: &Octree, inside: &Inside<'_>) -> Vec<Pieces> {
    (octree.cells.par_iter())
        .map(|&cell| Pieces::of(octree, inside, cell))
        .collect()
}

impl Pieces {
    fn of(octree: &Octree, inside: &Inside<'_>, cell: Cell) -> Self {
        let side = f64::from(cell.side()) * octree.spacing;
        let min = octree.corner(cell);
        let bounds = Bounds {
            min: min.cast(),
            max: (min + Vec64::repeat(side)).cast(),
        };
        let mut is_met = false;
        inside.tree.meeting(&bounds, |_| is_met = true);
        if !is_met {
            let winding = inside.winding(&(min + Vec64::repeat(0.5 * side)));
            let is_filled = winding > 0;
            return Self {
                winding: [winding; SAMPLES],
                piece: [if is_filled { 0 } else { OUTSIDE }; SAMPLES],
                count: u8::from(is_filled),
                is_whole: true,
            };
        }
        let step = Vec64::z() * (side / ACROSS as f64);
        let mut winding = [0; SAMPLES];
        let mut line = Vec::with_capacity(ACROSS);
        for first in 0..ACROSS * ACROSS {
            line.clear();
            let start = position(octree, cell, first) - step * 0.5;
            inside.windings(&start, &step, ACROSS, &mut line);
            for (z, value) in line.iter().enumerate() {
                winding[first + z * ACROSS * ACROSS] = *value;
            }
        }
        let mut pieces = Self {
            winding,
            piece: [OUTSIDE; SAMPLES],
            count: 0,
            is_whole: false,
        };
        pieces.separate(octree, inside, cell);
        pieces
    }

    /// Numbers the pieces: sets of inside samples that are connected to neighbours by segments that stay inside.
    fn separate(&mut self, octree: &Octree, inside: &Inside<'_>, cell: Cell) {
        for first in 0..SAMPLES {
            if self.winding[first] == 0 || self.piece[first] != OUTSIDE {
                continue;
            }
            let piece = self.count;
            self.count += 1;
            self.piece[first] = piece;
            let mut open = vec![first];
            while let Some(sample) = open.pop() {
                let from = position(octree, cell, sample);
                for next in face_neighbours(sample) {
                    if self.winding[next] == 0 || self.piece[next] != OUTSIDE {
                        continue;
                    }
                    let to = position(octree, cell, next);
                    if inside.joined(&from, self.winding[sample], &to) {
                        self.piece[next] = piece;
                        open.push(next);
                    }
                }
            }
        }
    }

    /// Fraction of the cell that a piece fills.
    pub fn fill(&self, piece: u8) -> f64 {
        self.samples(piece).count() as f64 / SAMPLES as f64
    }

    /// The samples of a piece.
    pub fn samples(&self, piece: u8) -> impl Iterator<Item = usize> + '_ {
        (0..SAMPLES).filter(move |&sample| self.piece[sample] == piece)
    }
}

/// The samples that share a face with this one.
fn face_neighbours(sample: usize) -> impl Iterator<Item = usize> {
    let at = coordinates(sample);
    (0..6).filter_map(move |way| {
        let (axis, up) = (way / 2, way % 2 == 1);
        let mut next = at;
        next[axis] = if up {
            at[axis] + 1
        } else {
            at[axis].checked_sub(1)?
        };
        (next[axis] < ACROSS).then(|| sample_at(next))
    })
}
