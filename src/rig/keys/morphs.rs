//! Keys of morphs in a keyed clip: curves as in a [`crate::rig::Clip`], with one value a key.
//!
//! They are set, carried along and reduced here; edits by hand are in [`super::morph_edit`].

use super::{KeyedClip, LONGEST_SECS, same_time};
use crate::rig::{Curve, Interpolation, MorphTrack, Pose, SAME_SECS};

/// Largest deviation of a reduced curve of weights from its samples.
const WEIGHT_TOLERANCE: f64 = 2e-3;

impl KeyedClip {
    /// The curves of morphs.
    #[must_use]
    pub fn morphs(&self) -> &[MorphTrack] {
        &self.morphs
    }

    /// Sets the curves of morphs: at most one for each control, each with keys.
    pub fn set_morphs(&mut self, morphs: Vec<MorphTrack>) {
        self.morphs = morphs;
        self.morphs
            .retain(|track| !track.curve.times_secs.is_empty());
        self.played.take();
    }

    /// Sets one key of a morph. A control without keys also gets one at the start, at rest. Invalid numbers are ignored.
    pub fn set_morph_key(&mut self, control: usize, time_secs: f64, weight: f64) {
        if !weight.is_finite() || !(0.0..=LONGEST_SECS).contains(&time_secs) {
            return;
        }
        let known = self.morphs.iter().position(|t| t.control == control);
        let index = known.unwrap_or_else(|| {
            let start = (time_secs > SAME_SECS).then_some(0.0);
            let curve = Curve::linear(start.into_iter().collect(), start.into_iter().collect());
            self.morphs.push(MorphTrack { control, curve });
            self.morphs.len() - 1
        });
        put(&mut self.morphs[index].curve, time_secs, weight);
        self.duration_secs = self.duration_secs.max(time_secs);
        self.played.take();
    }

    /// Sets keys of all morphs that a pose moves or the clip has keys of.
    pub fn key_morphs(&mut self, pose: &Pose, time_secs: f64) {
        let keyed = self.morphs.iter().map(|track| track.control);
        let moved = pose.morphs.iter().map(|(control, _)| control);
        let controls: std::collections::BTreeSet<usize> = keyed.chain(moved).collect();
        for control in controls {
            self.set_morph_key(control, time_secs, pose.morphs.get(control));
        }
    }

    /// One key per frame for every control that any pose moves.
    pub(super) fn morphs_of_poses(&mut self, poses: &[Pose]) {
        let moved = poses.iter().flat_map(|pose| pose.morphs.iter());
        let controls: std::collections::BTreeSet<usize> =
            moved.map(|(control, _)| control).collect();
        let times: Vec<f64> = (0..poses.len()).map(|f| f as f64 / self.fps).collect();
        let track = |control: usize| MorphTrack {
            control,
            curve: Curve::linear(
                times.clone(),
                poses.iter().map(|pose| pose.morphs.get(control)).collect(),
            ),
        };
        self.morphs = controls.into_iter().map(track).collect();
    }
}

/// Sets a key of a curve; an inserted key of a cubic curve has horizontal tangents.
fn put(curve: &mut Curve<f64>, time_secs: f64, weight: f64) {
    let per_key = if curve.interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    let index = (curve.times_secs).partition_point(|known| *known <= time_secs - SAME_SECS);
    let is_known = (curve.times_secs.get(index)).is_some_and(|known| same_time(*known, time_secs));
    if is_known {
        curve.values[index * per_key + per_key / 2] = weight;
        return;
    }
    curve.times_secs.insert(index, time_secs);
    let at = index * per_key;
    let values = if per_key == 3 {
        vec![0.0, weight, 0.0]
    } else {
        vec![weight]
    };
    curve.values.splice(at..at, values);
}

/// The same curve with fewer keys, if it is linear: a straight line passes every removed key within a tolerance.
pub(super) fn reduced(track: &MorphTrack) -> MorphTrack {
    let curve = &track.curve;
    let (times, values) = (&curve.times_secs, &curve.values);
    if curve.interpolation != Interpolation::Linear || times.len() < 3 {
        return track.clone();
    }
    let mut kept = vec![false; times.len()];
    (kept[0], kept[times.len() - 1]) = (true, true);
    let mut pieces = vec![(0, times.len() - 1)];
    while let Some((from, to)) = pieces.pop() {
        let line = |at: usize| {
            let part = (times[at] - times[from]) / (times[to] - times[from]).max(f64::MIN_POSITIVE);
            values[from] + (values[to] - values[from]) * part
        };
        let off = |at: &usize| (values[*at] - line(*at)).abs();
        let worst = (from + 1..to).max_by(|a, b| off(a).total_cmp(&off(b)));
        if let Some(worst) = worst.filter(|at| off(at) > WEIGHT_TOLERANCE) {
            kept[worst] = true;
            pieces.extend([(from, worst), (worst, to)]);
        }
    }
    let indices = || (0..times.len()).filter(|at| kept[*at]);
    MorphTrack {
        control: track.control,
        curve: Curve::linear(
            indices().map(|at| times[at]).collect(),
            indices().map(|at| values[at]).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn morph_keys_are_set_played_and_reduced() {
        let mut clip = KeyedClip::new("c", 30.0, 1.0);
        clip.set_morph_key(2, 1.0, 0.8);
        clip.set_morph_key(2, 0.5, f64::NAN);
        let at = |clip: &KeyedClip, time: f64| clip.clip().morphs[0].sample(time);
        assert!(
            (at(&clip, 0.5) - 0.4).abs() < 1e-12,
            "from rest at the start"
        );
        clip.set_morph_key(2, 0.5, 0.1);
        clip.set_morph_key(2, 0.5, 0.2);
        assert_eq!(clip.morphs()[0].curve.times_secs, [0.0, 0.5, 1.0]);
        assert!((at(&clip, 0.75) - 0.5).abs() < 1e-12);
        let pose = |weight: f64| {
            let mut pose = Pose::default();
            pose.morphs.set(0, weight);
            pose
        };
        let poses: Vec<Pose> = (0..31)
            .map(|f| pose(f64::from(f).min(20.0) * 0.05))
            .collect();
        let mut dense = KeyedClip::new("d", 30.0, 1.0);
        dense.morphs_of_poses(&poses);
        let few = reduced(&dense.morphs()[0]);
        assert_eq!(few.curve.times_secs.len(), 3);
        for (frame, pose) in poses.iter().enumerate() {
            let off = few.sample(frame as f64 / 30.0) - pose.morphs.get(0);
            assert!(off.abs() < WEIGHT_TOLERANCE, "frame {frame}");
        }
    }
}
