//! Distances between a rig and simulated frames.

use super::simulate::Skin;
use super::springs::{self, Jolt, Swinging};
use super::{ClipResidual, DistillError};
use crate::character::Character;
use crate::math::{Point, Quat};
use crate::methods::Actor;
use crate::progress::Progress;
use crate::rig::Pose;
use crate::studio::Take;
use crate::weights::decomposition::{Decomposition, Residual, SimulatedFrame};

/// Compares a rig with simulated frames.
pub(super) struct Measure<'a> {
    pub character: &'a Character,
    pub skin: &'a Skin,
    pub found: &'a Decomposition,
    /// As it was before springs were fitted.
    pub without_springs: &'a Decomposition,
    pub swinging: &'a Swinging,
}

impl Measure<'_> {
    /// Of a frame: before, with driven helpers, with the springs in `turns`, too, and with its keys if it has some.
    fn frame(
        &self,
        pose: &Pose,
        positions: &[Point],
        turns: &[Quat],
        keyed: Option<&Pose>,
    ) -> [Residual; 4] {
        let (found, bind) = (self.found, &self.skin.bind);
        let by = |found: &Decomposition, pose: &Pose, weights: &[f64]| {
            let bind = found.displaced(bind, weights);
            Residual::of_frame(&found.skeleton, &found.weights, &bind, pose, positions)
        };
        let helped = |pose: &Pose, weights: &[f64]| by(found, pose, weights);
        let by_keys = |pose: &Pose| {
            let pose = self.swinging.turned(found, pose, turns);
            helped(&pose, &found.fitted_weights(bind, &pose, positions))
        };
        let given = &self.character.skeleton;
        let plain = self.without_springs;
        let swung = || {
            let pose = &self.swinging.turned(found, &found.driven(pose), turns);
            helped(pose, &found.driven_weights(pose))
        };
        [
            Residual::of_frame(given, &self.skin.weights, bind, pose, positions),
            by(plain, &plain.driven(pose), &plain.driven_weights(pose)),
            if turns.is_empty() {
                Residual::default()
            } else {
                swung()
            },
            keyed.map(by_keys).unwrap_or_default(),
        ]
    }

    fn report(
        &self,
        clip: &str,
        frames: usize,
        sums: [Residual; 4],
        is_keyed: bool,
    ) -> ClipResidual {
        let millimetres = self.character.metres_per_unit * 1e3;
        let [before, driven, sprung, keyed] = sums.map(|sum| sum.in_units(millimetres));
        ClipResidual {
            clip: clip.to_owned(),
            frames,
            before,
            keyed: is_keyed.then_some(keyed),
            driven,
            sprung: (!self.swinging.springs.is_empty()).then_some(sprung),
        }
    }

    pub fn fitted(
        &self,
        simulated: &[SimulatedFrame],
        clips: &[usize],
        takes: &[Take],
    ) -> Vec<ClipResidual> {
        let mut first = 0;
        let of_clip = |(&clip, take): (&usize, &Take)| {
            let frames = first..first + take.frame_count();
            first = frames.end;
            let count = frames.len();
            let sums = frames.fold([Residual::default(); 4], |sums, frame| {
                let SimulatedFrame { pose, positions } = &simulated[frame];
                let keyed = self.found.fitted_pose(frame, pose);
                let turns = self.swinging.of_fitted(frame);
                added(sums, self.frame(pose, positions, turns, Some(&keyed)))
            });
            self.report(self.name(clip), count, sums, true)
        };
        clips.iter().zip(takes).map(of_clip).collect()
    }

    fn name(&self, clip: usize) -> &str {
        &self.character.clips[clip].name
    }

    /// Of all jolts together; none without jolts.
    pub fn stops(&self, jolts: &[Jolt]) -> Option<ClipResidual> {
        let mut sums = [Residual::default(); 4];
        for jolt in jolts {
            let turns = jolt.turns(self.found, &self.swinging.springs);
            for (frame, turns) in jolt.frames.iter().zip(&turns) {
                sums = added(sums, self.frame(&frame.pose, &frame.positions, turns, None));
            }
        }
        let frames: usize = jolts.iter().map(|jolt| jolt.frames.len()).sum();
        (frames > 0).then(|| self.report("sudden stops", frames, sums, false))
    }

    pub fn held_back(
        &self,
        actor: &mut Actor,
        take: &Take,
        clip: usize,
        progress: &Progress,
    ) -> Result<ClipResidual, DistillError> {
        let mut sums = [Residual::default(); 4];
        let turns = springs::in_take(self.found, &self.swinging.springs, self.character, take);
        take.play(actor, progress, |frame, actor| {
            let pose = take.motion.pose_at(self.character, take.time_of(frame));
            let positions = self.skin.positions(actor.positions());
            let turns = &turns[(frame - take.first_frame()) as usize];
            sums = added(sums, self.frame(&pose, &positions, turns, None));
            Ok(())
        })?;
        Ok(self.report(self.name(clip), take.frame_count(), sums, false))
    }
}

fn added(sums: [Residual; 4], more: [Residual; 4]) -> [Residual; 4] {
    [0, 1, 2, 3].map(|i| sums[i].with(&more[i]))
}
