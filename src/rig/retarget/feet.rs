//! Prevents standing feet from sliding.
//!
//! If bones have equal directions but legs have other proportions, ankles are at other positions.
//! While the motion's foot stands, the character's foot is kept from moving relative to it: hip and
//! knee rotate slightly (two bones, in closed form), and the foot keeps its rotation. Between two
//! contact phases the correction is interpolated.

use super::role::{Role, Side};
use super::stance::{Landmarks, swing, unit};
use crate::math::{Affine, Quat, Vec64, origin_of, smoothstep};

/// A foot stands if it is slower than this (leg lengths per second) and lower than that (leg
/// lengths above its minimum).
const STANDING_SPEED: f64 = 0.3;
const STANDING_HEIGHT: f64 = 0.12;
/// Maximum correction, in leg lengths.
const MOST: f64 = 0.2;
/// Fade-out time of a correction without a following contact phase, seconds.
const FADE_SECS: f64 = 0.3;

/// One leg of the character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    pub thigh: usize,
    pub shin: usize,
    pub foot: usize,
}

impl Leg {
    pub fn of(marks: &Landmarks, side: Side) -> Option<Self> {
        let [thigh, shin, foot] = [Role::Thigh(side), Role::Shin(side), Role::Foot(side)]
            .map(|role| marks.joints(role).first().copied());
        Some(Self {
            thigh: thigh?,
            shin: shin?,
            foot: foot?,
        })
    }

    /// World rotations of hip and knee that move the ankle by `step`.
    pub fn reach(&self, world: &[Affine], step: &Vec64) -> Option<[Quat; 2]> {
        let [hip, knee, ankle] =
            [self.thigh, self.shin, self.foot].map(|joint| origin_of(&world[joint]).coords);
        let (upper, lower) = ((knee - hip).norm(), (ankle - knee).norm());
        let (thigh, shin, along) = (unit(knee - hip)?, unit(ankle - knee)?, unit(ankle - hip)?);
        let wanted = ankle + step - hip;
        let far = wanted.norm().clamp(
            (upper - lower).abs() * 1.0001 + 1e-9,
            (upper + lower) * 0.9999,
        );
        // A straight leg has no bending plane; it is only rotated.
        let bent = match unit(thigh.cross(&shin)) {
            Some(hinge) if thigh.cross(&shin).norm() > 1e-3 => {
                let cosine = (upper * upper + far * far - lower * lower) / (2.0 * upper * far);
                let first = Quat::new(hinge * -cosine.clamp(-1.0, 1.0).acos()) * along;
                let second = unit(along * far - first * upper)?;
                [swing(&thigh, &first, &hinge), swing(&shin, &second, &hinge)]
            }
            _ => [Quat::identity(); 2],
        };
        let whole = swing(&along, &unit(wanted)?, &thigh);
        Some(bent.map(|turn| whole * turn))
    }
}

/// Correction of an ankle in every frame. `own` and `partner` are the positions of the ankles, the
/// partner's in the character's axes and scale; `leg` is the length of a leg.
pub(super) fn corrections(
    own: &[Vec64],
    partner: &[Vec64],
    times_secs: &[f64],
    up: &Vec64,
    leg: f64,
) -> Vec<Vec64> {
    let level = |v: Vec64| v - up * v.dot(up);
    let mut steps = vec![Vec64::zeros(); own.len()];
    let stands = standing(partner, times_secs, up, leg);
    for &(first, last) in &stands {
        let apart: Vec<Vec64> = (first..=last)
            .map(|frame| level(own[frame] - partner[frame]))
            .collect();
        let mean = apart.iter().sum::<Vec64>() / apart.len() as f64;
        for (frame, apart) in (first..=last).zip(&apart) {
            let step = mean - apart;
            steps[frame] = step * (MOST * leg / step.norm().max(1e-300)).min(1.0);
        }
    }
    let ends: Vec<(Option<usize>, Option<usize>)> =
        std::iter::once((None, stands.first().map(|stand| stand.0)))
            .chain(
                stands.iter().enumerate().map(|(index, stand)| {
                    (Some(stand.1), stands.get(index + 1).map(|next| next.0))
                }),
            )
            .collect();
    for (before, after) in ends {
        for frame in before.map_or(0, |frame| frame + 1)..after.unwrap_or(own.len()) {
            let time = times_secs[frame];
            // Over a long interval each side fades separately; over a short one they are blended.
            let span = before.zip(after).map_or(FADE_SECS, |(a, b)| {
                (times_secs[b] - times_secs[a]).min(FADE_SECS)
            });
            let part = |end: usize| {
                steps[end]
                    * smoothstep(
                        [0.0, 1.0],
                        1.0 - (time - times_secs[end]).abs() / span.max(1e-9),
                    )
            };
            steps[frame] =
                before.map_or_else(Vec64::zeros, part) + after.map_or_else(Vec64::zeros, part);
        }
    }
    steps
}

