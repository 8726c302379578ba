//! Settings of the selected joint's bones and of the flesh on them.

mod meeting;
mod muscles;

use egui::{RichText, Slider, SliderClamping, Ui};

use self::meeting::meeting_ui;
use self::muscles::muscles_ui;
pub use self::muscles::{ADD_MUSCLE, MuscleRow, MusclesView};
use crate::app::actions::{Actions, edit_of};
use crate::app::widgets::row;
use crate::app::{spotlight, theme};
use crate::character::{BONE_FACTORS, BoneFactor, BoneSettings};
use crate::methods::JointMeeting;
use crate::param::ParamKind;
use crate::session::Command;

/// Input of the panel.
#[derive(Debug, Clone)]
pub struct BoneView<'a> {
    /// The joint that carries the bones.
    pub joint: usize,
    /// The bones' settings.
    pub settings: BoneSettings,
    /// Whether any flesh lies on them.
    pub has_flesh: bool,
    /// Whether the visible method has physics.
    pub simulated: bool,
    /// Whether the visible method composes fields, so that parts meet at joints.
    pub has_meetings: bool,
    /// How the joint's part meets the one that it hangs at now, if the shown method has such parts.
    pub meeting: Option<JointMeeting>,
    /// The muscles of the bone.
    pub muscles: MusclesView<'a>,
}

/// Draws the panel.
pub fn bone_ui(ui: &mut Ui, view: &BoneView<'_>, actions: &mut Actions) {
    if view.has_meetings {
        meeting_ui(ui, view, actions);
        muscles_ui(ui, view.joint, &view.muscles, actions);
        return;
    }
    let why = match (view.simulated, view.has_flesh) {
        (false, _) => Some("Only methods that simulate have flesh."),
        (true, false) => Some("No flesh lies on this joint's bones."),
        (true, true) => None,
    };
    if let Some(why) = why {
        ui.label(RichText::new(why).color(theme::colors(ui.ctx()).text_weak));
        return;
    }
    let mut edited = view.settings;
    let responses = BONE_FACTORS.map(|declared| factor(ui, &declared, &mut edited));
    for response in responses {
        if let Some(gesture) = edit_of(&response) {
            actions.send(
                Command::SetBone {
                    joint: view.joint,
                    settings: edited,
                },
                gesture,
            );
        }
    }
    let mut switched = view.settings;
    ui.horizontal_wrapped(|ui| {
        let mut switch = |on: &mut bool, name: &str, hover: &str| {
            let response = ui.checkbox(on, name).on_hover_text(hover);
            spotlight::mark(ui, name, response.rect);
            response.changed()
        };
        let changed = [
            switch(
                &mut switched.is_virtual,
                "Virtual",
                "Shapes the flesh but doesn't hold it: it swings by itself, for trunks, tails and bellies",
            ),
            switch(&mut switched.held, "Held", "The skin here is rigid with the bone and not simulated: for faces and eyes"),
            switch(&mut switched.twist, "Twist", "Spreads the turn of the joint at the bone's end along the bone: for forearms"),
        ];
        if changed.contains(&true) {
            actions.once(Command::SetBone { joint: view.joint, settings: switched });
        }
    });
    let plain = BoneSettings::default();
    if ui
        .add_enabled(view.settings != plain, egui::Button::new("Reset bone"))
        .on_hover_text("Like the rest of the body")
        .clicked()
    {
        actions.once(Command::SetBone {
            joint: view.joint,
            settings: plain,
        });
    }
}

fn factor(ui: &mut Ui, declared: &BoneFactor, edited: &mut BoneSettings) -> egui::Response {
    let BoneFactor {
        spec,
        field,
        slider: [least, most],
    } = *declared;
    row(ui, spec.label, spec.doc, |ui, label| {
        crate::app::widgets::size_slider(ui);
        let slider = Slider::new(field(edited), least..=most)
            .logarithmic(spec.kind == ParamKind::Logarithmic)
            .clamping(SliderClamping::Edits)
            .max_decimals(2);
        ui.add(slider).labelled_by(label)
    })
}
