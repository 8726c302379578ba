//! Actions of the pose tools that depend on the selection.

use egui::Context;

use super::Workbench;
use crate::app::actions::PosingRequest;
use crate::session::PoseCommand;

impl Workbench {
    /// The joint under the pointer, with the other selected ones if it is selected; without one, the selected joints.
    fn joints_to_pin(&self) -> Vec<usize> {
        let selected = self.session.selection().joints();
        match self.hovered_joint() {
            Some(joint) if !selected.contains(&joint) => vec![joint],
            _ => selected.to_vec(),
        }
    }

    pub(super) fn carry_out_posing(&mut self, ctx: &Context, request: PosingRequest) {
        let joints = self.session.selection().joints().to_vec();
        match request {
            PosingRequest::Tool(tool) => self.tools.tool = tool,
            PosingRequest::Brush(brush) => self.tools.brush = brush,
            PosingRequest::NextAxes => self.tools.axes = self.tools.axes.next(),
            PosingRequest::TogglePins => {
                let joints = self.joints_to_pin();
                let pinned = !joints
                    .iter()
                    .all(|joint| self.session.document().pins.contains(joint));
                self.session
                    .apply_once(PoseCommand::SetPins { joints, pinned }.into());
            }
            PosingRequest::Modal(kind) => {
                let active = self.active();
                if let Some(pane) = self.layout.pane_mut(active) {
                    pane.viewport.begin_modal(kind);
                }
            }
            PosingRequest::ToggleBalance => {
                let keeps = self.session.pose_tools().keeps_balance();
                self.session
                    .apply_once(PoseCommand::SetKeepBalance(!keeps).into());
            }
            PosingRequest::Copy => {
                let some = (!joints.is_empty()).then_some(joints);
                self.session.apply_once(PoseCommand::Copy(some).into());
                if let Some(text) = self.session.pose_tools().copied_pose() {
                    ctx.copy_text(text);
                }
            }
            PosingRequest::Paste { mirrored } => self.session.apply_once(
                PoseCommand::Paste {
                    text: None,
                    mirrored,
                }
                .into(),
            ),
        }
    }
}
