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
