//! The curves of what the rules change.

use super::{NOTHING, Stance, StandingLimb};
use crate::math::{Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Interpolation, Track};

/// The joints that rules move, in one sample.
#[derive(Clone)]
pub(super) struct Solved {
    /// Translation of the hips.
    pub(super) hips: Option<Vec64>,
    /// Rotations of the three joints of every limb.
    pub(super) limbs: Vec<[Quat; 3]>,
    /// Whether a rule moves a limb.
    pub(super) is_moved: Vec<bool>,
}

impl Stance {
    /// Replaces the curves of the joints that a rule moves.
    pub(super) fn write(
        &self,
        clip: &mut Clip,
        times: &[f64],
        own_hips: &[Option<Vec64>],
        solved: &[Solved],
    ) {
        let come_down = solved.iter().zip(own_hips).any(|(solved, own)| {
            let both = solved.hips.zip(*own);
            both.is_some_and(|(now, own)| (now - own).norm() > NOTHING * (1.0 + own.norm()))
        });
        let mut replaced: Vec<Track> = Vec::new();
        if let Some(joint) = self.hips.filter(|_| come_down) {
            let values = solved.iter().filter_map(|solved| solved.hips).collect();
            replaced.push(Track {
                joint,
                channel: Channel::Translation(Curve::linear(times.to_vec(), values)),
            });
        }
        for (index, known) in self.limbs.iter().enumerate() {
            if !solved.iter().any(|solved| solved.is_moved[index]) {
                continue;
            }
            for (part, joint) in joints_of(known).into_iter().enumerate() {
                let mut before: Option<nalgebra::Quaternion<f64>> = None;
                let values = solved.iter().map(|solved| {
                    let own = solved.limbs[index][part].into_inner();
                    let near = match before {
                        Some(before) if before.coords.dot(&own.coords) < 0.0 => -own,
                        _ => own,
                    };
                    before = Some(near);
                    near
                });
                replaced.push(Track {
                    joint,
                    channel: Channel::Rotation(Curve {
                        times_secs: times.to_vec(),
                        values: values.collect(),
                        interpolation: Interpolation::Linear,
                    }),
                });
            }
        }
        let same = |a: &Track, b: &Track| {
            a.joint == b.joint
                && std::mem::discriminant(&a.channel) == std::mem::discriminant(&b.channel)
        };
        clip.tracks
            .retain(|track| !replaced.iter().any(|new| same(new, track)));
        clip.tracks.extend(replaced);
    }
}

/// The three joints of a limb.
pub(super) fn joints_of(known: &StandingLimb) -> [usize; 3] {
    [known.limb.upper, known.limb.lower, known.limb.end]
}
