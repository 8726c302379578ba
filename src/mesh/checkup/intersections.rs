//! Pairs of faces that intersect: the one count of the crate, for the check-up, metrics and reports.
//!
//! Two faces intersect if their interiors have a common point and they do not lie in one plane. Faces that only touch (at a corner,
//! along an edge, corner to face) do not. The definition is about points, so that faces with a common corner need no rule of their
//! own, and faces with a common edge never intersect. The test follows
//!
//! Guigue, Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates", Journal of Graphics Tools 8,
//! 2003: each triangle must have corners strictly on both sides of the other's plane; both then meet the line of the two planes in
//! an interval, and four orientations tell whether the intervals overlap.
//!
//! # Departures
//! - Intervals with only an end in common do not overlap, and coplanar faces do not intersect.
//! - Orientations are exact ([`orientation`]), so that the count does not depend on rounding.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::math::{Point, orientation};
use crate::mesh::{Bounds, TriMesh, TriangleTree};
use crate::progress::{Cancelled, Progress};

/// Faces between two checks for cancellation.
const CHUNK: usize = 512;

/// Nearby faces of one face that are looked at. Where thousands of faces lie in one place, testing all pairs would take hours, and
/// storing them all the memory.
const MOST_OF_FACE: usize = 10_000;

/// How many pairs of nearby faces are looked at: several times as many as the densest characters have.
fn most_of(faces: usize) -> usize {
    10_000_000 + 60 * faces
}

/// How many of them are tested exactly, which takes up to a microsecond.
fn most_tested(faces: usize) -> usize {
    2_000_000 + 20 * faces
}

/// Faces that intersect another face, ascending, by the rules of [`intersecting_pairs`].
///
/// # Errors
/// [`Cancelled`].
pub fn intersecting_faces(mesh: &TriMesh, progress: &Progress) -> Result<Vec<u32>, Cancelled> {
    let mut faces = intersecting_pairs(mesh, progress)?.into_flattened();
    faces.sort_unstable();
    faces.dedup();
    Ok(faces)
}

