//! Regions around the joints where the skin bends.

use rayon::prelude::*;

use crate::math::{Point, Vec64};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Number of sectors around the limb in which skin is searched.
const SECTORS: usize = 8;
/// Skin counts as beside a joint if the cosine between the direction to it and the limb's axis is at most this.
const MAX_AXIAL_COSINE: f64 = 0.5;

/// The bind positions of the joints that bend the skin, each with the radius of the limb there: the median, over
/// directions around the limb, of the distance to the nearest skin vertex. World units of the bind pose, as `mesh`.
///
/// Roots do not bend skin. Leaves do only if `weights`, one row per vertex of `mesh`, give them skin.
///
/// # Panics
/// If weights are given for another number of vertices.
#[must_use]
pub fn joint_regions(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
) -> Vec<(Point, f32)> {
    let has_skin = weights.map(|weights| joints_with_skin(mesh, skeleton, weights));
    let bends = |joint: &usize| {
        let moves_skin = match &has_skin {
            Some(has_skin) => has_skin[*joint],
            None => skeleton.joints()[*joint].deforms && !skeleton.children(*joint).is_empty(),
        };
        moves_skin && direction_from_parent(skeleton, *joint).is_some()
    };
    let joints: Vec<usize> = (0..skeleton.len()).filter(bends).collect();
    let region = |&joint: &usize| {
        let position = skeleton.bind_position(joint);
        limb_radius(mesh, &position.coords, &limb_axis(skeleton, joint))
            .map(|radius| (position.cast(), radius as f32))
    };
    joints.par_iter().filter_map(region).collect()
}

/// For every joint whether it or a joint below it moves skin.
fn joints_with_skin(mesh: &TriMesh, skeleton: &Skeleton, weights: &SkinWeights) -> Vec<bool> {
    let mut own = vec![0.0_f32; skeleton.len()];
    for vertex in 0..mesh.positions.len() {
        for (joint, value) in weights.of(vertex) {
            own[joint] += value;
        }
    }
    let mut has_skin: Vec<bool> = own.iter().map(|&sum| sum > 0.5).collect();
    for joint in (0..skeleton.len()).rev() {
        if let Some(parent) = skeleton.joints()[joint].parent {
            has_skin[parent] |= has_skin[joint];
        }
    }
    has_skin
}

/// Unit direction from the nearest ancestor with another position; `None` if there is none.
fn direction_from_parent(skeleton: &Skeleton, joint: usize) -> Option<Vec64> {
    let position = skeleton.bind_position(joint);
    let ancestors = std::iter::successors(skeleton.joints()[joint].parent, |&parent| {
        skeleton.joints()[parent].parent
    });
    let mut directions = ancestors.map(|parent| position - skeleton.bind_position(parent));
    directions.find_map(|direction| direction.try_normalize(1e-9))
}

/// Unit axis of the limb at a joint: the mean direction of the bones to it and from it.
fn limb_axis(skeleton: &Skeleton, joint: usize) -> Vec64 {
    let position = skeleton.bind_position(joint);
    let mut axis = direction_from_parent(skeleton, joint).unwrap_or_else(Vec64::y);
    let children = skeleton
        .children(joint)
        .iter()
        .filter_map(|&child| (skeleton.bind_position(child) - position).try_normalize(1e-9));
    if let Some(down) = children.sum::<Vec64>().try_normalize(1e-3) {
        axis = (axis + down).try_normalize(1e-3).unwrap_or(axis);
    }
    axis
}

/// The lower median over the sectors of the distance of the nearest vertex beside `point`; `None` if there is no skin.
fn limb_radius(mesh: &TriMesh, point: &Vec64, axis: &Vec64) -> Option<f64> {
    let other = if axis.x.abs() < 0.8 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let u = axis.cross(&other).normalize();
    let v = axis.cross(&u);
    let mut nearest = [f64::INFINITY; SECTORS];
    let mut nearest_any = f64::INFINITY;
    for position in &mesh.positions {
        let d = position.coords.cast::<f64>() - point;
        let distance2 = d.norm_squared();
        nearest_any = nearest_any.min(distance2);
        let along = d.dot(axis);
        if along * along > MAX_AXIAL_COSINE * MAX_AXIAL_COSINE * distance2 {
            continue;
        }
        // Octants by signs and by the larger component: no angle needed.
        let (x, y) = (d.dot(&u), d.dot(&v));
        let sector =
            usize::from(x < 0.0) * 4 + usize::from(y < 0.0) * 2 + usize::from(x.abs() < y.abs());
        nearest[sector] = nearest[sector].min(distance2);
    }
    nearest.sort_unstable_by(f64::total_cmp);
    let median = nearest[SECTORS / 2 - 1];
    let radius = if median.is_finite() {
        median
    } else {
        nearest_any
    }
    .sqrt();
    (radius.is_finite() && radius > 0.0).then_some(radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    fn tube(radius: f32) -> TriMesh {
        let at = |ring: usize, k: usize| {
            let angle = k as f32 / 24.0 * std::f32::consts::TAU;
            Point::new(
                ring as f32 * 0.1 - 3.0,
                radius * angle.cos(),
                radius * angle.sin(),
            )
        };
        TriMesh {
            positions: (0..61)
                .flat_map(|ring| (0..24).map(move |k| at(ring, k)))
                .collect(),
            triangles: Vec::new(),
        }
    }

    #[test]
    fn the_middle_joint_of_a_tube_has_the_radius_of_the_tube() {
        let joint =
            |name: &str, parent, x: f64| (name.to_owned(), parent, Point64::new(x, 0.0, 0.0));
        let joints = [
            joint("root", None, -3.0),
            joint("middle", Some(0), 0.0),
            joint("end", Some(1), 3.0),
        ];
        let skeleton = Skeleton::from_positions(&joints).unwrap();
        let regions = joint_regions(&tube(0.5), &skeleton, None);
        assert_eq!(regions.len(), 1);
        assert_eq!(regions[0].0, Point::origin());
        assert!((regions[0].1 - 0.5).abs() < 0.02, "{}", regions[0].1);
    }

    #[test]
    fn leaves_are_regions_where_they_move_skin() {
        let joint =
            |name: &str, parent, x: f64| (name.to_owned(), parent, Point64::new(x, 0.0, 0.0));
        let skeleton =
            Skeleton::from_positions(&[joint("root", None, -3.0), joint("leaf", Some(0), 0.0)])
                .unwrap();
        let mesh = tube(0.5);
        assert!(joint_regions(&mesh, &skeleton, None).is_empty());
        let rows: Vec<_> = mesh
            .positions
            .iter()
            .map(|p| [(u32::from(p.x > 0.0), 1.0)])
            .collect();
        let weights = SkinWeights::from_rows(rows).0;
        assert_eq!(joint_regions(&mesh, &skeleton, Some(&weights)).len(), 1);
    }
}
