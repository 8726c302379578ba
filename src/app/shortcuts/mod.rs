//! One table of all commands: keyboard, menus, tooltips, palette and shortcut sheet are built from it.
//!
//! A row of the [table](ALL) is a [`Shortcut`]: title, one sentence of description, keys (possibly none), preconditions and
//! the action. A new row appears everywhere; a test detects rows that use the same keys in the same mode.

#[macro_use]
mod rows;
mod bindings;
mod keys;
mod presets;
mod read;
mod table;

use egui::{Key, KeyboardShortcut, Modifiers, Response, RichText, Ui};

pub use self::bindings::{Bindings, is_reserved, preset_keys, set_keys};
pub use self::keys::keys_text;
pub use self::read::read;
pub use self::table::ALL;
use super::actions::Action;
use super::theme;

/// Headings of the shortcut sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Opening and saving.
    File,
    /// Undo, and settings.
    Edit,
    /// Posing.
    Pose,
    /// Clips and the clock.
    Time,
    /// Building a skeleton.
    Skeleton,
    /// Camera and display.
    View,
    /// Windows and help.
    Window,
}

impl Group {
    /// All groups, in the order of the sheet.
    pub const ALL: [Self; 7] = [
        Self::File,
        Self::Edit,
        Self::Pose,
        Self::Time,
        Self::Skeleton,
        Self::View,
        Self::Window,
    ];

    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Pose => "Pose",
            Self::Time => "Time",
            Self::Skeleton => "Skeleton",
            Self::View => "View",
            Self::Window => "Window",
        }
    }
}

/// Preconditions of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None.
    Nothing,
    /// An open character.
    Character,
    /// A selected joint, or one under the pointer.
    Joint,
    /// A clip.
    Clips,
    /// A step to undo.
    Undo,
    /// A step to redo.
    Redo,
}

/// The mode in which keys are active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveMode {
    /// In every mode.
    Always,
    /// While posing.
    Posing,
    /// While the skeleton is edited.
    Editing,
}

impl ActiveMode {
    /// Whether both can be active at the same time.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self == other || self == Self::Always || other == Self::Always
    }
}

/// The window's state, as far as the table depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ShortcutContext<'a> {
    /// A character is open.
    pub has_character: bool,
    /// A joint is selected, or under the pointer.
    pub has_joint: bool,
    /// How many clips there are.
    pub clips: usize,
    /// Title of the step to undo.
    pub undo: Option<&'a str>,
    /// Title of the step to redo.
    pub redo: Option<&'a str>,
    /// The skeleton is being edited.
    pub editing: bool,
    /// The side panel is shown.
    pub panel_shown: bool,
    /// Bones are drawn.
    pub bones_shown: bool,
    /// The scoreboard is open.
    pub board_shown: bool,
    /// The window of the worst poses is open.
    pub worst_shown: bool,
    /// The window of the joint mapping is open.
    pub mapping_shown: bool,
    /// The window of the distilled rig is open.
    pub distill_shown: bool,
}

impl ShortcutContext<'_> {
    /// Whether a precondition holds.
    #[must_use]
    pub fn allows(&self, shortcut: &Shortcut) -> bool {
        self.missing(shortcut).is_none()
    }

    /// What a command lacks now, as an instruction; `None` if it can be used.
    #[must_use]
    pub fn missing(&self, shortcut: &Shortcut) -> Option<&'static str> {
        let without_needs = match shortcut.needs {
            Needs::Nothing => None,
            Needs::Character | Needs::Joint if !self.has_character => {
                Some("Open a character first")
            }
            Needs::Joint if !self.has_joint => Some("Select a joint first"),
            Needs::Character | Needs::Joint => None,
            Needs::Clips => (self.clips == 0).then_some("There is no clip yet"),
            Needs::Undo => self.undo.is_none().then_some("There is nothing to undo"),
            Needs::Redo => self.redo.is_none().then_some("There is nothing to redo"),
        };
        without_needs.or(match shortcut.mode {
            ActiveMode::Posing if self.editing => Some("Change to the mode Pose first"),
            ActiveMode::Editing if !self.editing => Some("Change to the mode Edit first"),
            ActiveMode::Always | ActiveMode::Posing | ActiveMode::Editing => None,
        })
    }
}

