//! An orbiting camera.
//!
//! The eye stands at `distance` from `target`, turned by `yaw` about +Y (0 looks at the character's front, along −Z) and raised
//! by `pitch`. Pixels count from the top left corner of the picture, y downwards, pixel centres at halves. Depth is wgpu's: 0 near,
//! 1 far.

use nalgebra::Matrix4;

use super::view::NamedView;
use crate::math::{Point, Vec3};

/// How space is flattened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Projection {
    /// Far things look smaller.
    #[default]
    Perspective,
    /// Parallel lines stay parallel; the size is that of the target plane in perspective.
    Orthographic,
}

/// A half line; `direction` has unit length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where it starts.
    pub origin: Point,
    /// Unit direction.
    pub direction: Vec3,
}

impl Ray {
    /// The point at a distance along the ray.
    #[must_use]
    pub fn at(&self, distance: f32) -> Point {
        self.origin + self.direction * distance
    }
}

/// An orbiting camera. Lengths are in the units of the scene, angles in radians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The point in the middle of the picture.
    pub target: Point,
    /// From the eye to the target.
    pub distance: f32,
    /// Turn about +Y.
    pub yaw: f32,
    /// Height above the horizon, at most a quarter turn.
    pub pitch: f32,
    /// Vertical field of view.
    pub fov: f32,
    /// How space is flattened.
    pub projection: Projection,
    /// Radius of what is looked at: sets the clipping planes.
    pub radius: f32,
}

impl Default for Camera {
    fn default() -> Self {
        let mut camera = Self {
            target: Point::origin(),
            distance: 4.0,
            yaw: 0.0,
            pitch: 0.0,
            fov: 30.0_f32.to_radians(),
            projection: Projection::Perspective,
            radius: 1.0,
        };
        camera.look_from(NamedView::ThreeQuarter);
        camera
    }
}

impl Camera {
    /// Turns to a named view.
    pub fn look_from(&mut self, view: NamedView) {
        (self.yaw, self.pitch) = view.angles();
    }

    /// Turns about the target by angles in radians.
    pub fn orbit(&mut self, yaw: f32, pitch: f32) {
        if !(yaw.is_finite() && pitch.is_finite()) {
            return;
        }
        let limit = std::f32::consts::FRAC_PI_2;
        self.yaw = (self.yaw + yaw).rem_euclid(std::f32::consts::TAU);
        self.pitch = (self.pitch + pitch).clamp(-limit, limit);
    }

    /// Moves sideways so that the target plane follows a drag of `pixels` in a picture of `size`.
    pub fn pan(&mut self, pixels: [f32; 2], size: [f32; 2]) {
        let (right, up, _) = self.axes();
        let per_pixel = self.view_height() / size[1].max(1.0);
        let shift = (up * pixels[1] - right * pixels[0]) * per_pixel;
        if shift.iter().all(|c| c.is_finite()) {
            self.target += shift;
        }
    }

    /// Scales the distance by `factor` (below 1 moves closer), keeping the target plane's point under `pixel` where it is.
    pub fn zoom_towards(&mut self, factor: f32, pixel: [f32; 2], size: [f32; 2]) {
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let distance = (self.distance * factor).clamp(self.radius * 0.02, self.radius * 60.0);
        let factor = distance / self.distance.max(f32::MIN_POSITIVE);
        let (right, up, _) = self.axes();
        let per_pixel = self.view_height() / size[1].max(1.0);
        let offset = right * (pixel[0] - size[0] / 2.0) - up * (pixel[1] - size[1] / 2.0);
        let shift = offset * (per_pixel * (1.0 - factor));
        if factor.is_finite() && shift.iter().all(|c| c.is_finite()) {
            self.target += shift;
            self.distance = distance;
        }
    }

    /// Where the eye is.
    #[must_use]
    pub fn eye(&self) -> Point {
        self.target + self.axes().2 * self.distance
    }

