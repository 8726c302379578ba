//! The clip that plays and its clock. Part of the view: undo does not touch it.

/// Which clip is shown and when in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// The clip shown; `None` shows the pose made by hand.
    pub clip: Option<usize>,
    /// Seconds from the clip's start.
    pub time_secs: f64,
    /// Whether the clock runs.
    pub playing: bool,
    /// Clip seconds per second; 1 is real time.
    pub speed: f64,
    /// Whether the clip starts over at its end.
    pub looping: bool,
    /// Where to go on when no clip is shown and play is asked for.
    pub(super) resume: (usize, f64),
}

impl Default for Playback {
    fn default() -> Self {
        Self { clip: None, time_secs: 0.0, playing: false, speed: 1.0, looping: true, resume: (0, 0.0) }
    }
}

impl Playback {
    /// Lets `dt_secs` pass on a clip of the given length.
    pub(super) fn advance(&mut self, dt_secs: f64, duration_secs: f64) {
        if !self.playing || self.clip.is_none() {
            return;
        }
        self.time_secs += dt_secs * self.speed;
        let inside = (0.0..=duration_secs).contains(&self.time_secs);
        if inside {
            return;
        }
        if self.looping && duration_secs > 0.0 {
            self.time_secs = self.time_secs.rem_euclid(duration_secs);
        } else {
            self.time_secs = self.time_secs.clamp(0.0, duration_secs.max(0.0));
            self.playing = false;
        }
    }

    /// Shows the pose made by hand and remembers where the clip was.
    pub(super) fn leave_clip(&mut self) {
        if let Some(clip) = self.clip.take() {
            self.resume = (clip, self.time_secs);
            self.playing = false;
        }
    }

    /// Starts or stops the clock; without a clip the last one is taken up again.
    pub(super) fn set_playing(&mut self, playing: bool, clips: usize, duration_of: impl Fn(usize) -> f64) {
        if playing && self.clip.is_none() && clips > 0 {
            let (clip, time) = self.resume;
            (self.clip, self.time_secs) = if clip < clips { (Some(clip), time) } else { (Some(0), 0.0) };
        }
        self.playing = playing && self.clip.is_some();
        if let (true, Some(clip)) = (self.playing, self.clip)
            && !self.looping
            && self.time_secs >= duration_of(clip)
        {
            self.time_secs = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_looping_clip_starts_over_and_another_stops() {
        let mut playback = Playback { clip: Some(0), playing: true, ..Playback::default() };
        playback.advance(2.5, 2.0);
        assert!((playback.time_secs - 0.5).abs() < 1e-12 && playback.playing);
        playback.looping = false;
        playback.advance(9.0, 2.0);
        assert!((playback.time_secs - 2.0).abs() < 1e-12 && !playback.playing);
        playback.set_playing(true, 1, |_| 2.0);
        assert!(playback.time_secs == 0.0 && playback.playing);
    }

    #[test]
    fn backwards_and_empty_clips_stay_in_range() {
        let mut playback = Playback { clip: Some(0), playing: true, speed: -1.0, ..Playback::default() };
        playback.advance(0.5, 2.0);
        assert!((playback.time_secs - 1.5).abs() < 1e-12);
        playback.advance(0.5, 0.0);
        assert!(playback.time_secs == 0.0 && !playback.playing);
    }
}
