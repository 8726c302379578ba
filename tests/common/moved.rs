//! Poses to move characters to, and how far apart two of their states are.

use sinew::math::{Affine, Point, Quat};
use sinew::methods::Subject;

/// A pose in which every joint turns.
pub fn bent(subject: &Subject, amount: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = joint as f64;
        local.rotation *= Quat::from_euler_angles(
            amount * phase.sin(),
            0.5 * amount * phase.cos(),
            amount * (2.3 * phase).sin(),
        );
    }
    skeleton.world_from_joint(&pose)
}

/// Largest distance; NaN counts as largest.
pub fn worst(a: &[Point], b: &[Point]) -> f32 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).norm());
    distances.max_by(f32::total_cmp).expect("has vertices")
}

/// The last frames of a motion, to find its jolts.
#[derive(Default)]
pub struct Jolts {
    last: Vec<Vec<Point>>,
}

impl Jolts {
    /// Adds a frame. Returns the largest third difference of any vertex, world units; 0 in the first three frames.
    pub fn add(&mut self, positions: &[Point]) -> f32 {
        self.last.push(positions.to_vec());
        if self.last.len() > 4 {
            self.last.remove(0);
        }
        let [a, b, c, d] = &self.last[..] else {
            return 0.0;
        };
        let vertices = a.iter().zip(b).zip(c).zip(d);
        let thirds = vertices.map(|(((a, b), c), d)| ((d - c) - (c - b) * 2.0 + (b - a)).norm());
        thirds.max_by(f32::total_cmp).expect("has vertices")
    }
}
