//! The rig that was distilled from a character.

use std::sync::{Arc, PoisonError, RwLock};

use super::Subject;
use crate::character::HelperRig;

/// Shared by all subjects of one character on one skeleton, whatever their weights, flesh and clips are.
pub(super) type HelperCell = Arc<RwLock<Option<Arc<HelperRig>>>>;

impl Subject {
    /// The latest rig that was distilled from this character.
    #[must_use]
    pub fn helper_rig(&self) -> Option<Arc<HelperRig>> {
        let cell = self.helper_rig.read();
        cell.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the rig that was distilled from this character; methods bound to an earlier one keep it.
    pub fn set_helper_rig(&self, rig: Arc<HelperRig>) {
        let cell = self.helper_rig.write();
        *cell.unwrap_or_else(PoisonError::into_inner) = Some(rig);
    }
}
