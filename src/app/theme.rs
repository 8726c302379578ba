//! The theme: colours, spacing, type.
//!
//! Neutral greys, so that the panels do not affect the perception of a skin's colours, and one warm
//! accent for the selected, hovered or dragged item. There is a dark and a light set of [`Colors`];
//! [`colors`] returns the active one. Every text colour has a contrast of at least 4.5 : 1 on every
//! background it is used on, which a test checks.

use egui::epaint::Shadow;
use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, vec2,
};

use crate::character::Severity;

/// All colours of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colors {
    /// Accent: selected, hovered, dragged.
    pub accent: Color32,
    /// Behind the text of something selected.
    pub accent_fill: Color32,
    /// Panels.
    pub panel: Color32,
    /// Bars at the top and the bottom.
    pub bar: Color32,
    /// Input areas: text fields, plots, slider rails.
    pub sunken: Color32,
    /// Every other row of a table.
    pub faint: Color32,
    /// Buttons.
    pub raised: Color32,
    /// Buttons under the pointer.
    pub raised_hovered: Color32,
    /// Buttons being pressed.
    pub raised_pressed: Color32,
    /// Buttons whose menu is open.
    pub raised_open: Color32,
    /// The line around a button under the pointer.
    pub line_hovered: Color32,
    /// Ordinary text.
    pub text: Color32,
    /// Weak text.
    pub text_weak: Color32,
    /// Strong text.
    pub text_strong: Color32,
    /// Hairlines.
    pub line: Color32,
    /// Success.
    pub mended: Color32,
    /// Warning.
    pub warning: Color32,
    /// Error.
    pub error: Color32,
    /// Background of an information message.
    pub info_fill: Color32,
    /// Background of a warning.
    pub warning_fill: Color32,
    /// Background of an error message.
    pub error_fill: Color32,
    /// The three axes: x red, y green, z blue.
    pub axes: [Color32; 3],
    /// The ring in the plane of the screen.
    pub screen_ring: Color32,
    /// Curves of the graph of stages: anchors, local, global, normals, render.
    pub stages: [Color32; 5],
    /// Behind text that lies on the picture of a view.
    pub plate: Color32,
    /// Text on a plate.
    pub plate_text: Color32,
    /// Weak text on a plate.
    pub plate_weak: Color32,
    /// Accent on a plate or on the picture of a view.
    pub plate_accent: Color32,
    /// Over disabled areas.
    pub scrim: Color32,
    /// Shadow of windows and menus.
    pub shadow: Color32,
}

/// The dark theme.
pub const DARK: Colors = Colors {
    accent: Color32::from_rgb(240, 173, 92),
    accent_fill: Color32::from_rgb(74, 52, 28),
    panel: Color32::from_rgb(37, 38, 41),
    bar: Color32::from_rgb(29, 30, 32),
    sunken: Color32::from_rgb(24, 25, 27),
    faint: Color32::from_rgb(42, 43, 46),
    raised: Color32::from_rgb(54, 56, 60),
    raised_hovered: Color32::from_rgb(66, 68, 73),
    raised_pressed: Color32::from_rgb(74, 76, 82),
    raised_open: Color32::from_rgb(50, 52, 56),
    line_hovered: Color32::from_rgb(92, 94, 100),
    text: Color32::from_rgb(214, 215, 218),
    text_weak: Color32::from_rgb(166, 168, 174),
    text_strong: Color32::from_rgb(242, 242, 244),
    line: Color32::from_rgb(56, 58, 62),
    mended: Color32::from_rgb(134, 188, 218),
    warning: Color32::from_rgb(236, 183, 92),
    error: Color32::from_rgb(242, 132, 118),
    info_fill: Color32::from_rgb(36, 44, 50),
    warning_fill: Color32::from_rgb(54, 46, 32),
    error_fill: Color32::from_rgb(66, 36, 34),
    axes: [
        Color32::from_rgb(232, 96, 88),
        Color32::from_rgb(126, 196, 92),
        Color32::from_rgb(98, 150, 240),
    ],
    screen_ring: Color32::from_rgb(222, 222, 226),
    stages: [
        Color32::from_rgb(126, 196, 150),
        Color32::from_rgb(240, 173, 92),
        Color32::from_rgb(226, 116, 100),
        Color32::from_rgb(98, 150, 240),
        Color32::from_rgb(176, 132, 222),
    ],
    plate: Color32::from_black_alpha(188),
    plate_text: Color32::from_rgb(242, 242, 244),
    plate_weak: Color32::from_rgb(186, 188, 193),
    plate_accent: Color32::from_rgb(240, 173, 92),
    scrim: Color32::from_black_alpha(150),
    shadow: Color32::from_black_alpha(110),
};

