//! A clip → the clip that keeps its rules.
//!
//! The clip is sampled; in every sample the hips come down as far as planted feet need, every foot is moved to its target, and lifted until
//! its sole is above the ground. Only joints that a rule moves get new curves.

use rayon::prelude::*;

use super::tracks::{Solved, joints_of};
use super::{FeetRules, NOTHING, Plant, Stance, StandingLimb};
use crate::math::{Point64, Quat, Vec64, linear_part, smoothstep};
use crate::rig::ik::{Figure, TwoBone, rotation_of};
use crate::rig::retarget::standing;
use crate::rig::{Clip, SAME_SECS};

/// Samples per second of what the rules change.
const RATE: f64 = 60.0;
/// Time in which a foot leaves the place where it was planted, seconds.
const FADE_SECS: f64 = 0.25;
/// Legs are straightened to this part of their length.
const REACH: f64 = 0.9995;
/// The hips come down and up again over about this time, seconds.
const DROP_SECS: f64 = 0.15;
/// Times are rounded to find a standing foot: shorter stands are not planted, seconds.
const SHORTEST_STAND_SECS: f64 = 0.1;
/// Rounds of lifting a foot: its sole turns a little with the toes.
const LIFTS: usize = 2;

/// A foot's place and rotation, world space.
#[derive(Debug, Clone, Copy)]
struct FootPlace {
    ankle: Point64,
    turn: Quat,
}

/// What the limbs do in one sample of the clip.
struct Sample {
    /// The feet and hands.
    ends: Vec<FootPlace>,
    /// The places of hips and shoulders.
    uppers: Vec<Point64>,
    /// Heights of the soles above the ground.
    soles: Vec<f64>,
    /// The clip's own transforms.
    own: Solved,
}

/// Where a foot has to be, relative to where the clip has it.
#[derive(Debug, Clone, Copy)]
enum Aim {
    /// The clip's own place.
    Free,
    /// A place in the world.
    Held(FootPlace),
    /// The clip's own place, and a part of the displacement at the end of a held interval.
    Leaving { shift: Vec64, turn: Quat },
}

impl Aim {
    fn is_free(&self) -> bool {
        matches!(self, Self::Free)
    }
}

impl Stance {
    /// The clip that keeps the rules; `key_times` are sampled exactly. Unchanged where the rules change nothing.
    #[must_use]
    pub fn hold(&self, mut clip: Clip, rules: &FeetRules, key_times: &[f64]) -> Clip {
        let kept = |plant: &Plant| self.limbs.iter().any(|known| known.limb.end == plant.joint);
        let rules = FeetRules::new(
            rules.plants().iter().copied().filter(kept),
            rules.above_ground,
        );
        if rules.is_empty() {
            return clip;
        }
        let times = sample_times(clip.duration_secs, &rules, key_times);
        let samples: Vec<Sample> = times
            .par_iter()
            .map(|&time| self.sample(&clip, time))
            .collect();
        let aims: Vec<Vec<Aim>> = (0..self.limbs.len())
            .map(|limb| self.aims(limb, &rules, &times, &samples))
            .collect();
        let drops = self.drops(&aims, &samples);
        let solved: Vec<Solved> = times
            .par_iter()
            .enumerate()
            .map(|(index, &time)| {
                let aims: Vec<Aim> = aims.iter().map(|aims| aims[index]).collect();
                let sample = &samples[index];
                let sinks = rules.above_ground && self.sinks(sample);
                if drops[index] == 0.0 && !sinks && aims.iter().all(Aim::is_free) {
                    return sample.own.clone();
                }
                self.solve(&clip, time, &aims, drops[index], rules.above_ground)
            })
            .collect();
        let own_hips: Vec<Option<Vec64>> = samples.iter().map(|sample| sample.own.hips).collect();
        self.write(&mut clip, &times, &own_hips, &solved);
        clip
    }

    /// The intervals in which the feet of a clip stand nearly still on the ground.
    #[must_use]
    pub fn standing_feet(&self, clip: &Clip) -> Vec<Plant> {
        let times = sample_times(clip.duration_secs, &FeetRules::default(), &[]);
        let samples: Vec<Sample> = times
            .par_iter()
            .map(|&time| self.sample(clip, time))
            .collect();
        let mut plants = Vec::new();
        for (limb, known) in self.limbs.iter().enumerate() {
            if known.sole.is_empty() {
                continue;
            }
            let places: Vec<Vec64> = samples
                .iter()
                .map(|sample| sample.ends[limb].ankle.coords)
                .collect();
            let stands = standing(&places, &times, &self.up, known.length);
            plants.extend(stands.into_iter().filter_map(|(first, last)| {
                let (from_secs, to_secs) = (times[first], times[last]);
                (to_secs - from_secs >= SHORTEST_STAND_SECS).then_some(Plant {
                    joint: known.limb.end,
                    from_secs,
                    to_secs,
                })
            }));
        }
        plants
    }

