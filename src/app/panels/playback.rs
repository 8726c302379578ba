//! The transport bar under the viewport, and the list of clips.

use egui::{Button, DragValue, RichText, Role, Slider, Ui, WidgetInfo};

use crate::app::actions::{Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::app::panels::row;
use crate::app::theme;
use crate::rig::Clip;
use crate::rig::retarget::Mapping;
use crate::session::Command;

/// What both may read.
#[derive(Debug, Clone, Copy)]
pub struct PlaybackView<'a> {
    /// The character's clips.
    pub clips: &'a [Clip],
    /// The one shown; none when the pose made by hand is.
    pub clip: Option<usize>,
    /// Where its clock stands.
    pub time_secs: f64,
    /// Whether the clock runs.
    pub playing: bool,
    /// How fast; 1 is real time.
    pub speed: f64,
    /// Whether it starts over at the end.
    pub looping: bool,
    /// The part of the clip that is played; all of it for none.
    pub range_secs: Option<[f64; 2]>,
    /// Within how many seconds one motion goes over into another.
    pub blend_secs: f64,
    /// Which joints of another skeleton the clip shown comes from, if it does.
    pub mapping: Option<&'a Mapping>,
}

/// Draws the transport bar.
pub fn transport_ui(ui: &mut Ui, view: &PlaybackView<'_>, actions: &mut Actions) {
    ui.horizontal_centered(|ui| {
        ui.add_enabled_ui(!view.clips.is_empty(), |ui| {
            if icons::button(ui, Icon::Start, "To the start").clicked() {
                actions.once(Command::Scrub { time_secs: 0.0 });
            }
            let (icon, name) = if view.playing { (Icon::Pause, "Pause") } else { (Icon::Play, "Play") };
            if icons::button(ui, icon, name).clicked() {
                actions.once(Command::TogglePlaying);
            }
            if icons::toggle(ui, Icon::Loop, "Loop", view.looping).on_hover_text("Start over at the end").clicked() {
                actions.once(Command::SetLooping(!view.looping));
            }
            speed_ui(ui, view, actions);
            timeline_ui(ui, view, actions);
        });
    });
}

fn speed_ui(ui: &mut Ui, view: &PlaybackView<'_>, actions: &mut Actions) {
    let mut speed = view.speed;
    let value = DragValue::new(&mut speed).range(0.0..=4.0).speed(0.01).fixed_decimals(2).suffix("×").clamp_existing_to_range(false);
    let response = ui.add(value);
    let enabled = response.enabled();
    response.widget_info(|| {
        let mut info = WidgetInfo::drag_value(enabled, speed);
        info.label = Some("Speed".to_owned());
        info
    });
    if let Some(gesture) = edit_of(&response.on_hover_text("Speed of the clip")) {
        actions.send(Command::SetSpeed(speed), gesture);
    }
}

fn timeline_ui(ui: &mut Ui, view: &PlaybackView<'_>, actions: &mut Actions) {
    let Some(clip) = view.clip.and_then(|clip| view.clips.get(clip)) else {
        let text = if view.clips.is_empty() { "This character has no clips" } else { "Pose made by hand – Space plays" };
        ui.label(RichText::new(text).color(theme::colors(ui.ctx()).text_weak));
        return;
    };
    let duration = clip.duration_secs.max(1e-3);
    let clock = format!("{:.2} / {:.2} s", view.time_secs, clip.duration_secs);
    ui.label(RichText::new(clock).monospace().color(theme::colors(ui.ctx()).text));
    ui.spacing_mut().slider_width = (ui.available_width() - 4.0).max(60.0);
    let mut time = view.time_secs;
    let response = ui.add(Slider::new(&mut time, 0.0..=duration).show_value(false).clamping(egui::SliderClamping::Edits));
    response.widget_info(|| {
        let mut info = WidgetInfo::slider(true, time, "Time");
        info.label = Some("Time".to_owned());
        info
    });
    if let Some(gesture) = edit_of(&response) {
        actions.send(Command::Scrub { time_secs: time }, gesture);
    }
}

