//! The workbench: the session with the window's state, and the place where actions are applied.

mod capture;
mod carry_out;
mod clock;
mod device;
mod editing;
mod panels;
mod pass;
mod posing;
mod views;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{CentralPanel, Context, Frame, Ui};

use self::clock::Clock;
use self::editing::TabState;
use super::actions::{Action, Actions};
use super::board::BoardPanel;
use super::capture::Capture;
use super::checkup::CheckupWatch;
use super::dialogs::{Chosen, Dialogs, NO_DIALOG};
use super::distill::DistillWindow;
use super::faults::FaultReport;
use super::ghosts::OnionSkinCache;
use super::layout::Layout;
use super::mapping::MappingWindow;
use super::panels::joints::JointsState;
use super::panels::morphs::MorphsState;
use super::panels::poses::PosesState;
use super::panels::rig::RigPanelState;
use super::panels::rig_tree::RigTreeState;
use super::panels::timings::TimingHistory;
use super::pass_timer::PassTimer;
use super::probe::Probe;
use super::project::ProjectUi;
use super::sections::{ShownParts, now};
use super::settings::{Settings, SettingsFile, WindowSize};
use super::timeline::TimelineState;
use super::tool_windows::ToolWindows;
use super::viewport::Viewport;
use super::viewport::edit::EditTool;
use super::viewport::painter::ViewportPainter;
use super::viewport::picking::PickTarget;
use super::worst::WorstWindow;
use super::{notices, theme};
use crate::app::actions::tools::Toolbox;
use crate::cache::{Cache, WritableFolder};
use crate::character::Character;
use crate::dynamics::Params;
use crate::session::{
    Command, Interpreted, Level, Session, Source, ViewId, WindowState, WriteDelays,
};

/// Session and window state.
pub struct Workbench {
    session: Session,
    layout: Layout,
    project: ProjectUi,
    joints: JointsState,
    tools: Toolbox,
    probe: Probe,
    edit: EditTool,
    rig_panel: RigPanelState,
    rig_tree: RigTreeState,
    tab: TabState,
    /// Bind pose of the character shown last, as identity.
    bind_shown: Option<*const crate::math::Point>,
    timings: TimingHistory,
    pass: PassTimer,
    timeline: TimelineState,
    board: BoardPanel,
    worst: WorstWindow,
    distill: DistillWindow,
    mapping: MappingWindow,
    poses: PosesState,
    morphs: MorphsState,
    dialogs: Dialogs,
    checkup: CheckupWatch,
    faults: FaultReport,
    ghosts: OnionSkinCache,
    actions: Actions,
    clock: Clock,
    asked: device::RequestedDevice,
    character_shown: Option<*const Character>,
    sequence_timed: u64,
    panel_shown: bool,
    tool_windows: ToolWindows,
    capture: Capture,
    quits: bool,
    /// The arrangement when the pointer was pressed last.
    window_pressed: Option<WindowState>,
    /// Message to show when the dropped files are open.
    remark: Option<String>,
    /// Whether pictures of the last pass are still being drawn.
    pictures_pending: bool,
}

impl Workbench {
    /// A workbench with the user's settings that opens a character.
    #[must_use]
    pub fn new(ctx: &Context, source: Source, params: &Params, cache: Cache) -> Self {
        let mut session = Session::with_params(params);
        session.set_cache(cache);
        let waked = ctx.clone();
        session.set_waker(Arc::new(move || waked.request_repaint()));
        let (file, notice) = SettingsFile::of_user();
        let (tool_windows, warning) = file.map(ToolWindows::with_file).unwrap_or_default();
        for warning in notice.into_iter().chain(warning) {
            session.add_message(Level::Warning, warning);
        }
        start_threads(tool_windows.settings().threads);
        let method = tool_windows.settings().default_method;
        if method != session.active_view().method {
            session.apply_once(Command::SetMethod(method));
        }
        session.apply_once(Command::Open(source));
        Self {
            tool_windows,
            ..Self::with_session(session)
        }
    }

