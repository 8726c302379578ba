//! Dual quaternions of joint transforms, and their blends.
//!
//! Kavan, Collins, Žára, O'Sullivan, "Geometric Skinning with Approximate Dual Quaternion Blending", TOG 2008, algorithm 1, with
//! its two-phase extension for scale and shear: every joint matrix M = R S splits into a rotation and a symmetric stretch; the
//! stretches are blended linearly and applied first, the rigid parts are blended as dual quaternions.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

use super::{Affine, Point, Quat, Vec3, linear_part, origin_of};

/// A stretch that differs from none by no more than this is none: so much is rounding.
const NO_STRETCH: f64 = 1e-6;

/// How far `MᵀM` may be from the identity, up to a factor, for two steps of Newton's method to find the rotation to 1e-13.
const NEARLY_RIGID: f64 = 1e-3;

/// A rotation followed by a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidMotion {
    /// The rotation about the origin.
    pub rotation: UnitQuaternion<f32>,
    /// The image of the origin.
    pub translation: Vec3,
}

impl RigidMotion {
    /// The motion that moves nothing.
    #[must_use]
    pub fn identity() -> Self {
        Self {
            rotation: UnitQuaternion::identity(),
            translation: Vec3::zeros(),
        }
    }

    /// The image of a point.
    #[must_use]
    #[inline]
    pub fn apply(&self, point: &Point) -> Point {
        let (point, axis): (Vec3, Vec3) = (point.coords, self.rotation.imag());
        let turned = axis.cross(&(axis.cross(&point) + point * self.rotation.w)) * 2.0;
        Point::from(point + turned + self.translation)
    }

    /// The point whose image is `point`.
    #[must_use]
    #[inline]
    pub fn apply_inverse(&self, point: &Point) -> Point {
        Point::from(self.rotation.inverse() * (point.coords - self.translation))
    }
}

/// A transform as a rigid motion after a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitTransform {
    /// Rotation, of length 1.
    pub real: Quaternion<f32>,
    /// Half the translation times the rotation.
    pub dual: Quaternion<f32>,
    /// Symmetric.
    pub stretch: Matrix3<f32>,
}

impl SplitTransform {
    /// The transform that moves nothing.
    #[must_use]
    pub fn identity() -> Self {
        Self {
            real: Quaternion::identity(),
            dual: Quaternion::new(0.0, 0.0, 0.0, 0.0),
            stretch: Matrix3::identity(),
        }
    }

    /// Splits an affine transform.
    #[must_use]
    pub fn of(transform: &Affine) -> Self {
        let (rotation, mut stretch) = polar(&linear_part(transform));
        if (stretch - Matrix3::identity()).amax() <= NO_STRETCH {
            stretch = Matrix3::identity();
        }
        let real = rotation.into_inner();
        let t = origin_of(transform);
        let dual = Quaternion::new(0.0, t.x, t.y, t.z) * real * 0.5;
        Self {
            real: real.cast::<f32>(),
            dual: dual.cast::<f32>(),
            stretch: stretch.cast::<f32>(),
        }
    }

