//! Scrolling of rows: by the wheel over the names, a bar on the right, and the middle button. The
//! ruler and the row of all joints are fixed.

use egui::{CornerRadius, PointerButton, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::TimelineState;
use super::rows::{ROW, RowLayout};
use crate::app::theme;

/// Width of the bar, and its distance from the edge, points.
const WIDTH: f32 = 8.0;
const INSET: f32 = 2.0;
/// Minimum length of the handle.
const LEAST: f32 = 18.0;

impl RowLayout {
    /// Maximum scroll offset, points; 0 if all rows fit.
    pub(super) fn farthest(&self) -> f32 {
        (ROW * self.rows.len() as f32 - self.rect.height()).max(0.0)
    }

    /// The visible area of the single joints' rows.
    pub(super) fn below_first(&self) -> Rect {
        Rect::from_min_max(
            pos2(
                self.rect.left(),
                (self.rect.top() + ROW).min(self.rect.bottom()),
            ),
            self.rect.max,
        )
    }

    /// The bar's rectangle, if there is one.
    pub(super) fn bar(&self) -> Option<Rect> {
        let room = self.below_first();
        let right = room.right() - INSET;
        let needed = self.farthest() > 0.0 && room.height() > LEAST;
        needed.then(|| {
            Rect::from_min_max(
                pos2(right - WIDTH, room.top() + INSET),
                pos2(right, room.bottom() - INSET),
            )
        })
    }

    /// The handle.
    fn handle(&self, bar: Rect) -> Rect {
        let room = self.below_first().height();
        let length = (bar.height() * room / (room + self.farthest())).max(LEAST);
        let top = bar.top() + (bar.height() - length) * self.scroll / self.farthest().max(1.0);
        Rect::from_min_size(pos2(bar.left(), top), vec2(bar.width(), length))
    }
}

/// Handles wheel, bar and middle button, and draws the bar.
pub(super) fn scroll_ui(
    ui: &Ui,
    names: Rect,
    times: &Response,
    layout: &mut RowLayout,
    state: &mut TimelineState,
) {
    let farthest = layout.farthest();
    let over_names = ui.interact(names, ui.scope_id().with("names"), Sense::hover());
    if over_names.contains_pointer() {
        state.scroll -= ui.input(|input| input.smooth_scroll_delta().y);
    }
    if times.dragged_by(PointerButton::Middle) {
        state.scroll -= times.drag_delta().y;
    }
    if let Some(bar) = layout.bar() {
        let response = ui.interact(bar, ui.scope_id().with("rows bar"), Sense::drag());
        response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, true, "Rows"));
        let handle = layout.handle(bar);
        state.scroll +=
            response.drag_delta().y * farthest / (bar.height() - handle.height()).max(1.0);
        let colors = theme::colors(ui.ctx());
        let active = response.hovered() || response.dragged();
        let color = if active {
            colors.text_weak
        } else {
            colors.line
        };
        ui.painter().rect_filled(
            handle.shrink2(vec2(if active { 0.0 } else { 1.5 }, 0.0)),
            CornerRadius::same(4),
            color,
        );
    }
    state.scroll = state.scroll.clamp(0.0, farthest);
    layout.scroll = state.scroll;
}
