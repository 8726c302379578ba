//! The status line: always says what the mouse will do.

use egui::{Align, Layout, RichText, Ui};

use super::theme;
use super::viewport::Viewport;
use super::viewport::gizmo::Ring;
use super::viewport::posing::{Handle, PoseDrag};
use crate::rig::Skeleton;

/// What the mouse will do, in one line.
#[must_use]
pub fn hint(viewport: &Viewport, skeleton: Option<&Skeleton>, pointer_in_viewport: bool, has_clips: bool) -> String {
    let Some(skeleton) = skeleton else {
        return "Drop a character on the window, or choose Open…".to_owned();
    };
    let name = |joint: usize| skeleton.joints().get(joint).map_or("", |joint| joint.name.as_str());
    if let Some(drag) = &viewport.drag {
        return drag_hint(drag, &name);
    }
    match (viewport.hovered_handle, viewport.hovered) {
        (Some(Handle::Ring(ring)), _) => format!("Drag to turn about {} – Ctrl snaps", axis(ring)),
        (Some(Handle::Arrow(_)), _) => {
            "Drag to move the joint, the body follows – Ctrl snaps, Shift keeps a hand or foot turned as it is".to_owned()
        }
        (Some(Handle::Ball), Some(target)) => format!("{}: click to select, drag to turn freely", name(target.joint())),
        (Some(Handle::Ball), None) => "Drag to turn freely".to_owned(),
        (None, Some(target)) => {
            let joint = target.joint();
            format!("{}: click to select, drag to pull it – right click for more, P pins it", name(joint))
        }
        (None, None) if pointer_in_viewport => {
            format!("Drag to orbit, Shift or right drag to pan, wheel to zoom – F frames{}", if has_clips { ", Space plays" } else { "" })
        }
        (None, None) => {
            format!("Click a joint or the flesh to pose{}; F1 lists all shortcuts", if has_clips { "; Space plays" } else { "" })
        }
    }
}

fn drag_hint<'a>(drag: &PoseDrag, name: &dyn Fn(usize) -> &'a str) -> String {
    match drag {
        PoseDrag::Ring { joint, joints, drag, angle, .. } => {
            let what = if joints.len() > 1 { format!("{} joints", joints.len()) } else { name(*joint).to_owned() };
            format!("Turning {what} about {} by {:.1}° – Ctrl snaps, Esc takes it back", axis(drag.ring), angle.to_degrees())
        }
        PoseDrag::Ball { joint, .. } => format!("Turning {} freely – Esc takes it back", name(*joint)),
        PoseDrag::Arrow { joint, .. } => format!("Moving {} – Ctrl snaps, Shift keeps its turn, Esc takes it back", name(*joint)),
        PoseDrag::Reach(reach) => {
            format!("Dragging {} – Shift keeps a hand or foot turned as it is, Esc takes it back", name(reach.grip.joint))
        }
        PoseDrag::Pull(pull) => format!("Pulling, {} turns – Esc takes it back", name(pull.joint)),
        PoseDrag::Box { .. } => "Selecting the joints in the rectangle".to_owned(),
    }
}

fn axis(ring: Ring) -> String {
    match ring {
        Ring::Screen => "the line of sight".to_owned(),
        Ring::Axis(_) => format!("its {} axis", ring.label()),
    }
}

/// Draws the line: the hint on the left, how fast things go on the right.
pub fn status_ui(ui: &mut Ui, hint: &str, speed: &str) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(RichText::new(speed).color(theme::colors(ui.ctx()).text_weak).small());
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(egui::Label::new(RichText::new(hint).color(theme::colors(ui.ctx()).text)).truncate());
        });
    });
}
