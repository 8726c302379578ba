//! Actions of the pose tools that depend on the selection.

use egui::Context;

use super::Workbench;
use crate::app::actions::PosingAsk;
use crate::session::PoseCommand;

impl Workbench {
    pub(super) fn carry_out_posing(&mut self, ctx: &Context, ask: PosingAsk) {
        let joints = self.session.selection().joints().to_vec();
        match ask {
            PosingAsk::Tool(tool) => self.tools.tool = tool,
            PosingAsk::Axes(axes) => self.tools.axes = axes,
            PosingAsk::NextAxes => self.tools.axes = self.tools.axes.next(),
            PosingAsk::Snap(degrees) => self
                .comfort
                .change(|settings| settings.snap_deg = degrees.clamp(0.1, 180.0)),
            PosingAsk::TogglePins => {
                let pinned = !joints
                    .iter()
                    .all(|joint| self.session.document().pins.contains(joint));
                self.session
                    .apply_once(PoseCommand::SetPins { joints, pinned }.into());
            }
            PosingAsk::Copy => {
                let some = (!joints.is_empty()).then_some(joints);
                self.session.apply_once(PoseCommand::Copy(some).into());
                if let Some(text) = self.session.pose_tools().copied_pose() {
                    ctx.copy_text(text);
                }
            }
            PosingAsk::Paste { mirrored } => self.session.apply_once(
                PoseCommand::Paste {
                    text: None,
                    mirrored,
                }
                .into(),
            ),
        }
    }
}
