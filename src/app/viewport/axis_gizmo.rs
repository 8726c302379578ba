//! The axis gizmo in the corner of a viewport: shows the orientation. A click on an end views along
//! that axis, a drag orbits.

use egui::{
    Align2, Color32, FontId, Id, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2, pos2, vec2,
};

use super::Viewport;
use crate::app::actions::CameraAction;
use crate::app::actions::{Action, Actions};
use crate::app::navigation::CameraMotion;
use crate::app::theme;
use crate::math::Vec3;
use crate::render::{Camera, NamedView, Projection};

/// Length of an axis, points.
const ARM: f32 = 30.0;
/// Radius of an axis's end, points.
const BALL: f32 = 9.0;
/// Radius of the disc behind it, which can be dragged.
const DISC: f32 = ARM + BALL + 3.0;
/// Distance from the edges of the viewport.
const INSET: f32 = 10.0;
/// Minimum viewport size for the gizmo.
const LEAST: Vec2 = vec2(190.0, 170.0);

/// Pointer state of the gizmo.
#[derive(Debug, Clone, Copy, Default)]
pub struct AxisGizmo {
    /// Whether the pointer is on it, so that it takes the input.
    pub hovered: bool,
}

/// One end of an axis.
#[derive(Debug, Clone, Copy)]
struct AxisEnd {
    axis: usize,
    positive: bool,
    at: Pos2,
    /// Component towards the eye, −1 to 1.
    depth: f32,
    view: NamedView,
}

impl AxisGizmo {
    /// Its rectangle in a viewport; `None` if there is no room.
    #[must_use]
    pub fn rect_in(viewport: Rect) -> Option<Rect> {
        let room = viewport.width() >= LEAST.x && viewport.height() >= LEAST.y;
        let center = pos2(
            viewport.right() - INSET - DISC,
            viewport.top() + INSET + DISC,
        );
        room.then(|| Rect::from_center_size(center, Vec2::splat(2.0 * DISC)))
    }
}

/// The six ends, the farthest first.
fn ends(camera: &Camera, center: Pos2) -> Vec<AxisEnd> {
    let (right, up, back) = camera.axes();
    let stage_from_world = camera.world_from_stage.inverse();
    let mut ends = Vec::with_capacity(6);
    for axis in 0..3 {
        for positive in [false, true] {
            let sign = if positive { 1.0 } else { -1.0 };
            let mut direction = Vec3::zeros();
            direction[axis] = sign;
            let at = center + vec2(direction.dot(&right), -direction.dot(&up)) * ARM;
            let on_stage = stage_from_world * direction;
            let main = on_stage.iamax();
            ends.push(AxisEnd {
                axis,
                positive,
                at,
                depth: direction.dot(&back),
                view: NamedView::along(main, on_stage[main] > 0.0),
            });
        }
    }
    ends.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    ends
}

/// Draws the gizmo over the picture of a viewport, and handles its input. Must be called after
/// [`Viewport::interact`].
pub fn axis_gizmo_ui(
    ui: &mut Ui,
    id: Id,
    viewport: &mut Viewport,
    actions: &mut Actions,
) -> Option<Rect> {
    let Some(rect) = viewport
        .rect
        .and_then(AxisGizmo::rect_in)
        .filter(|_| viewport.framed.is_some())
    else {
        viewport.axis_gizmo = AxisGizmo::default();
        return None;
    };
    let colors = theme::colors(ui.ctx()).axes;
    let disc = ui.interact(rect, id.with("axes"), Sense::click_and_drag());
    disc.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Axes"));
    let mut orbit = disc.drag_delta();
    let mut hovered = disc.hovered() || disc.dragged();
    let painter = ui.painter().clone();
    if hovered {
        painter.circle_filled(rect.center(), DISC, Color32::from_white_alpha(18));
    }
    let mut asked = None;
    for end in ends(&viewport.camera, rect.center()) {
        let response = end_ui(ui, id, &end);
        let over = response.hovered() || response.has_focus();
        hovered |= over || response.dragged();
        orbit += response.drag_delta();
        if response.clicked() {
            // A click on the end that faces the eye selects the opposite view.
            let faces = end.depth > 0.999;
            asked = Some(CameraAction::TurnTo(if faces {
                end.view.opposite()
            } else {
                end.view
            }));
        }
        draw_end(&painter, rect.center(), &end, colors[end.axis], over);
    }
    if projection_ui(ui, id, rect, viewport.wanted_camera().projection).clicked() {
        asked = Some(CameraAction::ToggleProjection);
    }
    if orbit != Vec2::ZERO {
        viewport.apply_camera_motion(CameraMotion::Orbit(orbit));
        ui.ctx().request_repaint();
    }
    if let Some(action) = asked {
        actions.push(Action::Camera(action));
    }
    viewport.axis_gizmo = AxisGizmo { hovered };
    Some(rect)
}

