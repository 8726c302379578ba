//! Transfers a motion frame by frame: joint rotations, hip translation, feet on the ground.

mod bind;
mod legs;

use self::bind::{Driver, Root, body_turn, drivers, stance_of_character};
use std::collections::BTreeMap;

use super::align::Alignment;
use super::feet::Leg;
use super::ground::{Soles, ground_of, smoothed};
use super::mapping::{Link, Mapping, SignedAxis};
use super::role::{Role, Side};
use super::source::SourceMotion;
use super::stance::{Landmarks, Stance};
use super::{RetargetError, Retargeted};
use crate::math::{Quat, Vec64};
use crate::progress::Progress;
use crate::rig::trs::slerp;
use crate::rig::{Channel, Clip, Curve, Skeleton, Track, Trs};

/// Data that does not change between frames.
struct Transfer<'a> {
    motion: SourceMotion<'a>,
    target: &'a Skeleton,
    /// Maps world axes of the motion to those of the character.
    axes: Quat,
    /// Per joint of the character.
    drivers: Vec<Option<Driver>>,
    /// Rotation of the constant transform above each joint.
    base_turns: Vec<Quat>,
    root: Root,
    source_soles: Option<Soles>,
    target_soles: Option<Soles>,
    legs: [Option<Leg>; 2],
}

/// One frame of the result.
struct RetargetedFrame {
    turns: Vec<Quat>,
    hips: Vec64,
    /// Height correction that raises the character's feet to the height of the motion's.
    lift: f64,
    /// The motion's ankle positions, in the character's axes and scale.
    ankles: [Vec64; 2],
}

pub(super) fn transfer(
    source: &Skeleton,
    clip: &Clip,
    target: &Skeleton,
    mapping: &Mapping,
    links: &[Link],
    progress: &Progress,
) -> Result<Retargeted, RetargetError> {
    let hips = links.iter().any(|link| link.role == Some(Role::Hips));
    // A body needs hips; for other creatures most joints must match.
    if links.is_empty() || (!hips && links.len() * 2 < target.len().min(source.len())) {
        return Err(RetargetError::NoMatch {
            matched: links.len(),
            hips,
        });
    }
    let motion = SourceMotion::of(source, clip, links, mapping)?;
    let mut work = Transfer::new(motion, target, mapping, links);
    let lows = work.source_lows(progress)?;
    let ground = ground_of(&lows);
    let mut frames = Vec::with_capacity(lows.len());
    for (index, low) in lows.iter().enumerate() {
        if index % 64 == 0 {
            progress.check()?;
        }
        frames.push(work.frame(index, low - ground, ground));
    }
    work.finish(clip.name.clone(), &frames, ground)
}

impl<'a> Transfer<'a> {
    fn new(
        motion: SourceMotion<'a>,
        target: &'a Skeleton,
        mapping: &Mapping,
        links: &[Link],
    ) -> Self {
        let marks = Landmarks::of(links.iter().map(|link| (link, link.target.as_slice())));
        let target_stance = stance_of_character(target, &marks);
        let target_up = marks
            .up(&target_stance)
            .map_or(SignedAxis::Y, |up| SignedAxis::nearest(&up));
        let has_body =
            marks.up(&target_stance).is_some() && motion.marks.up(&motion.stance).is_some();
        let axes = if has_body || mapping.up.is_some() {
            motion.up.turn_to(target_up)
        } else {
            Quat::identity()
        };
        let source_stance = motion.stance.turned(&axes);
        let turned = |found: &BTreeMap<Role, Vec64>| {
            found
                .iter()
                .map(|(role, direction)| (*role, axes * direction))
                .collect()
        };
        let (hinges, soles) = (turned(&motion.hinges), turned(&motion.soles));
        let alignment = Alignment {
            target,
            target_stance: &target_stance,
            target_marks: &marks,
            source: motion.skeleton,
            source_stance: &source_stance,
            source_marks: &motion.marks,
            body: body_turn(
                &motion,
                &source_stance,
                &axes,
                &marks,
                &target_stance,
                target_up,
            ),
            hinges: &hinges,
            soles: &soles,
            on_tiptoe: motion.stance_is_a_moment,
            own_up: target_up.vector(),
        };
        let drivers = drivers(&alignment, links);
        let root = Root::of(&alignment, &motion, mapping, &drivers);
        let source_soles = Soles::of(
            motion.skeleton,
            &motion.stance,
            &motion.marks,
            motion.up.vector(),
        );
        let base_turns = target
            .joints()
            .iter()
            .map(|joint| Trs::from_affine(&joint.parent_from_base).rotation)
            .collect();
        let both_feet = Side::BOTH
            .iter()
            .all(|side| !motion.marks.joints(Role::Foot(*side)).is_empty());
        Self {
            target_soles: Soles::of(target, &target_stance, &marks, root.up),
            legs: Side::BOTH.map(|side| Leg::of(&marks, side).filter(|_| both_feet)),
            motion,
            target,
            axes,
            drivers,
            base_turns,
            root,
            source_soles,
        }
    }

