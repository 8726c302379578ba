//! Key reduction: many samples → few keys.
//!
//! Starts with the first and last sample of a joint and adds, iteratively, the worst sample of
//! every piece whose error exceeds the tolerance, with smooth slopes between (J. Ramer, "An
//! iterative procedure for the polygonal approximation of plane curves", 1972, applied to curves).
//! The result passes every sample within the tolerance.

use nalgebra::SVector;

use super::spline::auto_slope;
use super::{Ease, Key, KeyedClip};
use crate::math::{Quat, Vec64};
use crate::rig::Trs;

/// Maximum deviation of a joint from its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyTolerance {
    /// Its rotation, radians.
    pub angle_rad: f64,
    /// Its translation, in its parent's units.
    pub distance: f64,
    /// Its scale.
    pub scale: f64,
}

impl KeyTolerance {
    /// A barely visible deviation for a character of that size: a quarter of a degree, a thousandth
    /// of the size.
    #[must_use]
    pub fn of_size(size: f64) -> Self {
        Self {
            angle_rad: 0.25_f64.to_radians(),
            distance: 1e-3 * size.max(1e-9),
            scale: 1e-3,
        }
    }

    /// Distance of two transforms in units of the tolerance; at most 1 is within.
    fn exceeded(&self, a: &Trs, b: &Trs) -> f64 {
        let angle = a.rotation.angle_to(&b.rotation) / self.angle_rad;
        let distance = (a.translation - b.translation).norm() / self.distance;
        angle
            .max(distance)
            .max((a.scale - b.scale).norm() / self.scale)
    }
}

impl KeyedClip {
    /// The same motion with fewer keys, all smooth: every removed key is passed within the
    /// tolerance.
    #[must_use]
    pub fn reduced(&self, tolerance: &KeyTolerance) -> Self {
        let tracks = self
            .tracks
            .iter()
            .map(|(joint, keys)| (*joint, reduced(keys, tolerance)))
            .collect();
        Self {
            tracks,
            morphs: self.morphs.iter().map(super::morphs::reduced).collect(),
            played: std::sync::OnceLock::new(),
            ..self.clone()
        }
    }
}

/// All numbers of a sample: translation, rotation, scale.
type SampleVector = SVector<f64, 10>;

fn numbers(value: &Trs, sign: f64) -> SampleVector {
    let (t, r, s) = (value.translation, value.rotation.coords * sign, value.scale);
    SampleVector::from([t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z])
}

fn value(n: &SampleVector) -> Trs {
    let rotation = nalgebra::Quaternion::new(n[6], n[3], n[4], n[5]);
    Trs {
        translation: Vec64::new(n[0], n[1], n[2]),
        rotation: Quat::try_new(rotation, 1e-12).unwrap_or_else(Quat::identity),
        scale: Vec64::new(n[7], n[8], n[9]),
    }
}

fn reduced(keys: &[Key], tolerance: &KeyTolerance) -> Vec<Key> {
    let Some(first) = keys.first() else {
        return Vec::new();
    };
    if keys
        .iter()
        .all(|key| tolerance.exceeded(&key.value, &first.value) <= 0.01)
    {
        return vec![Key {
            ease: Ease::Smooth,
            ..first.clone()
        }];
    }
    let times: Vec<f64> = keys.iter().map(|key| key.time_secs).collect();
    let mut sign = 1.0;
    let mut samples: Vec<SampleVector> = Vec::with_capacity(keys.len());
    for (index, key) in keys.iter().enumerate() {
        if index > 0
            && keys[index - 1]
                .value
                .rotation
                .coords
                .dot(&key.value.rotation.coords)
                < 0.0
        {
            sign = -sign;
        }
        samples.push(numbers(&key.value, sign));
    }
    let mut kept = vec![0, keys.len() - 1];
    loop {
        let added = worst_of_pieces(keys, &times, &samples, &kept, tolerance);
        if added.is_empty() {
            break;
        }
        kept.extend(added);
        kept.sort_unstable();
    }
    kept.into_iter()
        .map(|key| Key {
            ease: Ease::Smooth,
            ..keys[key].clone()
        })
        .collect()
}

/// For each piece between kept samples the sample with the largest error, if that exceeds the
/// tolerance.
fn worst_of_pieces(
    keys: &[Key],
    times: &[f64],
    samples: &[SampleVector],
    kept: &[usize],
    tolerance: &KeyTolerance,
) -> Vec<usize> {
    let kept_times: Vec<f64> = kept.iter().map(|&key| times[key]).collect();
    let kept_samples: Vec<SampleVector> = kept.iter().map(|&key| samples[key]).collect();
    let slopes: Vec<SampleVector> = (0..kept.len())
        .map(|key| auto_slope(&kept_times, &kept_samples, key))
        .collect();
    let worst = |piece: usize| {
        let (from, to) = (kept[piece], kept[piece + 1]);
        let length = times[to] - times[from];
        let off = (from + 1..to).map(|sample| {
            let t = (times[sample] - times[from]) / length;
            let (t2, t3) = (t * t, t * t * t);
            let passed = samples[from] * (2.0 * t3 - 3.0 * t2 + 1.0)
                + slopes[piece] * (length * (t3 - 2.0 * t2 + t))
                + samples[to] * (3.0 * t2 - 2.0 * t3)
                + slopes[piece + 1] * (length * (t3 - t2));
            (
                tolerance.exceeded(&value(&passed), &keys[sample].value),
                sample,
            )
        });
        off.max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(exceeded, _)| *exceeded > 1.0)
            .map(|(_, sample)| sample)
    };
    (0..kept.len() - 1).filter_map(worst).collect()
}
