//! The one place that carries out what was asked for.

use egui::Context;

use super::Workbench;
use crate::app::actions::Action;
use crate::app::dialogs::Purpose;
use crate::app::sections::{now, viewport_view};
use crate::app::shortcuts;
use crate::app::timeline::{self, TimelineView};
use crate::app::viewport::{Viewport, ViewportView};
use crate::session::{Command, Level, ViewId};

impl Workbench {
    pub(super) fn keyboard(&mut self, ctx: &Context) {
        if let Some(complaint) = self.comfort.keep_up(ctx) {
            self.session.tell(Level::Warning, complaint);
        }
        let view = TimelineView::of(&self.session, self.session.selection().joints());
        timeline::keyboard(ctx, &view, &mut self.timeline, &mut self.actions);
        let bones = self.layout.pane(self.active()).is_some_and(|pane| pane.state.look.bones);
        shortcuts::read(ctx, &now(&self.session, self.panel_shown, bones), &mut self.actions);
        // At once: egui lets go of a drag in the same pass, and that would end it as done.
        if self.actions.remove(&Action::Escape) {
            self.escape();
        }
    }

    fn escape(&mut self) {
        if self.comfort.close_topmost() || self.capture.close() {
            return;
        }
        let mut cancelled = self.timeline.cancel_drag(&TimelineView::of(&self.session, &[]), &mut self.actions);
        for (_, pane) in self.layout.panes_mut() {
            cancelled |= pane.viewport.cancel_drag(&mut self.actions);
        }
        if !cancelled && self.session.selected_joint().is_some() {
            self.actions.once(Command::SelectJoint(None));
        }
    }

    /// Carries out what was asked for.
    pub(super) fn carry_out(&mut self, ctx: &Context) {
        let actions = self.actions.take();
        if !actions.is_empty() {
            // Panels that were drawn before the change show it in the next pass.
            ctx.request_repaint();
        }
        for action in actions {
            match action {
                Action::Session(command, gesture) => {
                    if command == Command::CancelJobs {
                        self.capture.cancel();
                    }
                    self.session.apply(command, gesture);
                }
                Action::SetLook(id, look) => {
                    if let Some(pane) = self.layout.pane_mut(id) {
                        pane.state.look = look;
                    }
                }
                Action::Layout(action) => {
                    for command in self.layout.apply(action, self.session.views()) {
                        self.session.apply_once(command);
                    }
                }
                Action::OpenFiles(files) => self.open_files(files),
                Action::OpenDialog => self.ask(ctx, Purpose::Open),
                Action::LoadPoseDialog => self.ask(ctx, Purpose::LoadPose),
                Action::SavePoseDialog => self.ask(ctx, Purpose::SavePose),
                Action::Frame => self.in_view(self.active(), |viewport, view| viewport.frame(view)),
                Action::Show(spot) => self.in_view(self.active(), |viewport, view| viewport.show(&spot, view)),
                Action::LookFrom(side) => self.in_view(self.active(), |viewport, _| viewport.look_from(side)),
                Action::Camera(action) => self.in_view(self.active(), |viewport, view| viewport.move_camera(action, view)),
                Action::CameraOf(id, action) => self.in_view(id, |viewport, view| viewport.move_camera(action, view)),
                Action::Capture(action) => self.capture_action(ctx, action),
                Action::Comfort(action) => self.comfort.carry_out(ctx, action),
                Action::Escape => self.escape(),
                Action::ToggleBones => {
                    if let Some(pane) = self.layout.pane_mut(self.session.active_view().id) {
                        pane.state.look.bones = !pane.state.look.bones;
                    }
                }
                Action::TogglePanel => self.panel_shown = !self.panel_shown,
                Action::Quit => self.quits = true,
            }
        }
    }

    fn in_view(&mut self, id: ViewId, work: impl FnOnce(&mut Viewport, &ViewportView<'_>)) {
        let snapshot = self.session.snapshot_of(id);
        let view = viewport_view(&self.session, id, snapshot.as_ref());
        if let Some(pane) = self.layout.pane_mut(id) {
            work(&mut pane.viewport, &view);
        }
    }

    fn ask(&mut self, ctx: &Context, purpose: Purpose) {
        let name = self.session.subject().map_or_else(String::new, |subject| subject.character.name.clone());
        if let Err(error) = self.dialogs.ask(ctx, purpose, &name) {
            self.session.tell(Level::Error, format!("The file dialog could not be opened: {error}."));
        }
    }
}
