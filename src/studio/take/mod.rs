//! A motion, frame by frame: the input of bake and render.

#[cfg(test)]
mod tests;

use super::clip_play::ClipPlay;
use crate::character::Character;
use crate::math::{Affine, smoothstep};
use crate::methods::{Actor, Capability, Frame, SkinError};
use crate::progress::{Cancelled, Progress};
use crate::rig::Pose;

/// Default frames per second.
pub const DEFAULT_FPS: f64 = 30.0;
/// Duration of the motion from rest into a pose …
pub const RAMP_SECS: f64 = 1.0;
/// … and of holding it.
pub const HOLD_SECS: f64 = 1.0;

/// Motion of the joints.
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// The rest pose, held.
    Rest,
    /// From rest into the pose within [`RAMP_SECS`] by smoothstep; then held for [`HOLD_SECS`].
    Pose(Pose),
    /// A clip of the character, by index.
    Clip(usize),
    /// A clip with range, speed, loops and blended seams.
    Play(ClipPlay),
}

/// The requested times of a motion.
#[derive(Debug, Clone, PartialEq)]
pub enum Moments {
    /// Frames `first..=last`, frame n at the time n / fps.
    Frames {
        /// First requested frame.
        first: u32,
        /// Last requested frame.
        last: u32,
        /// Frames per second.
        fps: f64,
        /// Largest number of frames that are simulated before the first one; `None` simulates from the motion's start.
        pre_roll: Option<u32>,
    },
    /// Frames from a time inside the motion, frame n at `start_secs` + n / fps: a loop then starts in motion.
    From {
        /// Time of frame 0, seconds from the start.
        start_secs: f64,
        /// Number of frames that are simulated before the first one (run-up).
        run_up: u32,
        /// Number of requested frames, at least one.
        frames: u32,
        /// Frames per second.
        fps: f64,
    },
    /// One frame: the pose at a time, held until still.
    Settled {
        /// Seconds from the start; ignored for a pose without a clip.
        time_secs: f64,
    },
}

/// A step of a take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Frame number.
    pub frame: u32,
    /// Seconds from the motion's start.
    pub time_secs: f64,
    /// Seconds since the previous step; 0 for the first, which is at rest.
    pub dt_secs: f64,
    /// Whether the frame is requested; others lead up to it.
    pub is_wanted: bool,
}

/// A motion and the requested times.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// The motion.
    pub motion: Motion,
    /// The requested times.
    pub moments: Moments,
}

/// Why a take could not be played to the end.
#[derive(Debug, thiserror::Error)]
pub enum PlayError<E> {
    /// The method failed.
    #[error("frame {frame}: {source}")]
    Skin {
        /// The frame.
        frame: u32,
        /// The error.
        source: SkinError,
    },
    /// The receiver of the frames failed.
    #[error(transparent)]
    Receiver(E),
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Motion {
    /// Duration of the motion.
    #[must_use]
    pub fn duration_secs(&self, character: &Character) -> f64 {
        match self {
            Self::Rest => 0.0,
            Self::Pose(_) => RAMP_SECS + HOLD_SECS,
            Self::Clip(clip) => character
                .clips
                .get(*clip)
                .map_or(0.0, |clip| clip.duration_secs),
            Self::Play(play) => character
                .clips
                .get(play.clip)
                .map_or(0.0, |clip| play.duration_secs(clip)),
        }
    }

    /// The pose at a time from the start; held after the end.
    #[must_use]
    pub(crate) fn pose_at(&self, character: &Character, time_secs: f64) -> Pose {
        let rest = character.skeleton.rest_pose();
        match self {
            Self::Rest => rest,
            Self::Pose(pose) if time_secs >= RAMP_SECS => pose.clone(),
            Self::Pose(pose) => rest.lerp(pose, smoothstep([0.0, RAMP_SECS], time_secs)),
            Self::Clip(clip) => character
                .clips
                .get(*clip)
                .map_or(rest, |clip| clip.sample(&character.skeleton, time_secs)),
            Self::Play(play) => character.clips.get(play.clip).map_or(rest, |clip| {
                play.pose_at(clip, &character.skeleton, time_secs)
            }),
        }
    }

    /// The last frame that differs from its predecessor.
    #[must_use]
    pub(crate) fn last_frame(&self, character: &Character, fps: f64) -> u32 {
        // A clip of 1.2 s at 30 fps has frames 0..=36, although 1.2 · 30 is a little less than 36 in binary.
        (self.duration_secs(character) * fps + 1e-6).floor() as u32
    }
}

impl Take {
    /// The whole motion.
    #[must_use]
    pub fn whole(motion: Motion, character: &Character, fps: f64) -> Self {
        let last = motion.last_frame(character, fps);
        Self {
            motion,
            moments: Moments::Frames {
                first: 0,
                last,
                fps,
                pre_roll: None,
            },
        }
    }

    /// The time of a settled pose.
    fn settled_time(&self, time_secs: f64) -> f64 {
        match self.motion {
            Motion::Pose(_) => RAMP_SECS,
            _ => time_secs,
        }
    }

    /// Number of requested frames.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        (self.last_frame().saturating_sub(self.first_frame())) as usize + 1
    }

    /// The requested frames.
    pub fn frames(&self) -> impl Iterator<Item = u32> {
        self.first_frame()..=self.last_frame()
    }

    /// The number of the first frame.
    #[must_use]
    pub(crate) fn first_frame(&self) -> u32 {
        match self.moments {
            Moments::Frames { first, .. } => first,
            Moments::From { .. } | Moments::Settled { .. } => 0,
        }
    }

