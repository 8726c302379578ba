//! Draws joint dots, names and rotation rings over the picture.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, vec2};

use super::dots::dots;
use super::gizmo::{Gizmo, Ring};
use super::label::{label, label_beside};
use super::painting::draw_brush;
use super::posing::{PoseDrag, PoseHandle, draw_marks, gizmo_at};
use super::screen_map::ScreenMap;
use super::{Viewport, ViewportView};
use crate::app::actions::tools::Tool;
use crate::app::theme::{self, Colors};
use crate::math::origin_of;

/// Draws all handles.
pub fn draw(painter: &Painter, viewport: &Viewport, view: &ViewportView<'_>, dots: bool) {
    let Some(map) = viewport.map() else { return };
    let painter = painter.with_clip_rect(map.rect());
    let colors = theme::colors(painter.ctx());
    if dots {
        draw_dots(&painter, &map, view);
    }
    if let Some(joint) = view.selected {
        draw_rings(&painter, &map, viewport, view, joint);
    }
    draw_marks(&painter, &map, viewport, view);
    for &joint in view
        .selection
        .iter()
        .filter(|joint| Some(**joint) != view.selected)
    {
        draw_bones(&painter, &map, view, joint, colors.plate_accent, 3.5);
    }
    let named = view.selected.and_then(|joint| {
        draw_joint(
            &painter,
            &map,
            view,
            joint,
            (colors.plate_accent, 4.5),
            None,
        )
    });
    if viewport.drag.is_none() {
        let hovered = viewport
            .hovered
            .map(super::picking::PickTarget::joint)
            .or(view.tools.hovered);
        let hovered = hovered.filter(|joint| Some(*joint) != view.selected);
        if let Some(joint) = hovered {
            draw_joint(&painter, &map, view, joint, (colors.plate_text, 4.0), named);
        }
    }
    draw_brush(&painter, &map, viewport, view);
}

fn draw_dots(painter: &Painter, map: &ScreenMap, view: &ViewportView<'_>) {
    let Some(skeleton) = view.skeleton else {
        return;
    };
    let positions = view.world_from_joint.iter().map(origin_of);
    for dot in dots(map, positions, 8.0) {
        let Some(joint) = skeleton.joints().get(dot.joint) else {
            continue;
        };
        let alpha = if joint.deforms { 190.0 } else { 80.0 };
        let alpha = (alpha * dot.strength) as u8;
        painter.circle(
            dot.at,
            dot.radius(2.4),
            Color32::from_white_alpha(alpha),
            Stroke::new(0.8, Color32::from_black_alpha(alpha)),
        );
    }
}

/// Draws a joint and its name, which does not cover another name. Returns the name's plate.
fn draw_joint(
    painter: &Painter,
    map: &ScreenMap,
    view: &ViewportView<'_>,
    joint: usize,
    (color, radius): (Color32, f32),
    other: Option<Rect>,
) -> Option<Rect> {
    let name = &view.skeleton?.joints().get(joint)?.name;
    let at = draw_bones(painter, map, view, joint, color, radius)? + vec2(12.0, -14.0);
    Some(label_beside(painter, map.rect(), at, name, color, other))
}

/// Draws a joint's dot and bones. Returns the dot's position.
fn draw_bones(
    painter: &Painter,
    map: &ScreenMap,
    view: &ViewportView<'_>,
    joint: usize,
    color: Color32,
    radius: f32,
) -> Option<Pos2> {
    let (skeleton, world) = view.skeleton.zip(view.world_from_joint.get(joint))?;
    let at = map.project(&origin_of(world))?;
    // A thin line to each child.
    for child in skeleton.children(joint) {
        let to = view
            .world_from_joint
            .get(*child)
            .and_then(|world| map.project(&origin_of(world)));
        if let Some(to) = to {
            painter.line_segment([at, to], Stroke::new(2.0, color.gamma_multiply(0.75)));
        }
    }
    painter.circle(
        at,
        radius,
        color,
        Stroke::new(1.2, Color32::from_black_alpha(200)),
    );
    Some(at)
}

fn draw_rings(
    painter: &Painter,
    map: &ScreenMap,
    viewport: &Viewport,
    view: &ViewportView<'_>,
    joint: usize,
) {
    let colors = theme::colors(painter.ctx());
    match &viewport.drag {
        Some(PoseDrag::Ring {
            gizmo, drag, angle, ..
        }) => {
            let color = ring_color(colors, drag.ring);
            let slice = drag.slice(gizmo, map, *angle);
            draw_slice(painter, &slice, color);
            draw_ring(painter, map, gizmo, drag.ring, color, 3.0);
            if let Some(end) = slice.last() {
                label(
                    painter,
                    map.rect(),
                    *end + vec2(14.0, 0.0),
                    &format!("{:+.1}°", angle.to_degrees()),
                    colors.plate_text,
                );
            }
        }
        Some(PoseDrag::Ball { .. }) | None if view.tools.tool != Tool::Move => {
            let Some(gizmo) = gizmo_at(map, view, joint) else {
                return;
            };
            for ring in Ring::ALL {
                let hovered = viewport.hovered_handle == Some(PoseHandle::Ring(ring));
                let color = if hovered {
                    colors.plate_accent
                } else {
                    ring_color(colors, ring)
                };
                draw_ring(
                    painter,
                    map,
                    &gizmo,
                    ring,
                    color,
                    if hovered { 3.5 } else { 2.0 },
                );
            }
        }
        _ => {}
    }
}

fn ring_color(colors: &Colors, ring: Ring) -> Color32 {
    match ring {
        Ring::Axis(axis) => colors.axes[axis.min(2)],
        Ring::Screen => colors.screen_ring.gamma_multiply(0.7),
    }
}

/// Front halves bright, back halves faint.
fn draw_ring(
    painter: &Painter,
    map: &ScreenMap,
    gizmo: &Gizmo,
    ring: Ring,
    color: Color32,
    width: f32,
) {
    let corners = gizmo.corners(map, ring);
    for front in [false, true] {
        let stroke = if front {
            Stroke::new(width, color)
        } else {
            Stroke::new(width * 0.6, color.gamma_multiply(0.25))
        };
        let mut run: Vec<Pos2> = Vec::new();
        for pair in corners.windows(2) {
            if (pair[0].front && pair[1].front) == front {
                if run.is_empty() {
                    run.push(pair[0].position);
                }
                run.push(pair[1].position);
            } else if !run.is_empty() {
                painter.add(Shape::line(std::mem::take(&mut run), stroke));
            }
        }
        if run.len() > 1 {
            painter.add(Shape::line(run, stroke));
        }
    }
}

fn draw_slice(painter: &Painter, slice: &[Pos2], color: Color32) {
    let fill = color.gamma_multiply(0.22);
    if let [centre, along @ ..] = slice {
        let mut mesh = egui::Mesh::default();
        mesh.colored_vertex(*centre, fill);
        for (index, point) in along.iter().enumerate() {
            mesh.colored_vertex(*point, fill);
            if index > 0 {
                mesh.add_triangle(0, index as u32, index as u32 + 1);
            }
        }
        painter.add(mesh);
        for end in [along.first(), along.last()].into_iter().flatten() {
            painter.line_segment([*centre, *end], Stroke::new(1.5, color));
        }
    }
}

/// Position of a message in the centre of the viewport.
pub fn centered_text(painter: &Painter, rect: Rect, text: &str) {
    painter.text(
        rect.center(),
        Align2::CENTER_CENTER,
        text,
        FontId::proportional(16.0),
        theme::colors(painter.ctx()).text_weak,
    );
}
