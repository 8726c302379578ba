//! Playback: the clip shown and its clock. Part of the view: undo does not change it.

use crate::rig::{Pose, PoseOffset};
use crate::session::moment::Fading;
use crate::studio::{DEFAULT_BLEND_SECS, clamped_range};

/// Which clip is shown and when in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Playback {
    /// The clip shown; `None` shows the pose made by hand.
    pub clip: Option<usize>,
    /// Seconds from the clip's start.
    pub time_secs: f64,
    /// Whether the clock is running.
    pub playing: bool,
    /// Clip seconds per second; 1 is real time.
    pub speed: f64,
    /// Whether the range repeats.
    pub looping: bool,
    /// The played range, seconds; the whole clip if not given.
    pub range_secs: Option<[f64; 2]>,
    /// Blend duration in seconds between motions: at a loop's seam, on entering and on leaving a clip. 0 cuts.
    pub blend_secs: f64,
    /// Clip and time to resume when play is requested while no clip is shown.
    pub(in crate::session) resume: (usize, f64),
    /// Remaining offset of the previous motion.
    pub(in crate::session) fading: Option<Fading>,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: None,
            time_secs: 0.0,
            playing: false,
            speed: 1.0,
            looping: true,
            range_secs: None,
            blend_secs: DEFAULT_BLEND_SECS,
            resume: (0, 0.0),
            fading: None,
        }
    }
}

impl Playback {
    /// The same settings (speed, looping, blending) for another character.
    pub(in crate::session) fn for_other_character(&self) -> Self {
        Self {
            speed: self.speed,
            looping: self.looping,
            blend_secs: self.blend_secs,
            ..Self::default()
        }
    }

    /// The played range of a clip of the given length.
    #[must_use]
    pub fn range_in(&self, duration_secs: f64) -> [f64; 2] {
        clamped_range(self.range_secs, duration_secs)
    }

    /// Whether the pose shown is a blend of two motions.
    #[must_use]
    pub fn is_blending(&self) -> bool {
        self.fading.is_some()
    }

    /// Advances the clock by `dt_secs` on a clip of the given length. Returns whether it restarted.
    pub(in crate::session) fn advance(&mut self, dt_secs: f64, duration_secs: f64) -> bool {
        if let Some(fading) = &mut self.fading {
            fading.age_secs += dt_secs;
            if fading.age_secs >= self.blend_secs {
                self.fading = None;
            }
        }
        if !self.playing || self.clip.is_none() {
            return false;
        }
        self.time_secs += dt_secs * self.speed;
        let [from, to] = self.range_in(duration_secs);
        // A clock set by hand to before the range runs into it.
        let runs_in = to > from
            && if self.speed < 0.0 {
                self.time_secs > to
            } else {
                self.time_secs < from
            };
        if (from..=to).contains(&self.time_secs) || runs_in {
            return false;
        }
        if self.looping && to > from {
            self.time_secs = from + (self.time_secs - from).rem_euclid(to - from);
            return true;
        }
        self.time_secs = self.time_secs.clamp(from, to);
        self.playing = false;
        false
    }

    /// Sets the playback speed, clip seconds per second, clamped to ±8. A non-finite number is ignored.
    pub(in crate::session) fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.speed = speed.clamp(-8.0, 8.0);
        }
    }

    /// Sets the blend duration, at most 10 seconds. A non-finite number is ignored.
    pub(in crate::session) fn set_blend(&mut self, secs: f64) {
        if secs.is_finite() {
            self.blend_secs = secs.clamp(0.0, 10.0);
        }
    }

    /// Starts a blend from the pose shown to the wanted one.
    pub(in crate::session) fn fade(&mut self, shown: &Pose, wanted: &Pose) {
        self.fading = None;
        if self.blend_secs > 0.0 && shown.locals.len() == wanted.locals.len() && shown != wanted {
            self.fading = Some(Fading {
                offset: PoseOffset::between(shown, wanted),
                age_secs: 0.0,
            });
        }
    }

    /// Adds the remaining offset of the previous motion.
    pub(in crate::session) fn add_fading(&self, pose: &mut Pose) {
        if let Some(Fading { offset, age_secs }) = &self.fading {
            offset.add_to(pose, PoseOffset::part_left(*age_secs, self.blend_secs));
        }
    }

    /// The clip shown, or the one shown last.
    #[must_use]
    pub fn last_clip(&self) -> usize {
        self.clip.unwrap_or(self.resume.0)
    }

    /// Shows the pose made by hand and remembers clip and time.
    pub(in crate::session) fn leave_clip(&mut self) {
        self.fading = None;
        if let Some(clip) = self.clip.take() {
            self.resume = (clip, self.time_secs);
            self.playing = false;
        }
    }

    /// Starts or stops the clock; without a clip it resumes the last one.
    pub(in crate::session) fn set_playing(
        &mut self,
        playing: bool,
        clips: usize,
        duration_of: impl Fn(usize) -> f64,
    ) {
        if playing && self.clip.is_none() && clips > 0 {
            let (clip, time) = self.resume;
            (self.clip, self.time_secs) = if clip < clips {
                (Some(clip), time)
            } else {
                (Some(0), 0.0)
            };
        }
        self.playing = playing && self.clip.is_some();
        if let (true, Some(clip)) = (self.playing, self.clip) {
            let [from, to] = self.range_in(duration_of(clip));
            if !self.looping && self.speed >= 0.0 && self.time_secs >= to {
                self.time_secs = from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_looping_clip_starts_over_and_another_stops() {
        let mut playback = Playback {
            clip: Some(0),
            playing: true,
            ..Playback::default()
        };
        assert!(playback.advance(2.5, 2.0));
        assert!((playback.time_secs - 0.5).abs() < 1e-12 && playback.playing);
        playback.looping = false;
        assert!(!playback.advance(9.0, 2.0));
        assert!((playback.time_secs - 2.0).abs() < 1e-12 && !playback.playing);
        playback.set_playing(true, 1, |_| 2.0);
        assert!(playback.time_secs == 0.0 && playback.playing);
    }

    #[test]
    fn a_range_is_what_loops() {
        let mut playback = Playback {
            clip: Some(0),
            playing: true,
            range_secs: Some([0.5, 1.5]),
            ..Playback::default()
        };
        assert!(
            !playback.advance(0.25, 2.0),
            "before the range the clock runs into it"
        );
        assert!(!playback.advance(1.0, 2.0) && (playback.time_secs - 1.25).abs() < 1e-12);
        assert!(playback.advance(0.5, 2.0) && (playback.time_secs - 0.75).abs() < 1e-12);
        playback.looping = false;
        playback.advance(2.0, 2.0);
        assert!((playback.time_secs - 1.5).abs() < 1e-12 && !playback.playing);
        playback.set_playing(true, 1, |_| 2.0);
        assert!((playback.time_secs - 0.5).abs() < 1e-12);
    }

    #[test]
    fn backwards_and_empty_clips_stay_in_range() {
        let mut playback = Playback {
            clip: Some(0),
            playing: true,
            speed: -1.0,
            ..Playback::default()
        };
        playback.advance(0.5, 2.0);
        assert!((playback.time_secs - 1.5).abs() < 1e-12);
        playback.advance(0.5, 0.0);
        assert!(playback.time_secs == 0.0 && !playback.playing);
    }
}
