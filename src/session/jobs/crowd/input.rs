//! What a crowd has to play, derived from a clock that plays, pauses and is moved by hand.

use std::sync::Arc;

use crate::math::Affine;
use crate::rig::KeyedClip;
use crate::session::{Clips, DEFAULT_FPS, Playback};

/// A clip and its loop settings.
#[derive(Debug, Clone)]
pub(super) struct Playing {
    /// By index in [`Clips`].
    pub clip: usize,
    /// The clip itself, if it is the user's.
    pub take: Option<Arc<KeyedClip>>,
    /// Played range, seconds of the clip.
    pub range_secs: [f64; 2],
    /// Blend duration at the seam, seconds.
    pub blend_secs: f64,
}

impl PartialEq for Playing {
    fn eq(&self, other: &Self) -> bool {
        let same_take = match (&self.take, &other.take) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same_take
            && (self.clip, self.range_secs, self.blend_secs)
                == (other.clip, other.range_secs, other.blend_secs)
    }
}

impl Playing {
    fn round_secs(&self) -> f64 {
        self.range_secs[1] - self.range_secs[0]
    }

    /// Whether times of the two belong to the same motion; their keys may differ.
    fn continues(&self, before: &Self) -> bool {
        (self.clip, self.range_secs) == (before.clip, before.range_secs)
    }
}

/// What a crowd has to play.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CrowdInput {
    /// All instances take this pose.
    Pose(Vec<Affine>),
    /// Each instance plays a clip at its own phase.
    Clip {
        /// The clip.
        play: Arc<Playing>,
        /// Seconds since the start of the range; counts on over repetitions.
        time_secs: f64,
        /// Clip seconds per second.
        speed: f64,
    },
}

impl CrowdInput {
    /// The input this many seconds earlier.
    pub(super) fn before(mut self, secs: f64) -> Self {
        if let Self::Clip {
            time_secs, speed, ..
        } = &mut self
        {
            *time_secs = (*time_secs - *speed * secs).max(0.0);
        }
        self
    }
}

/// Largest step of the clock by hand that is played through: one frame. A larger step is a jump.
const STEP_SECS: f64 = 1.0 / DEFAULT_FPS + 1e-6;

/// Follows a clock and tells jumps from continuous playback.
#[derive(Debug, Default)]
pub(super) struct Follower {
    last: Option<LastInput>,
}

#[derive(Debug)]
enum LastInput {
    Pose,
    Clip {
        play: Arc<Playing>,
        clock_secs: f64,
        time_secs: f64,
    },
}

impl Follower {
    /// Treats the next input as a jump.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// The input after `dt_secs`, and whether it is a jump: the crowd has to be reset there.
    pub(super) fn input(
        &mut self,
        playback: &Playback,
        clips: &Clips<'_>,
        joints: &[Affine],
        dt_secs: f64,
    ) -> (CrowdInput, bool) {
        let playing = playback.clip.and_then(|clip| {
            let range_secs = playback.range_in(clips.get(clip)?.duration_secs);
            Some(Playing {
                clip,
                take: clips.take(clip).cloned(),
                range_secs,
                blend_secs: playback.blend_secs,
            })
        });
        let Some(playing) = playing.filter(|playing| playing.round_secs() > 0.0) else {
            let jumped = !matches!(self.last.replace(LastInput::Pose), Some(LastInput::Pose));
            return (CrowdInput::Pose(joints.to_vec()), jumped);
        };
        let speed = if playback.playing {
            playback.speed
        } else {
            0.0
        };
        let clock_secs = playback.time_secs;
        let gone_on = match &self.last {
            Some(LastInput::Clip {
                play,
                clock_secs: before,
                time_secs,
            }) if playing.continues(play) => {
                elapsed_on_loop(clock_secs - before, playing.round_secs(), dt_secs * speed)
                    .map(|gone| (play.clone(), time_secs + gone))
            }
            _ => None,
        };
        let jumped = gone_on.is_none();
        let round = playing.round_secs();
        let start = (clock_secs - playing.range_secs[0]).rem_euclid(round);
        let (play, time_secs) = match gone_on {
            Some((play, time)) if *play == playing => (play, time),
            Some((_, time)) => (Arc::new(playing), time),
            None => (Arc::new(playing), start),
        };
        // Backwards playback comes from the previous repetition.
        let time_secs = if time_secs < 0.0 {
            time_secs.rem_euclid(round)
        } else {
            time_secs
        };
        self.last = Some(LastInput::Clip {
            play: play.clone(),
            clock_secs,
            time_secs,
        });
        (
            CrowdInput::Clip {
                play,
                time_secs,
                speed,
            },
            jumped,
        )
    }
}

