//! Which curves are shown, and their values at the playhead.

use egui::{Button, Rect, RichText, Ui, UiBuilder, WidgetInfo};

use super::number;
use crate::app::theme;
use crate::app::timeline::{TimelineState, TimelineView};

/// Angles or offsets, and a switch for each axis.
pub(super) fn names_ui(
    ui: &mut Ui,
    rect: Rect,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
) {
    let colors = theme::colors(ui.ctx());
    let graph = &mut state.graph;
    if graph.curves.curves.is_empty() {
        return;
    }
    let first = &graph.curves.curves[0];
    let name = view
        .skeleton
        .and_then(|skeleton| skeleton.joints().get(first.0))
        .map_or("", |joint| joint.name.as_str());
    let now = first.1.numbers([view.time_secs])[0];
    let builder = UiBuilder::new().max_rect(rect.shrink2(egui::vec2(4.0, 2.0)));
    ui.scope_builder(builder, |ui| {
        ui.set_clip_rect(ui.clip_rect().intersect(rect));
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.horizontal(|ui| {
            for (moves, name, tip) in [
                (false, "Turn", "Angles about the world's axes, from rest"),
                (true, "Move", "Offsets along the world's axes, from rest"),
            ] {
                let on = graph.moves == moves;
                let response = ui.add(Button::selectable(on, name));
                response
                    .widget_info(|| WidgetInfo::selected(egui::Role::RadioButton, true, on, name));
                if response.on_hover_text(tip).clicked() {
                    graph.moves = moves;
                }
            }
        });
        let many = graph.curves.curves.len();
        let title = if many > 1 {
            format!("{name} and {}", many - 1)
        } else {
            name.to_owned()
        };
        ui.add(egui::Label::new(RichText::new(title).size(11.5).color(colors.accent)).truncate());
        for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
            let shown = !graph.hidden[axis];
            let value = now[number(graph.moves, axis).index()];
            let text = if graph.moves {
                format!("{value:.4}")
            } else {
                format!("{value:.1}°")
            };
            let color = if shown {
                colors.axes[axis]
            } else {
                colors.text_weak
            };
            let button = Button::selectable(shown, RichText::new(name).color(color).strong())
                .right_text(RichText::new(text).color(colors.text).monospace())
                .min_size(egui::vec2(ui.available_width(), 18.0));
            let response = ui.add(button);
            response.widget_info(|| {
                WidgetInfo::selected(egui::Role::CheckBox, true, shown, format!("Curve {name}"))
            });
            if response
                .on_hover_text("Shows or hides this curve")
                .clicked()
            {
                graph.hidden[axis] = shown;
            }
        }
    });
}
