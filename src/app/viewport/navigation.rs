//! How mouse, trackpad, touch screen and number pad move the camera.
//!
//! | input                        | Sinew    | Blender  | Maya     |
//! |------------------------------|----------|----------|----------|
//! | left drag on nothing         | orbits   |          |          |
//! | middle drag                  | orbits   | orbits   |          |
//! | right drag                   | pans     |          |          |
//! | Shift with an orbiting drag  | pans     | pans     |          |
//! | Ctrl with a middle drag      | dollies  | dollies  |          |
//! | Alt with a left drag         | orbits   | orbits   | orbits   |
//! | Alt with a middle drag       | pans     | pans     | pans     |
//! | Alt with a right drag        | dollies  | dollies  | dollies  |
//!
//! In all of them the wheel, a pinch, and Ctrl with two fingers dolly to the pointer; two fingers on a trackpad orbit, with Shift
//! they pan; two fingers on a touch screen pan and pinch.

use egui::{Event, InputState, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, Rect, Response, Vec2};
use serde::{Deserialize, Serialize};

use crate::render::Camera;

/// Turn for a drag over one point.
const RADIANS_PER_POINT: f32 = 0.0085;
/// Zoom of one click of the wheel.
const ZOOM_PER_LINE: f32 = 0.88;
/// Points of a smooth scroll, or of a dollying drag, that count as one click of the wheel.
const POINTS_PER_LINE: f32 = 40.0;

/// Which program's mouse buttons the camera obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NavigationPreset {
    /// Drag beside the character to orbit, right drag to pan.
    #[default]
    Sinew,
    /// Middle button, with Shift and Ctrl.
    Blender,
    /// Alt with each button.
    Maya,
}

impl NavigationPreset {
    /// All, in the order of a menu.
    pub const ALL: [Self; 3] = [Self::Sinew, Self::Blender, Self::Maya];

    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sinew => "Sinew",
            Self::Blender => "Blender",
            Self::Maya => "Maya",
        }
    }

    /// What to do with the mouse, in one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Sinew => "Drag beside the character or with the middle button to orbit, right drag or Shift to pan, wheel to zoom.",
            Self::Blender => "Middle drag to orbit, with Shift to pan, with Ctrl to zoom; the wheel zooms.",
            Self::Maya => "Alt with a left drag orbits, with a middle drag pans, with a right drag zooms; the wheel zooms.",
        }
    }

    /// Whether a drag of the left button is the camera's, even over the character.
    #[must_use]
    pub fn claims_left(self, modifiers: Modifiers) -> bool {
        modifiers.alt || (self == Self::Sinew && modifiers.shift)
    }
}

/// How the user likes to move about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Navigation {
    /// What the mouse buttons do.
    pub preset: NavigationPreset,
    /// Turning the wheel away moves away.
    pub invert_zoom: bool,
    /// How fast the camera orbits; 1 is usual.
    pub orbit_speed: f32,
    /// How fast it pans; at 1 what is in the middle stays under the pointer.
    pub pan_speed: f32,
    /// How fast it zooms; 1 is usual.
    pub zoom_speed: f32,
}

impl Default for Navigation {
    fn default() -> Self {
        Self { preset: NavigationPreset::default(), invert_zoom: false, orbit_speed: 1.0, pan_speed: 1.0, zoom_speed: 1.0 }
    }
}

impl Navigation {
    /// The motion as fast as the user likes it.
    #[must_use]
    pub fn paced(&self, motion: Motion) -> Motion {
        match motion {
            Motion::Orbit(drag) => Motion::Orbit(drag * self.orbit_speed),
            Motion::Pan(drag) => Motion::Pan(drag * self.pan_speed),
            Motion::Zoom { factor, at } => Motion::Zoom { factor: factor.powf(self.zoom_speed), at },
        }
    }
}

/// One movement of the camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motion {
    /// Turn by a drag of so many points.
    Orbit(Vec2),
    /// Shift by a drag of so many points.
    Pan(Vec2),
    /// Scale the distance, keeping what is under the pointer.
    Zoom {
        /// Below 1 comes closer.
        factor: f32,
        /// The pointer.
        at: Pos2,
    },
}

