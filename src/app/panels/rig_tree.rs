//! The tree of joints in edit mode: select, and reparent by dragging.

use egui::{
    Align2, Color32, DragAndDrop, FontId, Id, RichText, Role, ScrollArea, Sense, Shape, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use super::long_list::rows_ui;
use crate::app::actions::Actions;
use crate::app::theme;
use crate::rig::edit::{Rig, RigEdit};
use crate::session::{Command, RigCommand};

/// Height of a row, points.
const ROW: f32 = 21.0;
/// Indentation of children, points.
const INDENT: f32 = 12.0;

/// Input of the tree.
#[derive(Debug, Clone, Copy)]
pub struct RigTreeView<'a> {
    /// The skeleton under construction.
    pub rig: &'a Rig,
    /// The selected joint.
    pub selected: Option<usize>,
    /// The joint under the pointer in a view.
    pub hovered: Option<usize>,
}

/// State of the tree.
#[derive(Debug, Clone, Default)]
pub struct RigTreeState {
    scrolled_to: Option<usize>,
}

/// A joint that is dragged to another parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dragged(usize);

/// Draws the tree.
pub fn rig_tree_ui(
    ui: &mut Ui,
    view: &RigTreeView<'_>,
    state: &mut RigTreeState,
    actions: &mut Actions,
) {
    let colors = theme::colors(ui.ctx());
    if view.rig.is_empty() {
        ui.label(
            RichText::new(
                "No joints yet. Click into the mesh to place the first one, or choose a template.",
            )
            .color(colors.text_weak),
        );
        return;
    }
    let reveal = view.selected.filter(|_| state.scrolled_to != view.selected);
    state.scrolled_to = view.selected;
    let dragged = DragAndDrop::payload::<Dragged>(ui.ctx()).map(|dragged| dragged.0);
    egui::Frame::new()
        .fill(colors.sunken)
        .corner_radius(4.0)
        .inner_margin(4.0)
        .show(ui, |ui| {
            ScrollArea::vertical()
                .id_salt("rig tree")
                .max_height(420.0)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    let rows = depth_first(view.rig);
                    let row_of = |joint: usize| rows.iter().position(|(other, _)| *other == joint);
                    // The dragged row stays interactive even when it is scrolled out of view.
                    let places = rows_ui(
                        ui,
                        rows.len(),
                        ROW,
                        dragged.and_then(row_of),
                        |ui, row, rect| {
                            let (joint, depth) = rows[row];
                            row_ui(ui, rect, view, joint, depth, dragged, actions);
                        },
                    );
                    if let Some(row) = reveal.and_then(row_of) {
                        ui.scroll_to_rect(places.place(row), Some(egui::Align::Center));
                    }
                    root_ui(ui, dragged, actions);
                });
        });
    ui.label(
        RichText::new("Drag a joint onto another to hang it there.")
            .color(colors.text_weak)
            .small(),
    );
}

/// Rows in depth-first order, with their depth.
fn depth_first(rig: &Rig) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); rig.len()];
    let mut stack = Vec::new();
    for (joint, about) in rig.joints().iter().enumerate() {
        match about.parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(joint),
            None => stack.push((joint, 0)),
        }
    }
    stack.reverse();
    let mut order = Vec::with_capacity(rig.len());
    while let Some((joint, depth)) = stack.pop() {
        order.push((joint, depth));
        stack.extend(
            children[joint]
                .iter()
                .rev()
                .map(|&child| (child, depth + 1)),
        );
    }
    order
}

fn row_ui(
    ui: &mut Ui,
    rect: egui::Rect,
    view: &RigTreeView<'_>,
    joint: usize,
    depth: usize,
    dragged: Option<usize>,
    actions: &mut Actions,
) {
    let colors = theme::colors(ui.ctx());
    let name = &view.rig.joints()[joint].name;
    let selected = view.selected == Some(joint);
    let response = ui.interact(
        rect,
        ui.scope_id().with(("rig joint", joint)),
        Sense::click_and_drag(),
    );
    if response.gained_focus() {
        ui.scroll_to_rect(rect, None);
    }
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name));
    response.dnd_set_drag_payload(Dragged(joint));
    let takes = dragged.is_some_and(|other| other != joint && !view.rig.is_below(joint, other));
    let target = takes && response.contains_pointer();
    let left = rect.left() + depth.min(14) as f32 * INDENT;
    let row = egui::Rect::from_min_max(pos2(left, rect.top()), rect.max);
    let fill = if selected {
        colors.accent_fill
    } else if target || response.hovered() || view.hovered == Some(joint) {
        colors.line
    } else {
        Color32::TRANSPARENT
    };
    ui.painter().rect_filled(row, 3.0, fill);
    if target {
        ui.painter().rect_stroke(
            row,
            3.0,
            Stroke::new(1.2, colors.accent),
            egui::StrokeKind::Inside,
        );
    }
    let color = if selected { colors.accent } else { colors.text };
    let middle = pos2(left + 8.0, rect.center().y);
    let diamond = [(0.0, -4.0), (3.0, 0.0), (0.0, 4.0), (-3.0, 0.0)]
        .map(|(x, y)| middle + vec2(x, y))
        .to_vec();
    ui.painter().add(Shape::convex_polygon(
        diamond,
        color.gamma_multiply(0.35),
        Stroke::new(1.0, color),
    ));
    let clip = ui.painter().with_clip_rect(row.intersect(ui.clip_rect()));
    clip.text(
        pos2(left + 18.0, rect.center().y),
        Align2::LEFT_CENTER,
        name,
        FontId::proportional(12.5),
        color,
    );
    if let Some(other) = response.dnd_release_payload::<Dragged>().filter(|_| takes) {
        actions.once(Command::Rig(RigCommand::Edit(RigEdit::Reparent {
            joint: other.0,
            parent: Some(joint),
        })));
    } else if response.clicked() {
        actions.once(Command::Rig(RigCommand::Select(
            (!selected).then_some(joint),
        )));
    }
}

/// Drop target that makes a joint a root.
fn root_ui(ui: &mut Ui, dragged: Option<usize>, actions: &mut Actions) {
    if dragged.is_none() {
        return;
    }
    let colors = theme::colors(ui.ctx());
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, "Make it a root"));
    let hot = response.contains_pointer();
    let color = if hot { colors.accent } else { colors.text_weak };
    ui.painter().text(
        rect.center(),
        Align2::CENTER_CENTER,
        "Drop here to make it a root",
        FontId::proportional(12.0),
        color,
    );
    if let Some(joint) = response.dnd_release_payload::<Dragged>() {
        actions.once(Command::Rig(RigCommand::Edit(RigEdit::Reparent {
            joint: joint.0,
            parent: None,
        })));
    }
    // Shows the dragged joint's name beside the pointer.
    if let Some(pointer) = ui.ctx().pointer_hover_pos() {
        let layer = egui::LayerId::new(egui::Order::Tooltip, Id::unique("rig drag"));
        ui.ctx()
            .layer_painter(layer)
            .circle_filled(pointer + vec2(10.0, 8.0), 4.0, colors.accent);
    }
}
