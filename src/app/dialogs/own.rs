//! The program's own file dialog: a path that is typed and completed with Tab, the folder's contents, and folders that are one click away.

mod draw;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use egui::Context;

use super::Purpose;
use super::listing::{Entry, Listing, begins, completed};
use super::places::home;
use super::request::{Choice, Request};
use crate::app::actions::{Action, Actions, ToolWindowAction};
use crate::app::settings::Settings;

/// The dialog.
#[derive(Debug)]
pub(super) struct OwnDialog {
    request: Request,
    /// The text field: a folder, with the name of a file behind it.
    text: String,
    /// Whether the name was typed, so that only names that begin so are listed.
    typed: bool,
    folder: PathBuf,
    listing: Listing,
    /// Files chosen by clicks, in order.
    selected: Vec<PathBuf>,
    filter: usize,
    /// Why the last choice was not possible.
    problem: Option<String>,
    /// A file that would be replaced, once the user was told.
    replaced: Option<PathBuf>,
    /// Whether the text field takes the focus, with the cursor at its end.
    takes_focus: bool,
}

/// What a choice leads to.
#[derive(Debug, PartialEq)]
enum Outcome {
    Enter(PathBuf),
    Chosen(Vec<PathBuf>),
    Replaces(PathBuf),
    Problem(String),
}

impl OwnDialog {
    pub(super) fn new(ctx: &Context, request: Request, settings: &Settings) -> Self {
        let folder = request
            .folder
            .iter()
            .chain(&settings.folders)
            .find(|folder| folder.is_dir())
            .cloned()
            .or_else(home)
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_else(|| PathBuf::from("."));
        let mut dialog = Self {
            text: String::new(),
            typed: false,
            listing: Listing::of(ctx, &folder),
            folder,
            selected: Vec::new(),
            filter: 0,
            problem: None,
            replaced: None,
            takes_focus: true,
            request,
        };
        dialog.text = dialog.text_of(&dialog.request.file_name);
        dialog
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.request.purpose
    }

    /// The folder with a name behind it.
    fn text_of(&self, name: &str) -> String {
        let mut text = self.folder.display().to_string();
        if !text.ends_with(std::path::is_separator) {
            text.push(MAIN_SEPARATOR);
        }
        text + name
    }

    /// The typed name behind the folder.
    fn name(&self) -> &str {
        self.text
            .rfind(std::path::is_separator)
            .map_or(self.text.as_str(), |at| &self.text[at + 1..])
    }

    fn enter(&mut self, ctx: &Context, folder: &Path) {
        let kept = if self.request.choice == Choice::Save {
            self.name().to_owned()
        } else {
            String::new()
        };
        folder.clone_into(&mut self.folder);
        self.listing = Listing::of(ctx, folder);
        self.text = self.text_of(&kept);
        (self.typed, self.takes_focus) = (false, true);
        (self.problem, self.replaced) = (None, None);
        self.selected.clear();
    }

    /// Follows a change of the text.
    fn follow_text(&mut self, ctx: &Context) {
        (self.typed, self.problem, self.replaced) = (true, None, None);
        self.selected.clear();
        let (folder, name) = split(&self.text, &self.folder, home().as_deref());
        if folder != self.folder {
            self.folder = folder;
            self.listing = Listing::of(ctx, &self.folder);
        }
        if self.text.starts_with('~') {
            self.text = self.text_of(&name);
            self.takes_focus = true;
        }
    }

    /// Entries that are listed: those of the filter, hidden ones only if they are typed.
    fn shown(&self) -> Result<Vec<&Entry>, &str> {
        let typed = if self.typed { self.name() } else { "" };
        let filter = self.request.filters.get(self.filter);
        let fits = |entry: &&Entry| {
            let kind = entry.is_folder
                || self.request.choice != Choice::Folder
                    && filter.is_none_or(|filter| filter.fits(&entry.text));
            kind && (!entry.is_hidden() || typed.starts_with('.')) && begins(&entry.text, typed)
        };
        Ok(self.listing.entries()?.iter().filter(fits).collect())
    }

