//! Animation stacks → clips.

use super::morphs::FbxMorphs;
use super::skeleton::FbxJoints;
use super::{FbxNodes, MEMORY, SAMPLES_PER_SEC, quat_of, vec_of};
use crate::character::{Character, Severity};
use crate::math::{Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Track};

/// Relative change from the rest pose above which a joint counts as moving.
const MOVED: f64 = 1e-6;

/// Latest time of a key, seconds: a day.
const LONGEST_SECS: f64 = 86_400.0;

/// A sampled animation stack.
pub(super) struct SampledStack {
    name: String,
    root: ufbx::BakedAnimRoot,
}

/// Samples all stacks; a stack that cannot be sampled is noted and omitted.
pub(super) fn bake(scene: &ufbx::Scene, character: &mut Character) -> Vec<SampledStack> {
    let mut baked = Vec::new();
    for (i, stack) in scene.anim_stacks.iter().enumerate() {
        let memory = || ufbx::AllocatorOpts {
            memory_limit: MEMORY / 4,
            ..Default::default()
        };
        let options = ufbx::BakeOpts {
            temp_allocator: memory(),
            result_allocator: memory(),
            trim_start_time: true,
            resample_rate: SAMPLES_PER_SEC,
            ..Default::default()
        };
        let name = stack.element.name.to_string();
        let name = if name.is_empty() {
            format!("clip{i}")
        } else {
            name
        };
        if let Some(problem) = problem_of(&stack.anim) {
            let text = format!("the animation \"{name}\" is omitted: {problem}");
            character.note(Severity::Warning, 1, text);
            continue;
        }
        match ufbx::bake_anim(scene, &stack.anim, options) {
            Ok(root) => baked.push(SampledStack { name, root }),
            Err(error) => {
                let what: &str = &error.description;
                character.note(
                    Severity::Warning,
                    1,
                    format!("the animation \"{name}\" is omitted: {what}"),
                );
            }
        }
    }
    baked
}

/// Why an animation is not sampled. The library samples from key to key; a time that is not finite, or
/// too large to be increased by a sample, would never end.
fn problem_of(anim: &ufbx::Anim) -> Option<String> {
    let is_usable = |time: f64| time.abs() <= LONGEST_SECS;
    let values = anim.layers.iter().flat_map(|layer| &layer.anim_values);
    let curves = values.flat_map(|value| value.curves.iter().flatten());
    for curve in curves {
        let keys = &curve.keyframes;
        if let Some(key) = keys.iter().find(|key| !is_usable(key.time)) {
            return Some(format!(
                "a key is at {} s, expected at most {LONGEST_SECS} s",
                key.time
            ));
        }
        let ascending = |pair: &[ufbx::Keyframe]| pair[0].time <= pair[1].time;
        if !keys.windows(2).all(ascending) {
            return Some("the times of its keys don't ascend".to_owned());
        }
        let numbers = |key: &ufbx::Keyframe| {
            let tangents = [key.left, key.right].map(|tangent| [tangent.dx, tangent.dy]);
            key.value.abs() < super::LARGEST
                && tangents
                    .as_flattened()
                    .iter()
                    .all(|number| number.is_finite())
        };
        if !keys.iter().all(numbers) {
            return Some("the value of a key is not finite".to_owned());
        }
    }
    let range = [anim.time_begin, anim.time_end];
    (!range.into_iter().all(is_usable)).then(|| "its range of time is not finite".to_owned())
}

/// Nodes that a stack animates.
pub(super) fn moved_nodes(baked: &[SampledStack]) -> Vec<usize> {
    let nodes = baked.iter().flat_map(|baked| &baked.root.nodes);
    let moves = |node: &&ufbx::BakedNode| {
        !(node.constant_translation && node.constant_rotation && node.constant_scale)
    };
    nodes
        .filter(moves)
        .map(|node| node.typed_id as usize)
        .collect()
}

/// Clips with at least one moving joint or blend shape.
pub(super) fn read(
    baked: &[SampledStack],
    tree: &FbxNodes,
    rig: &FbxJoints,
    morphs: &FbxMorphs,
) -> Vec<Clip> {
    let mut clips = Vec::new();
    for SampledStack { name, root } in baked {
        let mut tracks = Vec::new();
        for node in &root.nodes {
            let Some(joint) = rig
                .joint_of_node
                .get(node.typed_id as usize)
                .copied()
                .flatten()
            else {
                continue;
            };
            let rest = &tree.local[node.typed_id as usize];
            let translations =
                vectors(&node.translation_keys, &rest.translation).map(Channel::Translation);
            let scales = vectors(&node.scale_keys, &rest.scale).map(Channel::Scale);
            let channels = [
                translations,
                rotations(&node.rotation_keys, &rest.rotation).map(Channel::Rotation),
                scales,
            ];
            tracks.extend(
                channels
                    .into_iter()
                    .flatten()
                    .map(|channel| Track { joint, channel }),
            );
        }
        let weights = morphs.tracks(root);
        let ends = weights.iter().filter_map(|track| track.curve.times_secs.last().copied());
        let last = tracks
            .iter()
            .map(|track| last_key(&track.channel))
            .chain(ends)
            .fold(0.0, f64::max);
        let playback = Some(root.playback_duration).filter(|secs| *secs > 0.0 && secs.is_finite());
        if !(tracks.is_empty() && weights.is_empty()) {
            clips.push(Clip {
                name: name.clone(),
                duration_secs: playback.unwrap_or(last),
                tracks,
                morphs: weights,
            });
        }
    }
    clips
}

fn last_key(channel: &Channel) -> f64 {
    let times = match channel {
        Channel::Translation(curve) | Channel::Scale(curve) => &curve.times_secs,
        Channel::Rotation(curve) => &curve.times_secs,
    };
    times.last().copied().unwrap_or(0.0)
}

/// A curve, if it leaves the rest pose and its keys are valid.
fn vectors(keys: &[ufbx::BakedVec3], rest: &Vec64) -> Option<Curve<Vec64>> {
    let values: Vec<Vec64> = keys.iter().map(|key| vec_of(&key.value)).collect();
    let moves = values
        .iter()
        .any(|value| (value - rest).norm() > MOVED * rest.norm().max(1e-9));
    let sane = values.iter().flatten().all(|c| c.abs() < super::LARGEST);
    curve(keys.iter().map(|key| key.time), values).filter(|_| moves && sane)
}

fn rotations(keys: &[ufbx::BakedQuat], rest: &Quat) -> Option<Curve<nalgebra::Quaternion<f64>>> {
    let values: Vec<nalgebra::Quaternion<f64>> =
        keys.iter().map(|key| quat_of(&key.value)).collect();
    let moves = values
        .iter()
        .any(|value| value.coords.dot(&rest.coords).abs() < 1.0 - MOVED * MOVED);
    let sane = values
        .iter()
        .all(|value| value.coords.iter().all(|c| c.abs() < 10.0));
    curve(keys.iter().map(|key| key.time), values).filter(|_| moves && sane)
}

fn curve<T>(times: impl Iterator<Item = f64>, values: Vec<T>) -> Option<Curve<T>> {
    let times_secs: Vec<f64> = times.collect();
    let ascending = times_secs.windows(2).all(|pair| pair[0] <= pair[1])
        && times_secs.iter().all(|t| t.is_finite());
    (ascending && !values.is_empty()).then_some(Curve::linear(times_secs, values))
}
