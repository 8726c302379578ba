//! Analysis of a motion before retargeting.

use std::collections::BTreeMap;

use super::mapping::{Link, SignedAxis};
use super::role::{Role, Side};
use super::stance::{Landmarks, Stance, unit};
use super::{Mapping, RetargetError};
use crate::math::Vec64;
use crate::rig::{Clip, Skeleton};

/// Maximum number of frames sampled for the analysis.
const LOOKS: usize = 240;
/// A first frame is not part of the motion if joints rotate by more than this to the second frame …
const JUMP: f64 = 0.12;
/// … and by this factor more than usual.
const JUMP_FACTOR: f64 = 8.0;
/// A stance is accepted if its worst feature exceeds this score.
const PLAUSIBLE: f64 = 0.35;

/// Minimum duration of standing, seconds.
const STANDING_SECS: f64 = 0.05;

/// A motion and the results of its analysis.
pub(super) struct SourceMotion<'a> {
    pub skeleton: &'a Skeleton,
    pub clip: &'a Clip,
    pub marks: Landmarks,
    /// The key times.
    pub times_secs: Vec<f64>,
    pub first_left_out: bool,
    pub up: SignedAxis,
    /// The stance from which rotations are measured.
    pub stance: Stance,
    /// Whether the stance is a frame of the motion, in which feet may not be flat.
    pub stance_is_a_moment: bool,
    /// Bend axes of the limbs, in the stance, by the upper bone's role.
    pub hinges: BTreeMap<Role, Vec64>,
    /// The up direction of standing feet, mapped to the stance, by the foot's role: in the stance a
    /// foot may be on tiptoe.
    pub soles: BTreeMap<Role, Vec64>,
}

impl<'a> SourceMotion<'a> {
    pub fn of(
        skeleton: &'a Skeleton,
        clip: &'a Clip,
        links: &[Link],
        mapping: &Mapping,
    ) -> Result<Self, RetargetError> {
        let marks = Landmarks::of(links.iter().map(|link| (link, link.source.as_slice())));
        let mut times_secs = key_times(clip);
        if times_secs.is_empty() {
            return Err(RetargetError::Empty);
        }
        let mut motion = Self {
            skeleton,
            clip,
            marks,
            times_secs: Vec::new(),
            first_left_out: false,
            up: SignedAxis::Y,
            stance: Stance::of_pose(skeleton, &skeleton.rest_pose()),
            stance_is_a_moment: false,
            hinges: BTreeMap::new(),
            soles: BTreeMap::new(),
        };
        motion.first_left_out = motion.first_is_apart(&times_secs);
        let first = motion.at(times_secs[0]);
        if motion.first_left_out {
            times_secs.remove(0);
        }
        let step = times_secs.len().div_ceil(LOOKS);
        let looks: Vec<Stance> = times_secs
            .iter()
            .step_by(step)
            .map(|&time| motion.at(time))
            .collect();
        if !looks.iter().all(Stance::is_finite) || !motion.stance.is_finite() {
            return Err(RetargetError::NotFinite);
        }
        motion.times_secs = times_secs;
        motion.up = mapping.up.unwrap_or_else(|| motion.find_up(&looks));
        motion.stance_is_a_moment = motion.choose_stance(first, &looks);
        motion.find_hinges(&looks);
        motion.find_soles();
        Ok(motion)
    }

    /// World transforms of the motion's joints at a time.
    pub fn at(&self, time_secs: f64) -> Stance {
        Stance::of_pose(self.skeleton, &self.clip.sample(self.skeleton, time_secs))
    }

    /// Whether the first frame is unrelated to the motion.
    fn first_is_apart(&self, times_secs: &[f64]) -> bool {
        let poses: Vec<_> = times_secs
            .iter()
            .take(14)
            .map(|&time| self.clip.sample(self.skeleton, time))
            .collect();
        if poses.len() < 6 {
            return false;
        }
        let joints = self.skeleton.len().max(1) as f64;
        let change = |pair: &[crate::rig::Pose]| {
            pair[0]
                .locals
                .iter()
                .zip(&pair[1].locals)
                .map(|(a, b)| a.rotation.angle_to(&b.rotation))
                .sum::<f64>()
                / joints
        };
        let mut changes: Vec<f64> = poses.windows(2).map(change).collect();
        let first = changes.remove(0);
        changes.sort_unstable_by(f64::total_cmp);
        first > JUMP && first > JUMP_FACTOR * changes[changes.len() / 2]
    }

    /// The mean up axis of the body.
    fn find_up(&self, looks: &[Stance]) -> SignedAxis {
        let sum: Vec64 = looks.iter().filter_map(|look| self.marks.up(look)).sum();
        let mean = sum / looks.len().max(1) as f64;
        // A body that constantly rotates gives no axis; its rest pose is used.
        let said = if mean.norm() > 0.3 {
            Some(mean)
        } else {
            self.marks.up(&self.stance)
        };
        said.map_or(SignedAxis::Y, |up| SignedAxis::nearest(&up))
    }

    /// Chooses the stance; returns whether it is a frame of the motion.
    fn choose_stance(&mut self, first: Stance, looks: &[Stance]) -> bool {
        let rest_up = self
            .marks
            .up(&self.stance)
            .map_or(self.up, |up| SignedAxis::nearest(&up));
        let (rest, worst) = self.marks.portrait(&self.stance, &rest_up.vector());
        let vertical = self.up.vector();
        if self.first_left_out {
            let (score, worst) = self.marks.portrait(&first, &vertical);
            if worst > PLAUSIBLE && score > rest {
                self.stance = first;
                return false;
            }
        }
        if worst > PLAUSIBLE {
            return false;
        }
        let better = |look: &Stance| self.marks.portrait(look, &vertical).0;
        let best = looks
            .iter()
            .map(|look| (better(look), look))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((score, look)) = best
            && score > rest
        {
            self.stance = look.clone();
            return true;
        }
        false
    }

