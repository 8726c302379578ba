//! Framing: moves a camera so that an object fills the picture.

use super::camera::{Camera, Projection, sane_aspect};
use super::view::NamedView;
use crate::math::Point;
use crate::mesh::Bounds;

/// Margins around framed objects, as fractions of the picture's width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// Left and right, parts of the width.
    pub sides: f32,
    /// Part of the height.
    pub top: f32,
    /// Part of the height.
    pub bottom: f32,
}

impl Default for Margins {
    /// 6 % all around.
    fn default() -> Self {
        Self {
            sides: 0.06,
            top: 0.06,
            bottom: 0.06,
        }
    }
}

impl Margins {
    /// Used fraction of the field of view on each side of its centre: right and left, up and down.
    /// Always positive.
    fn reach(&self) -> [[f32; 2]; 2] {
        let reach = |margin: f32| {
            if margin.is_finite() {
                (1.0 - 2.0 * margin).clamp(0.02, 1.0)
            } else {
                1.0
            }
        };
        [
            [reach(self.sides); 2],
            [reach(self.top), reach(self.bottom)],
        ]
    }
}

impl Camera {
    /// A camera that shows the whole box from a named direction, in a picture of `aspect` = width /
    /// height.
    #[must_use]
    pub fn framing(bounds: &Bounds, view: NamedView, aspect: f32) -> Self {
        let mut camera = Self::default();
        camera.look_from(view);
        camera.frame(bounds, aspect);
        camera
    }

    /// Moves so that the whole box is seen, from the same direction, in a picture of `aspect` = width / height. Does nothing
    /// for an empty box.
    pub fn frame(&mut self, bounds: &Bounds, aspect: f32) {
        let corner = |index: usize| {
            let pick = |bit: usize, axis: usize| {
                if index & bit == 0 {
                    bounds.min[axis]
                } else {
                    bounds.max[axis]
                }
            };
            Point::new(pick(1, 0), pick(2, 1), pick(4, 2))
        };
        let corners: [Point; 8] = std::array::from_fn(corner);
        self.frame_points(if bounds.is_empty() { &[] } else { &corners }, aspect);
    }

    /// Moves so that all points are visible and fill the picture, from the same direction, in a
    /// picture of `aspect` = width / height. Non-finite points are ignored; without points nothing
    /// changes.
    pub fn frame_points(&mut self, points: &[Point], aspect: f32) {
        self.frame_points_within(points, aspect, Margins::default());
    }

    /// [`Camera::frame_points`] with other margins; the points are centred in the free area.
    pub fn frame_points_within(&mut self, points: &[Point], aspect: f32, margins: Margins) {
        let bounds = Bounds::of(points);
        if bounds.is_empty() {
            return;
        }
        self.radius = (bounds.size() / 2.0).max(1e-6);
        let (right, up, back) = self.axes();
        let half = (self.fov / 2.0).tan();
        let reach = margins.reach();
        let tan = [
            reach[0].map(|part| part * half * sane_aspect(aspect)),
            reach[1].map(|part| part * half),
        ];
        let depth_counts = f32::from(u8::from(self.projection == Projection::Perspective));
        // Each point and each side of the frustum gives a constraint: offset · axis ± tan ·
        // (distance − offset · back).
        let mut required = [[f32::NEG_INFINITY; 2]; 2];
        let center = bounds.center();
        for offset in points
            .iter()
            .map(|p| p - center)
            .filter(|o| o.iter().all(|c| c.is_finite()))
        {
            for (side, axis) in [right, up].iter().enumerate() {
                let (along, towards) = (offset.dot(axis), offset.dot(&back) * depth_counts);
                required[side][0] = required[side][0].max(along + towards * tan[side][0]);
                required[side][1] = required[side][1].max(towards * tan[side][1] - along);
            }
        }
        let needed =
            |side: usize| (required[side][0] + required[side][1]) / (tan[side][0] + tan[side][1]);
        let distance = needed(0).max(needed(1)).max(self.radius * 1e-3);
        let shift = |side: usize| {
            f32::midpoint(
                required[side][0] - tan[side][0] * distance,
                tan[side][1] * distance - required[side][1],
            )
        };
        self.target = center + right * shift(0) + up * shift(1);
        self.distance = distance;
    }

    /// Moves so that a sphere fills the picture within the margins, from the same direction, with its centre in the middle. The clipping
    /// planes stay as they are. A sphere that is not finite, or has no radius, is ignored.
    pub fn frame_sphere(&mut self, center: Point, radius: f32, aspect: f32, margins: Margins) {
        let is_usable = radius.is_finite() && radius > 0.0;
        if !(is_usable && center.iter().all(|c| c.is_finite())) {
            return;
        }
        let [[sides, _], [top, bottom]] = margins.reach();
        let reach = (sides * sane_aspect(aspect)).min(top).min(bottom);
        let tan = reach * (self.fov / 2.0).tan();
        self.target = center;
        self.distance = match self.projection {
            // The sides of the frustum touch the sphere: radius = distance · sin.
            Projection::Perspective => radius * (1.0 + tan * tan).sqrt() / tan,
            Projection::Orthographic => radius / tan,
        };
    }

    /// Makes everything appear `factor` times as large about the centre of the picture, by a smaller field of view: the eye stays where
    /// it is, so that nothing comes between it and the target. Factors that are not finite and positive are ignored.
    pub fn magnify(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.fov = 2.0 * ((self.fov / 2.0).tan() / factor).atan();
        }
    }
}
