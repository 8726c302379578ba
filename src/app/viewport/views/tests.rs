use super::*;
use crate::math::Point;
use crate::render::Projection;

fn run(viewport: &mut Viewport, animated: bool, passes: usize) {
    let ctx = egui::Context::default();
    ctx.all_styles_mut(|style| style.animation_time = if animated { 0.1 } else { 0.0 });
    for _ in 0..passes {
        let input = egui::RawInput {
            predicted_dt: 0.02,
            ..egui::RawInput::default()
        };
        drop(ctx.run_ui(input, |ui| {
            let rect = ui.max_rect();
            viewport.rect = Some(rect);
            let response = ui.allocate_rect(rect, egui::Sense::click_and_drag());
            viewport.update_camera(ui, &response);
        }));
    }
}

fn framed() -> Viewport {
    let bounds = Bounds {
        min: Point::new(-1.0, 0.0, -0.3),
        max: Point::new(1.0, 2.0, 0.4),
    };
    Viewport {
        framed: Some(super::super::FramedCharacter {
            bind: std::ptr::null(),
            bounds,
        }),
        ..Viewport::default()
    }
}

#[test]
fn views_are_reached_by_transition_or_directly() {
    let mut viewport = framed();
    viewport.look_from(NamedView::Top, &[]);
    let wanted = viewport.wanted_camera();
    assert!(viewport.camera != wanted, "it is on its way");
    run(&mut viewport, false, 1);
    assert_eq!((viewport.camera, viewport.flight.is_none()), (wanted, true));
    viewport.look_from(NamedView::Left, &[]);
    run(&mut viewport, true, 2);
    assert!(
        viewport.flight.is_some()
            && viewport.camera != wanted
            && viewport.camera != viewport.wanted_camera()
    );
    run(&mut viewport, true, 12);
    assert!(viewport.flight.is_none());
    assert!((viewport.camera.axes().2 - crate::math::Vec3::x()).norm() < 1e-5);
}

#[test]
fn quick_key_presses_accumulate() {
    let mut viewport = framed();
    let view = ViewportView::default();
    let yaw = viewport.camera.yaw;
    for action in [
        CameraAction::Turn([1, 0]),
        CameraAction::Turn([1, 0]),
        CameraAction::ToggleProjection,
    ] {
        viewport.move_camera(action, &view);
    }
    run(&mut viewport, false, 1);
    assert!((viewport.camera.yaw - yaw - 2.0 * KEY_TURN).abs() < 1e-5);
    assert_eq!(viewport.camera.projection, Projection::Orthographic);
    viewport.move_camera(CameraAction::TurnTo(NamedView::Top), &view);
    viewport.move_camera(CameraAction::Opposite, &view);
    run(&mut viewport, false, 1);
    assert!(
        (viewport.camera.axes().2 + crate::math::Vec3::y()).norm() < 1e-5,
        "from below"
    );
}

#[test]
fn manual_input_continues_from_the_transition_target() {
    let mut viewport = framed();
    viewport.look_from(NamedView::Front, &[]);
    let wanted = viewport.wanted_camera();
    run(&mut viewport, true, 1);
    viewport.apply_camera_motion(CameraMotion::Orbit(egui::Vec2::ZERO));
    assert_eq!(viewport.camera, wanted);
}

#[test]
fn the_turntable_rotates_while_it_is_on() {
    let mut viewport = framed();
    let view = ViewportView::default();
    run(&mut viewport, false, 3);
    let still = viewport.camera.yaw;
    viewport.move_camera(CameraAction::ToggleTurntable, &view);
    run(&mut viewport, false, 3);
    assert!(viewport.camera.yaw > still);
}
