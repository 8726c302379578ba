//! Icons, drawn as strokes so that they are crisp at any scale and need no font.

use egui::{Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::actions::Actions;
use super::shortcuts::{self, Now};
use super::theme;

/// What an icon means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Let the clock run.
    Play,
    /// Stop the clock.
    Pause,
    /// To the start.
    Start,
    /// Over and over.
    Loop,
    /// Back.
    Undo,
    /// Forth.
    Redo,
    /// Open a file.
    Open,
    /// Characters to choose from.
    Figure,
    /// Take away.
    Close,
    /// Something to worry about.
    Warning,
    /// Something to know.
    Info,
    /// All is well.
    Check,
    /// Back to the start.
    Reset,
    /// One frame back.
    StepBack,
    /// One frame on.
    StepForward,
    /// Record.
    Record,
    /// A key of an animation.
    Key,
    /// Keys are set by themselves.
    AutoKey,
    /// Open what is below.
    FoldUp,
    /// Close what is below.
    FoldDown,
    /// Settings.
    Settings,
    /// More commands.
    More,
}

/// Side of an icon beside text, points.
const SIDE: f32 = 14.0;

/// Paints an icon into a square around the middle of `rect`.
pub fn paint(painter: &Painter, rect: Rect, icon: Icon, color: Color32) {
    let side = rect.width().min(rect.height());
    let square = Rect::from_center_size(rect.center(), vec2(side, side));
    let at = |x: f32, y: f32| pos2(square.left() + x * side, square.top() + y * side);
    let stroke = Stroke::new((side * 0.11).max(1.2), color);
    let line = |points: &[(f32, f32)]| {
        painter.add(Shape::line(points.iter().map(|&(x, y)| at(x, y)).collect(), stroke));
    };
    let solid = |points: &[(f32, f32)]| {
        painter.add(Shape::convex_polygon(points.iter().map(|&(x, y)| at(x, y)).collect(), color, Stroke::NONE));
    };
    match icon {
        Icon::Play => solid(&[(0.22, 0.12), (0.88, 0.5), (0.22, 0.88)]),
        Icon::Pause => {
            solid(&[(0.2, 0.12), (0.42, 0.12), (0.42, 0.88), (0.2, 0.88)]);
            solid(&[(0.58, 0.12), (0.8, 0.12), (0.8, 0.88), (0.58, 0.88)]);
        }
        Icon::Start => {
            solid(&[(0.14, 0.14), (0.28, 0.14), (0.28, 0.86), (0.14, 0.86)]);
            solid(&[(0.88, 0.14), (0.88, 0.86), (0.34, 0.5)]);
        }
        Icon::Loop => {
            line(&arc(0.5, 0.5, 0.36, 190.0, 330.0));
            line(&arc(0.5, 0.5, 0.36, 10.0, 150.0));
            solid(&[(0.98, 0.12), (0.96, 0.48), (0.64, 0.34)]);
            solid(&[(0.02, 0.88), (0.04, 0.52), (0.36, 0.66)]);
        }
        Icon::Undo | Icon::Redo => {
            let mirrored = |points: &[(f32, f32)]| -> Vec<(f32, f32)> {
                points.iter().map(|&(x, y)| (if icon == Icon::Redo { 1.0 - x } else { x }, y)).collect()
            };
            line(&mirrored(&[(0.12, 0.36), (0.60, 0.36), (0.80, 0.44), (0.88, 0.60), (0.80, 0.76), (0.60, 0.84), (0.30, 0.84)]));
            line(&mirrored(&[(0.34, 0.12), (0.10, 0.36), (0.34, 0.60)]));
        }
        Icon::Open => line(&[(0.08, 0.84), (0.08, 0.18), (0.38, 0.18), (0.48, 0.30), (0.92, 0.30), (0.92, 0.84), (0.08, 0.84)]),
        Icon::Figure => {
            painter.circle_stroke(at(0.5, 0.17), side * 0.13, stroke);
            line(&[(0.5, 0.30), (0.5, 0.62)]);
            line(&[(0.12, 0.42), (0.88, 0.42)]);
            line(&[(0.24, 0.96), (0.5, 0.62), (0.76, 0.96)]);
        }
        Icon::Close => {
            line(&[(0.2, 0.2), (0.8, 0.8)]);
            line(&[(0.8, 0.2), (0.2, 0.8)]);
        }
        Icon::Warning => {
            line(&[(0.5, 0.1), (0.95, 0.88), (0.05, 0.88), (0.5, 0.1), (0.53, 0.15)]);
            line(&[(0.5, 0.40), (0.5, 0.62)]);
            painter.circle_filled(at(0.5, 0.75), side * 0.06, color);
        }
        Icon::Info => {
            painter.circle_stroke(square.center(), side * 0.42, stroke);
            line(&[(0.5, 0.46), (0.5, 0.72)]);
            painter.circle_filled(at(0.5, 0.31), side * 0.065, color);
        }
        Icon::Check => {
            line(&[(0.12, 0.54), (0.38, 0.80), (0.88, 0.22)]);
        }
        Icon::StepBack => {
            solid(&[(0.62, 0.16), (0.62, 0.84), (0.12, 0.5)]);
            solid(&[(0.70, 0.16), (0.84, 0.16), (0.84, 0.84), (0.70, 0.84)]);
        }
        Icon::StepForward => {
            solid(&[(0.38, 0.16), (0.88, 0.5), (0.38, 0.84)]);
            solid(&[(0.16, 0.16), (0.30, 0.16), (0.30, 0.84), (0.16, 0.84)]);
        }
        Icon::Record => {
            painter.circle_filled(square.center(), side * 0.36, color);
        }
        Icon::Key => solid(&[(0.5, 0.06), (0.92, 0.5), (0.5, 0.94), (0.08, 0.5)]),
        Icon::AutoKey => {
            line(&[(0.5, 0.06), (0.92, 0.5), (0.5, 0.94), (0.08, 0.5), (0.5, 0.06), (0.54, 0.1)]);
            painter.circle_filled(square.center(), side * 0.16, color);
        }
        Icon::FoldUp => line(&[(0.16, 0.66), (0.5, 0.34), (0.84, 0.66)]),
        Icon::FoldDown => line(&[(0.16, 0.34), (0.5, 0.66), (0.84, 0.34)]),
        Icon::Settings => {
            for (y, knob) in [(0.22, 0.68), (0.5, 0.34), (0.78, 0.58)] {
                line(&[(0.06, y), (0.94, y)]);
                painter.circle_filled(at(knob, y), side * 0.13, color);
            }
        }
        Icon::More => {
            for x in [0.18, 0.5, 0.82] {
                painter.circle_filled(at(x, 0.5), side * 0.09, color);
            }
        }
        Icon::Reset => {
            line(&arc(0.52, 0.54, 0.36, -60.0, 220.0));
            solid(&[(0.50, 0.02), (0.50, 0.40), (0.80, 0.20)]);
        }
    }
}

