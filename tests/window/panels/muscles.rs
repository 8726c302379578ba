//! The muscles of a bone in its panel.

use std::sync::OnceLock;

use egui::accesskit::Role;
use egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::Action;
use sinew::app::panels::bone::{BoneView, MuscleRow, MusclesView, bone_ui};
use sinew::character::{BoneSettings, Muscle, MuscleShape};
use sinew::rig::Skeleton;
use sinew::session::{Command, Gesture, MuscleCommand};

use super::{Raised, drag_across, once, panel, raised};

fn skeleton() -> &'static Skeleton {
    static SKELETON: OnceLock<Skeleton> = OnceLock::new();
    SKELETON.get_or_init(|| {
        let character = sinew::io::builtin::load_builtin("cylinder").expect("is built in");
        character.skeleton
    })
}

fn biceps() -> &'static Muscle {
    static MUSCLE: OnceLock<Muscle> = OnceLock::new();
    MUSCLE.get_or_init(|| Muscle {
        name: "biceps".to_owned(),
        bone: 0,
        driver: None,
        shape: MuscleShape::default(),
    })
}

/// The panel of the first joint; the muscle is the fifth of the character.
fn muscles_panel(rows: usize, count: usize) -> Harness<'static, Raised> {
    let row = MuscleRow {
        index: 4,
        muscle: biceps(),
        place: None,
    };
    let view = BoneView {
        joint: 0,
        settings: BoneSettings::default(),
        has_flesh: true,
        simulated: false,
        has_meetings: true,
        meeting: None,
        muscles: MusclesView {
            skeleton: Some(skeleton()),
            rows: vec![row; rows],
            count,
            usual_driver: Some(1),
            has_sides: true,
        },
    };
    panel(move |ui, raised| bone_ui(ui, &view, &mut raised.actions))
}

#[test]
fn a_muscle_is_added_to_the_bone() {
    let mut harness = muscles_panel(0, 0);
    assert!(harness.query_by_label("Delete muscle").is_none());
    harness.get_by_label("Add muscle").click();
    let added = Muscle {
        name: format!("{} muscle", skeleton().joints()[0].name),
        ..biceps().clone()
    };
    assert_eq!(raised(&mut harness), once(MuscleCommand::Add(added).into()));
    // No more than a character can have.
    let mut full = muscles_panel(0, sinew::character::MOST_MUSCLES);
    full.get_by_label("Add muscle").click();
    assert_eq!(raised(&mut full), Vec::new());
}

#[test]
fn a_muscle_is_mirrored_and_deleted() {
    for (button, command) in [
        ("Mirror to the other side", MuscleCommand::Mirror(4)),
        ("Delete muscle", MuscleCommand::Remove(4)),
    ] {
        let mut harness = muscles_panel(1, 5);
        harness.get_by_label(button).click();
        assert_eq!(raised(&mut harness), once(command.into()));
    }
}

#[test]
fn its_driver_and_its_numbers_are_set() {
    let mut harness = muscles_panel(1, 5);
    harness
        .get_by_role_and_label(Role::ComboBox, "Driver")
        .click();
    harness.run();
    let own = skeleton().joints()[0].name.clone();
    harness.get_by_label(&own).click();
    let muscle = Muscle {
        driver: Some(0),
        ..biceps().clone()
    };
    assert_eq!(
        raised(&mut harness),
        once(MuscleCommand::Set { index: 4, muscle }.into())
    );
    let mut harness = muscles_panel(1, 5);
    assert_eq!(raised(&mut harness), Vec::new(), "untouched");
    let slider = harness.get_by_role_and_label(Role::Slider, "Swells by");
    let left = slider.rect().left_center();
    drag_across(&mut harness, left + vec2(4.0, 0.0), left + vec2(70.0, 0.0));
    let raised = raised(&mut harness);
    let set = |action: &Action| match action {
        Action::Session(Command::Muscle(MuscleCommand::Set { index: 4, muscle }), gesture) => {
            Some((muscle.shape, *gesture))
        }
        _ => None,
    };
    let set: Vec<_> = raised
        .iter()
        .map(|action| set(action).expect("sets it"))
        .collect();
    let changed = |shape: &MuscleShape| {
        MuscleShape {
            bulge: biceps().shape.bulge,
            ..*shape
        } == biceps().shape
            && shape.bulge != biceps().shape.bulge
    };
    assert!(set.iter().any(|(shape, _)| changed(shape)), "{set:?}");
    assert_eq!(
        set.last().map(|(_, gesture)| *gesture),
        Some(Gesture::Released)
    );
}
