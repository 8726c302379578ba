//! A variant of flesh that was measured.

use serde::Serialize;

use super::record::Record;
use crate::cli::bench::report::CharacterSize;
use crate::gpu::actor::{ModelSize, StepBytes};
use crate::methods::DeviceTimes;

/// One size, one way of iterating, one solver, with or without contacts.
#[derive(Debug, Serialize)]
pub(super) struct FleshRecord {
    pub(super) size: &'static str,
    pub(super) character: CharacterSize,
    /// Earlier iterations that the acceleration combines; 0 for plain ones.
    pub(super) acceleration: u32,
    pub(super) iterations: u32,
    pub(super) solver: &'static str,
    /// Whether the program would choose this solver.
    pub(super) chosen: bool,
    /// What it would choose, and why.
    pub(super) choice: Option<String>,
    pub(super) contacts: bool,
    /// Contacts that press, over the frames.
    pub(super) contacts_mean: f64,
    pub(super) contacts_most: usize,
    /// Detecting contacts in a step on the CPU, mean.
    pub(super) detection_ms: f64,
    /// Set-up, once for a size: reading, refining and welding the skin (short if another size did it already).
    pub(super) skin_ms: f64,
    /// Once for a size: simplification, tissue, factor.
    pub(super) bind_ms: f64,
    /// Once for both with and without contacts: inverse, kernels, upload.
    pub(super) model_ms: f64,
    pub(super) frames: u32,
    /// Of one step each, not drawn, nothing read back.
    pub(super) frames_per_s: f64,
    pub(super) frame_ms: f64,
    /// CPU time of a frame, median: uploads, encoding, submission.
    pub(super) host_ms: f64,
    /// By the device's clock, measured separately: passes can't overlap then. With contacts, their passes belong to the global steps.
    pub(super) stages_ms: Option<DeviceTimes>,
    /// With contacts: of a step that has some.
    pub(super) passes_step: usize,
    pub(super) passes_surface: usize,
    pub(super) model: ModelSize,
    /// By the tables of the passes, without contacts; of gradients at most.
    pub(super) bytes_step: StepBytes,
    /// Absent with contacts.
    pub(super) rates: Option<Rates>,
    pub(super) memory_mb: f64,
}

/// Bytes of a step against its time.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Rates {
    /// Of all bytes in the time of a step (of a frame, if there are no timestamps), GB/s.
    step_gb_s: f64,
    /// Of local steps.
    local_gb_s: Option<f64>,
    /// Of global steps.
    global_gb_s: Option<f64>,
    /// The first, as a part of the rate of copies.
    of_copies: Option<f64>,
}

impl Rates {
    pub(super) fn of(
        bytes: &StepBytes,
        stages_ms: Option<DeviceTimes>,
        frame_ms: f64,
        copy_gb_s: Option<f64>,
    ) -> Self {
        let rate = |bytes: u64, ms: f64| bytes as f64 / ms.max(1e-9) * 1e-6;
        let step_gb_s = rate(bytes.total(), stages_ms.map_or(frame_ms, |ms| ms.step_ms));
        Self {
            step_gb_s,
            local_gb_s: stages_ms.map(|ms| rate(bytes.constants + bytes.state, ms.local_ms)),
            global_gb_s: stages_ms.map(|ms| rate(bytes.solver, ms.global_ms)),
            of_copies: copy_gb_s.map(|copy_gb_s| step_gb_s / copy_gb_s),
        }
    }
}

impl Record for FleshRecord {
    const KIND: &'static str = "flesh";

    fn line(&self) -> String {
        let way = if self.acceleration > 0 {
            "accelerated"
        } else {
            "plain      "
        };
        let contacts = if self.contacts {
            format!(
                ", {:.0} contacts (detected in {:.2} ms)",
                self.contacts_mean, self.detection_ms
            )
        } else {
            String::new()
        };
        let stages = self.stages_ms.map_or_else(String::new, |ms| {
            format!(
                "; device {:.3} ms: base {:.3}, local {:.3}, global {:.3}, surface {:.3}",
                ms.total_ms, ms.anchors_ms, ms.local_ms, ms.global_ms, ms.surface_ms
            )
        });
        let rates = self.rates.map_or_else(String::new, |rates| {
            let part = rates
                .of_copies
                .map_or_else(String::new, |part| format!(" ({:.0} %)", part * 100.0));
            format!(
                "; {:.1} MB a step, {:.0} GB/s{part}",
                self.bytes_step.total() as f64 / 1e6,
                rates.step_gb_s
            )
        });
        format!(
            "{:8} {way} {:9}{} {:8.1} frames/s, {:.3} ms a frame, host {:.3} ms, {} passes a step{stages}{rates}{contacts}",
            self.size,
            self.solver,
            if self.chosen { "*" } else { " " },
            self.frames_per_s,
            self.frame_ms,
            self.host_ms,
            self.passes_step
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bytes_over_time() {
        let bytes = StepBytes {
            constants: 2_000_000,
            state: 1_000_000,
            solver: 4_000_000,
        };
        let stages = DeviceTimes {
            step_ms: 0.1,
            local_ms: 0.03,
            global_ms: 0.05,
            ..DeviceTimes::default()
        };
        let rates = Rates::of(&bytes, Some(stages), 9.0, Some(700.0));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b;
        assert!(near(rates.step_gb_s, 70.0) && near(rates.of_copies.unwrap_or(0.0), 0.1));
        assert!(near(rates.local_gb_s.unwrap_or(0.0), 100.0));
        assert!(near(rates.global_gb_s.unwrap_or(0.0), 80.0));
        let without_clock = Rates::of(&bytes, None, 7.0, None);
        assert!(near(without_clock.step_gb_s, 1.0) && without_clock.local_gb_s.is_none());
    }
}
