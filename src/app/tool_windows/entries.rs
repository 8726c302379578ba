//! Entries of the palette, collected when it opens.

use super::palette::PaletteItem;
use super::settings_window::ROWS;
use crate::app::actions::Action;
use crate::app::actions::ToolWindowAction;
use crate::app::navigation::NavigationPreset;
use crate::app::panels::index::settings_of;
use crate::app::panels::overlays::LookView;
use crate::app::panels::top_bar::names_of;
use crate::app::settings::{Settings, ThemeChoice};
use crate::app::shortcuts::{self, Bindings, ShortcutContext};
use crate::app::widgets::capitalised;
use crate::methods::registry;
use crate::session::{Command, Gesture, Session, Source, ViewCommand};

/// All entries: commands that can be used, items of the character, files and settings, and last the commands that lack something.
#[must_use]
pub fn gather(
    bindings: &Bindings,
    session: &Session,
    settings: &Settings,
    look: Option<&LookView>,
    now: &ShortcutContext<'_>,
) -> Vec<PaletteItem> {
    let mut entries = Vec::new();
    commands(bindings, now, &mut entries);
    methods(session, &mut entries);
    panel_settings(session, look, &mut entries);
    clips(session, &mut entries);
    joints(session, &mut entries);
    files(settings, &mut entries);
    choices(settings, &mut entries);
    entries.sort_by_key(|entry| entry.missing.is_some());
    entries
}

fn once(command: Command) -> Action {
    Action::Session(command, Gesture::Once)
}

pub(super) fn entry(
    title: impl Into<String>,
    kind: &'static str,
    detail: impl Into<String>,
    action: Action,
) -> PaletteItem {
    PaletteItem {
        title: title.into(),
        detail: detail.into(),
        words: "",
        kind,
        keys: String::new(),
        missing: None,
        action,
    }
}

fn commands(bindings: &Bindings, now: &ShortcutContext<'_>, entries: &mut Vec<PaletteItem>) {
    for shortcut in shortcuts::ALL
        .iter()
        .filter(|shortcut| !matches!(shortcut.id, "palette" | "escape"))
        // Of the switches between modes only one has an effect.
        .filter(|shortcut| now.allows(shortcut) || !shortcut.id.starts_with("mode."))
    {
        let Some(action) = shortcut.action() else {
            continue;
        };
        let title = match shortcut.on(now) {
            Some(true) => format!("{} (on)", shortcut.title),
            Some(false) => format!("{} (off)", shortcut.title),
            None => shortcut.title.to_owned(),
        };
        let (keys, words) = (bindings.text(shortcut), shortcut.words);
        entries.push(PaletteItem {
            words,
            keys,
            missing: now.missing(shortcut),
            ..entry(title, shortcut.group.title(), shortcut.sentence, action)
        });
    }
}

fn methods(session: &Session, entries: &mut Vec<PaletteItem>) {
    if session.subject().is_none() {
        return;
    }
    for method in registry() {
        let detail = method.descriptor().doc;
        entries.push(entry(
            method.label(),
            "Method",
            detail,
            once(Command::SetMethod(method)),
        ));
    }
    let active = session.active_view().id;
    let views = session.views().list();
    for (number, view) in views
        .iter()
        .enumerate()
        .filter(|(_, view)| view.id != active)
    {
        let title = format!("View {}: {}", number + 1, session.label_of(view));
        entries.push(entry(
            title,
            "View",
            "Makes it the active one",
            once(Command::View(ViewCommand::Activate(view.id))),
        ));
    }
}

/// The settings of the panels.
fn panel_settings(session: &Session, look: Option<&LookView>, entries: &mut Vec<PaletteItem>) {
    for setting in settings_of(session, look) {
        entries.push(PaletteItem {
            words: setting.words,
            ..entry(setting.title, "Setting", setting.sentence, setting.action)
        });
    }
}

fn clips(session: &Session, entries: &mut Vec<PaletteItem>) {
    for (index, clip) in session.document().clips().iter().enumerate() {
        let keys = if index < 9 {
            (index + 1).to_string()
        } else {
            String::new()
        };
        let detail = format!("{:.1} s", clip.duration_secs);
        entries.push(PaletteItem {
            keys,
            ..entry(
                clip.name.as_str(),
                "Clip",
                detail,
                once(Command::SelectClip(Some(index))),
            )
        });
    }
}

fn joints(session: &Session, entries: &mut Vec<PaletteItem>) {
    let Some(skeleton) = session.document().skeleton() else {
        return;
    };
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let detail = joint
            .parent
            .and_then(|parent| skeleton.joints().get(parent))
            .map(|parent| format!("below {}", parent.name));
        let select = once(Command::SelectJoint(Some(index)));
        entries.push(entry(
            joint.name.as_str(),
            "Joint",
            detail.unwrap_or_default(),
            select,
        ));
    }
}

fn files(settings: &Settings, entries: &mut Vec<PaletteItem>) {
    for files in &settings.recent {
        let folder = files
            .first()
            .and_then(|file| file.parent())
            .map(|folder| folder.display().to_string());
        entries.push(entry(
            names_of(files),
            "Recent file",
            folder.unwrap_or_default(),
            Action::OpenFiles(files.clone()),
        ));
    }
    for name in crate::io::builtin::NAMES {
        let open = once(Command::Open(Source::builtin(name)));
        entries.push(entry(
            capitalised(name),
            "Built-in character",
            "Opens it",
            open,
        ));
    }
}

/// Settings with a few choices can be chosen here; the others open the settings window.
fn choices(settings: &Settings, entries: &mut Vec<PaletteItem>) {
    let change = |change: &dyn Fn(&mut Settings)| {
        let mut changed = settings.clone();
        change(&mut changed);
        Action::ToolWindows(ToolWindowAction::Change(Box::new(changed)))
    };
    for theme in ThemeChoice::ALL
        .into_iter()
        .filter(|theme| *theme != settings.theme)
    {
        entries.push(entry(
            format!("Theme: {}", theme.label().to_lowercase()),
            "Setting",
            "",
            change(&|s| s.theme = theme),
        ));
    }
    for preset in NavigationPreset::ALL
        .into_iter()
        .filter(|preset| *preset != settings.navigation)
    {
        entries.push(entry(
            format!("Navigation: {}", preset.label()),
            "Setting",
            preset.sentence(),
            change(&|s| s.navigation = preset),
        ));
    }
    for row in ROWS {
        let show = Action::ToolWindows(ToolWindowAction::ShowSetting(row.name));
        entries.push(PaletteItem {
            words: row.words,
            ..entry(row.name, "Setting", row.sentence, show)
        });
    }
}
