//! The undo history as a list; a click restores a step.

use egui::{RichText, ScrollArea, Ui};

use crate::app::actions::Actions;
use crate::app::theme;
use crate::session::{HistoryView, ProjectCommand};

/// Height of the list, points.
const HEIGHT: f32 = 190.0;
/// Number of passes in which the list scrolls to the current step.
const PASSES: u8 = 5;

/// Draws the list. The current step is highlighted; those below it were undone.
pub fn history_ui(ui: &mut Ui, view: &HistoryView, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    if view.labels.is_empty() {
        ui.label(RichText::new("Nothing has been changed yet.").color(colors.text_weak));
        return;
    }
    let text_height =
        ui.text_style_height(&egui::TextStyle::Button) + 2.0 * ui.spacing().button_padding.y;
    let row = ui.spacing().interact_size.y.max(text_height);
    let pitch = row + ui.spacing().item_spacing.y;
    let place = (view.position, pitch.to_bits());
    let kept = ui.memory(|memory| memory.data.get_temp::<((usize, u32), u8)>(shown_id()));
    // Takes several passes: the scroll range is known only after the list was drawn.
    let passes = kept
        .filter(|(before, _)| *before == place)
        .map_or(PASSES, |(_, passes)| passes.saturating_sub(1));
    let moved = passes > 0;
    ui.memory_mut(|memory| memory.data.insert_temp(shown_id(), (place, passes)));
    if passes + 2 > PASSES {
        ui.ctx().request_repaint();
    }
    let mut list = ScrollArea::vertical()
        .max_height(HEIGHT)
        .auto_shrink([false, true]);
    if moved {
        // Only when the current step has changed, so that manual scrolling is not disturbed.
        list = list.vertical_scroll_offset((view.position as f32 * pitch - HEIGHT / 2.0).max(0.0));
    }
    list.show(ui, |ui| {
        for position in 0..=view.labels.len() {
            let name = match position.checked_sub(1) {
                None if view.forgotten > 0 => "The oldest step that is kept",
                None => "As it was opened",
                Some(step) => view.labels[step],
            };
            let is_here = position == view.position;
            let color = if is_here {
                colors.text_strong
            } else if position > view.position {
                colors.text_weak
            } else {
                colors.text
            };
            // The number distinguishes equal steps, also for screen readers.
            let text = RichText::new(format!("{position}  {name}")).color(color);
            let button = egui::Button::selectable(is_here, text)
                .min_size(egui::vec2(ui.available_width(), row));
            let response = ui.add(button);
            if response.clicked() && !is_here {
                actions.once(ProjectCommand::JumpTo(position).into());
            }
        }
    });
}

fn shown_id() -> egui::Id {
    egui::Id::unique("history shown")
}
