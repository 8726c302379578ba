//! Comparison of an iteration with the machine's limits: a roofline of its two halves.

use serde::Serialize;

use crate::cli::calibration::{Calibration, MemoryLevel};
use crate::dynamics::Work;

/// One local/global iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct IterationReport {
    /// Bytes that an iteration accesses.
    working_set_bytes: u64,
    /// The level that holds them between iterations.
    level: MemoryLevel,
    local: StepRates,
    global: StepRates,
}

/// The local or the global step of one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct StepRates {
    ms: f64,
    bytes: u64,
    flops: u64,
    /// Rates reached by all threads together.
    gb_s: f64,
    gflop_s: f64,
    /// Lower bound of the time: reading at the measured rate or computing at the measured rate, whichever is longer.
    limit_ms: f64,
    /// What bounds `limit_ms`.
    bound: LimitedBy,
    /// Measured time in multiples of `limit_ms`; 1 is optimal.
    times_limit: f64,
}

/// The bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum LimitedBy {
    Reading,
    Computing,
}

impl IterationReport {
    /// Computes the limits from the work of an iteration, the times of its halves (local, global), and the number of
    /// threads.
    pub(super) fn of(work: &Work, ms: [f64; 2], threads: usize, calibration: &Calibration) -> Self {
        let working_set_bytes = work.local_bytes + work.global_bytes;
        let level = calibration.caches.level_of(working_set_bytes, threads);
        let read_gb_s = calibration.read_gb_s(level) * threads as f64;
        let compute_gflop_s = calibration.f32_fma_gflop_s * threads as f64;
        let half = |ms: f64, bytes: u64, flops: u64| {
            let (reading_ms, computing_ms) = (
                bytes as f64 / read_gb_s * 1e-6,
                flops as f64 / compute_gflop_s * 1e-6,
            );
            let limit_ms = reading_ms.max(computing_ms);
            let per_ms = |amount: u64| {
                if ms > 0.0 {
                    amount as f64 / ms * 1e-6
                } else {
                    0.0
                }
            };
            StepRates {
                ms,
                bytes,
                flops,
                gb_s: per_ms(bytes),
                gflop_s: per_ms(flops),
                limit_ms,
                bound: if reading_ms > computing_ms {
                    LimitedBy::Reading
                } else {
                    LimitedBy::Computing
                },
                times_limit: if limit_ms > 0.0 { ms / limit_ms } else { 0.0 },
            }
        };
        let (local, global) = (
            half(ms[0], work.local_bytes, work.local_flops),
            half(ms[1], work.global_bytes, work.global_flops),
        );
        Self {
            working_set_bytes,
            level,
            local,
            global,
        }
    }

    /// One line of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let megabytes = self.working_set_bytes as f64 / 1e6;
        let place = match self.level {
            MemoryLevel::L2 => "L2",
            MemoryLevel::L3 => "L3",
            MemoryLevel::Memory => "memory",
        };
        let half = |name: &str, half: &StepRates| {
            let by = if half.bound == LimitedBy::Reading {
                "reading"
            } else {
                "computing"
            };
            format!(
                "  {name:9}{:9.4} ms  {:7.3} MB {:6.1} GB/s, {:7.2} MFLOP {:6.1} GFLOP/s; {:.1} x the limit of {by} ({:.4} ms)",
                half.ms,
                half.bytes as f64 / 1e6,
                half.gb_s,
                half.flops as f64 / 1e6,
                half.gflop_s,
                half.times_limit,
                half.limit_ms
            )
        };
        vec![
            format!(
                "iteration  {:9.4} ms, {megabytes:.2} MB in {place}",
                self.local.ms + self.global.ms
            ),
            half("local", &self.local),
            half("global", &self.global),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::calibration::Caches;

    #[test]
    fn the_slower_resource_is_the_limit() {
        let caches = Caches {
            l2_bytes: 1 << 20,
            l3_bytes: 1 << 24,
        };
        let calibration = Calibration {
            l2_read_gb_s: 100.0,
            l3_read_gb_s: 50.0,
            memory_read_gb_s: 10.0,
            f32_fma_gflop_s: 200.0,
            caches,
        };
        let work = Work {
            local_bytes: 1_000_000,
            local_flops: 40_000_000,
            global_bytes: 400_000,
            global_flops: 100_000,
        };
        let report = IterationReport::of(&work, [0.2, 0.01], 2, &calibration);
        assert_eq!(report.level, MemoryLevel::L2);
        // Computing: 40 MFLOP at 400 GFLOP/s. Reading: 0.4 MB at 200 GB/s.
        assert!(
            report.local.bound == LimitedBy::Computing
                && (report.local.limit_ms - 0.1).abs() < 1e-12
        );
        assert!(
            report.global.bound == LimitedBy::Reading
                && (report.global.limit_ms - 0.002).abs() < 1e-12
        );
        assert!(
            (report.local.times_limit - 2.0).abs() < 1e-9
                && (report.global.times_limit - 5.0).abs() < 1e-9
        );
        assert_eq!(
            IterationReport::of(&work, [0.2, 0.01], 1, &calibration).level,
            MemoryLevel::L3
        );
        assert_eq!(report.lines().len(), 3);
    }
}
