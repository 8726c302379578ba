//! How the base surface follows the bones (PS 4.2, FPS 3.2.2).
//!
//! A joint sphere turns by the average of the frames that meet in it. On a bone, beyond 40 % of its length from the joint, the base
//! is rigid with the bone. Between, the papers interpolate between a ring of anchors on the bone and one on the joint. With ring
//! points q at the joint and p on the bone, both beside the vertex x (same direction around the bone, same distance from it), and α =
//! the part of the way from joint to ring, x = (1 − α) q + α p, and the same in closed form, exact at rest and under rigid motion:
//!
//! ```text
//!     x' = (1 − α) T_joint q + α T_bone p = T_joint x + α (T_bone − T_joint) p
//! ```
//!
//! so that the surface runs straight from ring to ring: it stretches outside of a bend and gathers inside. What then lies
//! inside the joint sphere or the bone is pushed out to it.
//!
//! Bones are no longer rigid where their joints say so (FPS figure 3.20): see `stretching.rs`.

mod plain;
mod transforms;

pub use plain::{PlainAnchor, PlainBone, PlainNode, PlainSlide};

use nalgebra::{Matrix3, Matrix3x4};

use super::foot::FootPoints;
use super::graph::BoneGraph;
use super::shrink::cylinder_ends;
use super::stretching::{FreeBone, StretchingBone, Twist};
use crate::math::{Affine, Point, Point64, Quat, Vec64, affine, linear_part};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use transforms::{apply, closest, pushed_out, split, to_f32};

/// The ring on a bone is this part of its length away from the joint, as in the reference implementation of FPS.
const RING: f64 = 0.4;

/// How one base vertex moves.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct Anchor {
    /// Rest position.
    rest: Point,
    /// The bone it belongs to.
    bone: u32,
    /// Index into `Anchors::slides`, or `RIGID`.
    slide: u32,
    /// Rigid with the joint, even where the bone stretches or twists.
    held: bool,
}

const RIGID: u32 = u32::MAX;

/// The sliding part of an anchor.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct Slide {
    node: u32,
    /// 0 at the joint, 1 at the bone's ring.
    alpha: f32,
    /// Point on the bone's ring, rest.
    ring: Point,
    /// Never closer to the joint's centre than this.
    joint_radius: f32,
    /// Never closer to the bone's axis than this.
    bone_radius: f32,
}

/// The bind-time part: the attachment of each base vertex.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Anchors {
    vertices: Vec<Anchor>,
    slides: Vec<Slide>,
    bones: Vec<StretchingBone>,
    /// Distinct joints whose bones meet at each node, as indices of one bone of each.
    node_bones: Vec<Vec<usize>>,
    node_positions: Vec<Point64>,
    /// Cylinder of each bone at rest.
    cylinders: Vec<[Point64; 2]>,
}

/// The per-frame part: transforms of bones and joints, reused.
#[derive(Debug, Clone, Default)]
pub struct BaseFrame {
    /// Where virtual bones are, by bone; the joints place all others.
    pub(crate) free: Vec<Option<FreeBone>>,
    bones64: Vec<Affine>,
    /// Rotation and stretch, the latter without what only lengthens the bone.
    splits: Vec<(Quat, Matrix3<f64>)>,
    twists: Vec<Twist>,
    /// How much thicker each bone has become.
    bone_scales: Vec<f32>,
    bones: Vec<Matrix3x4<f32>>,
    /// The same for what does not stretch with the bone.
    rigid: Vec<Matrix3x4<f32>>,
    nodes: Vec<Matrix3x4<f32>>,
    node_scales: Vec<f32>,
    node_centers: Vec<Point>,
    cylinders: Vec<[Point; 2]>,
}

/// A skin vertex that the bones carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CarriedVertex {
    pub(super) vertex: u32,
    /// Whether it is rigid with the bone of its foot point, also close to a joint.
    pub(super) rigid: bool,
}

