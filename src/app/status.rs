//! The status line: always says what the mouse will do.

use egui::{Align, Label, Layout, ProgressBar, Rect, RichText, Sense, Stroke, Ui, vec2};

use super::actions::{Action, Actions};
use super::comfort::ComfortAction;
use super::icons::{self, Icon};
use super::viewport::gizmo::Ring;
use super::viewport::picking::Target;
use super::viewport::{PoseDrag, Viewport};
use super::{shortcuts, theme};
use crate::rig::Skeleton;
use crate::session::{Command, JobView, Level};

/// What the mouse will do, in one line.
#[must_use]
pub fn hint(viewport: &Viewport, skeleton: Option<&Skeleton>, pointer_in_viewport: bool, has_clips: bool) -> String {
    let Some(skeleton) = skeleton else {
        return "Drop a character on the window, or choose Open…".to_owned();
    };
    let name = |joint: usize| skeleton.joints().get(joint).map_or("", |joint| joint.name.as_str());
    match (&viewport.drag, viewport.hovered_ring, viewport.hovered) {
        (Some(PoseDrag::Ring { joint, drag, sent, .. }), ..) => {
            format!(
                "Turning {} about {} by {:.1}° – Ctrl snaps to 15°, Esc takes it back",
                name(*joint),
                axis(drag.ring),
                sent.to_degrees()
            )
        }
        (Some(PoseDrag::Pull(pull)), ..) => format!("Pulling, {} turns – Esc takes it back", name(pull.joint)),
        (None, Some(ring), _) => format!("Drag to turn about {} – Ctrl snaps to 15°", axis(ring)),
        (None, None, Some(Target::Joint(joint))) => match skeleton.joints().get(joint).and_then(|joint| joint.parent) {
            Some(parent) => format!("{}: click to select, drag to pull it ({} turns)", name(joint), name(parent)),
            None => format!("{}: click to select – drag orbits", name(joint)),
        },
        (None, None, Some(Target::Bone(joint))) => format!("{}: click to select, drag to turn it", name(joint)),
        (None, None, Some(Target::Flesh { joint, .. })) if skeleton.joints().get(joint).is_some_and(|j| j.parent.is_none()) => {
            format!("{}: click to select – drag orbits, wheel zooms", name(joint))
        }
        (None, None, Some(Target::Flesh { joint, .. })) => format!("{}: click to select, drag to pull the limb", name(joint)),
        (None, None, None) if pointer_in_viewport => {
            format!("Drag to orbit, Shift or right drag to pan, wheel to zoom – F frames{}", if has_clips { ", Space plays" } else { "" })
        }
        (None, None, None) => {
            format!("Click a joint or the flesh to pose{}; F1 lists all shortcuts", if has_clips { "; Space plays" } else { "" })
        }
    }
}

fn axis(ring: Ring) -> String {
    match ring {
        Ring::Screen => "the line of sight".to_owned(),
        Ring::Axis(_) => format!("its {} axis", ring.label()),
    }
}

/// What the line may read.
#[derive(Debug, Clone, Copy)]
pub struct StatusView<'a> {
    /// What the mouse will do.
    pub hint: &'a str,
    /// What runs in the background.
    pub jobs: &'a [JobView],
    /// Messages that were not looked at in the list, and how much the worst of them matters.
    pub unread: (usize, Option<Level>),
    /// How fast things go.
    pub speed: &'a str,
}

/// Width of the bar of a job, points.
const BAR_WIDTH: f32 = 96.0;

/// Draws the line: the hint on the left; what runs, the bell, and how fast things go on the right.
pub fn status_ui(ui: &mut Ui, view: &StatusView<'_>, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        bell_ui(ui, view.unread, actions);
        ui.label(RichText::new(view.speed).small().monospace().color(colors.text_weak));
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
    let color = if lit { colors.text_strong } else { colors.text_weak };
    icons::paint(ui.painter(), Rect::from_center_size(rect.center(), vec2(13.0, 13.0)), Icon::Bell, color);
    if response.has_focus() {
        ui.painter().rect_stroke(rect, 4.0, Stroke::new(1.0, colors.accent), egui::StrokeKind::Inside);
    }
    if unread > 0 {
        let dot = match worst {
            Some(Level::Error) => colors.error,
            Some(Level::Warning) => colors.warning,
            _ => colors.mended,
        };
        ui.painter().circle_filled(rect.center() + vec2(6.0, -5.0), 3.5, dot);
    }
    let name = if unread > 0 { format!("Notifications ({unread} new)") } else { "Notifications".to_owned() };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if shortcuts::tip(response, "notices").clicked() {
        actions.push(Action::Comfort(ComfortAction::ToggleNotices));
    }
}

/// The first job with what, how much and a way to stop it; the others are counted.
fn jobs_ui(ui: &mut Ui, jobs: &[JobView], actions: &mut Actions) {
    let Some(job) = jobs.first() else { return };
    let colors = theme::colors(ui.ctx());
    if icons::plain_button(ui, Icon::Close, "Cancel").clicked() {
        actions.once(Command::CancelJobs);
    }
    let fraction = job.fraction.clamp(0.0, 1.0);
    ui.label(RichText::new(format!("{:>3.0} %", fraction * 100.0)).small().monospace().color(colors.text));
    let bar = ui.add(ProgressBar::new(fraction).desired_width(BAR_WIDTH).desired_height(6.0).fill(colors.accent).animate(false));
    bar.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, &job.title));
    let stage = if job.stage.is_empty() { String::new() } else { format!(": {}", job.stage) };
    let others = if jobs.len() > 1 { format!(" (and {} more)", jobs.len() - 1) } else { String::new() };
    let width = (ui.available_width() * 0.5).min(320.0);
    ui.scope(|ui| {
        ui.set_max_width(width);
        ui.add(Label::new(RichText::new(format!("{}{stage}{others}", job.title)).color(colors.text_weak)).truncate());
    });
}

/// Memory of the process in words, where the system tells it.
#[must_use]
pub fn memory_text() -> Option<String> {
    let status = if cfg!(target_os = "linux") { std::fs::read_to_string("/proc/self/status").ok()? } else { return None };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(format!("{:>5.0} MB", kib / 1024.0))
}
