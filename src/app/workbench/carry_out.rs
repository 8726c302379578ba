//! Applies the actions of panels, menus and shortcuts.

use std::path::PathBuf;

use egui::Context;

use super::Workbench;
use crate::app::actions::Action;
use crate::app::actions::CameraAction;
use crate::app::actions::EditAction;
use crate::app::actions::LayoutAction;
use crate::app::actions::ProjectAction;
use crate::app::actions::TimelineAction;
use crate::app::actions::ToolWindowAction;
use crate::app::actions::{BoardAction, DistillAction, SplitSide, WorstAction};
use crate::app::dialogs::Purpose;
use crate::app::look::Backdrop;
use crate::app::pane::requests;
use crate::app::panels::overlays::LookView;
use crate::app::project::FollowUp;
use crate::app::sections::{now, viewport_view};
use crate::app::shortcuts;
use crate::app::spotlight;
use crate::app::timeline::{self, TimelineView};
use crate::app::viewport::{Viewport, ViewportView};
use crate::methods::MethodId;
use crate::session::{
    Command, Gesture, Level, MAX_CROWD, MAX_VIEWS, Mode, ProjectCommand, RigCommand, Session, View,
    ViewCommand, ViewId, WriteDelays,
};

impl Workbench {
    pub(super) fn keyboard(&mut self, ctx: &Context) {
        if let Some(theme) = self.tool_windows.changed_theme(ctx) {
            self.adapt_backdrops(theme);
        }
        if let Some(warning) = self.tool_windows.apply_and_save(ctx) {
            self.session.add_message(Level::Warning, warning);
        }
        if self.tool_windows.record_keys(ctx) {
            return;
        }
        if !ctx.text_edit_focused() {
            let axes = self.tools.axes;
            for (_, pane) in self.layout.panes_mut() {
                ctx.input_mut(|input| pane.viewport.read_modal_keys(input, axes));
            }
        }
        crate::app::viewport::posing::keys::clipboard(ctx, &self.session, &mut self.actions);
        self.read_tab(ctx);
        self.read_enter(ctx);
        timeline::keyboard(
            ctx,
            &TimelineView::of(&self.session),
            &mut self.timeline,
            &mut self.actions,
        );
        shortcuts::read(
            ctx,
            &now(&self.session, self.shown_parts()),
            &mut self.actions,
        );
        // Applied at once: egui ends the drag in the same pass, which would commit it.
        if self.actions.remove(&Action::Escape) {
            self.escape();
        }
    }

    fn escape(&mut self) {
        if self.tool_windows.close_topmost() || self.capture.close() {
            return;
        }
        if self.is_editing() {
            if !self.edit.cancel(&mut self.actions) && self.session.rigging().selected().is_some() {
                self.actions.once(Command::Rig(RigCommand::Select(None)));
            }
            return;
        }
        let mut cancelled = self.timeline.cancel_drag(&mut self.actions);
        for (_, pane) in self.layout.panes_mut() {
            cancelled |= pane.viewport.cancel_drag(&mut self.actions);
        }
        if cancelled {
            return;
        }
        if self.session.selection().active().is_some() {
            self.actions.once(Command::SelectJoint(None));
        } else {
            self.mapping.open = false;
        }
    }

    /// Switches plain backdrops of the views between light and dark, to match the theme.
    fn adapt_backdrops(&mut self, theme: egui::Theme) {
        let (from, to) = match theme {
            egui::Theme::Light => (Backdrop::Dark, Backdrop::Light),
            egui::Theme::Dark => (Backdrop::Light, Backdrop::Dark),
        };
        for (_, pane) in self.layout.panes_mut() {
            if pane.state.look.backdrop == from {
                pane.state.look.backdrop = to;
            }
        }
    }

    /// Applies the queued actions.
    pub(super) fn carry_out(&mut self, ctx: &Context) {
        let actions = self.actions.take();
        if !actions.is_empty() {
            // Panels drawn before the change are redrawn in the next pass.
            ctx.request_repaint();
        }
        for action in actions {
            self.tool_windows.tick_exercises(&action, &self.session);
            if let Some(action) = self.project.guard(action, &self.session) {
                self.carry_out_one(ctx, action);
            }
        }
    }

    fn carry_out_worst(&mut self, action: WorstAction) {
        match action {
            WorstAction::Toggle => self.worst.open = !self.worst.open,
            WorstAction::Search { view, quantity } => self.session.search_worst(view, &quantity),
            WorstAction::Stop => self.session.worst_mut().stop(),
        }
    }

    fn carry_out_distill(&mut self, ctx: &Context, action: DistillAction) {
        match action {
            DistillAction::Toggle => self.distill.open = !self.distill.open,
            DistillAction::Fit(request) => self.session.distill(request),
            DistillAction::Stop => self.session.distilling_mut().stop(),
            DistillAction::Compare => self.compare_distilled(),
            DistillAction::Save => self.ask(ctx, Purpose::SaveDistilled),
        }
    }

