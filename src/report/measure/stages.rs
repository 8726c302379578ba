//! Where the time of a method goes.

use crate::methods::StepTimes;

/// Sums of the times of a frame's parts.
#[derive(Default)]
pub(super) struct Stages {
    sums_ms: [f64; Self::NAMES.len()],
}

impl Stages {
    const NAMES: [&'static str; 6] = [
        "base surface",
        "local steps",
        "global steps",
        "upsampling",
        "normals",
        "other",
    ];

    pub(super) fn add(&mut self, times: &StepTimes) {
        let parts = [
            times.anchors_ms,
            times.local_ms,
            times.global_ms,
            times.upsampling_ms,
            times.normals_ms,
        ];
        let other = times.total_ms - parts.iter().sum::<f64>();
        for (sum, part) in self
            .sums_ms
            .iter_mut()
            .zip(parts.into_iter().chain([other.max(0.0)]))
        {
            *sum += part;
        }
    }

    /// Mean of each part that takes any time, the longest first.
    pub(super) fn means(&self, frames: usize) -> Vec<(String, f64)> {
        let mean = |sum: &f64| sum / frames.max(1) as f64;
        let named = Self::NAMES.into_iter().zip(self.sums_ms.iter().map(mean));
        let mut means: Vec<(String, f64)> = named
            .filter(|(_, ms)| *ms > 0.0)
            .map(|(name, ms)| (name.to_owned(), ms))
            .collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        means
    }
}
