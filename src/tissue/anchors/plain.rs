//! Anchors and frames as plain numbers, for those who place the base elsewhere (`gpu::surface`).

use nalgebra::Matrix3x4;

use super::{Anchors, BaseFrame, RIGID};
use crate::math::Point;

/// How one base vertex, or one carried skin vertex, moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainAnchor {
    /// Rest position.
    pub rest: Point,
    /// The bone it belongs to.
    pub bone: u32,
    /// Without a slide: rigid with the joint, even where the bone stretches or twists.
    pub held: bool,
    /// How it slides between bone and joint, if it does.
    pub slide: Option<PlainSlide>,
}

/// The sliding part of an anchor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainSlide {
    /// The joint's node.
    pub node: u32,
    /// 0 at the joint, 1 at the bone's ring.
    pub alpha: f32,
    /// Point on the bone's ring, rest.
    pub ring: Point,
    /// Never closer to the joint's centre than this times the node's scale.
    pub joint_radius: f32,
    /// Never closer to the bone's axis than this times the bone's scale.
    pub bone_radius: f32,
}

/// A bone in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainBone {
    /// `posed_from_bind`.
    pub stretched: Matrix3x4<f32>,
    /// The same for what is held.
    pub rigid: Matrix3x4<f32>,
    /// How much more its end turns about [`Anchors::bone_axes`] than its start, rad; 0 for most.
    pub twist: f32,
    /// Ends of its cylinder.
    pub cylinder: [Point; 2],
    /// How much thicker it has become.
    pub scale: f32,
}

/// A node in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainNode {
    /// `posed_from_bind` of the joint sphere.
    pub transform: Matrix3x4<f32>,
    /// Its middle.
    pub center: Point,
    /// How much larger it has become.
    pub scale: f32,
}

impl Anchors {
    /// The attachment of every base vertex, then of every carried skin vertex.
    #[must_use]
    pub fn plain(&self) -> Vec<PlainAnchor> {
        let slide = |index: u32| {
            let slide = (index != RIGID).then(|| &self.slides[index as usize])?;
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

    /// Start and end of every bone at rest: what a twist turns about, and grows along.
    #[must_use]
    pub fn bone_axes(&self) -> Vec<[Point; 2]> {
        self.bones.iter().map(super::StretchingBone::axis).collect()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.node_positions.len()
    }
}

impl BaseFrame {
    /// The bones as [`Anchors::move_volumes`] left them.
    pub fn plain_bones(&self) -> impl Iterator<Item = PlainBone> + '_ {
        (0..self.bones.len()).map(|bone| PlainBone {
            stretched: self.bones[bone],
            rigid: self.rigid[bone],
            twist: self.twists[bone].angle(),
            cylinder: self.cylinders[bone],
            scale: self.bone_scales[bone],
        })
    }

    /// The nodes as [`Anchors::move_volumes`] left them.
    pub fn plain_nodes(&self) -> impl Iterator<Item = PlainNode> + '_ {
        (0..self.nodes.len()).map(|node| PlainNode {
            transform: self.nodes[node],
            center: self.node_centers[node],
            scale: self.node_scales[node],
        })
    }
}
