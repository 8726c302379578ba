//! The table: one row per joint of the character.

use egui::{
    Align, Button, ComboBox, Layout, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense,
    TextEdit, Ui, UiBuilder, vec2,
};

use super::{ShownMapping, UNMAPPED};
use crate::app::actions::Actions;
use crate::app::icons::{self, Icon};
use crate::app::panels::long_list::rows_ui;
use crate::app::theme;
use crate::app::widgets::name_text_field;
use crate::character::MatchedBy;
use crate::rig::Skeleton;
use crate::session::MotionCommand;

/// Height of a row, points.
const ROW: f32 = 26.0;
/// Width of the names, points.
const NAME: f32 = 200.0;
/// Width of the lists, points.
const DRIVER: f32 = 170.0;
/// Entry of a list for no joint.
const NOTHING: &str = "Nothing";

/// State of the table.
#[derive(Debug, Default)]
pub(super) struct TableState {
    /// The joint under the pointer.
    pub(super) hovered: Option<usize>,
    search: String,
    only_undriven: bool,
    /// Text by which the joints of the open list are filtered, and the row it belongs to.
    filter: (Option<usize>, String),
}

/// Draws search and rows.
pub(super) fn table_ui(
    ui: &mut Ui,
    shown: &ShownMapping,
    skeleton: &Skeleton,
    hovered: Option<usize>,
    state: &mut TableState,
    actions: &mut Actions,
) {
    ui.horizontal(|ui| {
        let search = TextEdit::singleline(&mut state.search)
            .hint_text("Search joints")
            .desired_width(NAME + DRIVER - 8.0);
        name_text_field(&ui.add(search), "Search mapped joints");
        ui.checkbox(&mut state.only_undriven, "Not driven")
            .on_hover_text("Lists only joints that nothing drives");
    });
    ui.add_space(2.0);
    let rows = listed(shown, skeleton, state);
    if rows.is_empty() {
        let weak = theme::colors(ui.ctx()).text_weak;
        ui.label(RichText::new("No joint fits").color(weak));
        return;
    }
    let height = ui.ctx().content_rect().height() * 0.5;
    ScrollArea::vertical()
        .id_salt("mapped joints")
        .max_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            rows_ui(ui, rows.len(), ROW, None, |ui, row, rect| {
                let joint = rows[row];
                let is_marked = hovered == Some(joint);
                row_ui(
                    ui,
                    rect,
                    (shown, skeleton, joint, is_marked),
                    state,
                    actions,
                );
            });
        });
}

/// The joints with what is searched for, in the order of the skeleton.
fn listed(shown: &ShownMapping, skeleton: &Skeleton, state: &TableState) -> Vec<usize> {
    let needle = state.search.trim().to_lowercase();
    let fits = |joint: &usize| {
        let name = &skeleton.joints()[*joint].name;
        let drivers = || {
            let driver = shown.retarget.mapping.driver_of(name);
            driver.is_some_and(|driver| {
                let mut names = driver.joints.iter();
                names.any(|name| name.to_lowercase().contains(&needle))
            })
        };
        (!state.only_undriven || shown.own[*joint].is_none())
            && (needle.is_empty() || name.to_lowercase().contains(&needle) || drivers())
    };
    (0..skeleton.len()).filter(fits).collect()
}

fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    (shown, skeleton, joint, is_marked): (&ShownMapping, &Skeleton, usize, bool),
    state: &mut TableState,
    actions: &mut Actions,
) {
    let colors = theme::colors(ui.ctx());
    if ui.rect_contains_pointer(rect) {
        state.hovered = Some(joint);
    }
    if is_marked || state.hovered == Some(joint) {
        ui.painter().rect_filled(rect, 3.0, colors.line);
    }
    let retarget = &shown.retarget;
    let name = &skeleton.joints()[joint].name;
    let matched = retarget.matched(skeleton, joint);
    let drivers: Vec<&str> = matched
        .as_ref()
        .and_then(|(_, driver)| driver.as_ref())
        .map_or_else(Vec::new, |driver| driver.joints.clone());
    let builder = UiBuilder::new()
        .max_rect(rect)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        let (swatch, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        let color = shown.own[joint].unwrap_or(UNMAPPED);
        ui.painter().rect_filled(swatch, 2.0, color);
        let is_driven = !drivers.is_empty();
        let text = if is_driven {
            colors.text
        } else {
            colors.text_weak
        };
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(vec2(NAME - 24.0, ROW), layout, |ui| {
            ui.set_min_width(NAME - 24.0);
            ui.add(egui::Label::new(RichText::new(name).color(text)).truncate());
        });
        driver_ui(ui, (shown, joint, name), &drivers, state, actions);
        let by = matched.as_ref().map(|(by, _)| *by);
        let (mark, sentence) = explained(shown, joint, by, &drivers);
        let color = match by {
            Some(MatchedBy::Hand) => colors.accent,
            _ => colors.text_weak,
        };
        ui.label(RichText::new(mark).small().color(color))
            .on_hover_text(sentence);
        if by == Some(MatchedBy::Hand) {
            let tip = format!("Match {name} automatically");
            if icons::plain_button(ui, Icon::Reset, &tip)
                .on_hover_text(&tip)
                .clicked()
            {
                let (clip, joint) = (retarget.clip, Some(joint));
                actions.once(MotionCommand::Reset { clip, joint }.into());
            }
        }
    });
}

