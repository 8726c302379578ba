//! Motion of the base surface with the bones (PS 4.2, FPS 3.2.2).
//!
//! A joint sphere rotates by the average of the bone frames that meet in it. On a bone, beyond 40 % of its length from
//! the joint, the base is rigid with the bone. In between, the papers interpolate between a ring of anchors on the bone
//! and one on the joint. Let q be the ring point at the joint and p that on the bone, both in the same direction around
//! the bone and at the same distance from it as the vertex x; and let α be the fraction of the distance from joint to
//! ring, x = (1 − α) q + α p. The same in closed form, exact at rest and under rigid motion, is
//!
//! ```text
//!     x' = (1 − α) T_joint q + α T_bone p = T_joint x + α (T_bone − T_joint) p
//! ```
//!
//! The surface is straight from ring to ring: it stretches on the outside of a bend and compresses inside. Points
//! inside the joint sphere or the bone are then pushed out to its surface.
//!
//! A bone is not rigid where its joints move apart or twist (FPS figure 3.20): see `stretching_bone.rs`.

mod plain;
mod transforms;

pub use plain::{PlainAnchor, PlainBone, PlainNode, PlainSlide};

use nalgebra::{Matrix3, Matrix3x4};

use super::foot::FootPoints;
use super::graph::BoneGraph;
use super::shrink::cylinder_ends;
use super::stretching_bone::{FreeBone, StretchingBone, Twist};
use crate::math::{Affine, Point, Point64, Quat, Vec64, affine, linear_part};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use transforms::{apply, closest, pushed_out, split, to_f32};

/// Distance of a bone's ring from the joint, relative to the bone's length, as in the reference implementation of FPS.
const RING_DISTANCE: f64 = 0.4;

/// Attachment of one base vertex.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct Anchor {
    /// Rest position.
    rest: Point,
    /// The bone it belongs to.
    bone: u32,
    /// Index into `Anchors::slides`, or `NO_SLIDE`.
    slide: u32,
    /// Whether it is rigid with the joint, even where the bone stretches or twists.
    held: bool,
}

const NO_SLIDE: u32 = u32::MAX;

/// How an anchor slides between a joint and a bone.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct Slide {
    node: u32,
    /// Position between joint (0) and the bone's ring (1).
    alpha: f32,
    /// Point on the bone's ring, rest.
    ring: Point,
    /// Minimum distance to the joint's centre.
    joint_radius: f32,
    /// Minimum distance to the bone's axis.
    bone_radius: f32,
}

/// Attachments of all base vertices, computed at bind time.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Anchors {
    vertices: Vec<Anchor>,
    slides: Vec<Slide>,
    bones: Vec<StretchingBone>,
    /// For every node one bone of each distinct joint whose bones meet there.
    node_bones: Vec<Vec<usize>>,
    node_positions: Vec<Point64>,
    /// Cylinder of each bone at rest.
    cylinders: Vec<[Point64; 2]>,
}

/// Transforms of bones and joints in a pose, reused from frame to frame.
#[derive(Debug, Clone, Default)]
pub struct BaseFrame {
    /// Poses of virtual bones, by bone; `None` for bones that follow their joints.
    pub(crate) free: Vec<Option<FreeBone>>,
    bones64: Vec<Affine>,
    /// Rotation and stretch; the stretch does not contain the lengthening of the bone.
    splits: Vec<(Quat, Matrix3<f64>)>,
    twists: Vec<Twist>,
    /// Scale of each bone's radius.
    bone_scales: Vec<f32>,
    bones: Vec<Matrix3x4<f32>>,
    /// The same without lengthening and twist.
    rigid: Vec<Matrix3x4<f32>>,
    nodes: Vec<Matrix3x4<f32>>,
    node_scales: Vec<f32>,
    node_centers: Vec<Point>,
    cylinders: Vec<[Point; 2]>,
}

impl BaseFrame {
    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.free)
            + size_of_val(&*self.bones64)
            + size_of_val(&*self.splits)
            + size_of_val(&*self.twists)
            + size_of_val(&*self.bone_scales)
            + size_of_val(&*self.bones)
            + size_of_val(&*self.rigid)
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.node_scales)
            + size_of_val(&*self.node_centers)
            + size_of_val(&*self.cylinders)
    }
}

