//! The tree of joints, and the angles of the selected one.

use std::collections::BTreeSet;

use egui::{
    CollapsingHeader, DragValue, FontId, RichText, Role, ScrollArea, Sense, TextEdit, Ui,
    WidgetInfo, vec2,
};

use super::bone::{BoneView, bone_ui};
use super::limits::{LimitView, limits_ui};
use super::long_list::rows_ui;
use crate::app::actions::{Actions, edit_of};
use crate::app::theme;
use crate::character::BoneMap;
use crate::rig::Skeleton;
use crate::session::{Command, PoseCommand, SelectHow, rotation_of_angles_deg};

/// Height of a row, points.
const ROW: f32 = 19.0;

/// What the panel may read.
#[derive(Debug, Clone, Copy)]
pub struct JointsView<'a> {
    /// The joints.
    pub skeleton: &'a Skeleton,
    /// The active one, which the fields are for.
    pub selected: Option<usize>,
    /// All selected ones, the active one last.
    pub selection: &'a [usize],
    /// The one under the pointer in the viewport.
    pub hovered: Option<usize>,
    /// Angles of the selected one in the pose made by hand, degrees.
    pub angles_deg: Option<[f64; 3]>,
    /// Which joints are not at rest.
    pub moved: &'a [bool],
    /// What the bones of the selected one are like.
    pub bone: Option<BoneView>,
    /// Whose bones are not like the rest of the body.
    pub bones: &'a BoneMap,
    /// Pin and limits of the selected one.
    pub limit: Option<LimitView>,
    /// Joints that stay while others are dragged.
    pub pins: &'a BTreeSet<usize>,
}

/// Height of the fields of a joint, as long as none has been shown.
const FIELDS_HEIGHT: f32 = 124.0;

/// What the panel remembers by itself.
#[derive(Debug, Clone)]
pub struct JointsState {
    /// What is searched for.
    pub search: String,
    /// The joint under the pointer in the list.
    pub hovered: Option<usize>,
    /// Where a range of joints begins that is selected with Shift.
    range_from: Option<usize>,
    /// Joints whose children are folded away.
    folded: Vec<usize>,
    /// The selection the list last scrolled to.
    scrolled_to: Option<usize>,
    /// Angles as typed: the same rotation may have several, and the user's must not jump to others.
    typed: Option<(usize, [f64; 3])>,
    /// Height of the fields of the last joint: kept free while none is selected, so that the list stays where it is.
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
    /// Forgets what belongs to another skeleton.
    pub fn forget(&mut self) {
        *self = Self {
            fields_height: self.fields_height,
            ..Self::default()
        };
    }

    /// The angles to show for a joint: those last typed, if they still are this rotation.
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
    // What rounds to nothing is nothing: not −0.0°.
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

fn unfold_parents(skeleton: &Skeleton, joint: usize, folded: &mut Vec<usize>) {
    let mut above = skeleton.joints().get(joint).and_then(|joint| joint.parent);
    while let Some(parent) = above {
        folded.retain(|other| *other != parent);
        above = skeleton.joints()[parent].parent;
    }
}

/// The rows that are to be seen, with their depth; all in one level when something is searched for.
fn visible_rows(view: &JointsView<'_>, state: &JointsState) -> Vec<(usize, usize)> {
    let needle = state.search.trim().to_lowercase();
    let mut depth = vec![0_usize; view.skeleton.len()];
    let mut hidden = vec![false; view.skeleton.len()];
    let mut rows = Vec::new();
    for joint in depth_first(view.skeleton) {
        if let Some(parent) = view.skeleton.joints()[joint].parent {
            depth[joint] = depth[parent] + 1;
            hidden[joint] = hidden[parent] || state.folded.contains(&parent);
        }
        if needle.is_empty() && !hidden[joint] {
            rows.push((joint, depth[joint]));
        } else if !needle.is_empty()
            && view.skeleton.joints()[joint]
                .name
                .to_lowercase()
                .contains(&needle)
        {
            rows.push((joint, 0));
        }
    }
    rows
}

fn list_ui(
    ui: &mut Ui,
    view: &JointsView<'_>,
    state: &mut JointsState,
    reveal: Option<usize>,
    actions: &mut Actions,
) {
    let tree = state.search.trim().is_empty();
    let rows = visible_rows(view, state);
    state.hovered = None;
    let places = rows_ui(ui, rows.len(), ROW, None, |ui, row, rect| {
        let (joint, depth) = rows[row];
        let response = joint_row(
            ui,
            rect,
            view,
            joint,
            tree.then_some(depth),
            &mut state.folded,
        );
        if response.gained_focus() {
            ui.scroll_to_rect(rect, None);
        }
        if response.hovered() {
            state.hovered = Some(joint);
        }
        if response.clicked() {
            select(ui, view, state, joint, &rows, actions);
        }
    });
    if let Some(row) = reveal.and_then(|joint| rows.iter().position(|(other, _)| *other == joint)) {
        ui.scroll_to_rect(places.place(row), Some(egui::Align::Center));
    }
    if !tree && rows.is_empty() {
        ui.label(RichText::new("No joint of that name").color(theme::colors(ui.ctx()).text_weak));
    }
}

/// A click selects one joint; with Ctrl it adds or takes away, with Shift it selects all rows from the last click on.
fn select(
    ui: &Ui,
    view: &JointsView<'_>,
    state: &mut JointsState,
    joint: usize,
    rows: &[(usize, usize)],
    actions: &mut Actions,
) {
    let modifiers = ui.input(|input| input.modifiers);
    let place = |joint: usize| rows.iter().position(|(other, _)| *other == joint);
    let range = state
        .range_from
        .or(view.selected)
        .and_then(place)
        .zip(place(joint))
        .filter(|_| modifiers.shift);
    if let Some((from, to)) = range {
        let within = &rows[from.min(to)..=from.max(to)];
        let mut joints: Vec<usize> = within
            .iter()
            .map(|(joint, _)| *joint)
            .filter(|other| *other != joint)
            .collect();
        joints.push(joint);
        let how = if modifiers.command {
            SelectHow::Add
        } else {
            SelectHow::Replace
        };
        actions.once(PoseCommand::Select { joints, how }.into());
        return;
    }
    state.range_from = Some(joint);
    if modifiers.command {
        actions.once(
            PoseCommand::Select {
                joints: vec![joint],
                how: SelectHow::Toggle,
            }
            .into(),
        );
    } else {
        let alone = view.selected == Some(joint) && view.selection.len() <= 1;
        actions.once(Command::SelectJoint(if alone { None } else { Some(joint) }));
    }
}

/// Parents before children, and children right after their parent.
fn depth_first(skeleton: &Skeleton) -> Vec<usize> {
    let roots = (0..skeleton.len()).filter(|joint| skeleton.joints()[*joint].parent.is_none());
    let mut stack: Vec<usize> = roots.collect();
    stack.reverse();
    let mut order = Vec::with_capacity(skeleton.len());
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(skeleton.children(joint).iter().rev());
    }
    order
}