/// Pairs of faces whose interiors intersect, ascending, the lower index first. Touching and coplanar faces do not intersect. Where
/// very many faces lie in one place, not all pairs are tested, and there may be more.
///
/// # Errors
/// [`Cancelled`].
pub fn intersecting_pairs(mesh: &TriMesh, progress: &Progress) -> Result<Vec<[u32; 2]>, Cancelled> {
    let tree = TriangleTree::new(mesh);
    let count = mesh.triangles.len();
    let (mut all, mut looked, mut tested) = (Vec::new(), 0, 0);
    for start in (0..count).step_by(CHUNK) {
        progress.check()?;
        let faces = (start..(start + CHUNK).min(count)).into_par_iter();
        let found: Vec<FacePairs> = faces
            .map(|face| FacePairs::of(mesh, &tree, face as u32))
            .collect();
        for face in found {
            looked += face.looked;
            tested += face.tested;
            all.extend(face.pairs);
        }
        if looked > most_of(count) || tested > most_tested(count) {
            break;
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// The pairs of a face with those after it that it intersects.
struct FacePairs {
    pairs: Vec<[u32; 2]>,
    /// Nearby faces that were looked at.
    looked: usize,
    /// Of these, tested exactly.
    tested: usize,
}

impl FacePairs {
    fn of(mesh: &TriMesh, tree: &TriangleTree, face: u32) -> Self {
        let corners = mesh.corners(face as usize);
        let mut found = Self {
            pairs: Vec::new(),
            looked: 0,
            tested: 0,
        };
        tree.meeting_until(&Bounds::of(&corners), |other| {
            found.looked += 1;
            if other > face {
                let others = mesh.corners(other as usize);
                if !has_common_edge(&corners, &others) {
                    found.tested += 1;
                    if triangles_intersect(&corners, &others) {
                        found.pairs.push([face, other]);
                    }
                }
            }
            if found.looked < MOST_OF_FACE {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        found
    }
}

/// Whether two triangles have two corners in common: then they meet in that edge or lie in one plane.
fn has_common_edge(s: &[Point; 3], t: &[Point; 3]) -> bool {
    s.iter().filter(|corner| t.contains(corner)).count() >= 2
}

/// Whether the interiors of two triangles that are not coplanar have a common point. Exact; coordinates must be finite.
#[must_use]
pub fn triangles_intersect(s: &[Point; 3], t: &[Point; 3]) -> bool {
    let Some((mut s, s_is_above)) = split_by(s, t) else {
        return false;
    };
    let Some((mut t, t_is_above)) = split_by(t, &s) else {
        return false;
    };
    // With both apexes above the other's plane, seen so that it has its corners counterclockwise.
    if !s_is_above {
        t.swap(1, 2);
    }
    if !t_is_above {
        s.swap(1, 2);
    }
    // Both meet the line of the planes in an interval; they overlap if each begins before the other ends.
    orientation(&s[0], &s[1], &t[0], &t[1]) == Ordering::Less
        && orientation(&s[0], &s[2], &t[2], &t[0]) == Ordering::Less
}

/// The triangle rotated so that its first corner, the apex, is the one alone on its side of a plane, and whether that is the side
/// that the plane's normal points to. `None` if the triangle has no corners strictly on both sides.
fn split_by(triangle: &[Point; 3], [a, b, c]: &[Point; 3]) -> Option<([Point; 3], bool)> {
    let sides = triangle.map(|corner| orientation(a, b, c, &corner));
    let on = |side: Ordering| sides.iter().filter(move |&&other| other == side).count();
    let alone = match (on(Ordering::Greater), on(Ordering::Less)) {
        (0, _) | (_, 0) => return None,
        (1, _) => Ordering::Greater,
        _ => Ordering::Less,
    };
    let apex = sides.iter().position(|&side| side == alone)?;
    let rotated = std::array::from_fn(|k| triangle[(apex + k) % 3]);
    Some((rotated, alone == Ordering::Greater))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, y: f32, z: f32) -> Point {
        Point::new(x, y, z)
    }

    /// Counts in both orders and for all rotations and orientations of both triangles, which must agree.
    fn intersects(s: [Point; 3], t: [Point; 3]) -> bool {
        let all = |t: [Point; 3]| {
            (0..3).flat_map(move |k| {
                let turned: [Point; 3] = std::array::from_fn(|i| t[(i + k) % 3]);
                [turned, [turned[0], turned[2], turned[1]]]
            })
        };
        let found: Vec<bool> = all(s)
            .flat_map(|s| {
                all(t).flat_map(move |t| [triangles_intersect(&s, &t), triangles_intersect(&t, &s)])
            })
            .collect();
        assert!(found.iter().all(|&one| one == found[0]), "{s:?} {t:?}");
        found[0]
    }

    /// A triangle in the plane z = 0 against others.
    #[test]
    fn touching_and_coplanar_triangles_do_not_intersect() {
        let flat = [at(0.0, 0.0, 0.0), at(4.0, 0.0, 0.0), at(0.0, 4.0, 0.0)];
        let upright = |x: f32, y: f32, z: f32| {
            [
                at(x, y, z),
                at(x + 1.0, y, z + 2.0),
                at(x - 1.0, y, z + 2.0),
            ]
        };
        for (triangle, expected, why) in [
            (upright(1.5, 1.0, -1.0), true, "through the inside"),
            (upright(1.5, 1.0, 0.0), false, "a corner on the inside"),
            (upright(1.5, 1.0, 0.5), false, "above"),
            (
                upright(1.5, 0.0, -1.0),
                false,
                "in the plane of an edge, and only that edge",
            ),
            (upright(0.0, 1.0, -1.0), true, "across an edge"),
            (upright(9.0, 1.0, -1.0), false, "beside"),
            (
                [at(0.0, 0.0, -1.0), at(4.0, 0.0, 1.0), at(2.0, -1.0, 1.0)],
                false,
                "edge on edge",
            ),
            (
                [at(1.0, 1.0, 0.0), at(3.0, 1.0, 0.0), at(2.0, 1.0, 1.0)],
                false,
                "an edge in the plane",
            ),
            (
                [at(1.0, 1.0, 0.0), at(3.0, 1.0, 0.0), at(1.0, 3.0, 0.0)],
                false,
                "coplanar and overlapping",
            ),
            (
                [at(0.0, 0.0, 0.0), at(4.0, 4.0, 1.0), at(4.0, 4.0, -1.0)],
                true,
                "from a common corner through the inside",
            ),
            (
                [at(0.0, 0.0, 0.0), at(-4.0, -4.0, 1.0), at(-4.0, -4.0, -1.0)],
                false,
                "from a common corner away",
            ),
            (
                [at(0.0, 0.0, 0.0), at(4.0, 0.0, 0.0), at(1.0, 1.0, 3.0)],
                false,
                "a common edge",
            ),
            (
                [at(0.0, 2.0, -1.0), at(0.0, 2.0, 1.0), at(4.0, 2.0, 0.0)],
                true,
                "from an edge across to another, all corners outside",
            ),
        ] {
            assert_eq!(intersects(flat, triangle), expected, "{why}");
        }
    }

    /// Long needles, each through all others: all pairs would fill the memory.
    #[test]
    fn faces_all_in_one_place_end() {
        let count = 30_000_u32;
        let corner = |k: u32| {
            let angle = f64::from(k / 3) * 0.7 + f64::from(k % 3) * 0.001;
            let way = if k.is_multiple_of(3) { -1.0 } else { 1.0 };
            Point::new(
                (way * angle.cos()) as f32,
                (way * angle.sin()) as f32,
                (f64::from(k % 7) * 1e-3) as f32,
            )
        };
        let positions: Vec<Point> = (0..3 * count).map(corner).collect();
        let mesh = TriMesh {
            positions,
            triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        };
        let pairs = intersecting_pairs(&mesh, &Progress::new()).unwrap();
        assert!(pairs.len() <= most_of(30_000) + CHUNK * MOST_OF_FACE);
        assert_eq!(pairs, intersecting_pairs(&mesh, &Progress::new()).unwrap());
    }
}