    fn complete(&mut self, ctx: &Context) {
        let Some(name) = self
            .shown()
            .ok()
            .and_then(|shown| completed(self.name(), shown.into_iter()))
        else {
            return;
        };
        self.text = self.text_of(&name);
        self.takes_focus = true;
        self.follow_text(ctx);
    }

    /// What is chosen now.
    fn outcome(&self) -> Outcome {
        if !self.selected.is_empty() && self.request.choice != Choice::Save {
            return Outcome::Chosen(self.selected.clone());
        }
        let name = self.name();
        let path = self.folder.join(name);
        if self.request.choice == Choice::Folder && path.is_dir() {
            return Outcome::Chosen(vec![path]);
        }
        if !name.is_empty() && path.is_dir() {
            return Outcome::Enter(path);
        }
        if self.request.choice == Choice::Folder || !self.folder.is_dir() {
            let missing = if self.folder.is_dir() {
                &path
            } else {
                &self.folder
            };
            return Outcome::Problem(format!("There is no folder {}.", missing.display()));
        }
        if self.request.choice != Choice::Save {
            return if name.is_empty() {
                Outcome::Problem("Choose a file.".to_owned())
            } else if path.exists() {
                Outcome::Chosen(vec![path])
            } else {
                Outcome::Problem(format!("There is no file {}.", path.display()))
            };
        }
        if name.is_empty() {
            return Outcome::Problem("Give the file a name.".to_owned());
        }
        let path = self.with_extension(path);
        if path.exists() && self.replaced.as_ref() != Some(&path) {
            return Outcome::Replaces(path);
        }
        Outcome::Chosen(vec![path])
    }

    /// With the extension of the filter, unless the name has one of any filter.
    fn with_extension(&self, path: PathBuf) -> PathBuf {
        let name = self.name();
        let filters = &self.request.filters;
        if filters.is_empty() || filters.iter().any(|filter| filter.fits(name)) {
            return path;
        }
        let extension = filters
            .get(self.filter)
            .and_then(|filter| filter.extensions.first());
        extension.map_or(path, |extension| {
            self.folder.join(format!("{name}.{extension}"))
        })
    }

    /// Goes on with the choice. Returns the files if that ends the dialog.
    fn decide(
        &mut self,
        ctx: &Context,
        settings: &Settings,
        actions: &mut Actions,
    ) -> Option<Vec<PathBuf>> {
        match self.outcome() {
            Outcome::Enter(folder) => self.enter(ctx, &folder),
            Outcome::Problem(problem) => self.problem = Some(problem),
            Outcome::Replaces(path) => self.replaced = Some(path),
            Outcome::Chosen(files) => {
                let mut changed = settings.clone();
                let folder = if self.request.choice == Choice::Folder {
                    files.first().cloned().unwrap_or_default()
                } else {
                    self.folder.clone()
                };
                changed.remember_folder(&folder);
                change(changed, settings, actions);
                return Some(files);
            }
        }
        None
    }
}

/// Folder and name of a typed path: `~` is home, and a path without a root is within `folder`.
fn split(text: &str, folder: &Path, home: Option<&Path>) -> (PathBuf, String) {
    let text = match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.starts_with(std::path::is_separator) => {
            format!("{}{rest}", home.display())
        }
        _ => text.to_owned(),
    };
    match text.rfind(std::path::is_separator) {
        Some(at) => (folder.join(&text[..=at]), text[at + 1..].to_owned()),
        None => (folder.to_path_buf(), text),
    }
}

fn change(changed: Settings, settings: &Settings, actions: &mut Actions) {
    if changed != *settings {
        let change = ToolWindowAction::Change(Box::new(changed));
        actions.push(Action::ToolWindows(change));
    }
}

#[cfg(test)]
mod tests;
