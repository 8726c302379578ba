//! Separates the base surfaces of adjacent bones in sharp bends.
//!
//! Inside a sharp bend the bone volumes overlap, and so does the base surface. Then there is no space for the flesh of both bones.
//! Base vertices are therefore kept on their bone's side of the joint's bisecting plane, at a distance that leaves space for the
//! flesh.

use nalgebra::Matrix3x4;

use super::{CollisionBody, PosedFootPoints};
use crate::math::{Point, Point64, Vec3};
use crate::mesh::TriMesh;
use crate::tissue::{BoneGraph, Tissue};

/// Distance of base vertices from the plane, as a fraction of the thickness of their flesh at rest.
const CLEARANCE: f32 = 0.9;
/// A bone shorter than this many times the mean thickness of its flesh does not separate its neighbours from each other: they are
/// paired, too.
const SHORT_BONE: f64 = 1.5;
/// The flesh of a bone is assumed to reach this many times its mean thickness.
const FLESH_REACH: f32 = 1.4;

/// Below this angle between the bones, base vertices start to be moved, rad.
const NARROW_RAD: f32 = 1.8;
/// At this angle, they are moved by the full distance, rad.
const SHARP_RAD: f32 = 1.2;
/// The bend must also be sharper than at rest: the full distance applies from this difference on, rad.
const SHARPER_RAD: f32 = 0.5;

/// The bisecting plane between two bones, for the base vertices of the first one.
#[derive(Debug, Clone)]
struct JointPlane {
    /// The bone of the vertices, and the bone that they are separated from.
    bones: [u32; 2],
    /// Rest position of the joint, and a bone that ends there (the joint moves with it).
    joint: Point64,
    joint_bone: u32,
    /// Whether a short bone lies between the two bones.
    across_short_bone: bool,
    /// Unit vectors along both bones, away from the joint, in the bind pose.
    directions: [Vec3; 2],
    /// Largest distance of the second bone's flesh from its bone line, world units.
    reach: f32,
    /// Base vertices of the first bone.
    vertices: Vec<SeparatedVertex>,
}

/// A base vertex that is kept on its side of the plane.
#[derive(Debug, Clone)]
struct SeparatedVertex {
    vertex: u32,
    /// Signed distance from the plane at rest, positive on its own side, world units.
    side: f32,
    /// Distance that its flesh needs if it faces the plane, world units.
    clearance: f32,
}

/// A base point at one of the planes of [`CollisionBody::posed_planes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaneSide {
    /// Index of the plane.
    pub plane: u32,
    /// Signed distance from the plane at rest, positive on its own side, world units.
    pub side: f32,
    /// Distance that the flesh over the point needs if it faces the plane, world units.
    pub clearance: f32,
}

/// The planes of all pairs of adjacent bones.
#[derive(Debug, Clone, Default)]
pub(super) struct JointPlanes(Vec<JointPlane>);

