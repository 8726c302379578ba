//! How the part of a joint meets its parent's: the choice, its shape, and the plot of it.

use egui::accesskit::Role;
use egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::Action;
use sinew::app::panels::bone::{BoneView, MusclesView, bone_ui};
use sinew::character::{BoneSettings, Meeting};
use sinew::dynamics::Params;
use sinew::methods::{Actor, JointMeeting, MethodId};
use sinew::progress::Progress;
use sinew::session::{Command, Gesture, Source, open};

use super::{Raised, drag_across, once, panel, raised};

#[test]
fn a_joint_chooses_how_its_part_meets_its_parent() {
    let settings = BoneSettings {
        held: true,
        ..BoneSettings::default()
    };
    let view = BoneView {
        joint: 2,
        settings,
        has_flesh: true,
        simulated: false,
        has_meetings: true,
        meeting: None,
        muscles: MusclesView::default(),
    };
    let mut harness = panel(move |ui, raised| bone_ui(ui, &view, &mut raised.actions));
    assert!(harness.query_by_label("Reset bone").is_none());
    harness
        .get_by_role_and_label(Role::ComboBox, "Meets by")
        .click();
    harness.run();
    harness.get_by_label("Filled crease").click();
    let meeting = Meeting::Blend;
    assert_eq!(
        raised(&mut harness),
        once(Command::SetBone {
            joint: 2,
            settings: BoneSettings {
                meeting,
                ..settings
            }
        })
    );
}

/// The meeting of the bar's joint, which asks for something in text.
fn meeting(text: &str) -> (BoneSettings, JointMeeting) {
    let subject = open(&Source::builtin("cylinder"), &Progress::new()).expect("is built in");
    let mut settings = BoneSettings::default();
    settings.edit(text).expect("is read");
    let actor = Actor::bind(
        &subject,
        MethodId::IMPLICIT,
        &Params::default(),
        &Progress::new(),
    );
    let actor = actor.expect("binds");
    let joints = subject.character.skeleton.bind_transforms();
    let field = actor.body_field().expect("composes fields");
    let meeting = field.meeting(1, &[(1, settings)].into(), &joints);
    (settings, meeting.expect("hangs at a part"))
}

fn shape_panel(text: &str) -> Harness<'static, Raised> {
    let (settings, meeting) = meeting(text);
    let view = BoneView {
        joint: 1,
        settings,
        has_flesh: true,
        simulated: false,
        has_meetings: true,
        meeting: Some(meeting),
        muscles: MusclesView::default(),
    };
    panel(move |ui, raised| bone_ui(ui, &view, &mut raised.actions))
}

#[test]
fn the_shape_of_a_meeting_is_plotted_and_set() {
    let mut harness = shape_panel("meeting:bulge,opening:20-120");
    assert_eq!(raised(&mut harness), [], "untouched");
    for label in ["Operator at 0°: depth 0.00", "Depth by the angle"] {
        assert!(
            harness
                .query_by_role_and_label(Role::Image, label)
                .is_some()
        );
    }
    let slider = harness
        .get_by_role_and_label(Role::Slider, "Fully at")
        .rect();
    let left = slider.left_center();
    drag_across(&mut harness, left + vec2(70.0, 0.0), left + vec2(4.0, 0.0));
    // Not before it begins.
    let actions = raised(&mut harness);
    let dragged = actions.iter().rev().find_map(|action| match action {
        Action::Session(Command::SetBone { joint: 1, settings }, Gesture::Dragging) => {
            settings.opening
        }
        _ => None,
    });
    let [from, full] = dragged.expect("is dragged").map(f64::to_degrees);
    assert!(
        (from - 20.0).abs() < 1e-4 && (full - 21.0).abs() < 1e-4,
        "{from} {full}"
    );
    harness
        .get_by_role_and_label(Role::Button, "Reset shape")
        .click();
    let reset = BoneSettings {
        opening: None,
        ..meeting("meeting:bulge,opening:20-120").0
    };
    assert_eq!(
        raised(&mut harness),
        once(Command::SetBone {
            joint: 1,
            settings: reset
        })
    );
}

#[test]
fn a_meeting_has_the_sliders_that_act_in_it() {
    for (text, depth, bulge) in [
        ("meeting:contact", true, false),
        ("meeting:bulge", true, true),
        ("meeting:blend", true, false),
        ("meeting:union", false, false),
    ] {
        let harness = shape_panel(text);
        let has = |label: &str| harness.query_all_by_label(label).next().is_some();
        assert_eq!((has("Depth ×"), has("Bulge ×")), (depth, bulge), "{text}");
        assert_eq!(has("Acts from"), depth, "{text}");
    }
}