    /// Blends transforms by weights that sum to 1, the first of them with the largest; `None` if there is none, or if their rotations
    /// cancel each other.
    #[must_use]
    pub fn blend<'a>(weighted: impl IntoIterator<Item = (&'a Self, f32)>) -> Option<Self> {
        let mut weighted = weighted.into_iter();
        let first = weighted.next()?;
        let pivot = first.0.real;
        let (mut real, mut dual) = (
            Quaternion::new(0.0, 0.0, 0.0, 0.0),
            Quaternion::new(0.0, 0.0, 0.0, 0.0),
        );
        let mut stretch = Matrix3::zeros();
        for (split, weight) in std::iter::once(first).chain(weighted) {
            // q and −q are the same rotation: blend along the shorter way.
            let signed = if split.real.coords.dot(&pivot.coords) < 0.0 {
                -weight
            } else {
                weight
            };
            real.coords += split.real.coords * signed;
            dual.coords += split.dual.coords * signed;
            stretch += split.stretch * weight;
        }
        let norm = real.norm();
        (norm >= 1e-6).then(|| Self {
            real: real / norm,
            dual: dual / norm,
            stretch,
        })
    }

    /// As [`SplitTransform::blend`], of transforms that do not stretch.
    #[must_use]
    #[inline]
    pub fn blend_rigid<'a>(weighted: impl IntoIterator<Item = (&'a Self, f32)>) -> Option<Self> {
        let mut weighted = weighted.into_iter();
        let first = weighted.next()?;
        let pivot = first.0.real.coords;
        let mut real = pivot * first.1;
        let mut dual = first.0.dual.coords * first.1;
        for (split, weight) in weighted {
            let own = split.real.coords;
            let signed = if own.dot(&pivot) < 0.0 {
                -weight
            } else {
                weight
            };
            real += own * signed;
            dual += split.dual.coords * signed;
        }
        let norm = real.norm();
        (norm >= 1e-6).then(|| Self {
            real: Quaternion::from(real / norm),
            dual: Quaternion::from(dual / norm),
            stretch: Matrix3::identity(),
        })
    }

    /// Whether it is a rigid motion.
    #[must_use]
    #[inline]
    pub fn is_rigid(&self) -> bool {
        self.stretch == Matrix3::identity()
    }

    /// The image of a point.
    #[must_use]
    #[inline]
    pub fn apply(&self, point: &Point) -> Point {
        self.apply_rigid(&Point::from(self.stretch * point.coords))
    }

    /// The image of a point under the rigid motion, without the stretch.
    #[must_use]
    #[inline]
    pub fn apply_rigid(&self, point: &Point) -> Point {
        self.motion().apply(point)
    }

    /// The rigid motion, without the stretch.
    #[must_use]
    #[inline]
    pub fn motion(&self) -> RigidMotion {
        let (r, d): (Vec3, Vec3) = (self.real.imag(), self.dual.imag());
        RigidMotion {
            rotation: UnitQuaternion::new_unchecked(self.real),
            translation: (d * self.real.w - r * self.dual.w + r.cross(&d)) * 2.0,
        }
    }
}

/// M = R S with R a rotation and S symmetric: the polar decomposition, with −1 in both where M reflects. Reflecting along one axis
/// instead would let R be closer to M, but where M stretches alike in all directions, that axis is a matter of rounding: it jumps from
/// joint to joint and from frame to frame. So a mirrored character moves as the mirror image of the character.
fn polar(matrix: &Matrix3<f64>) -> (Quat, Matrix3<f64>) {
    let Some(rotation) = nearest_rotation(matrix).or_else(|| rotation_by_svd(matrix)) else {
        return (Quat::identity(), *matrix);
    };
    let quat = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
    (quat, rotation.transpose() * matrix)
}

/// The rotation of a matrix by its singular values; of one that mirrors, the negated orthogonal factor.
fn rotation_by_svd(matrix: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let svd = matrix.svd(true, true);
    let orthogonal = svd.u? * svd.v_t?;
    Some(orthogonal * orthogonal.determinant().signum())
}

/// The rotation of a matrix that is nearly a rotation and a uniform scale, as most joints are: much faster than by singular values.
fn nearest_rotation(matrix: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let determinant = matrix.determinant();
    if !(determinant.is_finite() && determinant > 0.0) {
        return None;
    }
    let mut rotation = matrix / determinant.cbrt();
    let apart = (rotation.transpose() * rotation - Matrix3::identity()).amax();
    if apart.is_nan() || apart > NEARLY_RIGID {
        return None;
    }
    for _ in 0..2 {
        rotation = rotation * (Matrix3::identity() * 3.0 - rotation.transpose() * rotation) * 0.5;
    }
    Some(rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::affine;

    fn turned(angle: f64, shift: [f64; 3]) -> SplitTransform {
        let rotation = Quat::from_scaled_axis(nalgebra::Vector3::new(0.3, 1.0, -0.2) * angle);
        let linear = rotation.to_rotation_matrix().into_inner()
            * Matrix3::new(1.2, 0.1, 0.0, 0.1, 0.9, 0.0, 0.0, 0.0, 1.1);
        SplitTransform::of(&affine(&linear, &shift.into()))
    }

    #[test]
    fn a_blend_of_equal_transforms_is_that_transform() {
        let a = turned(2.5, [1.0, 2.0, 3.0]);
        let flipped = SplitTransform {
            real: -a.real,
            dual: -a.dual,
            ..a
        };
        let blend = SplitTransform::blend([(&a, 0.6), (&flipped, 0.4)]).expect("they agree");
        let point = Point::new(0.3, -0.8, 1.7);
        assert!((blend.apply(&point) - a.apply(&point)).norm() < 1e-5);
        assert_eq!(SplitTransform::blend([]), None);
    }
}
