//! Space for the flesh in sharp bends.
//!
//! Inside a sharp bend the bone volumes overlap, and so does the base surface: no space is left for both skins. So
//! base vertices are kept on their bone's side of the bisecting plane of the joint, at a distance that leaves space for the flesh.

use super::{CollisionBody, PosedFootPoints};
use crate::math::{Point, Point64, Vec3};
use crate::mesh::TriMesh;
use crate::tissue::{BoneGraph, Tissue};

/// Base vertices keep this fraction of the flesh's thickness at rest as distance from the plane.
const CLEARANCE: f32 = 0.9;
/// A bone shorter than this many times the mean thickness of its flesh does not separate the bones beyond it.
const SHORT_BONE: f64 = 1.5;
/// The flesh of a bone is assumed to reach this many times its mean thickness.
const FLESH_REACH: f32 = 1.4;

/// Below this angle between the bones the flesh needs extra space, rad…
const NARROW_RAD: f32 = 1.8;
/// …and at this angle all of it…
const SHARP_RAD: f32 = 1.2;
/// …if the bend is sharper than at rest by this angle, rad.
const SHARPER_RAD: f32 = 0.5;

/// Two adjacent bones.
#[derive(Debug, Clone)]
struct JointPlane {
    /// The bone of the vertices, and the one they are kept away from.
    bones: [u32; 2],
    /// The joint, and a bone that it is an end of.
    joint: Point64,
    joint_bone: u32,
    /// Whether a short bone lies between the two.
    across_short_bone: bool,
    /// Unit vectors along both, away from the joint, in the bind pose.
    directions: [Vec3; 2],
    /// Distance that the flesh of the second bone reaches from its line.
    reach: f32,
    /// Base vertices of the first bone.
    vertices: Vec<SeparatedVertex>,
}

/// A base vertex.
#[derive(Debug, Clone)]
struct SeparatedVertex {
    vertex: u32,
    /// Distance from the plane at rest, positive on its own side.
    side: f32,
    /// Distance to keep for its flesh, if that faces the plane.
    clearance: f32,
}

/// All pairs of adjacent bones.
#[derive(Debug, Clone, Default)]
pub(super) struct JointPlanes(Vec<JointPlane>);

impl JointPlanes {
    /// The pairs, and per bone whether it is shorter than its flesh is thick.
    pub(super) fn of(mesh: &TriMesh, tissue: &Tissue) -> (Self, Vec<bool>) {
        let graph = &tissue.graph;
        let mut by_bone: Vec<Vec<u32>> = vec![Vec::new(); graph.bones.len()];
        for (vertex, &bone) in tissue.foot_bones.iter().enumerate() {
            by_bone[bone as usize].push(vertex as u32);
        }
        let depths: Vec<f32> = by_bone
            .iter()
            .map(|vertices| mean_depth(mesh, tissue, vertices))
            .collect();
        let may_fold: Vec<bool> = (0..graph.bones.len())
            .map(|bone| {
                graph.length(bone)
                    <= SHORT_BONE * mean_line_distance(mesh, graph, bone, &by_bone[bone])
            })
            .collect();
        let mut planes = Vec::new();
        let mut add_plane = |joint_bone: usize,
                             node: usize,
                             [own, other]: [usize; 2],
                             directions: [Vec3; 2],
                             across_short_bone: bool| {
            let joint = graph.nodes[node].position;
            let Some(normal) = (directions[0] - directions[1]).try_normalize(1e-3) else {
                return;
            };
            let side = |v: u32| normal.dot(&(tissue.base[v as usize] - joint).cast::<f32>());
            let flesh = |v: u32| {
                (mesh.positions[v as usize].cast::<f64>() - tissue.base[v as usize]).norm() as f32
            };
            let separated = |&v: &u32| SeparatedVertex {
                vertex: v,
                side: side(v),
                clearance: CLEARANCE * flesh(v),
            };
            let vertices = by_bone[own].iter().map(separated).collect();
            let reach = FLESH_REACH * depths[other];
            planes.push(JointPlane {
                across_short_bone,
                reach,
                joint_bone: joint_bone as u32,
                bones: [own as u32, other as u32],
                joint,
                directions,
                vertices,
            });
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            let along = |bone: usize, from: usize| {
                let offset =
                    graph.nodes[graph.other_end(bone, from)].position - graph.nodes[from].position;
                offset
                    .try_normalize(1e-30)
                    .map(nalgebra::Matrix::cast::<f32>)
            };
            for &own in &node.bones {
                for &other in node.bones.iter().filter(|&&other| other != own) {
                    let (Some(a), Some(b)) = (along(own, index), along(other, index)) else {
                        continue;
                    };
                    add_plane(own, index, [own, other], [a, b], false);
                    if !may_fold[own] {
                        continue;
                    }
                    // Beyond a bone that is shorter than the flesh is thick, the next bones are paired with each other.
                    let far = graph.other_end(own, index);
                    for &next in graph.nodes[far]
                        .bones
                        .iter()
                        .filter(|&&next| next != own && !graph.bones[next].nodes.contains(&index))
                    {
                        let Some(c) = along(next, far) else { continue };
                        add_plane(other, index, [own, other], [c, b], true);
                        add_plane(other, index, [other, next], [b, c], true);
                    }
                }
            }
        }
        (Self(planes), may_fold)
    }
}

