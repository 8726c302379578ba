//! What the window does about projects: it asks before work is lost, and about everything that only the user can know.
//!
//! The session saves, opens and keeps; here are the questions (one file each) and what is to happen after the answers.

mod export;
mod modal;
mod recovery;
mod sources;
mod unsaved;

use egui::Context;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::actions::{Action, Actions};
use super::dialogs::Purpose;
use crate::session::{Command, DEFAULT_FPS, Export, ExportAs, Gesture, ProjectCommand, Session};

pub use export::export_ui;
pub use recovery::{RecoveryView, ago, recovery_ui};
pub use sources::sources_ui;
pub use unsaved::unsaved_ui;

/// How old what the session knows of the window may get while there is unsaved work.
const WINDOW_AGE: Duration = Duration::from_secs(1);

/// What can be asked of this part of the window.
#[derive(Debug, Clone, PartialEq)]
pub enum ProjectAction {
    /// Begins anew with the character that comes with Sinew.
    New,
    /// Writes the project to its file, or asks where to.
    Save,
    /// Asks where to write the project.
    SaveAs,
    /// Asks where to write a project with all of its files in it.
    SavePacked,
    /// Asks where a file of the project is, by [`crate::session::MissingSource::index`].
    Locate(usize),
    /// What the user wants about work that isn't saved.
    AnswerUnsaved(UnsavedAnswer),
    /// Asks what to export, or goes on without.
    AskExport,
    /// What is to be exported; nothing any more for none.
    SetExport(Option<Export>),
    /// Asks where to export to.
    ChooseExportFile,
    /// Asks once more before unsaved work is thrown away; or no more.
    AskDiscard(Option<PathBuf>),
}

/// What to do about work that isn't saved, before something else takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsavedAnswer {
    /// Save it first.
    Save,
    /// Go on without.
    DontSave,
    /// Leave everything as it is.
    Cancel,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The user is being asked.
    Asking,
    /// The project is being written, or the user is choosing where to.
    Saving,
}

/// What this part of the window remembers.
#[derive(Debug, Default)]
pub struct ProjectUi {
    /// What was asked for while there was unsaved work.
    pending: Option<(Action, Step)>,
    /// The recovery file that the user may want to throw away.
    discarding: Option<PathBuf>,
    window_told: Option<Instant>,
    /// What is to be exported, while that is being asked.
    export: Option<Export>,
    /// The project's file when last looked at.
    file: Option<PathBuf>,
}

/// What the workbench must do for it.
#[derive(Debug, Default, PartialEq)]
pub struct Wishes {
    /// Carried out without asking again.
    pub go_on: Option<Action>,
    /// A dialog of the system.
    pub ask: Option<Purpose>,
}

impl ProjectUi {
    /// Whether a question is open, so that nothing else takes the keyboard.
    #[must_use]
    pub fn is_asking(&self, session: &Session) -> bool {
        self.export.is_some()
            || matches!(self.pending, Some((_, Step::Asking)))
            || session.missing_sources().is_some()
            || !session.recoveries().is_empty()
    }

    /// What the user chose in the system's dialog, with what was chosen before it.
    pub fn chosen(&mut self, command: Command) -> Command {
        match (command, &self.export) {
            (Command::Project(ProjectCommand::Export { path, .. }), Some(_)) => {
                let export = self.export.take().unwrap_or_default();
                ProjectCommand::Export { export, path }.into()
            }
            (command, _) => command,
        }
    }

    /// Whether the project has another file than when last asked.
    pub fn is_new_file(&mut self, file: Option<&Path>) -> bool {
        let is_new = file.is_some() && self.file.as_deref() != file;
        if self.file.as_deref() != file {
            self.file = file.map(Path::to_owned);
        }
        is_new
    }

    /// Lets an action pass, or keeps it until the user has said what to do about unsaved work.
    pub fn guard(&mut self, action: Action, session: &Session) -> Option<Action> {
        let recovers = |command: &Command| matches!(command, Command::Open(_) | Command::Project(ProjectCommand::Recover(_)));
        let leaves = match &action {
            Action::Session(command, _) => recovers(command),
            action => *action == Action::Quit,
        };
        if !leaves || !session.is_dirty() {
            return Some(action);
        }
        self.pending = Some((action, Step::Asking));
        None
    }