    /// The number of the last frame.
    #[must_use]
    pub(crate) fn last_frame(&self) -> u32 {
        match self.moments {
            Moments::Frames { last, .. } => last,
            Moments::From { frames, .. } => frames.saturating_sub(1),
            Moments::Settled { .. } => 0,
        }
    }

    /// Frames per second; `None` for a settled pose.
    #[must_use]
    pub fn fps(&self) -> Option<f64> {
        match self.moments {
            Moments::Frames { fps, .. } | Moments::From { fps, .. } => Some(fps),
            Moments::Settled { .. } => None,
        }
    }

    /// The time of a frame, seconds from the motion's start.
    #[must_use]
    pub fn time_of(&self, frame: u32) -> f64 {
        self.time_at(i64::from(frame))
    }

    /// As [`Take::time_of`]; frames of a run-up have negative numbers.
    fn time_at(&self, frame: i64) -> f64 {
        match self.moments {
            Moments::Frames { fps, .. } => frame as f64 / fps,
            Moments::From {
                start_secs, fps, ..
            } => start_secs + frame as f64 / fps,
            Moments::Settled { time_secs } => self.settled_time(time_secs),
        }
    }

    /// The steps, in order. Methods with state start at the beginning of the motion, of the
    /// pre-roll or of the run-up; methods that depend on the pose alone need neither.
    pub fn steps(&self, has_state: bool) -> impl ExactSizeIterator<Item = Step> + '_ {
        let (first, last) = (i64::from(self.first_frame()), self.last_frame());
        let lead = match self.moments {
            _ if !has_state => 0,
            Moments::Frames {
                first, pre_roll, ..
            } => pre_roll.map_or(first, |most| most.min(first)),
            Moments::From { run_up, .. } => run_up,
            Moments::Settled { .. } => 0,
        };
        let count = lead + last.saturating_sub(self.first_frame()) + 1;
        (0..count).map(move |step| {
            let frame = first - i64::from(lead) + i64::from(step);
            Step {
                frame: frame.max(0) as u32,
                time_secs: self.time_at(frame),
                dt_secs: self.fps().filter(|_| step > 0).map_or(0.0, |fps| 1.0 / fps),
                is_wanted: step >= lead,
            }
        })
    }

    /// The pose at an offset in seconds from a frame; `None` outside the motion.
    #[must_use]
    pub fn pose_around(&self, character: &Character, frame: u32, offset_secs: f64) -> Option<Pose> {
        let time_secs = self.time_of(frame) + offset_secs;
        let inside = (0.0..=self.motion.duration_secs(character)).contains(&time_secs);
        inside.then(|| self.motion.pose_at(character, time_secs))
    }

    /// The take with the frame before its first one, if that is simulated anyway.
    #[must_use]
    pub(crate) fn with_frame_before(&self) -> Option<Self> {
        let Moments::Frames {
            first,
            last,
            fps,
            pre_roll,
        } = self.moments
        else {
            return None;
        };
        let moments = Moments::Frames {
            first: first.checked_sub(1)?,
            last,
            fps,
            pre_roll: match pre_roll {
                Some(frames) => Some(frames.checked_sub(1)?),
                None => None,
            },
        };
        Some(Self {
            motion: self.motion.clone(),
            moments,
        })
    }

    /// Plays the take on an actor and passes on every requested frame. It starts at rest in the pose of the first step.
    ///
    /// # Errors
    /// [`PlayError`], the first one that occurs.
    pub fn play<E>(
        &self,
        actor: &mut Actor,
        progress: &Progress,
        mut receive: impl FnMut(u32, &Actor) -> Result<(), E>,
    ) -> Result<(), PlayError<E>> {
        let actors = std::slice::from_mut(actor);
        self.play_together(actors, progress, |frame, _, actors| {
            receive(frame, &actors[0])
        })
    }

    /// Plays the take on several actors of one character together, and passes on every requested frame with its joints.
    ///
    /// # Errors
    /// As [`Take::play`].
    pub(crate) fn play_together<E>(
        &self,
        actors: &mut [Actor],
        progress: &Progress,
        mut receive: impl FnMut(u32, &[Affine], &[Actor]) -> Result<(), E>,
    ) -> Result<(), PlayError<E>> {
        let Some(first) = actors.first() else {
            return Ok(());
        };
        let character = first.subject().character.clone();
        let mut world: Vec<Affine> = Vec::new();
        let place = |time_secs: f64, world: &mut Vec<Affine>| {
            let pose = self.motion.pose_at(&character, time_secs);
            character.skeleton.world_from_joint_into(&pose, world);
            pose.morphs
        };
        // An invalid end is reported before anything is written.
        let frame = self.last_frame();
        place(self.time_of(frame), &mut world);
        let failed = |source| PlayError::Skin { frame, source };
        for actor in &mut *actors {
            actor.check(&world).map_err(failed)?;
            actor.reset();
        }
        let has_state = |actor: &Actor| actor.method().has(Capability::State);
        let steps = self.steps(actors.iter().any(has_state));
        let count = steps.len();
        for (index, step) in steps.enumerate() {
            progress.check()?;
            progress.report(index as f32 / count as f32, "Playing");
            let morphs = place(step.time_secs, &mut world);
            for actor in &mut *actors {
                actor.set_morphs(&morphs);
                let frame = Frame {
                    world_from_joint: &world,
                    dt_secs: step.dt_secs,
                };
                actor.advance(&frame).map_err(|source| PlayError::Skin {
                    frame: step.frame,
                    source,
                })?;
            }
            if step.is_wanted {
                receive(step.frame, &world, actors).map_err(PlayError::Receiver)?;
            }
        }
        Ok(())
    }
}
