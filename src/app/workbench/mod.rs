//! The workbench: the session with its window state, and the one place that carries out what was asked for.

mod capture;
mod carry_out;
mod clock;
mod panels;
mod views;

use std::path::PathBuf;
use std::sync::Arc;

use egui::{CentralPanel, Context, Frame, Ui};

use self::clock::Clock;
use super::actions::{Action, Actions};
use super::capture::Capture;
use super::checkup::CheckupWatch;
use super::comfort::Comfort;
use super::dialogs::Dialogs;
use super::ghosts::Ghosts;
use super::layout::{Layout, LayoutState};
use super::panels::joints::JointsState;
use super::panels::timings::TimingHistory;
use super::sections::now;
use super::settings::{Settings, SettingsFile};
use super::timeline::TimelineState;
use super::viewport::Viewport;
use super::viewport::painter::ViewportPainter;
use super::{notices, theme};
use crate::cache::Cache;
use crate::character::Character;
use crate::dynamics::Params;
use crate::session::{Command, Level, Session, Source, ViewId};

/// Session and window state.
pub struct Workbench {
    session: Session,
    layout: Layout,
    joints: JointsState,
    timings: TimingHistory,
    timeline: TimelineState,
    dialogs: Dialogs,
    checkup: CheckupWatch,
    ghosts: Ghosts,
    actions: Actions,
    clock: Clock,
    character_shown: Option<*const Character>,
    sequence_timed: u64,
    panel_shown: bool,
    comfort: Comfort,
    capture: Capture,
    quits: bool,
}

impl Workbench {
    /// A workbench with the user's settings that opens a character.
    #[must_use]
    pub fn new(ctx: &Context, source: Source, params: &Params, cache: Cache) -> Self {
        let mut session = Session::with_params(params);
        session.set_cache(cache);
        let waked = ctx.clone();
        session.set_waker(Arc::new(move || waked.request_repaint()));
        let (comfort, complaint) = SettingsFile::of_user().map(Comfort::with_file).unwrap_or_default();
        if let Some(complaint) = complaint {
            session.tell(Level::Warning, complaint);
        }
        session.apply_once(Command::Open(source));
        Self { comfort, ..Self::with_session(session) }
    }

    /// A workbench over a session that has been set up already.
    #[must_use]
    pub fn with_session(session: Session) -> Self {
        Self {
            layout: Layout::new(session.views()),
            session,
            joints: JointsState::default(),
            timings: TimingHistory::default(),
            timeline: TimelineState::default(),
            dialogs: Dialogs::default(),
            checkup: CheckupWatch::default(),
            ghosts: Ghosts::default(),
            actions: Actions::default(),
            clock: Clock::default(),
            character_shown: None,
            sequence_timed: 0,
            panel_shown: true,
            comfort: Comfort::default(),
            capture: Capture::default(),
            quits: false,
        }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the user has chosen.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.comfort.settings()
    }

    /// Where the views are.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The viewport of the active view.
    #[must_use]
    pub fn viewport(&self) -> Option<&Viewport> {
        self.layout.pane(self.active()).map(|pane| &pane.viewport)
    }

    /// The view that commands act on.
    fn active(&self) -> ViewId {
        self.session.active_view().id
    }

    /// What a project keeps of the window.
    #[must_use]
    pub fn window_state(&self) -> serde_json::Value {
        serde_json::to_value(self.layout.state(self.session.views())).unwrap_or_default()
    }

    /// Arranges the window as a project says; one that can't be read leaves it as it is.
    pub fn restore_window(&mut self, state: serde_json::Value) {
        if let Ok(state) = serde_json::from_value::<LayoutState>(state) {
            for command in self.layout.restore(state) {
                self.session.apply_once(command);
            }
            self.layout.sync(self.session.views());
        }
    }

    /// Title of the window.
    #[must_use]
    pub fn title(&self) -> String {
        self.session.subject().map_or_else(|| "Sinew".to_owned(), |subject| format!("{} – Sinew", subject.character.name))
    }

    /// Asks for something from outside the panels.
    pub fn raise(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Tells what a frame of the window took on its thread, without waiting for the screen.
    pub fn note_frame(&mut self, ms: f64) {
        self.timings.push_window(ms);
    }

    /// Whether the user asked to quit.
    #[must_use]
    pub fn wants_to_quit(&self) -> bool {
        self.quits
    }

    /// Opens files that were dropped together as one character; motions alone go onto the one that is open.
    pub fn open_files(&mut self, files: Vec<PathBuf>) {
        let is_motion = |file: &PathBuf| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"));
        if !files.is_empty() && self.session.subject().is_some() && files.iter().all(is_motion) {
            self.actions.once(Command::AddMotions(files));
        } else if !files.is_empty() {
            self.actions.once(Command::Open(Source::of_files(files)));
        }
    }

    /// One pass: reads input, applies what was asked for, lets time pass, and draws.
    pub fn ui(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let ctx = ui.ctx().clone();
        self.keyboard(&ctx);
        match self.dialogs.poll() {
            Some(Command::Open(source)) => self.open_files(source.files),
            Some(command) => self.actions.once(command),
            None => {}
        }
        self.top_bar(ui);
        self.status_bar(ui);
        self.timeline(ui);
        self.joints_panel(ui);
        self.side_panel(ui);
        let frame = Frame::new().fill(theme::colors(ui.ctx()).sunken);
        CentralPanel::no_frame().frame(frame).show(ui, |ui| self.views_ui(ui, painter));
        let bones = self.layout.pane(self.active()).is_some_and(|pane| pane.state.look.bones);
        self.comfort.windows(&ctx, &now(&self.session, self.panel_shown, bones));
        self.capture_ui(&ctx);
        notices::drop_hint(&ctx, ctx.content_rect());
    }
}
