//! Transfers clips of the file's skeleton to an edited rig.

use std::collections::BTreeSet;

use super::Rig;
use super::convert::{JointTransfer, relative, shifted};
use crate::math::Vec64;
use crate::rig::{Channel, Clip, Curve, Interpolation, Skeleton, Track, Trs};

/// Sampling rate of motion that cannot be transferred key by key …
const SAMPLES_PER_SEC: f64 = 30.0;
/// … and the maximum number of samples.
const MOST_SAMPLES: usize = 20_000;

/// A clip of the `base` skeleton for the rig derived from it. Joints with an unchanged parent keep
/// their keys, displaced as the joint was; others are sampled relative to their new parent. Tracks
/// of deleted joints are removed; their effect on descendants is kept.
#[must_use]
pub fn clip_on(clip: &Clip, base: &Skeleton, rig: &Rig) -> Clip {
    let mut tracks = Vec::new();
    let mut sampled = Vec::new();
    for joint in 0..rig.len() {
        let Some(carry) = rig.carry(joint, base) else {
            continue;
        };
        if carry.keeps_parent {
            let own = clip
                .tracks
                .iter()
                .filter(|track| track.joint == carry.origin);
            tracks.extend(own.map(|track| Track {
                joint,
                channel: displaced(&track.channel, &carry.shift),
            }));
        } else {
            sampled.push((joint, carry));
        }
    }
    if !sampled.is_empty() {
        tracks.extend(sample(clip, base, &sampled));
    }
    Clip {
        name: clip.name.clone(),
        duration_secs: clip.duration_secs,
        tracks,
        morphs: clip.morphs.clone(),
    }
}

fn displaced(channel: &Channel, shift: &Vec64) -> Channel {
    let Channel::Translation(curve) = channel else {
        return channel.clone();
    };
    let mut curve = curve.clone();
    let cubic = curve.interpolation == Interpolation::Cubic;
    for (index, value) in curve.values.iter_mut().enumerate() {
        // Tangents are differences and do not change.
        if !cubic || index % 3 == 1 {
            *value += shift;
        }
    }
    Channel::Translation(curve)
}

/// Tracks of joints with a changed parent.
fn sample(clip: &Clip, base: &Skeleton, joints: &[(usize, JointTransfer)]) -> Vec<Track> {
    let moving: BTreeSet<usize> = clip.tracks.iter().map(|track| track.joint).collect();
    let moves = |carry: &JointTransfer| {
        on_path(base, carry)
            .into_iter()
            .any(|joint| moving.contains(&joint))
    };
    let joints: Vec<&(usize, JointTransfer)> =
        joints.iter().filter(|(_, carry)| moves(carry)).collect();
    if joints.is_empty() {
        return Vec::new();
    }
    let times = sample_times(clip);
    let mut locals: Vec<Vec<Trs>> = vec![Vec::with_capacity(times.len()); joints.len()];
    let mut world = Vec::new();
    for &time in &times {
        base.world_from_joint_into(&clip.sample(base, time), &mut world);
        for ((_, carry), locals) in joints.iter().zip(&mut locals) {
            locals.push(shifted(
                &Trs::from_affine(&relative(&world, carry)),
                &carry.shift,
            ));
        }
    }
    let mut tracks = Vec::with_capacity(3 * joints.len());
    for ((joint, _), locals) in joints.into_iter().zip(locals) {
        let curve = |value: fn(&Trs) -> Vec64| {
            Curve::linear(times.clone(), locals.iter().map(value).collect())
        };
        let rotations = locals.iter().map(|local| local.rotation.into_inner());
        let rotations = Curve::linear(times.clone(), rotations.collect());
        tracks.push(Track {
            joint: *joint,
            channel: Channel::Translation(curve(|local| local.translation)),
        });
        tracks.push(Track {
            joint: *joint,
            channel: Channel::Rotation(rotations),
        });
        if locals
            .iter()
            .any(|local| (local.scale - locals[0].scale).amax() > 1e-9)
        {
            tracks.push(Track {
                joint: *joint,
                channel: Channel::Scale(curve(|local| local.scale)),
            });
        }
    }
    tracks
}

/// The joints of the file that determine a joint's transform relative to its parent.
fn on_path(base: &Skeleton, carry: &JointTransfer) -> BTreeSet<usize> {
    let mut path = BTreeSet::new();
    for start in [Some(carry.origin), carry.above] {
        let mut at = start;
        while let Some(joint) = at {
            path.insert(joint);
            at = base.joints()[joint].parent;
        }
    }
    path
}

fn sample_times(clip: &Clip) -> Vec<f64> {
    let keys = clip.tracks.iter().flat_map(|track| match &track.channel {
        Channel::Translation(curve) | Channel::Scale(curve) => &curve.times_secs,
        Channel::Rotation(curve) => &curve.times_secs,
    });
    let count =
        ((clip.duration_secs * SAMPLES_PER_SEC).ceil().max(1.0) as usize).min(MOST_SAMPLES / 2);
    let grid = (0..=count).map(|step| clip.duration_secs * step as f64 / count as f64);
    let mut times: Vec<f64> = grid
        .chain(keys.copied().take(MOST_SAMPLES))
        .filter(|time| time.is_finite())
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    times
}
