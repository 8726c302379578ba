//! Room for the flesh in a sharp bend.
//!
//! Bone volumes overlap inside of a sharp bend, and the base surface with them: there is no place left where both skins could be. So
//! base vertices stay on their bone's side of the plane that halves the angle between two bones of a joint, with room for the flesh.

use super::{CollisionBody, Feet};
use crate::math::{Point, Point64, Vec3};
use crate::mesh::TriMesh;
use crate::tissue::{BoneGraph, Tissue};

/// Base vertices leave this part of the flesh's thickness at rest between them and the plane.
const ROOM: f32 = 0.9;
/// Bones shorter than so many times the mean depth of their flesh don't keep those beyond apart.
const SHORT: f64 = 1.5;
/// The flesh of a bone counts as reaching so many times its mean depth.
const REACH: f32 = 1.4;

/// Flesh lacks room in bends of less than this, rad…
const NARROW_RAD: f32 = 1.8;
/// …and gets all of it at this angle…
const SHARP_RAD: f32 = 1.2;
/// …if that is so much sharper than at rest, rad.
const SHARPER_RAD: f32 = 0.5;

/// Two bones that meet.
#[derive(Debug, Clone)]
struct JointPlane {
    /// The bone that holds the vertices, and the one they stay away from.
    bones: [u32; 2],
    /// The joint, and a bone that it is an end of.
    joint: Point64,
    hinge: u32,
    /// Whether there is a short bone between the two.
    beyond: bool,
    /// Unit vectors along both, away from the joint, in the bind pose.
    directions: [Vec3; 2],
    /// How far the flesh of the second bone reaches from its line.
    reach: f32,
    /// Base vertices of the first bone.
    vertices: Vec<Held>,
}

/// A base vertex.
#[derive(Debug, Clone)]
struct Held {
    vertex: u32,
    /// Distance from the plane at rest, on its own side.
    side: f32,
    /// Room for its flesh, where that faces the plane.
    room: f32,
}

/// All pairs of bones that meet.
#[derive(Debug, Clone, Default)]
pub(super) struct Meetings(Vec<JointPlane>);

impl Meetings {
    /// The pairs, and for every bone whether it is shorter than its flesh is deep.
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
        let folds: Vec<bool> = (0..graph.bones.len())
            .map(|bone| graph.length(bone) <= SHORT * mean_aside(mesh, graph, bone, &by_bone[bone]))
            .collect();
        let mut meetings = Vec::new();
        let mut meet = |hinge: usize,
                        node: usize,
                        [own, other]: [usize; 2],
                        directions: [Vec3; 2],
                        beyond: bool| {
            let joint = graph.nodes[node].position;
            let Some(normal) = (directions[0] - directions[1]).try_normalize(1e-3) else {
                return;
            };
            let side = |v: u32| normal.dot(&(tissue.base[v as usize] - joint).cast::<f32>());
            let flesh = |v: u32| {
                (mesh.positions[v as usize].cast::<f64>() - tissue.base[v as usize]).norm() as f32
            };
            let held = |&v: &u32| Held {
                vertex: v,
                side: side(v),
                room: ROOM * flesh(v),
            };
            let vertices = by_bone[own].iter().map(held).collect();
            let reach = REACH * depths[other];
            meetings.push(JointPlane {
                beyond,
                reach,
                hinge: hinge as u32,
                bones: [own as u32, other as u32],
                joint,
                directions,
                vertices,
            });
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            let along = |bone: usize, from: usize| {
                let way =
                    graph.nodes[graph.other_end(bone, from)].position - graph.nodes[from].position;
                way.try_normalize(1e-30).map(nalgebra::Matrix::cast::<f32>)
            };
            for &own in &node.bones {
                for &other in node.bones.iter().filter(|&&other| other != own) {
                    let (Some(a), Some(b)) = (along(own, index), along(other, index)) else {
                        continue;
                    };
                    meet(own, index, [own, other], [a, b], false);
                    if !folds[own] {
                        continue;
                    }
                    // Beyond a bone that is shorter than the flesh is deep, the next ones bend against each other.
                    let far = graph.other_end(own, index);
                    for &next in graph.nodes[far]
                        .bones
                        .iter()
                        .filter(|&&next| next != own && !graph.bones[next].nodes.contains(&index))
                    {
                        let Some(c) = along(next, far) else { continue };
                        meet(other, index, [own, other], [c, b], true);
                        meet(other, index, [other, next], [b, c], true);
                    }
                }
            }
        }
        (Self(meetings), folds)
    }
}

