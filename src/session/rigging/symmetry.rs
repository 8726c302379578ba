//! The plane that edits are mirrored about.

use std::sync::Arc;

use crate::rig::edit::{Mirror, Placer, Rig};
use crate::session::Session;

/// The plane between the two sides, and what it was found for.
#[derive(Default)]
pub(super) struct Sides {
    found_for: Option<(Arc<Placer>, Arc<Rig>)>,
    mirror: Option<Mirror>,
}

impl Sides {
    pub(super) fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }
}

impl Session {
    /// Looks for the plane again after the skeleton has changed. Returns whether there is another one.
    pub(in crate::session) fn follow_symmetry(&mut self) -> bool {
        let Some((placer, rig)) = self.placer().cloned().zip(self.rig().cloned()) else {
            return false;
        };
        let sides = &mut self.rigging.sides;
        let known = sides
            .found_for
            .as_ref()
            .is_some_and(|(of, on)| Arc::ptr_eq(of, &placer) && Arc::ptr_eq(on, &rig));
        // A drag keeps the plane that it began with.
        if known || (sides.found_for.is_some() && self.history.is_dragging()) {
            return false;
        }
        let mirror = placer.mirror_of(&rig);
        let changed = mirror != sides.mirror;
        (sides.found_for, sides.mirror) = (Some((placer, rig)), mirror);
        changed
    }
}
