//! Base attachments and bone transforms in flat arrays, for upload to the GPU (`gpu::surface`).

use nalgebra::Matrix3x4;

use super::{Anchors, BaseFrame, NO_SLIDE};
use crate::math::Point;

/// Attachment of one base vertex or one carried skin vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainAnchor {
    /// Rest position.
    pub rest: Point,
    /// The bone it belongs to.
    pub bone: u32,
    /// Whether it is rigid with the joint, even where the bone stretches or twists; without a slide only.
    pub held: bool,
    /// How it slides between bone and joint; `None` if it does not.
    pub slide: Option<PlainSlide>,
}

/// How an anchor slides between a joint and a bone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainSlide {
    /// The joint's node.
    pub node: u32,
    /// Position between joint (0) and the bone's ring (1).
    pub alpha: f32,
    /// Point on the bone's ring, rest.
    pub ring: Point,
    /// Minimum distance to the joint's centre, to be multiplied by the node's scale.
    pub joint_radius: f32,
    /// Minimum distance to the bone's axis, to be multiplied by the bone's scale.
    pub bone_radius: f32,
}

/// A bone in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainBone {
    /// `posed_from_bind`.
    pub stretched: Matrix3x4<f32>,
    /// The same without lengthening and twist, for rigid anchors.
    pub rigid: Matrix3x4<f32>,
    /// Twist of its end relative to its start about [`Anchors::bone_axes`], rad; usually 0.
    pub twist: f32,
    /// Ends of its cylinder.
    pub cylinder: [Point; 2],
    /// Scale of its radius.
    pub scale: f32,
}

/// A node in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainNode {
    /// `posed_from_bind` of the joint sphere.
    pub transform: Matrix3x4<f32>,
    /// Its centre.
    pub center: Point,
    /// Scale of its radius.
    pub scale: f32,
}

impl Anchors {
    /// The attachment of every base vertex, then of every carried skin vertex.
    #[must_use]
    pub fn plain(&self) -> Vec<PlainAnchor> {
        let slide = |index: u32| {
            let slide = (index != NO_SLIDE).then(|| &self.slides[index as usize])?;
            let super::Slide {
                node,
                alpha,
                ring,
                joint_radius,
                bone_radius,
            } = *slide;
            Some(PlainSlide {
                node,
                alpha,
                ring,
                joint_radius,
                bone_radius,
            })
        };
        let plain = |anchor: &super::Anchor| PlainAnchor {
            rest: anchor.rest,
            bone: anchor.bone,
            held: anchor.held,
            slide: slide(anchor.slide),
        };
        self.vertices.iter().map(plain).collect()
    }

    /// Start and end of every bone at rest: the axis of its twist, which grows from the first to the second.
    #[must_use]
    pub fn bone_axes(&self) -> Vec<[Point; 2]> {
        self.bones.iter().map(super::StretchingBone::axis).collect()
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.node_positions.len()
    }
}

impl BaseFrame {
    /// The bones as computed by [`Anchors::move_volumes`].
    pub fn plain_bones(&self) -> impl Iterator<Item = PlainBone> + '_ {
        (0..self.bones.len()).map(|bone| PlainBone {
            stretched: self.bones[bone],
            rigid: self.rigid[bone],
            twist: self.twists[bone].angle(),
            cylinder: self.cylinders[bone],
            scale: self.bone_scales[bone],
        })
    }

    /// The nodes as computed by [`Anchors::move_volumes`].
    pub fn plain_nodes(&self) -> impl Iterator<Item = PlainNode> + '_ {
        (0..self.nodes.len()).map(|node| PlainNode {
            transform: self.nodes[node],
            center: self.node_centers[node],
            scale: self.node_scales[node],
        })
    }
}
