//! Pulling: a point of the flesh, or a joint, follows the pointer by turning the one joint that carries it.

use egui::Pos2;

use super::picking::Target;
use super::screen_map::ScreenMap;
use crate::math::{Affine, Point64, Quat, origin_of};
use crate::rig::Skeleton;

/// A pull under way.
#[derive(Debug, Clone, Copy)]
pub struct Pull {
    /// The joint that turns.
    pub joint: usize,
    /// How far it has turned, about world axes.
    pub turned: Quat,
    /// The point held, in the joint's frame.
    held: Point64,
}

impl Pull {
    /// Begins at what is under the pointer. Nothing if that hangs on no joint that could turn: a root joint's dot, or flesh of the
    /// root, which would turn the whole character.
    #[must_use]
    pub fn start(map: &ScreenMap, skeleton: &Skeleton, world_from_joint: &[Affine], target: Target, pointer: Pos2) -> Option<Self> {
        let (joint, point) = match target {
            Target::Joint(joint) => (skeleton.joints().get(joint)?.parent?, origin_of(world_from_joint.get(joint)?)),
            Target::Bone(joint) => {
                let origin = origin_of(world_from_joint.get(joint)?);
                (joint, map.ray(pointer).meet_plane(&origin, &map.back())?)
            }
            Target::Flesh { joint, point } => {
                skeleton.joints().get(joint)?.parent?;
                (joint, point)
            }
        };
        let held = world_from_joint.get(joint)?.try_inverse()? * point;
        Some(Self { joint, turned: Quat::identity(), held })
    }

    /// The turn, since the last call, that brings the point held towards the pointer.
    pub fn update(&mut self, map: &ScreenMap, world_from_joint: &[Affine], pointer: Pos2) -> Option<Quat> {
        let world = world_from_joint.get(self.joint)?;
        let centre = origin_of(world);
        let now = world * self.held;
        let wanted = map.ray(pointer).meet_plane(&now, &map.back())?;
        let turn = Quat::rotation_between(&(now - centre), &(wanted - centre))?;
        self.turned = turn * self.turned;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen_map::tests::front_map;
    use super::*;
    use egui::pos2;

    #[test]
    fn the_joint_pulled_points_at_the_pointer_and_a_root_stays() {
        let map = front_map();
        let p = |y: f64| Point64::new(0.0, y, 0.0);
        let skeleton = Skeleton::from_positions(&[("a".into(), None, p(0.0)), ("b".into(), Some(0), p(1.0))]).unwrap();
        let mut pose = skeleton.rest_pose();
        let world = skeleton.world_from_joint(&pose);
        assert!(Pull::start(&map, &skeleton, &world, Target::Joint(0), pos2(110.0, 120.0)).is_none());
        let mut pull = Pull::start(&map, &skeleton, &world, Target::Joint(1), pos2(110.0, 100.0)).unwrap();
        for pointer in [pos2(125.0, 105.0), pos2(150.0, 120.0)] {
            let world = skeleton.world_from_joint(&pose);
            let turn = pull.update(&map, &world, pointer).unwrap();
            pose.rotate_about_world_axes(&skeleton, pull.joint, &turn);
        }
        // The pointer is to the right of joint a, at its height.
        let tip = origin_of(&skeleton.world_from_joint(&pose)[1]);
        assert!((tip - Point64::new(1.0, 0.0, 0.0)).norm() < 1e-6, "{tip}");
        pose.rotate_about_world_axes(&skeleton, pull.joint, &pull.turned.inverse());
        assert!((origin_of(&skeleton.world_from_joint(&pose)[1]) - p(1.0)).norm() < 1e-9);
    }
}
