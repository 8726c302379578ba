//! Welding: vertices at one place become one vertex.

use std::collections::HashMap;

use super::TriMesh;
use crate::math::Point;

/// A welded mesh and the way back.
#[derive(Debug, Clone, PartialEq)]
pub struct Weld {
    /// The mesh of merged vertices; triangles that collapsed or repeat an earlier one are gone.
    pub mesh: TriMesh,
    /// For every input vertex its vertex of `mesh`.
    pub welded_from_input: Vec<u32>,
}

/// Merges vertices closer than `tolerance` (same unit as the positions) to an earlier one, in input order; the earliest
/// position of each group is kept. Vertices without a triangle are kept too.
///
/// # Panics
/// If a triangle index is out of range, or if there are more than `u32::MAX` vertices.
#[must_use]
pub fn weld(positions: &[Point], triangles: &[[u32; 3]], tolerance: f32) -> Weld {
    let tolerance = tolerance.max(f32::MIN_POSITIVE);
    let cell = f64::from(tolerance) * 2.0;
    let mut grid: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(positions.len());
    let mut welded: Vec<Point> = Vec::with_capacity(positions.len());
    let mut welded_from_input = Vec::with_capacity(positions.len());
    for position in positions {
        let found = near_cells(position, cell, tolerance)
            .into_iter()
            .filter_map(|key| grid.get(&key))
            .flatten()
            .copied()
            .find(|&other| (welded[other as usize] - position).norm() <= tolerance);
        let index = found.unwrap_or_else(|| {
            let index = u32::try_from(welded.len()).expect("fewer than 2^32 vertices");
            welded.push(*position);
            grid.entry(cell_of(position, cell)).or_default().push(index);
            index
        });
        welded_from_input.push(index);
    }
    let mut seen = std::collections::HashSet::with_capacity(triangles.len());
    let triangles = triangles
        .iter()
        .map(|t| t.map(|v| welded_from_input[v as usize]))
        .filter(|&[a, b, c]| a != b && b != c && c != a)
        .filter(|t| seen.insert(rotated_to_smallest(*t)))
        .collect();
    Weld { mesh: TriMesh { positions: welded, triangles }, welded_from_input }
}

/// The same oriented triangle, smallest index first.
fn rotated_to_smallest([a, b, c]: [u32; 3]) -> [u32; 3] {
    if a < b && a < c {
        [a, b, c]
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

fn cell_of(position: &Point, cell: f64) -> [i64; 3] {
    [position.x, position.y, position.z].map(|c| (f64::from(c) / cell).floor() as i64)
}

/// The cells that a point within `tolerance` of `position` can lie in: at most 8, usually 1.
fn near_cells(position: &Point, cell: f64, tolerance: f32) -> Vec<[i64; 3]> {
    let reach = nalgebra::Vector3::repeat(tolerance);
    let low = cell_of(&(position - reach), cell);
    let high = cell_of(&(position + reach), cell);
    let mut cells = Vec::with_capacity(8);
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                cells.push([x, y, z]);
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seam_closes_and_the_map_leads_back() {
        let p = |x: f32, y: f32| Point::new(x, y, 0.0);
        let positions = [p(0.0, 0.0), p(1.0, 0.0), p(0.0, 1.0), p(1.0, 1e-8), p(1.0, 1.0), p(0.0, 1.0)];
        let weld = weld(&positions, &[[0, 1, 2], [3, 4, 5], [3, 4, 5], [1, 3, 4]], 1e-6);
        assert_eq!(weld.mesh.positions.len(), 4);
        assert_eq!(weld.welded_from_input, [0, 1, 2, 1, 3, 2]);
        assert_eq!(weld.mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
    }
}