    /// Shows the distilled rig beside the method that it was fitted to, as one undo step: in a view of its own with the same clock, or
    /// in the active view where there are as many views as there can be.
    fn compare_distilled(&mut self) {
        let session = &self.session;
        let made = (session.subject()).and_then(|subject| session.distilling().made_for(subject));
        let Some((_, original)) = made else {
            return;
        };
        let views = session.views();
        let is_rig = |view: &View| view.method == MethodId::DISTILLED;
        let other = || views.list().iter().find(|view| !is_rig(view));
        let beside = match views.active() {
            active if is_rig(active) => other().unwrap_or(active).id,
            active => active.id,
        };
        let is_shown = (views.list().iter()).any(|view| is_rig(view) && view.id != beside);
        let before = self.window_state();
        let set_method = |view, method| Command::View(ViewCommand::SetMethod { view, method });
        let set_compare = |view, method| Command::View(ViewCommand::SetCompare { view, method });
        let mut commands = vec![set_method(beside, original)];
        if !is_shown && views.list().len() < MAX_VIEWS {
            let new = views.next_id();
            let split = LayoutAction::Split(beside, SplitSide::Right);
            commands.extend(self.layout.apply(&split, views));
            commands.push(set_method(new, MethodId::DISTILLED));
            commands.push(set_compare(new, None));
            commands.push(Command::View(ViewCommand::Activate(beside)));
        } else if !is_shown {
            commands.push(set_compare(beside, Some(MethodId::DISTILLED)));
        }
        let after = self.window_state();
        let label = "Compare with the distilled rig";
        self.session.arrange(label, [before, after], commands);
    }

    fn carry_out_one(&mut self, ctx: &Context, action: Action) {
        match action {
            Action::Project(action) => self.carry_out_project(ctx, action),
            Action::Session(command, gesture) => {
                if command == Command::CancelJobs {
                    self.capture.cancel();
                }
                if matches!(command, Command::Project(_)) {
                    let window = self.window_state();
                    self.session.projects_mut().set_window(window);
                }
                if let Command::View(ViewCommand::SetCrowd { view, count }) = &command
                    && let Some(pane) = self.layout.pane_mut(*view)
                {
                    pane.viewport.expect((*count).clamp(1, MAX_CROWD) as u32);
                }
                self.apply(command, gesture);
            }
            Action::SetLook(id, look) => {
                if let Some(pane) = self.layout.pane_mut(id) {
                    pane.state.look = look;
                }
            }
            Action::Layout(action) => self.arrange(&action),
            Action::View(ask) => {
                let id = self.active();
                if let Some((level, sentence)) = requests::unavailable_reason(ask, &self.session) {
                    self.session.add_message(level, sentence);
                }
                let state = self
                    .layout
                    .pane(id)
                    .map(|pane| pane.state)
                    .unwrap_or_default();
                for action in requests::actions_of(ask, id, state, &self.session) {
                    self.carry_out_one(ctx, action);
                }
            }
            Action::OpenFiles(files) => self.open_files(files),
            Action::OpenDialog => self.ask(ctx, Purpose::Open),
            Action::LoadPoseDialog => self.ask(ctx, Purpose::LoadPose),
            Action::SavePoseDialog => self.ask(ctx, Purpose::SavePose),
            Action::Frame => self.in_view(self.active(), super::super::viewport::Viewport::frame),
            Action::Show(place) => {
                self.in_view(self.active(), |viewport, view| viewport.show(&place, view));
            }
            Action::LookFrom(side) => {
                self.in_view(self.active(), |viewport, view| {
                    viewport.move_camera(CameraAction::LookFrom(side), view);
                });
            }
            Action::Camera(action) => self.in_view(self.active(), |viewport, view| {
                viewport.move_camera(action, view);
            }),
            Action::CameraOf(id, action) => {
                self.in_view(id, |viewport, view| viewport.move_camera(action, view));
            }
            Action::Capture(action) => self.capture_action(ctx, action),
            Action::Posing(ask) => self.carry_out_posing(ctx, ask),
            Action::Probe(action) => self.probe.carry_out(action),
            Action::Edit(action) => {
                // Templates are fitted in edit mode, so choosing one enters it.
                if matches!(action, EditAction::StartFitting(_)) && !self.is_editing() {
                    self.session
                        .apply_once(Command::Rig(RigCommand::SetMode(Mode::Edit)));
                }
                self.carry_out_edit(ctx, action);
            }
            Action::Timeline(TimelineAction::LoadPosesDialog) => self.ask(ctx, Purpose::LoadPoses),
            Action::Timeline(TimelineAction::SavePosesDialog) => self.ask(ctx, Purpose::SavePoses),
            Action::Timeline(action) => {
                timeline::carry_out(
                    action,
                    &TimelineView::of(&self.session),
                    &mut self.timeline,
                    &mut self.actions,
                );
            }
            Action::Board(BoardAction::Toggle) => self.board.toggle(),
            Action::Board(BoardAction::Cancel) => self.session.board_mut().cancel(),
            Action::Board(BoardAction::Resume) => self.session.board_mut().resume(),
            Action::Worst(action) => self.carry_out_worst(action),
            Action::Distill(action) => self.carry_out_distill(ctx, action),
            Action::ToggleMapping => self.mapping.open = !self.mapping.open,
            Action::ToolWindows(action) => self.carry_out_tool_windows(ctx, action),
            Action::Escape => self.escape(),
            Action::ToggleBones => {
                if let Some(pane) = self.layout.pane_mut(self.session.active_view().id) {
                    pane.state.look.bones = !pane.state.look.bones;
                }
            }
            Action::RetryDevice => self.session.devices_mut().retry(),
            Action::ShowControl(section, name) => {
                self.panel_shown = true;
                spotlight::show(ctx, section, name);
            }
            Action::TogglePanel => self.panel_shown = !self.panel_shown,
            Action::Quit => self.quits = true,
        }
    }

