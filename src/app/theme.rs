//! The look of the window in one place: colours, spacing, type.
//!
//! Neutral greys, so that the panels do not tint how a skin is judged, and one warm accent that always means *yours*: what is
//! selected, hovered or being dragged.

use egui::epaint::Shadow;
use egui::{Color32, Context, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, vec2};

use crate::character::Severity;

/// Selected, hovered, being dragged.
pub const ACCENT: Color32 = Color32::from_rgb(240, 173, 92);
/// Behind the text of something selected.
pub const ACCENT_FILL: Color32 = Color32::from_rgb(102, 72, 36);
/// Panels.
pub const PANEL: Color32 = Color32::from_rgb(37, 38, 41);
/// Bars at the top and the bottom.
pub const BAR: Color32 = Color32::from_rgb(29, 30, 32);
/// Sunken things: text fields, plots, slider rails.
pub const SUNKEN: Color32 = Color32::from_rgb(24, 25, 27);
/// Ordinary text.
pub const TEXT: Color32 = Color32::from_rgb(212, 213, 216);
/// Text that says less.
pub const TEXT_WEAK: Color32 = Color32::from_rgb(150, 152, 158);
/// Text that matters.
pub const TEXT_STRONG: Color32 = Color32::from_rgb(240, 240, 242);
/// Hairlines.
pub const LINE: Color32 = Color32::from_rgb(56, 58, 62);
/// Something was mended, all is well now.
pub const MENDED: Color32 = Color32::from_rgb(128, 184, 214);
/// The result may not be what was expected.
pub const WARNING: Color32 = Color32::from_rgb(236, 183, 92);
/// It could not be done.
pub const ERROR: Color32 = Color32::from_rgb(236, 112, 99);
/// Behind an error message.
pub const ERROR_FILL: Color32 = Color32::from_rgb(66, 36, 34);
/// The three axes, as everywhere: x red, y green, z blue.
pub const AXES: [Color32; 3] = [Color32::from_rgb(232, 96, 88), Color32::from_rgb(126, 196, 92), Color32::from_rgb(98, 150, 240)];
/// The ring in the plane of the screen.
pub const SCREEN_RING: Color32 = Color32::from_rgb(222, 222, 226);
/// Curves of the graph of stages: anchors, local, global, normals, render.
pub const STAGES: [Color32; 5] = [
    Color32::from_rgb(126, 196, 150),
    Color32::from_rgb(240, 173, 92),
    Color32::from_rgb(226, 116, 100),
    Color32::from_rgb(98, 150, 240),
    Color32::from_rgb(176, 132, 222),
];

/// Width of the side panel at first, points.
pub const SIDE_WIDTH: f32 = 332.0;

/// The colour of a note.
#[must_use]
pub fn severity_color(severity: Severity) -> Color32 {
    match severity {
        Severity::Info => TEXT_WEAK,
        Severity::Mended => MENDED,
        Severity::Warning => WARNING,
    }
}

/// Puts the look on.
pub fn apply(ctx: &Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Small, FontId::new(11.0, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Heading, FontId::new(15.0, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        ]
        .into();
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
        style.animation_time = 0.08;
        set_visuals(&mut style.visuals);
    });
}

fn set_visuals(visuals: &mut egui::Visuals) {
    visuals.panel_fill = PANEL;
    visuals.window_fill = PANEL;
    visuals.window_stroke = Stroke::new(1.0, LINE);
    visuals.extreme_bg_color = SUNKEN;
    visuals.faint_bg_color = Color32::from_rgb(42, 43, 46);
    visuals.weak_text_color = Some(TEXT_WEAK);
    visuals.warn_fg_color = WARNING;
    visuals.error_fg_color = ERROR;
    visuals.hyperlink_color = ACCENT;
    visuals.selection.bg_fill = ACCENT_FILL;
    visuals.selection.stroke = Stroke::new(1.0, ACCENT);
    visuals.slider_trailing_fill = true;
    visuals.window_shadow = Shadow { offset: [0, 6], blur: 18, spread: 0, color: Color32::from_black_alpha(110) };
    visuals.popup_shadow = Shadow { offset: [0, 4], blur: 12, spread: 0, color: Color32::from_black_alpha(100) };
    let radius = CornerRadius::same(4);
    let widgets = &mut visuals.widgets;
    for (state, fill, line, text) in [
        (&mut widgets.noninteractive, PANEL, LINE, TEXT),
        (&mut widgets.inactive, Color32::from_rgb(56, 58, 62), Color32::TRANSPARENT, TEXT),
        (&mut widgets.hovered, Color32::from_rgb(68, 70, 75), Color32::from_rgb(92, 94, 100), TEXT_STRONG),
        (&mut widgets.active, Color32::from_rgb(78, 80, 86), ACCENT, TEXT_STRONG),
        (&mut widgets.open, Color32::from_rgb(50, 52, 56), LINE, TEXT_STRONG),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::new(1.0, line);
        state.fg_stroke = Stroke::new(1.0, text);
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
}
