//! Which unknowns the tets hold in place.
//!
//! A tet in its rest shape is a rigid body: once three of its points that are not collinear are held, so is the fourth. Prescribed
//! points are held; the search goes on from tet to tet. An unknown that is never reached could rotate about a line or reflect at no
//! energy, and would not return to rest: parts whose base shrank to a line, or that are attached at a single point.

use super::Layer;
use crate::math::{Point64, Vec64};

/// Three points are in line if their triangle is lower than this part of the tet's longest edge.
const IN_LINE: f64 = 1e-2;
/// Passes over the tets; real skins need two or three.
const PASSES: usize = 50;

/// The unknowns that no sequence of usable tets holds, ascending; `unknowns` and `prescribed` are all points at rest.
pub(super) fn not_held(layers: &[Layer], unknowns: &[Point64], prescribed: &[Point64]) -> Vec<u32> {
    let mut held = vec![false; unknowns.len()];
    for _ in 0..PASSES {
        let mut changed = false;
        for layer in layers {
            for cell in layer.tets.chunk_by(|a, b| a.cell == b.cell) {
                // Layers are listed from the skin inwards; what holds lies further in.
                for tet in cell.iter().rev().filter(|tet| tet.is_usable()) {
                    let is_held = tet
                        .corners
                        .map(|corner| corner.as_unknown().is_none_or(|v| held[v as usize]));
                    let Some(points) = tet.points(unknowns, prescribed) else {
                        continue;
                    };
                    if is_held.contains(&false) && is_rigid(&points, is_held) {
                        for v in tet.corners.iter().filter_map(|corner| corner.as_unknown()) {
                            held[v as usize] = true;
                        }
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    (0..unknowns.len() as u32)
        .filter(|&v| !held[v as usize])
        .collect()
}

/// Whether the held points of a tet hold all of it.
fn is_rigid(tet: &[Point64], held: [bool; 4]) -> bool {
    let mut points = tet
        .iter()
        .zip(held)
        .filter(|(_, held)| *held)
        .map(|(point, _)| point);
    let (Some(a), Some(b), Some(c)) = (points.next(), points.next(), points.next()) else {
        return false;
    };
    let (ab, ac): (Vec64, Vec64) = (b - a, c - a);
    let side = ab.norm().max(ac.norm()).max((ab - ac).norm());
    let longest = tet
        .iter()
        .flat_map(|p| tet.iter().map(move |q| (p - q).norm()))
        .fold(0.0, f64::max);
    ab.cross(&ac).norm() > IN_LINE * longest * side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::mesh::TriMesh;
    use crate::tissue::layer::between;

    /// A patch over a base that is a line can turn about it; over a base with an area it can't, and its neighbours neither.
    #[test]
    fn a_patch_over_a_line_is_not_held() {
        let p = Point::new;
        let positions = vec![
            p(0.0, 0.0, 1.0),
            p(1.0, 0.0, 1.0),
            p(0.0, 1.0, 1.0),
            p(1.0, 1.0, 1.0),
        ];
        let mesh = TriMesh {
            positions,
            triangles: vec![[0, 1, 2], [1, 3, 2]],
        };
        let over = |flat: f64| -> Vec<u32> {
            let base: Vec<Point64> = mesh
                .positions
                .iter()
                .map(|p| Point64::new(f64::from(p.x), f64::from(p.y) * flat, 0.0))
                .collect();
            let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast()).collect();
            not_held(&[between(&mesh, &base)], &skin, &base)
        };
        assert!(over(1.0).is_empty());
        assert!(over(0.1).is_empty());
        assert_eq!(over(1e-5), [0, 1, 2, 3]);
    }
}
