//! Weights of morphs in a project: in poses and takes, by [`crate::character::MorphControl::id`]. They are written and restored
//! beside the joints, by the character, which knows the names.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::file::ProjectFile;
use super::restore::Restored;
use crate::character::Character;
use crate::rig::{Curve, Interpolation, LONGEST_SECS, MorphKeysFile, MorphTrack, MorphWeights};
use crate::session::{Document, ViewId};

/// Writes the morphs of a document into its project file, whose poses and takes are those of the document, in order.
pub(super) fn write(document: &Document, file: &mut ProjectFile) {
    let Some(subject) = &document.subject else {
        return;
    };
    let character = &subject.character;
    if character.morph_control_count() == 0 {
        return;
    }
    file.morphs = character.morphs_by_id(&document.pose.morphs);
    for view in file.views.iter_mut().filter(|view| view.pose.is_some()) {
        if let Some(pose) = document.free_poses.get(&ViewId(view.id)) {
            view.morphs = character.morphs_by_id(&pose.morphs);
        }
    }
    for (written, pose) in file.poses.iter_mut().zip(&document.pose_library) {
        written.morphs = character.morphs_by_id(&pose.pose.morphs);
    }
    let ids: Vec<(String, f64)> = character
        .morph_controls()
        .map(|control| (control.id(), control.rest_weight))
        .collect();
    for (written, take) in file.takes.iter_mut().zip(&document.takes) {
        let tracks = take.morphs().iter();
        let named = tracks.filter_map(|track| {
            let (id, rest) = ids.get(track.control)?;
            Some((id.clone(), keys_of(&track.curve, *rest)))
        });
        written.morphs = named.collect();
    }
}

fn keys_of(curve: &Curve<f64>, rest: f64) -> MorphKeysFile {
    let cubic = curve.interpolation == Interpolation::Cubic;
    let absolute = |(index, value): (usize, &f64)| {
        let is_value = !cubic || index % 3 == 1;
        if is_value { value + rest } else { *value }
    };
    MorphKeysFile {
        times: curve.times_secs.clone(),
        values: curve.values.iter().enumerate().map(absolute).collect(),
        interpolation: match curve.interpolation {
            Interpolation::Step => "step",
            Interpolation::Linear => "linear",
            Interpolation::Cubic => "cubic",
        }
        .to_owned(),
    }
}

/// The curve of stored keys, relative to rest; `None` if they are invalid.
fn curve_of(keys: &MorphKeysFile, rest: f64) -> Option<Curve<f64>> {
    let interpolation = match keys.interpolation.as_str() {
        "step" => Interpolation::Step,
        "linear" => Interpolation::Linear,
        "cubic" => Interpolation::Cubic,
        _ => return None,
    };
    let cubic = interpolation == Interpolation::Cubic;
    let per_key = if cubic { 3 } else { 1 };
    let sound = !keys.times.is_empty()
        && keys.values.len() == per_key * keys.times.len()
        && keys
            .times
            .iter()
            .all(|time| (0.0..=LONGEST_SECS).contains(time))
        && keys.times.windows(2).all(|pair| pair[0] <= pair[1])
        && keys.values.iter().all(|value| value.is_finite());
    let relative = |(index, value): (usize, &f64)| {
        let is_value = !cubic || index % 3 == 1;
        if is_value { value - rest } else { *value }
    };
    sound.then(|| Curve {
        times_secs: keys.times.clone(),
        values: keys.values.iter().enumerate().map(relative).collect(),
        interpolation,
    })
}

/// Controls by name, with their weights at rest.
struct Controls {
    known: HashMap<String, (usize, f64)>,
    missing: Vec<String>,
}

impl Controls {
    fn find(&mut self, id: &str) -> Option<(usize, f64)> {
        let found = self.known.get(id).copied();
        if found.is_none() && !self.missing.iter().any(|other| other == id) {
            self.missing.push(id.to_owned());
        }
        found
    }

    fn weights(&mut self, stored: &BTreeMap<String, f64>) -> MorphWeights {
        let mut weights = MorphWeights::default();
        for (id, weight) in stored.iter().filter(|(_, weight)| weight.is_finite()) {
            if let Some((control, rest)) = self.find(id) {
                weights.set(control, weight - rest);
            }
        }
        weights
    }
}

/// Restores the morphs of a project file. Entries that do not match are ignored and reported in `notes`.
pub(super) fn restore(
    file: &ProjectFile,
    character: &Character,
    restored: &mut Restored,
    notes: &mut Vec<String>,
) {
    let controls = character.morph_controls().enumerate();
    let known = controls.map(|(index, control)| (control.id(), (index, control.rest_weight)));
    let mut controls = Controls {
        known: known.collect(),
        missing: Vec::new(),
    };
    restored.pose.morphs = controls.weights(&file.morphs);
    for view in &file.views {
        if let Some(pose) = restored.free_poses.get_mut(&ViewId(view.id)) {
            pose.morphs = controls.weights(&view.morphs);
        }
    }
    for stored in &file.poses {
        let kept = restored.pose_library.iter_mut();
        if let Some(kept) = kept.into_iter().find(|kept| kept.name == stored.name) {
            Arc::make_mut(kept).pose.morphs = controls.weights(&stored.morphs);
        }
    }
    for stored in &file.takes {
        let mut takes = restored.takes.iter_mut();
        let Some(take) = takes.find(|take| take.name() == stored.name) else {
            continue;
        };
        let mut tracks = Vec::new();
        for (id, keys) in &stored.morphs {
            let Some((control, rest)) = controls.find(id) else {
                continue;
            };
            match curve_of(keys, rest) {
                Some(curve) => tracks.push(MorphTrack { control, curve }),
                None => notes.push(format!(
                    "the keys of \"{id}\" in the take \"{}\" were ignored: their numbers are invalid",
                    stored.name
                )),
            }
        }
        if !tracks.is_empty() {
            Arc::make_mut(take).set_morphs(tracks);
        }
    }
    if !controls.missing.is_empty() {
        notes.push(format!(
            "the character has no morphs or expressions of these names, which were ignored: {}",
            controls.missing.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_morphs_round_trip_and_damaged_ones_are_refused() {
        for (interpolation, values) in [
            (Interpolation::Linear, vec![0.25, -0.5]),
            (Interpolation::Step, vec![0.0, 1.0]),
            (Interpolation::Cubic, vec![0.0, 0.25, 1.0, 2.0, -0.5, 0.0]),
        ] {
            let curve = Curve {
                times_secs: vec![0.0, 1.5],
                values,
                interpolation,
            };
            let keys = keys_of(&curve, 0.5);
            assert_eq!(curve_of(&keys, 0.5), Some(curve));
            let mut wrong = keys.clone();
            wrong.values.pop();
            assert!(curve_of(&wrong, 0.5).is_none());
            let mut wrong = keys.clone();
            wrong.times[0] = 9.0;
            assert!(curve_of(&wrong, 0.5).is_none());
            let mut wrong = keys;
            wrong.values[0] = f64::NAN;
            assert!(curve_of(&wrong, 0.5).is_none());
        }
    }
}