/// What a row triggers.
#[derive(Debug, Clone, Copy)]
pub enum Trigger {
    /// One action.
    For(fn() -> Action),
    /// An action for each of the keys 1 to 9, by the number from 0.
    ForDigit(fn(usize) -> Action),
    /// Nothing: the focused widget or the view reads the keys itself.
    Elsewhere,
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Shortcut {
    /// Its name in code and in tests.
    pub id: &'static str,
    /// Its heading on the sheet.
    pub group: Group,
    /// The keys of the preset Sinew, the preferred ones first; [`Bindings`] has those of the user.
    pub keys: [Option<KeyboardShortcut>; 3],
    /// Title: "Reset pose".
    pub title: &'static str,
    /// Description, in one sentence.
    pub sentence: &'static str,
    /// Synonyms for the search.
    pub words: &'static str,
    /// Precondition.
    pub needs: Needs,
    /// Mode of the keys.
    pub mode: ActiveMode,
    /// Whether key repeats, and several presses within a frame, count.
    pub repeats: bool,
    /// Whether the keys work while text is being typed.
    pub while_typing: bool,
    /// Whether a toggle is on.
    pub is_on: Option<fn(&ShortcutContext<'_>) -> bool>,
    /// What it triggers.
    pub trigger: Trigger,
}

impl Shortcut {
    /// A row without keys or preconditions.
    #[must_use]
    pub const fn new(
        id: &'static str,
        group: Group,
        title: &'static str,
        sentence: &'static str,
        trigger: Trigger,
    ) -> Self {
        let (needs, mode) = (Needs::Nothing, ActiveMode::Always);
        Self {
            id,
            group,
            keys: [None; 3],
            title,
            sentence,
            words: "",
            needs,
            mode,
            repeats: false,
            while_typing: false,
            is_on: None,
            trigger,
        }
    }

    /// Adds keys; further calls add alternatives.
    #[must_use]
    pub const fn key(mut self, modifiers: Modifiers, key: Key) -> Self {
        let mut place = 0;
        while place < self.keys.len() {
            if self.keys[place].is_none() {
                self.keys[place] = Some(KeyboardShortcut::new(modifiers, key));
                return self;
            }
            place += 1;
        }
        self
    }

    /// Adds synonyms.
    #[must_use]
    pub const fn also(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    /// Adds a precondition.
    #[must_use]
    pub const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Restricts it to a mode.
    #[must_use]
    pub const fn mode(mut self, mode: ActiveMode) -> Self {
        self.mode = mode;
        self
    }

    /// Counts every press.
    #[must_use]
    pub const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Keeps the keys active while text is typed.
    #[must_use]
    pub const fn while_typing(mut self) -> Self {
        self.while_typing = true;
        self
    }

    /// Makes it a toggle.
    #[must_use]
    pub const fn switch(mut self, is_on: fn(&ShortcutContext<'_>) -> bool) -> Self {
        self.is_on = Some(is_on);
        self
    }

    /// The action, if it has exactly one.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        match self.trigger {
            Trigger::For(action) => Some(action()),
            Trigger::ForDigit(_) | Trigger::Elsewhere => None,
        }
    }

    /// Whether the user can give it other keys. Escape leaves, and digits are clips, everywhere.
    #[must_use]
    pub fn is_changeable(&self) -> bool {
        self.id != "escape" && !matches!(self.trigger, Trigger::ForDigit(_))
    }

    /// Whether it is on; `None` if it is not a toggle.
    #[must_use]
    pub fn on(&self, now: &ShortcutContext<'_>) -> Option<bool> {
        self.is_on.map(|is_on| is_on(now))
    }
}

/// The row with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Shortcut> {
    ALL.iter().find(|shortcut| shortcut.id == id)
}

/// Adds a tooltip with title, keys and description of the row with this id.
#[must_use]
pub fn tip(response: Response, id: &str) -> Response {
    let Some(shortcut) = find(id) else {
        debug_assert!(false, "there is no shortcut \"{id}\"");
        return response;
    };
    let tip = |ui: &mut Ui| {
        let keys = Bindings::get(ui.ctx()).text(shortcut);
        tip_ui(ui, shortcut.title, &keys, shortcut.sentence);
    };
    response.on_hover_ui(tip).on_disabled_hover_ui(tip)
}

/// Contents of a tooltip: a title with its keys, and a sentence.
pub fn tip_ui(ui: &mut Ui, title: &str, keys: &str, sentence: &str) {
    let colors = theme::colors(ui.ctx());
    ui.set_max_width(300.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new(title).color(colors.text_strong).strong());
        if !keys.is_empty() {
            ui.label(RichText::new(keys).color(colors.accent));
        }
    });
    ui.label(RichText::new(sentence).color(colors.text_weak));
}

#[cfg(test)]
mod tests;