/// Applies a motion to a camera that fills `rect`.
pub fn apply(camera: &mut Camera, motion: Motion, rect: Rect) {
    let size = [rect.width(), rect.height()];
    match motion {
        Motion::Orbit(drag) => camera.orbit(-drag.x * RADIANS_PER_POINT, drag.y * RADIANS_PER_POINT),
        Motion::Pan(drag) => camera.pan([drag.x, drag.y], size),
        Motion::Zoom { factor, at } => camera.zoom_towards(factor, [at.x - rect.left(), at.y - rect.top()], size),
    }
}

/// What a drag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Orbit,
    Pan,
    Dolly,
}

/// What a drag of a button does. The left button alone is only asked for when nothing else wants it.
fn deed(preset: NavigationPreset, button: PointerButton, modifiers: Modifiers) -> Option<Deed> {
    if modifiers.alt {
        return match button {
            PointerButton::Primary => Some(if modifiers.shift { Deed::Pan } else { Deed::Orbit }),
            PointerButton::Middle => Some(Deed::Pan),
            PointerButton::Secondary => Some(Deed::Dolly),
            _ => None,
        };
    }
    match (preset, button) {
        (NavigationPreset::Maya, _) => None,
        (_, PointerButton::Middle) if modifiers.shift => Some(Deed::Pan),
        (_, PointerButton::Middle) if modifiers.command => Some(Deed::Dolly),
        (_, PointerButton::Middle) => Some(Deed::Orbit),
        (NavigationPreset::Sinew, PointerButton::Primary) => Some(if modifiers.shift { Deed::Pan } else { Deed::Orbit }),
        (NavigationPreset::Sinew, PointerButton::Secondary) => Some(Deed::Pan),
        _ => None,
    }
}

/// What the drag under way does to the camera in this frame.
#[must_use]
pub fn drag_motion(response: &Response, modifiers: Modifiers, press: Option<Pos2>, preset: NavigationPreset) -> Option<Motion> {
    let delta = response.drag_delta();
    if delta == Vec2::ZERO {
        return None;
    }
    let buttons = [PointerButton::Primary, PointerButton::Middle, PointerButton::Secondary];
    let button = buttons.into_iter().find(|&button| response.dragged_by(button))?;
    Some(match deed(preset, button, modifiers)? {
        Deed::Orbit => Motion::Orbit(delta),
        Deed::Pan => Motion::Pan(delta),
        // To the right and upwards comes closer, towards where the button went down.
        Deed::Dolly => {
            let factor = zoom_of_lines((delta.x - delta.y) / POINTS_PER_LINE * 2.0);
            Motion::Zoom { factor, at: press.unwrap_or_else(|| response.rect.center()) }
        }
    })
}

fn zoom_of_lines(lines: f32) -> f32 {
    ZOOM_PER_LINE.powf(lines.clamp(-8.0, 8.0))
}

/// What two or more fingers on a touch screen do: they move what is between them, and bring it closer when they part.
#[must_use]
pub fn touch_motions(input: &InputState) -> Option<[Motion; 2]> {
    let touch = input.multi_touch()?;
    let factor = 1.0 / touch.zoom_delta.clamp(0.2, 5.0);
    Some([Motion::Pan(touch.translation_delta), Motion::Zoom { factor, at: touch.center_pos }])
}

/// What wheel and trackpad do with the pointer at `at`.
#[must_use]
pub fn scroll_motions(input: &InputState, at: Pos2, invert_zoom: bool) -> Vec<Motion> {
    input.events.iter().filter_map(|event| scroll_motion(event, at, invert_zoom)).collect()
}