/// A word on how a joint was matched, and a sentence.
fn explained(
    shown: &ShownMapping,
    joint: usize,
    by: Option<MatchedBy>,
    drivers: &[&str],
) -> (&'static str, String) {
    let part = shown.parts[joint].as_deref();
    let rests = "It keeps its rest pose and moves with the joint above it.";
    match (by, part) {
        (Some(MatchedBy::Hand), _) if drivers.is_empty() => (
            "by hand",
            format!("Nothing drives this joint, as you chose. {rests}"),
        ),
        (Some(MatchedBy::Hand), _) => ("by hand", "You chose this joint.".to_owned()),
        (Some(MatchedBy::File), _) => (
            "mapping file",
            "The mapping was read from a file.".to_owned(),
        ),
        (Some(MatchedBy::Name), _) => ("same name", "Both joints have the same name.".to_owned()),
        (Some(MatchedBy::Role), part) => {
            let part = part.map_or(String::new(), |part| format!(": the {part}"));
            let between = match drivers {
                [a, b] => format!(
                    " The chains have different numbers of joints; this one turns between {a} and {b}."
                ),
                _ => String::new(),
            };
            (
                "automatic",
                format!("Both are the same part of the body{part}.{between}"),
            )
        }
        (None, Some(part)) => (
            "not driven",
            format!("The motion has no joint for this one, the {part}. {rests}"),
        ),
        (None, None) => (
            "not driven",
            format!(
                "No part of the body was recognised in this joint, and the motion has none of its name. {rests}"
            ),
        ),
    }
}

/// The list of the motion's joints, with a filter.
fn driver_ui(
    ui: &mut Ui,
    (shown, joint, name): (&ShownMapping, usize, &str),
    drivers: &[&str],
    state: &mut TableState,
    actions: &mut Actions,
) {
    let retarget = &shown.retarget;
    let text = match drivers {
        [] => NOTHING.to_owned(),
        names => names.join(" – "),
    };
    let choose = |source: Option<&str>| {
        let source = source.map(str::to_owned);
        let clip = retarget.clip;
        MotionCommand::Drive {
            clip,
            joint,
            source,
        }
    };
    let combo = ComboBox::from_id_salt(("driver", joint))
        .selected_text(text.clone())
        .width(DRIVER)
        .truncate()
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show_ui(ui, |ui| {
            let filter = &mut state.filter;
            let is_new = filter.0 != Some(joint);
            if is_new {
                *filter = (Some(joint), String::new());
            }
            let edit = TextEdit::singleline(&mut filter.1).hint_text("Filter");
            let edit = ui.add(edit);
            name_text_field(&edit, "Filter joints of the motion");
            if is_new {
                edit.request_focus();
            }
            let needle = filter.1.trim().to_lowercase();
            let mut chosen = None;
            if needle.is_empty() && ui.selectable_label(drivers.is_empty(), NOTHING).clicked() {
                chosen = Some(choose(None));
            }
            for theirs in retarget.motion.skeleton.joints() {
                let theirs = theirs.name.as_str();
                if !theirs.to_lowercase().contains(&needle) {
                    continue;
                }
                let entry = Button::selectable(drivers == [theirs], theirs);
                if ui.add(entry).clicked() {
                    chosen = Some(choose(Some(theirs)));
                }
            }
            if chosen.is_some() {
                ui.close();
            }
            chosen
        });
    let label = format!("Driver of {name}");
    let response = combo.response;
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &label);
        info.current_text_value = Some(text.clone());
        info
    });
    match combo.inner {
        Some(Some(command)) => {
            state.filter.0 = None;
            actions.once(command.into());
        }
        None if state.filter.0 == Some(joint) => state.filter.0 = None,
        _ => {}
    }
}
