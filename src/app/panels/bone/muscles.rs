//! The muscles of the selected joint's bone.

use egui::{CollapsingHeader, ComboBox, RichText, Slider, SliderClamping, TextEdit, Ui};

use crate::app::actions::{Actions, edit_of};
use crate::app::widgets::{name_text_field, row, size_slider};
use crate::app::{spotlight, theme};
use crate::character::{
    MOST_MUSCLES, MUSCLE_VALUES, Muscle, MuscleMeeting, MuscleShape, MuscleValue,
};
use crate::methods::MusclePlace;
use crate::rig::Skeleton;
use crate::session::{Command, Gesture, MuscleCommand};

/// Name of the button that adds a muscle: the same for the palette.
pub const ADD_MUSCLE: &str = "Add muscle";
/// Joints so far below a bone are offered as drivers.
const LEVELS: usize = 3;

/// A muscle of the bone.
#[derive(Debug, Clone, Copy)]
pub struct MuscleRow<'a> {
    /// Its index among all muscles.
    pub index: usize,
    /// The muscle.
    pub muscle: &'a Muscle,
    /// Where it is now; `None` if the bone has no place for one.
    pub place: Option<MusclePlace>,
}

/// The muscles of a bone.
#[derive(Debug, Clone, Default)]
pub struct MusclesView<'a> {
    /// The skeleton.
    pub skeleton: Option<&'a Skeleton>,
    /// Those of the bone.
    pub rows: Vec<MuscleRow<'a>>,
    /// Number of all muscles of the character.
    pub count: usize,
    /// The joint whose bend a muscle of the bone follows usually; `None` if the bone has no place for one.
    pub usual_driver: Option<usize>,
    /// Whether the skeleton has two sides.
    pub has_sides: bool,
}

/// Draws the section.
pub(super) fn muscles_ui(ui: &mut Ui, joint: usize, view: &MusclesView<'_>, actions: &mut Actions) {
    let Some(skeleton) = view.skeleton.filter(|skeleton| joint < skeleton.len()) else {
        return;
    };
    ui.add_space(6.0);
    let colors = theme::colors(ui.ctx());
    ui.label(RichText::new("Muscles").color(colors.text_strong));
    for row in &view.rows {
        muscle_ui(ui, row, view, skeleton, actions);
    }
    let why = match view.usual_driver {
        None => Some("This bone has no length, or no skin"),
        Some(_) if view.count >= MOST_MUSCLES => Some("The character has as many as it can have"),
        Some(_) => None,
    };
    let button = ui.add_enabled(why.is_none(), egui::Button::new(ADD_MUSCLE));
    spotlight::mark(ui, ADD_MUSCLE, button.rect);
    let button = button
        .on_hover_text(
            "An ellipsoid in the flesh of this bone that swells as the next joint bends, as the biceps does",
        )
        .on_disabled_hover_text(why.unwrap_or_default());
    if button.clicked() {
        let muscle = Muscle {
            name: free_name(&skeleton.joints()[joint].name, &view.rows),
            bone: joint,
            driver: None,
            shape: MuscleShape::default(),
        };
        actions.once(MuscleCommand::Add(muscle).into());
    }
}

/// A name that no other muscle of the bone has.
fn free_name(bone: &str, rows: &[MuscleRow<'_>]) -> String {
    let numbered = |k: usize| match k {
        1 => format!("{bone} muscle"),
        _ => format!("{bone} muscle {k}"),
    };
    let is_free = |name: &String| rows.iter().all(|row| row.muscle.name != *name);
    (1..=MOST_MUSCLES + 1)
        .map(numbered)
        .find(is_free)
        .unwrap_or_default()
}

fn set(row: &MuscleRow<'_>, muscle: Muscle) -> Command {
    let index = row.index;
    MuscleCommand::Set { index, muscle }.into()
}

fn muscle_ui(
    ui: &mut Ui,
    row: &MuscleRow<'_>,
    view: &MusclesView<'_>,
    skeleton: &Skeleton,
    actions: &mut Actions,
) {
    let muscle = row.muscle;
    CollapsingHeader::new(&muscle.name)
        .id_salt(("muscle", row.index))
        .default_open(true)
        .show_unindented(ui, |ui| {
            name_ui(ui, row, actions);
            driver_ui(ui, row, view, skeleton, actions);
            let mut responses = Vec::new();
            let mut edited = muscle.clone();
            for value in MUSCLE_VALUES {
                responses.push(value_ui(ui, &value, &mut edited.shape));
            }
            for gesture in responses.iter().filter_map(edit_of) {
                actions.send(set(row, edited.clone()), gesture);
            }
            meets_ui(ui, row, actions);
            if let Some(place) = &row.place {
                let text = format!(
                    "Bend now {:.0}°, width × {:.2}",
                    place.bend.to_degrees(),
                    place.width
                );
                let weak = theme::colors(ui.ctx()).text_weak;
                ui.label(RichText::new(text).small().color(weak));
            }
            ui.horizontal_wrapped(|ui| {
                let mirror = ui
                    .add_enabled(view.has_sides, egui::Button::new("Mirror to the other side"))
                    .on_hover_text("Puts the same muscle on the other side of the body, in place of one of that name")
                    .on_disabled_hover_text("The skeleton has no two sides");
                if mirror.clicked() {
                    actions.once(MuscleCommand::Mirror(row.index).into());
                }
                if ui.button("Delete muscle").clicked() {
                    actions.once(MuscleCommand::Remove(row.index).into());
                }
            });
        });
}

fn name_ui(ui: &mut Ui, of: &MuscleRow<'_>, actions: &mut Actions) {
    let place = ui.scope_id().with(("muscle name", of.index));
    let typed = ui.data(|data| data.get_temp::<String>(place));
    let mut name = typed.unwrap_or_else(|| of.muscle.name.clone());
    let field = row(
        ui,
        "Name",
        "Names of the two sides end in L and R",
        |ui, _| ui.add(TextEdit::singleline(&mut name).desired_width(f32::INFINITY)),
    );
    name_text_field(&field, "Name of the muscle");
    if field.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(place));
        if name != of.muscle.name {
            let muscle = Muscle {
                name,
                ..of.muscle.clone()
            };
            actions.once(set(of, muscle));
        }
    } else if field.changed() {
        ui.data_mut(|data| data.insert_temp(place, name));
    }
}

