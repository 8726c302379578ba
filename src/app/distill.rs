//! The window of the distilled rig: what is fitted to what, how far the result is from the simulation, and what to do with it.

use std::collections::BTreeSet;

use egui::{
    Align2, ComboBox, Context, DragValue, Grid, ProgressBar, RichText, ScrollArea, Ui, Window, vec2,
};

use super::actions::{Action, Actions, DistillAction};
use super::popup::title_ui;
use super::theme;
use super::widgets;
use crate::io::MOST_INFLUENCES;
use crate::methods::{Capability, MethodId, registry};
use crate::session::{
    ClipResidual, Clips, DEFAULT_FPS, DistillReport, DistillRequest, DistillSettings, Session,
};
use crate::weights::decomposition::{DecompositionSettings, NoSpring, Residual};

/// Width of the window, points.
const WIDTH: f32 = 440.0;
/// Height of lists, points.
const LIST: f32 = 150.0;
/// Largest number of corrective morphs.
const MOST_MORPHS: usize = 128;
/// Largest number of helper joints.
const MOST_HELPERS: usize = 512;

/// State of the window.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices")]
pub struct DistillWindow {
    /// Whether it is open.
    pub open: bool,
    method: MethodId,
    /// Whether only the chosen clips are fitted.
    some: bool,
    chosen: BTreeSet<usize>,
    /// Whether clips that are not chosen are simulated to measure.
    measures_others: bool,
    range: bool,
    fit: DecompositionSettings,
    morphs: usize,
    springs: bool,
}

impl Default for DistillWindow {
    fn default() -> Self {
        Self {
            open: false,
            method: MethodId::default(),
            some: false,
            chosen: BTreeSet::new(),
            measures_others: true,
            range: true,
            fit: DecompositionSettings {
                helpers: 24,
                influences: 4,
            },
            morphs: 0,
            springs: false,
        }
    }
}

impl DistillWindow {
    /// Draws the window while it is open.
    pub fn window(&mut self, ctx: &Context, session: &Session, actions: &mut Actions) {
        if !self.open || session.subject().is_none() {
            return;
        }
        let mut open = true;
        Window::new("Distill a rig")
            .title_bar(false)
            .resizable(false)
            .pivot(Align2::CENTER_TOP)
            .default_pos(ctx.content_rect().center_top() + vec2(0.0, 90.0))
            .show(ctx, |ui| {
                ui.set_width(WIDTH);
                title_ui(ui, "Distill a rig", &mut open);
                self.choices(ui, &session.document().clips());
                ui.add_space(4.0);
                self.fit_ui(ui, session, actions);
                result_ui(ui, session, actions);
            });
        self.open = open;
    }

    fn choices(&mut self, ui: &mut Ui, clips: &Clips<'_>) {
        widgets::row(
            ui,
            "Simulate",
            "The method that the rig is fitted to",
            |ui, label| {
                let response = ComboBox::from_id_salt("distilled method")
                    .selected_text(self.method.label())
                    .width(ui.available_width())
                    .show_ui(ui, |ui| {
                        let usable = |method: &MethodId| !method.has(Capability::Offline);
                        for method in registry().into_iter().filter(usable) {
                            ui.selectable_value(&mut self.method, method, method.label());
                        }
                    });
                response.response.labelled_by(label);
            },
        );
        widgets::row(ui, "Clips", "Which clips the rig is fitted to", |ui, _| {
            ui.radio_value(&mut self.some, false, "All clips");
            ui.radio_value(&mut self.some, true, "Chosen clips");
        });
        if self.some {
            self.clips_ui(ui, clips);
        }
        let number = |ui: &mut Ui, name: &str, hover: &str, value: &mut usize, most: usize| {
            widgets::row(ui, name, hover, |ui, label| {
                let field = DragValue::new(value).range(0..=most).speed(0.1);
                ui.add(field).labelled_by(label);
            });
        };
        number(
            ui,
            "Helpers",
            "Largest number of joints that are added",
            &mut self.fit.helpers,
            MOST_HELPERS,
        );
        number(
            ui,
            "Influences",
            "Largest number of joints per vertex; game engines expect at most 4",
            &mut self.fit.influences,
            MOST_INFLUENCES,
        );
        number(
            ui,
            "Morphs",
            "Largest number of corrective morph targets, fitted to what the helpers leave over",
            &mut self.morphs,
            MOST_MORPHS,
        );
        self.fit.influences = self.fit.influences.max(1);
        ui.checkbox(&mut self.range, "Fit to the range of motion, too")
            .on_hover_text("Helpers are better then in clips that were never simulated");
        ui.checkbox(&mut self.springs, "Springs of VRM for flesh that swings")
            .on_hover_text(
                "Adds spring bones to helpers whose flesh swings after a sudden stop, where they come nearer to the clips",
            );
    }

    /// Check boxes of the clips to fit to.
    fn clips_ui(&mut self, ui: &mut Ui, clips: &Clips<'_>) {
        ScrollArea::vertical()
            .max_height(LIST)
            .id_salt("distilled clips")
            .show(ui, |ui| {
                for index in 0..clips.len() {
                    let name = clips.get(index).map_or("", |clip| clip.name.as_str());
                    let mut chosen = self.chosen.contains(&index);
                    if ui.checkbox(&mut chosen, name).changed() {
                        if chosen {
                            self.chosen.insert(index);
                        } else {
                            self.chosen.remove(&index);
                        }
                    }
                }
            });
        ui.checkbox(&mut self.measures_others, "Measure on the other clips")
            .on_hover_text(
                "Simulates the clips that are held back, to tell how far the rig is from them",
            );
    }

