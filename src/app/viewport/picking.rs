//! Picking: a joint, a bone, or flesh.

use egui::Pos2;

use super::gizmo::distance_to_segment;
use super::screen_map::{ScreenMap, ScreenRay};
use crate::character::{Attachment, BrushPoint};
use crate::math::{Affine, Point, Point64, Vec64, origin_of};
use crate::methods::Subject;
use crate::rig::Skeleton;
use crate::session::Snapshot;

/// Pick radius of a joint, points.
pub(super) const JOINT_REACH: f32 = 10.0;
/// Pick radius of a bone, points.
const BONE_REACH: f32 = 5.0;

/// The item under the pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PickTarget {
    /// A joint's dot.
    Joint(usize),
    /// The bone that starts at this joint.
    Bone(usize),
    /// Flesh, with the joint of largest weight, at a world position.
    Flesh {
        /// The joint.
        joint: usize,
        /// Where the flesh was hit.
        point: Point64,
    },
}

impl PickTarget {
    /// The joint of the item.
    #[must_use]
    pub fn joint(self) -> usize {
        match self {
            Self::Joint(joint) | Self::Bone(joint) | Self::Flesh { joint, .. } => joint,
        }
    }
}

/// The joint whose dot, otherwise whose bone, is nearest to the pointer within the pick radius.
#[must_use]
pub fn pick_bones(
    map: &ScreenMap,
    skeleton: &Skeleton,
    world_from_joint: &[Affine],
    pointer: Pos2,
) -> Option<PickTarget> {
    let dots: Vec<Option<Pos2>> = world_from_joint
        .iter()
        .map(|world| map.project(&origin_of(world)))
        .collect();
    let nearest = |reach: f32, candidates: &mut dyn Iterator<Item = (usize, f32)>| {
        candidates
            .filter(|(_, distance)| *distance <= reach)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(joint, _)| joint)
    };
    let mut joints = dots
        .iter()
        .enumerate()
        .filter_map(|(joint, dot)| dot.map(|dot| (joint, dot.distance(pointer))));
    if let Some(joint) = nearest(JOINT_REACH, &mut joints) {
        return Some(PickTarget::Joint(joint));
    }
    let mut bones = skeleton
        .joints()
        .iter()
        .enumerate()
        .filter_map(|(child, joint)| {
            let parent = joint.parent?;
            let (from, to) = (*dots.get(parent)?, *dots.get(child)?);
            Some((parent, distance_to_segment(pointer, from?, to?)))
        });
    nearest(BONE_REACH, &mut bones).map(PickTarget::Bone)
}

/// The skin under the pointer: distance along the ray, mesh, triangle with the shares of its corners, and the corner nearest to the
/// point.
struct SkinHit {
    distance: f32,
    mesh: usize,
    triangle: [u32; 3],
    shares: [f32; 3],
    vertex: usize,
    /// Source vertices before those of the mesh.
    offset: usize,
}

fn hit_skin(ray: &ScreenRay, snapshot: &Snapshot) -> Option<SkinHit> {
    let origin = ray.origin.cast::<f32>();
    let direction = ray.direction.cast::<f32>();
    let mut offset = 0;
    let mut nearest: Option<SkinHit> = None;
    for (mesh_index, mesh) in snapshot.subject.character.meshes.iter().enumerate() {
        let positions = snapshot
            .positions()
            .get(offset..offset + mesh.positions.len())?;
        for triangle in &mesh.triangles {
            let corners = triangle.map(|corner| positions[corner as usize]);
            if let Some((distance, shares)) = hit_triangle(&origin, &direction, &corners)
                && nearest.as_ref().is_none_or(|hit| distance < hit.distance)
            {
                nearest = Some(SkinHit {
                    distance,
                    mesh: mesh_index,
                    triangle: *triangle,
                    shares,
                    vertex: triangle[nearest_corner(&shares)] as usize,
                    offset,
                });
            }
        }
        offset += mesh.positions.len();
    }
    nearest
}

/// The flesh under the pointer, and the joint of largest weight there.
#[must_use]
pub fn pick_flesh(ray: &ScreenRay, snapshot: &Snapshot) -> Option<PickTarget> {
    let hit = hit_skin(ray, snapshot)?;
    let point = ray.origin + ray.direction * f64::from(hit.distance);
    let joint = strongest_joint(&snapshot.subject, hit.mesh, hit.vertex)
        .or_else(|| nearest_joint(&snapshot.subject, &snapshot.world_from_joint, &point))?;
    Some(PickTarget::Flesh { joint, point })
}

/// A point of the skin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinSpot {
    /// The point in the bind pose.
    pub at: BrushPoint,
    /// Where it is in the pose shown, and its normal there.
    pub place: Point64,
    /// The normal in the pose shown.
    pub normal: Vec64,
}

/// The point of the skin under the pointer; `None` if its triangle has no area.
#[must_use]
pub fn pick_spot(ray: &ScreenRay, snapshot: &Snapshot) -> Option<SkinSpot> {
    let hit = hit_skin(ray, snapshot)?;
    let bind = &snapshot.subject.bind_positions;
    let corners = |positions: &[Point]| {
        let at = |corner: u32| positions.get(hit.offset + corner as usize).copied();
        Some([
            at(hit.triangle[0])?,
            at(hit.triangle[1])?,
            at(hit.triangle[2])?,
        ])
    };
    let normal = |[a, b, c]: &[Point; 3]| (b - a).cross(&(c - a)).try_normalize(f32::MIN_POSITIVE);
    let (rest, posed) = (corners(bind)?, corners(snapshot.positions())?);
    let [u, v, w] = hit.shares;
    let position = rest[0].coords * u + rest[1].coords * v + rest[2].coords * w;
    Some(SkinSpot {
        at: BrushPoint {
            position: position.into(),
            normal: normal(&rest)?,
        },
        place: ray.origin + ray.direction * f64::from(hit.distance),
        normal: normal(&posed)?.cast(),
    })
}

