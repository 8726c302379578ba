//! The linear part of a joint's motion as a rotation after a stretch.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

use crate::math::{Affine, SplitTransform, Vec3, linear_part};

/// A stretch that differs from none by no more than this is none: so much is rounding.
const NO_STRETCH: f64 = 1e-6;

/// How far `MᵀM` may be from the identity, up to a factor, for two steps of Newton's method to find the rotation to 1e-13.
const NEARLY_RIGID: f64 = 1e-3;

/// A rotation after a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    /// Of length 1.
    pub(super) rotation: Quaternion<f32>,
    /// Symmetric.
    pub(super) stretch: Matrix3<f32>,
}

impl Turn {
    pub(super) fn identity() -> Self {
        Self {
            rotation: Quaternion::identity(),
            stretch: Matrix3::identity(),
        }
    }

    /// Splits the linear part of a transform, as [`SplitTransform::of`] does; much faster where it is nearly a rotation and a uniform
    /// scale.
    pub(super) fn of(transform: &Affine) -> Self {
        let linear = linear_part(transform);
        let Some(rotation) = nearest_rotation(&linear) else {
            let split = SplitTransform::of(transform);
            return Self {
                rotation: split.real,
                stretch: split.stretch,
            };
        };
        let mut stretch = rotation.transpose() * linear;
        if (stretch - Matrix3::identity()).amax() <= NO_STRETCH {
            stretch = Matrix3::identity();
        }
        let rotation = Rotation3::from_matrix_unchecked(rotation);
        let quaternion = UnitQuaternion::from_rotation_matrix(&rotation).into_inner();
        Self {
            rotation: quaternion.cast::<f32>(),
            stretch: stretch.cast::<f32>(),
        }
    }

    /// Whether there is no stretch.
    pub(super) fn is_rigid(&self) -> bool {
        self.stretch == Matrix3::identity()
    }

    /// Blends by weights that sum to 1, the first of them with the largest. Quaternions take the sign that is closer to the first, so
    /// that the sum is at least as long as the first's share. `is_rigid` says that no stretch needs to be blended.
    pub(super) fn blend<'a>(
        weighted: impl IntoIterator<Item = (&'a Self, f32)>,
        is_rigid: bool,
    ) -> Self {
        let mut weighted = weighted.into_iter();
        let Some((first, weight)) = weighted.next() else {
            return Self::identity();
        };
        let mut sum = first.rotation.coords * weight;
        let mut stretch = if is_rigid {
            Matrix3::identity()
        } else {
            first.stretch * weight
        };
        for (turn, weight) in weighted {
            sum += turn.rotation.coords * (weight * first.sign_of(turn));
            if !is_rigid {
                stretch += turn.stretch * weight;
            }
        }
        let rotation = Quaternion::from(sum / sum.norm());
        Self { rotation, stretch }
    }

    /// −1 if the negated quaternion of `other` is closer to this, else 1.
    pub(super) fn sign_of(&self, other: &Self) -> f32 {
        if other.rotation.coords.dot(&self.rotation.coords) < 0.0 {
            -1.0
        } else {
            1.0
        }
    }

    /// The image of a vector.
    pub(super) fn apply(&self, vector: &Vec3, is_rigid: bool) -> Vec3 {
        if is_rigid {
            self.rotate(vector)
        } else {
            self.rotate(&(self.stretch * vector))
        }
    }

    /// The rotated vector.
    pub(super) fn rotate(&self, vector: &Vec3) -> Vec3 {
        let axis: Vec3 = self.rotation.imag();
        let twice = axis.cross(vector) * 2.0;
        vector + twice * self.rotation.w + axis.cross(&twice)
    }
}

/// The rotation of a matrix that is nearly a rotation and a uniform scale.
fn nearest_rotation(linear: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let determinant = linear.determinant();
    if !(determinant.is_finite() && determinant > 0.0) {
        return None;
    }
    let mut rotation = linear / determinant.cbrt();
    let apart = (rotation.transpose() * rotation - Matrix3::identity()).amax();
    if apart.is_nan() || apart > NEARLY_RIGID {
        return None;
    }
    for _ in 0..2 {
        rotation = rotation * (Matrix3::identity() * 3.0 - rotation.transpose() * rotation) * 0.5;
    }
    Some(rotation)
}
