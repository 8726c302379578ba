//! Finds the plane of symmetry: of a mesh, by testing candidates, or of a skeleton, by names and
//! positions of its joints.

use super::names::{is_left_of, other_side};
use super::{Mirror, Placer, Rig};
use crate::math::{Point64, Vec64};
use crate::mesh::{TriMesh, TriangleTree};

/// Number of vertices that are mirrored to test whether they lie on the surface.
const SAMPLES: usize = 400;
/// Maximum distance of a mirrored vertex from the surface, as a fraction of the size …
const NEAR: f64 = 0.012;
/// … and the fraction of vertices that must be within it.
const ENOUGH: f64 = 0.8;
/// Points within this fraction of the size lie on the plane.
const SNAP: f64 = 0.012;

/// The plane across one of the axes with the best symmetry; X is preferred among several.
pub(super) fn find(mesh: &TriMesh, tree: &TriangleTree) -> Option<Mirror> {
    let bounds = mesh.bounds();
    let size = f64::from(bounds.size());
    if !(size > 0.0 && size.is_finite()) || mesh.positions.is_empty() {
        return None;
    }
    let step = (mesh.positions.len() / SAMPLES).max(1);
    let samples: Vec<Point64> = mesh
        .positions
        .iter()
        .step_by(step)
        .filter(|p| p.iter().all(|c| c.is_finite()))
        .map(|p| p.cast::<f64>())
        .collect();
    let center = bounds.center().cast::<f64>();
    let mean = Point64::from(
        samples.iter().map(|p| p.coords).sum::<Vec64>() / samples.len().max(1) as f64,
    );
    let mut best: Option<(f64, Mirror)> = None;
    for (axis, preference) in [(Vec64::x(), 0.06), (Vec64::z(), 0.02), (Vec64::y(), -0.1)] {
        for point in [Point64::origin(), center, mean] {
            let mirror = Mirror {
                point: center + axis * (point - center).dot(&axis),
                normal: axis,
                snap: SNAP * size,
            };
            let met = samples
                .iter()
                .filter(|p| {
                    tree.closest(&mirror.reflect(p), NEAR * size, |_| true)
                        .is_some()
                })
                .count();
            let share = met as f64 / samples.len().max(1) as f64;
            if share >= ENOUGH
                && best
                    .as_ref()
                    .is_none_or(|(score, _)| share + preference > *score)
            {
                best = Some((share + preference, mirror));
            }
        }
    }
    best.map(|(_, mirror)| mirror)
}

/// Maximum distance of joints from their mirrored partners, as a fraction of the size …
const JOINT_NEAR: f64 = 0.025;
/// … and the fraction of named pairs that must be within it.
const MOST_PAIRS: f64 = 0.7;
/// A plane counts as axis-aligned if the cosine of its normal with an axis exceeds this.
const ALONG_AXIS: f64 = 0.9995;
/// Without names: the fraction of joints that may lack a partner, …
const ODD_JOINTS: f64 = 0.1;
/// … and the number of pairs off the plane that is required.
const FEWEST_PAIRS: usize = 2;
/// Maximum number of joints for which pairs are searched: the search is quadratic.
const MOST_TRIED: usize = 1000;

impl Placer {
    /// The mirror plane: that of the mesh, unless joints with side names have another one. For a
    /// mesh without symmetry, pairs of joints determine it. The normal points to the left side
    /// according to names.
    #[must_use]
    pub fn mirror_of(&self, rig: &Rig) -> Option<Mirror> {
        let named = named_pairs(rig);
        let near = JOINT_NEAR * self.size();
        let fits = |mirror: &Mirror| {
            let fitting = named
                .iter()
                .filter(|[left, right]| (mirror.reflect(left) - right).norm() <= near)
                .count();
            !named.is_empty() && fitting as f64 >= MOST_PAIRS * named.len() as f64
        };
        let oriented = |mirror: Mirror| {
            let left: f64 = named
                .iter()
                .map(|[left, right]| (left - right).dot(&mirror.normal))
                .sum();
            Mirror {
                normal: if left < 0.0 {
                    -mirror.normal
                } else {
                    mirror.normal
                },
                ..mirror
            }
        };
        let of_mesh = self.mirror().copied();
        let between = || plane_between(&named, SNAP * self.size());
        let by_name = of_mesh
            .filter(|mirror| fits(mirror))
            .or_else(|| between().filter(|mirror| fits(mirror)));
        by_name
            .map(oriented)
            .or(of_mesh)
            .or_else(|| by_places(rig, near, SNAP * self.size()))
    }
}

/// Positions of joints with side names, left and right.
fn named_pairs(rig: &Rig) -> Vec<[Point64; 2]> {
    let places: std::collections::HashMap<&str, Point64> = rig
        .joints()
        .iter()
        .map(|joint| (joint.name.as_str(), joint.position))
        .collect();
    let left = rig.joints().iter().filter_map(|joint| {
        let other = other_side(&joint.name)?;
        Some([
            joint.position,
            *places
                .get(other.as_str())
                .filter(|_| is_left_of(&joint.name, &other))?,
        ])
    });
    left.filter(|[a, b]| (a - b).norm() > 0.0).collect()
}

/// The plane that bisects the pairs, in the least-squares sense.
fn plane_between(pairs: &[[Point64; 2]], snap: f64) -> Option<Mirror> {
    let across: Vec64 = pairs.iter().map(|[left, right]| left - right).sum();
    let normal = across.try_normalize(1e-12)?;
    let straight = [Vec64::x(), Vec64::y(), Vec64::z()]
        .into_iter()
        .find(|axis| axis.dot(&normal).abs() > ALONG_AXIS);
    let normal = straight.map_or(normal, |axis| axis * axis.dot(&normal).signum());
    let mut heights: Vec<f64> = pairs
        .iter()
        .map(|[left, right]| nalgebra::center(left, right).coords.dot(&normal))
        .collect();
    heights.sort_by(f64::total_cmp);
    let height = *heights.get(heights.len() / 2)?;
    height.is_finite().then(|| Mirror {
        point: Point64::from(normal * height),
        normal,
        snap,
    })
}

/// The axis-aligned plane that maps every joint to another one, or itself.
fn by_places(rig: &Rig, near: f64, snap: f64) -> Option<Mirror> {
    let places: Vec<Point64> = rig.joints().iter().map(|joint| joint.position).collect();
    if places.len() > MOST_TRIED
        || places
            .iter()
            .any(|place| !place.iter().all(|c| c.is_finite()))
    {
        return None;
    }
    let roots = rig
        .joints()
        .iter()
        .filter(|joint| joint.parent.is_none())
        .map(|joint| joint.position);
    let middles: Vec<Point64> = roots.take(1).chain([Point64::origin()]).collect();
    let mut planes = [Vec64::x(), Vec64::z()].into_iter().flat_map(|normal| {
        middles.iter().map(move |&point| Mirror {
            point,
            normal,
            snap,
        })
    });
    planes.find(|mirror| {
        let (mut odd, mut paired) = (0, 0);
        for place in places.iter().filter(|place| !mirror.is_on_plane(place)) {
            let opposite = mirror.reflect(place);
            let has_like = places.iter().any(|other| (other - opposite).norm() <= near);
            if has_like { paired += 1 } else { odd += 1 }
        }
        paired >= 2 * FEWEST_PAIRS && f64::from(odd) <= ODD_JOINTS * places.len() as f64
    })
}