    /// A workbench for an existing session.
    #[must_use]
    pub fn with_session(session: Session) -> Self {
        Self {
            layout: Layout::new(session.views()),
            session,
            project: ProjectUi::default(),
            joints: JointsState::default(),
            tools: Toolbox::default(),
            probe: Probe::default(),
            edit: EditTool::default(),
            rig_panel: RigPanelState::default(),
            rig_tree: RigTreeState::default(),
            tab: TabState::default(),
            bind_shown: None,
            timings: TimingHistory::default(),
            pass: PassTimer::default(),
            timeline: TimelineState::default(),
            board: BoardPanel::default(),
            worst: WorstWindow::default(),
            distill: DistillWindow::default(),
            mapping: MappingWindow::default(),
            poses: PosesState::default(),
            morphs: MorphsState::default(),
            dialogs: Dialogs::default(),
            checkup: CheckupWatch::default(),
            faults: FaultReport::default(),
            ghosts: OnionSkinCache::default(),
            actions: Actions::default(),
            clock: Clock::default(),
            asked: device::RequestedDevice::default(),
            character_shown: None,
            sequence_timed: 0,
            panel_shown: true,
            tool_windows: ToolWindows::default(),
            capture: Capture::default(),
            quits: false,
            window_pressed: None,
            remark: None,
            pictures_pending: false,
        }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sets the adapter's name for the about window.
    pub fn set_gpu_description(&mut self, description: String) {
        self.tool_windows.set_gpu(description);
    }

    /// The user's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.tool_windows.settings()
    }

    /// Remembers the size of the window, points, for the next start. That of a maximised one does not count.
    pub fn remember_window(&mut self, points: [u32; 2], maximised: bool) {
        self.tool_windows.change(|settings| {
            let before = settings.window.unwrap_or(WindowSize::USUAL);
            settings.window = Some(WindowSize {
                points: if maximised { before.points } else { points },
                maximised,
            });
        });
    }

    /// The arrangement of the views.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The viewport of the active view.
    #[must_use]
    pub fn viewport(&self) -> Option<&Viewport> {
        self.layout.pane(self.active()).map(|pane| &pane.viewport)
    }

    /// The pose tools' state.
    #[must_use]
    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// The scoreboard.
    #[must_use]
    pub fn board(&self) -> &BoardPanel {
        &self.board
    }

    /// The edit tools' state.
    #[cfg(test)]
    pub(crate) fn edit_tool(&self) -> &EditTool {
        &self.edit
    }

    /// The view that commands apply to.
    fn active(&self) -> ViewId {
        self.session.active_view().id
    }

    /// Whether the active view shows bones.
    fn bones_shown(&self) -> bool {
        self.layout
            .pane(self.active())
            .is_some_and(|pane| pane.state.look.bones)
    }

    /// Which parts of the window are shown.
    fn shown_parts(&self) -> ShownParts {
        ShownParts {
            panel: self.panel_shown,
            bones: self.bones_shown(),
            board: self.board.state.open,
            worst: self.worst.open,
            distill: self.distill.open,
            mapping: self.mapping.open,
            hovered: self.hovered_joint(),
        }
    }

    /// The joint under the pointer in a view, which the status line names.
    fn hovered_joint(&self) -> Option<usize> {
        self.layout
            .rects()
            .into_iter()
            .find_map(|(id, _)| self.layout.pane(id)?.viewport.hovered)
            .map(PickTarget::joint)
    }

    /// The window state that is saved in projects.
    #[must_use]
    pub fn window_state(&self) -> WindowState {
        self.layout.state(self.session.views(), &self.board.state)
    }

    /// Restores the window state of a project.
    pub fn restore_window(&mut self, state: WindowState) {
        self.board.state = state.board.clone();
        for command in self.layout.restore(state) {
            self.session.apply_unrecorded(command);
        }
        self.layout.sync(self.session.views());
    }

    /// Title of the window; a dot marks unsaved changes.
    #[must_use]
    pub fn title(&self) -> String {
        let dot = if self.session.project().is_dirty() {
            "\u{2022} "
        } else {
            ""
        };
        self.session.project().title().map_or_else(
            || "Sinew".to_owned(),
            |title| format!("{dot}{title} – Sinew"),
        )
    }

