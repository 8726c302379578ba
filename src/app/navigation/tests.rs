use super::*;
use egui::{TouchPhase, pos2, vec2};

fn wheel(unit: MouseWheelUnit, delta: Vec2, modifiers: Modifiers) -> Option<CameraMotion> {
    let event = Event::MouseWheel {
        unit,
        delta,
        phase: TouchPhase::Move,
        modifiers,
        source: MouseWheelSource::Unknown,
    };
    scroll_motion(&event, pos2(5.0, 6.0), false)
}

#[test]
fn the_wheel_zooms_and_two_fingers_orbit() {
    let closer = wheel(MouseWheelUnit::Line, vec2(0.0, 1.0), Modifiers::NONE);
    assert!(matches!(closer, Some(CameraMotion::Zoom { factor, .. }) if factor < 1.0));
    assert_eq!(
        wheel(MouseWheelUnit::Point, vec2(3.0, -2.0), Modifiers::NONE),
        Some(CameraMotion::Orbit(vec2(3.0, -2.0)))
    );
    assert_eq!(
        wheel(MouseWheelUnit::Point, vec2(3.0, -2.0), Modifiers::SHIFT),
        Some(CameraMotion::Pan(vec2(3.0, -2.0)))
    );
    let pinch = wheel(MouseWheelUnit::Point, vec2(0.0, -20.0), Modifiers::COMMAND);
    assert!(matches!(pinch, Some(CameraMotion::Zoom { factor, .. }) if factor > 1.0));
}

#[test]
fn a_drag_to_the_right_turns_the_front_to_the_right() {
    let mut camera = Camera::default();
    let yaw = camera.yaw;
    apply(
        &mut camera,
        CameraMotion::Orbit(vec2(10.0, 0.0)),
        Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0)),
    );
    assert!(
        (camera.yaw - yaw).rem_euclid(std::f32::consts::TAU) > 3.0,
        "the eye goes to the left"
    );
}

#[test]
fn each_preset_supports_every_motion() {
    use PointerButton::{Middle, Primary, Secondary};
    let modifiers = [
        Modifiers::NONE,
        Modifiers::SHIFT,
        Modifiers::COMMAND,
        Modifiers::ALT,
    ];
    for preset in NavigationPreset::ALL {
        for wanted in [DragMotion::Orbit, DragMotion::Pan, DragMotion::Dolly] {
            let found = modifiers.iter().any(|&held| {
                [Primary, Middle, Secondary]
                    .iter()
                    .any(|&b| motion_of_button(preset, b, held) == Some(wanted))
            });
            assert!(found, "{preset:?} can't {wanted:?}");
        }
    }
    let blender = |button, held| motion_of_button(NavigationPreset::Blender, button, held);
    assert_eq!(blender(Middle, Modifiers::NONE), Some(DragMotion::Orbit));
    assert_eq!(blender(Middle, Modifiers::SHIFT), Some(DragMotion::Pan));
    assert_eq!(blender(Middle, Modifiers::COMMAND), Some(DragMotion::Dolly));
    assert_eq!(
        blender(Primary, Modifiers::NONE),
        None,
        "the left button is for the character"
    );
    assert_eq!(
        motion_of_button(NavigationPreset::Maya, Middle, Modifiers::NONE),
        None
    );
}

#[test]
fn speed_scales_steps_and_keeps_their_sign() {
    let navigation = Navigation {
        orbit_speed: 2.0,
        pan_speed: 0.5,
        zoom_speed: 2.0,
        ..Navigation::default()
    };
    let (drag, at) = (vec2(3.0, -2.0), pos2(1.0, 2.0));
    assert_eq!(
        navigation.paced(CameraMotion::Orbit(drag)),
        CameraMotion::Orbit(vec2(6.0, -4.0))
    );
    assert_eq!(
        navigation.paced(CameraMotion::Pan(drag)),
        CameraMotion::Pan(vec2(1.5, -1.0))
    );
    let CameraMotion::Zoom { factor, .. } =
        navigation.paced(CameraMotion::Zoom { factor: 0.9, at })
    else {
        panic!("a zoom stays one")
    };
    assert!((factor - 0.81).abs() < 1e-6);
    assert_eq!(
        Navigation::default().paced(CameraMotion::Zoom { factor: 0.9, at }),
        CameraMotion::Zoom { factor: 0.9, at }
    );
}
