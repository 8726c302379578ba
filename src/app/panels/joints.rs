//! The tree of joints, and the angles of the selected one.

mod list;

use self::list::{list_ui, unfold_parents};
use std::collections::BTreeSet;

use egui::{CollapsingHeader, DragValue, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};

use super::bone::{BoneView, bone_ui};
use super::limits::{LimitView, limits_ui};
use crate::app::actions::{Actions, edit_of};
use crate::app::theme;
use crate::character::BoneMap;
use crate::rig::Skeleton;
use crate::session::{Command, PoseCommand, rotation_of_angles_deg};

/// Height of a row, points.
const ROW: f32 = 19.0;

/// Input of the panel.
#[derive(Debug, Clone)]
pub struct JointsView<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// The active joint, which the fields belong to.
    pub selected: Option<usize>,
    /// All selected joints, the active one last.
    pub selection: &'a [usize],
    /// The joint under the pointer in the viewport.
    pub hovered: Option<usize>,
    /// Angles of the active joint in the manual pose, degrees.
    pub angles_deg: Option<[f64; 3]>,
    /// Joints that are not at rest.
    pub moved: &'a [bool],
    /// Settings of the active joint's bones.
    pub bone: Option<BoneView<'a>>,
    /// Joints with bone settings that differ from the body's.
    pub bones: &'a BoneMap,
    /// Pin and limits of the active joint.
    pub limit: Option<LimitView>,
    /// Pinned joints.
    pub pins: &'a BTreeSet<usize>,
}

/// Height of a joint's fields until it was measured.
const FIELDS_HEIGHT: f32 = 124.0;

/// State of the panel.
#[derive(Debug, Clone)]
pub struct JointsState {
    /// Search text.
    pub search: String,
    /// The joint under the pointer in the list.
    pub hovered: Option<usize>,
    /// First joint of a range selection with Shift.
    range_from: Option<usize>,
    /// Joints whose children are collapsed.
    folded: Vec<usize>,
    /// The selection the list last scrolled to.
    scrolled_to: Option<usize>,
    /// Angles as typed: a rotation has several representations, and the typed one is kept.
    typed: Option<(usize, [f64; 3])>,
    /// Height of the last joint's fields; reserved while no joint is selected, so that the list does not move.
    fields_height: f32,
}

impl Default for JointsState {
    fn default() -> Self {
        Self {
            search: String::new(),
            hovered: None,
            range_from: None,
            folded: Vec::new(),
            scrolled_to: None,
            typed: None,
            fields_height: FIELDS_HEIGHT,
        }
    }
}

impl JointsState {
    /// Forgets state that belongs to another skeleton.
    pub fn forget(&mut self) {
        *self = Self {
            fields_height: self.fields_height,
            ..Self::default()
        };
    }

    /// The angles to show for a joint: the typed ones if they still give this rotation.
    fn shown_angles(&self, joint: usize, angles_deg: [f64; 3]) -> [f64; 3] {
        match self.typed {
            Some((typed_joint, typed)) if typed_joint == joint => {
                let apart =
                    rotation_of_angles_deg(typed).angle_to(&rotation_of_angles_deg(angles_deg));
                if apart < 1e-4 { typed } else { angles_deg }
            }
            _ => angles_deg,
        }
    }
}

/// Draws the panel.
pub fn joints_ui(
    ui: &mut Ui,
    view: &JointsView<'_>,
    state: &mut JointsState,
    actions: &mut Actions,
) {
    if view.skeleton.is_empty() {
        ui.label(
            RichText::new("This character has no joints.").color(theme::colors(ui.ctx()).text_weak),
        );
        return;
    }
    let height = ui
        .scope(|ui| selected_ui(ui, view, state, actions))
        .response
        .rect
        .height();
    if view.selected.is_some() {
        state.fields_height = height;
    }
    ui.add_space(4.0 + (state.fields_height - height).max(0.0));
    let search = TextEdit::singleline(&mut state.search)
        .hint_text("Search joints")
        .desired_width(f32::INFINITY);
    let response = ui.add(search);
    let enabled = response.enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, enabled, "Search joints"));
    ui.add_space(2.0);
    let reveal = view.selected.filter(|_| state.scrolled_to != view.selected);
    state.scrolled_to = view.selected;
    if let Some(joint) = reveal {
        unfold_parents(view.skeleton, joint, &mut state.folded);
    }
    egui::Frame::new()
        .fill(theme::colors(ui.ctx()).sunken)
        .corner_radius(4.0)
        .inner_margin(4.0)
        .show(ui, |ui| {
            ScrollArea::vertical()
                .id_salt("joint list")
                .max_height(260.0)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    list_ui(ui, view, state, reveal, actions);
                });
        });
}

