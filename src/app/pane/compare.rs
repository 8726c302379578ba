//! The line between two methods, and their names on either side.

use egui::{
    Align2, Context, CursorIcon, FontId, Id, Key, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use super::distance::Distances;
use super::{Pane, PaneContext};
use crate::app::actions::Action;
use crate::app::actions::LayoutAction;
use crate::app::shortcuts::Bindings;
use crate::app::theme;
use crate::session::{Compare, PaneState, ViewId};

/// Distance from the line within which it can be dragged, points.
const REACH: f32 = 6.0;
/// Height of the names above the bottom, points.
pub(super) const NAMES_HEIGHT: f32 = 34.0;
/// Step of the arrow keys.
const NUDGE: f32 = 0.02;

/// Whether the key that shows the other method is down.
pub(super) fn is_held(ctx: &Context) -> bool {
    let bindings = Bindings::get(ctx);
    !ctx.text_edit_focused() && ctx.input(|input| bindings.is_held(input, "compare.hold"))
}

/// Draws the wipe line, which can be dragged, and the names of both sides. Returns the rectangles of the names.
pub(super) fn compare_ui(
    ui: &mut Ui,
    body: Rect,
    id: ViewId,
    pane: &Pane,
    context: &mut PaneContext<'_>,
) -> Option<Rect> {
    let state = pane.state;
    let view = context.session.views().get(id).copied()?;
    let other = context.session.compared_label_of(&view)?;
    let own = context.session.label_of(&view);
    let names = [own.as_str(), other.as_str()];
    match state.comparing {
        Compare::Wipe(at) => {
            wipe_ui(ui, body, id, state, at, context);
            let x = body.left() + body.width() * at.clamp(0.0, 1.0);
            let y = body.bottom() - 12.0;
            let left = Rect::from_min_max(body.min, pos2(x, body.bottom()));
            let right = Rect::from_min_max(pos2(x, body.top()), body.max);
            plate(
                &ui.painter().with_clip_rect(left),
                pos2(x - 10.0, y),
                Align2::RIGHT_BOTTOM,
                names[0],
            );
            plate(
                &ui.painter().with_clip_rect(right),
                pos2(x + 10.0, y),
                Align2::LEFT_BOTTOM,
                names[1],
            );
        }
        Compare::Flicker => {
            let text = if is_held(ui.ctx()) {
                names[1].to_owned()
            } else {
                format!("{} – hold V for {}", names[0], names[1])
            };
            plate(
                ui.painter(),
                pos2(body.center().x, body.bottom() - 12.0),
                Align2::CENTER_BOTTOM,
                &text,
            );
        }
        Compare::Difference => {
            let text = format!(
                "Distance of {} from {}",
                names[0].to_lowercase(),
                names[1].to_lowercase()
            );
            let map = pane.viewport.map();
            let distances = Distances::of(context.session, id, map.as_ref(), ui.ctx());
            let text = match distances {
                Some(distances) => format!("{text}: {}", distances.sentence()),
                None => text,
            };
            let rect = plate(
                ui.painter(),
                pos2(body.center().x, body.bottom() - 12.0),
                Align2::CENTER_BOTTOM,
                &text,
            );
            let id = Id::unique(("distances", id));
            let response = ui.interact(rect, id, Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
            response.on_hover_text(
                "The largest and the mean distance of all vertices, and that of the vertex under the pointer. \
                 “Scale” in the look of the view sets the end of the colours.",
            );
        }
    }
    Some(Rect::from_min_max(
        pos2(body.left(), body.bottom() - NAMES_HEIGHT),
        body.max,
    ))
}

fn wipe_ui(
    ui: &mut Ui,
    body: Rect,
    id: ViewId,
    state: PaneState,
    at: f32,
    context: &mut PaneContext<'_>,
) {
    let x = body.left() + body.width() * at.clamp(0.0, 1.0);
    let line = Rect::from_min_max(pos2(x - REACH, body.top()), pos2(x + REACH, body.bottom()));
    let response = ui
        .interact(line, Id::unique(("wipe", id)), Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::ResizeHorizontal);
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Wipe line"));
    let mut wanted = at;
    if let (true, Some(pointer)) = (response.dragged(), response.interact_pointer_pos()) {
        wanted = (pointer.x - body.left()) / body.width().max(1.0);
    }
    if response.has_focus() {
        ui.memory_mut(|memory| {
            let filter = egui::EventFilter {
                horizontal_arrows: true,
                ..egui::EventFilter::default()
            };
            memory.set_focus_lock_filter(response.id, filter);
        });
        let steps = ui.input(|input| {
            i32::from(input.key_pressed(Key::ArrowRight))
                - i32::from(input.key_pressed(Key::ArrowLeft))
        });
        wanted += NUDGE * steps as f32;
    }
    let wanted = wanted.clamp(0.0, 1.0);
    if wanted != at {
        let state = PaneState {
            comparing: Compare::Wipe(wanted),
            ..state
        };
        context
            .actions
            .push(Action::Layout(LayoutAction::SetPane(id, state)));
    }
    let colors = theme::colors(ui.ctx());
    let active = response.hovered() || response.dragged() || response.has_focus();
    let color = if active {
        colors.plate_accent
    } else {
        colors.plate_text
    };
    let painter = ui.painter();
    painter.vline(x, body.y_range(), Stroke::new(3.0, colors.plate));
    painter.vline(x, body.y_range(), Stroke::new(1.0, color));
    let knob = Rect::from_center_size(pos2(x, body.center().y), vec2(14.0, 34.0));
    painter.rect(
        knob,
        7.0,
        colors.plate,
        Stroke::new(1.0, color),
        egui::StrokeKind::Inside,
    );
    for dx in [-2.5, 2.5] {
        painter.vline(
            x + dx,
            (knob.center().y - 6.0)..=(knob.center().y + 6.0),
            Stroke::new(1.2, color),
        );
    }
}

/// Text on a dark plate. Returns its rectangle.
fn plate(painter: &egui::Painter, at: egui::Pos2, align: Align2, text: &str) -> Rect {
    let colors = theme::colors(painter.ctx());
    let galley = painter.layout_no_wrap(
        text.to_owned(),
        FontId::proportional(12.5),
        colors.plate_text,
    );
    let rect = align.anchor_size(at, galley.size() + vec2(12.0, 6.0));
    painter.rect_filled(rect, 4.0, colors.plate);
    painter.galley(rect.min + vec2(6.0, 3.0), galley, colors.plate_text);
    rect
}
