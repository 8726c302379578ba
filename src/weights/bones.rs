//! Bones as line segments.

use crate::math::Point64;
use crate::mesh::closest_on_segment;
use crate::rig::Skeleton;

/// The line of a bone in the bind pose, and the joint that carries it.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Joint that moves it.
    pub joint: u32,
    /// Joint at its other end; that which moves it for a joint without child.
    pub end_joint: u32,
    /// Its ends, world space; equal for a joint without child and tail.
    pub ends: [Point64; 2],
}

impl Segment {
    /// The segments of a skeleton: from every joint to each of its children, from a joint without child to its tail.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Vec<Self> {
        let mut segments = Vec::new();
        for joint in 0..skeleton.len() {
            let here = skeleton.bind_position(joint);
            let mut push = |end_joint: usize, there| {
                segments.push(Self {
                    joint: joint as u32,
                    end_joint: end_joint as u32,
                    ends: [here, there],
                });
            };
            for &child in skeleton.children(joint) {
                push(child, skeleton.bind_position(child));
            }
            if skeleton.children(joint).is_empty() {
                push(joint, skeleton.joints()[joint].tail.unwrap_or(here));
            }
        }
        segments
    }

    /// Whether the segments share a joint.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let ends = [other.joint, other.end_joint];
        ends.contains(&self.joint) || ends.contains(&self.end_joint)
    }

    /// The point of the segment nearest to `point`.
    #[must_use]
    pub fn nearest_to(&self, point: &Point64) -> Point64 {
        let [a, b] = self.ends;
        a + (b - a) * closest_on_segment(point, &a, &b)
    }
}
