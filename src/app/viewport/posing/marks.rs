//! Draws arrows, pins, limits, the selection rectangle, and the target of a drag.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

use super::super::label::label;
use super::super::screen_map::ScreenMap;
use super::super::{Viewport, ViewportView};
use super::arrows::{Arrow, Arrows, SQUARE};
use super::{PoseDrag, PoseHandle, arrows_at};
use crate::app::actions::tools::Tool;
use crate::app::theme;
use crate::math::{Affine, Point64, origin_of};
use crate::rig::limits::Limit;

/// Number of corners of a limit's boundary.
const BORDER: usize = 64;
/// Length of the bone for which a limit is drawn, points.
const BORDER_REACH: f64 = 62.0;

/// Draws pins, limits, arrows and the current drag.
pub fn draw_marks(
    painter: &Painter,
    map: &ScreenMap,
    viewport: &Viewport,
    view: &ViewportView<'_>,
) {
    let colors = theme::colors(painter.ctx());
    if let Some(joint) = view.selected {
        if let Some(limit) = view
            .document
            .and_then(|document| document.limits.get(&joint))
        {
            draw_limit(painter, map, view, joint, limit);
        }
        if view.tools.tool == Tool::Move {
            draw_arrows(painter, map, viewport, view, joint);
        }
    }
    for &pin in view.document.iter().flat_map(|document| &document.pins) {
        if let Some(at) = view
            .world_from_joint
            .get(pin)
            .and_then(|world| map.project(&origin_of(world)))
        {
            draw_pin(painter, at, colors.plate_accent);
        }
    }
    match &viewport.drag {
        Some(PoseDrag::Box { from, to }) => {
            let rect = Rect::from_two_pos(*from, *to);
            painter.rect(
                rect,
                0.0,
                colors.plate_accent.gamma_multiply(0.12),
                Stroke::new(1.0, colors.plate_accent),
                StrokeKind::Inside,
            );
        }
        Some(PoseDrag::Reach(reach)) => draw_pull(
            painter,
            map,
            view,
            reach.grip.joint,
            &reach.grip.point,
            &reach.target,
        ),
        Some(PoseDrag::Modal(modal)) => modal.draw(painter, map, &view.tools),
        Some(PoseDrag::Arrow { drag, .. }) => {
            if let Some(at) = map.project(&(drag.start + drag.moved)) {
                label(
                    painter,
                    map.rect(),
                    at + vec2(16.0, 12.0),
                    &format!("{:+.3}", drag.distance()),
                    colors.plate_text,
                );
            }
        }
        _ => {}
    }
}

/// A small square with a dot: the joint is pinned.
fn draw_pin(painter: &Painter, at: Pos2, color: Color32) {
    let rect = Rect::from_center_size(at, vec2(11.0, 11.0));
    painter.rect(
        rect,
        2.0,
        Color32::from_black_alpha(110),
        Stroke::new(1.8, color),
        StrokeKind::Inside,
    );
    painter.circle_filled(at, 2.0, color);
}

/// A line from the dragged point to its target, if the body cannot reach it.
fn draw_pull(
    painter: &Painter,
    map: &ScreenMap,
    view: &ViewportView<'_>,
    joint: usize,
    point: &Point64,
    target: &Point64,
) {
    let colors = theme::colors(painter.ctx());
    let held = view
        .world_from_joint
        .get(joint)
        .and_then(|world| map.project(&(world * point)));
    let (Some(held), Some(to)) = (held, map.project(target)) else {
        return;
    };
    painter.circle_stroke(held, 5.5, Stroke::new(1.6, colors.plate_accent));
    if held.distance(to) > 3.0 {
        painter.extend(Shape::dashed_line(
            &[held, to],
            Stroke::new(1.2, colors.plate_accent.gamma_multiply(0.8)),
            5.0,
            4.0,
        ));
    }
}