/// Distance that a clock moved on a loop, from its change `moved`, where `expected` was due; `None` for a jump.
fn elapsed_on_loop(moved: f64, round: f64, expected: f64) -> Option<f64> {
    let way = [moved, moved + round, moved - round];
    let nearest = way
        .into_iter()
        .min_by(|a, b| (a - expected).abs().total_cmp(&(b - expected).abs()))?;
    (expected.min(0.0) - STEP_SECS..=expected.max(0.0) + STEP_SECS)
        .contains(&nearest)
        .then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Clip;

    fn clip() -> Vec<Clip> {
        vec![Clip {
            name: "x".into(),
            duration_secs: 2.0,
            tracks: Vec::new(),
            morphs: Vec::new(),
        }]
    }

    /// Time and jump flag of an input.
    fn seen(follower: &mut Follower, playback: &Playback, dt_secs: f64) -> (Option<f64>, bool) {
        match follower.input(playback, &Clips::new(&clip(), &[]), &[], dt_secs) {
            (CrowdInput::Clip { time_secs, .. }, jumped) => (Some(time_secs), jumped),
            (CrowdInput::Pose(_), jumped) => (None, jumped),
        }
    }

    #[test]
    fn a_clock_that_goes_round_goes_on_and_one_that_is_moved_jumps() {
        let (mut follower, mut playback) = (
            Follower::default(),
            Playback {
                clip: Some(0),
                playing: true,
                ..Playback::default()
            },
        );
        assert_eq!(
            seen(&mut follower, &playback, 0.1),
            (Some(0.0), true),
            "it begins"
        );
        let mut time = 0.0;
        for _ in 0..50 {
            playback.advance(0.1, 2.0);
            time += 0.1;
            let (at, jumped) = seen(&mut follower, &playback, 0.1);
            assert!(
                !jumped && at.is_some_and(|at| (at - time).abs() < 1e-9),
                "{at:?} at {time}"
            );
        }
        // The clock stops at a whole frame; the end of a range that does not repeat is no jump either.
        (playback.playing, playback.time_secs) = (false, playback.time_secs + 0.01);
        assert!(!seen(&mut follower, &playback, 0.1).1);
        (playback.playing, playback.looping, playback.time_secs) = (true, false, 1.97);
        assert!(
            seen(&mut follower, &playback, 0.0).1,
            "it was moved by hand"
        );
        playback.advance(0.1, 2.0);
        assert!(!seen(&mut follower, &playback, 0.1).1);
        playback.time_secs = 0.9;
        assert_eq!(seen(&mut follower, &playback, 0.1), (Some(0.9), true));
        playback.time_secs = 0.93;
        assert!(!seen(&mut follower, &playback, 0.0).1, "a frame further");
    }

    #[test]
    fn poses_and_clips_take_turns_by_jumps_and_time_is_never_negative() {
        let (mut follower, mut playback) = (Follower::default(), Playback::default());
        assert_eq!(seen(&mut follower, &playback, 0.1), (None, true));
        assert_eq!(seen(&mut follower, &playback, 0.1), (None, false));
        (playback.clip, playback.playing, playback.speed) = (Some(0), true, -1.0);
        assert_eq!(seen(&mut follower, &playback, 0.1), (Some(0.0), true));
        for _ in 0..50 {
            playback.advance(0.1, 2.0);
            let (at, jumped) = seen(&mut follower, &playback, 0.1);
            assert!(
                !jumped && at.is_some_and(|at| (0.0..=2.0).contains(&at)),
                "{at:?}"
            );
        }
        playback.range_secs = Some([0.5, 1.5]);
        assert!(
            seen(&mut follower, &playback, 0.1).1,
            "another range is another motion"
        );
        follower.forget();
        assert!(seen(&mut follower, &playback, 0.0).1);
    }

    #[test]
    fn earlier_times_of_a_clip_account_for_its_speed() {
        let play = Arc::new(Playing {
            clip: 0,
            take: None,
            range_secs: [0.0, 2.0],
            blend_secs: 0.0,
        });
        let input = CrowdInput::Clip {
            play,
            time_secs: 1.0,
            speed: 2.0,
        };
        assert!(
            matches!(input.before(0.25), CrowdInput::Clip { time_secs, .. } if time_secs == 0.5)
        );
    }
}
