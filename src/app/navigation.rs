//! Camera navigation by mouse, trackpad, touch screen and number pad.
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
//! In all of them the wheel, a pinch, and Ctrl with two fingers dolly to the pointer; two fingers
//! on a trackpad orbit, with Shift they pan; two fingers on a touch screen pan and pinch.

use egui::{
    Event, InputState, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, Rect,
    Response, Vec2,
};
use serde::{Deserialize, Serialize};

use crate::render::Camera;

/// Rotation per point of a drag, radians.
const RADIANS_PER_POINT: f32 = 0.0085;
/// Zoom factor of one wheel step.
const ZOOM_PER_LINE: f32 = 0.88;
/// Points of a smooth scroll, or of a dolly drag, that equal one wheel step.
const POINTS_PER_LINE: f32 = 40.0;

/// Mouse preset.
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
    /// All presets, in menu order.
    pub const ALL: [Self; 3] = [Self::Sinew, Self::Blender, Self::Maya];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sinew => "Sinew",
            Self::Blender => "Blender",
            Self::Maya => "Maya",
        }
    }

    /// Description of the mouse actions, one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Sinew => {
                "Drag beside the character or with the middle button to orbit, right drag or Shift to pan, wheel to zoom."
            }
            Self::Blender => {
                "Middle drag to orbit, with Shift to pan, with Ctrl to zoom; the wheel zooms."
            }
            Self::Maya => {
                "Alt with a left drag orbits, with a middle drag pans, with a right drag zooms; the wheel zooms."
            }
        }
    }

    /// Whether a drag of the left button moves the camera, even over the character.
    #[must_use]
    pub fn uses_left_button(self, modifiers: Modifiers) -> bool {
        modifiers.alt || (self == Self::Sinew && modifiers.shift)
    }
}

/// Navigation settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Navigation {
    /// Mouse preset.
    pub preset: NavigationPreset,
    /// Inverts the zoom direction of the wheel.
    pub invert_zoom: bool,
    /// Orbit speed; 1 is the default.
    pub orbit_speed: f32,
    /// Pan speed; at 1 the point at the centre follows the pointer.
    pub pan_speed: f32,
    /// Zoom speed; 1 is the default.
    pub zoom_speed: f32,
}

impl Default for Navigation {
    fn default() -> Self {
        Self {
            preset: NavigationPreset::default(),
            invert_zoom: false,
            orbit_speed: 1.0,
            pan_speed: 1.0,
            zoom_speed: 1.0,
        }
    }
}

impl Navigation {
    /// The motion scaled by the speed settings.
    #[must_use]
    pub fn paced(&self, motion: CameraMotion) -> CameraMotion {
        match motion {
            CameraMotion::Orbit(drag) => CameraMotion::Orbit(drag * self.orbit_speed),
            CameraMotion::Pan(drag) => CameraMotion::Pan(drag * self.pan_speed),
            CameraMotion::Zoom { factor, at } => CameraMotion::Zoom {
                factor: factor.powf(self.zoom_speed),
                at,
            },
        }
    }
}

/// One movement of the camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CameraMotion {
    /// Orbit by a drag in points.
    Orbit(Vec2),
    /// Pan by a drag in points.
    Pan(Vec2),
    /// Scale the distance, keeping the point under the pointer fixed.
    Zoom {
        /// Factor; below 1 moves closer.
        factor: f32,
        /// The pointer.
        at: Pos2,
    },
}

/// Applies a motion to a camera that fills `rect`.
pub fn apply(camera: &mut Camera, motion: CameraMotion, rect: Rect) {
    let size = [rect.width(), rect.height()];
    match motion {
        CameraMotion::Orbit(drag) => {
            camera.orbit(-drag.x * RADIANS_PER_POINT, drag.y * RADIANS_PER_POINT);
        }
        CameraMotion::Pan(drag) => camera.pan([drag.x, drag.y], size),
        CameraMotion::Zoom { factor, at } => {
            camera.zoom_towards(factor, [at.x - rect.left(), at.y - rect.top()], size);
        }
    }
}

/// Camera motion of a drag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DragMotion {
    Orbit,
    Pan,
    Dolly,
}