/// Mean distance of some vertices from the bone line.
fn mean_depth(mesh: &TriMesh, tissue: &Tissue, vertices: &[u32]) -> f32 {
    let depth = |&v: &u32| {
        (mesh.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm()
    };
    (vertices.iter().map(depth).sum::<f64>() / vertices.len().max(1) as f64)
        .max(f64::from(f32::MIN_POSITIVE)) as f32
}

/// The same from the infinite line: flesh beyond the end of a bone does not count as thick.
fn mean_line_distance(mesh: &TriMesh, graph: &BoneGraph, bone: usize, vertices: &[u32]) -> f64 {
    let [a, b] = graph.segment(bone);
    let Some(along) = (b - a).try_normalize(1e-30) else {
        return 0.0;
    };
    let line_distance = |&v: &u32| {
        (mesh.positions[v as usize].cast::<f64>() - a)
            .cross(&along)
            .norm()
    };
    vertices.iter().map(line_distance).sum::<f64>() / vertices.len().max(1) as f64
}

/// Fraction of the extra space that the flesh between two bones needs, by the angle between them. Bones that rotate about each other,
/// as a thigh about the hip bone, need none.
fn bend_fraction(rest: f32, now: f32) -> f32 {
    let narrow = ((NARROW_RAD - now) / (NARROW_RAD - SHARP_RAD)).clamp(0.0, 1.0);
    narrow * ((rest - now) / SHARPER_RAD).clamp(0.0, 1.0)
}

impl CollisionBody {
    /// Moves base vertices that are beyond a bisecting plane onto it. Does not allocate.
    pub(crate) fn separate_base(&self, foot_points: &PosedFootPoints, base: &mut [Point]) {
        for plane in &self.joint_planes.0 {
            let [own, other] = plane.bones;
            let (Some(of_own), Some(of_other), Some(of_joint_bone)) = (
                foot_points.bone(own),
                foot_points.bone(other),
                foot_points.bone(plane.joint_bone),
            ) else {
                continue;
            };
            let turned = |transform: &nalgebra::Matrix3x4<f32>, direction: &Vec3| -> Vec3 {
                transform.fixed_view::<3, 3>(0, 0) * direction
            };
            let along = turned(of_own, &plane.directions[0]).try_normalize(1e-30);
            let across = turned(of_other, &plane.directions[1]).try_normalize(1e-30);
            let (Some(along), Some(across)) = (along, across) else {
                continue;
            };
            let Some(normal) = (along - across).try_normalize(1e-3) else {
                continue;
            };
            let bend_fraction = bend_fraction(
                plane.directions[0].angle(&plane.directions[1]),
                along.angle(&across),
            );
            if bend_fraction <= 0.0 {
                continue;
            }
            let joint = Point::from(
                turned(of_joint_bone, &plane.joint.coords.cast::<f32>()) + of_joint_bone.column(3),
            );
            // Flesh parallel to the plane gets extra space too, unless a short bone lies between the two bones.
            let facing_bias = if plane.across_short_bone { 0.0 } else { 1.0 };
            for separated in &plane.vertices {
                let position = &mut base[separated.vertex as usize];
                let away = foot_points.outward[separated.vertex as usize].dot(&normal);
                let facing = (facing_bias - away).clamp(0.0, 1.0);
                let least = separated.side.min(separated.clearance * facing);
                let side = normal.dot(&(*position - joint));
                if side < least {
                    // Limited by how far the vertex intrudes into the other bone's flesh.
                    let offset = *position - joint;
                    let distance = (offset - across * across.dot(&offset).max(0.0)).norm();
                    let fraction =
                        bend_fraction * (4.0 * (1.0 - distance / plane.reach)).clamp(0.0, 1.0);
                    *position += normal * ((least - side) * fraction);
                }
            }
        }
    }
}
