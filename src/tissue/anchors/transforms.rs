//! Helpers for points and transforms.

use nalgebra::{Matrix3, Matrix3x4};

use crate::math::{Affine, Point, Quat, Vec3, linear_part};
use crate::rig::Trs;

/// Rotation and stretch of a transform; a polar decomposition only where it is not a rotation with uniform scale.
pub(super) fn split(transform: &Affine) -> (Quat, Matrix3<f64>) {
    let rotation = Trs::from_affine(transform).rotation;
    (
        rotation,
        rotation.to_rotation_matrix().into_inner().transpose() * linear_part(transform),
    )
}

pub(super) fn to_f32(transform: &Affine) -> Matrix3x4<f32> {
    transform
        .matrix()
        .fixed_view::<3, 4>(0, 0)
        .into_owned()
        .cast::<f32>()
}

pub(super) fn apply(transform: &Matrix3x4<f32>, point: &Point) -> Point {
    let linear: Vec3 = transform.fixed_view::<3, 3>(0, 0) * point.coords;
    Point::from(linear + transform.column(3))
}

/// The point of segment `a b` closest to `p`.
pub(super) fn closest(p: &Point, a: &Point, b: &Point) -> Point {
    let d = b - a;
    let length2 = d.norm_squared();
    if length2 > 0.0 {
        a + d * ((p - a).dot(&d) / length2).clamp(0.0, 1.0)
    } else {
        *a
    }
}

/// `point`, moved radially to a distance of at least `radius` from `center`.
pub(super) fn pushed_out(point: &Point, center: &Point, radius: f32) -> Point {
    let way = point - center;
    let distance = way.norm();
    if distance < radius && distance > 1e-3 * radius {
        center + way * (radius / distance)
    } else {
        *point
    }
}
