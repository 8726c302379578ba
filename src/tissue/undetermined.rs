//! Which unknowns the tets determine.
//!
//! A tet in its rest shape is a rigid body: if three of its points that are not collinear are determined, so is the
//! fourth. The search starts at the prescribed points and goes on from tet to tet. An unknown that is not reached could
//! rotate about a line or be reflected without energy, and would not return to rest. This happens to parts whose base
//! shrank to a line, and to parts attached at a single point.

use super::Layer;
use crate::math::{Point64, Vec64};

/// Three points count as collinear if the height of their triangle is below this fraction of the tet's longest edge.
const COLLINEAR_HEIGHT: f64 = 1e-2;
/// Maximum number of passes over the tets; real skins need two or three.
const MAX_PASSES: usize = 50;

/// The unknowns that no sequence of usable tets determines, ascending; `unknowns` and `prescribed` are the rest
/// positions of all points.
pub(super) fn undetermined(
    layers: &[Layer],
    unknowns: &[Point64],
    prescribed: &[Point64],
) -> Vec<u32> {
    let mut determined = vec![false; unknowns.len()];
    for _ in 0..MAX_PASSES {
        let mut changed = false;
        for layer in layers {
            for cell in layer.tets.chunk_by(|a, b| a.cell == b.cell) {
                // Layers are listed from the skin inwards; in reverse order the search starts at the prescribed points.
                for tet in cell.iter().rev().filter(|tet| tet.is_usable()) {
                    let is_determined = tet
                        .corners
                        .map(|corner| corner.as_unknown().is_none_or(|v| determined[v as usize]));
                    let Some(points) = tet.points(unknowns, prescribed) else {
                        continue;
                    };
                    if is_determined.contains(&false) && is_rigid(&points, is_determined) {
                        for v in tet.corners.iter().filter_map(|corner| corner.as_unknown()) {
                            determined[v as usize] = true;
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
        .filter(|&v| !determined[v as usize])
        .collect()
}

/// Whether the determined points of a tet determine all of it.
fn is_rigid(tet: &[Point64], determined: [bool; 4]) -> bool {
    let mut points = tet
        .iter()
        .zip(determined)
        .filter(|(_, determined)| *determined)
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
    ab.cross(&ac).norm() > COLLINEAR_HEIGHT * longest * side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::mesh::TriMesh;
    use crate::tissue::layer::fill_between;

    /// A patch over a base that is a line can rotate about it; a patch over a base with area cannot, nor can its
    /// neighbours.
    #[test]
    fn a_patch_over_a_line_is_undetermined() {
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
            undetermined(&[fill_between(&mesh, &base, &[0, 1, 2, 3])], &skin, &base)
        };
        assert!(over(1.0).is_empty());
        assert!(over(0.1).is_empty());
        assert_eq!(over(1e-5), [0, 1, 2, 3]);
    }
}
