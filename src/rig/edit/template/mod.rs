//! Whole skeletons that are fitted to a mesh by a few landmarks.

use super::{Placer, Rig};
use crate::math::Point64;

/// Which skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Two arms, two legs.
    Human,
}

/// Why a template can't be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Another number of landmarks.
    #[error("the template needs {needed} landmarks, not {given}")]
    Landmarks {
        /// How many there are.
        needed: usize,
        /// How many were given.
        given: usize,
    },
}

/// The template on a mesh.
///
/// # Errors
/// [`FitError`].
pub fn fitted(_kind: Kind, landmarks: &[Point64], _placer: &Placer, _old: &Rig) -> Result<Rig, FitError> {
    Err(FitError::Landmarks { needed: 0, given: landmarks.len() })
}
