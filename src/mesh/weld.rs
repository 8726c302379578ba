//! Welding: merges vertices at equal positions.

use super::TriMesh;
use crate::math::Point;

/// A welded mesh and its mapping to the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Weld {
    /// The mesh of merged vertices; triangles that became degenerate or duplicate are removed.
    pub mesh: TriMesh,
    /// For every input vertex its vertex of `mesh`.
    pub welded_from_input: Vec<u32>,
}

/// Merges vertices closer than `tolerance` (unit of the positions) into an earlier one, in input
/// order; the earliest position of each group is kept. Vertices without a triangle are kept.
///
/// # Panics
/// If a triangle index is out of range, or if there are more than `u32::MAX` vertices.
#[must_use]
pub fn weld(positions: &[Point], triangles: &[[u32; 3]], tolerance: f32) -> Weld {
    let (welded_from_input, welded) = weld_points(positions, tolerance);
    let mut seen = HashChains::new(triangles.len());
    let mut kept: Vec<[u32; 3]> = Vec::with_capacity(triangles.len());
    for triangle in triangles {
        let triangle = triangle.map(|v| welded_from_input[v as usize]);
        let [a, b, c] = triangle;
        if a == b || b == c || c == a {
            continue;
        }
        let first = rotated_to_smallest(triangle);
        let hash = HashChains::hash(first.map(i64::from));
        if seen
            .find(hash, |earlier| {
                rotated_to_smallest(kept[earlier as usize]) == first
            })
            .is_none()
        {
            seen.insert(hash);
            kept.push(triangle);
        }
    }
    Weld {
        mesh: TriMesh {
            positions: welded,
            triangles: kept,
        },
        welded_from_input,
    }
}

/// The group of every point, and the earliest point of each group.
///
/// # Panics
/// If there are more than `u32::MAX` points.
pub(super) fn weld_points(positions: &[Point], tolerance: f32) -> (Vec<u32>, Vec<Point>) {
    let tolerance = tolerance.max(f32::MIN_POSITIVE);
    let cell = f64::from(tolerance) * 2.0;
    let mut grid = HashChains::new(positions.len());
    let mut welded: Vec<Point> = Vec::with_capacity(positions.len());
    let mut group_of = Vec::with_capacity(positions.len());
    for position in positions {
        let is_near = |group: u32| (welded[group as usize] - position).norm() <= tolerance;
        let reach = nalgebra::Vector3::repeat(tolerance);
        let (low, high) = (
            cell_of(&(position - reach), cell),
            cell_of(&(position + reach), cell),
        );
        // The cells that may contain points within the tolerance: at most 8, usually 1. Of several
        // groups the earliest is used.
        let mut found: Option<u32> = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let here = grid.find(HashChains::hash([x, y, z]), is_near);
                    found = found.into_iter().chain(here).min();
                }
            }
        }
        group_of.push(found.unwrap_or_else(|| {
            welded.push(*position);
            grid.insert(HashChains::hash(cell_of(position, cell)))
        }));
    }
    (group_of, welded)
}

/// A hash table of the numbers 0, 1, 2, … in order of insertion; the caller stores the keys.
struct HashChains {
    /// Latest number of each bucket.
    latest: Vec<u32>,
    /// For each number the previous one in its bucket.
    before: Vec<u32>,
}

impl HashChains {
    const NONE: u32 = u32::MAX;

    fn new(capacity: usize) -> Self {
        let buckets = (capacity.max(1) * 2).next_power_of_two();
        Self {
            latest: vec![Self::NONE; buckets],
            before: Vec::with_capacity(capacity),
        }
    }

    fn hash(key: [i64; 3]) -> u64 {
        let mix = |hash: u64, word: i64| {
            (hash.rotate_left(5) ^ word as u64).wrapping_mul(0x517c_c1b7_2722_0a95)
        };
        let hash = key.into_iter().fold(0, mix);
        hash ^ (hash >> 29)
    }

    fn bucket(&self, hash: u64) -> usize {
        (hash as usize) & (self.latest.len() - 1)
    }

    /// The earliest number in the bucket of `hash` that `fits` accepts; the bucket may contain
    /// other keys.
    fn find(&self, hash: u64, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let mut next = self.latest[self.bucket(hash)];
        let mut found = None;
        while next != Self::NONE {
            if fits(next) {
                found = Some(next);
            }
            next = self.before[next as usize];
        }
        found
    }

    /// Adds the next number and returns it.
    ///
    /// # Panics
    /// If all numbers are used.
    fn insert(&mut self, hash: u64) -> u32 {
        let number = u32::try_from(self.before.len())
            .ok()
            .filter(|&n| n != Self::NONE)
            .expect("fewer than 2^32 entries");
        let bucket = self.bucket(hash);
        self.before.push(self.latest[bucket]);
        self.latest[bucket] = number;
        number
    }
}

/// The triangle rotated so that its smallest index comes first.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seam_is_welded_and_the_map_is_consistent() {
        let p = |x: f32, y: f32| Point::new(x, y, 0.0);
        let positions = [
            p(0.0, 0.0),
            p(1.0, 0.0),
            p(0.0, 1.0),
            p(1.0, 1e-8),
            p(1.0, 1.0),
            p(0.0, 1.0),
        ];
        let weld = weld(
            &positions,
            &[[0, 1, 2], [3, 4, 5], [3, 4, 5], [1, 3, 4]],
            1e-6,
        );
        assert_eq!(weld.mesh.positions.len(), 4);
        assert_eq!(weld.welded_from_input, [0, 1, 2, 1, 3, 2]);
        assert_eq!(weld.mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
    }
}
