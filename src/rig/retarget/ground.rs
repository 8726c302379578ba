//! Keeps feet on the ground.

use super::role::{Role, Side};
use super::stance::{Landmarks, Stance};
use crate::math::{Quat, Vec64};
use crate::rig::Skeleton;

/// The points under the feet that touch the ground in the stance, in their joints' frames.
pub(super) struct Soles {
    points: Vec<(usize, Vec64)>,
    up: Vec64,
    /// Height of the ground in the stance.
    pub ground: f64,
}

impl Soles {
    /// `None` for a body without feet.
    pub fn of(skeleton: &Skeleton, stance: &Stance, marks: &Landmarks, up: Vec64) -> Option<Self> {
        let mut joints = Vec::new();
        for side in Side::BOTH {
            let Some(&foot) = marks.joints(Role::Foot(side)).first() else {
                continue;
            };
            let mut below = vec![foot];
            while let Some(joint) = below.pop() {
                joints.push(joint);
                below.extend(skeleton.children(joint).iter().take(8));
                if joints.len() > 64 {
                    break;
                }
            }
        }
        let height = |joint: &usize| stance.places[*joint].dot(&up);
        let ground = joints.iter().map(height).fold(f64::INFINITY, f64::min);
        if !ground.is_finite() {
            return None;
        }
        let under = |&joint: &usize| {
            (
                joint,
                stance.turns[joint].inverse() * (up * (ground - stance.places[joint].dot(&up))),
            )
        };
        Some(Self {
            points: joints.iter().map(under).collect(),
            up,
            ground,
        })
    }

    /// Height of the lowest point.
    pub fn lowest(&self, place: impl Fn(usize) -> (Vec64, Quat)) -> f64 {
        let height = |(joint, offset): &(usize, Vec64)| {
            let (place, turn) = place(*joint);
            (place + turn * offset).dot(&self.up)
        };
        self.points.iter().map(height).fold(f64::INFINITY, f64::min)
    }
}

/// Ground height of a motion: a low quantile of the feet's heights, robust against a single wrong
/// frame.
pub(super) fn ground_of(lowest: &[f64]) -> f64 {
    let mut sorted = lowest.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 50).copied().unwrap_or(0.0)
}

/// Smooths the corrections of height; feet may sink by at most `slack`.
pub(super) fn smoothed(raw: &[f64], half_window: usize, slack: f64) -> Vec<f64> {
    let mut values = raw.to_vec();
    for _ in 0..2 {
        let mut sums = Vec::with_capacity(values.len() + 1);
        sums.push(0.0);
        for value in &values {
            sums.push(sums[sums.len() - 1] + value);
        }
        let mean = |at: usize| {
            let (from, to) = (
                at.saturating_sub(half_window),
                (at + half_window + 1).min(raw.len()),
            );
            (sums[to] - sums[from]) / (to - from) as f64
        };
        values = (0..raw.len()).map(mean).collect();
    }
    values
        .iter()
        .zip(raw)
        .map(|(smooth, raw)| smooth.max(raw - slack))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_keeps_constants_and_prevents_sinking() {
        assert!(
            smoothed(&[2.0; 9], 3, 0.0)
                .iter()
                .all(|v| (v - 2.0).abs() < 1e-12)
        );
        let raw: Vec<f64> = (0..50)
            .map(|i| if i % 10 == 0 { 1.0 } else { 0.0 })
            .collect();
        assert!(
            smoothed(&raw, 3, 0.1)
                .iter()
                .zip(&raw)
                .all(|(smooth, raw)| *smooth >= raw - 0.1 - 1e-12)
        );
        assert!(smoothed(&[], 3, 0.1).is_empty());
    }

    #[test]
    fn one_deep_frame_is_not_the_ground() {
        let mut lowest = vec![1.0; 200];
        lowest[17] = -50.0;
        assert!((ground_of(&lowest) - 1.0).abs() < 1e-12);
    }
}
