//! Further copies of the character: onion skins and crowds.

use egui::{Checkbox, DragValue, RichText, Ui};

use super::{CROWD, LookView};
use crate::app::actions::Actions;
use crate::app::look::{Look, OnionSkins};
use crate::app::theme;
use crate::app::widgets::row;
use crate::session::{Command, MAX_CROWD, ViewCommand};

pub(super) fn ghosts_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    if !view.has_clip && !look.ghosts.any() {
        return;
    }
    row(
        ui,
        "Ghosts",
        "Faint skins before and after this moment of the clip",
        |ui, label| {
            for (count, hover) in [
                (&mut look.ghosts.before, "How many before"),
                (&mut look.ghosts.after, "How many after"),
            ] {
                ui.add(
                    DragValue::new(count)
                        .range(0..=OnionSkins::MOST)
                        .speed(0.03),
                )
                .labelled_by(label)
                .on_hover_text(hover);
            }
            ui.label(RichText::new("every").color(theme::colors(ui.ctx()).text_weak));
            let apart = DragValue::new(&mut look.ghosts.apart_secs)
                .range(0.02..=5.0)
                .speed(0.005)
                .suffix(" s")
                .max_decimals(2);
            ui.add(apart)
                .labelled_by(label)
                .on_hover_text("How far apart they are");
        },
    );
}

/// A switch for a crowd, and its size.
pub(super) fn crowd_ui(ui: &mut Ui, view: &LookView, actions: &mut Actions) {
    let sentence = "Many of the character on a grid, each at another moment of the clip, or all in the pose, moved by the graphics device \
                    without collisions. Colours are not for them; overlays and the pointer are for the one in the middle";
    let why_not = "Compared methods are shown on one character: compare with nothing to show many";
    row(ui, "Crowd", sentence, |ui, label| {
        ui.add_enabled_ui(!view.compares, |ui| {
            let mut count = view.crowd;
            let mut on = count > 1;
            if ui
                .add(Checkbox::without_text(&mut on))
                .labelled_by(label)
                .on_hover_text(sentence)
                .on_disabled_hover_text(why_not)
                .changed()
            {
                count = if on { CROWD } else { 1 };
            }
            let number = DragValue::new(&mut count)
                .range(1..=MAX_CROWD)
                .speed(0.1)
                .update_while_editing(false);
            ui.add(number)
                .labelled_by(label)
                .on_hover_text("How many; 1 is the character alone")
                .on_disabled_hover_text(why_not);
            if count != view.crowd {
                actions.once(Command::View(ViewCommand::SetCrowd {
                    view: view.view,
                    count,
                }));
            }
        });
    });
}
