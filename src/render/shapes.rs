//! Shapes for overlays: spheres, capsules, frusta, rings.

use std::f32::consts::TAU;

use super::overlay::{Overlay, Rgba};
use crate::math::{Point, Vec3};

/// Two unit vectors that form a right-handed frame with `axis`.
pub(super) fn frame_of(axis: &Vec3) -> (Vec3, Vec3) {
    let helper = if axis.y.abs() < 0.9 {
        Vec3::y()
    } else {
        Vec3::x()
    };
    let side = helper
        .cross(axis)
        .try_normalize(1e-12)
        .unwrap_or_else(Vec3::x);
    (side, axis.cross(&side))
}

pub(super) fn circle(
    center: &Point,
    side: &Vec3,
    other: &Vec3,
    radius: f32,
    count: usize,
) -> Vec<Point> {
    let at = |i: usize| {
        let (sin, cos) = (i as f32 / count as f32 * TAU).sin_cos();
        center + (side * cos + other * sin) * radius
    };
    (0..count).map(at).collect()
}

impl Overlay {
    /// Adds a sphere.
    pub fn sphere(&mut self, center: &Point, radius: f32, color: Rgba) {
        self.frustum_with_caps(center, center, [radius; 2], color);
    }

    /// Adds a capsule: all points within `radius` of a segment.
    pub(crate) fn capsule(&mut self, start: &Point, end: &Point, radius: f32, color: Rgba) {
        self.frustum_with_caps(start, end, [radius; 2], color);
    }

    /// Adds the convex hull of two spheres: a capsule with radius linear from `radii[0]` to
    /// `radii[1]`.
    pub(crate) fn frustum_with_caps(
        &mut self,
        start: &Point,
        end: &Point,
        radii: [f32; 2],
        color: Rgba,
    ) {
        const AROUND: usize = 20;
        const CAP: usize = 6;
        let span = end - start;
        let length = span.norm();
        let axis = span.try_normalize(1e-12).unwrap_or_else(Vec3::y);
        let (side, other) = frame_of(&axis);
        // The tangent cone touches both spheres at this angle from the equator.
        let tilt = if length > 0.0 {
            ((radii[0] - radii[1]) / length).clamp(-1.0, 1.0).asin()
        } else {
            0.0
        };
        let quarter = TAU / 4.0;
        let mut rings = Vec::with_capacity(2 * CAP + 2);
        for i in 0..=CAP {
            let share = i as f32 / CAP as f32;
            rings.push((start, radii[0], -quarter + (quarter + tilt) * share));
        }
        for i in 0..=CAP {
            let share = i as f32 / CAP as f32;
            rings.push((end, radii[1], tilt + (quarter - tilt) * share));
        }
        let point = |(center, radius, angle): (&Point, f32, f32), i: usize| {
            let (sin, cos) = (i as f32 / AROUND as f32 * TAU).sin_cos();
            let normal = axis * angle.sin() + (side * cos + other * sin) * angle.cos();
            (center + normal * radius, normal)
        };
        for pair in rings.windows(2) {
            for i in 0..AROUND {
                let (a, b) = (point(pair[0], i), point(pair[0], i + 1));
                let (c, d) = (point(pair[1], i), point(pair[1], i + 1));
                self.triangle([a.0, b.0, d.0], [a.1, b.1, d.1], color);
                self.triangle([a.0, d.0, c.0], [a.1, d.1, c.1], color);
            }
        }
    }

    /// Adds a circle of `radius` about `axis`, `width` pixels wide: a gizmo handle.
    pub fn ring(&mut self, center: &Point, axis: &Vec3, radius: f32, color: Rgba, width: f32) {
        if let Some(axis) = axis.try_normalize(1e-12) {
            let (side, other) = frame_of(&axis);
            self.polyline(
                &circle(center, &side, &other, radius, 64),
                true,
                color,
                width,
            );
        }
    }
}
