//! Changes of the curves of a take: numbers and slopes of keys, smoothing, cycles.

use std::sync::Arc;

use super::CurveEdit;
use crate::rig::{JointAxes, KeyedClip};
use crate::session::Level;
use crate::session::editing::{EditContext, Editor};

impl Editor {
    /// Changes curves of a take; during a drag from the take at its start.
    pub(super) fn edit_curves(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        edit: &CurveEdit,
        from: Option<Arc<KeyedClip>>,
    ) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let (skeleton, size) = (&subject.character.skeleton, f64::from(subject.size));
        let up = nalgebra::Unit::new_normalize(subject.up_axis().direction().cast::<f64>());
        let known = |joint: usize| joint < skeleton.len();
        let mut smoothed = None;
        self.edit_take_from(with, clip, from, |take| match edit {
            CurveEdit::Shift { keys, number, by } => {
                let keys: Vec<_> = keys
                    .iter()
                    .copied()
                    .filter(|key| key.joint().is_some_and(known))
                    .collect();
                take.shift_number(&keys, |joint| JointAxes::of(skeleton, joint), *number, *by);
            }
            CurveEdit::Rate {
                key,
                number,
                side,
                rate,
            } => {
                if let Some(joint) = key.joint().filter(|joint| known(*joint)) {
                    take.set_rate(*key, JointAxes::of(skeleton, joint), *number, *side, *rate);
                }
            }
            CurveEdit::Flatten(keys) => take.flatten(keys),
            CurveEdit::Smooth(keys) => smoothed = Some(take.smooth_keys(keys)),
            CurveEdit::CloseLoop(travel) => take.close_loop(skeleton, up, size, *travel),
            CurveEdit::Repeat { times } => *take = take.repeated(skeleton, up, size, *times),
        });
        self.refresh(with.channels);
        if smoothed == Some(0) {
            with.add_message(
                Level::Info,
                "Keys are smoothed between their neighbours: select three or more in a row of a joint.",
            );
        }
    }
}
