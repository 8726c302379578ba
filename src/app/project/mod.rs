//! Project dialogs: asks before unsaved work is lost, and for other decisions of the user.
//!
//! The session saves, opens and keeps projects; this module asks the questions (one file each) and
//! continues after the answers.

mod export;
mod modal;
mod recovery;
mod sources;
mod unsaved;

use crate::app::actions::ProjectAction;
use crate::app::actions::UnsavedAnswer;
use egui::Context;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::actions::{Action, Actions};
use super::dialogs::Purpose;
use crate::methods::MethodId;
use crate::session::{
    Command, DEFAULT_FPS, Export, ExportAs, Gesture, ProjectCommand, ScoreFormat, Session,
    WindowState,
};

pub use export::export_ui;
pub use recovery::{RecoveryView, ago, recovery_ui};
pub use sources::sources_ui;
pub use unsaved::unsaved_ui;

/// Maximum age of the session's copy of the window's state while there is unsaved work.
const WINDOW_AGE: Duration = Duration::from_secs(1);

/// State of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingStep {
    /// The question is open.
    Asking,
    /// The project is being written, or its file chosen.
    Saving,
}

/// State of this module.
#[derive(Debug, Default)]
pub struct ProjectUi {
    /// The action that was requested while there was unsaved work.
    pending: Option<(Action, PendingStep)>,
    /// The recovery file that the user may discard.
    discarding: Option<PathBuf>,
    window_told: Option<Instant>,
    /// The export settings while the dialog is open.
    export: Option<Export>,
    /// The project's file at the last check.
    file: Option<PathBuf>,
}

/// What the workbench does after a project action.
#[derive(Debug, Default, PartialEq)]
pub struct FollowUp {
    /// Actions to apply without further questions.
    pub go_on: Option<Action>,
    /// A system dialog to open.
    pub ask: Option<Purpose>,
}

impl ProjectUi {
    /// Whether a question is open and takes the keyboard.
    #[must_use]
    pub fn is_asking(&self, session: &Session) -> bool {
        self.export.is_some()
            || matches!(self.pending, Some((_, PendingStep::Asking)))
            || session.project().missing_sources().is_some()
            || !session.recoveries().offers().is_empty()
    }

    /// Combines the path chosen in the system dialog with the pending choice.
    pub fn chosen(&mut self, command: Command) -> Command {
        match (command, &self.export) {
            (Command::Project(ProjectCommand::Export { path, .. }), Some(_)) => {
                let export = self.export.take().unwrap_or_default();
                ProjectCommand::Export { export, path }.into()
            }
            (command, _) => command,
        }
    }

    /// Whether the project's file changed since the last call.
    pub fn is_new_file(&mut self, file: Option<&Path>) -> bool {
        let is_new = file.is_some() && self.file.as_deref() != file;
        if self.file.as_deref() != file {
            self.file = file.map(Path::to_owned);
        }
        is_new
    }

    /// Passes an action on, or holds it until the user has decided about unsaved work.
    pub fn guard(&mut self, action: Action, session: &Session) -> Option<Action> {
        let recovers = |command: &Command| {
            matches!(
                command,
                Command::Open(_) | Command::Project(ProjectCommand::Recover(_))
            )
        };
        let leaves = match &action {
            Action::Session(command, _) => recovers(command),
            action => *action == Action::Quit,
        };
        if !leaves || !session.project().is_dirty() {
            return Some(action);
        }
        self.pending = Some((action, PendingStep::Asking));
        None
    }

