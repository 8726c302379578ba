//! The list of joints.

use egui::{FontId, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::super::long_list::rows_ui;
use super::{JointsState, JointsView, ROW};
use crate::app::actions::Actions;
use crate::app::theme;
use crate::rig::Skeleton;
use crate::session::{Command, PoseCommand, SelectHow};

pub(super) fn unfold_parents(skeleton: &Skeleton, joint: usize, folded: &mut Vec<usize>) {
    let mut above = skeleton.joints().get(joint).and_then(|joint| joint.parent);
    while let Some(parent) = above {
        folded.retain(|other| *other != parent);
        above = skeleton.joints()[parent].parent;
    }
}

/// The visible rows with their depth; a flat list during a search.
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

pub(super) fn list_ui(
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

/// A click selects one joint; with Ctrl it toggles, with Shift it selects all rows since the last click.
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

/// Joints in depth-first order.
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

/// One row; `depth` is `None` during a search, where children cannot be collapsed.
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

/// Marks at the end of a row: moved, bone settings, pinned. Returns their left edge.
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
