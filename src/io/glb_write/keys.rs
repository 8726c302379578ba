//! Selects the frames of a motion that are needed for linear interpolation within a tolerance.
//!
//! The swinging-door method of time-series compression (Bristol, *Swinging Door Trending*, 1990),
//! for all coordinates at once. A line from the last key to the present frame passes every
//! intermediate frame within ε, in every coordinate, iff its slope lies in the intersection of the
//! slope intervals of those frames. If it does not, the previous frame becomes a key. Keys are
//! exact frames, so the error is at most ε between keys and zero at keys.

use crate::math::{Point, Vec3};

/// Selects key frames while a motion streams through.
#[derive(Debug)]
pub(super) struct KeyPicker {
    /// Maximum error of a coordinate.
    tolerance: f32,
    key: Vec<Point>,
    key_time: f32,
    lowest: Vec<Vec3>,
    highest: Vec<Vec3>,
}

impl KeyPicker {
    /// Starts with the first frame, which is a key. No vertex may deviate by more than `tolerance`
    /// from its baked position.
    pub(super) fn new(first: &[Point], time: f32, tolerance: f32) -> Self {
        let mut picker = Self {
            // Three coordinates, each at the limit, give √3 times the distance.
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
        self.lowest
            .resize(positions.len(), Vec3::repeat(f32::NEG_INFINITY));
        self.highest.clear();
        self.highest
            .resize(positions.len(), Vec3::repeat(f32::INFINITY));
    }

    /// Whether the line from the last key to this frame passes all frames between within the
    /// tolerance.
    pub(super) fn reaches(&self, positions: &[Point], time: f32) -> bool {
        let span = time - self.key_time;
        self.slopes(positions, span)
            .all(|(slope, low, high)| (0..3).all(|c| (low[c]..=high[c]).contains(&slope[c])))
    }

    /// Adds an intermediate frame's slope interval.
    pub(super) fn pass(&mut self, positions: &[Point], time: f32) {
        let span = time - self.key_time;
        let door = self.tolerance / span;
        for (((position, key), low), high) in positions
            .iter()
            .zip(&self.key)
            .zip(&mut self.lowest)
            .zip(&mut self.highest)
        {
            let slope = (position - key) / span;
            *low = low.sup(&slope.add_scalar(-door));
            *high = high.inf(&slope.add_scalar(door));
        }
    }

    fn slopes<'a>(
        &'a self,
        positions: &'a [Point],
        span: f32,
    ) -> impl Iterator<Item = (Vec3, &'a Vec3, &'a Vec3)> {
        let allowed = self.lowest.iter().zip(&self.highest);
        positions
            .iter()
            .zip(&self.key)
            .zip(allowed)
            .map(move |((position, key), (low, high))| ((position - key) / span, low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key frames of a motion of some points.
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
        (0..count)
            .map(|frame| (0..5).map(|vertex| at(vertex, frame as f32)).collect())
            .collect()
    }

    #[test]
    fn linear_and_static_motion_needs_no_intermediate_keys() {
        let line = motion(50, |vertex, t| Point::new(t * 0.1, vertex as f32 - t, 3.0));
        assert_eq!(keys(&line, 1e-4), [0, 49]);
        let bent = motion(50, |vertex, t| {
            Point::new((t - 20.0).max(0.0), vertex as f32, 0.0)
        });
        assert_eq!(keys(&bent, 1e-4), [0, 20, 49]);
    }

    #[test]
    fn omitted_frames_are_within_the_tolerance() {
        let wave = motion(200, |vertex, t| {
            let angle = t * 0.05 + vertex as f32;
            Point::new(angle.sin(), (angle * 1.7).cos(), angle.sin() * angle.cos())
        });
        for tolerance in [1e-1, 3e-2, 1e-2] {
            let kept = keys(&wave, tolerance);
            assert!(
                kept.len() < 200 && kept.is_sorted(),
                "{tolerance}: {} keys",
                kept.len()
            );
            for pair in kept.windows(2) {
                for frame in pair[0]..=pair[1] {
                    let t = (frame - pair[0]) as f32 / (pair[1] - pair[0]).max(1) as f32;
                    for ((from, to), is) in
                        wave[pair[0]].iter().zip(&wave[pair[1]]).zip(&wave[frame])
                    {
                        let error = (from.coords.lerp(&to.coords, t) - is.coords).norm();
                        assert!(
                            error <= tolerance * 1.001,
                            "{tolerance}: frame {frame} deviates by {error}"
                        );
                    }
                }
            }
        }
        // Without tolerance every frame of a curve is kept.
        assert_eq!(keys(&wave, 0.0).len(), 200);
    }
}
