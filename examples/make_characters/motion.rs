//! Authoring of clips: stances by joint names and degrees, sampled into keys.

use std::collections::BTreeMap;

use sinew::math::{Point64, Quat, Vec64};
use sinew::rig::{Channel, Clip, Curve, Pose, Skeleton, Track};

/// Keys a second.
const RATE: f64 = 30.0;

/// A pose in the making: turns relative to rest.
///
/// All frames are unrotated at rest, so an axis is one of the world as seen by the joint's parent.
#[derive(Debug, Clone, Default)]
pub struct Stance {
    turns: BTreeMap<String, Quat>,
    /// Displacement of the root in metres.
    pub shift: Vec64,
}

impl Stance {
    /// Turns a joint about an axis, on top of what it has.
    pub fn turn(&mut self, joint: &str, axis: [f64; 3], degrees: f64) {
        let axis = nalgebra::Unit::new_normalize(Vec64::from(axis));
        let turn = Quat::from_axis_angle(&axis, degrees.to_radians());
        let before = self
            .turns
            .entry(joint.to_owned())
            .or_insert_with(Quat::identity);
        *before = turn * *before;
    }

    /// Turns `STEM.L` about an axis and `STEM.R` mirrored, by an angle each.
    pub fn turn_sides(&mut self, stem: &str, axis: [f64; 3], left: f64, right: f64) {
        self.turn(&format!("{stem}.L"), axis, left);
        self.turn(&format!("{stem}.R"), [axis[0], -axis[1], -axis[2]], right);
    }

    /// Turns both sides alike.
    pub fn turn_both(&mut self, stem: &str, axis: [f64; 3], degrees: f64) {
        self.turn_sides(stem, axis, degrees, degrees);
    }

    /// The pose of a skeleton; names it does not have are an authoring error.
    ///
    /// # Errors
    /// The unknown name.
    pub fn pose(&self, skeleton: &Skeleton) -> Result<Pose, String> {
        let mut pose = skeleton.rest_pose();
        for (name, turn) in &self.turns {
            let joint = skeleton
                .find_or_suggest(name)
                .map_err(|error| error.to_string())?;
            pose.locals[joint].rotation = turn * pose.locals[joint].rotation;
        }
        if let Some(root) = pose.locals.first_mut() {
            root.translation += self.shift;
        }
        Ok(pose)
    }

    /// The lowest of some points that ride on joints, in the world.
    ///
    /// # Errors
    /// As [`Stance::pose`].
    pub fn lowest(&self, skeleton: &Skeleton, soles: &[(usize, Point64)]) -> Result<f64, String> {
        let world = skeleton.world_from_joint(&self.pose(skeleton)?);
        let place = |&(joint, point): &(usize, Point64)| {
            (world[joint] * (point - skeleton.bind_position(joint).coords)).y
        };
        Ok(soles.iter().map(place).fold(f64::INFINITY, f64::min))
    }
}

/// Samples `stance` over `0..=duration` into a clip with straight-line keys.
///
/// # Errors
/// As [`Stance::pose`].
pub fn bake(
    skeleton: &Skeleton,
    name: &str,
    duration_secs: f64,
    stance: impl Fn(f64) -> Result<Stance, String>,
) -> Result<Clip, String> {
    let count = (duration_secs * RATE).round() as usize;
    let times: Vec<f64> = (0..=count)
        .map(|i| f64::from((duration_secs * i as f64 / count as f64) as f32))
        .collect();
    let poses: Vec<Pose> = times
        .iter()
        .map(|&t| stance(t)?.pose(skeleton))
        .collect::<Result<_, _>>()?;
    let mut tracks = Vec::new();
    for joint in 0..skeleton.len() {
        let rest = skeleton.joints()[joint].rest;
        if poses
            .iter()
            .any(|pose| (pose.locals[joint].translation - rest.translation).norm() > 1e-6)
        {
            let values = poses
                .iter()
                .map(|pose| pose.locals[joint].translation.map(|c| f64::from(c as f32)))
                .collect();
            let curve = Curve::linear(times.clone(), values);
            tracks.push(Track {
                joint,
                channel: Channel::Translation(curve),
            });
        }
        if poses
            .iter()
            .any(|pose| pose.locals[joint].rotation.angle_to(&rest.rotation) > 1e-6)
        {
            let mut values: Vec<nalgebra::Quaternion<f64>> = Vec::with_capacity(times.len());
            for pose in &poses {
                let q = pose.locals[joint].rotation.into_inner();
                let same_side = values.last().is_none_or(|last| last.dot(&q) >= 0.0);
                let q = if same_side { q } else { -q };
                values.push(nalgebra::Quaternion::from(
                    q.coords.map(|c| f64::from(c as f32)),
                ));
            }
            let curve = Curve::linear(times.clone(), values);
            tracks.push(Track {
                joint,
                channel: Channel::Rotation(curve),
            });
        }
    }
    Ok(Clip {
        name: name.to_owned(),
        duration_secs: times.last().copied().unwrap_or(0.0),
        tracks,
        morphs: Vec::new(),
    })
}

/// A smooth periodic curve through `(phase, value)` keys, phases ascending from 0 to below 1.
pub fn cyclic(keys: &[(f64, f64)], phase: f64) -> f64 {
    let n = keys.len();
    // The period before, this one, and the one after.
    let key = |i: usize| (keys[i % n].0 + (i / n) as f64 - 1.0, keys[i % n].1);
    let phase = phase.rem_euclid(1.0);
    let after = n + keys.partition_point(|k| k.0 <= phase);
    through(
        [key(after - 2), key(after - 1), key(after), key(after + 1)],
        phase,
    )
}

/// A smooth curve through `(time, value)` keys, at rest before the first and after the last.
pub fn eased(keys: &[(f64, f64)], time: f64) -> f64 {
    let last = keys.len() - 1;
    let i = keys.partition_point(|k| k.0 <= time);
    if i == 0 {
        return keys[0].1;
    }
    if i > last {
        return keys[last].1;
    }
    let before = if i >= 2 {
        keys[i - 2]
    } else {
        (keys[0].0 - 1.0, keys[0].1)
    };
    let after = if i < last {
        keys[i + 1]
    } else {
        (keys[last].0 + 1.0, keys[last].1)
    };
    through([before, keys[i - 1], keys[i], after], time)
}

/// Cubic between the two middle keys, with slopes that never overshoot them.
fn through(keys: [(f64, f64); 4], x: f64) -> f64 {
    let secant = |i: usize| (keys[i + 1].1 - keys[i].1) / (keys[i + 1].0 - keys[i].0).max(1e-9);
    let slope = |i: usize| {
        let (before, after) = (secant(i - 1), secant(i));
        if before * after <= 0.0 {
            0.0
        } else {
            2.0 * before * after / (before + after)
        }
    };
    let ((x0, y0), (x1, y1)) = (keys[1], keys[2]);
    let width = (x1 - x0).max(1e-9);
    let t = ((x - x0) / width).clamp(0.0, 1.0);
    let (t2, t3) = (t * t, t * t * t);
    y0 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + y1 * (3.0 * t2 - 2.0 * t3)
        + width * (slope(1) * (t3 - 2.0 * t2 + t) + slope(2) * (t3 - t2))
}