fn end_ui(ui: &Ui, id: Id, end: &AxisEnd) -> Response {
    let area = Rect::from_center_size(end.at, Vec2::splat(2.0 * BALL));
    let response = ui.interact(
        area,
        id.with((end.axis, end.positive)),
        Sense::click_and_drag(),
    );
    let name = format!(
        "Look from {}{} ({})",
        if end.positive { '+' } else { '−' },
        letter(end.axis),
        side(end.view)
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.dragged() {
        response
    } else {
        response.on_hover_text(name)
    }
}

fn letter(axis: usize) -> char {
    ['X', 'Y', 'Z'][axis.min(2)]
}

fn side(view: NamedView) -> &'static str {
    match view {
        NamedView::Front | NamedView::ThreeQuarter => "front, number pad 1",
        NamedView::Back => "back, number pad Ctrl+1",
        NamedView::Left => "left side, number pad 3",
        NamedView::Right => "right side, number pad Ctrl+3",
        NamedView::Top => "top, number pad 7",
        NamedView::Bottom => "bottom, number pad Ctrl+7",
    }
}

fn draw_end(painter: &egui::Painter, center: Pos2, end: &AxisEnd, color: Color32, over: bool) {
    // Ends behind the centre are dimmer.
    let near = 0.5 + 0.5 * end.depth;
    let shade = color.lerp_to_gamma(Color32::from_gray(60), 0.55 * (1.0 - near));
    let name = letter(end.axis);
    let ring = if over {
        Stroke::new(1.5, Color32::WHITE)
    } else {
        Stroke::NONE
    };
    if end.positive {
        let stem = end.at - (end.at - center).normalized() * BALL;
        if (end.at - center).length() > BALL {
            painter.line_segment([center, stem], Stroke::new(2.0, shade));
        }
        painter.circle(end.at, BALL, shade, ring);
        painter.text(
            end.at,
            Align2::CENTER_CENTER,
            name,
            FontId::proportional(12.0),
            Color32::from_rgb(18, 19, 22),
        );
    } else {
        let fill = shade.gamma_multiply(0.35);
        painter.circle(
            end.at,
            BALL - 1.0,
            fill,
            if over { ring } else { Stroke::new(1.2, shade) },
        );
        if over {
            painter.text(
                end.at,
                Align2::CENTER_CENTER,
                format!("−{name}"),
                FontId::proportional(11.0),
                Color32::WHITE,
            );
        }
    }
}

