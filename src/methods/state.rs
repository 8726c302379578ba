//! Saved states of bound methods.

use std::any::Any;
use std::sync::Arc;

use super::MethodId;
use crate::math::{Point, Vec3};

/// The state of a bound method, opaque to its callers. Cheap to clone; empty for methods without a state.
#[derive(Clone, Default)]
pub struct MethodState {
    state: Option<Arc<dyn Any + Send + Sync>>,
    bytes: usize,
}

/// Why a saved state was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It belongs to another method.
    #[error("the saved state belongs to another method")]
    OtherMethod,
    /// It belongs to another character, or to the same one before it was changed.
    #[error("the saved state belongs to another character")]
    OtherCharacter,
}

impl MethodState {
    /// Wraps a method's own type. `bytes`: approximate memory of its vectors.
    #[must_use]
    pub fn of<T: Any + Send + Sync>(state: T, bytes: usize) -> Self {
        Self {
            bytes: bytes + size_of::<T>(),
            state: Some(Arc::new(state)),
        }
    }

    /// Approximate memory, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The method's own type.
    ///
    /// # Errors
    /// [`StateError::OtherMethod`] if it holds something else.
    pub fn get<T: Any>(&self) -> Result<&T, StateError> {
        self.state
            .as_ref()
            .and_then(|state| state.downcast_ref())
            .ok_or(StateError::OtherMethod)
    }

    /// Whether it belongs to a method without a state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.is_none()
    }

    /// Rejects the state of a method that has one.
    pub(super) fn check_empty(&self) -> Result<(), StateError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(StateError::OtherMethod)
        }
    }
}

impl std::fmt::Debug for MethodState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() {
            "MethodState(none)"
        } else {
            "MethodState(…)"
        })
    }
}

/// The state of an [`super::Actor`]: that of its method, with the frame it shows.
#[derive(Debug, Clone)]
pub struct ActorState {
    pub(super) method: MethodId,
    pub(super) state: MethodState,
    pub(super) positions: Arc<[Point]>,
    pub(super) normals: Arc<[Vec3]>,
}

impl ActorState {
    /// The method that it belongs to.
    #[must_use]
    pub fn method(&self) -> MethodId {
        self.method
    }

    /// Approximate memory, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.state.bytes() + size_of_val(&*self.positions) + size_of_val(&*self.normals)
    }

    /// World positions of all source vertices in the frame that was saved.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.positions
    }
}
