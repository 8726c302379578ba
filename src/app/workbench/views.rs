//! The views, and the advance of time in them.

use std::sync::Arc;
use std::time::Duration;

use egui::{Context, Id, Role, Sense, Ui, WidgetInfo};

use super::Workbench;
use crate::app::look::{Look, SkinColors, wants_of};
use crate::app::notices;
use crate::app::pane::PaneContext;
use crate::app::sections::{unavailable_methods, viewport_view};
use crate::app::tool_windows::is_builtin;
use crate::app::viewport::edit::EditView;
use crate::app::viewport::painter::ViewportPainter;
use crate::session::{Command, Compare, Mode, SnapshotContent, ViewCommand, ViewId};
use crate::studio::FieldCutting;
use crate::weights::WeightMethod;

/// Polling interval of a job's progress while nothing else is animated.
pub(super) const JOB_LOOK: Duration = Duration::from_millis(50);

impl Workbench {
    /// Handles pointer input in the views, advances time, then draws.
    pub(super) fn views_ui(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let rect = ui.available_rect_before_wrap();
        self.layout.sync(self.session.views());
        self.tools.hovered = self.tools.hovered.or(self.mapping.hovered());
        self.interact(ui);
        self.pass.end_part("pointer");
        self.carry_out(ui.ctx());
        self.pass.end_part("commands");
        self.pass_time(ui.ctx());
        self.pass.end_part("session");
        self.layout.sync(self.session.views());
        if ui.input(|input| input.pointer.any_pressed()) {
            self.window_pressed = Some(self.window_state());
        }
        self.draw_panes(ui, painter);
        self.pass.end_part("scores");
        self.record_tiles(ui.ctx());
        self.capture_guide(ui);
        if self.layout.reframe(&self.session) {
            ui.ctx().request_repaint();
        }
        self.tool_windows.over_views(
            ui.ctx(),
            rect,
            self.layout.plates(),
            &self.session,
            &mut self.actions,
        );
        if self.session.subject().is_none() {
            notices::jobs_ui(ui.ctx(), rect, &self.jobs(), &mut self.actions);
        }
    }

    /// Handles pointer input in every view, at its place in the last frame. Widgets above a view are drawn later and take precedence.
    fn interact(&mut self, ui: &mut Ui) {
        let editing = self.is_editing();
        self.tools.snap_deg = self.tool_windows.settings().snap_deg;
        for (id, rect) in self.layout.rects() {
            let response = ui.interact(rect, Id::unique(("view", id)), Sense::click_and_drag());
            response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Viewport"));
            let pressed = ui.input(|input| input.pointer.any_pressed());
            if pressed && response.contains_pointer() && self.session.active_view().id != id {
                // Activated at once, so that the press applies to this view.
                self.session
                    .apply_once(Command::View(ViewCommand::Activate(id)));
            }
            let snapshot = self.session.snapshot_of(id);
            let view = viewport_view(&self.session, id, snapshot.as_ref(), &self.tools);
            if let Some(pane) = self.layout.pane_mut(id) {
                pane.viewport.navigation = self.tool_windows.settings().navigation();
                pane.viewport.follow_subject(rect, self.session.subject());
                match EditView::of(&self.session).filter(|_| editing) {
                    Some(view) => self.edit.interact(
                        ui,
                        &response,
                        &mut pane.viewport,
                        &view,
                        &mut self.actions,
                    ),
                    None => pane
                        .viewport
                        .interact(ui, &response, &view, &mut self.actions),
                }
            }
        }
        self.layout.link_cameras();
    }

