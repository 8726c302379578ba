//! Curves of morphs that repeat.

use crate::rig::keys::same_time;
use crate::rig::{Interpolation, MorphTrack};

use super::SEAM_PART;

/// The weight at the end becomes that at the start.
pub(super) fn close_morph(track: &mut MorphTrack, end: f64) {
    let curve = &mut track.curve;
    let (Some(&last), true) = (curve.times_secs.last(), curve.times_secs.len() > 1) else {
        return;
    };
    let per_key = if curve.interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    let middle = per_key / 2;
    let count = curve.times_secs.len();
    let missing = curve.values[middle] - curve.values[(count - 1) * per_key + middle];
    let from = end * (1.0 - SEAM_PART);
    for key in 0..count {
        let t = ((curve.times_secs[key] - from) / (last - from).max(1e-9)).clamp(0.0, 1.0);
        curve.values[key * per_key + middle] += missing * t * t * (3.0 - 2.0 * t);
    }
}

/// The weights of several cycles.
pub(super) fn repeated_morph(track: &MorphTrack, end: f64, times: usize) -> MorphTrack {
    let mut repeated = track.clone();
    let per_key = if track.curve.interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    for index in 1..times {
        let start = index as f64 * end;
        let curve = &mut repeated.curve;
        for (key, time) in track.curve.times_secs.iter().enumerate() {
            let time = start + time;
            // The end of a cycle is the start of the next one.
            if curve
                .times_secs
                .last()
                .is_some_and(|last| same_time(*last, time))
            {
                continue;
            }
            curve.times_secs.push(time);
            let values = &track.curve.values[key * per_key..(key + 1) * per_key];
            curve.values.extend_from_slice(values);
        }
    }
    repeated
}
