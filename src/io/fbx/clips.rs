//! Animation stacks → clips.

use super::morphs::FbxMorphs;
use super::skeleton::FbxJoints;
use super::stacks::{SampledStack, channel_of, key_times};
use super::{FbxNodes, quat_of, vec_of};
use crate::math::{Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Interpolation, Track};

/// Relative change from the rest pose above which a joint counts as moving.
const MOVED: f64 = 1e-6;

/// Nodes that a stack animates.
pub(super) fn moved_nodes(baked: &[SampledStack<'_>]) -> Vec<usize> {
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
    scene: &ufbx::Scene,
    baked: &[SampledStack<'_>],
    tree: &FbxNodes,
    rig: &FbxJoints,
    morphs: &FbxMorphs,
) -> Vec<Clip> {
    let mut clips = Vec::new();
    for stack in baked {
        let SampledStack { name, root, .. } = stack;
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
            let of_node = &scene.nodes[node.typed_id as usize];
            let at =
                |time: f64| ufbx::evaluate_transform(stack.anim, of_node, time + stack.start_secs);
            let (translation, rotation, scale) = (
                |time: f64| vec_of(&at(time).translation),
                |time: f64| quat_of(&at(time).rotation).coords,
                |time: f64| vec_of(&at(time).scale),
            );
            let vectors = |times: &[f64], constant: bool, at: &dyn Fn(f64) -> Vec64, rest| {
                vectors(&curve_of(stack, times, constant, at)?, rest)
            };
            let times = [
                key_times(
                    node.translation_keys
                        .iter()
                        .map(|key| (key.time, key.flags)),
                ),
                key_times(node.rotation_keys.iter().map(|key| (key.time, key.flags))),
                key_times(node.scale_keys.iter().map(|key| (key.time, key.flags))),
            ];
            let turned = channel_of(stack, &times[1], node.constant_rotation, &rotation, true);
            let channels = [
                vectors(
                    &times[0],
                    node.constant_translation,
                    &translation,
                    &rest.translation,
                )
                .map(Channel::Translation),
                turned
                    .and_then(|curve| rotations(&curve, &rest.rotation))
                    .map(Channel::Rotation),
                vectors(&times[2], node.constant_scale, &scale, &rest.scale).map(Channel::Scale),
            ];
            tracks.extend(
                channels
                    .into_iter()
                    .flatten()
                    .map(|channel| Track { joint, channel }),
            );
        }
        let weights = morphs.tracks(scene, stack);
        let ends = weights
            .iter()
            .filter_map(|track| track.curve.times_secs.last().copied());
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

fn curve_of(
    stack: &SampledStack<'_>,
    times: &[f64],
    is_constant: bool,
    at: &dyn Fn(f64) -> Vec64,
) -> Option<Curve<Vec64>> {
    channel_of(stack, times, is_constant, at, false)
}

/// The curve, if it leaves the rest pose and its keys are valid.
fn vectors(curve: &Curve<Vec64>, rest: &Vec64) -> Option<Curve<Vec64>> {
    let moves =
        key_values(curve).any(|value| (value - rest).norm() > MOVED * rest.norm().max(1e-9));
    let sane = curve
        .values
        .iter()
        .flatten()
        .all(|c| c.abs() < super::LARGEST);
    (moves && sane).then(|| curve.clone())
}

fn rotations(
    curve: &Curve<nalgebra::Vector4<f64>>,
    rest: &Quat,
) -> Option<Curve<nalgebra::Quaternion<f64>>> {
    let moves = key_values(curve).any(|value| value.dot(&rest.coords).abs() < 1.0 - MOVED * MOVED);
    let sane = key_values(curve).all(|value| value.iter().all(|c| c.abs() < 10.0))
        && curve
            .values
            .iter()
            .flatten()
            .all(|c| c.abs() < super::LARGEST);
    (moves && sane).then(|| Curve {
        times_secs: curve.times_secs.clone(),
        values: curve.values.iter().map(|v| (*v).into()).collect(),
        interpolation: curve.interpolation,
    })
}

/// The values of a curve's keys, without tangents.
fn key_values<T>(curve: &Curve<T>) -> impl Iterator<Item = &T> {
    let parts = if curve.interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    curve.values.iter().skip(parts / 2).step_by(parts)
}
