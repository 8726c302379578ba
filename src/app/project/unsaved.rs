//! The question before unsaved work is lost.

use egui::{Context, Label, RichText};

use super::modal::{buttons, question};
use super::push;
use crate::app::actions::Actions;
use crate::app::actions::ProjectAction;
use crate::app::actions::UnsavedAnswer;
use crate::app::theme;

/// Asks whether to save before continuing.
pub fn unsaved_ui(ctx: &Context, title: &str, quits: bool, actions: &mut Actions) {
    let mut answer = None;
    let escaped = question(
        ctx,
        "unsaved work",
        &format!("Save the changes to {title}?"),
        |ui| {
            let before = if quits {
                "leave"
            } else {
                "open something else"
            };
            let text = format!("You are about to {before}. What is not saved will be lost.");
            ui.add(Label::new(RichText::new(text).color(theme::colors(ctx).text)).wrap());
            let choices = [
                ("Save", UnsavedAnswer::Save),
                ("Cancel", UnsavedAnswer::Cancel),
                ("Don't save", UnsavedAnswer::DontSave),
            ];
            answer = buttons(ui, &choices);
        },
    );
    if let Some(answer) = answer.or(escaped.then_some(UnsavedAnswer::Cancel)) {
        push(actions, ProjectAction::AnswerUnsaved(answer));
    }
}