/// Points along a circle, degrees clockwise from the right.
fn arc(x: f32, y: f32, radius: f32, from: f32, to: f32) -> Vec<(f32, f32)> {
    (0..=20)
        .map(|step| {
            let (sin, cos) = (from + (to - from) * step as f32 / 20.0).to_radians().sin_cos();
            (x + radius * cos, y + radius * sin)
        })
        .collect()
}

/// An icon in a line of text.
pub fn label(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(SIDE, ui.spacing().interact_size.y.min(18.0)), Sense::hover());
    paint(ui.painter(), rect.shrink2(vec2(1.0, 3.0)), icon, color);
    response
}

/// A button with an icon and text.
pub fn text_button(ui: &mut Ui, icon: Icon, text: &str) -> Response {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
    let padding = ui.spacing().button_padding;
    let height = (galley.size().y + 2.0 * padding.y).max(ui.spacing().interact_size.y);
    let (rect, response) = ui.allocate_exact_size(vec2(SIDE + 6.0 + galley.size().x + 2.0 * padding.x, height), Sense::click());
    let color = frame(ui, rect, &response, false);
    let icon_at = Rect::from_center_size(pos2(rect.left() + padding.x + SIDE / 2.0, rect.center().y), vec2(SIDE, SIDE));
    paint(ui.painter(), icon_at.shrink(1.0), icon, color);
    let text_at = Pos2::new(icon_at.right() + 6.0, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(text_at, galley, color);
    named(ui, response, text, None)
}

/// A button that is only an icon; `name` is its tooltip and accessible name.
pub fn button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(BUTTON, Sense::click());
    let color = frame(ui, rect, &response, false);
    paint(ui.painter(), rect.shrink(6.0), icon, color);
    named(ui, response, name, None).on_hover_text(name)
}

/// A button for a row of the table of shortcuts, which gives its name, tooltip, keys, and whether it can be used.
pub fn command_button(ui: &mut Ui, icon: Icon, id: &str, now: &Now<'_>, actions: &mut Actions) -> Response {
    let row = shortcuts::find(id);
    let enabled = row.is_some_and(|row| now.allows(row));
    let (name, on) = row.map_or((id, None), |row| (row.title.trim_end_matches('…'), row.on(now)));
    let response = ui
        .add_enabled_ui(enabled, |ui| {
            let (rect, response) = ui.allocate_exact_size(BUTTON, Sense::click());
            let color = frame(ui, rect, &response, on == Some(true));
            let color = if on == Some(true) { theme::colors(ui.ctx()).accent } else { color };
            paint(ui.painter(), rect.shrink2(vec2(7.0, 4.5)), icon, color);
            named(ui, response, name, on)
        })
        .inner;
    let response = shortcuts::tip(response, id);
    if response.clicked() {
        actions.extend(row.and_then(shortcuts::Shortcut::action));
    }
    response
}

/// Size of a button that is only an icon, points.
const BUTTON: egui::Vec2 = vec2(30.0, 24.0);

/// An icon that is on or off.
pub fn toggle(ui: &mut Ui, icon: Icon, name: &str, on: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(BUTTON, Sense::click());
    let color = frame(ui, rect, &response, on);
    paint(ui.painter(), rect.shrink(5.5), icon, if on && ui.is_enabled() { theme::colors(ui.ctx()).accent } else { color });
    named(ui, response, name, Some(on))
}

/// A small button without a frame.
pub fn plain_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::click());
    paint(
        ui.painter(),
        rect.shrink(4.0),
        icon,
        if response.hovered() { theme::colors(ui.ctx()).text_strong } else { theme::colors(ui.ctx()).text_weak },
    );
    named(ui, response, name, None).on_hover_text(name)
}

fn frame(ui: &Ui, rect: Rect, response: &Response, selected: bool) -> Color32 {
    let visuals = ui.style().interact_selectable(response, selected);
    ui.painter().rect(rect, visuals.corner_radius, visuals.weak_bg_fill, visuals.bg_stroke, egui::StrokeKind::Inside);
    visuals.text_color()
}

fn named(ui: &Ui, response: Response, name: &str, on: Option<bool>) -> Response {
    let enabled = ui.is_enabled();
    response.widget_info(|| match on {
        Some(on) => WidgetInfo::selected(Role::CheckBox, enabled, on, name),
        None => WidgetInfo::labeled(Role::Button, enabled, name),
    });
    response
}
