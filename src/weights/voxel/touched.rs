//! Which cells triangles touch.
//!
//! Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", Journal of Graphics Tools 6(1), 2001: a box and a triangle are disjoint if one
//! of 13 axes separates them. The plane's axis is solved for instead of tested, column of cells by column, along the largest component
//! of the normal, so that large triangles cost as much as the cells they touch.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use super::Grid;
use crate::math::Vec64;
use crate::progress::{Cancelled, Progress};

/// A triangle in coordinates of the grid.
pub(super) type Corners = [Vec64; 3];

/// What counts as touching, in cells: a triangle in the plane between two cells touches both.
const REACH: f64 = 1e-6;
/// Triangles between two looks at the cancel flag.
const CHUNK: usize = 256;

/// For every cell whether a triangle touches it, sorted by z, y, x. Triangles are in coordinates of the grid.
pub(super) fn touched_cells(
    grid: &Grid,
    triangles: &[Corners],
    progress: &Progress,
) -> Result<Vec<bool>, Cancelled> {
    let flags: Vec<AtomicBool> = (0..grid.len()).map(|_| AtomicBool::new(false)).collect();
    triangles.par_chunks(CHUNK).try_for_each(|chunk| {
        progress.check()?;
        for triangle in chunk {
            mark(grid, triangle, &flags);
        }
        Ok(())
    })?;
    Ok(flags.into_iter().map(AtomicBool::into_inner).collect())
}

/// Marks the cells that a triangle touches.
fn mark(grid: &Grid, triangle: &Corners, flags: &[AtomicBool]) {
    let [a, b, c] = triangle;
    let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
    let range = |axis: usize| cells_between(low[axis], high[axis], grid.cells[axis]);
    let normal = (b - a).cross(&(c - a));
    let w = normal.iamax();
    let (u, v) = ((w + 1) % 3, (w + 2) % 3);
    let at_origin = normal.dot(a);
    let [all_u, all_v, all_w] = [u, v, w].map(range);
    for iu in all_u {
        for iv in all_v.clone() {
            let in_column = |at: f64| {
                // The plane above the four corners of the column.
                let [from_u, from_v] = [(normal[u], iu), (normal[v], iv)].map(|(n, i)| {
                    let ends = [n * (f64::from(i) - REACH), n * (f64::from(i) + 1.0 + REACH)];
                    if at > 0.0 {
                        ends[0].max(ends[1])
                    } else {
                        ends[0].min(ends[1])
                    }
                });
                (at_origin - from_u - from_v) / normal[w]
            };
            let (one, other) = (in_column(1.0), in_column(-1.0));
            let plane = if normal[w] == 0.0 || !(one.is_finite() && other.is_finite()) {
                all_w.clone()
            } else {
                cells_between(one.min(other), one.max(other), grid.cells[w])
            };
            for iw in plane.start.max(all_w.start)..plane.end.min(all_w.end) {
                let mut cell = [0; 3];
                [cell[u], cell[v], cell[w]] = [iu, iv, iw];
                let flag = &flags[grid.place(cell)];
                if !flag.load(Relaxed) && !edges_separate(triangle, cell) {
                    flag.store(true, Relaxed);
                }
            }
        }
    }
}

/// The cells of an axis that an interval touches.
fn cells_between(low: f64, high: f64, count: u32) -> std::ops::Range<u32> {
    let first = (low - REACH).floor().clamp(0.0, f64::from(count)) as u32;
    let end = ((high + REACH).floor() + 1.0).clamp(0.0, f64::from(count)) as u32;
    first..end.max(first)
}

/// Whether a cross product of an edge of the triangle and an axis separates the triangle and the cell.
fn edges_separate(triangle: &Corners, cell: [u32; 3]) -> bool {
    let center = Vec64::from(cell.map(|at| f64::from(at) + 0.5));
    let corners = triangle.map(|corner| corner - center);
    let half = 0.5 + REACH;
    (0..3).any(|k| {
        let edge = corners[(k + 1) % 3] - corners[k];
        (0..3).any(|axis| {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            // axis × edge has the components −edge[q] along p and edge[p] along q.
            let along = |corner: &Vec64| edge[p] * corner[q] - edge[q] * corner[p];
            let [one, two, three] = [0, 1, 2].map(|i| along(&corners[i]));
            let reach = half * (edge[p].abs() + edge[q].abs());
            one.min(two).min(three) > reach || one.max(two).max(three) < -reach
        })
    })
}
