//! The settings window: one row per setting, searchable; changes apply immediately.

mod inputs;

use egui::{Context, Id, RichText, ScrollArea, TextEdit, Ui};

use self::inputs::{check, choice, drag, scale, speed, threads};
use crate::app::actions::ToolWindowAction;
use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::keymap::KeymapPreset;
use crate::app::navigation::NavigationPreset;
use crate::app::popup::CENTER;
use crate::app::popup::dialog;
use crate::app::settings::{MOST_RECORDING_MIB, Settings, ThemeChoice};
use crate::app::theme;
use crate::app::widgets::name_text_field;
use crate::app::widgets::row_of;
use crate::methods::{MethodId, registry};
use crate::session::DeviceChoice;

/// A setting with its widget.
pub struct SettingRow {
    /// Its heading.
    group: &'static str,
    /// Its label.
    pub name: &'static str,
    /// Description, one sentence.
    pub sentence: &'static str,
    /// Synonyms for the search.
    pub words: &'static str,
    /// Draws the widget, with the label as accessible name.
    draw: fn(&mut Ui, Id, &mut Settings),
    /// Copies the value from other settings.
    copy: fn(&mut Settings, &Settings),
}

/// All settings, in window order.
pub static ROWS: &[SettingRow] = &[
    SettingRow {
        group: "Look",
        name: "Theme",
        sentence: "Dark for dark rooms, light for bright ones",
        words: "colour color night day",
        draw: |ui, label, settings| {
            choice(
                ui,
                label,
                "theme",
                &mut settings.theme,
                &ThemeChoice::ALL,
                ThemeChoice::label,
            );
        },
        copy: |to, from| to.theme = from.theme,
    },
    SettingRow {
        group: "Look",
        name: "Interface scale",
        sentence: "Size of text and buttons, on top of what the system asks for",
        words: "zoom font size dpi large small",
        draw: scale,
        copy: |to, from| to.ui_scale = from.ui_scale,
    },
    SettingRow {
        group: "Look",
        name: "Animations",
        sentence: "Panels fold and messages fade softly",
        words: "motion reduced",
        draw: |ui, label, settings| check(ui, label, &mut settings.animations),
        copy: |to, from| to.animations = from.animations,
    },
    SettingRow {
        group: "Navigation",
        name: "Mouse buttons",
        sentence: "Which program's buttons and keys move the camera",
        words: "camera orbit pan zoom blender maya preset",
        draw: |ui, label, settings| {
            choice(
                ui,
                label,
                "navigation",
                &mut settings.navigation,
                &NavigationPreset::ALL,
                NavigationPreset::label,
            );
        },
        copy: |to, from| to.navigation = from.navigation,
    },
    SettingRow {
        group: "Navigation",
        name: "Keys",
        sentence: "Which program's keys the commands have; the sheet of shortcuts changes single ones",
        words: "keyboard keymap hotkeys shortcuts blender maya preset",
        draw: |ui, label, settings| {
            choice(
                ui,
                label,
                "keymap",
                &mut settings.keymap.preset,
                &KeymapPreset::ALL,
                KeymapPreset::label,
            );
        },
        copy: |to, from| to.keymap.clone_from(&from.keymap),
    },
    SettingRow {
        group: "Navigation",
        name: "Invert zoom",
        sentence: "Turning the wheel away from you moves away from the character",
        words: "wheel scroll direction camera",
        draw: |ui, label, settings| check(ui, label, &mut settings.invert_zoom),
        copy: |to, from| to.invert_zoom = from.invert_zoom,
    },
    SettingRow {
        group: "Navigation",
        name: "Orbit speed",
        sentence: "How fast a drag turns the camera",
        words: "camera mouse sensitivity slow fast trackpad wheel",
        draw: |ui, label, settings| speed(ui, label, &mut settings.orbit_speed),
        copy: |to, from| to.orbit_speed = from.orbit_speed,
    },
    SettingRow {
        group: "Navigation",
        name: "Pan speed",
        sentence: "How fast a drag shifts the picture; at 100 % it goes with the pointer",
        words: "camera mouse sensitivity slow fast trackpad wheel",
        draw: |ui, label, settings| speed(ui, label, &mut settings.pan_speed),
        copy: |to, from| to.pan_speed = from.pan_speed,
    },
    SettingRow {
        group: "Navigation",
        name: "Zoom speed",
        sentence: "How far one click of the wheel goes",
        words: "camera mouse sensitivity slow fast trackpad wheel",
        draw: |ui, label, settings| speed(ui, label, &mut settings.zoom_speed),
        copy: |to, from| to.zoom_speed = from.zoom_speed,
    },
    SettingRow {
        group: "Posing",
        name: "Snap angle",
        sentence: "Angles go in such steps while Ctrl is held",
        words: "rotate degrees step",
        draw: |ui, label, settings| {
            drag(
                ui,
                label,
                "Snap angle",
                &mut settings.snap_deg,
                0.5..=90.0,
                "°",
                1,
            );
        },
        copy: |to, from| to.snap_deg = from.snap_deg,
    },
    SettingRow {
        group: "Posing",
        name: "Method at first",
        sentence: "How characters that you open are skinned at first",
        words: "default skinning lbs dqs projective",
        draw: |ui, label, settings| {
            choice(
                ui,
                label,
                "method",
                &mut settings.default_method,
                &registry(),
                MethodId::label,
            );
        },
        copy: |to, from| to.default_method = from.default_method,
    },
    SettingRow {
        group: "Work",
        name: "Compute on",
        sentence: "What computes flesh and skin; automatic measures which is faster for each character and method",
        words: "device gpu cpu graphics processor",
        draw: |ui, label, settings| {
            choice(
                ui,
                label,
                "device",
                &mut settings.device,
                &DeviceChoice::ALL,
                DeviceChoice::label,
            );
        },
        copy: |to, from| to.device = from.device,
    },
    SettingRow {
        group: "Work",
        name: "Autosave every",
        sentence: "How long unsaved work may be kept in memory only before it is written to the recovery file",
        words: "recovery backup interval crash",
        draw: |ui, label, settings| {
            drag(
                ui,
                label,
                "Autosave every",
                &mut settings.autosave_secs,
                1.0..=600.0,
                " s",
                0,
            );
        },
        copy: |to, from| to.autosave_secs = from.autosave_secs,
    },
    SettingRow {
        group: "Work",
        name: "Threads",
        sentence: "Processor threads to compute with, from the next start; 0 takes them all",
        words: "cpu cores parallel simulation",
        draw: threads,
        copy: |to, from| to.threads = from.threads,
    },
    SettingRow {
        group: "Work",
        name: "Recorded frames",
        sentence: "Memory for simulated frames, which scrubbing back shows again; 0 records none",
        words: "memory budget history time machine simulation scrub cache megabytes",
        draw: |ui, label, settings| {
            drag(
                ui,
                label,
                "Recorded frames",
                &mut settings.recording_mib,
                0.0..=MOST_RECORDING_MIB,
                " MB",
                0,
            );
        },
        copy: |to, from| to.recording_mib = from.recording_mib,
    },
    SettingRow {
        group: "Files",
        name: "System's file dialog",
        sentence: "Files are chosen in the system's dialog where there is one; else in Sinew's own",
        words: "open save portal zenity browse folder native",
        draw: |ui, label, settings| check(ui, label, &mut settings.system_dialogs),
        copy: |to, from| to.system_dialogs = from.system_dialogs,
    },
];