    /// Unit vectors to the right, up, and back towards the eye.
    #[must_use]
    pub fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        let back = Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch);
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        (right, back.cross(&right), back)
    }

    /// Height of the visible part of the target plane.
    #[must_use]
    pub fn view_height(&self) -> f32 {
        2.0 * self.distance * (self.fov / 2.0).tan()
    }

    /// Length in the scene that covers one pixel at `point` in a picture `height` pixels high: for handles of constant size.
    #[must_use]
    pub fn length_per_pixel(&self, point: &Point, height: f32) -> f32 {
        let depth = match self.projection {
            Projection::Perspective => (self.eye() - point).dot(&self.axes().2).max(self.near()),
            Projection::Orthographic => self.distance,
        };
        2.0 * depth * (self.fov / 2.0).tan() / height.max(1.0)
    }

    /// Distance of the near clipping plane from the eye; negative (behind the eye) without perspective.
    #[must_use]
    pub fn near(&self) -> f32 {
        match self.projection {
            Projection::Perspective => (self.distance - self.radius * 4.0).max(self.distance * 0.02),
            Projection::Orthographic => self.distance - self.radius * 20.0,
        }
    }

    /// Distance of the far clipping plane from the eye.
    #[must_use]
    pub fn far(&self) -> f32 {
        self.distance + self.radius * 20.0
    }

    /// World to camera space: x right, y up, z towards the eye.
    #[must_use]
    pub fn view_from_world(&self) -> Matrix4<f32> {
        let (right, up, back) = self.axes();
        let eye = self.eye().coords;
        Matrix4::new(
            right.x,
            right.y,
            right.z,
            -right.dot(&eye),
            up.x,
            up.y,
            up.z,
            -up.dot(&eye),
            back.x,
            back.y,
            back.z,
            -back.dot(&eye),
            0.0,
            0.0,
            0.0,
            1.0,
        )
    }

    /// Camera to clip space, depth 0 to 1, for a picture of `aspect` = width / height.
    #[must_use]
    pub fn clip_from_view(&self, aspect: f32) -> Matrix4<f32> {
        let (near, far) = (self.near(), self.far());
        let aspect = sane_aspect(aspect);
        let mut clip = Matrix4::zeros();
        match self.projection {
            Projection::Perspective => {
                let f = 1.0 / (self.fov / 2.0).tan();
                clip[(0, 0)] = f / aspect;
                clip[(1, 1)] = f;
                clip[(2, 2)] = far / (near - far);
                clip[(2, 3)] = near * far / (near - far);
                clip[(3, 2)] = -1.0;
            }
            Projection::Orthographic => {
                let half = self.view_height() / 2.0;
                clip[(0, 0)] = 1.0 / (half * aspect);
                clip[(1, 1)] = 1.0 / half;
                clip[(2, 2)] = 1.0 / (near - far);
                clip[(2, 3)] = near / (near - far);
                clip[(3, 3)] = 1.0;
            }
        }
        clip
    }

    /// World to clip space.
    #[must_use]
    pub fn clip_from_world(&self, aspect: f32) -> Matrix4<f32> {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// The half line seen at a pixel of a picture of `size`.
    #[must_use]
    pub fn ray_through(&self, pixel: [f32; 2], size: [f32; 2]) -> Ray {
        let (right, up, back) = self.axes();
        let per_pixel = self.view_height() / size[1].max(1.0);
        let offset = (right * (pixel[0] - size[0] / 2.0) - up * (pixel[1] - size[1] / 2.0)) * per_pixel;
        let eye = self.eye();
        match self.projection {
            Projection::Perspective => {
                let direction = (self.target + offset - eye).try_normalize(0.0).unwrap_or(-back);
                Ray { origin: eye, direction }
            }
            Projection::Orthographic => Ray { origin: eye + offset + back * (self.radius * 20.0), direction: -back },
        }
    }

    /// The pixel, in a picture of `size`, at which a point is seen; `None` behind the eye.
    #[must_use]
    pub fn project(&self, point: &Point, size: [f32; 2]) -> Option<[f32; 2]> {
        let clip = self.clip_from_world(size[0] / size[1].max(1.0)) * point.to_homogeneous();
        if !(clip.w > 1e-12 && clip.iter().all(|c| c.is_finite())) {
            return None;
        }
        Some([(clip.x / clip.w * 0.5 + 0.5) * size[0], (0.5 - clip.y / clip.w * 0.5) * size[1]])
    }
}