impl Anchors {
    /// Hangs the base on the graph, and after it the skin vertices that the bones carry.
    pub(super) fn bind(
        graph: &BoneGraph,
        skeleton: &Skeleton,
        feet: &FootPoints,
        base: &[Point64],
        skin: &TriMesh,
        carried: &[CarriedVertex],
    ) -> Self {
        let node_bones: Vec<Vec<usize>> = graph
            .nodes
            .iter()
            .map(|node| {
                let mut bones = node.bones.clone();
                // Virtual bones of one joint move each by itself.
                let mover = |bone: usize| {
                    (
                        graph.bones[bone].joint,
                        if graph.bones[bone].is_virtual {
                            bone + 1
                        } else {
                            0
                        },
                    )
                };
                bones.sort_by_key(|&bone| mover(bone));
                bones.dedup_by_key(|bone| mover(*bone));
                bones
            })
            .collect();
        let cylinders: Vec<[Point64; 2]> = (0..graph.bones.len())
            .map(|bone| cylinder_ends(graph, bone))
            .collect();
        let mut slides = Vec::new();
        let on_bones = base
            .iter()
            .enumerate()
            .map(|(vertex, rest)| (vertex, *rest, false));
        let carried = carried.iter().map(|carried| {
            let vertex = carried.vertex as usize;
            (vertex, skin.positions[vertex].cast::<f64>(), carried.rigid)
        });
        let vertices = on_bones
            .chain(carried)
            .map(|(vertex, rest, rigid)| {
                let foot = feet.bones[vertex] as usize;
                let bone = if rigid {
                    foot
                } else {
                    holder(graph, foot, &rest)
                };
                let slide = if rigid {
                    None
                } else {
                    slide_of(graph, &node_bones, &cylinders, bone, &rest)
                };
                let slide = slide.map_or(RIGID, |slide| {
                    slides.push(slide);
                    slides.len() as u32 - 1
                });
                Anchor {
                    rest: rest.cast::<f32>(),
                    bone: bone as u32,
                    slide,
                    held: rigid,
                }
            })
            .collect();
        let bones = (0..graph.bones.len())
            .map(|bone| StretchingBone::bind(graph, skeleton, bone))
            .collect();
        let node_positions = graph.nodes.iter().map(|node| node.position).collect();
        Self {
            vertices,
            slides,
            bones,
            node_bones,
            node_positions,
            cylinders,
        }
    }

    /// How many base vertices and carried skin vertices there are together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there is neither.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Everything in the bind pose.
    #[must_use]
    pub fn at_rest(&self) -> Vec<Point> {
        self.vertices.iter().map(|anchor| anchor.rest).collect()
    }

    /// Moves the base: `out` gets the world position of every base vertex, then of every carried skin vertex, as far as it reaches.
    /// Allocates nothing after the first call.
    pub fn place(&self, world_from_joint: &[Affine], frame: &mut BaseFrame, out: &mut [Point]) {
        self.move_volumes(world_from_joint, frame);
        for (anchor, out) in self.vertices.iter().zip(out) {
            *out = match anchor.slide {
                RIGID if anchor.held => apply(&frame.rigid[anchor.bone as usize], &anchor.rest),
                RIGID => frame.on_bone(anchor.bone as usize, &anchor.rest),
                _ => self.slide(anchor, frame),
            };
        }
    }

    /// Transforms of bones and nodes in a pose.
    pub fn move_volumes(&self, world_from_joint: &[Affine], frame: &mut BaseFrame) {
        frame.clear();
        for (index, bone) in self.bones.iter().enumerate() {
            let moved = bone.moved(
                world_from_joint,
                frame.free.get(index).and_then(Option::as_ref),
            );
            frame.bones64.push(moved.stretched);
            frame.splits.push(split(&moved.turned));
            frame.twists.push(moved.twist);
            frame.bone_scales.push(moved.thickening as f32);
            frame.bones.push(to_f32(&moved.stretched));
            frame.rigid.push(to_f32(&moved.rigid));
        }
        frame.cylinders.extend(
            self.cylinders
                .iter()
                .zip(&frame.bones64)
                .map(|(ends, t)| ends.map(|end| (t * end).cast::<f32>())),
        );
        for (bones, position) in self.node_bones.iter().zip(&self.node_positions) {
            let (transform, center) = average(bones, position, frame);
            frame.nodes.push(to_f32(&transform));
            frame
                .node_scales
                .push(linear_part(&transform).determinant().abs().cbrt() as f32);
            frame.node_centers.push(center.cast::<f32>());
        }
    }

    fn slide(&self, anchor: &Anchor, frame: &BaseFrame) -> Point {
        let slide = &self.slides[anchor.slide as usize];
        let (bone, node) = (anchor.bone as usize, slide.node as usize);
        let stretch = frame.on_bone(bone, &slide.ring) - apply(&frame.nodes[node], &slide.ring);
        let mut point = apply(&frame.nodes[node], &anchor.rest) + stretch * slide.alpha;
        let [a, b] = frame.cylinders[bone];
        point = pushed_out(
            &point,
            &closest(&point, &a, &b),
            slide.bone_radius * frame.bone_scales[bone],
        );
        pushed_out(
            &point,
            &frame.node_centers[node],
            slide.joint_radius * frame.node_scales[node],
        )
    }
}

