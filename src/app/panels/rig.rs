//! Panel of edit mode: the selected joint, symmetry, templates, and how well the skeleton fits.

use egui::{Button, DragValue, RichText, TextEdit, Ui};

use crate::app::actions::EditAction;
use crate::app::actions::{Action, Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::app::widgets::row;
use crate::math::Point64;
use crate::rig::edit::template::TemplateKind;
use crate::rig::edit::{Rig, RigBone, RigEdit};
use crate::session::{Command, RigCommand, RigQuality, RigRating};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct RigPanelView<'a> {
    /// The skeleton under construction.
    pub rig: &'a Rig,
    /// The selected joint.
    pub selected: Option<usize>,
    /// Quality of the fit.
    pub quality: Option<&'a RigQuality>,
    /// Whether symmetry is on.
    pub symmetry: bool,
    /// Whether the mesh is symmetric; `None` until it was analysed.
    pub has_plane: Option<bool>,
    /// Radius of the selected joint's bones, and whether it was set instead of fitted.
    pub radius: Option<(f64, bool)>,
    /// Whether the selected joint's bones are virtual.
    pub is_virtual: bool,
    /// Tail position of a leaf's bone.
    pub tail: Option<Point64>,
    /// The template being fitted.
    pub fitting: Option<TemplateKind>,
    /// Whether the skeleton differs from that of the files.
    pub differs_from_file: bool,
    /// Length of the character, for the step size of fields.
    pub size: f64,
}

/// State of the panel: a name being typed.
#[derive(Debug, Clone, Default)]
pub struct RigPanelState {
    name: Option<(usize, String)>,
}

fn edit(edit: RigEdit) -> Command {
    Command::Rig(RigCommand::Edit(edit))
}

/// Draws the panel.
pub fn rig_ui(
    ui: &mut Ui,
    view: &RigPanelView<'_>,
    state: &mut RigPanelState,
    actions: &mut Actions,
) {
    if let Some(quality) = view.quality {
        badge_ui(ui, quality, view.fitting.is_some());
    }
    symmetry_ui(ui, view, actions);
    templates_ui(ui, view, actions);
    ui.add_space(6.0);
    match view.selected.filter(|&joint| joint < view.rig.len()) {
        Some(joint) => joint_ui(ui, view, joint, state, actions),
        None if view.fitting.is_some() => {}
        None => {
            ui.label(
                RichText::new("No joint is selected.").color(theme::colors(ui.ctx()).text_weak),
            );
        }
    }
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        let save = Button::new("Save skeleton…");
        if ui
            .add_enabled(!view.rig.is_empty(), save)
            .on_hover_text("Writes the joints as .skel, or mesh, joints and weights as .glb")
            .clicked()
        {
            actions.push(Action::Edit(EditAction::SaveDialog));
        }
        if view.differs_from_file
            && ui
                .button("Back to the file's")
                .on_hover_text(
                    "Takes the skeleton as the files have it again; undo brings this one back",
                )
                .clicked()
        {
            actions.once(Command::Rig(RigCommand::UseFileSkeleton));
        }
    });
}

/// Lines that the longest sentence needs.
const SENTENCE_LINES: f32 = 3.0;

/// A coloured word and a sentence.
fn badge_ui(ui: &mut Ui, quality: &RigQuality, fitting: bool) {
    let colors = theme::colors(ui.ctx());
    let (word, icon, color) = match quality.rating {
        RigRating::Good => ("Sits well", Icon::Check, colors.mended),
        RigRating::Fair => ("Usable", Icon::Info, colors.warning),
        RigRating::Poor => ("Sits badly", Icon::Warning, colors.error),
        RigRating::None => ("No flesh yet", Icon::Info, colors.text_weak),
    };
    egui::Frame::new()
        .fill(colors.sunken)
        .corner_radius(4.0)
        .inner_margin(egui::Margin::symmetric(8, 5))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                icons::label(ui, icon, color);
                ui.label(RichText::new(word).color(color).strong());
                // Without previous flesh the sentence below explains it.
                if quality.pending && quality.rating != RigRating::None {
                    ui.label(
                        RichText::new("newer flesh is being made…")
                            .color(colors.text_weak)
                            .small(),
                    );
                }
            });
            // Constant height, so that nothing below moves while joints are placed.
            let line = ui.text_style_height(&egui::TextStyle::Small);
            // Clicks place no joints while landmarks are shown.
            let sentence = if fitting && quality.rating == RigRating::None {
                "Apply builds the skeleton, and flesh on it."
            } else {
                quality.sentence.as_str()
            };
            let said = ui
                .label(RichText::new(sentence).color(colors.text_weak).small())
                .rect
                .height();
            ui.add_space((SENTENCE_LINES * line - said).max(0.0));
        });
    ui.add_space(4.0);
}