/// Draws the list of clips, with the pose made by hand on top.
pub fn clips_ui(ui: &mut Ui, view: &PlaybackView<'_>, actions: &mut Actions) {
    if view.clips.is_empty() {
        ui.label(RichText::new("This character has no clips.").color(theme::colors(ui.ctx()).text_weak));
        return;
    }
    ui.spacing_mut().item_spacing.y = 2.0;
    clip_row(ui, "Pose", "by hand", view.clip.is_none(), None, actions);
    for (index, clip) in view.clips.iter().enumerate() {
        let key = if index < 9 { format!("{}  {}", index + 1, clip.name) } else { format!("    {}", clip.name) };
        let length = format!("{:.1} s", clip.duration_secs);
        clip_row(ui, &key, &length, view.clip == Some(index), Some(index), actions);
    }
}

/// Draws what can be set of the clip shown: its range, and how one motion goes over into another.
pub fn clip_settings_ui(ui: &mut Ui, view: &PlaybackView<'_>, actions: &mut Actions) {
    let Some(clip) = view.clip.and_then(|clip| view.clips.get(clip)) else { return };
    ui.add_space(4.0);
    let duration = clip.duration_secs.max(0.0);
    let [from, to] = view.range_secs.unwrap_or([0.0, duration]);
    row(ui, "Range", "Which part of the clip is played", |ui, label| {
        for (name, is_start) in [("Range start", true), ("Range end", false)] {
            let mut value = if is_start { from } else { to };
            let limits = if is_start { 0.0..=(to - LEAST_RANGE_SECS).max(0.0) } else { (from + LEAST_RANGE_SECS).min(duration)..=duration };
            let drag = DragValue::new(&mut value).range(limits).speed(0.01).fixed_decimals(2).suffix(" s").clamp_existing_to_range(false);
            let response = ui.add(drag).labelled_by(label);
            name_drag(&response, name, value);
            if let Some(gesture) = edit_of(&response) {
                let range = if is_start { [value, to] } else { [from, value] };
                actions.send(Command::SetRange(Some(range)), gesture);
            }
        }
        if ui.add_enabled(view.range_secs.is_some(), Button::new("All")).on_hover_text("Play the whole clip").clicked() {
            actions.once(Command::SetRange(None));
        }
    });
    row(ui, "Blend", "How long one motion takes to go over into another: at a loop's seam, into a clip and out of it", |ui, label| {
        let mut secs = view.blend_secs;
        let drag = DragValue::new(&mut secs).range(0.0..=2.0).speed(0.01).fixed_decimals(2).suffix(" s").clamp_existing_to_range(false);
        let response = ui.add(drag).labelled_by(label);
        name_drag(&response, "Blend", secs);
        if let Some(gesture) = edit_of(&response) {
            actions.send(Command::SetBlend(secs), gesture);
        }
    });
    if let Some(mapping) = view.mapping {
        mapping_ui(ui, mapping);
    }
}

/// A shorter part of a clip is none.
const LEAST_RANGE_SECS: f64 = 0.01;

fn name_drag(response: &egui::Response, name: &str, value: f64) {
    let enabled = response.enabled();
    response.widget_info(|| {
        let mut info = WidgetInfo::drag_value(enabled, value);
        info.label = Some(name.to_owned());
        info
    });
}

/// Who moves whom, for a motion of another skeleton.
fn mapping_ui(ui: &mut Ui, mapping: &Mapping) {
    let moved: usize = mapping.pairs.iter().map(|pair| pair.target.len()).sum();
    let title = RichText::new(format!("{moved} joints follow another skeleton")).color(theme::colors(ui.ctx()).text_weak);
    egui::CollapsingHeader::new(title).id_salt("mapping").show(ui, |ui| {
        egui::Grid::new("pairs").num_columns(2).striped(true).show(ui, |ui| {
            for pair in &mapping.pairs {
                ui.label(RichText::new(pair.target.join(", ")).color(theme::colors(ui.ctx()).text)).on_hover_text(&pair.role);
                ui.label(RichText::new(pair.source.join(", ")).color(theme::colors(ui.ctx()).text_weak));
                ui.end_row();
            }
        });
    });
}

fn clip_row(ui: &mut Ui, name: &str, detail: &str, selected: bool, clip: Option<usize>, actions: &mut Actions) {
    let color = if selected { theme::colors(ui.ctx()).accent } else { theme::colors(ui.ctx()).text };
    let button = Button::selectable(selected, RichText::new(name).color(color))
        .right_text(RichText::new(detail).color(theme::colors(ui.ctx()).text_weak));
    let response = ui.add(button.min_size(egui::vec2(ui.available_width(), 22.0)).truncate());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name));
    if response.clicked() && !selected {
        actions.once(Command::SelectClip(clip));
    }
}
