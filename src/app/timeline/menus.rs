//! Menus for playback settings, clips and keys.

use crate::app::actions::edit_of;
use crate::session::Gesture;
use egui::DragValue;
use egui::WidgetInfo;
use egui::{Button, Rect, Response, RichText, Ui, UiBuilder};

use super::rows::RowLayout;
use super::{TimelineState, TimelineView, feet, graph, ruler};
use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::app::widgets::row;
use crate::rig::{Ease, KeyRef, Travel};
use crate::session::{Command, CurveEdit, KeysCommand};

/// Minimum length of the played range.
const LEAST_RANGE_SECS: f64 = 0.01;

/// Speed, range, blending, and the origin of the clip.
pub(super) fn settings_button(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    let button =
        icons::button(ui, Icon::Gear, "How clips are played").on_hover_text("How clips are played");
    egui::Popup::menu(&button)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.set_min_width(270.0);
            settings_ui(ui, view, actions);
        });
}

/// Playback settings.
fn settings_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    row(
        ui,
        "Speed",
        "How fast the clip is played; below 0 backwards",
        |ui, label| {
            if let Some((speed, gesture)) = drag(ui, label, "Speed", view.speed, -4.0..=4.0, "×") {
                actions.send(Command::SetSpeed(speed), gesture);
            }
        },
    );
    let duration = view.duration_secs();
    let [from, to] = ruler::range(view);
    if view.clip.is_some() {
        row(
            ui,
            "Range",
            "Which part of the clip is played",
            |ui, label| {
                let limits = 0.0..=(to - LEAST_RANGE_SECS).max(0.0);
                if let Some((from, gesture)) = drag(ui, label, "Range start", from, limits, " s") {
                    actions.send(Command::SetRange(Some([from, to])), gesture);
                }
                let limits = (from + LEAST_RANGE_SECS).min(duration)..=duration;
                if let Some((to, gesture)) = drag(ui, label, "Range end", to, limits, " s") {
                    actions.send(Command::SetRange(Some([from, to])), gesture);
                }
                if ui
                    .add_enabled(view.range_secs.is_some(), Button::new("All"))
                    .on_hover_text("Play the whole clip")
                    .clicked()
                {
                    actions.once(Command::SetRange(None));
                }
            },
        );
    }
    row(
        ui,
        "Blend",
        "How long one motion takes to go over into another: at a loop's seam, into a clip and out of it",
        |ui, label| {
            if let Some((secs, gesture)) =
                drag(ui, label, "Blend", view.blend_secs, 0.0..=2.0, " s")
            {
                actions.send(Command::SetBlend(secs), gesture);
            }
        },
    );
    if let Some((clip, take)) = view.take() {
        row(ui, "Length", "How long the clip is played", |ui, label| {
            let least = 1.0 / take.fps();
            if let Some((duration_secs, gesture)) = drag(
                ui,
                label,
                "Length",
                take.duration_secs(),
                least..=600.0,
                " s",
            ) {
                actions.send(
                    Command::Keys(KeysCommand::SetDuration {
                        clip,
                        duration_secs,
                    }),
                    gesture,
                );
            }
        });
    }
}

/// Actions on the whole clip.
pub(super) fn clip_button(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let Some(clip) = view.clip else { return };
    let button =
        icons::button(ui, Icon::More, "More about the clip").on_hover_text("More about the clip");
    egui::Popup::menu(&button).show(|ui| {
        let mut raise = |command| actions.once(Command::Keys(command));
        if ui
            .button("Make an editable copy")
            .on_hover_text("A clip with keys of its own; motion capture gets few")
            .clicked()
        {
            raise(KeysCommand::Duplicate { clip });
        }
        let mine = view.take();
        if ui
            .add_enabled(mine.is_some(), Button::new("Rename"))
            .clicked()
        {
            state.renaming = mine.map(|(_, take)| take.name().to_owned());
        }
        if ui
            .add_enabled(view.retargeted, Button::new("Joint mapping…"))
            .on_hover_text("Which joints of the motion drive the character's joints")
            .on_disabled_hover_text("This clip moves the character's own joints")
            .clicked()
        {
            actions.push(Action::ToggleMapping);
        }
        ui.separator();
        ui.add_enabled_ui(mine.is_some(), |ui| loop_items(ui, clip, actions));
        ui.separator();
        if ui
            .add_enabled(mine.is_some(), Button::new("Delete clip"))
            .clicked()
        {
            actions.once(Command::Keys(KeysCommand::Delete { clip }));
        }
    });
}

