//! Spring bones for flesh that swings: the stops after which it swings freely, and the fit.

use std::convert::Infallible;

use super::DistillError;
use super::simulate::{Run, Skin};
use crate::character::Character;
use crate::math::{Quat, Vec64, linear_part};
use crate::methods::{Actor, Frame};
use crate::progress::Progress;
use crate::rig::{Pose, Skeleton};
use crate::studio::{PlayError, Take};
use crate::weights::decomposition::{
    Decomposition, Motion, STEP_SECS, STOP_M_PER_SEC, SimulatedFrame, Spring, SpringReport,
};

/// Steps in which the character gains speed …
const PUSH: usize = 24;
/// … and those that it stands still after the stop.
const FREE: usize = 54;
/// Simulated frames of all jolts.
pub(super) const JOLT_FRAMES: usize = 3 * (PUSH + FREE + 1);

/// A character at rest that is moved along an axis ever faster, and stopped.
pub(super) struct Jolt {
    pub frames: Vec<SimulatedFrame>,
}

impl Jolt {
    fn ticks(&self) -> Vec<Pose> {
        self.frames.iter().map(|frame| frame.pose.clone()).collect()
    }

    /// The step of each frame.
    fn moments(&self) -> Vec<f64> {
        (0..self.frames.len()).map(|frame| frame as f64).collect()
    }

    /// How springs turn in its frames.
    pub fn turns(&self, found: &Decomposition, springs: &[Spring]) -> Vec<Vec<Quat>> {
        found.swings(springs, &self.ticks(), &self.moments())
    }
}

/// Springs, and how they turn in the fitted frames.
#[derive(Debug, Default)]
pub(super) struct Swinging {
    pub springs: Vec<Spring>,
    pub reports: Vec<SpringReport>,
    /// Of each frame of the fitted clips, of each spring.
    turns: Vec<Vec<Quat>>,
}

impl Run<'_> {
    /// Jolts along the three axes, after so many frames.
    pub fn jolts(
        &self,
        actor: &mut Actor,
        after: usize,
    ) -> Result<Vec<Jolt>, PlayError<Infallible>> {
        let part = [after, after + JOLT_FRAMES].map(|frame| frame as f32 * self.per_frame);
        let progress = self.progress.part(part[0], part[1]);
        let skeleton = &self.character.skeleton;
        let speed = STOP_M_PER_SEC / self.character.metres_per_unit;
        let mut jolts = Vec::new();
        for axis in 0..3 {
            let mut frames = Vec::with_capacity(PUSH + FREE + 1);
            actor.reset();
            for step in 0..=PUSH + FREE {
                progress.check()?;
                let done = axis * (PUSH + FREE + 1) + step;
                progress.report(done as f32 / JOLT_FRAMES as f32, "Stopping suddenly");
                // Constant acceleration to the speed at the stop.
                let time = step.min(PUSH) as f64 * STEP_SECS;
                let way = 0.5 * speed * time * time / (PUSH as f64 * STEP_SECS);
                let mut offset = Vec64::zeros();
                offset[axis] = way;
                let pose = moved(skeleton, &offset);
                let frame = Frame {
                    world_from_joint: &skeleton.world_from_joint(&pose),
                    dt_secs: if step == 0 { 0.0 } else { STEP_SECS },
                };
                actor.advance(&frame).map_err(|source| PlayError::Skin {
                    frame: step as u32,
                    source,
                })?;
                let positions = self.skin.positions(actor.positions());
                frames.push(SimulatedFrame { pose, positions });
            }
            jolts.push(Jolt { frames });
        }
        Ok(jolts)
    }
}

/// The rest pose, moved in the world.
fn moved(skeleton: &Skeleton, offset: &Vec64) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (joint, local) in skeleton.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            let inverse = linear_part(&joint.parent_from_base).try_inverse();
            local.translation += inverse.unwrap_or_default() * offset;
        }
    }
    pose
}

impl Swinging {
    /// Fits springs to the clips and the jolts, none without jolts. Helpers with a spring are then keyed by the pose: what swings is
    /// added by the spring.
    pub fn fit(
        found: &mut Decomposition,
        (character, skin): (&Character, &Skin),
        (simulated, fitted): (&[SimulatedFrame], &[Take]),
        jolts: &[Jolt],
        progress: &Progress,
    ) -> Result<Self, DistillError> {
        if jolts.is_empty() {
            return Ok(Self::default());
        }
        let mut motions = Vec::new();
        let mut first = 0;
        for take in fitted {
            let frames = first..first + take.frame_count();
            first = frames.end;
            motions.push(Motion {
                ticks: ticks_of(character, take),
                frames: &simulated[frames],
                at: moments_of(take),
                free_from: None,
            });
        }
        motions.extend(jolts.iter().map(|jolt| Motion {
            ticks: jolt.ticks(),
            frames: &jolt.frames,
            at: jolt.moments(),
            free_from: Some(PUSH),
        }));
        let (springs, reports) = found.fit_springs(
            &skin.bind,
            &motions,
            &simulated[first..],
            character.metres_per_unit,
            progress,
        )?;
        let turns = (motions.iter().take(fitted.len()))
            .flat_map(|motion| found.swings(&springs, &motion.ticks, &motion.at))
            .collect();
        for (frame, locals) in simulated.iter().zip(&mut found.fitted) {
            for spring in &springs {
                locals[spring.helper] = found.drivers[spring.helper].local(&frame.pose);
            }
        }
        Ok(Self {
            springs,
            reports,
            turns,
        })
    }

    /// How the springs turn in a fitted frame of a clip.
    pub fn of_fitted(&self, frame: usize) -> &[Quat] {
        self.turns.get(frame).map_or(&[], Vec::as_slice)
    }

    /// A pose with helpers, swung.
    pub fn turned(&self, found: &Decomposition, pose: &Pose, turns: &[Quat]) -> Pose {
        found.swung(pose, &self.springs, turns)
    }

    /// A pose with helpers in a fitted frame of a clip, swung.
    pub fn fitted(&self, found: &Decomposition, pose: &Pose, frame: usize) -> Pose {
        self.turned(found, pose, self.of_fitted(frame))
    }
}

/// How springs turn in the frames of a take.
pub(super) fn in_take(
    found: &Decomposition,
    springs: &[Spring],
    character: &Character,
    take: &Take,
) -> Vec<Vec<Quat>> {
    if springs.is_empty() {
        return vec![Vec::new(); take.frame_count()];
    }
    found.swings(springs, &ticks_of(character, take), &moments_of(take))
}

/// The poses of a take from its first to its last frame, a step apart.
fn ticks_of(character: &Character, take: &Take) -> Vec<Pose> {
    let [start, end] = [take.first_frame(), take.last_frame()].map(|frame| take.time_of(frame));
    let count = ((end - start) / STEP_SECS - 1e-6).ceil().max(0.0) as usize;
    let time = |tick: usize| start + tick as f64 * STEP_SECS;
    (0..=count)
        .map(|tick| take.motion.pose_at(character, time(tick)))
        .collect()
}

/// The step of each frame.
fn moments_of(take: &Take) -> Vec<f64> {
    let start = take.time_of(take.first_frame());
    let tick = |frame| (take.time_of(frame) - start) / STEP_SECS;
    take.frames().map(tick).collect()
}