impl JointPlanes {
    /// Returns the planes and, per bone, whether it is shorter than its flesh is thick.
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
                    // The bone is shorter than its flesh is thick: pair the bones at its two ends with each other, too.
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

/// Mean distance of some vertices from their foot points, world units.
fn mean_depth(mesh: &TriMesh, tissue: &Tissue, vertices: &[u32]) -> f32 {
    let depth = |&v: &u32| {
        (mesh.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm()
    };
    (vertices.iter().map(depth).sum::<f64>() / vertices.len().max(1) as f64)
        .max(f64::from(f32::MIN_POSITIVE)) as f32
}

/// Mean distance of some vertices from the infinite line through the bone. Unlike [`mean_depth`], it does not count flesh beyond
/// the end of a bone as thick.
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

/// Fraction of the full separation that applies at the angle `now` between the bones, given the angle `rest` in the bind pose.
/// Bones that rotate about each other, such as a thigh about the hip bone, keep their angle and need no separation.
fn bend_fraction(rest: f32, now: f32) -> f32 {
    let narrow = ((NARROW_RAD - now) / (NARROW_RAD - SHARP_RAD)).clamp(0.0, 1.0);
    narrow * ((rest - now) / SHARPER_RAD).clamp(0.0, 1.0)
}

impl CollisionBody {
    /// Moves base vertices that are on the wrong side of a bisecting plane, or too close to it, towards their own side. Does not
    /// allocate.
    pub(crate) fn separate_base(&self, foot_points: &PosedFootPoints, base: &mut [Point]) {
        for plane in &self.joint_planes.0 {
            let Some(posed) = plane.posed(|bone| foot_points.bone(bone)) else {
                continue;
            };
            for separated in &plane.vertices {
                let vertex = separated.vertex as usize;
                posed.separate(separated, &foot_points.outward[vertex], &mut base[vertex]);
            }
        }
    }

    /// The planes that separate the base of adjacent bones, in a pose; `None` for those that separate nothing there. `bones`: the
    /// transform of every bone from bind to pose.
    pub fn posed_planes(
        &self,
        bones: &[Matrix3x4<f32>],
    ) -> impl Iterator<Item = Option<PosedPlane>> {
        let bone = |bone: u32| bones.get(bone as usize);
        self.joint_planes
            .0
            .iter()
            .map(move |plane| plane.posed(bone))
    }
}

impl JointPlanes {
    /// The vertices of all planes, plane by plane.
    pub(super) fn sides(&self) -> impl Iterator<Item = (u32, PlaneSide)> {
        self.0.iter().zip(0..).flat_map(|(joint_plane, plane)| {
            joint_plane.vertices.iter().map(move |separated| {
                let SeparatedVertex {
                    vertex,
                    side,
                    clearance,
                } = *separated;
                let side = PlaneSide {
                    plane,
                    side,
                    clearance,
                };
                (vertex, side)
            })
        })
    }
}

/// A plane in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosedPlane {
    /// Unit normal, towards the bone whose base vertices are moved.
    pub normal: Vec3,
    /// Fraction of the full separation that applies.
    pub fraction: f32,
    /// The joint, a point of the plane.
    pub joint: Point,
    /// Largest distance of the other bone's flesh from its line, world units.
    pub reach: f32,
    /// Unit vector along the other bone, away from the joint.
    pub across: Vec3,
    /// 1 if flesh that is parallel to the plane needs space, too, otherwise 0.
    pub facing_bias: f32,
}

impl PosedPlane {
    /// Moves a base vertex that is too close to the plane. `outward`: the direction to its skin.
    fn separate(&self, separated: &SeparatedVertex, outward: &Vec3, position: &mut Point) {
        let facing = (self.facing_bias - outward.dot(&self.normal)).clamp(0.0, 1.0);
        let least = separated.side.min(separated.clearance * facing);
        let offset = *position - self.joint;
        let side = self.normal.dot(&offset);
        if side < least {
            // Scale by how deep the vertex lies in the other bone's flesh.
            let distance = (offset - self.across * self.across.dot(&offset).max(0.0)).norm();
            let fraction = self.fraction * (4.0 * (1.0 - distance / self.reach)).clamp(0.0, 1.0);
            *position += self.normal * ((least - side) * fraction);
        }
    }
}

impl JointPlane {
    /// The plane in a pose, if it separates anything there. `bone`: the transform of a bone from bind to pose.
    fn posed<'a>(&self, bone: impl Fn(u32) -> Option<&'a Matrix3x4<f32>>) -> Option<PosedPlane> {
        let [of_own, of_other] = [bone(self.bones[0])?, bone(self.bones[1])?];
        let of_joint_bone = bone(self.joint_bone)?;
        let turned = |transform: &Matrix3x4<f32>, direction: &Vec3| -> Vec3 {
            transform.fixed_view::<3, 3>(0, 0) * direction
        };
        let along = turned(of_own, &self.directions[0]).try_normalize(1e-30)?;
        let across = turned(of_other, &self.directions[1]).try_normalize(1e-30)?;
        let normal = (along - across).try_normalize(1e-3)?;
        let fraction = bend_fraction(
            self.directions[0].angle(&self.directions[1]),
            along.angle(&across),
        );
        let joint = Point::from(
            turned(of_joint_bone, &self.joint.coords.cast::<f32>()) + of_joint_bone.column(3),
        );
        // Flesh parallel to the plane needs space, too, unless a short bone lies between the two bones.
        let facing_bias = if self.across_short_bone { 0.0 } else { 1.0 };
        (fraction > 0.0).then_some(PosedPlane {
            normal,
            fraction,
            joint,
            reach: self.reach,
            across,
            facing_bias,
        })
    }
}
