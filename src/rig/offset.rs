//! Continuous transitions between poses: the difference at the switch is added and faded out.
//!
//! The difference is faded, not the pose, so that the target motion keeps its speed, and nothing
//! changes where both poses agree, as at the seam of a good loop (D. Bollo, "Inertialization", GDC
//! 2018, without velocities).

use super::trs::slerp;
use super::{MorphWeights, Pose};
use crate::math::{Quat, Vec64, smoothstep};

/// The difference of two poses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PoseOffset {
    joints: Vec<(Vec64, Quat, Vec64)>,
    morphs: MorphWeights,
}

impl PoseOffset {
    /// The difference from `wanted` to `shown`; both of one skeleton.
    #[must_use]
    pub fn between(shown: &Pose, wanted: &Pose) -> Self {
        let joint = |(shown, wanted): (&super::Trs, &super::Trs)| {
            let turn = shown.rotation * wanted.rotation.inverse();
            (
                shown.translation - wanted.translation,
                turn,
                shown.scale - wanted.scale,
            )
        };
        let mut morphs = shown.morphs.clone();
        morphs.add(&wanted.morphs, -1.0);
        Self {
            joints: shown.locals.iter().zip(&wanted.locals).map(joint).collect(),
            morphs,
        }
    }

    /// Adds a fraction of the difference: 1 gives the pose `shown`, 0 leaves `pose` unchanged.
    pub fn add_to(&self, pose: &mut Pose, part: f64) {
        for (local, (translation, turn, scale)) in pose.locals.iter_mut().zip(&self.joints) {
            local.translation += translation * part;
            local.rotation = slerp(&Quat::identity(), turn, part) * local.rotation;
            local.scale += scale * part;
        }
        pose.morphs.add(&self.morphs, part);
    }

    /// The fraction that remains `age_secs` after the switch: from 1 to 0 within `blend_secs`,
    /// smooth at both ends.
    #[must_use]
    pub fn part_left(age_secs: f64, blend_secs: f64) -> f64 {
        if age_secs >= blend_secs {
            return 0.0;
        }
        1.0 - smoothstep([0.0, blend_secs], age_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Trs;

    #[test]
    fn a_difference_fades_from_one_to_zero() {
        let pose = |x: f64, angle: f64| Pose {
            locals: vec![Trs {
                translation: Vec64::x() * x,
                rotation: Quat::from_euler_angles(angle, 0.3, 0.0),
                ..Trs::IDENTITY
            }],
            ..Pose::default()
        };
        let (shown, wanted) = (pose(2.0, 1.0), pose(0.5, -0.7));
        let offset = PoseOffset::between(&shown, &wanted);
        for (age, expected) in [(0.0, &shown), (0.25, &wanted), (9.0, &wanted)] {
            let mut blended = wanted.clone();
            offset.add_to(&mut blended, PoseOffset::part_left(age, 0.25));
            assert!(
                (blended.locals[0].to_affine().matrix() - expected.locals[0].to_affine().matrix())
                    .norm()
                    < 1e-12
            );
        }
        assert!(PoseOffset::part_left(0.0, 0.0) == 0.0);
    }
}