/// A skin vertex that the bones carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CarriedVertex {
    pub(super) vertex: u32,
    /// Whether it is rigid with the bone of its foot point, even close to a joint.
    pub(super) rigid: bool,
}

impl Anchors {
    /// Attaches the base vertices, and the skin vertices that the bones carry.
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
                // Virtual bones of one joint move independently.
                let transform_key = |bone: usize| {
                    (
                        graph.bones[bone].joint,
                        if graph.bones[bone].is_virtual {
                            bone + 1
                        } else {
                            0
                        },
                    )
                };
                bones.sort_by_key(|&bone| transform_key(bone));
                bones.dedup_by_key(|bone| transform_key(*bone));
                bones
            })
            .collect();
        let cylinders: Vec<[Point64; 2]> = (0..graph.bones.len())
            .map(|bone| cylinder_ends(graph, bone))
            .collect();
        let mut slides = Vec::new();
        let base_vertices = base
            .iter()
            .enumerate()
            .map(|(vertex, rest)| (vertex, *rest, false));
        let carried = carried.iter().map(|carried| {
            let vertex = carried.vertex as usize;
            (vertex, skin.positions[vertex].cast::<f64>(), carried.rigid)
        });
        let vertices = base_vertices
            .chain(carried)
            .map(|(vertex, rest, rigid)| {
                let foot = feet.bones[vertex] as usize;
                let bone = if rigid {
                    foot
                } else {
                    closest_bone(graph, foot, &rest)
                };
                let slide = if rigid {
                    None
                } else {
                    slide_of(graph, &node_bones, &cylinders, bone, &rest)
                };
                let slide = slide.map_or(NO_SLIDE, |slide| {
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

    /// Number of base vertices and carried skin vertices together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Rest positions of all of them.
    #[must_use]
    pub fn at_rest(&self) -> Vec<Point> {
        self.vertices.iter().map(|anchor| anchor.rest).collect()
    }

    /// Writes the world position of every base vertex, then of every carried skin vertex, into `out`, up to its length.
    /// Allocates nothing after the first call.
    pub fn place(&self, world_from_joint: &[Affine], frame: &mut BaseFrame, out: &mut [Point]) {
        self.move_volumes(world_from_joint, frame);
        for (anchor, out) in self.vertices.iter().zip(out) {
            *out = match anchor.slide {
                NO_SLIDE if anchor.held => apply(&frame.rigid[anchor.bone as usize], &anchor.rest),
                NO_SLIDE => frame.on_bone(anchor.bone as usize, &anchor.rest),
                _ => self.slide(anchor, frame),
            };
        }
    }

    /// Computes the transforms of bones and nodes in a pose.
    pub fn move_volumes(&self, world_from_joint: &[Affine], frame: &mut BaseFrame) {
        frame.clear();
        for (index, bone) in self.bones.iter().enumerate() {
            let moved = bone.posed(
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

    /// The image of a point of a bone.
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

    /// Centres of the joint spheres.
    #[must_use]
    pub fn node_centers(&self) -> &[Point] {
        &self.node_centers
    }

    /// Ends of the bones' cylinders.
    #[must_use]
    pub fn cylinders(&self) -> &[[Point; 2]] {
        &self.cylinders
    }
}

/// The bone closest to a base vertex: that of its foot point, or one that meets it.
fn closest_bone(graph: &BoneGraph, foot: usize, rest: &Point64) -> usize {
    let near = graph.bones[foot]
        .nodes
        .into_iter()
        .flat_map(|node| graph.nodes[node].bones.iter().copied());
    graph
        .closest(rest, std::iter::once(foot).chain(near))
        .map_or(foot, |(bone, ..)| bone)
}

/// How a base vertex slides at one of its bone's joints; `None` if it does not.
fn slide_of(
    graph: &BoneGraph,
    node_bones: &[Vec<usize>],
    cylinders: &[[Point64; 2]],
    bone: usize,
    rest: &Point64,
) -> Option<Slide> {
    let length = graph.length(bone);
    let ring_distance = RING_DISTANCE * length;
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

/// The joint frame: mean rotation (normalised quaternion sum) and mean stretch of the frames that meet, about their
/// mean position. The lengthening of a bone does not change the joint sphere.
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