fn symmetry_ui(ui: &mut Ui, view: &RigPanelView<'_>, actions: &mut Actions) {
    let mut on = view.symmetry && view.has_plane != Some(false);
    let hover = match view.has_plane {
        Some(false) => "This mesh has no two sides that are alike",
        _ => "What is done to one side is done to the other; names end in .L and .R",
    };
    let enabled = view.has_plane != Some(false);
    if ui
        .add_enabled(enabled, egui::Checkbox::new(&mut on, "Both sides at once"))
        .on_hover_text(hover)
        .on_disabled_hover_text(hover)
        .changed()
    {
        actions.once(Command::Rig(RigCommand::SetSymmetry(on)));
    }
}

fn templates_ui(ui: &mut Ui, view: &RigPanelView<'_>, actions: &mut Actions) {
    if let Some(kind) = view.fitting {
        ui.label(
            RichText::new(format!("Fitting: {}", kind.label()))
                .color(theme::colors(ui.ctx()).accent)
                .strong(),
        );
        ui.label(
            RichText::new("Drag the landmarks in the view to where they belong.")
                .color(theme::colors(ui.ctx()).text_weak)
                .small(),
        );
        ui.horizontal(|ui| {
            if ui
                .button("Apply")
                .on_hover_text("Builds the skeleton through the landmarks (Enter)")
                .clicked()
            {
                actions.push(Action::Edit(EditAction::ApplyFitting));
            }
            if ui
                .button("Cancel")
                .on_hover_text("Leaves the skeleton as it is (Esc)")
                .clicked()
            {
                actions.push(Action::Edit(EditAction::LeaveFitting));
            }
        });
        return;
    }
    row(
        ui,
        "Template",
        "A whole skeleton that is fitted by a few landmarks",
        |ui, _| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                for kind in TemplateKind::ALL {
                    // Landmarks appear after the mesh was analysed.
                    if ui
                        .button(kind.label())
                        .on_hover_text(kind.sentence())
                        .clicked()
                    {
                        actions.push(Action::Edit(EditAction::StartFitting(kind)));
                    }
                }
            });
        },
    );
}

fn joint_ui(
    ui: &mut Ui,
    view: &RigPanelView<'_>,
    joint: usize,
    state: &mut RigPanelState,
    actions: &mut Actions,
) {
    name_ui(ui, view, joint, state, actions);
    parent_ui(ui, view, joint, actions);
    let this = &view.rig.joints()[joint];
    if let Some((position, gesture)) = place_ui(
        ui,
        "Position",
        "Where the joint is in the bind pose",
        this.position,
        view.size,
    ) {
        actions.send(
            edit(RigEdit::Move {
                joint,
                position,
                with_children: false,
            }),
            gesture,
        );
    }
    // Only leaves have a tail, and whether a joint is one is known only after the flesh was computed; the row stays, so that
    // nothing below moves.
    let next = view
        .rig
        .children(joint)
        .next()
        .map(|child| view.rig.joints()[child].position);
    let tail = view.tail.filter(|_| next.is_none());
    let row = ui.add_enabled_ui(tail.is_some(), |ui| {
        let hover = "Where the bone of a last joint ends; others end at the next joint";
        place_ui(
            ui,
            "Tail",
            hover,
            tail.or(next).unwrap_or(this.position),
            view.size,
        )
    });
    if let Some((tail, gesture)) = row.inner {
        actions.send(
            edit(RigEdit::SetTail {
                joint,
                tail: Some(tail),
            }),
            gesture,
        );
    }
    bone_ui(ui, view, joint, actions);
    buttons_ui(ui, view, joint, actions);
}

fn name_ui(
    ui: &mut Ui,
    view: &RigPanelView<'_>,
    joint: usize,
    state: &mut RigPanelState,
    actions: &mut Actions,
) {
    let name = &view.rig.joints()[joint].name;
    row(ui, "Name", "Unique; Enter takes it", |ui, label| {
        let mut text = state
            .name
            .as_ref()
            .filter(|(of, _)| *of == joint)
            .map_or_else(|| name.clone(), |(_, text)| text.clone());
        let response = ui
            .add(TextEdit::singleline(&mut text).desired_width(ui.available_width()))
            .labelled_by(label);
        if response.has_focus() || response.changed() {
            state.name = Some((joint, text.clone()));
        }
        if response.lost_focus() {
            state.name = None;
            if text.trim() != name && !ui.input(|input| input.key_pressed(egui::Key::Escape)) {
                actions.once(edit(RigEdit::Rename { joint, name: text }));
            }
        }
    });
}