    /// Carries out an action of this part.
    pub fn apply(&mut self, action: ProjectAction, session: &mut Session) -> Wishes {
        let ask = |purpose: Purpose| Wishes { ask: Some(purpose), ..Wishes::default() };
        match action {
            ProjectAction::New => {
                let fresh = Action::Session(Command::Open(crate::session::Source::of_files(Vec::new())), Gesture::Once);
                return Wishes { go_on: self.guard(fresh, session), ..Wishes::default() };
            }
            ProjectAction::Save if session.project_file().is_some() => session.apply_once(ProjectCommand::Save.into()),
            ProjectAction::Save | ProjectAction::SaveAs => return ask(Purpose::SaveProject),
            ProjectAction::SavePacked => return ask(Purpose::SavePacked),
            ProjectAction::Locate(index) => return ask(Purpose::LocateSource(index)),
            ProjectAction::AnswerUnsaved(UnsavedAnswer::Cancel) => self.pending = None,
            ProjectAction::AnswerUnsaved(UnsavedAnswer::DontSave) => {
                return Wishes { go_on: self.pending.take().map(|(action, _)| action), ..Wishes::default() };
            }
            ProjectAction::AnswerUnsaved(UnsavedAnswer::Save) => {
                if let Some((_, step)) = &mut self.pending {
                    *step = Step::Saving;
                    return self.apply(ProjectAction::Save, session);
                }
            }
            ProjectAction::AskExport => {
                let format = ExportAs::ALL[0];
                let (clip, method) = (session.playback().clip, session.active_view().method);
                self.export = Some(Export { what: format, method, clip, range_secs: session.playback().range_secs, fps: DEFAULT_FPS });
            }
            ProjectAction::SetExport(export) => self.export = export,
            ProjectAction::ChooseExportFile => {
                if let Some(export) = &self.export {
                    return ask(Purpose::Export(export.what.extension()));
                }
            }
            ProjectAction::AskDiscard(file) => self.discarding = file,
        }
        Wishes::default()
    }

    /// Goes on with what was asked for when the work has been saved; forgets it if it could not be.
    pub fn after_tick(
        &mut self,
        session: &mut Session,
        window: impl FnOnce(&Session) -> serde_json::Value,
        choosing: bool,
    ) -> Option<Action> {
        if session.is_dirty() && self.window_told.is_none_or(|told| told.elapsed() > WINDOW_AGE) {
            self.window_told = Some(Instant::now());
            let window = window(session);
            session.set_window(window);
        }
        if !matches!(self.pending, Some((_, Step::Saving))) || session.is_saving() || choosing {
            return None;
        }
        let saved = !session.is_dirty();
        self.pending.take().map(|(action, _)| action).filter(|_| saved)
    }

    /// Draws the question that is open, if one is; one at a time.
    pub fn ui(&self, ctx: &Context, session: &Session, actions: &mut Actions) {
        if let Some((action, Step::Asking)) = &self.pending {
            let title = session.document_title().unwrap_or_default();
            unsaved_ui(ctx, &title, matches!(action, Action::Quit), actions);
        } else if let Some(export) = &self.export {
            export_ui(ctx, export, &session.clips(), actions);
        } else if let Some(sources) = session.missing_sources() {
            sources_ui(ctx, sources, actions);
        } else if !matches!(self.pending, Some((_, Step::Saving))) && session.jobs().is_empty() {
            let recoveries = session.recoveries();
            if !recoveries.is_empty() {
                let view = RecoveryView { recoveries: &recoveries, discarding: self.discarding.as_deref(), unix_secs: recovery::now() };
                recovery_ui(ctx, &view, actions);
            }
        }
    }
}

/// Raises an action of this part.
fn push(actions: &mut Actions, action: ProjectAction) {
    actions.push(Action::Project(action));
}
