//! Icons, drawn as strokes so that they are crisp at any scale and need no font, and the buttons that bear them.

mod draw;

use egui::{Color32, Painter, Pos2, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::actions::Actions;
use super::shortcuts::{self, Now};
use super::theme;

macro_rules! icons {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// What an icon means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Icon {
            $($(#[$doc])* $name,)*
        }

        impl Icon {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

icons! {
    /// Let the clock run.
    Play,
    /// Stop the clock.
    Pause,
    /// To the start.
    Start,
    /// To the end.
    End,
    /// Over and over.
    Loop,
    /// Keep what the hand does.
    Record,
    /// A key of a clip.
    Key,
    /// Keys are set by themselves.
    AutoKey,
    /// One frame back.
    StepBack,
    /// One frame on.
    StepForward,
    /// Open what is below.
    FoldUp,
    /// Close what is below.
    FoldDown,
    /// More commands.
    More,
    /// Choose joints.
    Select,
    /// Turn a joint.
    Rotate,
    /// Move a joint.
    Move,
    /// Pull a limb, and the others follow.
    Pull,
    /// Hold a joint where it is.
    Pin,
    /// To the other side.
    Mirror,
    /// Characters to choose from.
    Figure,
    /// Back to the start.
    Reset,
    /// A new joint.
    AddJoint,
    /// A joint between two.
    Insert,
    /// Both sides at once.
    Symmetry,
    /// Belongs together.
    Link,
    /// Is on its own.
    Unlink,
    /// Two views side by side.
    Split,
    /// Two views, one above the other.
    SplitDown,
    /// One method on the left, another on the right.
    Wipe,
    /// How far two methods are apart.
    Difference,
    /// The camera, or a picture.
    Camera,
    /// How views are arranged.
    Layout,
    /// One view as large as all.
    Maximise,
    /// What is shown.
    Eye,
    /// Open a file.
    Open,
    /// Save a file.
    Save,
    /// Copy.
    Copy,
    /// Write for other programs.
    Export,
    /// Back.
    Undo,
    /// Forth.
    Redo,
    /// Find.
    Search,
    /// What you were told.
    Bell,
    /// Settings.
    Gear,
    /// Light.
    Sun,
    /// Dark.
    Moon,
    /// What the program noted down.
    Log,
    /// Help.
    Help,
    /// Add.
    Plus,
    /// Take away one.
    Minus,
    /// Throw away.
    Bin,
    /// Close.
    Close,
    /// Something to worry about.
    Warning,
    /// Something to know.
    Info,
    /// All is well.
    Check,
}

/// Side of an icon beside text, points.
const SIDE: f32 = 14.0;
/// Size of a button that is only an icon, points.
pub const BUTTON: Vec2 = vec2(30.0, 24.0);
/// Side of a small button without a frame, points: the least that a finger or a shaky hand can hit.
const SMALL: f32 = 20.0;

/// Paints an icon into a square around the middle of `rect`.
pub fn paint(painter: &Painter, rect: Rect, icon: Icon, color: Color32) {
    draw::draw(&draw::Pen::new(painter, rect, color), icon);
}

/// An icon in a line of text.
pub fn label(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(SIDE, ui.spacing().interact_size.y.min(18.0)), Sense::hover());
    paint(ui.painter(), Rect::from_center_size(rect.center(), vec2(SIDE - 2.0, SIDE - 2.0)), icon, color);
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

/// A button that is only an icon, with an accessible name, and title, keys and sentence of the row `id` of the table of shortcuts as
/// its tooltip. The caller does what it is for; [`command_button`] does that by itself.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str, id: &str) -> Response {
    shortcuts::tip(bare(ui, icon, name, None), id)
}

/// A button that is only an icon; `name` is its accessible name.
pub fn button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    bare(ui, icon, name, None)
}

/// An icon that is on or off.
pub fn toggle(ui: &mut Ui, icon: Icon, name: &str, on: bool) -> Response {
    bare(ui, icon, name, Some(on))
}

/// A button for a row of the table of shortcuts, which gives its name, tooltip, keys, and whether it can be used.
pub fn command_button(ui: &mut Ui, icon: Icon, id: &str, now: &Now<'_>, actions: &mut Actions) -> Response {
    let row = shortcuts::find(id);
    let enabled = row.is_some_and(|row| now.allows(row));
    let (name, on) = row.map_or((id, None), |row| (row.title.trim_end_matches('…'), row.on(now)));
    let response = ui.add_enabled_ui(enabled, |ui| bare(ui, icon, name, on)).inner;
    let response = shortcuts::tip(response, id);
    if response.clicked() {
        actions.extend(row.and_then(shortcuts::Shortcut::action));
    }
    response
}

/// A small button without a frame.
pub fn plain_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(SMALL, SMALL), Sense::click());
    let colors = theme::colors(ui.ctx());
    if response.has_focus() {
        frame(ui, rect, &response, false);
    }
    let color = if response.hovered() || response.has_focus() { colors.text_strong } else { colors.text_weak };
    paint(ui.painter(), Rect::from_center_size(rect.center(), vec2(11.0, 11.0)), icon, color);
    named(ui, response, name, None).on_hover_text(name)
}

fn bare(ui: &mut Ui, icon: Icon, name: &str, on: Option<bool>) -> Response {
    let (rect, response) = ui.allocate_exact_size(BUTTON, Sense::click());
    let lit = on == Some(true);
    let color = frame(ui, rect, &response, lit);
    let color = if lit && ui.is_enabled() { theme::colors(ui.ctx()).accent } else { color };
    paint(ui.painter(), Rect::from_center_size(rect.center(), vec2(SIDE, SIDE)), icon, color);
    named(ui, response, name, on)
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
