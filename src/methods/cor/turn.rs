//! The linear part of a joint's motion as a rotation after a stretch.

use nalgebra::{Matrix3, Quaternion};

use crate::math::{Affine, SplitTransform, Vec3};

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

    /// Splits the linear part of a transform.
    pub(super) fn of(transform: &Affine) -> Self {
        let split = SplitTransform::of(transform);
        Self {
            rotation: split.real,
            stretch: split.stretch,
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
