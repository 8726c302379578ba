//! The mirror plane of symmetric editing.

use std::sync::Arc;

use crate::rig::edit::{Mirror, Placer, Rig};

/// The mirror plane, and its inputs.
#[derive(Default)]
pub(super) struct Sides {
    found_for: Option<(Arc<Placer>, Arc<Rig>)>,
    mirror: Option<Mirror>,
}

impl Sides {
    pub(super) fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    /// Computes the plane again after the skeleton has changed; during a drag it is kept. Returns whether it
    /// changed.
    pub(super) fn follow(&mut self, placer: &Arc<Placer>, rig: &Arc<Rig>, dragging: bool) -> bool {
        let known = self
            .found_for
            .as_ref()
            .is_some_and(|(of, on)| Arc::ptr_eq(of, placer) && Arc::ptr_eq(on, rig));
        if known || (self.found_for.is_some() && dragging) {
            return false;
        }
        let mirror = placer.mirror_of(rig);
        let changed = mirror != self.mirror;
        (self.found_for, self.mirror) = (Some((placer.clone(), rig.clone())), mirror);
        changed
    }
}
