//! Maps between world space and the points of the viewport.

use egui::{Pos2, Rect};
use nalgebra::{Matrix4, Vector4};

use crate::math::{Point64, Vec64};

/// The camera's mapping from the world to the screen in this frame.
#[derive(Debug, Clone, Copy)]
pub struct ScreenMap {
    clip_from_world: Matrix4<f64>,
    world_from_clip: Matrix4<f64>,
    rect: Rect,
    eye: Point64,
    right: Vec64,
}

/// A ray from the eye through a point of the screen.
#[derive(Debug, Clone, Copy)]
pub struct ScreenRay {
    /// Its origin.
    pub origin: Point64,
    /// Unit direction.
    pub direction: Vec64,
}

impl ScreenRay {
    /// Intersection with the plane through `point` with the unit `normal`; `None` if the ray is
    /// parallel to the plane.
    #[must_use]
    pub fn meet_plane(&self, point: &Point64, normal: &Vec64) -> Option<Point64> {
        let slope = self.direction.dot(normal);
        if slope.abs() < 1e-6 {
            return None;
        }
        let distance = (point - self.origin).dot(normal) / slope;
        (distance > 0.0 && distance.is_finite()).then(|| self.origin + self.direction * distance)
    }
}

impl ScreenMap {
    /// The map of a camera; `rect` in points. Depth in clip space is from 0 (near) to w (far), as
    /// in wgpu, or reversed. `None` if the matrix is singular or the rectangle is empty.
    #[must_use]
    pub fn new(
        clip_from_world: Matrix4<f64>,
        eye: Point64,
        right: Vec64,
        rect: Rect,
    ) -> Option<Self> {
        let world_from_clip = clip_from_world.try_inverse()?;
        (rect.width() >= 1.0 && rect.height() >= 1.0).then_some(Self {
            clip_from_world,
            world_from_clip,
            rect,
            eye,
            right,
        })
    }

    /// The viewport's rectangle, in points.
    #[must_use]
    pub fn rect(&self) -> Rect {
        self.rect
    }

    /// Unit vector from a point of the world to the eye.
    #[must_use]
    pub fn towards_eye(&self, point: &Point64) -> Vec64 {
        (self.eye - point)
            .try_normalize(1e-12)
            .unwrap_or_else(Vec64::z)
    }

    /// Unit vector from the screen to the eye.
    #[must_use]
    pub fn back(&self) -> Vec64 {
        -self.ray(self.rect.center()).direction
    }

    /// Unit vectors to the right and upwards on the screen.
    #[must_use]
    pub fn right_and_up(&self) -> (Vec64, Vec64) {
        let right = self.right.try_normalize(1e-12).unwrap_or_else(Vec64::x);
        let up = self
            .back()
            .cross(&right)
            .try_normalize(1e-12)
            .unwrap_or_else(Vec64::y);
        (right, up)
    }

    /// Screen position of a world point; `None` behind the eye.
    #[must_use]
    pub fn project(&self, point: &Point64) -> Option<Pos2> {
        let clip = self.clip_from_world * point.to_homogeneous();
        if clip.w <= 1e-9 || !clip.iter().all(|c| c.is_finite()) {
            return None;
        }
        let (x, y) = (clip.x / clip.w, clip.y / clip.w);
        let position = Pos2::new(
            self.rect.left() + (0.5 + 0.5 * x) as f32 * self.rect.width(),
            self.rect.top() + (0.5 - 0.5 * y) as f32 * self.rect.height(),
        );
        (position.x.abs() < 1e6 && position.y.abs() < 1e6).then_some(position)
    }

    /// The ray from the eye through a point of the screen.
    #[must_use]
    pub fn ray(&self, position: Pos2) -> ScreenRay {
        let x = f64::from((position.x - self.rect.left()) / self.rect.width()) * 2.0 - 1.0;
        let y = 1.0 - f64::from((position.y - self.rect.top()) / self.rect.height()) * 2.0;
        let through = self.world_from_clip * Vector4::new(x, y, 0.5, 1.0);
        let through = Point64::from(through.xyz() / through.w);
        let direction = (through - self.eye)
            .try_normalize(1e-300)
            .unwrap_or_else(|| -Vec64::z());
        ScreenRay {
            origin: self.eye,
            direction,
        }
    }

    /// World length of one screen point at a world position.
    #[must_use]
    pub fn world_per_point(&self, at: &Point64) -> f64 {
        let step = (self.eye - at).norm().max(1e-9) * 1e-3;
        match (self.project(at), self.project(&(at + self.right * step))) {
            (Some(a), Some(b)) if a.distance(b) > 1e-6 => step / f64::from(a.distance(b)),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use egui::pos2;

    /// A camera at (0, 0, 5) that looks at the origin, 90° high, in a square of 200 points.
    pub fn front_map() -> ScreenMap {
        let view = Matrix4::new_translation(&Vec64::new(0.0, 0.0, -5.0));
        let (near, far) = (0.1, 100.0);
        let mut projection = Matrix4::zeros();
        projection[(0, 0)] = 1.0;
        projection[(1, 1)] = 1.0;
        projection[(2, 2)] = far / (near - far);
        projection[(2, 3)] = near * far / (near - far);
        projection[(3, 2)] = -1.0;
        let rect = Rect::from_min_max(pos2(10.0, 20.0), pos2(210.0, 220.0));
        ScreenMap::new(
            projection * view,
            Point64::new(0.0, 0.0, 5.0),
            Vec64::x(),
            rect,
        )
        .unwrap()
    }

    #[test]
    fn a_ray_through_a_projected_point_passes_the_point() {
        let map = front_map();
        for point in [
            Point64::new(0.3, -1.2, 0.5),
            Point64::new(-2.0, 2.0, -3.0),
            Point64::origin(),
        ] {
            let ray = map.ray(map.project(&point).unwrap());
            let distance = (point - ray.origin).cross(&ray.direction).norm();
            assert!(distance < 1e-5, "{distance}");
        }
        assert_eq!(map.project(&Point64::origin()), Some(pos2(110.0, 120.0)));
        assert_eq!(
            map.project(&Point64::new(0.0, 0.0, 6.0)),
            None,
            "behind the eye"
        );
    }

    #[test]
    fn one_point_of_the_screen_is_a_twentieth_at_distance_five() {
        assert!((front_map().world_per_point(&Point64::origin()) - 0.05).abs() < 1e-5);
    }
}