fn driver_ui(
    ui: &mut Ui,
    of: &MuscleRow<'_>,
    view: &MusclesView<'_>,
    skeleton: &Skeleton,
    actions: &mut Actions,
) {
    let name = |joint: usize| skeleton.joints().get(joint).map_or("", |j| &*j.name);
    let usual = view.usual_driver.map_or_else(
        || "As usual".to_owned(),
        |usual| format!("As usual ({})", name(usual)),
    );
    let words =
        |driver: Option<usize>| driver.map_or_else(|| usual.clone(), |d| name(d).to_owned());
    let mut driver = of.muscle.driver;
    let hover = "The joint whose bend makes it swell. The muscle lies between the joint of this bone and that one, if that one is below";
    row(ui, "Driver", hover, |ui, label| {
        let list = ComboBox::from_id_salt(("driver", of.index))
            .selected_text(words(driver))
            .width(ui.available_width())
            .truncate();
        let shown = list.show_ui(ui, |ui| {
            ui.selectable_value(&mut driver, None, words(None));
            let others = drivers(skeleton, of.muscle.bone, of.muscle.driver);
            for joint in others {
                ui.selectable_value(&mut driver, Some(joint), name(joint));
            }
        });
        shown.response.labelled_by(label);
    });
    if driver != of.muscle.driver {
        let muscle = Muscle {
            driver,
            ..of.muscle.clone()
        };
        actions.once(set(of, muscle));
    }
}

/// The parent of a bone, its own joint, some joints below it, and the chosen one.
fn drivers(skeleton: &Skeleton, bone: usize, chosen: Option<usize>) -> Vec<usize> {
    let mut drivers: Vec<usize> = skeleton.joints()[bone].parent.into_iter().collect();
    let mut level = vec![bone];
    for _ in 0..=LEVELS {
        drivers.extend(&level);
        let below = level.iter().flat_map(|&joint| skeleton.children(joint));
        level = below.copied().collect();
    }
    let missing = chosen.filter(|chosen| !drivers.contains(chosen));
    drivers.extend(missing);
    drivers
}

fn value_ui(ui: &mut Ui, value: &MuscleValue, shape: &mut MuscleShape) -> egui::Response {
    let spec = &value.spec;
    let mut shown = value.get(shape);
    let response = row(ui, spec.label, spec.doc, |ui, label| {
        size_slider(ui);
        let decimals = if spec.unit.is_empty() { 2 } else { 0 };
        let slider = Slider::new(&mut shown, spec.range[0]..=spec.range[1])
            .clamping(SliderClamping::Edits)
            .suffix(spec.unit)
            .fixed_decimals(decimals);
        ui.add(slider).labelled_by(label)
    });
    if response.changed() {
        value.set(shape, shown);
    }
    response
}

fn meets_ui(ui: &mut Ui, of: &MuscleRow<'_>, actions: &mut Actions) {
    let words = |meets: MuscleMeeting| match meets {
        MuscleMeeting::Union => "Crease",
        MuscleMeeting::Blend => "Filled crease",
    };
    let mut meets = of.muscle.shape.meets;
    let hover = "What is between the muscle and the skin around it where it stands out";
    row(ui, "Around it", hover, |ui, label| {
        let list = ComboBox::from_id_salt(("meets", of.index)).selected_text(words(meets));
        let shown = list.show_ui(ui, |ui| {
            for (known, _) in MuscleMeeting::ALL {
                ui.selectable_value(&mut meets, known, words(known));
            }
        });
        shown.response.labelled_by(label);
    });
    if meets != of.muscle.shape.meets {
        let mut muscle = of.muscle.clone();
        muscle.shape.meets = meets;
        actions.send(set(of, muscle), Gesture::Once);
    }
}
