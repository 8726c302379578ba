//! The window of the probe: sentences, joints with weights, numbers, and the path.

use egui::{Align2, Context, Grid, RichText, ScrollArea, Ui, Window, vec2};
use egui_plot::{Line, Plot};

use super::Probe;
use crate::app::actions::{Action, Actions, PosingRequest, ProbeAction, tools::Tool};
use crate::app::icons::{self, Icon};
use crate::app::popup::title_ui;
use crate::app::theme;
use crate::report::{PointReport, shown_term};
use crate::session::{Session, ViewId};

/// Width of the window, and of the panel beside which it opens, points.
const WIDTH: f32 = 296.0;
const SIDE_PANEL: f32 = 336.0;
/// Height of the plot of the path, points.
const PLOT: f32 = 96.0;
/// Joints that are listed.
const MOST_JOINTS: usize = 6;

impl Probe {
    /// Draws the window while the tool is chosen or a vertex is pinned.
    pub fn window(&mut self, ctx: &Context, session: &Session, tool: Tool, actions: &mut Actions) {
        if session.subject().is_none() || (tool != Tool::Explain && !self.is_pinned()) {
            return;
        }
        let mut open = true;
        let content = ctx.content_rect();
        let window = Window::new("Explain")
            .title_bar(false)
            .resizable([true, false])
            .default_width(WIDTH)
            .pivot(Align2::RIGHT_TOP)
            .default_pos(content.right_top() + vec2(-SIDE_PANEL, 100.0));
        window
            .min_width(WIDTH * 0.9)
            .max_height(content.height() * 0.8)
            .show(ctx, |ui| {
                title_ui(ui, "Explain", &mut open);
                self.contents(ui, session, actions);
            });
        if !open {
            actions.push(Action::Probe(ProbeAction::Release));
            if tool == Tool::Explain {
                actions.push(Action::Posing(PosingRequest::Tool(Tool::Drag)));
            }
        }
    }

    fn contents(&mut self, ui: &mut Ui, session: &Session, actions: &mut Actions) {
        let weak = theme::colors(ui.ctx()).text_weak;
        if self.vertex().is_none() {
            let text = "Point at the skin to see why it is where it is; a click pins the point.";
            ui.label(RichText::new(text).color(weak));
            return;
        }
        let views = session.views();
        let view = self
            .chosen
            .filter(|id| views.get(*id).is_some())
            .unwrap_or(views.active().id);
        if views.list().len() > 1 {
            ui.horizontal_wrapped(|ui| {
                for other in views.list() {
                    let label = other.method.short_label();
                    if ui.selectable_label(other.id == view, label).clicked() {
                        actions.push(Action::Probe(ProbeAction::Choose(other.id)));
                    }
                }
            });
        }
        let metres = session
            .subject()
            .map_or(1.0, |subject| subject.metres_per_unit());
        let Some(snapshot) = session.snapshot_of(view) else {
            return;
        };
        let pinned = self.is_pinned();
        let Some(report) = self.report_in(view, &snapshot) else {
            return;
        };
        let text = as_text(report, metres);
        // Above the sentences, whose number changes while values arrive: buttons stay where they are.
        ui.horizontal(|ui| {
            if icons::text_button(ui, Icon::Copy, "Copy")
                .on_hover_text("Copies sentences and numbers")
                .clicked()
            {
                ui.ctx().copy_text(text);
            }
            if pinned {
                if icons::text_button(ui, Icon::Close, "Release")
                    .on_hover_text("The point under the pointer is explained again")
                    .clicked()
                {
                    actions.push(Action::Probe(ProbeAction::Release));
                    actions.push(Action::Posing(PosingRequest::Tool(Tool::Explain)));
                }
            } else {
                ui.label(RichText::new("Click to pin").color(weak));
            }
        });
        ScrollArea::vertical()
            .auto_shrink([false, true])
            .max_height(ui.ctx().content_rect().height() * 0.5)
            .show(ui, |ui| report_ui(ui, report, metres));
        if pinned {
            self.path_ui(ui, session, view, metres);
        }
    }

