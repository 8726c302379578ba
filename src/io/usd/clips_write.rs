//! Clips as `SkelAnimation` prims.

use super::joints_write::{FPS, WrittenJoints, local_of};
use super::layer::{Prim, Property, Value};
use super::names::SiblingNames;
use super::shapes_write::BlendShapes;
use crate::character::Character;
use crate::math::Quat;
use crate::rig::{Channel, Clip, Interpolation, Trs};

/// Samples per second of curves that are not linear.
const SAMPLES_PER_SEC: f64 = 60.0;

/// Most samples of a clip at the times of its keys; beyond, it is sampled evenly.
const MOST_SAMPLES: usize = 20_000;

/// Keys nearer than this are one, seconds.
const SAME_SECS: f64 = 1e-6;

/// The animation of all joints and blend shapes over a clip. `UsdSkel` interpolates between samples as linear curves here do, so that such clips are exact.
pub(super) fn animation(
    clip: &Clip,
    character: &Character,
    (joints, shapes): (&WrittenJoints, &BlendShapes),
    names: &mut SiblingNames,
) -> Prim {
    let skeleton = &character.skeleton;
    let mut prim = Prim::new("SkelAnimation", names.unique(&clip.name));
    if prim.name != clip.name {
        let name = Value::text(clip.name.clone());
        prim.meta.push(("displayName".to_owned(), name));
    }
    let tokens = (joints.of_joint.iter()).map(|&joint| joints.tokens[joint].clone());
    prim.properties.push(Property::uniform(
        "token[]",
        "joints",
        Value::Texts(tokens.collect()),
    ));
    let times = times_of(clip);
    let mut last: Vec<Quat> = vec![Quat::identity(); skeleton.len()];
    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for &time in &times {
        let pose = clip.sample(skeleton, time);
        let locals: Vec<Trs> = (pose.locals.iter().zip(&joints.base))
            .map(|(local, base)| local_of(base, local))
            .collect();
        let translations = locals.iter().flat_map(|l| l.translation.iter().copied());
        let scales = locals.iter().flat_map(|l| l.scale.iter().copied());
        let mut rotations = Vec::with_capacity(4 * locals.len());
        for (local, last) in locals.iter().zip(&mut last) {
            // Of the two quaternions of a rotation the one next to the last.
            let mut q = local.rotation.coords;
            if q.dot(&last.coords) < 0.0 {
                q = -q;
            }
            *last = Quat::new_unchecked(nalgebra::Quaternion::from(q));
            rotations.extend([q.w, q.x, q.y, q.z]);
        }
        let code = time * FPS;
        samples[0].push((code, Value::Numbers(translations.collect())));
        samples[1].push((code, Value::Numbers(rotations)));
        samples[2].push((code, Value::Numbers(scales.collect())));
    }
    let kinds = ["float3[]", "quatf[]", "half3[]"];
    let attributes = ["translations", "rotations", "scales"];
    for ((kind, name), mut samples) in kinds.into_iter().zip(attributes).zip(samples) {
        let is_constant = samples.iter().all(|(_, value)| *value == samples[0].1);
        // One curve keeps the last time.
        if is_constant && name != "rotations" {
            samples.truncate(1);
        }
        prim.properties.push(Property {
            name: name.to_owned(),
            kind: kind.to_owned(),
            samples,
            ..Property::default()
        });
    }
    shapes.add_weights(&mut prim, character, clip);
    prim
}

/// Times at which linear interpolation gives the clip.
fn times_of(clip: &Clip) -> Vec<f64> {
    let mut times = vec![0.0, clip.duration_secs];
    let mut is_linear = true;
    for track in &clip.tracks {
        let (keys, interpolation) = match &track.channel {
            Channel::Translation(curve) | Channel::Scale(curve) => {
                (&curve.times_secs, curve.interpolation)
            }
            Channel::Rotation(curve) => (&curve.times_secs, curve.interpolation),
        };
        times.extend(
            keys.iter()
                .filter(|&&t| (0.0..=clip.duration_secs).contains(&t)),
        );
        match interpolation {
            Interpolation::Linear => {}
            // The value before a step holds until the step.
            Interpolation::Step => {
                let before = keys.iter().map(|t| t - 2.0 * SAME_SECS);
                times.extend(before.filter(|t| (0.0..=clip.duration_secs).contains(t)));
            }
            Interpolation::Cubic => is_linear = false,
        }
    }
    let even = |rate: f64| {
        let count = (clip.duration_secs * rate).floor().min(1e6) as usize;
        (0..=count).map(move |i| i as f64 / rate)
    };
    if !is_linear {
        times.extend(even(SAMPLES_PER_SEC));
    }
    times.sort_by(f64::total_cmp);
    times.dedup_by(|next, last| *next - *last < SAME_SECS);
    if times.len() > MOST_SAMPLES {
        times = even(SAMPLES_PER_SEC).collect();
        times.push(clip.duration_secs);
    }
    times
}
