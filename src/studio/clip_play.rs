//! Playback of a clip: range, speed, repetitions, and blending at the seams.

use crate::rig::{Clip, Pose, PoseOffset, Skeleton};

/// Default blend duration at a seam.
pub const DEFAULT_BLEND_SECS: f64 = 0.25;

/// A clip with playback settings. A pure function of time: the same time always gives the same pose.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipPlay {
    /// Index of the clip.
    pub clip: usize,
    /// Range, seconds of the clip; the whole clip if not given.
    pub range_secs: Option<[f64; 2]>,
    /// Clip seconds per second; negative plays backwards.
    pub speed: f64,
    /// Number of repetitions of the range.
    pub loops: u32,
    /// Blend duration at the seam between two repetitions; 0 cuts.
    pub seam_secs: f64,
    /// Blend duration from the rest pose into the clip; 0 starts in the clip.
    pub entry_secs: f64,
}

impl ClipPlay {
    /// The whole clip once, without blending.
    #[must_use]
    pub fn once(clip: usize) -> Self {
        Self {
            clip,
            range_secs: None,
            speed: 1.0,
            loops: 1,
            seam_secs: DEFAULT_BLEND_SECS,
            entry_secs: 0.0,
        }
    }

    /// The range, clamped to the clip.
    #[must_use]
    pub(crate) fn range_in(&self, clip: &Clip) -> [f64; 2] {
        clamped_range(self.range_secs, clip.duration_secs)
    }

    /// Duration of one repetition.
    fn round_secs(&self, clip: &Clip) -> f64 {
        let [from, to] = self.range_in(clip);
        let speed = self.speed.abs();
        if speed > 0.0 {
            (to - from) / speed
        } else {
            0.0
        }
    }

    /// Duration of all repetitions.
    #[must_use]
    pub fn duration_secs(&self, clip: &Clip) -> f64 {
        self.round_secs(clip) * f64::from(self.loops.max(1))
    }

    /// The time in the clip at a time in a repetition.
    fn clip_time(&self, clip: &Clip, phase_secs: f64) -> f64 {
        let [from, to] = self.range_in(clip);
        if self.speed < 0.0 {
            (to + phase_secs * self.speed).max(from)
        } else {
            (from + phase_secs * self.speed).min(to)
        }
    }

    /// The pose at a time from the start; held after the end.
    #[must_use]
    pub(crate) fn pose_at(&self, clip: &Clip, skeleton: &Skeleton, time_secs: f64) -> Pose {
        let round = self.round_secs(clip);
        let time = time_secs.clamp(0.0, self.duration_secs(clip));
        let last = self.loops.max(1) - 1;
        let index = if round > 0.0 {
            ((time / round + 1e-9).floor() as u32).min(last)
        } else {
            0
        };
        // The end of all repetitions is the end of the last one.
        let phase = (time - f64::from(index) * round).max(0.0);
        let mut pose = clip.sample(skeleton, self.clip_time(clip, phase));
        let (before, blend) = match index {
            0 => (skeleton.rest_pose(), self.entry_secs),
            _ => (
                clip.sample(skeleton, self.clip_time(clip, round)),
                self.seam_secs,
            ),
        };
        let part = PoseOffset::part_left(phase, blend.min(round));
        if part > 0.0 {
            let first = clip.sample(skeleton, self.clip_time(clip, 0.0));
            PoseOffset::between(&before, &first).add_to(&mut pose, part);
        }
        pose
    }
}

/// The range clamped to the clip; not empty, unless the clip is.
#[must_use]
pub fn clamped_range(range_secs: Option<[f64; 2]>, duration_secs: f64) -> [f64; 2] {
    let whole = [0.0, duration_secs.max(0.0)];
    let Some([from, to]) = range_secs else {
        return whole;
    };
    let [from, to] = [from.clamp(0.0, whole[1]), to.clamp(0.0, whole[1])];
    if from < to { [from, to] } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Point64, Quat, Vec64};
    use crate::rig::{Channel, Curve, Track};

    /// One joint that turns from 0 to 90° in 2 s.
    fn turning() -> (Skeleton, Clip) {
        let skeleton = Skeleton::from_positions(&[("a".into(), None, Point64::origin())]).unwrap();
        let turn = |degrees: f64| {
            Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians()).into_inner()
        };
        let curve = Curve::linear(vec![0.0, 2.0], vec![turn(0.0), turn(90.0)]);
        (
            skeleton,
            Clip {
                name: "x".into(),
                duration_secs: 2.0,
                tracks: vec![Track {
                    joint: 0,
                    channel: Channel::Rotation(curve),
                }],
                morphs: Vec::new(),
            },
        )
    }

    fn degrees(play: &ClipPlay, time: f64) -> f64 {
        let (skeleton, clip) = turning();
        play.pose_at(&clip, &skeleton, time).locals[0]
            .rotation
            .scaled_axis()
            .z
            .to_degrees()
    }

    #[test]
    fn range_speed_and_loops() {
        let play = ClipPlay {
            range_secs: Some([0.5, 1.5]),
            speed: 2.0,
            loops: 3,
            seam_secs: 0.0,
            ..ClipPlay::once(0)
        };
        assert!((play.duration_secs(&turning().1) - 1.5).abs() < 1e-12);
        for (time, expected) in [
            (0.0, 22.5),
            (0.25, 45.0),
            (0.5, 22.5),
            (1.25, 45.0),
            (1.5, 67.5),
            (9.0, 67.5),
        ] {
            assert!((degrees(&play, time) - expected).abs() < 1e-6, "{time}");
        }
        let back = ClipPlay {
            speed: -1.0,
            ..ClipPlay::once(0)
        };
        assert!((degrees(&back, 0.0) - 90.0).abs() < 1e-6 && (degrees(&back, 2.0)).abs() < 1e-6);
        let still = ClipPlay {
            speed: 0.0,
            ..ClipPlay::once(0)
        };
        assert!(still.duration_secs(&turning().1) == 0.0 && degrees(&still, 1.0).abs() < 1e-6);
    }

    #[test]
    fn seams_and_the_start_are_continuous() {
        let play = ClipPlay {
            loops: 3,
            entry_secs: 0.3,
            range_secs: Some([0.4, 2.0]),
            ..ClipPlay::once(0)
        };
        let end = play.duration_secs(&turning().1);
        let step = 1e-3;
        let mut last = degrees(&play, 0.0);
        assert!(last.abs() < 1e-9, "the rest pose comes first");
        for index in 1..(end / step) as usize {
            let now = degrees(&play, index as f64 * step);
            assert!((now - last).abs() < 1.0, "{} s", index as f64 * step);
            last = now;
        }
        // Without easing the same seam pops.
        let hard = ClipPlay {
            seam_secs: 0.0,
            entry_secs: 0.0,
            ..play
        };
        assert!((degrees(&hard, 1.6 - step) - degrees(&hard, 1.6 + step)).abs() > 60.0);
    }
}