/// First and last frames of the intervals in which a foot stands.
pub(in crate::rig) fn standing(
    partner: &[Vec64],
    times_secs: &[f64],
    up: &Vec64,
    leg: f64,
) -> Vec<(usize, usize)> {
    let lowest = partner
        .iter()
        .map(|place| place.dot(up))
        .fold(f64::INFINITY, f64::min);
    let stands = |frame: usize| {
        let (before, after) = (frame.saturating_sub(1), (frame + 1).min(partner.len() - 1));
        let way = (partner[after] - partner[before]).norm();
        way < STANDING_SPEED * leg * (times_secs[after] - times_secs[before])
            && partner[frame].dot(up) < lowest + STANDING_HEIGHT * leg
    };
    let mut found: Vec<(usize, usize)> = Vec::new();
    for frame in (0..partner.len()).filter(|&frame| stands(frame)) {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == frame => *last = frame,
            _ => found.push((frame, frame)),
        }
    }
    found.retain(|(first, last)| last > first);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;
    use crate::rig::Skeleton;

    #[test]
    fn the_ankle_reaches_its_target() {
        let p = Point64::new;
        let joints = [
            ("a", None, p(0.0, 1.0, 0.0)),
            ("b", Some(0), p(0.0, 0.55, 0.1)),
            ("c", Some(1), p(0.02, 0.1, 0.0)),
        ];
        let skeleton = Skeleton::from_positions(
            &joints.map(|(name, parent, place)| (name.to_owned(), parent, place)),
        )
        .unwrap();
        let leg = Leg {
            thigh: 0,
            shin: 1,
            foot: 2,
        };
        let world = skeleton.bind_transforms();
        for step in [
            Vec64::new(0.1, 0.0, 0.05),
            Vec64::new(-0.1, 0.2, -0.2),
            Vec64::new(0.0, 0.0, 0.0),
        ] {
            let [thigh, shin] = leg.reach(&world, &step).unwrap();
            let at = |joint: usize| skeleton.bind_position(joint);
            let knee = at(0) + thigh * (at(1) - at(0));
            let ankle = knee + shin * (at(2) - at(1));
            assert!((ankle - at(2) - step).norm() < 1e-9, "{ankle} for {step}");
            assert!(
                (knee - at(0)).cross(&(ankle - knee)).x > 0.0,
                "the knee still bends to the front"
            );
        }
        let [thigh, shin] = leg.reach(&world, &Vec64::new(0.0, -9.0, 0.0)).unwrap();
        assert!(
            thigh.angle() < 0.5 && shin.angle() < 0.5,
            "what is out of reach straightens the leg"
        );
    }

    #[test]
    fn a_standing_foot_follows_its_partner_and_a_swinging_one_little() {
        let times: Vec<f64> = (0..90).map(|frame| frame as f64 / 30.0).collect();
        // Stands for a second, swings for one, stands again.
        let partner: Vec<Vec64> = times
            .iter()
            .map(|t| Vec64::new((t - 1.0).clamp(0.0, 1.0), 0.0, 0.0))
            .collect();
        let own: Vec<Vec64> = times
            .iter()
            .zip(&partner)
            .map(|(t, place)| place + Vec64::z() * (0.02 * (3.0 * t).sin()))
            .collect();
        let steps = corrections(&own, &partner, &times, &Vec64::y(), 0.9);
        let moved = |frame: usize| own[frame] + steps[frame];
        for frame in (1..28).chain(63..89) {
            assert!((moved(frame) - moved(frame + 1)).norm() < 1e-9, "{frame}");
        }
        assert!(
            (0..89).all(|frame| (steps[frame + 1] - steps[frame]).norm() < 0.01),
            "without a jump"
        );
        assert!(
            steps[45].norm() < 1e-9,
            "in the middle of the swing it is left alone"
        );
        assert!(corrections(&[], &[], &[], &Vec64::y(), 1.0).is_empty());
    }
}