/// The light theme.
pub const LIGHT: Colors = Colors {
    accent: Color32::from_rgb(140, 78, 10),
    accent_fill: Color32::from_rgb(252, 226, 188),
    panel: Color32::from_rgb(244, 244, 245),
    bar: Color32::from_rgb(232, 232, 234),
    sunken: Color32::from_rgb(254, 254, 254),
    faint: Color32::from_rgb(238, 238, 240),
    raised: Color32::from_rgb(226, 227, 230),
    raised_hovered: Color32::from_rgb(216, 217, 221),
    raised_pressed: Color32::from_rgb(206, 208, 212),
    raised_open: Color32::from_rgb(220, 221, 224),
    line_hovered: Color32::from_rgb(160, 162, 168),
    text: Color32::from_rgb(48, 49, 53),
    text_weak: Color32::from_rgb(86, 88, 94),
    text_strong: Color32::from_rgb(18, 18, 20),
    line: Color32::from_rgb(208, 209, 213),
    mended: Color32::from_rgb(22, 92, 130),
    warning: Color32::from_rgb(132, 80, 0),
    error: Color32::from_rgb(172, 38, 28),
    info_fill: Color32::from_rgb(226, 238, 246),
    warning_fill: Color32::from_rgb(252, 238, 212),
    error_fill: Color32::from_rgb(252, 228, 225),
    axes: [
        Color32::from_rgb(190, 44, 36),
        Color32::from_rgb(52, 124, 24),
        Color32::from_rgb(36, 92, 200),
    ],
    screen_ring: Color32::from_rgb(60, 60, 66),
    stages: [
        Color32::from_rgb(36, 138, 80),
        Color32::from_rgb(196, 112, 12),
        Color32::from_rgb(196, 66, 48),
        Color32::from_rgb(44, 100, 204),
        Color32::from_rgb(130, 76, 184),
    ],
    plate: Color32::from_black_alpha(190),
    plate_text: Color32::from_rgb(246, 246, 248),
    plate_weak: Color32::from_rgb(200, 202, 206),
    plate_accent: Color32::from_rgb(246, 184, 108),
    scrim: Color32::from_black_alpha(120),
    shadow: Color32::from_black_alpha(46),
};

/// Initial width of the joint panel, points.
pub const JOINTS_WIDTH: f32 = 250.0;
/// Size of headings, points.
pub const HEADING: f32 = 15.0;
/// Initial width of the side panel, points.
pub const SIDE_WIDTH: f32 = 332.0;

/// Glyphs of [`super::icons::Icon`]: Phosphor 2.1, weights Bold and Fill.
pub(super) static ICONS: &[u8] = include_bytes!("../../assets/fonts/Phosphor.ttf");
/// Font of all text: Inter, with digits of equal width, so that numbers do not shift.
static REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.otf");
/// Letters for headings.
static STRONG: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.otf");
/// Name of the letters for headings, as a family and as a text style.
const STRONG_NAME: &str = "strong";

/// Duration of folding a panel.
const ANIMATION_SECS: f32 = 0.08;

/// The active colours.
#[must_use]
pub fn colors(ctx: &Context) -> &'static Colors {
    of(ctx.theme())
}

/// The colours of a theme.
#[must_use]
pub fn of(theme: Theme) -> &'static Colors {
    match theme {
        Theme::Dark => &DARK,
        Theme::Light => &LIGHT,
    }
}

impl Colors {
    /// The colour of a note.
    #[must_use]
    pub fn severity(&self, severity: Severity) -> Color32 {
        match severity {
            Severity::Info => self.text_weak,
            Severity::Mended => self.mended,
            Severity::Warning => self.warning,
        }
    }
}

/// Text for a heading or an emphasised name, in bold.
#[must_use]
pub fn strong(ui: &egui::Ui, text: impl Into<String>) -> egui::RichText {
    let style = TextStyle::Name(STRONG_NAME.into());
    let text = egui::RichText::new(text);
    // A context without the theme has only egui's own fonts.
    if ui.style().text_styles.contains_key(&style) {
        text.text_style(style)
    } else {
        text.strong()
    }
}

