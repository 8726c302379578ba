//! Edits of the keys of morphs: removed, moved in time, and interpolated otherwise.

use super::{Ease, KeyRef, KeyedClip, same_time};
use crate::rig::{Curve, Interpolation, MorphTrack};

/// A key with its values: one, or three of a cubic curve (slope before, value, slope after).
type MovedKey = (f64, Vec<f64>);

impl KeyedClip {
    /// Deletes those of the keys that are of morphs.
    pub(super) fn remove_morph_keys(&mut self, which: &[KeyRef]) {
        for track in &mut self.morphs {
            for at in which.iter().filter(|at| at.morph() == Some(track.control)) {
                take(&mut track.curve, at.time_secs);
            }
        }
        self.morphs
            .retain(|track| !track.curve.times_secs.is_empty());
    }

    /// Maps the times of those of the keys that are of morphs; the map stretches by a factor. Unmoved keys at the new times are
    /// replaced.
    pub(super) fn map_morph_times(
        &mut self,
        which: &[KeyRef],
        factor: f64,
        map: impl Fn(f64) -> f64,
    ) {
        for MorphTrack { control, curve } in &mut self.morphs {
            let own = which.iter().filter(|at| at.morph() == Some(*control));
            let moved: Vec<MovedKey> = own.filter_map(|at| take(curve, at.time_secs)).collect();
            let moved: Vec<MovedKey> = moved
                .into_iter()
                .map(|(time_secs, mut values)| {
                    if let [before, _, after] = &mut values[..] {
                        (*before, *after) = (*before / factor, *after / factor);
                    }
                    (map(time_secs), values)
                })
                .collect();
            for (time_secs, _) in &moved {
                take(curve, *time_secs);
            }
            for (time_secs, values) in moved {
                self.duration_secs = self.duration_secs.max(time_secs);
                // Two moved keys at equal times are merged.
                if !curve
                    .times_secs
                    .iter()
                    .any(|known| same_time(*known, time_secs))
                {
                    insert(curve, time_secs, values);
                }
            }
        }
    }

    /// Changes the interpolation of the curves of those of the keys that are of morphs.
    pub(super) fn set_morph_ease(&mut self, which: &[KeyRef], ease: &Ease) {
        for track in &mut self.morphs {
            if !which.iter().any(|at| at.morph() == Some(track.control)) {
                continue;
            }
            let curve = &mut track.curve;
            let values: Vec<f64> = match curve.interpolation {
                Interpolation::Cubic => curve.values.iter().skip(1).step_by(3).copied().collect(),
                _ => curve.values.clone(),
            };
            (curve.interpolation, curve.values) = match ease {
                Ease::Step => (Interpolation::Step, values),
                Ease::Linear => (Interpolation::Linear, values),
                Ease::Smooth | Ease::Free(_) => {
                    let times = &curve.times_secs;
                    let key = |at: usize| {
                        let slope = slope_at(times, &values, at);
                        [slope, values[at], slope]
                    };
                    let smooth = (0..times.len()).flat_map(key).collect();
                    (Interpolation::Cubic, smooth)
                }
            };
        }
    }
}

fn per_key(curve: &Curve<f64>) -> usize {
    match curve.interpolation {
        Interpolation::Cubic => 3,
        _ => 1,
    }
}

/// Takes the key at a time out of a curve.
fn take(curve: &mut Curve<f64>, time_secs: f64) -> Option<MovedKey> {
    let times = &curve.times_secs;
    let index = times
        .iter()
        .position(|known| same_time(*known, time_secs))?;
    let per_key = per_key(curve);
    let values = curve.values.drain(index * per_key..(index + 1) * per_key);
    Some((curve.times_secs.remove(index), values.collect()))
}

fn insert(curve: &mut Curve<f64>, time_secs: f64, values: Vec<f64>) {
    let index = curve.times_secs.partition_point(|known| *known < time_secs);
    let at = index * per_key(curve);
    curve.times_secs.insert(index, time_secs);
    curve.values.splice(at..at, values);
}

