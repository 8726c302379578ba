//! Rewrites rotation curves so that all players interpolate them equally.
//!
//! The standard prescribes spherical interpolation between keys (appendix C). Some players (for
//! example Blender) interpolate the four components linearly, which agrees only for small angles;
//! some apply non-unit quaternions unnormalised, which scales. Therefore keys are normalised, and
//! distant keys get intermediate keys on the same arc: the curve is unchanged.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::blocks::ElementShape;
use super::draft::{GlbDraft, ViewUse, set};
use crate::math::Quat;
use crate::rig::Trs;

/// Maximum rotation between keys, radians. For half of it, α, linear interpolation deviates by at
/// most α³/31: 1.4e-5.
const LARGEST_TURN: f64 = 0.15;
/// Minimum time between keys, seconds.
const SHORTEST_SECS: f64 = 1e-3;

/// The accessors of a sampler.
type SamplerAccessors = (usize, usize);

impl GlbDraft {
    /// Processes all linear rotation curves. Tangents of cubic curves may have any length.
    pub(super) fn subdivide_rotations(&mut self) {
        let mut known: HashMap<SamplerAccessors, SamplerAccessors> = HashMap::new();
        let mut animations = std::mem::take(self.list_mut("animations"));
        for animation in &mut animations {
            let turning = animation["channels"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|c| c["target"]["path"].as_str() == Some("rotation"));
            let turning: Vec<usize> = turning
                .filter_map(|channel| Some(channel["sampler"].as_u64()? as usize))
                .collect();
            for sampler in turning {
                let Some(sampler) = animation
                    .get_mut("samplers")
                    .and_then(|samplers| samplers.get_mut(sampler))
                else {
                    continue;
                };
                let Some(ends) = linear_ends(sampler) else {
                    continue;
                };
                let (input, output) = *known
                    .entry(ends)
                    .or_insert_with(|| self.subdivided(ends).unwrap_or(ends));
                set(sampler, "input", json!(input));
                set(sampler, "output", json!(output));
                // A processed sampler counts as done for all other uses of its accessors.
                known.insert((input, output), (input, output));
            }
        }
        *self.list_mut("animations") = animations;
    }

    /// New accessors, if the curve needs any.
    fn subdivided(&mut self, (input, output): SamplerAccessors) -> Option<SamplerAccessors> {
        let (times, values) = (self.plain_floats(input, 1)?, self.plain_floats(output, 4)?);
        let (new_times, new_values) = on_the_arc(&times, &values)?;
        let new_input = if new_times.len() == times.len() {
            input
        } else {
            self.times(&new_times)
        };
        Some((
            new_input,
            self.floats(&new_values, ViewUse::Other, ElementShape::Vec4),
        ))
    }
}

fn linear_ends(sampler: &Value) -> Option<SamplerAccessors> {
    let linear = matches!(sampler["interpolation"].as_str(), None | Some("LINEAR"));
    linear.then_some((
        sampler["input"].as_u64()? as usize,
        sampler["output"].as_u64()? as usize,
    ))
}

/// Unit rotations and times with sufficiently small steps; `None` if the curve has them already, or
/// holds no rotations.
fn on_the_arc(times: &[f32], values: &[f32]) -> Option<(Vec<f64>, Vec<f32>)> {
    if values.len() != times.len() * 4 || times.is_empty() {
        return None;
    }
    let raw: Vec<nalgebra::Quaternion<f64>> = values
        .chunks_exact(4)
        .map(|q| nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]).cast())
        .collect();
    let rotations: Option<Vec<Quat>> = raw.iter().map(|q| Quat::try_new(*q, 1e-6)).collect();
    let rotations =
        rotations.filter(|all| all.iter().all(|q| q.coords.iter().all(|c| c.is_finite())))?;
    let mut changed = raw.iter().any(|q| (q.norm() - 1.0).abs() > 1e-6);
    let (mut new_times, mut new_values) = (Vec::new(), Vec::new());
    let mut push = |time: f64, rotation: &Quat| {
        new_times.push(time);
        new_values.extend(rotation.coords.iter().map(|&c| c as f32));
    };
    for (key, rotation) in rotations.iter().enumerate() {
        let time = f64::from(times[key]);
        push(time, rotation);
        let (Some(next), Some(&end)) = (rotations.get(key + 1), times.get(key + 1)) else {
            break;
        };
        let span = f64::from(end) - time;
        let parts = (rotation.angle_to(next) / LARGEST_TURN)
            .ceil()
            .min(span / SHORTEST_SECS)
            .max(1.0) as usize;
        changed |= parts > 1;
        for part in 1..parts {
            let t = part as f64 / parts as f64;
            push(
                time + span * t,
                &turned(rotation).lerp(&turned(next), t).rotation,
            );
        }
    }
    changed.then_some((new_times, new_values))
}

fn turned(rotation: &Quat) -> Trs {
    Trs {
        rotation: *rotation,
        ..Trs::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arc_is_kept_and_linear_interpolation_is_close() {
        let half = 0.5_f32.sqrt();
        // A quarter rotation about x, and back by a quaternion of the opposite sign and twice the
        // length.
        let values = [
            0.0, 0.0, 0.0, 1.0, half, 0.0, 0.0, half, 0.0, 0.0, 0.0, -2.0,
        ];
        let (times, values) = on_the_arc(&[0.0, 1.0, 3.0], &values).unwrap();
        assert!(times.len() == 1 + 11 + 11 && times.is_sorted());
        let at = |key: usize| {
            nalgebra::Vector4::from_column_slice(&values[key * 4..key * 4 + 4]).cast::<f64>()
        };
        let angle = |q: nalgebra::Vector4<f64>| 2.0 * (q[0] / q[3]).atan();
        for key in 0..11 {
            // Linear interpolation halfway, compared with the arc.
            let sign = at(key).dot(&at(key + 1)).signum();
            let middle = angle(at(key).lerp(&(at(key + 1) * sign), 0.3));
            let expected =
                std::f64::consts::FRAC_PI_2 * (times[key] + (times[key + 1] - times[key]) * 0.3);
            assert!((middle - expected).abs() < 3e-5, "{middle} for {expected}");
            assert!((at(key).norm() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn suitable_or_invalid_curves_are_unchanged() {
        assert!(on_the_arc(&[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.01, 0.0, 0.0, 0.999_95]).is_none());
        assert!(on_the_arc(&[0.0], &[0.0; 4]).is_none());
        assert!(on_the_arc(&[0.0, 1.0], &[0.0; 4]).is_none());
        assert!(on_the_arc(&[0.0], &[f32::NAN; 4]).is_none());
        // No room for more keys.
        assert!(on_the_arc(&[0.0, 1e-4], &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]).is_none());
    }
}