impl BaseFrame {
    fn clear(&mut self) {
        self.bones64.clear();
        self.splits.clear();
        self.twists.clear();
        self.bone_scales.clear();
        self.bones.clear();
        self.rigid.clear();
        self.cylinders.clear();
        self.nodes.clear();
        self.node_scales.clear();
        self.node_centers.clear();
    }

    /// Where a point of a bone goes.
    fn on_bone(&self, bone: usize, point: &Point) -> Point {
        let twist = &self.twists[bone];
        if twist.is_none() {
            apply(&self.bones[bone], point)
        } else {
            apply(&self.bones[bone], &twist.apply(point))
        }
    }

    /// `posed_from_bind` of every bone.
    #[must_use]
    pub fn bones(&self) -> &[Affine] {
        &self.bones64
    }

    /// Where the joint spheres are.
    #[must_use]
    pub fn node_centers(&self) -> &[Point] {
        &self.node_centers
    }

    /// Where the cylinders of the bones begin and end.
    #[must_use]
    pub fn cylinders(&self) -> &[[Point; 2]] {
        &self.cylinders
    }
}

/// The bone that a base vertex lies on: that of its foot point, or one that meets it and is closer to where the vertex ended up.
fn holder(graph: &BoneGraph, foot: usize, rest: &Point64) -> usize {
    let near = graph.bones[foot]
        .nodes
        .into_iter()
        .flat_map(|node| graph.nodes[node].bones.iter().copied());
    graph
        .closest(rest, std::iter::once(foot).chain(near))
        .map_or(foot, |(bone, ..)| bone)
}

/// Whether and how a base vertex of a bone slides at one of the bone's joints.
fn slide_of(
    graph: &BoneGraph,
    node_bones: &[Vec<usize>],
    cylinders: &[[Point64; 2]],
    bone: usize,
    rest: &Point64,
) -> Option<Slide> {
    let length = graph.length(bone);
    let ring_distance = RING * length;
    graph.bones[bone].nodes.iter().find_map(|&node| {
        if node_bones[node].len() < 2 {
            return None;
        }
        let center = graph.nodes[node].position;
        let axis = (graph.nodes[graph.other_end(bone, node)].position - center) / length;
        let along = (rest - center).dot(&axis);
        if along >= ring_distance {
            return None;
        }
        let (around, outward) =
            nalgebra::Unit::try_new_and_get(rest - center - axis * along, 1e-9 * length)
                .map_or((Vec64::zeros(), 0.0), |(u, l)| (*u, l));
        let radius = graph.bones[bone].radius;
        let [a, b] = cylinders[bone].map(nalgebra::OPoint::cast::<f32>);
        let rest32 = rest.cast::<f32>();
        let to_axis = (rest32 - closest(&rest32, &a, &b)).norm();
        Some(Slide {
            node: node as u32,
            alpha: (along / ring_distance).clamp(0.0, 1.0) as f32,
            ring: (center + axis * ring_distance + around * outward).cast::<f32>(),
            joint_radius: graph.nodes[node].radius.min((rest - center).norm()) as f32,
            bone_radius: (radius as f32).min(to_axis),
        })
    })
}

/// The joint frame: mean rotation (normalised quaternion sum) and mean stretch of the frames that meet, about the mean place. A bone
/// that is only longer or shorter leaves the joint sphere as it is.
fn average(bones: &[usize], position: &Point64, frame: &BaseFrame) -> (Affine, Point64) {
    let count = bones.len().max(1) as f64;
    let center = Point64::from(
        bones
            .iter()
            .map(|&b| (frame.bones64[b] * position).coords)
            .sum::<Vec64>()
            / count,
    );
    let mut sum = nalgebra::Vector4::zeros();
    let mut stretch = Matrix3::zeros();
    for &bone in bones {
        let (rotation, own) = &frame.splits[bone];
        let rotation = frame.twists[bone].at_end(rotation, position);
        let sign = if rotation.coords.dot(&sum) < 0.0 {
            -1.0
        } else {
            1.0
        };
        sum += rotation.coords * sign;
        stretch += own / count;
    }
    let fallback = bones
        .first()
        .map_or_else(Quat::identity, |&b| frame.splits[b].0);
    let rotation = Quat::try_new(nalgebra::Quaternion::from(sum), 1e-9).unwrap_or(fallback);
    let linear = rotation.to_rotation_matrix().into_inner() * stretch;
    (
        affine(&linear, &(center - linear * position.coords).coords),
        center,
    )
}
