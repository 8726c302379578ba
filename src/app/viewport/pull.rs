//! Pulling: a point of the flesh, or a joint, follows the pointer by rotation of the one joint that
//! carries it.

use egui::Pos2;

use super::picking::PickTarget;
use super::screen_map::ScreenMap;
use crate::math::{Affine, Point64, Quat, Vec64, origin_of};
use crate::rig::Skeleton;

/// A pull in progress.
#[derive(Debug, Clone, Copy)]
pub struct Pull {
    /// The rotating joint.
    pub joint: usize,
    /// Rotation since the start, about world axes.
    pub turned: Quat,
    /// Position of the joint.
    centre: Point64,
    /// From the joint to the dragged point, at the start.
    held: Vec64,
}

impl Pull {
    /// Starts with the item under the pointer. `None` if no joint can rotate: a root joint's dot,
    /// or flesh of the root, which would rotate the whole character.
    #[must_use]
    pub fn start(
        map: &ScreenMap,
        skeleton: &Skeleton,
        world_from_joint: &[Affine],
        target: PickTarget,
        pointer: Pos2,
    ) -> Option<Self> {
        let (joint, point) = match target {
            PickTarget::Joint(joint) => (
                skeleton.joints().get(joint)?.parent?,
                origin_of(world_from_joint.get(joint)?),
            ),
            PickTarget::Bone(joint) => {
                let origin = origin_of(world_from_joint.get(joint)?);
                (joint, map.ray(pointer).meet_plane(&origin, &map.back())?)
            }
            PickTarget::Flesh { joint, point } => {
                skeleton.joints().get(joint)?.parent?;
                (joint, point)
            }
        };
        let centre = origin_of(world_from_joint.get(joint)?);
        Some(Self {
            joint,
            turned: Quat::identity(),
            centre,
            held: point - centre,
        })
    }

    /// The rotation, since the start, that moves the dragged point towards the pointer.
    pub fn update(&mut self, map: &ScreenMap, pointer: Pos2) -> Option<Quat> {
        let now = self.turned * self.held;
        let wanted = map
            .ray(pointer)
            .meet_plane(&(self.centre + now), &map.back())?;
        self.turned = Quat::rotation_between(&now, &(wanted - self.centre))? * self.turned;
        Some(self.turned)
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen_map::tests::front_map;
    use super::*;
    use egui::pos2;

    #[test]
    fn a_pulled_joint_points_at_the_pointer_and_a_root_stays() {
        let map = front_map();
        let p = |y: f64| Point64::new(0.0, y, 0.0);
        let skeleton =
            Skeleton::from_positions(&[("a".into(), None, p(0.0)), ("b".into(), Some(0), p(1.0))])
                .unwrap();
        let world = skeleton.bind_transforms();
        assert!(
            Pull::start(
                &map,
                &skeleton,
                &world,
                PickTarget::Joint(0),
                pos2(110.0, 120.0)
            )
            .is_none()
        );
        let mut pull = Pull::start(
            &map,
            &skeleton,
            &world,
            PickTarget::Joint(1),
            pos2(110.0, 100.0),
        )
        .unwrap();
        let mut pose = skeleton.rest_pose();
        for pointer in [pos2(125.0, 105.0), pos2(150.0, 120.0)] {
            pose = skeleton.rest_pose();
            pose.rotate_about_world_axes(
                &skeleton,
                pull.joint,
                &pull.update(&map, pointer).unwrap(),
            );
        }
        // The pointer is to the right of joint a, at its height.
        let tip = origin_of(&skeleton.world_from_joint(&pose)[1]);
        assert!((tip - Point64::new(1.0, 0.0, 0.0)).norm() < 1e-6, "{tip}");
    }
}