/// Actions on the keys under the pointer, or on the selected ones.
pub(super) fn key_menu(
    response: &Response,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    if response.secondary_clicked()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        if state.graph.shown {
            graph::choose_for_menu(pointer, layout.rect, view, state);
        } else if let Some(mark) = layout.mark_at(pointer, view, state) {
            let keys = layout.keys_of(&mark, view);
            if !keys.iter().all(|key| state.selected.contains(key)) {
                state.selected = keys;
            }
        }
        state.menu_for = state.selected.clone();
    }
    if view.take().is_none() {
        return;
    }
    response.context_menu(|ui| {
        let Some((clip, _)) = view.take() else { return };
        let mut raise = |command| actions.once(Command::Keys(command));
        let keys = &state.menu_for;
        ui.add_enabled_ui(!keys.is_empty(), |ui| {
            for ease in [Ease::Smooth, Ease::Linear, Ease::Step] {
                let tip = match ease {
                    Ease::Step => "It stays until the next key",
                    Ease::Linear => "Straight on to the next key",
                    _ => "In a curve that never goes beyond the keys",
                };
                if ui.button(ease.label()).on_hover_text(tip).clicked() {
                    raise(KeysCommand::SetInterpolation {
                        clip,
                        keys: keys.clone(),
                        ease,
                    });
                }
            }
            let has_joints = keys.iter().any(|key| key.joint().is_some());
            if ui
                .add_enabled(has_joints, Button::new("Level"))
                .on_hover_text("The curve is level at the key: motion eases into it and out of it")
                .clicked()
            {
                raise(KeysCommand::Curve {
                    clip,
                    edit: CurveEdit::Flatten(keys.clone()),
                    from: None,
                });
            }
            ui.separator();
            if ui
                .add_enabled(has_joints, Button::new("Smooth out"))
                .on_hover_text("Takes jitter off three or more keys in a row; again for more")
                .clicked()
            {
                raise(smoothed(clip, keys));
            }
            if ui.button("Delete keys").on_hover_text("Delete").clicked() {
                raise(KeysCommand::DeleteKeys {
                    clip,
                    keys: keys.clone(),
                });
            }
        });
        ui.separator();
        feet::menu_items(ui, view, actions);
        ui.separator();
        let mut raise = |command| actions.once(Command::Keys(command));
        if ui
            .button("Set key here")
            .on_hover_text("Key the pose shown where the playhead is (K)")
            .clicked()
        {
            raise(KeysCommand::SetKeys {
                clip,
                joints: view.selected.to_vec(),
                time_secs: view.snapped(view.time_secs),
            });
        }
    });
}

/// Smoothing of keys.
pub(super) fn smoothed(clip: usize, keys: &[KeyRef]) -> KeysCommand {
    KeysCommand::Curve {
        clip,
        edit: CurveEdit::Smooth(keys.to_vec()),
        from: None,
    }
}

/// Loops without a seam.
fn loop_items(ui: &mut Ui, clip: usize, actions: &mut Actions) {
    let close = |travel| CurveEdit::CloseLoop(travel);
    for (name, tip, edit) in [
        (
            "Close the loop, walking on",
            "The end meets the start in pose and speed; the way over the ground is kept",
            close(Travel::Kept),
        ),
        (
            "Close the loop, in place",
            "The end meets the start in pose and speed; the way over the ground is taken out",
            close(Travel::InPlace),
        ),
        (
            "Repeat twice",
            "The clip twice, the second time from where the first ends",
            CurveEdit::Repeat { times: 2 },
        ),
        (
            "Repeat four times",
            "The clip four times, each from where the one before ends",
            CurveEdit::Repeat { times: 4 },
        ),
    ] {
        if ui.button(name).on_hover_text(tip).clicked() {
            actions.once(Command::Keys(KeysCommand::Curve {
                clip,
                edit,
                from: None,
            }));
        }
    }
}

/// Shown instead of rows if there are no editable keys.
pub(super) fn no_keys_ui(ui: &mut Ui, rect: Rect, view: &TimelineView<'_>, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    ui.scope_builder(UiBuilder::new().max_rect(rect.shrink(10.0)), |ui| {
        ui.horizontal_wrapped(|ui| match view.clip {
            Some(clip) => {
                ui.label(RichText::new("This clip belongs to the file.").color(colors.text_weak));
                if ui.button("Make an editable copy").clicked() {
                    actions.once(Command::Keys(KeysCommand::Duplicate { clip }));
                }
            }
            None if view.skeleton.is_none() => {}
            None => {
                ui.label(
                    RichText::new(
                        "Turn joints, then press K: the pose becomes the first key of a new clip.",
                    )
                    .color(colors.text_weak),
                );
            }
        });
    });
}

/// A value that is dragged, with a name for screen readers.
fn drag(
    ui: &mut Ui,
    label: egui::Id,
    name: &str,
    value: f64,
    limits: std::ops::RangeInclusive<f64>,
    suffix: &str,
) -> Option<(f64, Gesture)> {
    let mut edited = value;
    let drag = DragValue::new(&mut edited)
        .range(limits)
        .speed(0.01)
        .fixed_decimals(2)
        .suffix(suffix)
        .clamp_existing_to_range(false);
    let response = ui.add(drag).labelled_by(label);
    let enabled = response.enabled();
    response.widget_info(|| {
        let mut info = WidgetInfo::drag_value(enabled, edited);
        info.label = Some(name.to_owned());
        info
    });
    edit_of(&response).map(|gesture| (edited, gesture))
}
