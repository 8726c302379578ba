//! The question about changed or missing source files of a project.

use egui::{Context, Label, RichText, Ui};

use super::modal::{plain_buttons, question};
use super::push;
use crate::app::actions::Actions;
use crate::app::actions::ProjectAction;
use crate::app::theme;
use crate::session::{Answer, Found, MissingSource, MissingSources, ProjectCommand};

/// For each file asks for its location, or whether to use it as it is.
pub fn sources_ui(ctx: &Context, sources: &MissingSources, actions: &mut Actions) {
    let name = sources
        .project
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut cancelled = false;
    let escaped = question(
        ctx,
        "missing sources",
        &format!("{name} needs files that have changed"),
        |ui| {
            for source in &sources.list {
                source_ui(ui, source, actions);
            }
            cancelled = plain_buttons(ui, &[("Don't open", ())]).is_some();
        },
    );
    if cancelled || escaped {
        actions.once(ProjectCommand::CancelOpening.into());
    }
}

fn source_ui(ui: &mut Ui, source: &MissingSource, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let name = source
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let what = match source.found {
        Found::Nothing => "is missing.",
        Found::Changed => "has changed since the project was saved.",
    };
    ui.add_space(6.0);
    ui.add(Label::new(RichText::new(format!("{name} {what}")).color(colors.text_strong)).wrap());
    let path = source.path.display().to_string();
    ui.add(Label::new(RichText::new(&path).color(colors.text_weak)).truncate())
        .on_hover_text(&path);
    ui.horizontal(|ui| {
        if ui
            .button("Locate…")
            .on_hover_text(format!("Choose the file that {name} has become"))
            .clicked()
        {
            push(actions, ProjectAction::Locate(source.index));
        }
        if source.found == Found::Changed
            && ui
                .button("Use as it is")
                .on_hover_text("Open the project with the file as it is now")
                .clicked()
        {
            actions.once(
                ProjectCommand::Answer {
                    index: source.index,
                    answer: Answer::AsItIs,
                }
                .into(),
            );
        }
    });
}
