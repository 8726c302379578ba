//! The status line: always says what the mouse will do.

use egui::{Align, Layout, RichText, Ui};

use super::theme;
use super::viewport::gizmo::Ring;
use super::viewport::picking::Target;
use super::viewport::{PoseDrag, Viewport};
use crate::rig::Skeleton;

/// What the mouse will do, in one line.
#[must_use]
pub fn hint(viewport: &Viewport, skeleton: Option<&Skeleton>, pointer_in_viewport: bool, has_clips: bool) -> String {
    let Some(skeleton) = skeleton else {
        return "Drop a character on the window, or choose Open…".to_owned();
    };
    let name = |joint: usize| skeleton.joints().get(joint).map_or("", |joint| joint.name.as_str());
    match (&viewport.drag, viewport.hovered_ring, viewport.hovered) {
        (Some(PoseDrag::Ring { joint, drag, sent, .. }), ..) => {
            format!(
                "Turning {} about {} by {:.1}° – Ctrl snaps to 15°, Esc takes it back",
                name(*joint),
                axis(drag.ring),
                sent.to_degrees()
            )
        }
        (Some(PoseDrag::Pull(pull)), ..) => format!("Pulling, {} turns – Esc takes it back", name(pull.joint)),
        (None, Some(ring), _) => format!("Drag to turn about {} – Ctrl snaps to 15°", axis(ring)),
        (None, None, Some(Target::Joint(joint))) => match skeleton.joints().get(joint).and_then(|joint| joint.parent) {
            Some(parent) => format!("{}: click to select, drag to pull it ({} turns)", name(joint), name(parent)),
            None => format!("{}: click to select – drag orbits", name(joint)),
        },
        (None, None, Some(Target::Bone(joint))) => format!("{}: click to select, drag to turn it", name(joint)),
        (None, None, Some(Target::Flesh { joint, .. })) if skeleton.joints().get(joint).is_some_and(|j| j.parent.is_none()) => {
            format!("{}: click to select – drag orbits, wheel zooms", name(joint))
        }
        (None, None, Some(Target::Flesh { joint, .. })) => format!("{}: click to select, drag to pull the limb", name(joint)),
        (None, None, None) if pointer_in_viewport => {
            format!("Drag to orbit, Shift or right drag to pan, wheel to zoom – F frames{}", if has_clips { ", Space plays" } else { "" })
        }
        (None, None, None) => {
            format!("Click a joint or the flesh to pose{}; F1 lists all shortcuts", if has_clips { "; Space plays" } else { "" })
        }
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