    fn draw_panes(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let unavailable = self
            .session
            .subject()
            .map(|subject| unavailable_methods(subject))
            .unwrap_or_default();
        let looks: Vec<(ViewId, Look)> = self
            .layout
            .panes_mut()
            .map(|(id, pane)| (id, pane.state.look))
            .collect();
        let wants = looks
            .iter()
            .map(|(_, look)| wants_of(look))
            .fold(self.probe.wants(), SnapshotContent::and);
        let marks = SnapshotContent {
            // Marks are placed by positions, which must not be waited for.
            numbers: self.board.marked().is_some() || self.shows_distances(),
            ..SnapshotContent::default()
        };
        self.session.set_wants(wants.and(marks));
        self.probe.follow(&self.session);
        let editing = self.session.rigging().mode() == Mode::Edit;
        let voxels = looks.iter().any(|(_, look)| look.voxels);
        let mut compared: Vec<WeightMethod> = looks
            .iter()
            .filter(|(_, look)| look.colors == SkinColors::WeightDifference && !editing)
            .map(|(_, look)| look.weights_against)
            .collect();
        compared.dedup();
        self.session.show_of_weights(voxels && !editing, &compared);
        self.show_fields(ui.ctx());
        let ghosts = self.ghosts.of(ui.ctx(), &mut self.session, &looks);
        if let Some(subject) = self.session.subject() {
            self.checkup.of(ui.ctx(), subject);
        }
        self.pass.end_part("marks");
        let mut context = PaneContext {
            session: &self.session,
            painter,
            actions: &mut self.actions,
            unavailable: &unavailable,
            tools: &self.tools,
            probe: &self.probe,
            edit: self
                .session
                .subject()
                .filter(|_| self.session.rigging().mode() == Mode::Edit)
                .map(|_| &self.edit),
            marks: self
                .checkup
                .marks()
                .filter(|_| self.session.subject().is_some()),
            ghosts: &ghosts,
            dots: !self.session.channels().active().playback().playing,
            maximised: self.layout.maximised(),
            board: &self.board,
            mapping: &self.mapping,
            timing: None,
        };
        self.layout.ui(ui, &mut context);
        self.pass.end_part("pictures");
        self.session.measure_scores();
        if let Some((sequence, times, ms)) = context
            .timing
            .filter(|(sequence, ..)| *sequence != self.sequence_timed)
        {
            self.sequence_timed = sequence;
            self.timings.push(&times, ms);
        }
    }

    /// Tells the session which cuts through fields the views show.
    fn show_fields(&mut self, ctx: &Context) {
        let session = &self.session;
        let joint = session.selection().active();
        let cuttings = self.layout.panes_mut().filter_map(|(id, pane)| {
            let look = &pane.state.look;
            let state = session.snapshot_of(id).filter(|_| look.fields)?;
            let cutting = FieldCutting::of(&state, look, joint, &pane.viewport.camera)?;
            Some((id, cutting))
        });
        let cuttings = cuttings.collect();
        if self.session.show_fields(cuttings) {
            ctx.request_repaint();
        }
    }

    /// Makes a finished drag of a view, or of a gap between views, an undo step.
    fn record_tiles(&mut self, ctx: &Context) {
        if ctx.input(|input| input.pointer.any_down()) || !self.layout.take_edited() {
            return;
        }
        if let Some(before) = self.window_pressed.take() {
            let after = self.window_state();
            self.session.arrange("Move views", [before, after], []);
        }
    }

    /// Whether a view shows distances, whose numbers are told.
    fn shows_distances(&self) -> bool {
        self.session.views().list().iter().any(|view| {
            let pane = self.layout.pane(view.id);
            view.compare.is_some()
                && pane.is_some_and(|pane| pane.state.comparing == Compare::Difference)
        })
    }

    pub(super) fn pass_time(&mut self, ctx: &Context) {
        let dt_secs = self.clock.tick();
        let tick = self.session.tick(dt_secs);
        self.follow_project(ctx);
        self.clock.running = tick.active;
        if tick.active && self.session.jobs().is_empty() && !self.pictures_pending {
            ctx.request_repaint();
        } else if tick.active {
            ctx.request_repaint_after(JOB_LOOK);
        }
        let character = self
            .session
            .subject()
            .map(|subject| Arc::as_ptr(&subject.character));
        if character != self.character_shown {
            self.character_shown = character;
            self.choose_mode();
            self.joints.forget();
            self.morphs.search.clear();
            self.remember_files();
            self.timings.forget_character();
            self.clock.smoothed_secs = 0.0;
            ctx.request_repaint();
        }
    }

    /// Adds the open files to the recent files of the menu.
    pub(super) fn remember_files(&mut self) {
        if let Some(project) = self.session.project().file().map(std::path::Path::to_owned) {
            return self
                .tool_windows
                .change(|settings| settings.remember(&[project]));
        }
        let files = &self.session.document().source.files;
        if !is_builtin(files) {
            self.tool_windows
                .change(|settings| settings.remember(files));
        }
    }
}
