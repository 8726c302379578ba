//! Where a mesh shall stay finer.

use rayon::prelude::*;

use crate::math::Point;
use crate::mesh::TriMesh;

/// Vertices per area at a joint, in terms of those far from any.
pub const JOINT_DENSITY: f32 = 4.0;
/// The full density reaches this many radii from the point…
const FULL: f32 = 1.2;
/// …and has faded to 1 at this many.
const NONE: f32 = 2.4;

/// A density for every vertex: [`JOINT_DENSITY`] around the points, smoothly down to 1 farther away. A point's radius says how far
/// the surface around it is, in the mesh's units; points without a positive radius count for nothing.
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
