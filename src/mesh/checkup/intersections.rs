//! Faces that cut through others.

use rayon::prelude::*;

use crate::math::Vec64;
use crate::mesh::{Bounds, TriMesh, TriangleTree};
use crate::progress::{Cancelled, Progress};

/// Faces between two looks at whether the caller gave up.
const CHUNK: usize = 512;

/// Others near a face that it is held against. Where thousands of faces lie in one place, holding all against all would take hours, and
/// keeping the pairs all the memory.
const MOST_OF_FACE: usize = 10_000;

/// How many pairs of near faces are held against each other: several times as many as the densest characters have.
fn most_of(faces: usize) -> usize {
    10_000_000 + 100 * faces
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

/// Pairs of faces that intersect, ascending, the lower index first. Faces with a common edge never do; of faces with one common
/// corner the opposite edges are held against the other face. Faces in one plane don't cut. Where very many faces lie in one place, not
/// all pairs are looked at, and there may be more.
///
/// # Errors
/// [`Cancelled`].
pub fn intersecting_pairs(mesh: &TriMesh, progress: &Progress) -> Result<Vec<[u32; 2]>, Cancelled> {
    let tree = TriangleTree::new(mesh);
    let count = mesh.triangles.len();
    let (mut all, mut looked) = (Vec::new(), 0);
    for start in (0..count).step_by(CHUNK) {
        progress.check()?;
        let faces = (start..(start + CHUNK).min(count)).into_par_iter();
        let cut: Vec<(Vec<[u32; 2]>, usize)> = faces.map(|face| cut_by(mesh, &tree, face as u32)).collect();
        looked += cut.iter().map(|(_, looked)| looked).sum::<usize>();
        all.extend(cut.into_iter().flat_map(|(pairs, _)| pairs));
        if looked > most_of(count) {
            break;
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// The pairs of a face with those after it that it intersects, and how many were looked at.
fn cut_by(mesh: &TriMesh, tree: &TriangleTree, face: u32) -> (Vec<[u32; 2]>, usize) {
    let bounds = Bounds::of(&mesh.corners(face as usize));
    let (mut pairs, mut looked) = (Vec::new(), 0);
    tree.meeting(&bounds, |other| {
        if other > face && looked < MOST_OF_FACE {
            looked += 1;
            if cuts(mesh, face, other) {
                pairs.push([face, other]);
            }
        }
    });
    (pairs, looked)
}

fn cuts(mesh: &TriMesh, face: u32, other: u32) -> bool {
    let (s, t) = (mesh.triangles[face as usize], mesh.triangles[other as usize]);
    let corners = |t: [u32; 3]| t.map(|v| mesh.positions[v as usize].coords.cast::<f64>());
    let common: Vec<usize> = (0..3).filter(|&k| t.contains(&s[k])).collect();
    match common[..] {
        [] => {
            let (s, t) = (corners(s), corners(t));
            let edges = |s: &[Vec64; 3], t: &[Vec64; 3]| (0..3).any(|k| segment_cuts(&s[k], &s[(k + 1) % 3], t));
            edges(&s, &t) || edges(&t, &s)
        }
        [k] => {
            let Some(l) = (0..3).find(|&l| t[l] == s[k]) else { return false };
            let (s, t) = (corners(s), corners(t));
            segment_cuts(&s[(k + 1) % 3], &s[(k + 2) % 3], &t) || segment_cuts(&t[(l + 1) % 3], &t[(l + 2) % 3], &s)
        }
        _ => false,
    }
}

/// Whether a segment goes through the inside of a triangle.
fn segment_cuts(p: &Vec64, q: &Vec64, [a, b, c]: &[Vec64; 3]) -> bool {
    let volume = |a: &Vec64, b: &Vec64, c: &Vec64, d: &Vec64| (b - a).cross(&(c - a)).dot(&(d - a));
    if volume(a, b, c, p) * volume(a, b, c, q) >= 0.0 {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|&v| v > 0.0) || sides.iter().all(|&v| v < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// Long needles, each through all others: all pairs would fill the memory.
    #[test]
    fn faces_all_in_one_place_end() {
        let count = 30_000_u32;
        let corner = |k: u32| {
            let angle = f64::from(k / 3) * 0.7 + f64::from(k % 3) * 0.001;
            let way = if k.is_multiple_of(3) { -1.0 } else { 1.0 };
            Point::new((way * angle.cos()) as f32, (way * angle.sin()) as f32, (f64::from(k % 7) * 1e-3) as f32)
        };
        let positions: Vec<Point> = (0..3 * count).map(corner).collect();
        let mesh = TriMesh { positions, triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect() };
        let pairs = intersecting_pairs(&mesh, &Progress::new()).unwrap();
        assert!(pairs.len() <= most_of(30_000) + CHUNK * MOST_OF_FACE);
        assert_eq!(pairs, intersecting_pairs(&mesh, &Progress::new()).unwrap());
    }
}
