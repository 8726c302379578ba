//! Shows a control of a panel: its section opens, the panel scrolls to its row, and the row is marked for a moment.
//!
//! The palette asks for it. Sections and rows look here while they are drawn, so that a panel needs nothing of its own.

use egui::{Align, Context, Id, Rect, Stroke, StrokeKind, Ui};

use super::theme;

/// How long a row is marked, seconds.
const MARKED_SECS: f64 = 3.0;
/// For how long the panel follows the row, seconds: sections unfold meanwhile.
const FOLLOWED_SECS: f64 = 0.6;

/// The row that is shown.
#[derive(Debug, Clone, Default)]
struct Spotlight {
    section: &'static str,
    name: String,
    /// On egui's clock.
    since_secs: f64,
}

fn id() -> Id {
    Id::unique("spotlight")
}

fn section_id() -> Id {
    Id::unique("section being drawn")
}

/// Shows a row of a section.
pub fn show(ctx: &Context, section: &'static str, name: String) {
    let since_secs = ctx.input(|input| input.time);
    let spotlight = Spotlight {
        section,
        name,
        since_secs,
    };
    ctx.data_mut(|data| data.insert_temp(id(), spotlight));
    ctx.request_repaint();
}

fn shown(ui: &Ui) -> Option<Spotlight> {
    let spotlight: Spotlight = ui.data(|data| data.get_temp(id()))?;
    if ui.input(|input| input.time) - spotlight.since_secs > MARKED_SECS {
        ui.data_mut(|data| data.remove_temp::<Spotlight>(id()));
        return None;
    }
    Some(spotlight)
}

/// Whether a section must be open.
#[must_use]
pub fn opens(ui: &Ui, section: &str) -> bool {
    shown(ui).is_some_and(|spotlight| spotlight.section == section)
}

/// Whether a row of that name is asked for.
#[must_use]
pub fn wants(ui: &Ui, name: &str) -> bool {
    shown(ui).is_some_and(|spotlight| spotlight.name == name)
}

/// Draws the contents of a section, whose rows can be shown.
pub fn within<R>(ui: &mut Ui, section: &str, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let name = section.to_owned();
    let before: Option<String> = ui.data(|data| data.get_temp(section_id()));
    ui.data_mut(|data| data.insert_temp(section_id(), name));
    let result = contents(ui);
    ui.data_mut(|data| match before {
        Some(before) => {
            data.insert_temp(section_id(), before);
        }
        None => {
            data.remove_temp::<String>(section_id());
        }
    });
    result
}

/// After a row was drawn: scrolls to it and marks it, if it is the one that is shown. Returns whether it is.
pub fn mark(ui: &Ui, name: &str, rect: Rect) -> bool {
    let Some(spotlight) = shown(ui).filter(|spotlight| spotlight.name == name) else {
        return false;
    };
    let section: Option<String> = ui.data(|data| data.get_temp(section_id()));
    if section.as_deref() != Some(spotlight.section) {
        return false;
    }
    let age_secs = ui.input(|input| input.time) - spotlight.since_secs;
    if age_secs < FOLLOWED_SECS {
        ui.scroll_to_rect(rect, Some(Align::Center));
        ui.ctx().request_repaint();
    } else {
        let left = std::time::Duration::from_secs_f64((MARKED_SECS - age_secs).max(0.05));
        ui.ctx().request_repaint_after(left);
    }
    let stroke = Stroke::new(2.0, theme::colors(ui.ctx()).accent);
    ui.painter()
        .rect_stroke(rect.expand(3.0), 4.0, stroke, StrokeKind::Outside);
    true
}
