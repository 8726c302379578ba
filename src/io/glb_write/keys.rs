//! Which frames of a motion are needed, if those between are interpolated.
//!
//! The swinging-door method of time-series compression (Bristol, *Swinging Door Trending*, 1990), for all coordinates at once. From
//! the last key a line to the present frame passes every frame between within ε, in every coordinate, iff its slope lies in the
//! intersection of the slopes that those frames allow; when a frame's own slope leaves it, the frame before becomes a key. Keys are
//! frames as they are, so the error is ε at most in between and nothing at keys.

use crate::math::{Point, Vec3};

/// Follows a motion and says which frames to keep.
#[derive(Debug)]
pub(super) struct KeyPicker {
    /// Largest error of a coordinate.
    tolerance: f32,
    key: Vec<Point>,
    key_time: f32,
    lowest: Vec<Vec3>,
    highest: Vec<Vec3>,
}

impl KeyPicker {
    /// Starts at the first frame, which is a key. No vertex may move by more than `tolerance` from where its frame has it.
    pub(super) fn new(first: &[Point], time: f32, tolerance: f32) -> Self {
        let mut picker = Self {
            // Three coordinates each at their limit are √3 times as far.
            tolerance: tolerance.max(0.0) / 3_f32.sqrt(),
            key: Vec::new(),
            key_time: 0.0,
            lowest: Vec::new(),
            highest: Vec::new(),
        };
        picker.restart(first, time);
        picker
    }

    /// Makes a frame a key.
    pub(super) fn restart(&mut self, positions: &[Point], time: f32) {
        self.key.clear();
        self.key.extend_from_slice(positions);
        self.key_time = time;
        self.lowest.clear();
        self.lowest.resize(positions.len(), Vec3::repeat(f32::NEG_INFINITY));
        self.highest.clear();
        self.highest.resize(positions.len(), Vec3::repeat(f32::INFINITY));
    }

    /// Whether the frames since the last key are still on the way from it to this one.
    pub(super) fn reaches(&self, positions: &[Point], time: f32) -> bool {
        let span = time - self.key_time;
        self.slopes(positions, span).all(|(slope, low, high)| (0..3).all(|c| (low[c]..=high[c]).contains(&slope[c])))
    }

    /// Takes in a frame that must be passed.
    pub(super) fn pass(&mut self, positions: &[Point], time: f32) {
        let span = time - self.key_time;
        let door = self.tolerance / span;
        for (((position, key), low), high) in positions.iter().zip(&self.key).zip(&mut self.lowest).zip(&mut self.highest) {
            let slope = (position - key) / span;
            *low = low.sup(&slope.add_scalar(-door));
            *high = high.inf(&slope.add_scalar(door));
        }
    }

    fn slopes<'a>(&'a self, positions: &'a [Point], span: f32) -> impl Iterator<Item = (Vec3, &'a Vec3, &'a Vec3)> {
        let allowed = self.lowest.iter().zip(&self.highest);
        positions.iter().zip(&self.key).zip(allowed).map(move |((position, key), (low, high))| ((position - key) / span, low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames kept of a motion of some points.
    fn keys(frames: &[Vec<Point>], tolerance: f32) -> Vec<usize> {
        let mut picker = KeyPicker::new(&frames[0], 0.0, tolerance);
        let mut kept = vec![0];
        for now in 1..frames.len() {
            if !picker.reaches(&frames[now], now as f32) {
                picker.restart(&frames[now - 1], (now - 1) as f32);
                kept.push(now - 1);
            }
            picker.pass(&frames[now], now as f32);
        }
        kept.push(frames.len() - 1);
        kept
    }

    fn motion(count: usize, at: impl Fn(usize, f32) -> Point) -> Vec<Vec<Point>> {
        (0..count).map(|frame| (0..5).map(|vertex| at(vertex, frame as f32)).collect()).collect()
    }

    #[test]
    fn straight_lines_and_rests_need_no_frames_between() {
        let line = motion(50, |vertex, t| Point::new(t * 0.1, vertex as f32 - t, 3.0));
        assert_eq!(keys(&line, 1e-4), [0, 49]);
        let bent = motion(50, |vertex, t| Point::new((t - 20.0).max(0.0), vertex as f32, 0.0));
        assert_eq!(keys(&bent, 1e-4), [0, 20, 49]);
    }

    #[test]
    fn what_is_left_out_is_within_the_tolerance() {
        let wave = motion(200, |vertex, t| {
            let angle = t * 0.05 + vertex as f32;
            Point::new(angle.sin(), (angle * 1.7).cos(), angle.sin() * angle.cos())
        });
        for tolerance in [1e-1, 3e-2, 1e-2] {
            let kept = keys(&wave, tolerance);
            assert!(kept.len() < 200 && kept.is_sorted(), "{tolerance}: {} keys", kept.len());
            for pair in kept.windows(2) {
                for frame in pair[0]..=pair[1] {
                    let t = (frame - pair[0]) as f32 / (pair[1] - pair[0]).max(1) as f32;
                    for ((from, to), is) in wave[pair[0]].iter().zip(&wave[pair[1]]).zip(&wave[frame]) {
                        let error = (from.coords.lerp(&to.coords, t) - is.coords).norm();
                        assert!(error <= tolerance * 1.001, "{tolerance}: frame {frame} is off by {error}");
                    }
                }
            }
        }
        // Without tolerance every frame of a curve stays.
        assert_eq!(keys(&wave, 0.0).len(), 200);
    }
}
