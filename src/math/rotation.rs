//! The rotation closest to a matrix.

use nalgebra::Matrix3;

/// The rotation R (det R = +1) that minimises ‖F − R‖, by singular values with the reflection fix:
/// exact also for inverted and flat matrices. The identity if F is not finite.
#[must_use]
pub fn closest_rotation(f: &Matrix3<f64>) -> Matrix3<f64> {
    if !f.iter().all(|c| c.is_finite()) {
        return Matrix3::identity();
    }
    let svd = f.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Matrix3::identity();
    };
    let mut sign = Matrix3::identity();
    // Singular values are sorted: the last one is the smallest.
    sign[(2, 2)] = if (u * v_t).determinant() < 0.0 {
        -1.0
    } else {
        1.0
    };
    u * sign * v_t
}
