//! Names for the vector, rotation and transform types of `nalgebra` that the crate uses,
//! conversions between them, and the rotation closest to a matrix.
//!
//! Vertex data of each frame is `f32` ([`Point`], [`Vec3`]); joint transforms and one-time
//! computations are `f64`.

mod dual_quaternion;
mod iso_lines;
mod orientation;
mod rotation;

pub use dual_quaternion::{RigidMotion, SplitTransform};
pub use iso_lines::{GridPoint, iso_line};
pub use orientation::orientation;
pub use rotation::closest_rotation;

/// A position, `f32`.
pub type Point = nalgebra::Point3<f32>;
/// A direction or displacement, `f32`.
pub type Vec3 = nalgebra::Vector3<f32>;
/// A position, `f64`.
pub type Point64 = nalgebra::Point3<f64>;
/// A direction or displacement, `f64`.
pub type Vec64 = nalgebra::Vector3<f64>;
/// A rotation, `f64`.
pub type Quat = nalgebra::UnitQuaternion<f64>;
/// A rotation, `f32`.
pub type Turn = nalgebra::UnitQuaternion<f32>;
/// An affine transform, `f64`; always named `to_from_from`.
pub type Affine = nalgebra::Affine3<f64>;

/// Smoothstep: 0 up to `low`, 1 from `high` on, t² (3 − 2 t) of the fraction t between.
#[must_use]
pub fn smoothstep<T: nalgebra::RealField + Copy>([low, high]: [T; 2], x: T) -> T {
    let t = ((x - low) / (high - low)).clamp(T::zero(), T::one());
    t * t * (nalgebra::convert::<f64, T>(3.0) - nalgebra::convert::<f64, T>(2.0) * t)
}

/// Smoothstep of a fraction, and its derivative.
#[must_use]
pub fn smooth_and_slope(t: f32) -> [f32; 2] {
    let t = t.clamp(0.0, 1.0);
    [t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t)]
}

/// The smallest rotation that takes +Y to a unit vector; half a turn about Z for −Y.
#[must_use]
pub fn stage_with_up(up: &Vec3) -> Turn {
    Turn::rotation_between(&Vec3::y(), up)
        .unwrap_or_else(|| Turn::from_axis_angle(&Vec3::z_axis(), std::f32::consts::PI))
}

/// Applies an `f64` transform to an `f32` point.
#[must_use]
pub fn transform_point(transform: &Affine, point: &Point) -> Point {
    (transform * point.cast::<f64>()).cast::<f32>()
}

/// The affine transform with the given linear part and translation.
#[must_use]
pub fn affine(linear: &nalgebra::Matrix3<f64>, translation: &Vec64) -> Affine {
    let mut matrix = nalgebra::Matrix4::identity();
    matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(linear);
    matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(translation);
    Affine::from_matrix_unchecked(matrix)
}

/// The linear (3 × 3) part of an affine transform.
#[must_use]
pub fn linear_part(transform: &Affine) -> nalgebra::Matrix3<f64> {
    transform.matrix().fixed_view::<3, 3>(0, 0).into_owned()
}

/// The cofactor matrix, which is the derivative of the determinant: takes a × b to (M a) × (M b), and normals to normals. It exists for
/// singular matrices, too.
#[must_use]
pub fn cofactor(matrix: &nalgebra::Matrix3<f64>) -> nalgebra::Matrix3<f64> {
    let [a, b, c] = [0, 1, 2].map(|k| matrix.column(k).into_owned());
    nalgebra::Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// The translation of an affine transform, i.e. the image of the origin.
#[must_use]
pub fn origin_of(transform: &Affine) -> Point64 {
    Point64::from(transform.matrix().fixed_view::<3, 1>(0, 3).into_owned())
}
