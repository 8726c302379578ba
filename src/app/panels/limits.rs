//! Pin and limits of the selected joint.

use egui::{DragValue, RichText, Ui};

use crate::app::actions::{Actions, edit_of};
use crate::app::widgets::row;
use crate::app::{spotlight, theme};
use crate::rig::limits::Limit;
use crate::session::{Gesture, PoseCommand};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct LimitView {
    /// The joint.
    pub joint: usize,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Its limit, if any.
    pub limit: Option<Limit>,
    /// The limit that "Limit" would set.
    pub fresh: Limit,
    /// Current twist, flexion and sideways swing, radians, in the axes of the limit.
    pub angles: [f64; 3],
}

/// Draws the panel.
pub fn limits_ui(ui: &mut Ui, view: &LimitView, actions: &mut Actions) {
    ui.horizontal(|ui| {
        let mut pinned = view.pinned;
        let response = ui
            .checkbox(&mut pinned, "Pinned")
            .on_hover_text("Stays where it is while the body is dragged (P)");
        spotlight::mark(ui, "Pinned", response.rect);
        if response.changed() {
            actions.once(
                PoseCommand::SetPins {
                    joints: vec![view.joint],
                    pinned,
                }
                .into(),
            );
        }
        let mut limited = view.limit.is_some();
        let response = ui
            .checkbox(&mut limited, "Limited")
            .on_hover_text("Turns only as far as the angles below say");
        spotlight::mark(ui, "Limited", response.rect);
        if response.changed() {
            let limit = limited.then_some(view.fresh);
            actions.once(
                PoseCommand::SetLimit {
                    joint: view.joint,
                    limit,
                }
                .into(),
            );
        }
    });
    let Some(limit) = view.limit else { return };
    let [twist, flex, side] = view.angles.map(f64::to_degrees);
    let mut edited = limit;
    let gestures = [
        range_ui(
            ui,
            "Flex",
            "Bending, one way and the other",
            &mut edited.swing_y,
            flex,
        ),
        range_ui(
            ui,
            "Sideways",
            "Swing across the bend",
            &mut edited.swing_z,
            side,
        ),
        range_ui(
            ui,
            "Twist",
            "Turn about the bone itself",
            &mut edited.twist,
            twist,
        ),
    ];
    if let Some(gesture) = gestures.into_iter().flatten().next() {
        actions.send(
            PoseCommand::SetLimit {
                joint: view.joint,
                limit: Some(edited),
            }
            .into(),
            gesture,
        );
    }
}

fn range_ui(
    ui: &mut Ui,
    name: &str,
    hover: &str,
    range: &mut [f64; 2],
    now: f64,
) -> Option<Gesture> {
    row(ui, name, hover, |ui, _| {
        // As narrow as the panel: a joint that is selected must not widen it.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().interact_size.x = 38.0;
        let weak = theme::colors(ui.ctx()).text_weak;
        let least = degrees(ui, &mut range[0], [-180.0, 0.0], &format!("{name} least"));
        ui.label(RichText::new("–").color(weak));
        let most = degrees(ui, &mut range[1], [0.0, 180.0], &format!("{name} most"));
        // Not −0.
        let now = now.round() + 0.0;
        ui.label(RichText::new(format!("{now}°")).color(weak))
            .on_hover_text("Now");
        least.or(most)
    })
}

fn degrees(ui: &mut Ui, value: &mut f64, [least, most]: [f64; 2], name: &str) -> Option<Gesture> {
    let mut shown = value.to_degrees().round();
    let response = ui.add(
        DragValue::new(&mut shown)
            .range(least..=most)
            .speed(0.5)
            .max_decimals(0)
            .suffix("°"),
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, name));
    let gesture = edit_of(&response);
    if gesture.is_some() {
        *value = shown.to_radians();
    }
    gesture
}