/// Width, points.
const WIDTH: f32 = 460.0;
/// Width of the labels, points.
const NAMES: f32 = 130.0;

/// The window.
#[derive(Debug, Clone, Default)]
pub struct SettingsWindow {
    open: bool,
    fresh: bool,
    search: String,
}

impl SettingsWindow {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self {
            open: !self.open,
            fresh: true,
            search: String::new(),
        };
    }

    /// Opens it at one setting.
    pub fn show(&mut self, name: &str) {
        *self = Self {
            open: true,
            fresh: true,
            search: name.to_owned(),
        };
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes it. Returns whether it was open.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    /// Draws it, if it is open; changes are pushed.
    pub fn ui(&mut self, ctx: &Context, settings: &Settings, actions: &mut Actions) {
        let mut open = self.open;
        let size = ctx.content_rect().size();
        dialog(ctx, "Settings", &mut open, WIDTH, CENTER, |ui| {
            let response = ui.add(
                TextEdit::singleline(&mut self.search)
                    .hint_text("Search settings")
                    .desired_width(f32::INFINITY),
            );
            name_text_field(&response, "Search settings");
            if std::mem::take(&mut self.fresh) {
                response.request_focus();
            }
            ui.add_space(4.0);
            let mut edited = settings.clone();
            let height = (size.y - 180.0).max(120.0);
            ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    rows(ui, self.search.trim(), &mut edited);
                });
            if edited != *settings {
                actions.push(Action::ToolWindows(ToolWindowAction::Change(Box::new(
                    edited,
                ))));
            }
        });
        self.open = open;
    }
}

fn rows(ui: &mut Ui, search: &str, settings: &mut Settings) {
    let colors = theme::colors(ui.ctx());
    let usual = Settings::default();
    let mut heading = "";
    for row in ROWS.iter().filter(|row| fits(row, search)) {
        if row.group != heading {
            ui.add_space(if heading.is_empty() { 0.0 } else { 8.0 });
            ui.label(theme::strong(ui, row.group).color(colors.text_strong));
            heading = row.group;
        }
        row_of(ui, NAMES, row.name, row.sentence, |ui, label| {
            (row.draw)(ui, label, settings);
            let mut changed = settings.clone();
            (row.copy)(&mut changed, &usual);
            if changed != *settings
                && icons::plain_button(
                    ui,
                    Icon::Reset,
                    &format!("Reset {}", row.name.to_lowercase()),
                )
                .clicked()
            {
                *settings = changed;
            }
        });
        ui.label(RichText::new(row.sentence).small().color(colors.text_weak));
    }
    if heading.is_empty() {
        ui.label(RichText::new("No setting of that name").color(colors.text_weak));
    }
}

fn fits(row: &SettingRow, search: &str) -> bool {
    let all = format!("{} {} {} {}", row.name, row.group, row.sentence, row.words).to_lowercase();
    search
        .split_whitespace()
        .all(|word| all.contains(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keymap::Keymap;

    #[test]
    fn every_setting_is_found_by_its_name_and_copied_by_its_row() {
        let odd = Settings {
            theme: ThemeChoice::Light,
            ui_scale: 1.5,
            animations: false,
            navigation: NavigationPreset::Maya,
            keymap: Keymap {
                preset: KeymapPreset::Maya,
                ..Keymap::default()
            },
            invert_zoom: true,
            orbit_speed: 0.5,
            pan_speed: 2.0,
            zoom_speed: 1.5,
            snap_deg: 5.0,
            default_method: MethodId::LBS,
            device: DeviceChoice::Gpu,
            autosave_secs: 9.0,
            recording_mib: 64.0,
            threads: 3,
            system_dialogs: false,
            ..Settings::default()
        };
        let mut copied = Settings::default();
        for row in ROWS {
            assert!(fits(row, row.name) && !fits(row, "xyzzy"), "{}", row.name);
            let before = copied.clone();
            (row.copy)(&mut copied, &odd);
            assert_ne!(before, copied, "{}", row.name);
        }
        assert_eq!(copied, odd, "every choice has a row");
    }
}