    /// How far a hip has to come down so that its leg reaches a place, world units.
    pub(super) fn drop_to_reach(&self, hip: &Point64, place: &Point64, length: f64) -> f64 {
        let way = hip - place;
        let reach = length * REACH;
        if way.norm() <= reach {
            return 0.0;
        }
        let height = way.dot(&self.up);
        let level = (way - self.up * height).norm_squared();
        let reached = (reach * reach - level).max(0.0).sqrt();
        (height - reached).max(0.0)
    }

    /// Height of the lowest point of a sole above the ground.
    pub(super) fn height_of_sole(&self, figure: &Figure<'_>, limb: usize) -> f64 {
        let points = self.limbs[limb].sole.iter();
        let heights = points
            .map(|(joint, local)| figure.point(*joint, local).coords.dot(&self.up) - self.ground);
        heights.fold(f64::INFINITY, f64::min)
    }

    fn sample(&self, clip: &Clip, time_secs: f64) -> Sample {
        let figure = Figure::new(&self.skeleton, clip.sample(&self.skeleton, time_secs));
        Sample {
            ends: self.ends(&figure),
            uppers: self
                .limbs
                .iter()
                .map(|known| figure.place(known.limb.upper))
                .collect(),
            soles: (0..self.limbs.len())
                .map(|limb| self.height_of_sole(&figure, limb))
                .collect(),
            own: self.solved(&figure, vec![false; self.limbs.len()]),
        }
    }

    fn ends(&self, figure: &Figure<'_>) -> Vec<FootPlace> {
        let end = |known: &StandingLimb| FootPlace {
            ankle: figure.place(known.limb.end),
            turn: rotation_of(&figure.world[known.limb.end]),
        };
        self.limbs.iter().map(end).collect()
    }

    /// The local transforms of the joints that rules move.
    fn solved(&self, figure: &Figure<'_>, is_moved: Vec<bool>) -> Solved {
        let locals = &figure.pose.locals;
        let turns = |known: &StandingLimb| joints_of(known).map(|joint| locals[joint].rotation);
        Solved {
            hips: self.hips.map(|hips| locals[hips].translation),
            limbs: self.limbs.iter().map(turns).collect(),
            is_moved,
        }
    }

    /// Whether a sole is below the ground.
    fn sinks(&self, sample: &Sample) -> bool {
        let mut soles = self.limbs.iter().zip(&sample.soles);
        soles.any(|(known, height)| *height < -NOTHING * known.length)
    }

    /// Where a foot has to be in every sample.
    fn aims(&self, limb: usize, rules: &FeetRules, times: &[f64], samples: &[Sample]) -> Vec<Aim> {
        let mut aims = vec![Aim::Free; times.len()];
        let plants: Vec<&Plant> = rules.plants_of(self.limbs[limb].limb.end).collect();
        let index_at = |time: f64| {
            let index = times.partition_point(|&known| known < time - SAME_SECS);
            index.min(times.len() - 1)
        };
        for (number, plant) in plants.iter().enumerate() {
            let (first, last) = (index_at(plant.from_secs), index_at(plant.to_secs));
            let mut held = samples[first].ends[limb];
            if rules.above_ground {
                let lift = (-samples[first].soles[limb]).max(0.0);
                held.ankle += self.up * if lift.is_finite() { lift } else { 0.0 };
            }
            aims[first..=last].fill(Aim::Held(held));
            let own = samples[last].ends[limb];
            let (shift, turn) = (held.ankle - own.ankle, held.turn * own.turn.inverse());
            let next = plants.get(number + 1);
            let end = times[last];
            let fade = next.map_or(FADE_SECS, |next| FADE_SECS.min(next.from_secs - end));
            for index in last + 1..times.len() {
                let part = 1.0 - smoothstep([0.0, 1.0], (times[index] - end) / fade.max(SAME_SECS));
                if part <= 0.0 {
                    break;
                }
                aims[index] = Aim::Leaving {
                    shift: shift * part,
                    turn: Quat::identity()
                        .try_slerp(&turn, part, 1e-9)
                        .unwrap_or_else(Quat::identity),
                };
            }
        }
        aims
    }

