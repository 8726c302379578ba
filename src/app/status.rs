//! The status line: shows what the mouse will do.

use std::collections::BTreeSet;

use egui::{Align, Label, Layout, ProgressBar, Rect, RichText, Sense, Stroke, Ui, vec2};

use super::actions::{Action, Actions};
use super::icons::{self, Icon};
use super::shortcuts::{self, Bindings};
use super::theme;
use super::viewport::Viewport;
use super::viewport::gizmo::Ring;
use super::viewport::posing::{PoseDrag, PoseHandle};
use crate::app::actions::ToolWindowAction;
use crate::rig::Skeleton;
use crate::session::{Command, JobView, Level};

/// What the mouse will do, in one line.
#[must_use]
pub fn hint(
    viewport: &Viewport,
    skeleton: Option<&Skeleton>,
    pins: &BTreeSet<usize>,
    pointer_in_viewport: bool,
    has_clips: bool,
    bindings: &Bindings,
) -> String {
    let Some(skeleton) = skeleton else {
        return "Drop a character on the window, or choose Open…".to_owned();
    };
    let name = |joint: usize| {
        skeleton
            .joints()
            .get(joint)
            .map_or("", |joint| joint.name.as_str())
    };
    if let Some(drag) = &viewport.drag {
        return drag_hint(drag, &name);
    }
    let plays = has_clips.then(|| bindings.hint("play", "plays")).flatten();
    match (viewport.hovered_handle, viewport.hovered) {
        (Some(PoseHandle::Ring(ring)), _) => format!("Drag to turn about {} – Ctrl snaps", axis(ring)),
        (Some(PoseHandle::Arrow(_)), _) => {
            "Drag to move the joint, the body follows – Ctrl snaps, Shift keeps a hand or foot turned as it is".to_owned()
        }
        (Some(PoseHandle::Ball), Some(target)) => format!("{}: click to select, drag to turn freely", name(target.joint())),
        (Some(PoseHandle::Ball), None) => "Drag to turn freely".to_owned(),
        (None, Some(target)) => {
            let joint = target.joint();
            let pin = if pins.contains(&joint) { "lets it go" } else { "pins it" };
            let pin = bindings.hint("pins.toggle", pin).map_or_else(String::new, |pin| format!(", {pin}"));
            format!("{}: click to select, drag to pull it – right click for more{pin}", name(joint))
        }
        (None, None) if pointer_in_viewport => {
            let keys = [bindings.hint("frame", "frames"), plays];
            let keys: Vec<String> = keys.into_iter().flatten().collect();
            let dash = if keys.is_empty() { "" } else { " – " };
            format!("Drag to orbit, Shift or right drag to pan, wheel to zoom{dash}{}", keys.join(", "))
        }
        (None, None) => {
            let keys = [plays, bindings.hint("sheet", "lists all shortcuts")];
            let click = "Click a joint or the flesh to pose".to_owned();
            let hints: Vec<String> = std::iter::once(click).chain(keys.into_iter().flatten()).collect();
            hints.join("; ")
        }
    }
}

fn drag_hint<'a>(drag: &PoseDrag, name: &dyn Fn(usize) -> &'a str) -> String {
    match drag {
        PoseDrag::Ring {
            joint,
            joints,
            drag,
            angle,
            ..
        } => {
            let what = if joints.len() > 1 {
                format!("{} joints", joints.len())
            } else {
                name(*joint).to_owned()
            };
            format!(
                "Turning {what} about {} by {:.1}° – Ctrl snaps, Esc takes it back",
                axis(drag.ring),
                angle.to_degrees()
            )
        }
        PoseDrag::Ball { joint, .. } => {
            format!("Turning {} freely – Esc takes it back", name(*joint))
        }
        PoseDrag::Arrow { joint, .. } => format!(
            "Moving {} – Ctrl snaps, Shift keeps its turn, Esc takes it back",
            name(*joint)
        ),
        PoseDrag::Reach(reach) => {
            format!(
                "Dragging {} – Shift keeps a hand or foot turned as it is, Esc takes it back",
                name(reach.grip.joint)
            )
        }
        PoseDrag::Modal(modal) => modal.hint(name(modal.joint)),
        PoseDrag::Pull(pull) => format!("Pulling, {} turns – Esc takes it back", name(pull.joint)),
        PoseDrag::Box { .. } => "Selecting the joints in the rectangle".to_owned(),
    }
}