fn scroll_motion(event: &Event, at: Pos2, invert_zoom: bool) -> Option<Motion> {
    match event {
        Event::Zoom(factor) => Some(Motion::Zoom { factor: 1.0 / factor.clamp(0.2, 5.0), at }),
        Event::MouseWheel { unit, delta, modifiers, source, .. } => {
            let fingers = match source {
                MouseWheelSource::Trackpad | MouseWheelSource::Momentum => true,
                MouseWheelSource::Wheel => false,
                // Wheels come in lines, fingers in points; a wheel has no sideways part.
                MouseWheelSource::Unknown => *unit == MouseWheelUnit::Point,
            };
            let points = match unit {
                MouseWheelUnit::Point => *delta,
                MouseWheelUnit::Line => *delta * POINTS_PER_LINE,
                MouseWheelUnit::Page => *delta * POINTS_PER_LINE * 10.0,
            };
            match (fingers && !modifiers.command, modifiers.shift) {
                (true, true) => Some(Motion::Pan(points)),
                (true, false) => Some(Motion::Orbit(points)),
                // Some systems turn the wheel sideways while Shift is held.
                (false, _) => {
                    let lines = (points.y + points.x) / POINTS_PER_LINE;
                    Some(Motion::Zoom { factor: zoom_of_lines(if invert_zoom { -lines } else { lines }), at })
                }
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{TouchPhase, pos2, vec2};

    fn wheel(unit: MouseWheelUnit, delta: Vec2, modifiers: Modifiers) -> Option<Motion> {
        let event = Event::MouseWheel { unit, delta, phase: TouchPhase::Move, modifiers, source: MouseWheelSource::Unknown };
        scroll_motion(&event, pos2(5.0, 6.0), false)
    }

    #[test]
    fn the_wheel_comes_closer_and_two_fingers_orbit() {
        let closer = wheel(MouseWheelUnit::Line, vec2(0.0, 1.0), Modifiers::NONE);
        assert!(matches!(closer, Some(Motion::Zoom { factor, .. }) if factor < 1.0));
        assert_eq!(wheel(MouseWheelUnit::Point, vec2(3.0, -2.0), Modifiers::NONE), Some(Motion::Orbit(vec2(3.0, -2.0))));
        assert_eq!(wheel(MouseWheelUnit::Point, vec2(3.0, -2.0), Modifiers::SHIFT), Some(Motion::Pan(vec2(3.0, -2.0))));
        let pinch = wheel(MouseWheelUnit::Point, vec2(0.0, -20.0), Modifiers::COMMAND);
        assert!(matches!(pinch, Some(Motion::Zoom { factor, .. }) if factor > 1.0));
    }

    #[test]
    fn a_drag_to_the_right_turns_the_front_to_the_right() {
        let mut camera = Camera::default();
        let yaw = camera.yaw;
        apply(&mut camera, Motion::Orbit(vec2(10.0, 0.0)), Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0)));
        assert!((camera.yaw - yaw).rem_euclid(std::f32::consts::TAU) > 3.0, "the eye goes to the left");
    }

    #[test]
    fn each_preset_has_a_way_to_do_everything() {
        use PointerButton::{Middle, Primary, Secondary};
        let modifiers = [Modifiers::NONE, Modifiers::SHIFT, Modifiers::COMMAND, Modifiers::ALT];
        for preset in NavigationPreset::ALL {
            for wanted in [Deed::Orbit, Deed::Pan, Deed::Dolly] {
                let found =
                    modifiers.iter().any(|&held| [Primary, Middle, Secondary].iter().any(|&b| deed(preset, b, held) == Some(wanted)));
                assert!(found, "{preset:?} can't {wanted:?}");
            }
        }
        let blender = |button, held| deed(NavigationPreset::Blender, button, held);
        assert_eq!(blender(Middle, Modifiers::NONE), Some(Deed::Orbit));
        assert_eq!(blender(Middle, Modifiers::SHIFT), Some(Deed::Pan));
        assert_eq!(blender(Middle, Modifiers::COMMAND), Some(Deed::Dolly));
        assert_eq!(blender(Primary, Modifiers::NONE), None, "the left button is for the character");
        assert_eq!(deed(NavigationPreset::Maya, Middle, Modifiers::NONE), None);
    }

    #[test]
    fn a_pace_makes_steps_larger_and_never_turns_them_round() {
        let navigation = Navigation { orbit_speed: 2.0, pan_speed: 0.5, zoom_speed: 2.0, ..Navigation::default() };
        let (drag, at) = (vec2(3.0, -2.0), pos2(1.0, 2.0));
        assert_eq!(navigation.paced(Motion::Orbit(drag)), Motion::Orbit(vec2(6.0, -4.0)));
        assert_eq!(navigation.paced(Motion::Pan(drag)), Motion::Pan(vec2(1.5, -1.0)));
        let Motion::Zoom { factor, .. } = navigation.paced(Motion::Zoom { factor: 0.9, at }) else { panic!("a zoom stays one") };
        assert!((factor - 0.81).abs() < 1e-6);
        assert_eq!(Navigation::default().paced(Motion::Zoom { factor: 0.9, at }), Motion::Zoom { factor: 0.9, at });
    }
}