    /// How far the hips come down in every sample: at least as far as the legs of planted feet need, and smoothly.
    fn drops(&self, aims: &[Vec<Aim>], samples: &[Sample]) -> Vec<f64> {
        let needed: Vec<f64> = samples
            .iter()
            .enumerate()
            .map(|(index, sample)| {
                let drops = aims.iter().enumerate().filter_map(|(limb, aims)| {
                    let known = &self.limbs[limb];
                    let Aim::Held(place) = aims[index] else {
                        return None;
                    };
                    let hip = &sample.uppers[limb];
                    // What the clip itself stretches is not the rule's.
                    let own = self.drop_to_reach(hip, &sample.ends[limb].ankle, known.length);
                    let drop = self.drop_to_reach(hip, &place.ankle, known.length);
                    (!known.sole.is_empty()).then_some((drop - own).max(0.0))
                });
                drops.fold(0.0, f64::max)
            })
            .collect();
        if self.hips.is_none() {
            return vec![0.0; samples.len()];
        }
        let half = (DROP_SECS * RATE / 2.0).ceil() as usize;
        let highest = |window: &[f64]| window.iter().copied().fold(0.0, f64::max);
        let mean = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
        // The mean of a window of maxima is not below the value in its middle.
        over_windows(
            &over_windows(&over_windows(&needed, 2 * half, highest), half, mean),
            half,
            mean,
        )
    }

    fn solve(
        &self,
        clip: &Clip,
        time_secs: f64,
        aims: &[Aim],
        drop: f64,
        above_ground: bool,
    ) -> Solved {
        let mut figure = Figure::new(&self.skeleton, clip.sample(&self.skeleton, time_secs));
        let before = self.ends(&figure);
        if let Some(hips) = self.hips.filter(|_| drop > 0.0) {
            move_joint(&mut figure, hips, &(-self.up * drop));
        }
        let mut is_moved = vec![false; self.limbs.len()];
        for (limb, known) in self.limbs.iter().enumerate() {
            let own = before[limb];
            let mut target = match aims[limb] {
                // Arms go down with the body; feet stay.
                Aim::Free if known.sole.is_empty() => continue,
                Aim::Free => own,
                Aim::Held(place) => place,
                Aim::Leaving { shift, turn } => FootPlace {
                    ankle: own.ankle + shift,
                    turn: turn * own.turn,
                },
            };
            let start = figure.clone();
            self.place_foot(&start, &mut figure, limb, &target);
            for _ in 0..LIFTS {
                let sunk = -self.height_of_sole(&figure, limb);
                if !above_ground || !sunk.is_finite() || sunk <= NOTHING * known.length {
                    break;
                }
                target.ankle += self.up * sunk;
                self.place_foot(&start, &mut figure, limb, &target);
            }
            let turned = target.turn.angle_to(&own.turn);
            is_moved[limb] = drop > 0.0
                || turned > NOTHING
                || (target.ankle - own.ankle).norm() > NOTHING * known.length;
        }
        self.solved(&figure, is_moved)
    }

    /// Bends a leg so that the foot comes to a place with a rotation.
    fn place_foot(
        &self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        limb: usize,
        target: &FootPlace,
    ) {
        let limb = self.limbs[limb].limb;
        let apart = (target.ankle - start.place(limb.end)).norm();
        for joint in [limb.upper, limb.lower, limb.end] {
            figure.pose.locals[joint] = start.pose.locals[joint];
        }
        figure.refresh_all();
        if apart > 0.0
            && let Some(mut bones) = TwoBone::begin(start, limb, &start.place(limb.end))
        {
            bones.solve(figure, &target.ankle);
            figure.refresh_all();
        }
        figure.pose.locals[limb.end].rotation = figure.base_turn(limb.end).inverse() * target.turn;
        figure.refresh_all();
    }
}

/// The times to sample: a grid, and the exact times of keys and of the intervals' ends.
fn sample_times(duration_secs: f64, rules: &FeetRules, key_times: &[f64]) -> Vec<f64> {
    let count = (duration_secs * RATE).ceil() as usize;
    let ends = rules
        .plants()
        .iter()
        .flat_map(|plant| [plant.from_secs, plant.to_secs]);
    let mut times: Vec<f64> = key_times
        .iter()
        .copied()
        .chain(ends)
        .chain((0..=count).map(|frame| frame as f64 / RATE))
        .filter(|time| (0.0..=duration_secs).contains(time))
        .chain([duration_secs])
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|later, earlier| *later - *earlier < SAME_SECS);
    times
}

/// A function of the window of `half` values on both sides of every value.
fn over_windows(values: &[f64], half: usize, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    (0..values.len())
        .map(|at| {
            let to = (at + half + 1).min(values.len());
            of(&values[at.saturating_sub(half)..to])
        })
        .collect()
}

/// Moves a joint by a step in world space.
pub(super) fn move_joint(figure: &mut Figure<'_>, joint: usize, step: &Vec64) {
    if let Some(base_from_world) = linear_part(&figure.base(joint)).try_inverse() {
        figure.pose.locals[joint].translation += base_from_world * step;
        figure.refresh_all();
    }
}