fn parent_ui(ui: &mut Ui, view: &RigPanelView<'_>, joint: usize, actions: &mut Actions) {
    let name = |joint: usize| view.rig.joints()[joint].name.as_str();
    let parent = view.rig.joints()[joint].parent;
    row(ui, "Parent", "What the joint hangs on", |ui, _| {
        let combo = egui::ComboBox::from_id_salt("parent")
            .width(ui.available_width() - 8.0)
            .selected_text(parent.map_or("None", name));
        combo.show_ui(ui, |ui| {
            let mut choose = |ui: &mut Ui, wanted: Option<usize>| {
                if ui
                    .selectable_label(parent == wanted, wanted.map_or("None", name))
                    .clicked()
                    && parent != wanted
                {
                    actions.once(edit(RigEdit::Reparent {
                        joint,
                        parent: wanted,
                    }));
                }
            };
            choose(ui, None);
            for other in (0..view.rig.len()).filter(|&other| !view.rig.is_below(other, joint)) {
                choose(ui, Some(other));
            }
        });
    });
}

/// Three fields; returns the edited values, if any.
fn place_ui(
    ui: &mut Ui,
    name: &str,
    hover: &str,
    place: Point64,
    size: f64,
) -> Option<(Point64, crate::session::Gesture)> {
    let colors = theme::colors(ui.ctx());
    let mut edited = place;
    let mut outcome = None;
    row(ui, name, hover, |ui, _| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let width = ((ui.available_width() - 3.0 * 14.0) / 3.0).max(36.0);
        ui.spacing_mut().interact_size.x = width;
        for (axis, letter) in ["X", "Y", "Z"].into_iter().enumerate() {
            let label = ui.label(RichText::new(letter).color(colors.axes[axis]).small());
            let decimals = (3.0 - size.max(1e-9).log10()).clamp(0.0, 6.0) as usize;
            let response = ui
                .add(
                    DragValue::new(&mut edited[axis])
                        .speed(size * 1e-3)
                        .max_decimals(decimals),
                )
                .labelled_by(label.id);
            if let Some(gesture) = edit_of(&response) {
                outcome = Some(gesture);
            }
        }
    });
    outcome.map(|gesture| (edited, gesture))
}

fn bone_ui(ui: &mut Ui, view: &RigPanelView<'_>, joint: usize, actions: &mut Actions) {
    // The rows stay while flesh is recomputed, so that nothing below moves.
    ui.add_enabled_ui(view.radius.is_some(), |ui| {
        let (radius, said) = view.radius.unwrap_or_default();
        row(ui, "Radius", "How thick the bone is that the flesh grows on; the ring in the view can be dragged, too", |ui, label| {
            let mut edited = radius;
            let least = if view.radius.is_some() { view.size * 1e-5 } else { 0.0 };
            let speed = (view.size * 2e-4).max(1e-9);
            let decimals = (4.0 - view.size.max(1e-9).log10()).clamp(0.0, 7.0) as usize;
            let response =
                ui.add(DragValue::new(&mut edited).range(least..=view.size).speed(speed).max_decimals(decimals)).labelled_by(label);
            if let Some(gesture) = edit_of(&response) {
                actions.send(Command::Rig(RigCommand::SetRadius { joint, radius: Some(edited) }), gesture);
            }
            if ui.add_enabled(said, Button::new("Fit")).on_hover_text("As thick as the skin allows").clicked() {
                actions.once(Command::Rig(RigCommand::SetRadius { joint, radius: None }));
            }
        });
        let mut on = view.is_virtual;
        let hover = "Its bones shape the flesh but don't hold it: it swings by itself, for trunks, tails and bellies";
        if ui.checkbox(&mut on, "Virtual bones").on_hover_text(hover).changed() {
            actions.once(Command::Rig(RigCommand::SetVirtual { joint, on }));
        }
    });
}

fn buttons_ui(ui: &mut Ui, view: &RigPanelView<'_>, joint: usize, actions: &mut Actions) {
    let has_parent = view.rig.joints()[joint].parent.is_some();
    let mut button = |ui: &mut Ui, enabled: bool, name: &str, hover: &str, wanted: RigEdit| {
        if ui
            .add_enabled(enabled, Button::new(name))
            .on_hover_text(hover)
            .clicked()
        {
            actions.once(edit(wanted));
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let bone = RigBone::To(joint);
        button(
            ui,
            has_parent,
            "Insert",
            "A joint in the middle of the bone that leads here (Shift+click on a bone)",
            RigEdit::Insert { bone, at: 0.5 },
        );
        button(
            ui,
            has_parent,
            "Split in 3",
            "Cuts the bone that leads here into three",
            RigEdit::Split { bone, parts: 3 },
        );
        button(
            ui,
            has_parent,
            "Merge",
            "Joins it with its parent (M)",
            RigEdit::Merge(joint),
        );
        button(
            ui,
            true,
            "Delete",
            "Its children will hang on its parent (Delete)",
            RigEdit::Delete(joint),
        );
    });
}
