//! Distances between a rig and simulated frames.

use super::simulate::Skin;
use super::{ClipResidual, DistillError};
use crate::character::Character;
use crate::math::Point;
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
}

impl Measure<'_> {
    /// Of a frame: before, with driven helpers, and with its keys if it has some.
    fn frame(&self, pose: &Pose, positions: &[Point], keyed: Option<&Pose>) -> [Residual; 3] {
        let (skeleton, bind) = (&self.found.skeleton, &self.skin.bind);
        let found = self.found;
        let helped = |pose: &Pose, weights: &[f64]| {
            let bind = found.displaced(bind, weights);
            Residual::of_frame(skeleton, &found.weights, &bind, pose, positions)
        };
        let by_keys = |pose: &Pose| helped(pose, &found.fitted_weights(bind, pose, positions));
        let given = &self.character.skeleton;
        [
            Residual::of_frame(given, &self.skin.weights, bind, pose, positions),
            helped(&found.driven(pose), &found.driven_weights(pose)),
            keyed.map(by_keys).unwrap_or_default(),
        ]
    }

    fn report(
        &self,
        clip: usize,
        frames: usize,
        sums: [Residual; 3],
        is_keyed: bool,
    ) -> ClipResidual {
        let millimetres = self.character.metres_per_unit * 1e3;
        let [before, driven, keyed] = sums.map(|sum| sum.in_units(millimetres));
        ClipResidual {
            clip: self.character.clips[clip].name.clone(),
            frames,
            before,
            keyed: is_keyed.then_some(keyed),
            driven,
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
            let sums = frames.fold([Residual::default(); 3], |sums, frame| {
                let SimulatedFrame { pose, positions } = &simulated[frame];
                let keyed = self.found.fitted_pose(frame, pose);
                added(sums, self.frame(pose, positions, Some(&keyed)))
            });
            self.report(clip, count, sums, true)
        };
        clips.iter().zip(takes).map(of_clip).collect()
    }

    pub fn held_back(
        &self,
        actor: &mut Actor,
        take: &Take,
        clip: usize,
        progress: &Progress,
    ) -> Result<ClipResidual, DistillError> {
        let mut sums = [Residual::default(); 3];
        take.play(actor, progress, |frame, actor| {
            let pose = take.motion.pose_at(self.character, take.time_of(frame));
            let positions = self.skin.positions(actor.positions());
            sums = added(sums, self.frame(&pose, &positions, None));
            Ok(())
        })?;
        Ok(self.report(clip, take.frame_count(), sums, false))
    }
}

fn added(sums: [Residual; 3], more: [Residual; 3]) -> [Residual; 3] {
    [0, 1, 2].map(|i| sums[i].with(&more[i]))
}
