//! The transport line: playback buttons, clip, time, switches.

use egui::{Align, Button, ComboBox, Layout, Response, RichText, Slider, Ui, WidgetInfo, vec2};

use super::{TimelineState, TimelineView, menus, strip};
use crate::app::actions::{Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::app::shortcuts::Bindings;
use crate::app::theme;
use crate::session::{Command, Gesture, KeysCommand, Scrubbing};

/// Length of a new clip, seconds.
pub(super) const NEW_SECS: f64 = 2.0;

/// A narrower line is abbreviated.
const NARROW: f32 = 760.0;
/// Width of the scrub switch, and minimum width of a slider, points.
const SWITCH_WIDTH: f32 = 130.0;
const LEAST_SLIDER: f32 = 60.0;

/// Draws the transport line.
pub fn transport_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let narrow = ui.available_width() < NARROW;
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_enabled_ui(
            !view.clips.is_empty() && view.recording_secs.is_none(),
            |ui| play_ui(ui, view, actions),
        );
        ui.add_space(6.0);
        ui.add_enabled_ui(view.skeleton.is_some(), |ui| record_ui(ui, view, actions));
        ui.add_space(6.0);
        ui.add_enabled_ui(
            view.skeleton.is_some() && view.recording_secs.is_none(),
            |ui| clip_ui(ui, view, state, narrow, actions),
        );
        if !narrow || view.recording_secs.is_some() {
            clock_ui(ui, view, state);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (icon, name) = if state.open {
                (Icon::FoldDown, "Hide keys")
            } else {
                (Icon::FoldUp, "Show keys")
            };
            if icons::button(ui, icon, name)
                .on_hover_text("Ruler and keys under this line")
                .clicked()
            {
                state.open = !state.open;
            }
            menus::settings_button(ui, view, actions);
            if state.open {
                curves_ui(ui, state);
            }
            if view.simulates && ui.available_width() > SWITCH_WIDTH {
                scrubbing_ui(ui, view, actions);
                recorded_ui(ui, view);
            }
            if !state.open && ui.available_width() > LEAST_SLIDER {
                slider_ui(ui, view, actions);
            }
        });
    });
}

fn play_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    if icons::button(ui, Icon::Start, "To the start")
        .on_hover_text("To the start of the range (Ctrl+Left)")
        .clicked()
    {
        scrub(view, super::ruler::range(view)[0], actions);
    }
    if icons::button(ui, Icon::StepBack, "Back one frame")
        .on_hover_text("One frame back (Left)")
        .clicked()
    {
        step(view, -1.0, actions);
    }
    let (icon, name) = if view.playing {
        (Icon::Pause, "Pause")
    } else {
        (Icon::Play, "Play")
    };
    if icons::button(ui, icon, name)
        .on_hover_text("Play or pause (Space)")
        .clicked()
    {
        actions.once(Command::TogglePlaying);
    }
    if icons::button(ui, Icon::StepForward, "Forward one frame")
        .on_hover_text("One frame on (Right)")
        .clicked()
    {
        step(view, 1.0, actions);
    }
    if icons::toggle(ui, Icon::Loop, "Loop", view.looping)
        .on_hover_text("Start over at the end")
        .clicked()
    {
        actions.once(Command::SetLooping(!view.looping));
    }
}

fn record_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    let recording = view.recording_secs.is_some();
    let name = if recording {
        "Stop recording"
    } else {
        "Record a take"
    };
    let tip = if recording {
        "Create a clip from the recording"
    } else {
        "Record manual posing as a new clip"
    };
    if icons::toggle(ui, Icon::Record, name, recording)
        .on_hover_text(tip)
        .clicked()
    {
        let command = if recording {
            KeysCommand::StopRecording
        } else {
            KeysCommand::StartRecording
        };
        actions.once(Command::Keys(command));
    }
    let tip = "Turning a joint sets a key in the clip shown";
    if icons::toggle(ui, Icon::AutoKey, "Auto-key", view.auto_key)
        .on_hover_text(tip)
        .clicked()
    {
        actions.once(Command::Keys(KeysCommand::SetAutoKey(!view.auto_key)));
    }
    let tip = "Key the pose shown: the selected joints, or all (K)";
    if icons::button(ui, Icon::Key, "Set key")
        .on_hover_text(tip)
        .clicked()
    {
        set_key(view, actions);
    }
}