/// The label below the axes that shows and switches the projection.
fn projection_ui(ui: &Ui, id: Id, gizmo: Rect, projection: Projection) -> Response {
    let (word, meaning) = match projection {
        Projection::Perspective => (
            "Perspective",
            "Perspective; click for orthographic (number pad 5)",
        ),
        Projection::Orthographic => (
            "Orthographic",
            "Orthographic; click for perspective (number pad 5)",
        ),
    };
    let area = Rect::from_center_size(gizmo.center_bottom() + vec2(0.0, 10.0), vec2(78.0, 18.0));
    let response = ui.interact(area, id.with("projection"), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, word));
    let over = response.hovered() || response.has_focus();
    let color = if over {
        Color32::WHITE
    } else {
        Color32::from_white_alpha(150)
    };
    let painter = ui.painter();
    // Legible over light and dark pictures.
    painter.text(
        area.center() + vec2(0.0, 1.0),
        Align2::CENTER_CENTER,
        word,
        FontId::proportional(11.0),
        Color32::from_black_alpha(160),
    );
    painter.text(
        area.center(),
        Align2::CENTER_CENTER,
        word,
        FontId::proportional(11.0),
        color,
    );
    response.on_hover_text(meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_drawn_along_the_axes() {
        let mut camera = Camera::default();
        camera.look_from(NamedView::Front);
        let center = pos2(100.0, 100.0);
        let of = |camera: &Camera, axis: usize, positive: bool| {
            ends(camera, center)
                .into_iter()
                .find(|end| end.axis == axis && end.positive == positive)
                .unwrap()
        };
        assert!(
            of(&camera, 0, true).at.x > center.x + ARM * 0.99,
            "+X is on the right"
        );
        assert!(
            of(&camera, 1, true).at.y < center.y - ARM * 0.99,
            "+Y is up"
        );
        assert!(of(&camera, 2, true).depth > 0.99 && of(&camera, 2, true).view == NamedView::Front);
        assert_eq!(
            (of(&camera, 0, true).view, of(&camera, 1, false).view),
            (NamedView::Left, NamedView::Bottom)
        );
        camera.set_up(&Vec3::z());
        assert!(
            of(&camera, 2, true).at.y < center.y - ARM * 0.99,
            "where +Z is up"
        );
        assert_eq!(
            (of(&camera, 2, true).view, of(&camera, 1, false).view),
            (NamedView::Top, NamedView::Front)
        );
        for end in ends(&camera, center) {
            camera.look_from(end.view);
            let mut direction = Vec3::zeros();
            direction[end.axis] = if end.positive { 1.0 } else { -1.0 };
            assert!(
                (camera.axes().2 - direction).norm() < 1e-5,
                "a click on an end looks from there"
            );
        }
    }

    #[test]
    fn a_narrow_viewport_has_no_room_for_axes() {
        let size = |w: f32, h: f32| Rect::from_min_size(pos2(0.0, 0.0), vec2(w, h));
        assert!(AxisGizmo::rect_in(size(120.0, 400.0)).is_none());
        let viewport = size(400.0, 300.0);
        assert!(viewport.contains_rect(AxisGizmo::rect_in(viewport).unwrap()));
    }

    #[test]
    fn clicks_and_drags_on_the_axes_move_the_camera() {
        use crate::mesh::Bounds;
        use egui_kittest::Harness;
        use egui_kittest::kittest::Queryable;

        #[derive(Default)]
        struct GizmoState {
            viewport: Viewport,
            actions: Actions,
        }
        let draw = |ui: &mut Ui, state: &mut GizmoState| {
            state.viewport.rect = Some(ui.max_rect());
            axis_gizmo_ui(
                ui,
                Id::unique("test"),
                &mut state.viewport,
                &mut state.actions,
            );
        };
        let mut harness = Harness::builder()
            .with_size(vec2(400.0, 300.0))
            .build_ui_state(draw, GizmoState::default());
        harness.run();
        assert!(
            harness.query_by_label("Axes").is_none(),
            "nothing to look at, no axes"
        );
        let bounds = Bounds {
            min: crate::math::Point::new(-1.0, 0.0, -1.0),
            max: crate::math::Point::new(1.0, 2.0, 1.0),
        };
        harness.state_mut().viewport.framed = Some(super::super::FramedCharacter {
            bind: std::ptr::null(),
            bounds,
        });
        harness.run();
        harness.get_by_label_contains("Look from +Y").click();
        harness.run();
        harness.get_by_label("Perspective").click();
        harness.run();
        let asked = harness.state_mut().actions.take();
        assert_eq!(
            asked,
            [
                CameraAction::TurnTo(NamedView::Top),
                CameraAction::ToggleProjection
            ]
            .map(Action::Camera)
        );
        let (before, from) = (
            harness.state().viewport.camera,
            harness.get_by_label("Axes").rect().center(),
        );
        harness.drag_at(from);
        harness.run();
        harness.hover_at(from + vec2(25.0, 0.0));
        harness.run();
        harness.drop_at(from + vec2(25.0, 0.0));
        harness.run();
        assert!(
            harness.state().viewport.camera.yaw != before.yaw,
            "a drag orbits"
        );
        assert_eq!(harness.state().actions.list(), []);
    }
}
