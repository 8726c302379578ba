//! The plane between the two sides of a mesh, found by trying.

use super::Mirror;
use crate::math::{Point64, Vec64};
use crate::mesh::{TriMesh, TriangleTree};

/// Vertices that are mirrored to see whether they meet the surface again.
const SAMPLES: usize = 400;
/// A mirrored vertex that is nearer to the surface than this part of the size has met it …
const NEAR: f64 = 0.012;
/// … and this part of them must, for the plane to be one of symmetry.
const ENOUGH: f64 = 0.8;
/// What comes nearer to the plane than this part of the size lies on it.
const SNAP: f64 = 0.012;

/// The plane across one of the axes about which the mesh is most alike; X is preferred where several are.
pub(super) fn find(mesh: &TriMesh, tree: &TriangleTree) -> Option<Mirror> {
    let bounds = mesh.bounds();
    let size = f64::from(bounds.size());
    if !(size > 0.0 && size.is_finite()) || mesh.positions.is_empty() {
        return None;
    }
    let step = (mesh.positions.len() / SAMPLES).max(1);
    let samples: Vec<Point64> =
        mesh.positions.iter().step_by(step).filter(|p| p.iter().all(|c| c.is_finite())).map(|p| p.cast::<f64>()).collect();
    let center = bounds.center().cast::<f64>();
    let mean = Point64::from(samples.iter().map(|p| p.coords).sum::<Vec64>() / samples.len().max(1) as f64);
    let mut best: Option<(f64, Mirror)> = None;
    for (axis, preference) in [(Vec64::x(), 0.06), (Vec64::z(), 0.02), (Vec64::y(), -0.1)] {
        for point in [Point64::origin(), center, mean] {
            let mirror = Mirror { point: center + axis * (point - center).dot(&axis), normal: axis, snap: SNAP * size };
            let met = samples.iter().filter(|p| tree.closest(&mirror.reflect(p), NEAR * size, |_| true).is_some()).count();
            let share = met as f64 / samples.len().max(1) as f64;
            if share >= ENOUGH && best.as_ref().is_none_or(|(score, _)| share + preference > *score) {
                best = Some((share + preference, mirror));
            }
        }
    }
    best.map(|(_, mirror)| mirror)
}