/// Camera motion for a drag of a button. The left button alone is tested only if nothing else takes
/// it.
fn motion_of_button(
    preset: NavigationPreset,
    button: PointerButton,
    modifiers: Modifiers,
) -> Option<DragMotion> {
    if modifiers.alt {
        return match button {
            PointerButton::Primary => Some(if modifiers.shift {
                DragMotion::Pan
            } else {
                DragMotion::Orbit
            }),
            PointerButton::Middle => Some(DragMotion::Pan),
            PointerButton::Secondary => Some(DragMotion::Dolly),
            _ => None,
        };
    }
    match (preset, button) {
        (NavigationPreset::Maya, _) => None,
        (_, PointerButton::Middle) if modifiers.shift => Some(DragMotion::Pan),
        (_, PointerButton::Middle) if modifiers.command => Some(DragMotion::Dolly),
        (_, PointerButton::Middle) => Some(DragMotion::Orbit),
        (NavigationPreset::Sinew, PointerButton::Primary) => Some(if modifiers.shift {
            DragMotion::Pan
        } else {
            DragMotion::Orbit
        }),
        (NavigationPreset::Sinew, PointerButton::Secondary) => Some(DragMotion::Pan),
        _ => None,
    }
}

/// Camera motion of the current drag in this frame.
#[must_use]
pub fn drag_motion(
    response: &Response,
    modifiers: Modifiers,
    press: Option<Pos2>,
    preset: NavigationPreset,
) -> Option<CameraMotion> {
    let delta = response.drag_delta();
    if delta == Vec2::ZERO {
        return None;
    }
    let buttons = [
        PointerButton::Primary,
        PointerButton::Middle,
        PointerButton::Secondary,
    ];
    let button = buttons
        .into_iter()
        .find(|&button| response.dragged_by(button))?;
    Some(match motion_of_button(preset, button, modifiers)? {
        DragMotion::Orbit => CameraMotion::Orbit(delta),
        DragMotion::Pan => CameraMotion::Pan(delta),
        // Right and up moves closer, towards the press position.
        DragMotion::Dolly => {
            let factor = zoom_of_lines((delta.x - delta.y) / POINTS_PER_LINE * 2.0);
            CameraMotion::Zoom {
                factor,
                at: press.unwrap_or_else(|| response.rect.center()),
            }
        }
    })
}

fn zoom_of_lines(lines: f32) -> f32 {
    ZOOM_PER_LINE.powf(lines.clamp(-8.0, 8.0))
}

/// Camera motion of two or more fingers on a touch screen: pan and pinch.
#[must_use]
pub fn touch_motions(input: &InputState) -> Option<[CameraMotion; 2]> {
    let touch = input.multi_touch()?;
    let factor = 1.0 / touch.zoom_delta.clamp(0.2, 5.0);
    Some([
        CameraMotion::Pan(touch.translation_delta),
        CameraMotion::Zoom {
            factor,
            at: touch.center_pos,
        },
    ])
}

/// Camera motion of wheel and trackpad with the pointer at `at`.
#[must_use]
pub fn scroll_motions(input: &InputState, at: Pos2, invert_zoom: bool) -> Vec<CameraMotion> {
    input
        .events
        .iter()
        .filter_map(|event| scroll_motion(event, at, invert_zoom))
        .collect()
}

fn scroll_motion(event: &Event, at: Pos2, invert_zoom: bool) -> Option<CameraMotion> {
    match event {
        Event::Zoom(factor) => Some(CameraMotion::Zoom {
            factor: 1.0 / factor.clamp(0.2, 5.0),
            at,
        }),
        Event::MouseWheel {
            unit,
            delta,
            modifiers,
            source,
            ..
        } => {
            let fingers = match source {
                MouseWheelSource::Trackpad | MouseWheelSource::Momentum => true,
                MouseWheelSource::Wheel => false,
                // Wheels report lines, trackpads points; a wheel has no horizontal part.
                MouseWheelSource::Unknown => *unit == MouseWheelUnit::Point,
            };
            let points = match unit {
                MouseWheelUnit::Point => *delta,
                MouseWheelUnit::Line => *delta * POINTS_PER_LINE,
                MouseWheelUnit::Page => *delta * POINTS_PER_LINE * 10.0,
            };
            match (fingers && !modifiers.command, modifiers.shift) {
                (true, true) => Some(CameraMotion::Pan(points)),
                (true, false) => Some(CameraMotion::Orbit(points)),
                // Some systems report a horizontal wheel while Shift is held.
                (false, _) => {
                    let lines = (points.y + points.x) / POINTS_PER_LINE;
                    Some(CameraMotion::Zoom {
                        factor: zoom_of_lines(if invert_zoom { -lines } else { lines }),
                        at,
                    })
                }
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
