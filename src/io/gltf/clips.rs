//! Animations → clips.

use gltf::json::animation::{Animation, Interpolation as Written, Property, Sampler};
use gltf::json::validation::Checked;
use gltf::json::{Index, Root};

use super::accessor::Accessors;

use crate::character::{Character, Severity};
use crate::io::error::Parsed;
use crate::math::Vec64;
use crate::rig::{Channel, Clip, Curve, Interpolation, Track};

/// Reads all animations; unusable channels are omitted and noted.
pub fn read(
    root: &Root,
    accessors: &Accessors<'_>,
    joint_of_node: &[Option<usize>],
    character: &mut Character,
) -> Parsed<Vec<Clip>> {
    let mut left_out = 0;
    let mut clips = Vec::with_capacity(root.animations.len());
    for (i, animation) in root.animations.iter().enumerate() {
        let name = animation
            .name
            .clone()
            .filter(|n| !n.is_empty())
            .unwrap_or_else(|| format!("clip{i}"));
        let mut clip = Clip {
            name,
            duration_secs: 0.0,
            tracks: Vec::new(),
            morphs: Vec::new(),
        };
        for channel in &animation.channels {
            if channel.target.path == Checked::Valid(Property::MorphTargetWeights) {
                // Read with the morphs.
                continue;
            }
            // A channel of a node without visible descendants has no visible effect.
            let Some(joint) = joint_of_node
                .get(channel.target.node.value())
                .copied()
                .flatten()
            else {
                continue;
            };
            match read_channel(animation, channel.sampler, channel.target.path, accessors)? {
                Some((channel, end)) => {
                    clip.duration_secs = clip.duration_secs.max(end);
                    clip.tracks.push(Track { joint, channel });
                }
                None => left_out += 1,
            }
        }
        clips.push(clip);
    }
    if left_out > 0 {
        character.note(
            Severity::Mended,
            left_out,
            format!("animation channels omitted because their keys are missing, not finite or not ascending: {left_out}"),
        );
    }
    Ok(clips)
}

/// One channel and the time of its last key.
fn read_channel(
    animation: &Animation,
    sampler: Index<Sampler>,
    path: Checked<Property>,
    accessors: &Accessors<'_>,
) -> Parsed<Option<(Channel, f64)>> {
    let Some(sampler) = animation.samplers.get(sampler.value()) else {
        return Ok(None);
    };
    let Some(interpolation) = interpolation_of(sampler) else {
        return Ok(None);
    };
    let times: Vec<f64> = accessors
        .reals::<1>(sampler.input.value())?
        .iter()
        .map(|t| f64::from(t[0]))
        .collect();
    Ok(match path {
        Checked::Valid(Property::Translation) => vectors(sampler, times, interpolation, accessors)?
            .map(|(c, end)| (Channel::Translation(c), end)),
        Checked::Valid(Property::Scale) => vectors(sampler, times, interpolation, accessors)?
            .map(|(c, end)| (Channel::Scale(c), end)),
        Checked::Valid(Property::Rotation) => {
            let to_quat =
                |[x, y, z, w]: [f32; 4]| nalgebra::Quaternion::new(w, x, y, z).cast::<f64>();
            let values = accessors.reals::<4>(sampler.output.value())?;
            curve(times, &values, interpolation, to_quat)
                .map(|(c, end)| (Channel::Rotation(c), end))
        }
        Checked::Valid(Property::MorphTargetWeights) | Checked::Invalid => None,
    })
}

/// How a sampler interpolates; `None` if that is unknown.
pub(super) fn interpolation_of(sampler: &Sampler) -> Option<Interpolation> {
    match sampler.interpolation {
        Checked::Valid(Written::Linear) => Some(Interpolation::Linear),
        Checked::Valid(Written::Step) => Some(Interpolation::Step),
        Checked::Valid(Written::CubicSpline) => Some(Interpolation::Cubic),
        Checked::Invalid => None,
    }
}

type TimedChannel<T> = Option<(Curve<T>, f64)>;

fn vectors(
    sampler: &Sampler,
    times: Vec<f64>,
    interpolation: Interpolation,
    accessors: &Accessors<'_>,
) -> Parsed<TimedChannel<Vec64>> {
    let values = accessors.reals::<3>(sampler.output.value())?;
    Ok(curve(times, &values, interpolation, |v| {
        Vec64::from(v.map(f64::from))
    }))
}

/// A curve, if its keys are usable; values beyond the last key time are dropped.
fn curve<T, const N: usize>(
    mut times: Vec<f64>,
    values: &[[f32; N]],
    interpolation: Interpolation,
    convert: impl Fn([f32; N]) -> T,
) -> TimedChannel<T> {
    let per_key = if interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    times.truncate(values.len() / per_key);
    let values = &values[..times.len() * per_key];
    let finite =
        times.iter().all(|t| t.is_finite()) && values.iter().flatten().all(|v| v.abs() < 1e15);
    let ascending = times.windows(2).all(|pair| pair[0] <= pair[1]);
    let end = *times.last()?;
    if !finite || !ascending {
        return None;
    }
    Some((
        Curve {
            times_secs: times,
            values: values.iter().map(|v| convert(*v)).collect(),
            interpolation,
        },
        end,
    ))
}
