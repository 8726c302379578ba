//! Places the hips, and turns legs so that feet stand.

use super::bind::Root;
use super::{RetargetedFrame, Transfer, middle_of_hips};
use crate::math::{Affine, Quat, Vec64, affine};
use crate::rig::Pose;
use crate::rig::retarget::feet::{Leg, corrections};
use crate::rig::retarget::stance::Stance;

impl Transfer<'_> {
    /// Target position of the hip joint, before the height correction.
    pub(super) fn hips_place(&self, stance: &Stance, turns: &[Quat], ground: f64) -> Vec64 {
        let Root {
            joint,
            scale,
            up,
            start,
            middle,
            source_start,
            ..
        } = &self.root;
        let source_up = self.motion.up.vector();
        let now = middle_of_hips(&self.motion, stance, self.root.partner);
        let travelled = self.axes * (now - source_start) * *scale;
        let height = match (&self.target_soles, &self.source_soles) {
            (Some(soles), Some(_)) => soles.ground + scale * (now.dot(&source_up) - ground),
            _ => start.dot(up) + travelled.dot(up),
        };
        let level = |v: &Vec64| v - up * v.dot(up);
        level(start) + level(&travelled) + up * height - turns[*joint] * middle
    }

    /// Where a point of the motion is beside the character, by the way of the hips' centre.
    pub(super) fn character_from_motion(&self, ground: f64) -> Affine {
        let Root {
            scale,
            up,
            start,
            source_start,
            ..
        } = &self.root;
        let apart = start - self.axes * source_start * *scale;
        let height = match (&self.target_soles, &self.source_soles) {
            (Some(soles), Some(_)) => soles.ground - scale * ground,
            _ => apart.dot(up),
        };
        let turn = self.axes.to_rotation_matrix().into_inner();
        affine(&(turn * *scale), &(apart + up * (height - apart.dot(up))))
    }

    /// Height by which the feet of a pose are too low.
    pub(super) fn lift(&self, pose: &mut Pose, hips: Vec64, height: f64) -> f64 {
        let (Some(soles), Some(_)) = (&self.target_soles, &self.source_soles) else {
            return 0.0;
        };
        self.put_hips(pose, hips);
        let world = self.target.world_from_joint(pose);
        // Rotations are tracked directly, without decomposing matrices.
        let mut turns: Vec<Quat> = Vec::with_capacity(world.len());
        for (joint, rig) in self.target.joints().iter().enumerate() {
            let base = rig
                .parent
                .map_or_else(Quat::identity, |parent| turns[parent])
                * self.base_turns[joint];
            turns.push(base * pose.locals[joint].rotation);
        }
        let lowest =
            soles.lowest(|joint| (crate::math::origin_of(&world[joint]).coords, turns[joint]));
        soles.ground + self.root.scale * height.max(0.0) - lowest
    }

    /// Sets the local translation that puts the hips at a world position; ancestors are at rest.
    fn put_hips(&self, pose: &mut Pose, place: Vec64) {
        if let Some(local) = self.hips_local(place) {
            pose.locals[self.root.joint].translation = local;
        }
    }

    pub(super) fn hips_local(&self, place: Vec64) -> Option<Vec64> {
        let rest = self.target.rest_pose();
        let mut base = self.target.joints()[self.root.joint].parent_from_base;
        let mut above = self.target.joints()[self.root.joint].parent;
        while let Some(joint) = above {
            let rig = &self.target.joints()[joint];
            base = Affine::from_matrix_unchecked(
                (rig.parent_from_base * rest.locals[joint].to_affine() * base).into_inner(),
            );
            above = rig.parent;
        }
        Some(base.try_inverse()?.transform_point(&place.into()).coords)
    }

    /// The local rotations of all frames, with feet kept from sliding. `hips` are local
    /// translations.
    pub(super) fn with_standing_feet(
        &self,
        frames: &[RetargetedFrame],
        hips: &[Vec64],
        times_secs: &[f64],
    ) -> Vec<Vec<Quat>> {
        let mut turns: Vec<Vec<Quat>> = frames.iter().map(|frame| frame.turns.clone()).collect();
        if hips.len() != frames.len() || self.source_soles.is_none() {
            return turns;
        }
        let world = |turns: &[Quat], hips: &Vec64| {
            let mut pose = self.target.rest_pose();
            pose.locals
                .iter_mut()
                .zip(turns)
                .for_each(|(local, turn)| local.rotation = *turn);
            pose.locals[self.root.joint].translation = *hips;
            self.target.world_from_joint(&pose)
        };
        for (index, leg) in self
            .legs
            .iter()
            .enumerate()
            .filter_map(|(index, leg)| Some((index, (*leg)?)))
        {
            let place =
                |world: &[Affine], joint: usize| crate::math::origin_of(&world[joint]).coords;
            let mut length = 0.0;
            let own: Vec<Vec64> = turns
                .iter()
                .zip(hips)
                .map(|(turns, hips)| {
                    let world = world(turns, hips);
                    let [hip, knee, ankle] =
                        [leg.thigh, leg.shin, leg.foot].map(|joint| place(&world, joint));
                    length = (knee - hip).norm() + (ankle - knee).norm();
                    ankle
                })
                .collect();
            let partner: Vec<Vec64> = frames.iter().map(|frame| frame.ankles[index]).collect();
            let steps = corrections(&own, &partner, times_secs, &self.root.up, length);
            for ((turns, hips), step) in turns
                .iter_mut()
                .zip(hips)
                .zip(&steps)
                .filter(|(_, step)| step.norm() > 1e-6 * length)
            {
                if let Some([thigh, shin]) = leg.reach(&world(turns, hips), step) {
                    self.turn_leg(turns, leg, &thigh, &shin);
                }
            }
        }
        turns
    }

    /// Rotates thigh and shin in the world; the foot keeps its rotation.
    fn turn_leg(&self, locals: &mut [Quat], leg: Leg, thigh: &Quat, shin: &Quat) {
        let (mut old, mut new): (Vec<Quat>, Vec<Quat>) = (
            Vec::with_capacity(locals.len()),
            Vec::with_capacity(locals.len()),
        );
        for (joint, local) in locals.iter_mut().enumerate() {
            let parent = self.target.joints()[joint].parent;
            let base = |turns: &[Quat]| {
                parent.map_or_else(Quat::identity, |parent| turns[parent]) * self.base_turns[joint]
            };
            let before = base(&old) * *local;
            let after = if joint == leg.thigh {
                thigh * before
            } else if joint == leg.shin {
                shin * before
            } else if joint == leg.foot {
                before
            } else {
                base(&new) * *local
            };
            *local = base(&new).inverse() * after;
            old.push(before);
            new.push(after);
        }
    }
}