/// The slope at a key with which a cubic curve does not go beyond the keys: level at extremes and at the ends, elsewhere the harmonic mean
/// of the slopes beside it (Fritsch and Butland).
fn slope_at(times: &[f64], values: &[f64], at: usize) -> f64 {
    let between = |from: usize| {
        let secs = times.get(from + 1)? - times[from];
        Some((values[from + 1] - values[from]) / secs)
    };
    let (Some(before), Some(after)) = (at.checked_sub(1).and_then(between), between(at)) else {
        return 0.0;
    };
    if before * after <= 0.0 {
        return 0.0;
    }
    2.0 * before * after / (before + after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Keyed;

    fn clip() -> KeyedClip {
        let mut clip = KeyedClip::new("c", 30.0, 1.0);
        for (time, weight) in [(0.0, 0.0), (0.25, 0.2), (0.5, 1.0), (1.0, 0.4)] {
            clip.set_morph_key(3, time, weight);
        }
        clip.set_morph_key(5, 0.5, 0.7);
        clip
    }

    fn at(control: usize, time_secs: f64) -> KeyRef {
        KeyRef::of_morph(control, time_secs)
    }

    fn weight(clip: &KeyedClip, track: usize, time_secs: f64) -> f64 {
        clip.clip().morphs[track].sample(time_secs)
    }

    #[test]
    fn keys_of_morphs_are_found_moved_and_removed() {
        let mut clip = clip();
        assert_eq!(
            clip.keyed().collect::<Vec<_>>(),
            [Keyed::Morph(3), Keyed::Morph(5)]
        );
        assert_eq!(clip.find_key(at(3, 0.5 + 1e-9)), Some(at(3, 0.5)));
        assert_eq!(clip.find_key(at(3, 0.4)), None);
        // Onto another key, which it replaces; and beyond the end.
        clip.move_keys(&[at(3, 0.25)], 0.25);
        assert_eq!(clip.times_of(Keyed::Morph(3)), [0.0, 0.5, 1.0]);
        assert!((weight(&clip, 0, 0.5) - 0.2).abs() < 1e-12);
        clip.move_keys(&[at(3, 1.0), at(5, 0.5)], 0.5);
        assert_eq!(clip.times_of(Keyed::Morph(5)), [0.0, 1.0]);
        assert_eq!(clip.duration_secs(), 1.5);
        clip.scale_keys(&[at(3, 0.5), at(3, 1.5)], 0.0, 2.0);
        assert_eq!(clip.times_of(Keyed::Morph(3)), [0.0, 1.0, 3.0]);
        clip.remove_keys(&[at(5, 0.0), at(5, 1.0), at(3, 1.0), at(9, 0.0)]);
        assert_eq!(clip.keyed().collect::<Vec<_>>(), [Keyed::Morph(3)]);
        assert!((weight(&clip, 0, 1.5) - 0.2).abs() < 1e-12, "straight on");
    }

    #[test]
    fn smooth_curves_of_morphs_stay_between_their_keys() {
        let mut clip = clip();
        let keys = [(0.0, 0.0), (0.25, 0.2), (0.5, 1.0), (1.0, 0.4)];
        clip.set_ease(&[at(3, 0.0)], &Ease::Smooth);
        for pair in keys.windows(2) {
            let ([(from, a), (to, b)], mut last) = ([pair[0], pair[1]], pair[0].1);
            assert!((weight(&clip, 0, from) - a).abs() < 1e-12);
            for step in 1..=20 {
                let now = weight(&clip, 0, from + (to - from) * f64::from(step) / 20.0);
                assert!((now - last) * (b - a) >= -1e-12, "monotone between keys");
                last = now;
            }
        }
        // Stretched, it has the same values at twice the times.
        let before: Vec<f64> = (0..=20)
            .map(|k| weight(&clip, 0, f64::from(k) / 20.0))
            .collect();
        let all: Vec<KeyRef> = keys.iter().map(|(time, _)| at(3, *time)).collect();
        clip.scale_keys(&all, 0.0, 2.0);
        for (k, before) in before.iter().enumerate() {
            assert!((weight(&clip, 0, k as f64 / 10.0) - before).abs() < 1e-9);
        }
        clip.set_ease(&[at(3, 0.0)], &Ease::Step);
        assert_eq!(weight(&clip, 0, 0.99), 0.2);
        clip.set_ease(&[at(3, 0.0)], &Ease::Linear);
        assert!((weight(&clip, 0, 0.25) - 0.1).abs() < 1e-12);
        assert_eq!(clip.morphs()[1].curve.interpolation, Interpolation::Linear);
    }
}