pub(super) fn sane_aspect(aspect: f32) -> f32 {
    if aspect.is_finite() { aspect.clamp(1e-3, 1e3) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Bounds;
    use crate::render::Margins;

    fn cameras() -> Vec<Camera> {
        let bounds = Bounds { min: Point::new(-1.0, -0.2, -0.5), max: Point::new(0.6, 2.0, 0.7) };
        let mut all = Vec::new();
        for (_, view) in NamedView::ALL {
            for projection in [Projection::Perspective, Projection::Orthographic] {
                let mut camera = Camera { projection, ..Camera::default() };
                camera.look_from(view);
                camera.frame(&bounds, 1.5);
                all.push(camera);
            }
        }
        all
    }

    const SIZE: [f32; 2] = [900.0, 600.0];
    /// What the margins of 6 % leave.
    const FILLED: f32 = 0.88;

    /// f32 through two 4 × 4 products, at coordinates of a few hundred pixels.
    const PIXEL_TOL: f32 = 0.02;

    #[test]
    fn projecting_a_point_on_the_ray_gives_the_pixel_back() {
        for camera in cameras() {
            for pixel in [[0.0, 0.0], [450.0, 300.0], [13.5, 577.25], [899.0, 1.0]] {
                let ray = camera.ray_through(pixel, SIZE);
                assert!((ray.direction.norm() - 1.0).abs() < 1e-5);
                for along in [0.5, 1.0, 1.7] {
                    let back = camera.project(&ray.at(camera.distance * along), SIZE).expect("in front of the eye");
                    let error = (back[0] - pixel[0]).hypot(back[1] - pixel[1]);
                    assert!(error < PIXEL_TOL, "{camera:?}: {pixel:?} became {back:?}");
                }
            }
        }
    }

    #[test]
    fn framing_shows_every_corner_and_wastes_little() {
        let bounds = Bounds { min: Point::new(-1.0, -0.2, -0.5), max: Point::new(0.6, 2.0, 0.7) };
        for camera in cameras() {
            let mut furthest: f32 = 0.0;
            for corner in 0..8 {
                let pick = |bit: usize, axis: usize| if corner & bit == 0 { bounds.min[axis] } else { bounds.max[axis] };
                let point = Point::new(pick(1, 0), pick(2, 1), pick(4, 2));
                let clip = camera.clip_from_world(1.5) * point.to_homogeneous();
                let ndc = clip / clip.w;
                assert!(ndc.x.abs() <= 1.0 && ndc.y.abs() <= 1.0 && (0.0..=1.0).contains(&ndc.z), "{camera:?} {ndc:?}");
                furthest = furthest.max(ndc.x.abs()).max(ndc.y.abs());
            }
            assert!(furthest > 0.85, "{camera:?} fills only {furthest}");
        }
    }

    #[test]
    fn framed_points_touch_the_margin_on_both_sides() {
        let points: Vec<Point> =
            (0..40_u8).map(|i| f32::from(i) * 0.7).map(|t| Point::new(t.sin() * 2.0, t * 0.1, (1.3 * t).cos())).collect();
        for mut camera in cameras() {
            camera.frame_points(&points, 1.5);
            let mut ends = [[f32::INFINITY, f32::NEG_INFINITY]; 2];
            for point in &points {
                let clip = camera.clip_from_world(1.5) * point.to_homogeneous();
                for axis in 0..2 {
                    ends[axis] = [ends[axis][0].min(clip[axis] / clip.w), ends[axis][1].max(clip[axis] / clip.w)];
                }
            }
            let full = ends.iter().any(|[low, high]| (low + FILLED).abs() < 1e-3 && (high - FILLED).abs() < 1e-3);
            let inside = ends.iter().flatten().all(|e| e.abs() < FILLED + 1e-3);
            assert!(full && inside, "{camera:?}: {ends:?}");
        }
    }

    #[test]
    fn margins_may_differ() {
        let points = [Point::new(-0.3, 0.0, 0.2), Point::new(0.2, 1.8, -0.1), Point::new(0.1, 0.7, 0.4)];
        for mut camera in cameras() {
            camera.frame_points_within(&points, 1.5, Margins { sides: 0.05, top: 0.1, bottom: 0.2 });
            let seen = points.map(|point| camera.project(&point, SIZE).expect("in front of the eye"));
            let within = |[x, y]: &[f32; 2]| (44.5..=855.5).contains(x) && (59.5..=480.5).contains(y);
            assert!(seen.iter().all(within), "{camera:?}: {seen:?}");
            let top = seen.iter().map(|p| p[1]).fold(f32::INFINITY, f32::min);
            let low = seen.iter().map(|p| p[1]).fold(0.0, f32::max);
            let width = seen.iter().map(|p| p[0]).fold(0.0, f32::max) - seen.iter().map(|p| p[0]).fold(f32::INFINITY, f32::min);
            assert!(((top - 60.0).abs() < 0.5 && (low - 480.0).abs() < 0.5) || (width - 810.0).abs() < 0.5, "{camera:?}: {seen:?}");
        }
    }

    #[test]
    fn the_front_view_has_plus_x_on_the_right_and_plus_y_up() {
        let mut camera = Camera::default();
        camera.look_from(NamedView::Front);
        let at = |p: Point| camera.project(&p, SIZE).expect("visible");
        let middle = at(Point::origin());
        assert!(at(Point::new(0.1, 0.0, 0.0))[0] > middle[0]);
        assert!(at(Point::new(0.0, 0.1, 0.0))[1] < middle[1]);
    }

    #[test]
    fn zooming_keeps_the_point_under_the_mouse() {
        for mut camera in cameras() {
            let pixel = [700.0, 120.0];
            let ray = camera.ray_through(pixel, SIZE);
            let (_, _, back) = camera.axes();
            let point = ray.at((camera.target - ray.origin).dot(&back) / ray.direction.dot(&back));
            camera.zoom_towards(0.6, pixel, SIZE);
            let now = camera.project(&point, SIZE).expect("visible");
            assert!((now[0] - pixel[0]).hypot(now[1] - pixel[1]) < PIXEL_TOL * 3.0, "{now:?}");
        }
    }

    #[test]
    fn panning_moves_the_target_plane_with_the_mouse() {
        for mut camera in cameras() {
            let point = camera.target;
            camera.pan([40.0, -25.0], SIZE);
            let now = camera.project(&point, SIZE).expect("visible");
            assert!((now[0] - 490.0).abs() < PIXEL_TOL && (now[1] - 275.0).abs() < PIXEL_TOL, "{now:?}");
        }
    }

    #[test]
    fn broken_input_leaves_the_camera_finite() {
        let mut camera = Camera::default();
        camera.orbit(f32::NAN, 1.0);
        camera.pan([f32::INFINITY, 0.0], [0.0, 0.0]);
        camera.zoom_towards(0.0, [0.0, 0.0], [0.0, 0.0]);
        camera.zoom_towards(f32::NAN, [1.0, 1.0], [10.0, 10.0]);
        camera.frame(&Bounds::of([]), f32::NAN);
        assert_eq!(camera, Camera::default());
        assert!(camera.clip_from_world(f32::NAN).iter().all(|c| c.is_finite()));
    }
}
