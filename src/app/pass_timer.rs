//! Times of a pass of the window, so that the log says which part of a slow one took long.

use std::fmt::Write;
use std::time::Instant;

/// Passes that take longer than this are logged, ms.
const SLOW_MS: f64 = 50.0;
/// Parts that take less are not named, ms.
const NAMED_MS: f64 = 1.0;

/// The times of the parts of one pass.
#[derive(Debug, Default)]
pub struct PassTimer {
    since: Option<Instant>,
    /// Name and time of each part, ms.
    parts: Vec<(&'static str, f64)>,
}

impl PassTimer {
    /// Begins a pass.
    pub fn begin(&mut self) {
        self.parts.clear();
        self.since = Some(Instant::now());
    }

    /// Ends a part of the pass: all since the last call. Does nothing outside a pass.
    pub fn end_part(&mut self, name: &'static str) {
        let now = Instant::now();
        if let Some(since) = &mut self.since {
            let ms = (now - std::mem::replace(since, now)).as_secs_f64() * 1e3;
            self.parts.push((name, ms));
        }
    }

    /// Ends the pass. Returns its time, ms.
    pub fn end(&mut self) -> f64 {
        self.since = None;
        let ms = self.parts.iter().map(|(_, ms)| ms).sum();
        if ms > SLOW_MS {
            log::debug!("{}", self.description(ms));
        }
        ms
    }

    fn description(&self, ms: f64) -> String {
        let mut text = format!("a pass of the window took {ms:.0} ms:");
        for (name, ms) in self.parts.iter().filter(|(_, ms)| *ms >= NAMED_MS) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name} {ms:.0},");
        }
        text.pop();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_parts_that_take_time() {
        let timer = PassTimer {
            since: None,
            parts: vec![("panels", 0.4), ("session", 61.2), ("pictures", 5.0)],
        };
        assert_eq!(
            timer.description(66.6),
            "a pass of the window took 67 ms: session 61, pictures 5"
        );
    }

    #[test]
    fn parts_sum_up_to_the_pass() {
        let mut timer = PassTimer::default();
        timer.end_part("outside a pass");
        assert!(timer.parts.is_empty());
        timer.begin();
        timer.end_part("panels");
        timer.end_part("session");
        let sum: f64 = timer.parts.iter().map(|(_, ms)| ms).sum();
        assert_eq!(timer.end().to_bits(), sum.to_bits());
        timer.begin();
        assert!(timer.parts.is_empty());
    }
}
