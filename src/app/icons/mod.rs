//! Icons from the font Phosphor, and the buttons that show them.

use egui::{
    Color32, FontId, Painter, Pos2, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::actions::Actions;
use super::shortcuts::{self, ShortcutContext};
use super::theme;

macro_rules! icons {
    ($($(#[$doc:meta])* $name:ident = $glyph:literal),* $(,)?) => {
        /// What an icon means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Icon {
            $($(#[$doc])* $name,)*
        }

        impl Icon {
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its character in the icon font.
            const fn glyph(self) -> char {
                match self {
                    $(Self::$name => $glyph,)*
                }
            }
        }
    };
}

icons! {
    /// Start playback.
    Play = '\u{E3D0}',
    /// Pause playback.
    Pause = '\u{E39E}',
    /// Go to the first frame.
    Start = '\u{E5A4}',
    /// Repeat playback.
    Loop = '\u{E3F6}',
    /// Record.
    Record = '\u{E18A}',
    /// A key of a clip.
    Key = '\u{E1EC}',
    /// Set keys automatically.
    AutoKey = '\u{E8F4}',
    /// One frame back.
    StepBack = '\u{E138}',
    /// One frame forward.
    StepForward = '\u{E13A}',
    /// Expand the panel below.
    FoldUp = '\u{E13C}',
    /// Collapse the panel below.
    FoldDown = '\u{E136}',
    /// More commands.
    More = '\u{E1FE}',
    /// Rotate a joint.
    Rotate = '\u{E036}',
    /// Move a joint.
    Move = '\u{E0A4}',
    /// Drag a limb by inverse kinematics.
    Pull = '\u{E57C}',
    /// Paint materials.
    Brush = '\u{E6F0}',
    /// Choose a character.
    Figure = '\u{E3A8}',
    /// Reset.
    Reset = '\u{E038}',
    /// Open a file.
    Open = '\u{E24A}',
    /// Copy.
    Copy = '\u{E1CA}',
    /// Undo.
    Undo = '\u{E08A}',
    /// Redo.
    Redo = '\u{E08C}',
    /// Search.
    Search = '\u{E30C}',
    /// Notices.
    Bell = '\u{E0CE}',
    /// Settings.
    Gear = '\u{E272}',
    /// Light theme.
    Sun = '\u{E472}',
    /// Dark theme.
    Moon = '\u{E330}',
    /// Add.
    Plus = '\u{E3D4}',
    /// Delete.
    Bin = '\u{E4A6}',
    /// Close.
    Close = '\u{E4F6}',
    /// A warning.
    Warning = '\u{E4E0}',
    /// Information.
    Info = '\u{E2CE}',
    /// Done, without problems.
    Check = '\u{E182}',
}

/// Font size over the side of the square: Phosphor leaves a margin around each glyph.
const EM: f32 = 1.15;
/// Side of an icon beside text, points.
const SIDE: f32 = 14.0;
/// Size of a button that is only an icon, points.
pub const BUTTON: Vec2 = vec2(30.0, 24.0);
/// Side of a small button without a frame, points.
const SMALL: f32 = 20.0;

/// Paints an icon into a square around the middle of `rect`. Paints nothing in a context without the icon font, to which the theme was
/// not applied.
pub fn paint(painter: &Painter, rect: Rect, icon: Icon, color: Color32) {
    let side = rect.width().min(rect.height());
    let font = FontId::proportional(side * EM);
    if !painter.fonts_mut(|fonts| fonts.has_glyph(&font, icon.glyph())) {
        return;
    }
    let galley = painter.layout_no_wrap(icon.glyph().to_string(), font, color);
    let corner = rect.center() - galley.mesh_bounds.center().to_vec2();
    painter.galley(corner, galley, color);
}

/// An icon in a line of text.
pub fn label(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(
        vec2(SIDE, ui.spacing().interact_size.y.min(18.0)),
        Sense::hover(),
    );
    paint(
        ui.painter(),
        Rect::from_center_size(rect.center(), vec2(SIDE - 2.0, SIDE - 2.0)),
        icon,
        color,
    );
    response
}

/// A button with an icon and text.
pub fn text_button(ui: &mut Ui, icon: Icon, text: &str) -> Response {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
    let padding = ui.spacing().button_padding;
    let height = (galley.size().y + 2.0 * padding.y).max(ui.spacing().interact_size.y);
    let (rect, response) = ui.allocate_exact_size(
        vec2(SIDE + 6.0 + galley.size().x + 2.0 * padding.x, height),
        Sense::click(),
    );
    let color = frame(ui, rect, &response, false);
    let icon_at = Rect::from_center_size(
        pos2(rect.left() + padding.x + SIDE / 2.0, rect.center().y),
        vec2(SIDE, SIDE),
    );
    paint(ui.painter(), icon_at.shrink(1.0), icon, color);
    let text_at = Pos2::new(
        icon_at.right() + 6.0,
        rect.center().y - galley.size().y / 2.0,
    );
    ui.painter().galley(text_at, galley, color);
    named(ui, response, text, None)
}

/// A button that is only an icon; `name` is its accessible name.
pub fn button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    icon_button(ui, icon, name, None)
}

/// An icon that is on or off.
pub fn toggle(ui: &mut Ui, icon: Icon, name: &str, on: bool) -> Response {
    icon_button(ui, icon, name, Some(on))
}

/// A button for a row of the table of shortcuts: its name, tooltip and keys, and whether it is enabled, come from the row.
pub fn command_button(
    ui: &mut Ui,
    icon: Icon,
    id: &str,
    now: &ShortcutContext<'_>,
    actions: &mut Actions,
) -> Response {
    let row = shortcuts::find(id);
    let enabled = row.is_some_and(|row| now.allows(row));
    let (name, on) = row.map_or((id, None), |row| {
        (row.title.trim_end_matches('…'), row.on(now))
    });
    let response = ui
        .add_enabled_ui(enabled, |ui| icon_button(ui, icon, name, on))
        .inner;
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
    let color = if response.hovered() || response.has_focus() {
        colors.text_strong
    } else {
        colors.text_weak
    };
    paint(
        ui.painter(),
        Rect::from_center_size(rect.center(), vec2(11.0, 11.0)),
        icon,
        color,
    );
    named(ui, response, name, None).on_hover_text(name)
}

fn icon_button(ui: &mut Ui, icon: Icon, name: &str, on: Option<bool>) -> Response {
    let (rect, response) = ui.allocate_exact_size(BUTTON, Sense::click());
    let lit = on == Some(true);
    let color = frame(ui, rect, &response, lit);
    let color = if lit && ui.is_enabled() {
        theme::colors(ui.ctx()).accent
    } else {
        color
    };
    paint(
        ui.painter(),
        Rect::from_center_size(rect.center(), vec2(SIDE, SIDE)),
        icon,
        color,
    );
    named(ui, response, name, on)
}

fn frame(ui: &Ui, rect: Rect, response: &Response, selected: bool) -> Color32 {
    let visuals = ui.style().interact_selectable(response, selected);
    ui.painter().rect(
        rect,
        visuals.corner_radius,
        visuals.weak_bg_fill,
        visuals.bg_stroke,
        egui::StrokeKind::Inside,
    );
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

#[cfg(test)]
mod tests {
    use super::*;
    use skrifa::instance::{LocationRef, Size};
    use skrifa::outline::DrawSettings;
    use skrifa::outline::pen::SvgPen;
    use skrifa::{FontRef, GlyphId, MetadataProvider};

    #[test]
    fn every_icon_has_its_own_glyph_with_an_outline() {
        let font = FontRef::new(theme::ICONS).unwrap();
        let (characters, outlines) = (font.charmap(), font.outline_glyphs());
        let mut seen = std::collections::HashMap::new();
        for &icon in Icon::ALL {
            let glyph = characters.map(icon.glyph()).unwrap_or(GlyphId::NOTDEF);
            let mut pen = SvgPen::new();
            let settings = DrawSettings::unhinted(Size::new(1.0), LocationRef::default());
            let drawn = outlines
                .get(glyph)
                .map(|outline| outline.draw(settings, &mut pen));
            assert!(
                glyph != GlyphId::NOTDEF
                    && matches!(drawn, Some(Ok(_)))
                    && !pen.to_string().is_empty(),
                "{icon:?} is not in the font"
            );
            if let Some(other) = seen.insert(glyph, icon) {
                panic!("{icon:?} looks like {other:?}");
            }
        }
    }
}
