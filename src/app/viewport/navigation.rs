//! How mouse and trackpad move the camera.
//!
//! | input                                     | does                          |
//! |-------------------------------------------|-------------------------------|
//! | left drag on nothing, middle drag         | orbits                        |
//! | right drag, Shift with any orbiting drag  | pans                          |
//! | wheel, pinch, Ctrl with two fingers       | zooms towards the pointer     |
//! | two fingers on a trackpad                 | orbit; with Shift pan         |

use egui::{Event, InputState, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, Rect, Response, Vec2};

use crate::render::Camera;

/// Turn for a drag over one point.
const RADIANS_PER_POINT: f32 = 0.0085;
/// Zoom of one click of the wheel.
const ZOOM_PER_LINE: f32 = 0.88;
/// Points of a smooth scroll that count as one click of the wheel.
const POINTS_PER_LINE: f32 = 40.0;

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

/// What a drag with a button does, if the left button is free for the camera.
#[must_use]
pub fn drag_motion(response: &Response, modifiers: Modifiers, left_is_free: bool) -> Option<Motion> {
    let delta = response.drag_delta();
    if delta == Vec2::ZERO {
        return None;
    }
    let orbits = (left_is_free && response.dragged_by(PointerButton::Primary)) || response.dragged_by(PointerButton::Middle);
    if response.dragged_by(PointerButton::Secondary) || (orbits && modifiers.shift) {
        Some(Motion::Pan(delta))
    } else {
        orbits.then_some(Motion::Orbit(delta))
    }
}

/// What wheel and trackpad do with the pointer at `at`.
#[must_use]
pub fn scroll_motions(input: &InputState, at: Pos2) -> Vec<Motion> {
    input.events.iter().filter_map(|event| scroll_motion(event, at)).collect()
}

fn scroll_motion(event: &Event, at: Pos2) -> Option<Motion> {
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
                    Some(Motion::Zoom { factor: ZOOM_PER_LINE.powf(lines.clamp(-8.0, 8.0)), at })
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
        scroll_motion(&event, pos2(5.0, 6.0))
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
}