    /// The bend axis of elbows and knees, if the motion bends them far enough and about a constant
    /// axis.
    fn find_hinges(&mut self, looks: &[Stance]) {
        let limbs = |side| {
            [
                (Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)),
                (Role::Thigh(side), Role::Shin(side), Role::Foot(side)),
            ]
        };
        for (upper, lower, end) in Side::BOTH.into_iter().flat_map(limbs) {
            let Some(&joint) = self.marks.joints(upper).first() else {
                continue;
            };
            let (mut sum, mut total) = (Vec64::zeros(), 0.0);
            for look in looks {
                let place = |role| self.marks.place(look, role);
                let (Some(a), Some(b), Some(c)) = (place(upper), place(lower), place(end)) else {
                    break;
                };
                let (Some(first), Some(second)) = (unit(b - a), unit(c - b)) else {
                    break;
                };
                let bend = first.cross(&second);
                sum += self.stance.turns[joint] * (look.turns[joint].inverse() * bend);
                total += bend.norm();
            }
            let mean_bend = total / looks.len().max(1) as f64;
            if mean_bend > 0.15
                && sum.norm() > 0.75 * total
                && let Some(hinge) = unit(sum)
            {
                self.hinges.insert(upper, hinge);
            }
        }
    }

    /// The up direction of a foot when it stands: ankle and toes are both slow and low.
    fn find_soles(&mut self) {
        let up = self.up.vector();
        let [Some(leg), ..] = Self::lengths(&self.marks, &self.stance, &up) else {
            return;
        };
        let step = self.times_secs.len().div_ceil(LOOKS / 2);
        let looks: Vec<[Stance; 2]> = self
            .times_secs
            .iter()
            .step_by(step)
            .map(|&time| [self.at(time), self.at(time + STANDING_SECS)])
            .collect();
        for side in Side::BOTH {
            let foot = Role::Foot(side);
            let Some(&ankle) = self.marks.joints(foot).first() else {
                continue;
            };
            let toe = self
                .marks
                .joints(Role::Toe(side))
                .first()
                .copied()
                .unwrap_or(ankle);
            let lowest = looks
                .iter()
                .map(|[look, _]| look.places[ankle].dot(&up))
                .fold(f64::INFINITY, f64::min);
            let stands = |[now, soon]: &&[Stance; 2]| {
                let moved =
                    [ankle, toe].map(|joint| (now.places[joint] - soon.places[joint]).norm());
                moved.iter().all(|moved| *moved < 0.2 * leg * STANDING_SECS)
                    && now.places[ankle].dot(&up) < lowest + 0.12 * leg
            };
            let ups: Vec<Vec64> = looks
                .iter()
                .filter(stands)
                .map(|[now, _]| self.stance.turns[ankle] * (now.turns[ankle].inverse() * up))
                .collect();
            let sum: Vec64 = ups.iter().sum();
            if ups.len() >= 5
                && sum.norm() > 0.95 * ups.len() as f64
                && let Some(sole) = unit(sum)
            {
                self.soles.insert(foot, sole);
            }
        }
    }

    /// Reference lengths for the scale, most reliable first: of the legs, between the shoulders,
    /// total height.
    pub fn lengths(marks: &Landmarks, stance: &Stance, up: &Vec64) -> [Option<f64>; 3] {
        let leg = |side| {
            let [hip, knee, ankle] = [Role::Thigh(side), Role::Shin(side), Role::Foot(side)]
                .map(|role| marks.place(stance, role));
            Some((knee? - hip?).norm() + (ankle? - knee?).norm())
        };
        let legs: Vec<f64> = Side::BOTH.into_iter().filter_map(leg).collect();
        let mean = legs.iter().sum::<f64>() / legs.len().max(1) as f64;
        let shoulders = Side::BOTH.map(|side| marks.place(stance, Role::UpperArm(side)));
        let shoulders = shoulders[0]
            .zip(shoulders[1])
            .map(|(left, right)| (left - right).norm());
        let heights = || stance.places.iter().map(|place| place.dot(up));
        let height =
            heights().fold(f64::NEG_INFINITY, f64::max) - heights().fold(f64::INFINITY, f64::min);
        [Some(mean), shoulders, Some(height)]
            .map(|length| length.filter(|length| *length > 0.0 && length.is_finite()))
    }
}

/// Key times: those of the track with most keys, or 60 per second if there are few.
fn key_times(clip: &Clip) -> Vec<f64> {
    use crate::rig::Channel;
    let of = |channel: &Channel| match channel {
        Channel::Translation(curve) | Channel::Scale(curve) => curve.times_secs.clone(),
        Channel::Rotation(curve) => curve.times_secs.clone(),
    };
    let busiest =
        clip.tracks
            .iter()
            .map(|track| &track.channel)
            .max_by_key(|channel| match channel {
                Channel::Translation(curve) | Channel::Scale(curve) => curve.times_secs.len(),
                Channel::Rotation(curve) => curve.times_secs.len(),
            });
    let Some(times) = busiest.map(of) else {
        return Vec::new();
    };
    if times.len() as f64 >= clip.duration_secs * 15.0 {
        return times;
    }
    let steps = (clip.duration_secs * 60.0).ceil().clamp(1.0, 1e6) as usize;
    (0..=steps)
        .map(|step| clip.duration_secs * step as f64 / steps as f64)
        .collect()
}
