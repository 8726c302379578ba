//! Bones as line segments.

use crate::math::Point64;
use crate::mesh::closest_on_segment;
use crate::rig::Skeleton;

/// The line of a bone in the bind pose, and the joint that carries it.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Joint that moves it.
    pub joint: u32,
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
            let mut push = |there| {
                segments.push(Self {
                    joint: joint as u32,
                    ends: [here, there],
                });
            };
            for &child in skeleton.children(joint) {
                push(skeleton.bind_position(child));
            }
            if skeleton.children(joint).is_empty() {
                push(skeleton.joints()[joint].tail.unwrap_or(here));
            }
        }
        segments
    }

    /// The point of the segment nearest to `point`.
    #[must_use]
    pub fn nearest_to(&self, point: &Point64) -> Point64 {
        let [a, b] = self.ends;
        a + (b - a) * closest_on_segment(point, &a, &b)
    }
}