    /// What the choices stand for.
    fn request(&self, clips: usize) -> DistillRequest {
        let is_fitted = |clip: &usize| !self.some || self.chosen.contains(clip);
        let (fitted, others): (Vec<usize>, Vec<usize>) = (0..clips).partition(is_fitted);
        DistillRequest {
            method: self.method,
            settings: DistillSettings {
                fit: self.fit,
                morphs: self.morphs,
                fitted,
                held_back: if self.measures_others {
                    others
                } else {
                    Vec::new()
                },
                fps: DEFAULT_FPS,
                range: self.range,
                springs: self.springs,
            },
        }
    }

    /// The button, or how far the running fit is.
    fn fit_ui(&self, ui: &mut Ui, session: &Session, actions: &mut Actions) {
        ui.horizontal(|ui| {
            if let Some(job) = session.distilling().progress() {
                if ui.button("Stop").on_hover_text("Ends the fit").clicked() {
                    actions.push(Action::Distill(DistillAction::Stop));
                }
                let bar = ProgressBar::new(job.fraction)
                    .desired_width(ui.available_width())
                    .text(job.stage);
                ui.add(bar);
                return;
            }
            let button = ui.button("Fit").on_hover_text(
                "Simulates the clips and fits helper joints and weights to them; nothing is written",
            );
            if button.clicked() {
                let request = self.request(session.document().clips().len());
                actions.push(Action::Distill(DistillAction::Fit(request)));
            }
        });
    }
}

/// How far the rig is from the simulation, and what can be done with it.
fn result_ui(ui: &mut Ui, session: &Session, actions: &mut Actions) {
    let weak = theme::colors(ui.ctx()).text_weak;
    let distilling = session.distilling();
    if let Some(failure) = distilling.failure() {
        ui.label(RichText::new(failure).color(theme::colors(ui.ctx()).warning));
    }
    let made = (session.subject()).and_then(|subject| distilling.made_for(subject));
    let Some((distilled, _)) = made else {
        let text = "The distance to the simulated skin is shown here before anything is written.";
        ui.label(RichText::new(text).color(weak));
        return;
    };
    ui.separator();
    report_ui(ui, &distilled.report);
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let compare = ui.button("Compare with the original").on_hover_text(
            "Shows the rig, moved by the pose and its springs, in a view beside the method that it was fitted to",
        );
        if compare.clicked() {
            actions.push(Action::Distill(DistillAction::Compare));
        }
        let save = egui::Button::new("Save…");
        let save = ui.add_enabled(!distilling.is_saving(), save);
        let save =
            save.on_hover_text("Writes the character with helpers, weights and all clips as .glb");
        if save.clicked() {
            actions.push(Action::Distill(DistillAction::Save));
        }
    });
}

fn report_ui(ui: &mut Ui, report: &DistillReport) {
    let weak = theme::colors(ui.ctx()).text_weak;
    let text = format!(
        "{} joints and {} helpers, at most {} a vertex; {} morphs. Distance to the simulated skin, rms and largest, in mm:",
        report.joints, report.helpers, report.influences, report.morphs
    );
    ui.label(RichText::new(text).color(weak));
    let together = |name, residuals: &[ClipResidual]| {
        let several = residuals.len() > 1;
        several
            .then(|| ClipResidual::together(name, residuals))
            .flatten()
    };
    let (fitted, held_back) = (&report.fitted, &report.held_back);
    let sums = [
        together("All fitted clips", fitted),
        together("All clips held back", held_back),
    ];
    let rows = fitted.iter().chain(held_back);
    let has_springs = !report.springs.is_empty();
    let springs = has_springs.then_some("With springs");
    ScrollArea::vertical()
        .max_height(LIST)
        .id_salt("distilled residuals")
        .show(ui, |ui| {
            Grid::new("distilled residuals")
                .striped(true)
                .show(ui, |ui| {
                    let headings = [
                        "Clip",
                        "By its keys",
                        "Driven by the pose",
                        "Without helpers",
                    ];
                    for heading in headings.into_iter().chain(springs) {
                        ui.label(RichText::new(heading).small().color(weak));
                    }
                    ui.end_row();
                    for residual in rows.chain(sums.iter().flatten()) {
                        row_ui(ui, residual, "held back");
                    }
                    if let Some(stops) = &report.stops {
                        row_ui(ui, stops, "");
                    }
                });
        });
    if has_springs {
        ui.label(RichText::new(springs_told(report)).color(weak));
    }
}

/// How many helpers have a spring, and why others have none.
fn springs_told(report: &DistillReport) -> String {
    let count = |why: Option<NoSpring>| {
        (report.springs.iter())
            .filter(|s| s.left_out == why)
            .count()
    };
    let have = format!("{} helpers have a spring", count(None));
    let others = [NoSpring::Still, NoSpring::NoGain, NoSpring::NoSide].map(|why| {
        let many = count(Some(why));
        (many > 0).then(|| format!("of {many} the flesh {}", why.reason()))
    });
    let parts: Vec<String> = std::iter::once(have)
        .chain(others.into_iter().flatten())
        .collect();
    parts.join("; ") + "."
}

fn row_ui(ui: &mut Ui, residual: &ClipResidual, unkeyed: &str) {
    ui.label(&residual.clip);
    let keyed = residual.keyed.as_ref();
    ui.label(keyed.map_or_else(|| unkeyed.to_owned(), shown));
    ui.label(shown(&residual.driven));
    ui.label(shown(&residual.before));
    if let Some(sprung) = &residual.sprung {
        ui.label(shown(sprung));
    }
    ui.end_row();
}

/// Root mean square and maximum, millimetres.
fn shown(residual: &Residual) -> String {
    format!("{:.2} ({:.1})", residual.rms, residual.max)
}
