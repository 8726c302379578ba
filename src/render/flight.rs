//! Smooth transitions between two cameras.

use super::camera::{Camera, Projection};
use crate::math::smoothstep;

/// Field of view that is indistinguishable from orthographic: transitions into or out of an
/// orthographic view switch there.
const FLAT_FOV: f32 = 0.03;

impl Camera {
    /// The camera at the fraction `t` (0 to 1, eased) of the transition from this one to another.
    /// Angles take the shorter way, sizes change evenly, and perspective flattens before an
    /// orthographic view. At 0 it is exactly this camera, at 1 exactly the other one.
    #[must_use]
    pub fn between(&self, to: &Self, t: f32) -> Self {
        if t.is_nan() || t <= 0.0 {
            return *self;
        }
        if t >= 1.0 {
            return *to;
        }
        let t = smoothstep([0.0, 1.0], t);
        let mix = |a: f32, b: f32| a + (b - a) * t;
        // Interpolates the height of the target plane; field of view and distance follow from it.
        let height = (mix(self.view_height().ln(), to.view_height().ln())).exp();
        let fov = mix(self.lens(to), to.lens(self));
        let orthographic = self.projection == Projection::Orthographic
            && to.projection == Projection::Orthographic;
        let turn = (to.yaw - self.yaw + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU)
            - std::f32::consts::PI;
        let between = Self {
            target: self.target + (to.target - self.target) * t,
            distance: height / (2.0 * (fov / 2.0).tan()),
            yaw: (self.yaw + turn * t).rem_euclid(std::f32::consts::TAU),
            pitch: mix(self.pitch, to.pitch),
            fov,
            projection: if orthographic {
                Projection::Orthographic
            } else {
                Projection::Perspective
            },
            radius: self.radius.max(to.radius),
            world_from_stage: self
                .world_from_stage
                .try_slerp(&to.world_from_stage, t, 1e-6)
                .unwrap_or(to.world_from_stage),
        };
        let numbers = between.target.iter().chain([
            &between.distance,
            &between.yaw,
            &between.pitch,
            &between.fov,
        ]);
        if numbers.into_iter().all(|c| c.is_finite()) {
            between
        } else {
            *to
        }
    }

    /// The field of view during a transition from or to another camera.
    fn lens(&self, other: &Self) -> f32 {
        let flattens = self.projection == Projection::Orthographic
            && other.projection == Projection::Perspective;
        if flattens { FLAT_FOV } else { self.fov }
    }

    /// Switches between perspective and orthographic; objects in the target plane keep their size.
    pub fn toggle_projection(&mut self) {
        self.projection = match self.projection {
            Projection::Perspective => Projection::Orthographic,
            Projection::Orthographic => Projection::Perspective,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Point, Vec3};
    use crate::render::NamedView;

    fn pair() -> (Camera, Camera) {
        let mut from = Camera {
            target: Point::new(0.0, 1.0, 0.0),
            yaw: 6.0,
            distance: 2.0,
            ..Camera::default()
        };
        from.set_up(&Vec3::y());
        let mut to = Camera {
            target: Point::new(1.0, 1.0, 0.0),
            distance: 8.0,
            ..from
        };
        to.look_from(NamedView::Left);
        (from, to)
    }

    #[test]
    fn a_transition_ends_at_its_target_and_takes_the_shorter_way() {
        let (from, to) = pair();
        assert_eq!(
            (
                from.between(&to, 0.0),
                from.between(&to, 1.0),
                from.between(&to, 7.0)
            ),
            (from, to, to)
        );
        assert_eq!(from.between(&to, f32::NAN), from);
        let way = (to.yaw - from.yaw).rem_euclid(std::f32::consts::TAU);
        assert!(way < std::f32::consts::PI);
        let mut before = from;
        for step in 1..=10_u8 {
            let now = from.between(&to, f32::from(step) / 10.0);
            let turned = (now.yaw - before.yaw).rem_euclid(std::f32::consts::TAU);
            assert!(
                turned < way / 3.0
                    && now.distance > before.distance
                    && now.target.x > before.target.x,
                "{now:?}"
            );
            before = now;
        }
    }

    #[test]
    fn the_target_plane_keeps_its_size_while_perspective_flattens() {
        let (from, _) = pair();
        let mut flat = from;
        flat.toggle_projection();
        assert!((flat.view_height() - from.view_height()).abs() < 1e-6);
        for (a, b) in [(from, flat), (flat, from)] {
            for t in [0.1, 0.5, 0.9] {
                let now = a.between(&b, t);
                assert!(
                    (now.view_height() / from.view_height() - 1.0).abs() < 1e-4
                        && now.projection == Projection::Perspective,
                    "{now:?}"
                );
            }
        }
        flat.toggle_projection();
        assert_eq!(flat, from);
    }
}
