//! Rules of a take for its feet: planted intervals, and soles above the ground.

use std::sync::Arc;

use crate::rig::{FeetRules, KeyedClip};
use crate::session::Level;
use crate::session::editing::{EditContext, Editor};

impl Editor {
    /// Changes the rules of a take; during a drag from the take at its start.
    pub(super) fn set_feet(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        rules: &FeetRules,
        from: Option<Arc<KeyedClip>>,
    ) {
        let count = self.document.pose.locals.len();
        let rules = rules.on(|joint| (joint < count).then_some(joint));
        let stance = self.stance();
        self.edit_take_from(with, clip, from, |take| take.set_feet(rules, stance));
        self.refresh(with.channels);
    }

    /// Plants the feet of a take wherever they stand nearly still.
    pub(super) fn plant_standing(&mut self, with: &mut EditContext<'_>, clip: usize) {
        let clips = self.document.clips();
        let Some(take) = clips.take(clip).cloned() else {
            // Says why a clip of a file can't be changed.
            return self.edit_take_from(with, clip, None, |_| {});
        };
        let Some(stance) = self.stance() else {
            return with.add_message(Level::Info, NO_FEET);
        };
        let mut free = (*take).clone();
        free.set_feet(FeetRules::default(), None);
        let stands = stance.standing_feet(free.clip());
        if stands.is_empty() {
            return with.add_message(
                Level::Info,
                "No foot stands still in this clip, so none was planted. To plant one, move the playhead to where it shall stand and use the menu of its row.",
            );
        }
        let known = take.feet().plants().iter().copied();
        let rules = FeetRules::new(known.chain(stands), take.feet().above_ground);
        self.set_feet(with, clip, &rules, None);
    }
}

pub(in crate::session::editing) const NO_FEET: &str =
    "This skeleton has no limbs of two bones that end in a foot, so no foot can stand.";