fn axis(ring: Ring) -> String {
    match ring {
        Ring::Screen => "the line of sight".to_owned(),
        Ring::Axis(_) => format!("its {} axis", ring.label()),
    }
}

/// Data for the status line.
#[derive(Debug, Clone, Copy)]
pub struct StatusView<'a> {
    /// Hint on the mouse.
    pub hint: &'a str,
    /// Background jobs.
    pub jobs: &'a [JobView],
    /// Number of unread messages, and their highest severity.
    pub unread: (usize, Option<Level>),
    /// Speed.
    pub speed: &'a str,
}

/// Width of a job's progress bar, points.
const BAR_WIDTH: f32 = 96.0;

/// Draws the line: the hint on the left; jobs, bell and speed on the right.
pub fn status_ui(ui: &mut Ui, view: &StatusView<'_>, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        bell_ui(ui, view.unread, actions);
        ui.label(
            RichText::new(view.speed)
                .small()
                .monospace()
                .color(colors.text_weak),
        );
        jobs_ui(ui, view.jobs, actions);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(RichText::new(view.hint).color(colors.text)).truncate());
        });
    });
}

fn bell_ui(ui: &mut Ui, (unread, worst): (usize, Option<Level>), actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let (rect, response) = ui.allocate_exact_size(vec2(26.0, 20.0), Sense::click());
    let lit = response.hovered() || response.has_focus();
    let color = if lit {
        colors.text_strong
    } else {
        colors.text_weak
    };
    icons::paint(
        ui.painter(),
        Rect::from_center_size(rect.center(), vec2(13.0, 13.0)),
        Icon::Bell,
        color,
    );
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect,
            4.0,
            Stroke::new(1.0, colors.accent),
            egui::StrokeKind::Inside,
        );
    }
    if unread > 0 {
        let dot = match worst {
            Some(Level::Error) => colors.error,
            Some(Level::Warning) => colors.warning,
            _ => colors.mended,
        };
        ui.painter()
            .circle_filled(rect.center() + vec2(6.0, -5.0), 3.5, dot);
    }
    let name = if unread > 0 {
        format!("Notifications ({unread} new)")
    } else {
        "Notifications".to_owned()
    };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if shortcuts::tip(response, "notices").clicked() {
        actions.push(Action::ToolWindows(ToolWindowAction::ToggleNotices));
    }
}

/// The first job with name, progress and cancel button; the others as a count.
fn jobs_ui(ui: &mut Ui, jobs: &[JobView], actions: &mut Actions) {
    let Some(job) = jobs.first() else { return };
    let colors = theme::colors(ui.ctx());
    if icons::plain_button(ui, Icon::Close, "Cancel").clicked() {
        actions.once(Command::CancelJobs);
    }
    let fraction = job.fraction.clamp(0.0, 1.0);
    ui.label(
        RichText::new(format!("{:>3.0} %", fraction * 100.0))
            .small()
            .monospace()
            .color(colors.text),
    );
    let bar = ui.add(
        ProgressBar::new(fraction)
            .desired_width(BAR_WIDTH)
            .desired_height(6.0)
            .fill(colors.accent)
            .animate(false),
    );
    bar.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, &job.title));
    let stage = if job.stage.is_empty() {
        String::new()
    } else {
        format!(": {}", job.stage)
    };
    let others = if jobs.len() > 1 {
        format!(" (and {} more)", jobs.len() - 1)
    } else {
        String::new()
    };
    let width = (ui.available_width() * 0.5).min(320.0);
    ui.scope(|ui| {
        ui.set_max_width(width);
        ui.add(
            Label::new(
                RichText::new(format!("{}{stage}{others}", job.title)).color(colors.text_weak),
            )
            .truncate(),
        );
    });
}

/// Memory of the process as text, where the system reports it.
#[must_use]
pub fn memory_text() -> Option<String> {
    let status = if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/self/status").ok()?
    } else {
        return None;
    };
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(format!("{:>5.0} MB", kib / 1024.0))
}
