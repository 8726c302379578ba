//! Milliseconds per stage over the last frames.

use std::collections::VecDeque;

use egui::{RichText, Ui};
use egui_plot::{Line, Plot, PlotPoints};

use crate::app::theme;
use crate::methods::StepTimes;

/// Number of frames kept.
const FRAMES: usize = 180;
/// Names of the curves, from bottom to top; colours in [`theme::Colors::stages`].
const NAMES: [&str; 5] = ["Anchors", "Local", "Global", "Surface", "Render"];

/// Times of the last frames.
#[derive(Debug, Clone, Default)]
pub struct TimingHistory {
    frames: VecDeque<[f64; 5]>,
    window: WindowTimes,
}

/// Time of the window itself: panels, pictures and session work on its thread, without waiting for the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WindowTimes {
    /// Mean of the last frames, milliseconds.
    pub mean_ms: f64,
    /// The longest frame since the window was opened, without the first ones, milliseconds.
    pub longest_ms: f64,
    frames: u64,
}

/// Number of first frames with one-time work: fonts, pipelines.
const SET_UP_FRAMES: u64 = 3;
/// Longer frames are noticeable and are logged.
const NOTICEABLE_MS: f64 = 50.0;

impl WindowTimes {
    /// Adds a frame.
    pub fn push(&mut self, ms: f64) {
        self.frames += 1;
        if !ms.is_finite() || self.frames <= SET_UP_FRAMES {
            return;
        }
        self.mean_ms = if self.mean_ms > 0.0 {
            self.mean_ms * 0.95 + ms * 0.05
        } else {
            ms
        };
        if ms > self.longest_ms {
            self.longest_ms = ms;
            if ms > NOTICEABLE_MS {
                log::warn!("a frame of the window took {ms:.0} ms");
            }
        }
    }
}

impl TimingHistory {
    /// Adds a frame.
    pub fn push(&mut self, step: &StepTimes, render_ms: f64) {
        if step.steps == 0 && step.local_ms > 0.0 {
            return; // Settling runs many iterations at once and is not representative.
        }
        // Time without a named stage counts as moving the vertices.
        let surface_ms = step.upsampling_ms + step.normals_ms;
        let named = step.anchors_ms + step.local_ms + step.global_ms + surface_ms;
        let rest = (step.total_ms - named).max(0.0);
        let frame = [
            step.anchors_ms,
            step.local_ms + rest,
            step.global_ms,
            surface_ms,
            render_ms,
        ];
        if frame.iter().all(|ms| ms.is_finite()) {
            self.frames.push_back(frame);
        }
        while self.frames.len() > FRAMES {
            self.frames.pop_front();
        }
    }

    /// Mean of each stage over the last `count` frames.
    #[must_use]
    pub fn mean(&self, count: usize) -> [f64; 5] {
        let taken = self.frames.len().min(count);
        let mut sum = [0.0; 5];
        for frame in self.frames.iter().rev().take(taken) {
            for (total, ms) in sum.iter_mut().zip(frame) {
                *total += ms;
            }
        }
        sum.map(|total| if taken > 0 { total / taken as f64 } else { 0.0 })
    }

    /// Adds a frame of the window.
    pub fn push_window(&mut self, ms: f64) {
        self.window.push(ms);
    }

    /// Drops the character's frames; those of the window are kept.
    pub fn forget_character(&mut self) {
        self.frames.clear();
    }

    /// Whether nothing has been measured yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// Draws the panel. It raises no actions.
pub fn timings_ui(ui: &mut Ui, history: &TimingHistory) {
    let colors = theme::colors(ui.ctx());
    let plot = Plot::new("timings")
        .height(96.0)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_axes([false, true])
        .show_grid([false, true])
        .y_axis_min_width(26.0)
        .include_y(0.0)
        .include_y(4.0)
        .y_axis_formatter(|mark, _| format!("{:.0}", mark.value))
        .include_x(0.0)
        .include_x(FRAMES as f64)
        .set_margin_fraction(egui::vec2(0.0, 0.06));
    plot.show(ui, |plot| {
        for stage in (0..NAMES.len()).rev() {
            let start = FRAMES - history.frames.len();
            let points = history.frames.iter().enumerate().map(|(frame, ms)| {
                let stacked: f64 = ms[..=stage].iter().sum();
                [(start + frame) as f64, stacked]
            });
            let line = Line::new(NAMES[stage], points.collect::<PlotPoints<'_>>())
                .color(colors.stages[stage]);
            plot.line(line.width(1.0).fill(0.0).fill_alpha(0.28));
        }
    });
    let means = history.mean(30);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for (stage, name) in NAMES.iter().enumerate() {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(8.0, 8.0), egui::Sense::hover());
            ui.painter().rect_filled(rect, 2.0, colors.stages[stage]);
            ui.label(
                RichText::new(format!("{name} {:.1}", means[stage]))
                    .small()
                    .color(colors.text_weak),
            );
            ui.add_space(3.0);
        }
        ui.label(
            RichText::new(format!("Σ {:.1} ms", means.iter().sum::<f64>()))
                .small()
                .color(colors.text),
        );
    });
    let WindowTimes {
        mean_ms,
        longest_ms,
        ..
    } = history.window;
    let text = format!("Window {mean_ms:.1} ms, longest {longest_ms:.0} ms");
    let hover = "What the window's own thread works in a frame (panels, commands, drawing orders), and the longest since it was opened";
    ui.label(RichText::new(text).small().color(colors.text_weak))
        .on_hover_text(hover);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_is_bounded_and_keeps_the_newest() {
        let mut history = TimingHistory::default();
        for frame in 0..1000 {
            let step = StepTimes {
                global_ms: f64::from(frame),
                total_ms: f64::from(frame),
                ..StepTimes::default()
            };
            history.push(&step, 1.0);
        }
        assert_eq!(history.frames.len(), FRAMES);
        assert_eq!(history.mean(1), [0.0, 0.0, 999.0, 0.0, 1.0]);
    }

    #[test]
    fn the_longest_frame_is_kept_without_warm_up() {
        let mut times = WindowTimes::default();
        for ms in [900.0, 300.0, 100.0, 4.0, 61.0, f64::NAN, 4.0] {
            times.push(ms);
        }
        assert_eq!(times.longest_ms, 61.0);
        assert!(times.mean_ms > 4.0 && times.mean_ms < 61.0);
    }
}