/// One row; `depth` only in the tree, where children can be folded away.
fn joint_row(
    ui: &mut Ui,
    rect: egui::Rect,
    view: &JointsView<'_>,
    joint: usize,
    depth: Option<usize>,
    folded: &mut Vec<usize>,
) -> egui::Response {
    let colors = theme::colors(ui.ctx());
    let name = &view.skeleton.joints()[joint].name;
    let selected = view.selected == Some(joint) || view.selection.contains(&joint);
    let response = ui.interact(rect, ui.scope_id().with(("joint", joint)), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name));
    let indent = depth.unwrap_or(0).min(14) as f32 * 11.0;
    let fold_rect =
        egui::Rect::from_min_size(rect.min + vec2(indent, 0.0), vec2(16.0, rect.height()));
    if depth.is_some() && !view.skeleton.children(joint).is_empty() {
        fold_ui(ui, fold_rect, joint, name, folded);
    }
    let fill = if selected {
        colors.accent_fill
    } else if response.hovered() || view.hovered == Some(joint) {
        colors.line
    } else {
        egui::Color32::TRANSPARENT
    };
    let row = egui::Rect::from_min_max(egui::pos2(fold_rect.right(), rect.top()), rect.max);
    ui.painter().rect_filled(row, 3.0, fill);
    let color = if selected {
        colors.accent
    } else if view.skeleton.joints()[joint].deforms {
        colors.text
    } else {
        colors.text_weak
    };
    let text_at = egui::pos2(row.left() + 4.0, rect.center().y);
    let room = (row_marks(ui, view, joint, row) - text_at.x).max(0.0);
    let text = egui::WidgetText::from(
        RichText::new(name)
            .font(FontId::proportional(12.5))
            .color(color),
    );
    let galley = text.into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        room,
        egui::TextStyle::Body,
    );
    ui.painter()
        .galley(text_at - vec2(0.0, galley.size().y / 2.0), galley, color);
    response
}

fn fold_ui(ui: &Ui, rect: egui::Rect, joint: usize, name: &str, folded: &mut Vec<usize>) {
    let colors = theme::colors(ui.ctx());
    let fold = ui.interact(rect, ui.scope_id().with(("fold", joint)), Sense::click());
    let open = !folded.contains(&joint);
    let fold_name = format!("{} {name}", if open { "Fold" } else { "Unfold" });
    fold.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, true, open, &fold_name));
    if fold.clicked() {
        if open {
            folded.push(joint);
        } else {
            folded.retain(|other| *other != joint);
        }
    }
    triangle(
        ui,
        rect.center(),
        open,
        if fold.hovered() {
            colors.text
        } else {
            colors.text_weak
        },
    );
}

/// At a row's end: moved, bones of its own, pinned. Returns where they begin.
fn row_marks(ui: &Ui, view: &JointsView<'_>, joint: usize, row: egui::Rect) -> f32 {
    let colors = theme::colors(ui.ctx());
    let at = |from_right: f32| egui::pos2(row.right() - from_right, row.center().y);
    let mut begin = row.right() - 2.0;
    if view.moved.get(joint).copied().unwrap_or(false) {
        ui.painter().circle_filled(at(8.0), 2.5, colors.accent);
        begin = row.right() - 13.0;
    }
    if view.bones.contains_key(&joint) {
        ui.painter()
            .circle_stroke(at(17.0), 2.5, egui::Stroke::new(1.2, colors.mended));
        begin = row.right() - 22.0;
    }
    if view.pins.contains(&joint) {
        let square = egui::Rect::from_center_size(at(27.0), vec2(7.0, 7.0));
        ui.painter().rect_stroke(
            square,
            1.0,
            egui::Stroke::new(1.4, colors.accent),
            egui::StrokeKind::Inside,
        );
        begin = row.right() - 33.0;
    }
    begin
}

fn triangle(ui: &Ui, centre: egui::Pos2, open: bool, color: egui::Color32) {
    let corners = if open {
        [(-3.5, -2.0), (3.5, -2.0), (0.0, 2.8)]
    } else {
        [(-2.0, -3.5), (2.8, 0.0), (-2.0, 3.5)]
    };
    let points = corners.map(|(x, y)| centre + vec2(x, y)).to_vec();
    ui.painter().add(egui::Shape::convex_polygon(
        points,
        color,
        egui::Stroke::NONE,
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_angles_stay_while_they_mean_the_same_rotation() {
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