/// Mean distance of the skin from the bone line over some vertices.
fn mean_depth(mesh: &TriMesh, tissue: &Tissue, vertices: &[u32]) -> f32 {
    let depth = |&v: &u32| {
        (mesh.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm()
    };
    (vertices.iter().map(depth).sum::<f64>() / vertices.len().max(1) as f64)
        .max(f64::from(f32::MIN_POSITIVE)) as f32
}

/// The same from the line without ends: flesh beyond the end of a bone is not deep.
fn mean_aside(mesh: &TriMesh, graph: &BoneGraph, bone: usize, vertices: &[u32]) -> f64 {
    let [a, b] = graph.segment(bone);
    let Some(along) = (b - a).try_normalize(1e-30) else {
        return 0.0;
    };
    let aside = |&v: &u32| {
        (mesh.positions[v as usize].cast::<f64>() - a)
            .cross(&along)
            .norm()
    };
    vertices.iter().map(aside).sum::<f64>() / vertices.len().max(1) as f64
}

/// How much of its room the flesh between two bones needs, by the angle between them: bones that turn about each other, as a thigh
/// about the hip bone, take none.
fn closing(rest: f32, now: f32) -> f32 {
    let narrow = ((NARROW_RAD - now) / (NARROW_RAD - SHARP_RAD)).clamp(0.0, 1.0);
    narrow * ((rest - now) / SHARPER_RAD).clamp(0.0, 1.0)
}

impl CollisionBody {
    /// Moves base vertices that are beyond a plane between bones onto it. Allocates nothing.
    pub(crate) fn part(&self, feet: &Feet, base: &mut [Point]) {
        for meeting in &self.meetings.0 {
            let [own, other] = meeting.bones;
            let (Some(of_own), Some(of_other), Some(of_hinge)) =
                (feet.bone(own), feet.bone(other), feet.bone(meeting.hinge))
            else {
                continue;
            };
            let turned = |transform: &nalgebra::Matrix3x4<f32>, direction: &Vec3| -> Vec3 {
                transform.fixed_view::<3, 3>(0, 0) * direction
            };
            let along = turned(of_own, &meeting.directions[0]).try_normalize(1e-30);
            let across = turned(of_other, &meeting.directions[1]).try_normalize(1e-30);
            let (Some(along), Some(across)) = (along, across) else {
                continue;
            };
            let Some(normal) = (along - across).try_normalize(1e-3) else {
                continue;
            };
            let closing = closing(
                meeting.directions[0].angle(&meeting.directions[1]),
                along.angle(&across),
            );
            if closing <= 0.0 {
                continue;
            }
            let joint = Point::from(
                turned(of_hinge, &meeting.joint.coords.cast::<f32>()) + of_hinge.column(3),
            );
            // Flesh aside of a bend gets room only where the bend is all there is.
            let aside = if meeting.beyond { 0.0 } else { 1.0 };
            for held in &meeting.vertices {
                let place = &mut base[held.vertex as usize];
                let away = feet.outward[held.vertex as usize].dot(&normal);
                let facing = (aside - away).clamp(0.0, 1.0);
                let least = held.side.min(held.room * facing);
                let side = normal.dot(&(*place - joint));
                if side < least {
                    // Only as far as the vertex is in the way of the other bone's flesh.
                    let way = *place - joint;
                    let distance = (way - across * across.dot(&way).max(0.0)).norm();
                    let share = closing * (4.0 * (1.0 - distance / meeting.reach)).clamp(0.0, 1.0);
                    *place += normal * ((least - side) * share);
                }
            }
        }
    }
}