fn selected_ui(ui: &mut Ui, view: &JointsView<'_>, state: &mut JointsState, actions: &mut Actions) {
    let Some((joint, angles)) = view.selected.zip(view.angles_deg) else {
        ui.label(
            RichText::new("Click a joint to pose it, or drag the body.")
                .color(theme::colors(ui.ctx()).text_weak),
        );
        reset_ui(ui, None, view, actions);
        return;
    };
    let name = &view.skeleton.joints()[joint].name;
    let title = match view.selection.len() {
        0 | 1 => name.clone(),
        many => format!("{name} and {} more", many - 1),
    };
    ui.add(
        egui::Label::new(
            RichText::new(title)
                .color(theme::colors(ui.ctx()).accent)
                .strong(),
        )
        .truncate(),
    );
    // Values that round to zero are shown as zero, not −0.0°.
    let mut edited = state
        .shown_angles(joint, angles)
        .map(|angle| if angle.abs() < 0.05 { 0.0 } else { angle });
    ui.horizontal(|ui| {
        let width = ((ui.available_width() - 2.0 * 8.0) / 3.0 - 16.0).max(40.0);
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().interact_size.x = width;
        for (axis, axis_name) in ["X", "Y", "Z"].into_iter().enumerate() {
            let label = ui.label(
                RichText::new(axis_name)
                    .color(theme::colors(ui.ctx()).axes[axis])
                    .strong(),
            );
            let value = DragValue::new(&mut edited[axis])
                .speed(0.5)
                .max_decimals(1)
                .suffix("°");
            let response = ui
                .add(value)
                .labelled_by(label.id)
                .on_hover_text("Turn about this axis of the rest pose: drag, or click to type");
            if let Some(gesture) = edit_of(&response) {
                state.typed = Some((joint, edited));
                actions.send(
                    Command::SetJointAngles {
                        joint,
                        degrees: edited,
                    },
                    gesture,
                );
            }
        }
    });
    reset_ui(ui, Some(joint), view, actions);
    if let Some(limit) = &view.limit {
        limits_ui(ui, limit, actions);
    }
    if let Some(bone) = &view.bone {
        CollapsingHeader::new(
            RichText::new("Bone and flesh").color(theme::colors(ui.ctx()).text_strong),
        )
        .id_salt("bone")
        .show_unindented(ui, |ui| {
            bone_ui(ui, bone, actions);
        });
    }
}

fn reset_ui(ui: &mut Ui, joint: Option<usize>, view: &JointsView<'_>, actions: &mut Actions) {
    ui.horizontal(|ui| {
        let is_moved = |joint: &usize| view.moved.get(*joint).copied().unwrap_or(false);
        let can_reset = joint.is_some()
            && (view.selection.iter().any(is_moved) || joint.as_ref().is_some_and(is_moved));
        let name = if view.selection.len() > 1 {
            "Reset joints"
        } else {
            "Reset joint"
        };
        if ui.add_enabled(can_reset, egui::Button::new(name)).clicked()
            && let Some(joint) = joint
        {
            let many = view.selection.len() > 1;
            actions.once(if many {
                PoseCommand::Reset(view.selection.to_vec()).into()
            } else {
                Command::ResetJoint(joint)
            });
        }
        let any = view.moved.iter().any(|moved| *moved);
        if ui
            .add_enabled(any, egui::Button::new("Reset pose"))
            .on_hover_text("All joints back to rest (R)")
            .clicked()
        {
            actions.once(Command::ResetPose);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_angles_are_kept_while_the_rotation_is_the_same() {
        let state = JointsState {
            typed: Some((3, [0.0, 120.0, 0.0])),
            ..JointsState::default()
        };
        // 120° about Y alone decomposes as 180, 60, 180.
        assert_eq!(
            state.shown_angles(3, [180.0, 60.0, 180.0]),
            [0.0, 120.0, 0.0]
        );
        assert_eq!(
            state.shown_angles(3, [180.0, 50.0, 180.0]),
            [180.0, 50.0, 180.0]
        );
        assert_eq!(
            state.shown_angles(4, [180.0, 60.0, 180.0]),
            [180.0, 60.0, 180.0]
        );
    }
}
