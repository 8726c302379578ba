//! Animation clips: keyed curves on joints.

use super::trs::slerp;
use super::{Pose, Skeleton, Trs};
use crate::math::{Quat, Vec64};

/// Times closer than this are the same, seconds: keys at such times are merged.
pub const SAME_SECS: f64 = 1e-4;

/// Interpolation between keys (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each key until the next.
    Step,
    /// Linear; spherical for rotations.
    Linear,
    /// Cubic Hermite; three values per key: in-tangent, value, out-tangent.
    Cubic,
}

/// Keys over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve<T> {
    /// Key times in seconds, ascending, not empty.
    pub times_secs: Vec<f64>,
    /// One value per key, three for [`Interpolation::Cubic`].
    pub values: Vec<T>,
    /// Interpolation between the keys.
    pub interpolation: Interpolation,
}

impl<T> Curve<T> {
    /// Values on straight lines between their keys.
    #[must_use]
    pub fn linear(times_secs: Vec<f64>, values: Vec<T>) -> Self {
        Self {
            times_secs,
            values,
            interpolation: Interpolation::Linear,
        }
    }
}

/// Animated property and its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Channel {
    /// Local translation.
    Translation(Curve<Vec64>),
    /// Local rotation, as raw quaternions, because the tangents of cubic curves are not unit
    /// quaternions.
    Rotation(Curve<nalgebra::Quaternion<f64>>),
    /// Local scale.
    Scale(Curve<Vec64>),
}

impl Channel {
    /// Sets the property to its value at a time.
    pub(super) fn sample_into(&self, local: &mut Trs, time_secs: f64) {
        match self {
            Self::Translation(curve) => local.translation = sample_vector(curve, time_secs),
            Self::Rotation(curve) => local.rotation = sample_rotation(curve, time_secs),
            Self::Scale(curve) => local.scale = sample_vector(curve, time_secs),
        }
    }
}

/// One animated property of one joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Index into the skeleton.
    pub joint: usize,
    /// The keys.
    pub channel: Channel,
}

/// The animated weight of one morph control, relative to its weight at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphTrack {
    /// Index of the control.
    pub control: usize,
    /// The keys.
    pub curve: Curve<f64>,
}

impl MorphTrack {
    /// The weight at a time; constant before the first and after the last key.
    #[must_use]
    pub fn sample(&self, time_secs: f64) -> f64 {
        sample_number(&self.curve, time_secs)
    }
}

/// A named animation of a skeleton.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clip {
    /// Name as in the file.
    pub name: String,
    /// Time of the last key.
    pub duration_secs: f64,
    /// The tracks; joints without a track stay at rest.
    pub tracks: Vec<Track>,
    /// Weights of morphs; controls without a track stay at rest.
    pub morphs: Vec<MorphTrack>,
}

impl Clip {
    /// The pose at a time; each track is constant before its first and after its last key.
    #[must_use]
    pub fn sample(&self, skeleton: &Skeleton, time_secs: f64) -> Pose {
        let mut pose = skeleton.rest_pose();
        for track in &self.tracks {
            let Some(local) = pose.locals.get_mut(track.joint) else {
                continue;
            };
            track.channel.sample_into(local, time_secs);
        }
        for track in &self.morphs {
            pose.morphs.set(track.control, track.sample(time_secs));
        }
        pose
    }
}

/// Index of the key before `time`, the fraction (0..=1) of the interval to the next key, and the
/// interval's length (s).
fn locate(times: &[f64], time: f64) -> (usize, f64, f64) {
    let after = times.partition_point(|&t| t <= time);
    if after == 0 {
        return (0, 0.0, 0.0);
    }
    if after >= times.len() {
        return (times.len() - 1, 0.0, 0.0);
    }
    let length = times[after] - times[after - 1];
    (
        after - 1,
        if length > 0.0 {
            (time - times[after - 1]) / length
        } else {
            0.0
        },
        length,
    )
}

/// glTF's cubic Hermite spline for values `v`, with tangents scaled by the key distance.
fn hermite<T>(v0: T, out0: T, in1: T, v1: T, t: f64, length: f64) -> T
where
    T: std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let (t2, t3) = (t * t, t * t * t);
    v0 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + out0 * (length * (t3 - 2.0 * t2 + t))
        + v1 * (3.0 * t2 - 2.0 * t3)
        + in1 * (length * (t3 - t2))
}

fn sample_vector(curve: &Curve<Vec64>, time: f64) -> Vec64 {
    sampled(curve, time, |a, b, t| a.lerp(&b, t))
}

/// The value of a curve of numbers.
fn sample_number(curve: &Curve<f64>, time: f64) -> f64 {
    sampled(curve, time, |a, b, t| a * (1.0 - t) + b * t)
}

fn sampled<T>(curve: &Curve<T>, time: f64, mix: impl Fn(T, T, f64) -> T) -> T
where
    T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let (key, t, length) = locate(&curve.times_secs, time);
    let v = &curve.values;
    match curve.interpolation {
        Interpolation::Step => v[key],
        Interpolation::Linear if length > 0.0 => mix(v[key], v[key + 1], t),
        Interpolation::Linear => v[key],
        Interpolation::Cubic if length > 0.0 => hermite(
            v[3 * key + 1],
            v[3 * key + 2],
            v[3 * key + 3],
            v[3 * key + 4],
            t,
            length,
        ),
        Interpolation::Cubic => v[3 * key + 1],
    }
}

fn sample_rotation(curve: &Curve<nalgebra::Quaternion<f64>>, time: f64) -> Quat {
    let (key, t, length) = locate(&curve.times_secs, time);
    let v = &curve.values;
    let unit =
        |q: nalgebra::Quaternion<f64>| Quat::try_new(q, 1e-12).unwrap_or_else(Quat::identity);
    match curve.interpolation {
        Interpolation::Step => unit(v[key]),
        Interpolation::Linear if length > 0.0 => slerp(&unit(v[key]), &unit(v[key + 1]), t),
        Interpolation::Linear => unit(v[key]),
        Interpolation::Cubic if length > 0.0 => unit(hermite(
            v[3 * key + 1],
            v[3 * key + 2],
            v[3 * key + 3],
            v[3 * key + 4],
            t,
            length,
        )),
        Interpolation::Cubic => unit(v[3 * key + 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_constant_outside_and_interpolate_their_keys() {
        let curve = |interpolation, values: &[f64]| Curve {
            times_secs: vec![1.0, 3.0],
            values: values.iter().map(|&x| Vec64::new(x, 0.0, 0.0)).collect(),
            interpolation,
        };
        let linear = curve(Interpolation::Linear, &[2.0, 6.0]);
        for (time, expected) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (9.0, 6.0)] {
            assert!((sample_vector(&linear, time).x - expected).abs() < 1e-12);
        }
        let step = curve(Interpolation::Step, &[2.0, 6.0]);
        assert!((sample_vector(&step, 2.999).x - 2.0).abs() < 1e-12);
        // A Hermite curve whose tangents equal the slope of the chord is linear.
        let cubic = curve(Interpolation::Cubic, &[0.0, 2.0, 2.0, 2.0, 6.0, 0.0]);
        assert!((sample_vector(&cubic, 1.5).x - 3.0).abs() < 1e-12);
    }
}
