//! Intervals of a line inside flesh, for meshes that may be open, consist of several components, or
//! be inconsistently oriented.

use crate::math::{Point64, Vec64};
use crate::mesh::{Crossing, TriangleTree};

/// A gap smaller than this fraction of the size is closed: a sleeve around an arm.
const CLOSE: f64 = 0.006;
/// An interval thinner than this fraction of the size, in front of a thicker one, is a sheet over
/// it: an eyelid, a skirt.
const SHEET: f64 = 0.012;
/// …if the thicker one begins within this fraction of the size.
const BEHIND: f64 = 0.05;

/// An interval of a line inside flesh: entry and exit, as multiples of the direction.
pub(super) type Piece = [f64; 2];

/// A ray through an edge may miss both triangles: it is repeated with this offset, as fractions of
/// the size.
const BESIDE: [[f64; 2]; 4] = [
    [0.0, 0.0],
    [2.3e-5, 1.1e-5],
    [-1.3e-5, 2.9e-5],
    [-3.1e-5, -1.7e-5],
];

/// Intervals of flesh along a ray, in order, merged where they belong together. `outward` tells
/// whether the mesh's normals point outwards as a whole.
pub(super) fn pieces(
    tree: &TriangleTree,
    origin: &Point64,
    direction: &Vec64,
    size: f64,
    outward: bool,
) -> Vec<Piece> {
    let side = if direction.x.abs() < 0.6 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let (u, v) = (
        direction.cross(&side),
        direction.cross(&direction.cross(&side)),
    );
    let along =
        |[a, b]: [f64; 2]| crossings(tree, &(origin + (u * a + v * b) * size), direction, size);
    let counted = BESIDE
        .iter()
        .find_map(|beside| by_depth(&along(*beside), outward).filter(|pieces| !pieces.is_empty()));
    let counted = counted.unwrap_or_else(|| {
        let met = along(BESIDE[0]);
        by_turns(&met).unwrap_or_else(|| outermost(&met))
    });
    joined(counted, size)
}

fn crossings(tree: &TriangleTree, origin: &Point64, direction: &Vec64, size: f64) -> Vec<Crossing> {
    let mut crossings: Vec<Crossing> = Vec::new();
    tree.crossings(origin, direction, [0.0, f64::INFINITY], |crossing| {
        crossings.push(crossing);
    });
    crossings.retain(|crossing| crossing.t.is_finite());
    crossings.sort_by(|a, b| a.t.total_cmp(&b.t));
    // An edge that is hit belongs to two triangles.
    crossings.dedup_by(|a, b| (a.t - b.t).abs() <= 1e-9 * size && a.outward == b.outward);
    crossings
}

/// Inside is where more surfaces were entered than left. `None` if the counts do not match.
fn by_depth(crossings: &[Crossing], outward: bool) -> Option<Vec<Piece>> {
    let mut depth = 0_i32;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut entered = 0.0;
    for crossing in crossings {
        if crossing.outward == outward {
            depth -= 1;
            if depth == 0 {
                pieces.push([entered, crossing.t]);
            }
        } else {
            if depth == 0 {
                entered = crossing.t;
            }
            depth += 1;
        }
        if depth < 0 {
            return None;
        }
    }
    (depth == 0).then_some(pieces)
}

/// Even-odd rule: every second interval is inside, independent of orientation. `None` for an odd
/// number of crossings.
fn by_turns(crossings: &[Crossing]) -> Option<Vec<Piece>> {
    crossings.len().is_multiple_of(2).then(|| {
        crossings
            .chunks_exact(2)
            .map(|pair| [pair[0].t, pair[1].t])
            .collect()
    })
}

/// From the first surface to the last: the mesh is open along the ray.
fn outermost(crossings: &[Crossing]) -> Vec<Piece> {
    match crossings {
        [first, .., last] => vec![[first.t, last.t]],
        _ => Vec::new(),
    }
}

/// Merges intervals separated by small gaps, and sheets with the flesh behind them.
fn joined(pieces: Vec<Piece>, size: f64) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if piece[0] - last[1] < CLOSE * size => last[1] = piece[1],
            Some(last)
                if is_sheet(*last, size)
                    && !is_sheet(piece, size)
                    && piece[0] - last[1] < BEHIND * size =>
            {
                *last = piece;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

fn is_sheet([from, to]: Piece, size: f64) -> bool {
    to - from < SHEET * size
}