    fn carry_out_tool_windows(&mut self, ctx: &Context, action: ToolWindowAction) {
        let now = now(&self.session, self.shown_parts());
        let look = self
            .layout
            .pane(self.active())
            .map(|pane| LookView::of(self.active(), &pane.state, &self.session));
        self.tool_windows
            .carry_out(ctx, action, &self.session, look.as_ref(), &now);
    }

    fn apply(&mut self, command: Command, gesture: Gesture) {
        let moves = matches!(
            command,
            Command::Undo | Command::Redo | Command::Project(ProjectCommand::JumpTo(_))
        );
        if moves {
            self.session.set_window_seen(self.window_state());
        }
        let resets = command == Command::ResetPose;
        let before = self.session.history().position;
        self.session.apply(command, gesture);
        if resets && self.session.history().position != before {
            let text = "All joints are at rest; Ctrl+Z brings the pose back.";
            self.session.add_message(Level::Info, text);
        }
    }

    /// Arranges the views: one undo step, unless only a camera or the look of a view changes.
    fn arrange(&mut self, action: &LayoutAction) {
        let before = self.window_state();
        let commands = self.layout.apply(action, self.session.views());
        let Some(label) = action.label() else {
            for command in commands {
                self.session.apply_once(command);
            }
            return;
        };
        let after = self.window_state();
        self.session.arrange(label, [before, after], commands);
    }

    fn carry_out_project(&mut self, ctx: &Context, action: ProjectAction) {
        let window = self.window_state();
        self.session.projects_mut().set_window(window);
        let FollowUp { go_on, ask } = self.project.apply(action, &mut self.session);
        if let Some(action) = go_on {
            self.carry_out_one(ctx, action);
        }
        if let Some(purpose) = ask {
            self.ask(ctx, purpose);
        }
    }

    /// Project tasks after a tick: restores the window, records recent files, sets the autosave interval, shows dialogs and messages.
    pub(super) fn follow_project(&mut self, ctx: &Context) {
        if let Some(window) = self.session.projects_mut().take_window() {
            self.restore_window(window);
        }
        if let Some(window) = self.session.take_window_seen() {
            self.layout.show_again(&window);
            self.layout.sync(self.session.views());
        }
        if self.project.is_new_file(self.session.project().file()) {
            self.remember_files();
        }
        self.session.recoveries().set_delays(WriteDelays::within(
            self.tool_windows.settings().autosave_secs,
        ));
        let recording_bytes = self.tool_windows.settings().recording_bytes();
        self.session.set_recording_bytes(recording_bytes);
        let choosing = self.dialogs.is_open();
        let (layout, board) = (&self.layout, &self.board.state);
        let window = |session: &Session| layout.state(session.views(), board);
        if let Some(action) = self.project.after_tick(&mut self.session, window, choosing) {
            self.carry_out_one(ctx, action);
        }
        if self.session.jobs().is_empty()
            && let Some(remark) = self.remark.take()
        {
            self.session.add_message(Level::Warning, remark);
        }
    }

    fn in_view(&mut self, id: ViewId, work: impl FnOnce(&mut Viewport, &ViewportView<'_>)) {
        let snapshot = self.session.snapshot_of(id);
        let crowd = self.session.crowd_of(id);
        let view = ViewportView {
            crowd: crowd.as_ref(),
            ..viewport_view(&self.session, id, snapshot.as_ref(), &self.tools)
        };
        if let Some(pane) = self.layout.pane_mut(id) {
            work(&mut pane.viewport, &view);
        }
    }

    pub(super) fn ask(&mut self, ctx: &Context, purpose: Purpose) {
        let name = self.session.project().title().unwrap_or_default();
        self.ask_in(ctx, purpose, &name, None);
    }

    /// Opens a file dialog in a folder.
    pub(super) fn ask_in(
        &mut self,
        ctx: &Context,
        purpose: Purpose,
        name: &str,
        folder: Option<PathBuf>,
    ) {
        let settings = self.tool_windows.settings();
        if let Err(error) = self.dialogs.ask(ctx, purpose, name, folder, settings) {
            self.session.add_message(
                Level::Error,
                format!("The file dialog could not be opened: {error}."),
            );
        }
    }
}
