//! Animation stacks, and the times of their keys.

use nalgebra::SVector;

use super::{MEMORY, curves};
use crate::character::{Character, Severity};
use crate::rig::Curve;

/// Latest time of a key, seconds: a day.
const LONGEST_SECS: f64 = 86_400.0;

/// An animation stack, and its keys as the library samples them.
pub(super) struct SampledStack<'a> {
    pub(super) name: String,
    pub(super) anim: &'a ufbx::Anim,
    pub(super) root: ufbx::BakedAnimRoot,
    /// Time of the file at which the clip starts.
    pub(super) start_secs: f64,
    /// Whether any key holds its value until the next one.
    may_jump: bool,
}

/// Samples all stacks; a stack that cannot be sampled is noted and omitted.
pub(super) fn bake<'a>(scene: &'a ufbx::Scene, character: &mut Character) -> Vec<SampledStack<'a>> {
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
            Ok(root) => baked.push(SampledStack {
                name,
                anim: &stack.anim,
                root,
                start_secs: stack.anim.time_begin.max(0.0),
                may_jump: holds_keys(&stack.anim),
            }),
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

/// Whether any key holds its value.
fn holds_keys(anim: &ufbx::Anim) -> bool {
    let values = anim.layers.iter().flat_map(|layer| &layer.anim_values);
    let curves = values.flat_map(|value| value.curves.iter().flatten());
    let mut keys = curves.flat_map(|curve| &curve.keyframes);
    keys.any(|key| {
        matches!(
            key.interpolation,
            ufbx::Interpolation::ConstantPrev | ufbx::Interpolation::ConstantNext
        )
    })
}

/// Times of the file's own keys, with the first and the last; all, if the library marks none.
pub(super) fn key_times(keys: impl Iterator<Item = (f64, ufbx::BakedKeyFlags)>) -> Vec<f64> {
    let own = [ufbx::BakedKeyFlags::KEYFRAME, ufbx::BakedKeyFlags::STEP_KEY];
    let all: Vec<(f64, bool)> = keys
        .map(|(time, flags)| (time, own.iter().any(|&flag| flags.has_any(flag))))
        .collect();
    let ascending = all.windows(2).all(|pair| pair[0].0 <= pair[1].0)
        && all.iter().all(|(time, _)| time.is_finite());
    if !ascending {
        return Vec::new();
    }
    let any = all.iter().any(|(_, own)| *own);
    let last = all.len().saturating_sub(1);
    let kept = all.iter().enumerate();
    kept.filter(|(index, (_, own))| *own || !any || *index == 0 || *index == last)
        .map(|(_, (time, _))| *time)
        .collect()
}

/// A curve with the exact values. A constant has one key.
pub(super) fn channel_of<const N: usize>(
    stack: &SampledStack<'_>,
    times: &[f64],
    is_constant: bool,
    at: &dyn Fn(f64) -> SVector<f64, N>,
    is_rotation: bool,
) -> Option<Curve<SVector<f64, N>>> {
    let times = if is_constant { times.get(..1)? } else { times };
    let channel = curves::Channel {
        at,
        is_rotation,
        may_jump: stack.may_jump,
    };
    channel.curve(times)
}
