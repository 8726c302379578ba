//! Edits of a keyed clip.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Ease, Key, KeyRef, KeyedClip, LONGEST_SECS, canonical, found, is_sound, same_time, split_before,
};
use crate::rig::{FeetRules, Stance, Trs};

impl KeyedClip {
    /// Renames it.
    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
        self.played.take();
    }

    /// Changes the duration, not the keys. An invalid duration is ignored.
    pub fn set_duration(&mut self, duration_secs: f64) {
        if duration_secs.is_finite() {
            self.duration_secs = duration_secs.clamp(1.0 / self.fps, LONGEST_SECS);
            self.played.take();
        }
    }

    /// Changes what holds for the feet. Without a body ([`Stance`]) the rules are stored and have no effect.
    pub fn set_feet(&mut self, rules: FeetRules, stance: Option<Arc<Stance>>) {
        self.feet = rules;
        self.stance = stance.filter(|_| !self.feet.is_empty());
        self.played.take();
    }

    /// Sets one key of a joint. An existing key gets the new value and keeps its interpolation; a new one
    /// takes that of the piece it divides. The clip is extended to contain the key. Non-finite
    /// values, times outside the maximum duration, and keys of morphs are ignored.
    pub fn set_key(&mut self, at: KeyRef, value: Trs) {
        let (Some(joint), time_secs) = (at.joint(), at.time_secs) else {
            return;
        };
        if !is_sound(&value) || !(0.0..=LONGEST_SECS).contains(&time_secs) {
            return;
        }
        let value = Trs {
            rotation: canonical(&value.rotation),
            ..value
        };
        let keys = self.tracks.entry(joint).or_default();
        match found(keys, time_secs) {
            Ok(index) => keys[index].value = value,
            Err(index) => {
                if index < keys.len() {
                    split_before(keys, index);
                }
                let near = keys.get(index.saturating_sub(1));
                let ease = near.map(|near| near.ease.split()).unwrap_or_default();
                keys.insert(
                    index,
                    Key {
                        time_secs,
                        value,
                        ease,
                    },
                );
            }
        }
        self.duration_secs = self.duration_secs.max(time_secs);
        self.played.take();
    }

    /// Inserts a key with its interpolation. Keys with explicit slopes keep them if they are
    /// inserted in ascending order.
    pub fn put(&mut self, joint: usize, key: Key) {
        let at = KeyRef::of_joint(joint, key.time_secs);
        let ease = key.ease;
        self.set_key(at, key.value);
        if let Some(known) = self.key_mut(at) {
            known.ease = ease;
        }
    }

    /// Deletes keys.
    pub fn remove_keys(&mut self, which: &[KeyRef]) {
        self.remove_morph_keys(which);
        for key in which {
            let joint = key.joint();
            let Some(keys) = joint.and_then(|joint| self.tracks.get_mut(&joint)) else {
                continue;
            };
            let Ok(index) = found(keys, key.time_secs) else {
                continue;
            };
            keys.remove(index);
            split_before(keys, index);
        }
        self.tracks.retain(|_, keys| !keys.is_empty());
        self.played.take();
    }

    /// Moves keys in time, together; times are not moved before the start. Unmoved keys at the new
    /// times are replaced.
    pub fn move_keys(&mut self, which: &[KeyRef], by_secs: f64) {
        let first = which
            .iter()
            .map(|key| key.time_secs)
            .fold(f64::INFINITY, f64::min);
        let last = which.iter().map(|key| key.time_secs).fold(0.0, f64::max);
        if by_secs.is_finite() && first.is_finite() {
            let by_secs = by_secs.clamp(-first, (LONGEST_SECS - last).max(0.0));
            self.map_times(which, 1.0, |time| time + by_secs);
        }
    }

    /// Scales key times relative to a time by a positive factor.
    pub fn scale_keys(&mut self, which: &[KeyRef], pivot_secs: f64, factor: f64) {
        if pivot_secs.is_finite() && factor.is_finite() && factor > 0.0 {
            self.map_times(which, factor, |time| {
                (pivot_secs + (time - pivot_secs) * factor).clamp(0.0, LONGEST_SECS)
            });
        }
    }

    fn map_times(&mut self, which: &[KeyRef], factor: f64, map: impl Fn(f64) -> f64) {
        self.map_morph_times(which, factor, &map);
        let before: BTreeMap<usize, usize> = self
            .tracks
            .iter()
            .map(|(joint, keys)| (*joint, keys.len()))
            .collect();
        let mut moved: Vec<(usize, Key)> = Vec::new();
        for at in which {
            let Some(joint) = at.joint() else { continue };
            let Some(keys) = self.tracks.get_mut(&joint) else {
                continue;
            };
            let Ok(index) = found(keys, at.time_secs) else {
                continue;
            };
            moved.push((joint, keys.remove(index)));
            split_before(keys, index);
        }
        for (joint, key) in &mut moved {
            key.time_secs = map(key.time_secs);
            let keys = self.tracks.entry(*joint).or_default();
            // Slopes belong to the interval between keys: they are kept where all keys move
            // together.
            let together = keys.is_empty() && before.get(joint).is_some_and(|count| *count > 1);
            key.ease = if together {
                key.ease.stretched(factor)
            } else {
                key.ease.split()
            };
            keys.retain(|known| !same_time(known.time_secs, key.time_secs));
        }
        for (joint, key) in moved {
            self.duration_secs = self.duration_secs.max(key.time_secs);
            let keys = self.tracks.entry(joint).or_default();
            // Two moved keys at equal times are merged.
            if let Err(index) = found(keys, key.time_secs) {
                keys.insert(index, key);
            }
        }
        self.tracks.retain(|_, keys| !keys.is_empty());
        self.played.take();
    }

    /// Changes the interpolation of keys of joints; a curve of a morph has one interpolation for all its keys, which becomes that of
    /// the last one given, smooth ones level at the keys.
    pub fn set_ease(&mut self, which: &[KeyRef], ease: &Ease) {
        self.set_morph_ease(which, ease);
        for at in which {
            if let Some(key) = self.key_mut(*at) {
                key.ease = ease.clone();
            }
        }
        self.played.take();
    }

    fn key_mut(&mut self, at: KeyRef) -> Option<&mut Key> {
        self.played.take();
        let keys = self.tracks.get_mut(&at.joint()?)?;
        let index = found(keys, at.time_secs).ok()?;
        keys.get_mut(index)
    }
}
