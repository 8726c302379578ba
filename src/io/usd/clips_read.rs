//! `SkelAnimation` prims → clips.

use super::keys::thinned;
use super::layer::{Prim, Value};
use super::scene::{LARGEST, Scene};
use super::shapes_read::{UsdShapes, weight_codes};
use super::skeleton_read::{SkeletonSource, UsdJoints};
use crate::math::{Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Track, Trs};

/// Least relative change that is a movement.
const MOVED: f64 = 1e-6;

/// The clips of all animations that move joints of a skeleton or blend shapes.
pub(super) fn read(scene: &Scene<'_>, joints: &UsdJoints<'_>, shapes: &UsdShapes) -> Vec<Clip> {
    let animations = scene.of_kind("SkelAnimation");
    let clips = animations.filter_map(|index| {
        let prim = scene.prims[index];
        let tokens = prim.texts("joints");
        let source = source_of(scene, joints, index, tokens);
        // Without a skeleton only shapes can move.
        if source.is_none() && prim.texts("blendShapes").is_empty() {
            return None;
        }
        let joint_of: Vec<Option<usize>> = (tokens.iter())
            .map(|token| source?.by_token.get(token.as_str()).copied())
            .collect();
        clip_of(scene, (joints, shapes), index, &joint_of)
    });
    clips.collect()
}

/// The skeleton that an animation is bound to, or else the one that has most of its joints.
fn source_of<'a, 'b>(
    scene: &Scene<'_>,
    joints: &'b UsdJoints<'a>,
    animation: usize,
    tokens: &[String],
) -> Option<&'b SkeletonSource<'a>> {
    let is_bound = |source: &&SkeletonSource<'_>| {
        let target = scene.prims[source.prim].target("skel:animationSource");
        target.and_then(|path| scene.find(path)) == Some(animation)
    };
    if let Some(source) = joints.sources.iter().find(is_bound) {
        return Some(source);
    }
    let known = |source: &&SkeletonSource<'_>| {
        let tokens = tokens.iter();
        tokens
            .filter(|token| source.by_token.contains_key(token.as_str()))
            .count()
    };
    // Of several the first.
    let best = joints.sources.iter().rev().max_by_key(known)?;
    (known(&best) > 0).then_some(best)
}

fn clip_of(
    scene: &Scene<'_>,
    (joints, shapes): (&UsdJoints<'_>, &UsdShapes),
    animation: usize,
    joint_of: &[Option<usize>],
) -> Option<Clip> {
    let prim: &Prim = scene.prims[animation];
    let samples = |name: &str| prim.property(name).map_or(&[][..], |p| &p.samples);
    let channels = ["translations", "rotations", "scales"].map(samples);
    let of_joints = || channels.iter().flat_map(|list| list.iter().map(|s| s.0));
    let codes = || of_joints().chain(weight_codes(prim));
    let first = codes().filter(|code| code.is_finite()).reduce(f64::min)?;
    let last = codes().filter(|code| code.is_finite()).reduce(f64::max)?;
    let start = scene.start.filter(|start| *start <= first).unwrap_or(first);
    let secs = |code: f64| (code - start) / scene.rate;
    let mut tracks = Vec::new();
    for (place, joint) in joint_of.iter().enumerate() {
        let Some(joint) = *joint else { continue };
        let rest = &joints.skeleton.joints()[joint].rest;
        let mut add = |channel| tracks.push(Track { joint, channel });
        let take = |list, width| elements(list, place, width, joint_of.len(), &secs);
        if let Some(curve) = vectors(&take(channels[0], 3), &rest.translation) {
            add(Channel::Translation(curve));
        }
        if let Some(curve) = rotations(take(channels[1], 4), rest) {
            add(Channel::Rotation(curve));
        }
        if let Some(curve) = vectors(&take(channels[2], 3), &rest.scale) {
            add(Channel::Scale(curve));
        }
    }
    let duration_secs = secs(last);
    let is_sane = duration_secs.is_finite() && duration_secs < 1e7;
    let morphs = shapes.tracks(scene, animation, &secs);
    // A clip that holds the rest pose has no tracks, but its place among the others.
    let lasts = !tracks.is_empty() || !morphs.is_empty() || duration_secs > 0.0;
    (lasts && is_sane).then(|| Clip {
        name: prim.title(),
        duration_secs,
        tracks,
        morphs,
    })
}

/// Times and numbers of one joint; samples of another length are left out.
fn elements<'a>(
    samples: &'a [(f64, Value)],
    place: usize,
    width: usize,
    joints: usize,
    secs: &impl Fn(f64) -> f64,
) -> Vec<(f64, &'a [f64])> {
    let element = |(code, value): &'a (f64, Value)| {
        let numbers = value.numbers();
        let own = numbers.get(place * width..(place + 1) * width)?;
        let is_sane = own.iter().all(|c| c.abs() < LARGEST) && code.is_finite();
        (numbers.len() == joints * width && is_sane).then(|| (secs(*code), own))
    };
    samples.iter().filter_map(element).collect()
}

/// A curve, if it leaves the rest pose. Equal neighbours of a key are left out.
fn vectors(keys: &[(f64, &[f64])], rest: &Vec64) -> Option<Curve<Vec64>> {
    let values: Vec<Vec64> = keys
        .iter()
        .map(|(_, v)| Vec64::new(v[0], v[1], v[2]))
        .collect();
    let moves = |value: &Vec64| (value - rest).norm() > MOVED * rest.norm().max(1e-9);
    if !values.iter().any(moves) {
        return None;
    }
    let times: Vec<f64> = keys.iter().map(|(time, _)| *time).collect();
    Some(thinned(&times, &values))
}

fn rotations(keys: Vec<(f64, &[f64])>, rest: &Trs) -> Option<Curve<nalgebra::Quaternion<f64>>> {
    let mut made = Vec::with_capacity(keys.len());
    for (time, q) in keys {
        let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
        if let Some(unit) = Quat::try_new(q, 1e-6) {
            made.push((time, unit.into_inner()));
        }
    }
    let moves = |q: &nalgebra::Quaternion<f64>| {
        q.coords.dot(&rest.rotation.coords).abs() < 1.0 - MOVED * MOVED
    };
    if !made.iter().any(|(_, q)| moves(q)) {
        return None;
    }
    let (times, values): (Vec<f64>, Vec<_>) = made.into_iter().unzip();
    Some(thinned(&times, &values))
}
