//! Real time between frames.

use std::time::Instant;

/// Duration of the first frame after a pause.
const FIRST_FRAME_SECS: f64 = 1.0 / 60.0;

/// Real time between frames.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last: Option<Instant>,
    /// Whether the last frame requested another one immediately.
    pub(super) running: bool,
    pub(super) smoothed_secs: f64,
}

impl Clock {
    /// Seconds since the last frame; a pause counts as one frame at most.
    pub(super) fn tick(&mut self) -> f64 {
        let now = Instant::now();
        let since = self
            .last
            .replace(now)
            .map_or(FIRST_FRAME_SECS, |last| (now - last).as_secs_f64());
        if self.running {
            self.smoothed_secs = if self.smoothed_secs > 0.0 {
                self.smoothed_secs * 0.9 + since * 0.1
            } else {
                since
            };
            since
        } else {
            since.min(FIRST_FRAME_SECS)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_paused_clock_does_not_catch_up() {
        let mut clock = Clock {
            last: Instant::now().checked_sub(Duration::from_secs(9)),
            ..Clock::default()
        };
        assert!(clock.tick() <= FIRST_FRAME_SECS);
        clock.last = Instant::now().checked_sub(Duration::from_secs(1));
        clock.running = true;
        assert!(clock.tick() >= 1.0);
    }
}