    /// Height of the motion's lowest foot point, frame by frame; of its hips, if it has no feet.
    fn source_lows(&self, progress: &Progress) -> Result<Vec<f64>, RetargetError> {
        let up = self.motion.up.vector();
        let mut lows = Vec::with_capacity(self.motion.times_secs.len());
        for (index, &time) in self.motion.times_secs.iter().enumerate() {
            if index % 64 == 0 {
                progress.check()?;
            }
            let stance = self.motion.at(time);
            if !stance.is_finite() {
                return Err(RetargetError::NotFinite);
            }
            lows.push(match &self.source_soles {
                Some(soles) => soles.lowest(|joint| (stance.places[joint], stance.turns[joint])),
                None => self.root.source_start.dot(&up),
            });
        }
        Ok(lows)
    }

    fn frame(&mut self, index: usize, height: f64, ground: f64) -> RetargetedFrame {
        let stance = self.motion.at(self.motion.times_secs[index]);
        let (axes, axes_back) = (self.axes, self.axes.inverse());
        let turn = |joint: Option<usize>| {
            joint.map_or_else(Quat::identity, |j| {
                axes * stance.turns[j] * self.motion.stance.turns[j].inverse() * axes_back
            })
        };
        let mut turns: Vec<Quat> = Vec::with_capacity(self.target.len());
        let mut pose = self.target.rest_pose();
        for (joint, driver) in self.drivers.iter().enumerate() {
            let rig = &self.target.joints()[joint];
            let base = rig
                .parent
                .map_or_else(Quat::identity, |parent| turns[parent])
                * self.base_turns[joint];
            let world = match driver {
                Some(Driver {
                    ready,
                    between: [below, above],
                    fraction,
                }) => {
                    let moved = if *fraction > 0.0 {
                        slerp(&turn(*below), &turn(*above), *fraction)
                    } else {
                        turn(*below)
                    };
                    moved * ready
                }
                None => base * rig.rest.rotation,
            };
            pose.locals[joint].rotation = base.inverse() * world;
            turns.push(world);
        }
        let hips = self.hips_place(&stance, &turns, ground);
        let lift = self.lift(&mut pose, hips, height);
        let ankle = |side| {
            self.motion
                .marks
                .place(&stance, Role::Foot(side))
                .unwrap_or_default()
        };
        let ankles = Side::BOTH.map(|side| axes * ankle(side) * self.root.scale);
        RetargetedFrame {
            turns: pose.locals.iter().map(|local| local.rotation).collect(),
            hips,
            lift,
            ankles,
        }
    }

    fn finish(
        self,
        name: String,
        frames: &[RetargetedFrame],
        source_ground: f64,
    ) -> Result<Retargeted, RetargetError> {
        let times = &self.motion.times_secs;
        let start = times[0];
        let times_secs: Vec<f64> = times.iter().map(|time| time - start).collect();
        let duration_secs = times_secs.last().copied().unwrap_or(0.0);
        let per_sec = if duration_secs > 0.0 {
            (frames.len() - 1) as f64 / duration_secs
        } else {
            1.0
        };
        let lifts: Vec<f64> = frames.iter().map(|frame| frame.lift).collect();
        let ground = self.target_soles.as_ref().map_or(0.0, |soles| soles.ground);
        let slack = SINKING * (self.root.start.dot(&self.root.up) - ground).abs();
        let lifts = smoothed(&lifts, ((0.05 * per_sec) as usize).min(1000), slack);
        let hips: Vec<Vec64> = frames
            .iter()
            .zip(&lifts)
            .filter_map(|(frame, lift)| self.hips_local(frame.hips + self.root.up * *lift))
            .collect();
        let turns = self.with_standing_feet(frames, &hips, &times_secs);
        let mut tracks = Vec::new();
        if hips.len() == frames.len() {
            let curve = Curve::linear(times_secs.clone(), hips);
            tracks.push(Track {
                joint: self.root.joint,
                channel: Channel::Translation(curve),
            });
        }
        for joint in (0..self.target.len()).filter(|&joint| self.drivers[joint].is_some()) {
            let values: Vec<_> = turns
                .iter()
                .map(|turns| turns[joint].into_inner())
                .collect();
            let curve = Curve::linear(times_secs.clone(), values);
            tracks.push(Track {
                joint,
                channel: Channel::Rotation(curve),
            });
        }
        let finite = tracks.iter().all(|track| match &track.channel {
            Channel::Translation(curve) | Channel::Scale(curve) => {
                curve.values.iter().all(|v| v.iter().all(|c| c.is_finite()))
            }
            Channel::Rotation(curve) => curve
                .values
                .iter()
                .all(|q| q.coords.iter().all(|c| c.is_finite())),
        });
        if !finite {
            return Err(RetargetError::NotFinite);
        }
        let clip = Clip {
            name,
            duration_secs,
            tracks,
            morphs: Vec::new(),
        };
        Ok(Retargeted {
            clip,
            scale: self.root.scale,
            up: self.motion.up,
            first_left_out: self.motion.first_left_out,
            start_secs: start,
            character_from_motion: self.character_from_motion(source_ground),
        })
    }
}

/// Maximum sinking of feet during smoothing, relative to the hips' height.
const SINKING: f64 = 0.004;

fn middle_of_hips(motion: &SourceMotion<'_>, stance: &Stance, otherwise: usize) -> Vec64 {
    let hips = || motion.marks.place(stance, Role::Hips);
    motion
        .marks
        .middle(stance, Role::Thigh)
        .or_else(hips)
        .unwrap_or_else(|| stance.places[otherwise])
}