/// Inter, then the icons, then egui's own fonts as fallback.
fn fonts() -> egui::FontDefinitions {
    let mut fonts = egui::FontDefinitions::default();
    for (name, bytes) in [
        ("regular", REGULAR),
        (STRONG_NAME, STRONG),
        ("icons", ICONS),
    ] {
        fonts.font_data.insert(
            name.to_owned(),
            std::sync::Arc::new(egui::FontData::from_static(bytes)),
        );
    }
    let others = fonts
        .families
        .get(&FontFamily::Proportional)
        .cloned()
        .unwrap_or_default();
    let after = |name: &str| {
        [name, "icons"]
            .into_iter()
            .map(str::to_owned)
            .chain(others.iter().cloned())
            .collect::<Vec<_>>()
    };
    fonts
        .families
        .insert(FontFamily::Proportional, after("regular"));
    fonts
        .families
        .insert(FontFamily::Name(STRONG_NAME.into()), after(STRONG_NAME));
    fonts
}

/// Applies the theme: type, spacing, and both colour sets, the dark one at first.
pub fn apply(ctx: &Context) {
    ctx.set_fonts(fonts());
    ctx.set_theme(Theme::Dark);
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| {
            style.visuals = theme.default_visuals();
            set_type(style);
            set_spacing(style);
            set_visuals(&mut style.visuals, of(theme));
        });
    }
}

/// Whether panels and buttons are animated.
pub fn set_animations(ctx: &Context, soft: bool) {
    let wanted = if soft { ANIMATION_SECS } else { 0.0 };
    if ctx.global_style().animation_time != wanted {
        ctx.all_styles_mut(|style| style.animation_time = wanted);
    }
}

fn set_type(style: &mut egui::Style) {
    style.text_styles = [
        (
            TextStyle::Small,
            FontId::new(11.0, FontFamily::Proportional),
        ),
        (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
        (
            TextStyle::Button,
            FontId::new(13.0, FontFamily::Proportional),
        ),
        (
            TextStyle::Heading,
            FontId::new(HEADING, FontFamily::Proportional),
        ),
        (
            TextStyle::Monospace,
            FontId::new(12.0, FontFamily::Monospace),
        ),
        (
            TextStyle::Name(STRONG_NAME.into()),
            FontId::new(13.0, FontFamily::Name(STRONG_NAME.into())),
        ),
    ]
    .into();
}

fn set_spacing(style: &mut egui::Style) {
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 5.0);
    spacing.button_padding = vec2(8.0, 3.0);
    spacing.interact_size = vec2(36.0, 22.0);
    spacing.slider_width = 120.0;
    spacing.slider_rail_height = 5.0;
    spacing.menu_margin = Margin::same(6);
    spacing.indent = 14.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.4;
    style.animation_time = ANIMATION_SECS;
}

fn set_visuals(visuals: &mut egui::Visuals, colors: &Colors) {
    visuals.panel_fill = colors.panel;
    visuals.window_fill = colors.panel;
    visuals.window_stroke = Stroke::new(1.0, colors.line);
    visuals.extreme_bg_color = colors.sunken;
    visuals.faint_bg_color = colors.faint;
    visuals.code_bg_color = colors.sunken;
    visuals.weak_text_color = Some(colors.text_weak);
    visuals.warn_fg_color = colors.warning;
    visuals.error_fg_color = colors.error;
    visuals.hyperlink_color = colors.accent;
    visuals.selection.bg_fill = colors.accent_fill;
    visuals.selection.stroke = Stroke::new(1.0, colors.accent);
    visuals.slider_trailing_fill = true;
    visuals.window_shadow = Shadow {
        offset: [0, 6],
        blur: 18,
        spread: 0,
        color: colors.shadow,
    };
    visuals.popup_shadow = Shadow {
        offset: [0, 4],
        blur: 12,
        spread: 0,
        color: colors.shadow,
    };
    let radius = CornerRadius::same(4);
    let widgets = &mut visuals.widgets;
    for (state, fill, line, text) in [
        (
            &mut widgets.noninteractive,
            colors.panel,
            colors.line,
            colors.text,
        ),
        (
            &mut widgets.inactive,
            colors.raised,
            Color32::TRANSPARENT,
            colors.text,
        ),
        (
            &mut widgets.hovered,
            colors.raised_hovered,
            colors.line_hovered,
            colors.text_strong,
        ),
        (
            &mut widgets.active,
            colors.raised_pressed,
            colors.accent,
            colors.text_strong,
        ),
        (
            &mut widgets.open,
            colors.raised_open,
            colors.line,
            colors.text_strong,
        ),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::new(1.0, line);
        state.fg_stroke = Stroke::new(1.0, text);
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
}

#[cfg(test)]
mod tests;