/// Keys the current pose at the clock's time; creates a clip if there is no editable one.
pub(super) fn set_key(view: &TimelineView<'_>, actions: &mut Actions) {
    let command = match view.take() {
        Some((clip, _)) => KeysCommand::SetKeys {
            clip,
            joints: view.selected.to_vec(),
            time_secs: view.snapped(view.time_secs),
        },
        None if view.by_hand => KeysCommand::NewClip {
            duration_secs: NEW_SECS,
        },
        // The clip is from a file: the session reports what to do.
        None => KeysCommand::SetKeys {
            clip: view.clip.unwrap_or(0),
            joints: Vec::new(),
            time_secs: view.time_secs,
        },
    };
    actions.once(Command::Keys(command));
}

fn clip_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    narrow: bool,
    actions: &mut Actions,
) {
    if let (Some(name), Some((clip, _))) = (&mut state.renaming, view.take()) {
        let field = ui.add(egui::TextEdit::singleline(name).desired_width(140.0));
        field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the clip"));
        let (accepted, given_up) = ui.input(|input| {
            (
                input.key_pressed(egui::Key::Enter),
                input.key_pressed(egui::Key::Escape),
            )
        });
        if field.lost_focus() || accepted || given_up {
            if !given_up {
                actions.once(Command::Keys(KeysCommand::Rename {
                    clip,
                    name: name.clone(),
                }));
            }
            state.renaming = None;
        } else {
            field.request_focus();
        }
        return;
    }
    let shown = view.clip.and_then(|clip| view.clips.get(clip));
    let text = match (shown, view.by_hand) {
        (Some(clip), false) => clip.name.clone(),
        (Some(clip), true) => format!("Pose by hand ({})", clip.name),
        (None, _) => "Pose by hand".to_owned(),
    };
    let combo = ComboBox::from_id_salt("clip")
        .width(if narrow { 84.0 } else { 150.0 })
        .truncate()
        .selected_text(text)
        .height(420.0);
    let response = combo
        .show_ui(ui, |ui| clip_list(ui, view, actions))
        .response;
    name(&response, "Clip");
    menus::clip_button(ui, view, state, actions);
}

fn clip_list(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let mut entry =
        |ui: &mut Ui, name: &str, detail: String, selected: bool, clip: Option<usize>| {
            let button = Button::selectable(selected, name)
                .right_text(RichText::new(detail).color(colors.text_weak));
            let response = ui.add(button.min_size(vec2(230.0, 20.0)));
            response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, selected, name));
            if response.clicked() {
                ui.close();
                if !selected {
                    actions.once(Command::SelectClip(clip));
                }
            }
        };
    entry(ui, "Pose by hand", "0".to_owned(), view.by_hand, None);
    for (index, clip) in view.clips.iter().enumerate() {
        let key = if index < 9 {
            format!("   {}", index + 1)
        } else {
            String::new()
        };
        let detail = format!("{:.1} s{key}", clip.duration_secs);
        entry(
            ui,
            &clip.name,
            detail,
            !view.by_hand && view.clip == Some(index),
            Some(index),
        );
    }
    ui.separator();
    if ui
        .button("New clip")
        .on_hover_text("A clip with the pose shown as its first key")
        .clicked()
    {
        ui.close();
        actions.once(Command::Keys(KeysCommand::NewClip {
            duration_secs: NEW_SECS,
        }));
    }
}

/// The clock's time; a click switches between frames and seconds.
fn clock_ui(ui: &mut Ui, view: &TimelineView<'_>, state: &mut TimelineState) {
    let colors = theme::colors(ui.ctx());
    let text = match (view.recording_secs, view.clip) {
        (Some(secs), _) => RichText::new(format!("recording {secs:.1} s"))
            .color(colors.error)
            .monospace(),
        (None, None) => {
            let bindings = Bindings::get(ui.ctx());
            let text = if view.clips.is_empty() {
                let keys = bindings.hint("key", "keys the pose");
                keys.map_or_else(
                    || "No clips yet".to_owned(),
                    |keys| format!("No clips yet – {keys}"),
                )
            } else {
                bindings.hint("play", "plays").unwrap_or_default()
            };
            RichText::new(text).color(colors.text_weak)
        }
        (None, Some(_)) if state.in_seconds => RichText::new(format!(
            "{:.2} / {:.2} s",
            view.time_secs,
            view.duration_secs()
        ))
        .monospace(),
        (None, Some(_)) => RichText::new(format!(
            "{:.0} / {:.0}",
            view.time_secs * view.fps(),
            view.duration_secs() * view.fps()
        ))
        .monospace(),
    };
    let response = ui.add(Button::new(text).frame(false));
    if response
        .on_hover_text("Frame of the clip and its last one; click for seconds")
        .clicked()
    {
        state.in_seconds = !state.in_seconds;
    }
}