/// The permitted directions of the bone, as a cone; for a hinge as a sector.
fn draw_limit(
    painter: &Painter,
    map: &ScreenMap,
    view: &ViewportView<'_>,
    joint: usize,
    limit: &Limit,
) {
    let Some((skeleton, world)) = view.skeleton.zip(view.world_from_joint.get(joint)) else {
        return;
    };
    let centre = origin_of(world);
    let length = map.world_per_point(&centre) * BORDER_REACH;
    let own = &skeleton.joints()[joint];
    let base = own
        .parent
        .and_then(|parent| view.world_from_joint.get(parent))
        .map_or(own.parent_from_base, |parent| parent * own.parent_from_base);
    let (Some(middle), base) = (map.project(&centre), turn_of(&base)) else {
        return;
    };
    let border: Vec<Pos2> = limit
        .border(BORDER)
        .iter()
        .filter_map(|direction| map.project(&(centre + base * direction * length)))
        .collect();
    if border.len() < 3 {
        return;
    }
    let color = theme::colors(painter.ctx()).mended;
    let mut fan = egui::Mesh::default();
    fan.colored_vertex(middle, color.gamma_multiply(0.10));
    for (index, corner) in border.iter().enumerate() {
        fan.colored_vertex(*corner, color.gamma_multiply(0.16));
        if index > 0 {
            fan.add_triangle(0, index as u32, index as u32 + 1);
        }
    }
    painter.add(fan);
    painter.add(Shape::line(
        border,
        Stroke::new(1.4, color.gamma_multiply(0.9)),
    ));
    // The bone's current direction.
    let turn = view
        .pose
        .and_then(|pose| pose.locals.get(joint))
        .map(|local| local.rotation * own.rest.rotation.inverse());
    if let Some(turn) = turn {
        let [_, y, z] = limit.angles_of(&turn);
        let along = limit.turn_of([0.0, y, z]) * (limit.base_from_limit * crate::math::Vec64::x());
        if let Some(tip) = map.project(&(centre + base * along * length)) {
            painter.line_segment([middle, tip], Stroke::new(1.6, color));
            painter.circle_filled(tip, 3.0, color);
        }
    }
}

fn turn_of(base: &Affine) -> crate::math::Quat {
    crate::rig::Trs::from_affine(base).rotation
}

fn draw_arrows(
    painter: &Painter,
    map: &ScreenMap,
    viewport: &Viewport,
    view: &ViewportView<'_>,
    joint: usize,
) {
    let colors = theme::colors(painter.ctx());
    let dragged = match &viewport.drag {
        Some(PoseDrag::Arrow { drag, .. }) => Some(drag.arrow),
        Some(_) => return,
        None => None,
    };
    let Some(arrows) = arrows_at(map, view, joint) else {
        return;
    };
    for axis in 0..3 {
        if dragged.is_some_and(|arrow| arrow != Arrow::Axis(axis)) {
            continue;
        }
        let hovered = dragged.is_some()
            || viewport.hovered_handle == Some(PoseHandle::Arrow(Arrow::Axis(axis)));
        let color = if hovered {
            colors.plate_accent
        } else {
            colors.axes[axis]
        };
        draw_arrow(
            painter,
            map,
            &arrows,
            axis,
            color,
            if hovered { 3.5 } else { 2.2 },
        );
    }
    if let Some(square) = arrows
        .square(map)
        .filter(|_| dragged.is_none_or(|arrow| arrow == Arrow::View))
    {
        let hovered =
            dragged.is_some() || viewport.hovered_handle == Some(PoseHandle::Arrow(Arrow::View));
        let color = if hovered {
            colors.plate_accent
        } else {
            colors.screen_ring
        };
        painter.rect(
            square.shrink(SQUARE * 0.2),
            1.0,
            color.gamma_multiply(0.2),
            Stroke::new(1.5, color),
            StrokeKind::Inside,
        );
    }
}

fn draw_arrow(
    painter: &Painter,
    map: &ScreenMap,
    arrows: &Arrows,
    axis: usize,
    color: Color32,
    width: f32,
) {
    let Some([from, to]) = arrows.ends(map, axis) else {
        return;
    };
    let along = (to - from).normalized();
    let side = along.rot90();
    painter.line_segment([from, to - along * 8.0], Stroke::new(width, color));
    let head = vec![
        to,
        to - along * 12.0 + side * 5.0,
        to - along * 12.0 - side * 5.0,
    ];
    painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
}