    /// Applies an action of this module.
    pub fn apply(&mut self, action: ProjectAction, session: &mut Session) -> FollowUp {
        let ask = |purpose: Purpose| FollowUp {
            ask: Some(purpose),
            ..FollowUp::default()
        };
        match action {
            ProjectAction::New => {
                let fresh = Action::Session(
                    Command::Open(crate::session::Source::of_files(Vec::new())),
                    Gesture::Once,
                );
                return FollowUp {
                    go_on: self.guard(fresh, session),
                    ..FollowUp::default()
                };
            }
            ProjectAction::Save if session.project().file().is_some() => {
                session.apply_once(ProjectCommand::Save.into());
            }
            ProjectAction::Save | ProjectAction::SaveAs => return ask(Purpose::SaveProject),
            ProjectAction::SavePacked => return ask(Purpose::SavePacked),
            ProjectAction::Locate(index) => return ask(Purpose::LocateSource(index)),
            ProjectAction::AnswerUnsaved(UnsavedAnswer::Cancel) => self.pending = None,
            ProjectAction::AnswerUnsaved(UnsavedAnswer::DontSave) => {
                return FollowUp {
                    go_on: self.pending.take().map(|(action, _)| action),
                    ..FollowUp::default()
                };
            }
            ProjectAction::AnswerUnsaved(UnsavedAnswer::Save) => {
                if let Some((_, step)) = &mut self.pending {
                    *step = PendingStep::Saving;
                    return self.apply(ProjectAction::Save, session);
                }
            }
            ProjectAction::AskExport | ProjectAction::AskReport | ProjectAction::AskScores => {
                let is_report = action == ProjectAction::AskReport;
                let format = match action {
                    ProjectAction::AskReport => ExportAs::Report,
                    ProjectAction::AskScores => ExportAs::Scores(ScoreFormat::Svg),
                    _ => ExportAs::ALL[0],
                };
                let (clip, method) = (
                    session.channels().active().playback().clip,
                    session.active_view().method,
                );
                self.export = Some(Export {
                    what: format,
                    method,
                    methods: methods_shown(session),
                    clip: clip.filter(|_| !is_report),
                    range_secs: session.channels().active().playback().range_secs,
                    fps: DEFAULT_FPS,
                    compress: false,
                });
            }
            ProjectAction::SetExport(export) => self.export = export,
            ProjectAction::ChooseExportFile => {
                if let Some(export) = &self.export {
                    return ask(Purpose::Export(export.what.extension()));
                }
            }
            ProjectAction::AskDiscard(file) => self.discarding = file,
        }
        FollowUp::default()
    }

    /// Continues the held action after saving; drops it if saving failed.
    pub fn after_tick(
        &mut self,
        session: &mut Session,
        window: impl FnOnce(&Session) -> WindowState,
        choosing: bool,
    ) -> Option<Action> {
        if session.project().is_dirty()
            && self
                .window_told
                .is_none_or(|told| told.elapsed() > WINDOW_AGE)
        {
            self.window_told = Some(Instant::now());
            let window = window(session);
            session.projects_mut().set_window(window);
        }
        if !matches!(self.pending, Some((_, PendingStep::Saving)))
            || session.project().is_saving()
            || choosing
        {
            return None;
        }
        let saved = !session.project().is_dirty();
        self.pending
            .take()
            .map(|(action, _)| action)
            .filter(|_| saved)
    }

    /// Draws the open question, if any; one at a time.
    pub fn ui(&self, ctx: &Context, session: &Session, actions: &mut Actions) {
        if let Some((action, PendingStep::Asking)) = &self.pending {
            let title = session.project().title().unwrap_or_default();
            unsaved_ui(ctx, &title, matches!(action, Action::Quit), actions);
        } else if let Some(export) = &self.export {
            export_ui(ctx, export, &session.document().clips(), actions);
        } else if let Some(sources) = session.project().missing_sources() {
            sources_ui(ctx, sources, actions);
        } else if !matches!(self.pending, Some((_, PendingStep::Saving)))
            && session.jobs().is_empty()
        {
            let recoveries = session.recoveries().offers();
            if !recoveries.is_empty() {
                let view = RecoveryView {
                    recoveries: &recoveries,
                    discarding: self.discarding.as_deref(),
                    unix_secs: recovery::now(),
                };
                recovery_ui(ctx, &view, actions);
            }
        }
    }
}

/// Raises an action of this module.
fn push(actions: &mut Actions, action: ProjectAction) {
    actions.push(Action::Project(action));
}

/// The methods that views show, with linear blending and dual quaternions, which every method is compared with.
fn methods_shown(session: &Session) -> Vec<MethodId> {
    let views = session.views().list().iter();
    let shown = views.flat_map(|view| std::iter::once(view.method).chain(view.compare));
    let mut methods = vec![MethodId::LBS, MethodId::DQS];
    for method in shown {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}
