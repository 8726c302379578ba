//! Which skin vertices the flesh holds in place.
//!
//! A tet that agrees with its rest shape is a rigid body: as soon as three of its points that are not in line are held, the fourth is.
//! The base is held by the bones; from there it goes on from tet to tet. What is never reached could turn about a line or flip over
//! at no cost, and would not come back to rest: whole parts that shrank to a line, or that hang on a single point.

use super::prisms::{Prisms, chain};
use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// Three points are in line if their triangle is lower than this part of the tet's longest edge.
const IN_LINE: f64 = 1e-2;
/// Passes over the tets; real skins need two or three.
const PASSES: usize = 50;

/// The skin vertices that no chain of usable tets holds.
pub(super) fn not_held(mesh: &TriMesh, base: &[Point64], prisms: &Prisms) -> Vec<u32> {
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let mut held = vec![false; skin.len()];
    for _ in 0..PASSES {
        let mut changed = false;
        for prism in &prisms.prisms {
            let corners = prism.corners.map(|v| v as usize);
            if corners.iter().all(|&v| held[v]) {
                continue;
            }
            let points = chain(prism, &skin, base);
            // From the base outwards.
            for tet in (0..3).rev().filter(|&tet| prism.rest_inverse[tet].is_some()) {
                let is_held: [bool; 4] = std::array::from_fn(|k| tet + k >= 3 || held[corners[tet + k]]);
                if is_held.contains(&false) && is_rigid(&points[tet..tet + 4], is_held) {
                    corners[tet..].iter().for_each(|&v| held[v] = true);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    (0..skin.len() as u32).filter(|&v| !held[v as usize]).collect()
}

/// Whether the held points of a tet hold all of it.
fn is_rigid(tet: &[Point64], held: [bool; 4]) -> bool {
    let mut points = tet.iter().zip(held).filter(|(_, held)| *held).map(|(point, _)| point);
    let (Some(a), Some(b), Some(c)) = (points.next(), points.next(), points.next()) else { return false };
    let (ab, ac): (Vec64, Vec64) = (b - a, c - a);
    let side = ab.norm().max(ac.norm()).max((ab - ac).norm());
    let longest = tet.iter().flat_map(|p| tet.iter().map(move |q| (p - q).norm())).fold(0.0, f64::max);
    ab.cross(&ac).norm() > IN_LINE * longest * side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::tissue::prisms::split;

    /// A patch over a base that is a line can turn about it; over a base with an area it can't, and its neighbours neither.
    #[test]
    fn a_patch_over_a_line_is_not_held() {
        let p = Point::new;
        let positions = vec![p(0.0, 0.0, 1.0), p(1.0, 0.0, 1.0), p(0.0, 1.0, 1.0), p(1.0, 1.0, 1.0)];
        let mesh = TriMesh { positions, triangles: vec![[0, 1, 2], [1, 3, 2]] };
        let over = |flat: f64| -> Vec<u32> {
            let base: Vec<Point64> = mesh.positions.iter().map(|p| Point64::new(f64::from(p.x), f64::from(p.y) * flat, 0.0)).collect();
            not_held(&mesh, &base, &split(&mesh, &base))
        };
        assert!(over(1.0).is_empty());
        assert!(over(0.1).is_empty());
        assert_eq!(over(1e-5), [0, 1, 2, 3]);
    }
}
