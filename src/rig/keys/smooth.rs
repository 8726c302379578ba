//! Smoothing of keys.

use super::{Ease, Key, KeyRef, KeyedClip, canonical, found};
use crate::rig::Trs;

/// Part of the way to the middle of its neighbours that a key goes.
const PART: f64 = 0.5;

impl KeyedClip {
    /// Moves each key half of the way to the value between its two neighbours, at its time. Only keys between two others of the list in
    /// the same joint move: the first and last of a run stay, as the rest of the clip does. Motion at constant speed is not changed.
    /// Pieces between moved keys become smooth. Returns the number of keys that were moved.
    ///
    /// This is a step of the heat equation on the curve; its second differences decrease. Each call smooths further.
    pub fn smooth_keys(&mut self, which: &[KeyRef]) -> usize {
        let mut count = 0;
        for (joint, keys) in &mut self.tracks {
            let mut chosen = vec![false; keys.len()];
            for at in which.iter().filter(|at| at.joint() == Some(*joint)) {
                if let Ok(index) = found(keys, at.time_secs) {
                    chosen[index] = true;
                }
            }
            let values: Vec<Option<Trs>> = (0..keys.len())
                .map(|index| smoothed(keys, &chosen, index))
                .collect();
            for (index, value) in values.into_iter().enumerate() {
                let Some(value) = value else { continue };
                count += 1;
                keys[index].value = value;
                for piece in [index - 1, index] {
                    if !matches!(keys[piece].ease, Ease::Step) {
                        keys[piece].ease = Ease::Smooth;
                    }
                }
            }
        }
        self.played.take();
        count
    }
}

/// The value to which a key moves, if it moves.
fn smoothed(keys: &[Key], chosen: &[bool], index: usize) -> Option<Trs> {
    let before = index.checked_sub(1)?;
    let run = chosen.get(before..=index + 1)?;
    if !run.iter().all(|chosen| *chosen) {
        return None;
    }
    let [from, key, to] = [before, index, index + 1].map(|index| &keys[index]);
    let t = (key.time_secs - from.time_secs) / (to.time_secs - from.time_secs);
    let between = from.value.lerp(&to.value, t);
    let mut value = key.value.lerp(&between, PART);
    value.rotation = canonical(&value.rotation);
    Some(value)
}
