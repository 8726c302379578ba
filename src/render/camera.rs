//! An orbit camera.
//!
//! The eye is at `distance` from `target`, rotated by `yaw` about the stage's +Y (0 views the
//! character's front, along the stage's −Z) and raised by `pitch`. The stage equals the world
//! unless another axis of the file is up. Pixel coordinates start at the top left corner of the
//! picture, y downwards, pixel centres at halves. Depth follows wgpu: 0 near, 1 far.

use nalgebra::{Matrix4, UnitQuaternion};

use super::view::NamedView;
use crate::math::{Point, Vec3, stage_with_up};

/// Projection type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Projection {
    /// Perspective: distant objects appear smaller.
    #[default]
    Perspective,
    /// Orthographic; the scale equals that of the target plane in perspective.
    Orthographic,
}

/// A ray; `direction` has unit length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraRay {
    /// Its origin.
    pub origin: Point,
    /// Unit direction.
    pub direction: Vec3,
}

impl CameraRay {
    /// The point at a distance along the ray.
    #[must_use]
    pub fn at(&self, distance: f32) -> Point {
        self.origin + self.direction * distance
    }
}

/// An orbit camera. Lengths are in scene units, angles in radians.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Camera {
    /// The point at the centre of the picture.
    pub target: Point,
    /// Distance from the eye to the target.
    pub distance: f32,
    /// Rotation about +Y.
    pub yaw: f32,
    /// Elevation above the horizon, at most a quarter turn.
    pub pitch: f32,
    /// Vertical field of view.
    pub fov: f32,
    /// Projection type.
    pub projection: Projection,
    /// Radius of the visible content: determines the clipping planes.
    pub radius: f32,
    /// Rotation of the stage that the camera orbits: its +Y is up, its +Z the viewing direction of
    /// characters.
    pub world_from_stage: UnitQuaternion<f32>,
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
            world_from_stage: UnitQuaternion::identity(),
        };
        camera.look_from(NamedView::ThreeQuarter);
        camera
    }
}

impl Camera {
    /// Rotates to a named view.
    pub fn look_from(&mut self, view: NamedView) {
        (self.yaw, self.pitch) = view.angles();
    }

    /// Rotates so that the camera looks in a direction (any length), world space. A zero vector is ignored.
    pub fn look_along(&mut self, direction: &Vec3) {
        let back = self.world_from_stage.inverse() * -direction;
        if let Some(back) = back
            .try_normalize(1e-12)
            .filter(|back| back.iter().all(|c| c.is_finite()))
        {
            self.yaw = back.x.atan2(back.z);
            self.pitch = back.y.clamp(-1.0, 1.0).asin();
        }
    }

    /// Rotates the stage so that `up` (any length) is up; by the smallest rotation, so that −Y is
    /// the front where +Z is up. A zero vector is ignored.
    pub fn set_up(&mut self, up: &Vec3) {
        if let Some(up) = up
            .try_normalize(1e-12)
            .filter(|up| up.iter().all(|c| c.is_finite()))
        {
            self.world_from_stage = stage_with_up(&up);
        }
    }

    /// The unit up vector.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.world_from_stage * Vec3::y()
    }

    /// Orbits about the target by angles in radians.
    pub fn orbit(&mut self, yaw: f32, pitch: f32) {
        if !(yaw.is_finite() && pitch.is_finite()) {
            return;
        }
        let limit = std::f32::consts::FRAC_PI_2;
        self.yaw = (self.yaw + yaw).rem_euclid(std::f32::consts::TAU);
        self.pitch = (self.pitch + pitch).clamp(-limit, limit);
    }

    /// Pans so that the target plane follows a drag of `pixels` in a picture of `size`.
    pub fn pan(&mut self, pixels: [f32; 2], size: [f32; 2]) {
        let (right, up, _) = self.axes();
        let per_pixel = self.view_height() / size[1].max(1.0);
        let shift = (up * pixels[1] - right * pixels[0]) * per_pixel;
        if shift.iter().all(|c| c.is_finite()) {
            self.target += shift;
        }
    }

    /// Scales the distance by `factor` (below 1 moves closer), keeping the target plane's point
    /// under `pixel` fixed.
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

    /// Position of the eye.
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
        let (right, back) = (self.world_from_stage * right, self.world_from_stage * back);
        (right, back.cross(&right), back)
    }

    /// Height of the visible part of the target plane.
    #[must_use]
    pub fn view_height(&self) -> f32 {
        2.0 * self.distance * (self.fov / 2.0).tan()
    }

    /// Distance of the near clipping plane from the eye; negative (behind the eye) without perspective.
    #[must_use]
    pub fn near(&self) -> f32 {
        match self.projection {
            Projection::Perspective => {
                (self.distance - self.radius * 4.0).max(self.distance * 0.02)
            }
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

    /// The ray through a pixel of a picture of `size`.
    #[must_use]
    pub fn ray_through(&self, pixel: [f32; 2], size: [f32; 2]) -> CameraRay {
        let (right, up, back) = self.axes();
        let per_pixel = self.view_height() / size[1].max(1.0);
        let offset =
            (right * (pixel[0] - size[0] / 2.0) - up * (pixel[1] - size[1] / 2.0)) * per_pixel;
        let eye = self.eye();
        match self.projection {
            Projection::Perspective => {
                let direction = (self.target + offset - eye)
                    .try_normalize(0.0)
                    .unwrap_or(-back);
                CameraRay {
                    origin: eye,
                    direction,
                }
            }
            Projection::Orthographic => CameraRay {
                origin: eye + offset + back * (self.radius * 20.0),
                direction: -back,
            },
        }
    }

    /// The pixel, in a picture of `size`, of a point; `None` behind the eye.
    #[must_use]
    pub fn project(&self, point: &Point, size: [f32; 2]) -> Option<[f32; 2]> {
        let clip = self.clip_from_world(size[0] / size[1].max(1.0)) * point.to_homogeneous();
        if !(clip.w > 1e-12 && clip.iter().all(|c| c.is_finite())) {
            return None;
        }
        Some([
            (clip.x / clip.w * 0.5 + 0.5) * size[0],
            (0.5 - clip.y / clip.w * 0.5) * size[1],
        ])
    }
}

pub(super) fn sane_aspect(aspect: f32) -> f32 {
    if aspect.is_finite() {
        aspect.clamp(1e-3, 1e3)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests;