    /// Queues an action from outside the panels.
    pub fn raise(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Whether the user asked to quit.
    #[must_use]
    pub fn wants_to_quit(&self) -> bool {
        self.quits
    }

    /// Opens files that were dropped or chosen together, or adds them to the open character, depending on their kinds.
    pub fn open_files(&mut self, files: Vec<PathBuf>) {
        let Interpreted { command, remark } = self.session.interpret_files(files);
        if let Some(command) = command {
            self.actions.once(command);
        }
        self.remark = remark.or(self.remark.take());
    }

    /// Sets the folder for state: unsaved work is kept in it, and that of earlier runs is offered. Tells the user if it is not
    /// the usual one, or if there is none.
    pub fn set_state_folder(&mut self, folder: Result<WritableFolder, String>) {
        let notice = match folder {
            Ok(WritableFolder { path, notice, .. }) => {
                self.set_recovery_folder(&path.join("recovery"));
                notice
            }
            Err(reason) => Some(reason),
        };
        if let Some(notice) = notice {
            self.session.add_message(Level::Warning, notice);
        }
    }

    /// Sets the folder for recovery files, and offers those of earlier runs.
    pub fn set_recovery_folder(&mut self, folder: &Path) {
        self.session
            .set_recovery_folder(folder, WriteDelays::default());
    }

    /// On closing the window: deletes the recovery files of this run.
    pub fn close(&mut self) {
        self.session.close();
    }

    /// The system ends the program without a chance to ask: unsaved work is kept and offered at the next start.
    pub fn leave(&mut self) {
        let window = self.window_state();
        self.session.projects_mut().set_window(window);
        self.session.leave();
    }

    /// One pass: reads input, applies actions, advances time, and draws.
    pub fn ui(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let ctx = ui.ctx().clone();
        self.follow_device();
        if !self.project.is_asking(&self.session) && !self.dialogs.is_own_open() {
            self.keyboard(&ctx);
        }
        let chosen = self.dialogs.poll(&ctx, self.tool_windows.settings());
        self.follow_choice(chosen);
        if self.dialogs.take_failure() {
            self.session.add_message(Level::Info, NO_DIALOG);
        }
        self.pass.end_part("keyboard and dialogs");
        self.top_bar(ui);
        self.status_bar(ui);
        self.timeline(ui);
        self.scoreboard(ui);
        self.joints_panel(ui, painter);
        self.side_panel(ui, painter);
        self.pass.end_part("panels");
        let frame = Frame::new().fill(theme::colors(ui.ctx()).sunken);
        CentralPanel::no_frame()
            .frame(frame)
            .show(ui, |ui| self.views_ui(ui, painter));
        self.pass.end_part("over the views");
        self.tool_windows.windows(
            &ctx,
            &now(&self.session, self.shown_parts()),
            &mut self.actions,
        );
        if !self.is_editing() {
            self.probe
                .window(&ctx, &self.session, self.tools.tool, &mut self.actions);
            self.worst
                .window(&ctx, &self.session, painter, &mut self.actions);
            self.distill.window(&ctx, &self.session, &mut self.actions);
            let hovered = self.hovered_joint();
            self.mapping
                .window(&ctx, &self.session, hovered, &mut self.actions);
        }
        self.capture_ui(&ctx);
        self.project.ui(&ctx, &self.session, &mut self.actions);
        notices::drop_hint(&ctx, ctx.content_rect());
        let settings = self.tool_windows.settings();
        let chosen = self.dialogs.ui(&ctx, settings, &mut self.actions);
        self.follow_choice(chosen);
        self.faults.ui(&ctx);
        if !self.actions.list().is_empty() {
            // Actions raised after this pass's actions were applied, for example by a window above the views.
            ctx.request_repaint();
        }
        self.pass.end_part("windows");
    }
}

impl Workbench {
    /// Goes on with what was chosen in a file dialog.
    fn follow_choice(&mut self, chosen: Option<Chosen>) {
        match chosen {
            Some(Chosen::Command(command)) => match *command {
                Command::Open(source) => self.open_files(source.files),
                command => {
                    let command = self.project.chosen(command);
                    self.actions.once(command);
                }
            },
            Some(Chosen::Picture(path)) => self.capture.set_path(&path),
            None => {}
        }
    }
}

/// Sets the number of threads, unless the command line already did; 0 keeps the default.
fn start_threads(threads: usize) {
    if threads > 0
        && rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .is_err()
    {
        log::info!("the number of threads is that of the command line");
    }
}
