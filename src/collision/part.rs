//! Room for the flesh in a sharp bend.
//!
//! Bone volumes overlap inside of a sharp bend, and the base surface with them: there is no place left where both skins could be. So
//! base vertices stay on their bone's side of the plane that halves the angle between two bones of a joint, with room for the flesh.

use super::{CollisionBody, Feet};
use crate::math::{Point, Point64, Vec3};
use crate::mesh::TriMesh;
use crate::tissue::Tissue;

/// Base vertices leave this part of the flesh's thickness at rest between them and the plane.
const ROOM: f32 = 0.9;
/// The flesh of a bone counts as reaching so many times its mean depth.
const REACH: f32 = 1.4;

/// Flesh lacks room in bends of less than this, rad…
const NARROW_RAD: f32 = 1.5;
/// …and gets all of it at this angle…
const SHARP_RAD: f32 = 0.9;
/// …if that is so much sharper than at rest, rad.
const SHARPER_RAD: f32 = 0.5;

/// Two bones that meet.
#[derive(Debug, Clone)]
struct Meeting {
    /// The bone that holds the vertices, and the one they stay away from.
    bones: [u32; 2],
    /// The joint.
    joint: Point64,
    /// Unit vectors from the joint along both, in the bind pose.
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
pub(super) struct Meetings(Vec<Meeting>);

impl Meetings {
    pub(super) fn of(mesh: &TriMesh, tissue: &Tissue) -> Self {
        let graph = &tissue.graph;
        let mut by_bone: Vec<Vec<u32>> = vec![Vec::new(); graph.bones.len()];
        for (vertex, &bone) in tissue.foot_bones.iter().enumerate() {
            by_bone[bone as usize].push(vertex as u32);
        }
        let mut meetings = Vec::new();
        for (node_index, node) in graph.nodes.iter().enumerate() {
            let along = |bone: usize| {
                let way = graph.nodes[graph.other_end(bone, node_index)].position - node.position;
                way.try_normalize(1e-30).map(nalgebra::Matrix::cast::<f32>)
            };
            for &own in &node.bones {
                for &other in node.bones.iter().filter(|&&other| other != own) {
                    let (Some(a), Some(b)) = (along(own), along(other)) else { continue };
                    let Some(normal) = (a - b).try_normalize(1e-3) else { continue };
                    let side = |v: u32| normal.dot(&(tissue.base[v as usize] - node.position).cast::<f32>());
                    let flesh = |v: u32| (mesh.positions[v as usize].cast::<f64>() - tissue.base[v as usize]).norm() as f32;
                    let vertices = by_bone[own].iter().map(|&v| Held { vertex: v, side: side(v), room: ROOM * flesh(v) }).collect();
                    let reach = REACH * mean_depth(mesh, tissue, &by_bone[other]);
                    meetings.push(Meeting { reach, bones: [own as u32, other as u32], joint: node.position, directions: [a, b], vertices });
                }
            }
        }
        Self(meetings)
    }
}

/// Mean distance of the skin from the bone line over some vertices.
fn mean_depth(mesh: &TriMesh, tissue: &Tissue, vertices: &[u32]) -> f32 {
    let depth = |&v: &u32| (mesh.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm();
    (vertices.iter().map(depth).sum::<f64>() / vertices.len().max(1) as f64).max(f64::from(f32::MIN_POSITIVE)) as f32
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
            let (Some(of_own), Some(of_other)) = (feet.bone(own), feet.bone(other)) else { continue };
            let turned =
                |transform: &nalgebra::Matrix3x4<f32>, direction: &Vec3| -> Vec3 { transform.fixed_view::<3, 3>(0, 0) * direction };
            let along = turned(of_own, &meeting.directions[0]).try_normalize(1e-30);
            let across = turned(of_other, &meeting.directions[1]).try_normalize(1e-30);
            let (Some(along), Some(across)) = (along, across) else { continue };
            let Some(normal) = (along - across).try_normalize(1e-3) else { continue };
            let closing = closing(meeting.directions[0].angle(&meeting.directions[1]), along.angle(&across));
            if closing <= 0.0 {
                continue;
            }
            let rest: Vec3 = of_own.fixed_view::<3, 3>(0, 0) * meeting.joint.coords.cast::<f32>();
            let joint = Point::from(rest + of_own.column(3));
            for held in &meeting.vertices {
                let place = &mut base[held.vertex as usize];
                let away = feet.outward[held.vertex as usize].dot(&normal);
                let least = held.side.min(held.room * (1.0 - away).clamp(0.0, 1.0));
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
