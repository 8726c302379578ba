//! Clips → animations.

use std::borrow::Cow;

use serde_json::json;

use super::blocks::ElementShape;
use super::draft::{GlbDraft, ViewUse};
use super::targets::TargetNode;
use crate::character::Character;
use crate::math::Vec64;
use crate::rig::{Channel, Clip, Curve, Interpolation, SAME_SECS};

impl GlbDraft {
    /// Appends a clip of the character. `targets` are the nodes with its morphs.
    pub(super) fn clip(
        &mut self,
        character: &Character,
        clip: &Clip,
        joint_nodes: &[usize],
        targets: &[TargetNode],
    ) {
        let clip = &*held_to_end(clip);
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        // Tracks with equal times share the accessor.
        let mut known_times: Vec<(&[f64], usize)> = Vec::new();
        for track in &clip.tracks {
            let Some(&node) = joint_nodes.get(track.joint) else {
                continue;
            };
            let (path, shape, times, interpolation, values) = match &track.channel {
                Channel::Translation(c) => (
                    "translation",
                    ElementShape::Vec3,
                    &c.times_secs,
                    c.interpolation,
                    flat_vectors(c),
                ),
                Channel::Scale(c) => (
                    "scale",
                    ElementShape::Vec3,
                    &c.times_secs,
                    c.interpolation,
                    flat_vectors(c),
                ),
                Channel::Rotation(c) => {
                    let values = c
                        .values
                        .iter()
                        .flat_map(|q| [q.i, q.j, q.k, q.w].map(|v| v as f32))
                        .collect();
                    (
                        "rotation",
                        ElementShape::Vec4,
                        &c.times_secs,
                        c.interpolation,
                        values,
                    )
                }
            };
            if times.is_empty() {
                continue;
            }
            let known = known_times
                .iter()
                .find(|(known, _)| known == times)
                .map(|&(_, accessor)| accessor);
            let input = known.unwrap_or_else(|| {
                let accessor = self.times(times);
                known_times.push((times, accessor));
                accessor
            });
            let output = self.floats(&values, ViewUse::Other, shape);
            let interpolation = match interpolation {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::Cubic => "CUBICSPLINE",
            };
            channels
                .push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers
                .push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
        self.weight_channels(character, clip, targets, (&mut samplers, &mut channels));
        // glTF forbids empty animations.
        if !channels.is_empty() {
            self.push(
                "animations",
                json!({"name": clip.name, "samplers": samplers, "channels": channels}),
            );
        }
    }
}

/// A clip whose last key is at its end. An animation has no length but its keys: of a clip that holds its end, one curve gets a key there.
fn held_to_end(clip: &Clip) -> Cow<'_, Clip> {
    fn times_of(channel: &Channel) -> &[f64] {
        match channel {
            Channel::Translation(curve) | Channel::Scale(curve) => &curve.times_secs,
            Channel::Rotation(curve) => &curve.times_secs,
        }
    }
    let morphs = clip.morphs.iter().map(|track| &track.curve.times_secs[..]);
    let joints = clip.tracks.iter().map(|track| times_of(&track.channel));
    let last = joints.chain(morphs).filter_map(<[f64]>::last);
    let last = last.copied().fold(0.0, f64::max);
    let first = clip
        .tracks
        .iter()
        .position(|track| !times_of(&track.channel).is_empty());
    let (Some(first), true) = (first, last < clip.duration_secs - SAME_SECS) else {
        return Cow::Borrowed(clip);
    };
    let mut held = clip.clone();
    match &mut held.tracks[first].channel {
        Channel::Translation(curve) | Channel::Scale(curve) => {
            hold(curve, clip.duration_secs, Vec64::zeros());
        }
        Channel::Rotation(curve) => {
            hold(curve, clip.duration_secs, nalgebra::Quaternion::default());
        }
    }
    Cow::Owned(held)
}

/// Repeats the last value at a time.
fn hold<T: Copy>(curve: &mut Curve<T>, time_secs: f64, level: T) {
    let values = &mut curve.values;
    if let Interpolation::Cubic = curve.interpolation {
        let count = values.len();
        // The piece that is added is level.
        values[count - 1] = level;
        let value = values[count - 2];
        values.extend([level, value, level]);
    } else {
        values.push(values[values.len() - 1]);
    }
    curve.times_secs.push(time_secs);
}

fn flat_vectors(curve: &Curve<Vec64>) -> Vec<f32> {
    curve
        .values
        .iter()
        .flat_map(|v| [v.x, v.y, v.z].map(|c| c as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{builtin::load_builtin, load_from_memory, write_rigged_glb};
    use crate::progress::Progress;

    #[test]
    fn a_clip_that_holds_its_end_keeps_its_length() {
        for cubic in [false, true] {
            let mut character = load_builtin("cylinder").unwrap();
            // Clips of a document are kept as they are.
            character.document = None;
            let clip = &mut character.clips[0];
            let keyed_secs = clip.duration_secs;
            clip.duration_secs += 1.5;
            if let (Channel::Rotation(curve), true) = (&mut clip.tracks[0].channel, cubic) {
                let zero = nalgebra::Quaternion::default();
                curve.values = curve.values.iter().flat_map(|q| [zero, *q, zero]).collect();
                curve.interpolation = Interpolation::Cubic;
            }
            let clip = &character.clips[0];
            let written = write_rigged_glb(&character, &[], 4).unwrap();
            let read = load_from_memory(&[("a.glb", &written)], &Progress::new()).unwrap();
            assert!((read.clips[0].duration_secs - clip.duration_secs).abs() < 1e-5);
            for time in [
                0.3 * keyed_secs,
                keyed_secs,
                keyed_secs + 0.7,
                clip.duration_secs,
            ] {
                let pose = |clip: &Clip| clip.sample(&character.skeleton, time);
                let (told, wanted) = (pose(&read.clips[0]), pose(clip));
                for (a, b) in told.locals.iter().zip(&wanted.locals) {
                    assert!(a.rotation.angle_to(&b.rotation) < 1e-3, "at {time}");
                }
            }
        }
    }
}
