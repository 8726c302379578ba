//! Number pad keys move the camera. egui cannot distinguish them from digits, so the shell handles
//! them first.

use winit::keyboard::KeyCode;

use crate::app::actions::CameraAction;
use crate::render::NamedView;

/// The camera action of a number pad key; with Ctrl the opposite side.
#[must_use]
pub fn camera_action(key: KeyCode, ctrl: bool) -> Option<CameraAction> {
    let side = |view: NamedView| CameraAction::TurnTo(if ctrl { view.opposite() } else { view });
    Some(match key {
        KeyCode::Numpad1 => side(NamedView::Front),
        // As in Blender, "right" is the view from the right of the front view.
        KeyCode::Numpad3 => side(NamedView::Left),
        KeyCode::Numpad7 => side(NamedView::Top),
        KeyCode::Numpad9 => CameraAction::Opposite,
        KeyCode::Numpad0 => CameraAction::LookFrom(NamedView::ThreeQuarter),
        KeyCode::Numpad5 => CameraAction::ToggleProjection,
        KeyCode::Numpad4 => CameraAction::Turn([-1, 0]),
        KeyCode::Numpad6 => CameraAction::Turn([1, 0]),
        KeyCode::Numpad8 => CameraAction::Turn([0, 1]),
        KeyCode::Numpad2 => CameraAction::Turn([0, -1]),
        KeyCode::NumpadDecimal => CameraAction::FrameSelected,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_selects_the_opposite_view_and_letters_are_ignored() {
        assert_eq!(
            camera_action(KeyCode::Numpad1, true),
            Some(CameraAction::TurnTo(NamedView::Back))
        );
        assert_eq!(
            camera_action(KeyCode::Numpad7, true),
            Some(CameraAction::TurnTo(NamedView::Bottom))
        );
        assert_eq!(camera_action(KeyCode::Digit1, false), None);
    }
}
