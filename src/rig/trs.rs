//! Translation, rotation, scale.

use crate::math::{Affine, Quat, Vec64, affine, linear_part, origin_of};

/// A transform in the convention of glTF nodes and animation tracks: scale first, then rotation,
/// then translation.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Trs {
    /// Translation, in the parent's units.
    pub translation: Vec64,
    /// Rotation.
    pub rotation: Quat,
    /// Scale along the local axes.
    pub scale: Vec64,
}

impl Default for Trs {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Trs {
    /// The identity transform.
    pub const IDENTITY: Self = Self {
        translation: Vec64::new(0.0, 0.0, 0.0),
        rotation: Quat::new_unchecked(nalgebra::Quaternion::new(1.0, 0.0, 0.0, 0.0)),
        scale: Vec64::new(1.0, 1.0, 1.0),
    };

    /// A pure translation.
    #[must_use]
    pub fn at(translation: Vec64) -> Self {
        Self {
            translation,
            ..Self::IDENTITY
        }
    }

    /// Whether all numbers are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let Self {
            translation,
            rotation,
            scale,
        } = self;
        translation
            .iter()
            .chain(rotation.coords.iter())
            .chain(scale.iter())
            .all(|number| number.is_finite())
    }

    /// The transform as a matrix.
    #[must_use]
    pub fn to_affine(&self) -> Affine {
        let linear = self.rotation.to_rotation_matrix().into_inner()
            * nalgebra::Matrix3::from_diagonal(&self.scale);
        affine(&linear, &self.translation)
    }

    /// Decomposes a matrix; shear, which a `Trs` cannot represent, is dropped. A mirroring matrix
    /// gets a negative x scale.
    #[must_use]
    pub fn from_affine(transform: &Affine) -> Self {
        Self::decompose(transform, |_| Quat::identity())
    }

    /// As [`Trs::from_affine`], the same up to rounding; much faster where there is no shear.
    #[must_use]
    pub(crate) fn from_unsheared(transform: &Affine) -> Self {
        Self::decompose(transform, |matrix| {
            let apart = (matrix.transpose() * matrix - nalgebra::Matrix3::identity()).amax();
            // False for NaN.
            if apart < 1e-6 {
                let rotation = nalgebra::Rotation3::from_matrix_unchecked(*matrix);
                Quat::new_normalize(Quat::from_rotation_matrix(&rotation).into_inner())
            } else {
                Quat::identity()
            }
        })
    }

    /// `guess` returns where the search for the closest rotation begins.
    fn decompose(transform: &Affine, guess: impl Fn(&nalgebra::Matrix3<f64>) -> Quat) -> Self {
        let linear = linear_part(transform);
        let mut scale = Vec64::new(
            linear.column(0).norm(),
            linear.column(1).norm(),
            linear.column(2).norm(),
        );
        if linear.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        let mut rotation = linear;
        for axis in 0..3 {
            let length = if scale[axis].abs() > 1e-300 {
                scale[axis]
            } else {
                1.0
            };
            rotation.column_mut(axis).unscale_mut(length);
        }
        Self {
            translation: origin_of(transform).coords,
            rotation: Quat::from_matrix_eps(&rotation, 1e-12, 50, guess(&rotation)),
            scale,
        }
    }

    /// Interpolates from `self` (0) to `other` (1): linearly, rotations spherically along the
    /// shorter arc.
    #[must_use]
    pub fn lerp(&self, other: &Self, t: f64) -> Self {
        Self {
            translation: self.translation.lerp(&other.translation, t),
            rotation: slerp(&self.rotation, &other.rotation, t),
            scale: self.scale.lerp(&other.scale, t),
        }
    }
}

/// Spherical interpolation along the shorter arc, defined for all inputs.
#[must_use]
pub(crate) fn slerp(from: &Quat, to: &Quat, t: f64) -> Quat {
    let to = if from.coords.dot(&to.coords) < 0.0 {
        Quat::new_unchecked(-to.into_inner())
    } else {
        *to
    };
    from.try_slerp(&to, t, 1e-9)
        .unwrap_or_else(|| Quat::new_normalize(from.lerp(&to, t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_decomposition_round_trips() {
        let trs = Trs {
            translation: Vec64::new(1.0, -2.0, 3.0),
            rotation: Quat::from_euler_angles(0.4, -1.2, 2.9),
            scale: Vec64::new(2.0, 0.5, 3.0),
        };
        let back = Trs::from_affine(&trs.to_affine());
        assert!((back.to_affine().matrix() - trs.to_affine().matrix()).norm() < 1e-9);
    }

    #[test]
    fn both_decompositions_are_the_same() {
        let turned = |angle: f64| Trs {
            translation: Vec64::new(1.0, -2.0, 3.0),
            rotation: Quat::from_scaled_axis(Vec64::new(0.6, -0.48, 0.64) * angle),
            scale: Vec64::new(2.0, 0.5, -3.0),
        };
        let unsheared = (0..16).map(|k| turned(0.2 * f64::from(k)).to_affine());
        let sheared = nalgebra::Matrix3::new(1.0, 0.3, 0.0, 0.0, 0.9, -0.2, 0.1, 0.0, 1.1);
        let flat = nalgebra::Matrix3::from_diagonal(&Vec64::new(1.0, 0.0, 1.0));
        let others = [sheared, flat, nalgebra::Matrix3::zeros()];
        let others = others.map(|linear| affine(&linear, &Vec64::zeros()));
        for transform in unsheared.chain(others) {
            let (a, b) = (
                Trs::from_affine(&transform),
                Trs::from_unsheared(&transform),
            );
            assert!((a.scale - b.scale).norm() < 1e-12);
            assert!(a.rotation.angle_to(&b.rotation) < 1e-9, "{a:?} {b:?}");
        }
    }
}