fn scrubbing_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    for (scrubbing, name, tip) in [
        (
            Scrubbing::Dynamic,
            "Dynamic",
            "Scrubbing shows the motion of the flesh, simulated from the start of the range as a bake does",
        ),
        (
            Scrubbing::Settled,
            "Settled",
            "Scrubbing shows what was simulated while the clip played, where it is recorded; elsewhere each pose with the flesh at rest in it",
        ),
    ] {
        let on = view.scrubbing == scrubbing;
        let response = ui.add(Button::selectable(on, name));
        response.widget_info(|| WidgetInfo::selected(egui::Role::RadioButton, true, on, name));
        if response.on_hover_text(tip).clicked() && !on {
            actions.once(Command::Keys(KeysCommand::SetScrubbing(scrubbing)));
        }
    }
    if let Some(frames) = view.simulated.filter(|frames| frames.of_all < 1.0) {
        let percent = (100.0 * frames.of_all).floor();
        ui.label(
            RichText::new(format!("{percent} %"))
                .small()
                .color(theme::colors(ui.ctx()).text_weak),
        )
        .on_hover_text("How much of the range is simulated, of all that the views show");
    }
}

/// Curves instead of rows.
fn curves_ui(ui: &mut Ui, state: &mut TimelineState) {
    let on = state.graph.shown;
    let response = ui.add(Button::selectable(on, "Curves"));
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, on, "Curves"));
    let tip = "The selected joints' angles and offsets as curves, instead of rows of keys";
    if response.on_hover_text(tip).clicked() {
        state.graph.shown = !on;
    }
}

/// Memory of the recorded frames.
fn recorded_ui(ui: &mut Ui, view: &TimelineView<'_>) {
    if view.scrubbing != Scrubbing::Settled {
        return;
    }
    if let Some(tip) = strip::tip(view.recorded) {
        let text = format!("{:.0} MB", strip::megabytes(view.recorded));
        let colors = theme::colors(ui.ctx());
        ui.label(RichText::new(text).small().color(colors.text_weak))
            .on_hover_text(tip);
    }
}

/// The ruler of the folded timeline.
fn slider_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    if view.clip.is_none() {
        return;
    }
    ui.spacing_mut().slider_width = (ui.available_width() - 4.0).max(40.0);
    let mut time = view.time_secs;
    let duration = view.duration_secs().max(1e-3);
    let slider = Slider::new(&mut time, 0.0..=duration)
        .show_value(false)
        .clamping(egui::SliderClamping::Edits);
    let response = ui.add_enabled(view.recording_secs.is_none(), slider);
    response.widget_info(|| {
        let mut info = WidgetInfo::slider(true, time, "Time");
        info.label = Some("Time".to_owned());
        info
    });
    if let Some(gesture) = edit_of(&response) {
        enter_clip(view, actions);
        actions.send(
            Command::Scrub {
                time_secs: view.snapped(time),
            },
            gesture,
        );
    }
}

/// Switches from the manual pose to its clip.
pub(super) fn enter_clip(view: &TimelineView<'_>, actions: &mut Actions) {
    if view.by_hand && view.clip.is_some() {
        actions.once(Command::SelectClip(view.clip));
    }
}

pub(super) fn scrub(view: &TimelineView<'_>, time_secs: f64, actions: &mut Actions) {
    if view.clip.is_some() {
        enter_clip(view, actions);
        actions.send(
            Command::Scrub {
                time_secs: view.snapped(time_secs),
            },
            Gesture::Once,
        );
    }
}

/// Steps by frames; wraps around if it loops.
pub(super) fn step(view: &TimelineView<'_>, frames: f64, actions: &mut Actions) {
    let [from, to] = super::ruler::range(view);
    let mut time = view.snapped(view.time_secs) + frames / view.fps();
    let slack = 0.5 / view.fps();
    if view.looping && time > to + slack {
        time = from;
    } else if view.looping && time < from - slack {
        time = to;
    }
    if view.playing {
        actions.once(Command::SetPlaying(false));
    }
    scrub(view, time, actions);
}

fn name(response: &Response, name: &'static str) {
    let enabled = response.enabled();
    response.widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, enabled, name));
}