    /// Distance from the first place of the path in every view, frame by frame.
    fn path_ui(&self, ui: &mut Ui, session: &Session, chosen: ViewId, metres_per_unit: f64) {
        let colors = theme::colors(ui.ctx());
        let mm = metres_per_unit * 1e3;
        let lines: Vec<_> = self
            .paths
            .iter()
            .filter_map(|(id, path)| {
                let first = path.points.front()?;
                let method = session.views().get(*id)?.method;
                let values: Vec<[f64; 2]> = path
                    .points
                    .iter()
                    .enumerate()
                    .map(|(frame, at)| [frame as f64, f64::from((at - first).norm()) * mm])
                    .collect();
                (values.len() > 1).then(|| (*id, method.short_label(), values))
            })
            .collect();
        if lines.is_empty() {
            let text = "Move a joint or play a clip: the path of the point is drawn.";
            ui.label(RichText::new(text).color(colors.text_weak));
            return;
        }
        ui.label(RichText::new("Distance from where it was pinned, mm").color(colors.text_weak));
        Plot::new("path of the point")
            .height(PLOT)
            .allow_scroll(false)
            .allow_drag(false)
            .allow_zoom(false)
            .show_x(false)
            .show_axes([false, true])
            .show(ui, |plot| {
                for (id, label, values) in lines {
                    let color = if id == chosen {
                        colors.accent
                    } else {
                        colors.text_weak
                    };
                    plot.line(Line::new(label, values).color(color).width(1.5));
                }
            });
    }
}

fn report_ui(ui: &mut Ui, report: &PointReport, metres_per_unit: f64) {
    let colors = theme::colors(ui.ctx());
    ui.label(
        RichText::new(format!(
            "{}: vertex {} of {}",
            report.method.label(),
            report.vertex_of_mesh,
            if report.mesh.is_empty() {
                "the mesh"
            } else {
                &report.mesh
            }
        ))
        .strong(),
    );
    for sentence in &report.sentences {
        ui.label(sentence);
    }
    ui.add_space(4.0);
    Grid::new("joints of the point")
        .num_columns(3)
        .spacing([10.0, 2.0])
        .show(ui, |ui| {
            for joint in report.joints.iter().take(MOST_JOINTS) {
                ui.label(&joint.name);
                ui.add(
                    egui::ProgressBar::new(joint.weight)
                        .desired_width(90.0)
                        .text(format!("{:.0} %", joint.weight * 100.0)),
                );
                ui.label(format!("{:.0}°", joint.turned_deg))
                    .on_hover_text("Rotation of the joint since the bind pose");
                ui.end_row();
            }
        });
    if report.joints.len() > MOST_JOINTS {
        let more = format!("and {} more", report.joints.len() - MOST_JOINTS);
        ui.label(RichText::new(more).color(colors.text_weak));
    }
    ui.add_space(4.0);
    Grid::new("numbers of the point")
        .num_columns(2)
        .spacing([10.0, 2.0])
        .show(ui, |ui| {
            for term in &report.terms {
                ui.label(&term.label).on_hover_text(term.meaning);
                ui.monospace(shown_term(term.value, metres_per_unit))
                    .on_hover_text(term.meaning);
                ui.end_row();
            }
        });
}

/// The report as text.
fn as_text(report: &PointReport, metres_per_unit: f64) -> String {
    let mut lines = vec![format!(
        "{}: vertex {} of {}",
        report.method.label(),
        report.vertex_of_mesh,
        report.mesh
    )];
    lines.extend(report.sentences.iter().cloned());
    lines.extend(report.terms.iter().map(|term| {
        let value = shown_term(term.value, metres_per_unit);
        format!("{}: {value}", term.label)
    }));
    lines.join("\n")
}