/// The source vertex under the pointer: the nearest corner of the triangle there.
#[must_use]
pub fn pick_vertex(ray: &ScreenRay, snapshot: &Snapshot) -> Option<usize> {
    hit_skin(ray, snapshot).map(|hit| hit.offset + hit.vertex)
}

/// The corner with the largest share.
fn nearest_corner(shares: &[f32; 3]) -> usize {
    (0..3)
        .max_by(|a, b| shares[*a].total_cmp(&shares[*b]))
        .unwrap_or(0)
}

/// Intersection of a ray with a triangle, from either side: the distance, and the shares of the
/// corners in the point (Möller and Trumbore 1997).
fn hit_triangle(
    origin: &Point,
    direction: &crate::math::Vec3,
    corners: &[Point; 3],
) -> Option<(f32, [f32; 3])> {
    let (e1, e2) = (corners[1] - corners[0], corners[2] - corners[0]);
    let p = direction.cross(&e2);
    let determinant = e1.dot(&p);
    if determinant == 0.0 {
        return None;
    }
    let s = (origin - corners[0]) / determinant;
    let u = s.dot(&p);
    if !(0.0..=1.0).contains(&u) {
        return None;
    }
    let q = s.cross(&e1);
    let v = direction.dot(&q);
    let distance = e2.dot(&q);
    if v < 0.0 || u + v > 1.0 || distance <= 0.0 || !distance.is_finite() {
        return None;
    }
    Some((distance, [1.0 - u - v, u, v]))
}

fn strongest_joint(subject: &Subject, mesh: usize, vertex: usize) -> Option<usize> {
    let weights = match &subject.character.meshes.get(mesh)?.attachment {
        Attachment::Rigid { joint, .. } => return Some(*joint),
        Attachment::Static { .. } => return None,
        Attachment::Skinned { .. } | Attachment::Unweighted => subject.weights_of_mesh(mesh)?,
    };
    weights
        .of(vertex)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(joint, _)| joint)
}

/// The joint whose bones are nearest to a point.
fn nearest_joint(subject: &Subject, world_from_joint: &[Affine], point: &Point64) -> Option<usize> {
    let skeleton = &subject.character.skeleton;
    let at = |joint: usize| world_from_joint.get(joint).map(origin_of);
    let bones = (0..skeleton.len()).filter_map(|child| {
        let (from, to) = match skeleton.joints()[child].parent {
            Some(parent) => (at(parent)?, at(child)?),
            None => (at(child)?, at(child)?),
        };
        let along = to - from;
        let t = if along.norm_squared() > 0.0 {
            ((point - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = (point - (from + along * t)).norm();
        // Beyond its end, a leaf's bone belongs to the leaf joint.
        let leaf = t >= 1.0 && skeleton.children(child).is_empty();
        let joint = if leaf {
            child
        } else {
            skeleton.joints()[child].parent.unwrap_or(child)
        };
        Some((joint, distance))
    });
    bones
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(joint, _)| joint)
}

#[cfg(test)]
mod tests {
    use super::super::screen_map::tests::front_map;
    use super::*;
    use crate::math::Vec3;
    use egui::pos2;

    #[test]
    fn joints_have_priority_over_bones() {
        let p = |y: f64| Point64::new(0.0, y, 0.0);
        let skeleton =
            Skeleton::from_positions(&[("a".into(), None, p(0.0)), ("b".into(), Some(0), p(2.0))])
                .unwrap();
        let world = skeleton.bind_transforms();
        let pick = |y: f32| pick_bones(&front_map(), &skeleton, &world, pos2(112.0, y));
        assert_eq!(pick(121.0), Some(PickTarget::Joint(0)));
        assert_eq!(pick(80.0), Some(PickTarget::Joint(1)));
        assert_eq!(pick(100.0), Some(PickTarget::Bone(0)));
        assert_eq!(pick(160.0), None);
    }

    #[test]
    fn a_triangle_is_hit_from_both_sides_only_inside() {
        let corners = [
            Point::new(0.0, 0.0, 0.0),
            Point::new(1.0, 0.0, 0.0),
            Point::new(0.0, 1.0, 0.0),
        ];
        let hit = |x: f32, y: f32, z: f32, dz: f32| {
            let hit = hit_triangle(&Point::new(x, y, z), &Vec3::new(0.0, 0.0, dz), &corners);
            hit.map(|(distance, shares)| (distance, nearest_corner(&shares)))
        };
        assert_eq!(hit(0.1, 0.7, 2.0, -1.0), Some((2.0, 2)));
        assert_eq!(hit(0.1, 0.1, -3.0, 1.0), Some((3.0, 0)));
        assert_eq!(hit(0.8, 0.8, 2.0, -1.0), None);
        assert_eq!(hit(0.1, 0.1, 2.0, 1.0), None);
    }
}
