//! The triangles of a skin, split until weights hardly change inside a piece.

use crate::math::{Point64, Vec64};
use crate::methods::bind_surface::BindSurface;

/// Largest ‖`w_a` − `w_b`‖ along the edges of a piece: ε of the paper.
const LARGEST_STEP: f64 = 0.1;

/// Most pieces along an edge. Weights that are not negative and sum to 1 differ by √2 at most.
const MOST_STEPS: usize = 15;

/// A piece of a triangle.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    /// World units².
    pub(super) area: f64,
    /// Mean of the corners, world space.
    pub(super) center: Point64,
    /// Mean weights of the corners by ascending joint; those of 0 are there, too.
    pub(super) weights: &'a [(u32, f64)],
}

/// Memory that is used again from triangle to triangle.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    corners: Vec<(u32, [f64; 3])>,
    mean: Vec<(u32, f64)>,
}

/// Calls `visit` with every piece of a triangle that has an area and more than one joint; others are similar to nothing.
///
/// Every edge is divided into as many equal steps as the edge along which weights change most needs. All pieces are congruent, and the
/// division does not depend on the order of the corners.
pub(super) fn for_each_piece(
    surface: &BindSurface<'_>,
    triangle: [u32; 3],
    scratch: &mut Scratch,
    mut visit: impl FnMut(&Piece<'_>),
) {
    let Scratch { corners, mean } = scratch;
    corners.clear();
    for (corner, &source) in triangle.iter().enumerate() {
        for (joint, weight) in surface.weights(source as usize) {
            let joint = joint as u32;
            let place = corners.iter().position(|(other, _)| *other == joint);
            let place = place.unwrap_or_else(|| {
                corners.push((joint, [0.0; 3]));
                corners.len() - 1
            });
            corners[place].1[corner] += f64::from(weight);
        }
    }
    if corners.len() < 2 {
        return;
    }
    corners.sort_unstable_by_key(|(joint, _)| *joint);
    let points = triangle.map(|v| surface.positions()[v as usize].cast::<f64>());
    let edges = [points[1] - points[0], points[2] - points[0]];
    let area = edges[0].cross(&edges[1]).norm() * 0.5;
    if !(area.is_finite() && area > 0.0) {
        return;
    }
    let steps = steps(corners);
    let part = 1.0 / steps as f64;
    let area = area * part * part;
    let mut piece_at = |row: usize, column: usize, within: f64| {
        let along = [
            (row as f64 + within) * part,
            (column as f64 + within) * part,
        ];
        let shares = [1.0 - along[0] - along[1], along[0], along[1]];
        mean.clear();
        mean.extend(corners.iter().map(|&(joint, [a, b, c])| {
            let [p, q, r] = shares;
            (joint, a * p + b * q + c * r)
        }));
        let center: Vec64 = edges[0] * along[0] + edges[1] * along[1];
        visit(&Piece {
            area,
            center: points[0] + center,
            weights: mean,
        });
    };
    for row in 0..steps {
        for column in 0..steps - row {
            piece_at(row, column, 1.0 / 3.0);
            if row + column + 1 < steps {
                piece_at(row, column, 2.0 / 3.0);
            }
        }
    }
}

/// Steps along an edge so that the change in each is below [`LARGEST_STEP`].
fn steps(corners: &[(u32, [f64; 3])]) -> usize {
    let change = |a: usize, b: usize| {
        let squares = corners.iter().map(|(_, of)| (of[a] - of[b]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let largest = change(0, 1).max(change(1, 2)).max(change(2, 0));
    ((largest / LARGEST_STEP) as usize + 1).min(MOST_STEPS)
}
