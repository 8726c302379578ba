//! Vertex density for decimation: finer near joints.

use rayon::prelude::*;

use crate::math::Point;
use crate::mesh::TriMesh;

/// Vertices per area at a joint, relative to those far from any joint.
pub const JOINT_DENSITY: f32 = 4.0;
/// Full density within this many radii of the point…
const FULL: f32 = 1.2;
/// …falling to 1 at this many radii.
const NONE: f32 = 2.4;

/// A density for every vertex: [`JOINT_DENSITY`] around the points, decreasing smoothly to 1. A
/// point's radius is its distance from the surface around it, in mesh units; points without a
/// positive radius are ignored.
#[must_use]
pub fn density_near(mesh: &TriMesh, points: &[(Point, f32)]) -> Vec<f32> {
    let at = |position: &Point| {
        let mut nearest = NONE;
        for (point, radius) in points.iter().filter(|(_, radius)| *radius > 0.0) {
            nearest = nearest.min((position - point).norm() / radius);
        }
        let t = ((NONE - nearest) / (NONE - FULL)).clamp(0.0, 1.0);
        1.0 + (JOINT_DENSITY - 1.0) * t * t * (3.0 - 2.0 * t)
    };
    mesh.positions.par_iter().map(at).collect()
}
