//! The window without a window: each panel, and a story through the whole workbench.
//!
//! A panel that nobody touches raises nothing; one click raises exactly one action; a drag is one gesture.

mod dynamics;
mod joints;
mod meetings;
mod muscles;
mod unit;

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, Actions};
use sinew::app::look::{Look, Shading};
use sinew::app::panels::joints::JointsState;
use sinew::app::panels::method::{MethodView, method_ui};
use sinew::app::panels::overlays::{LookView, VoxelState, look_ui};
use sinew::app::panels::top_bar::{TopBarView, top_bar_ui};
use sinew::app::shortcuts::ShortcutContext;
use sinew::app::theme;
use sinew::methods::MethodId;
use sinew::session::{Command, Gesture, MAX_CROWD, Source, ViewCommand, ViewId};

/// What a panel under test raised, and what it remembers.
#[derive(Default)]
struct Raised {
    actions: Actions,
    joints: JointsState,
}

/// A harness around one panel.
fn panel(draw: impl FnMut(&mut Ui, &mut Raised) + 'static) -> Harness<'static, Raised> {
    let mut harness = Harness::builder()
        .with_size(vec2(640.0, 760.0))
        .build_ui_state(draw, Raised::default());
    theme::apply(&harness.ctx);
    harness.run();
    assert_eq!(
        harness.state().actions.list(),
        &[],
        "untouched, it raises nothing"
    );
    harness
}

fn raised(harness: &mut Harness<'_, Raised>) -> Vec<Action> {
    harness.run();
    harness.state_mut().actions.take()
}

fn once(command: Command) -> Vec<Action> {
    vec![Action::Session(command, Gesture::Once)]
}

/// Presses at the left end of a widget, moves through, releases: as a hand does it.
fn drag_across(harness: &mut Harness<'_, Raised>, from: Pos2, to: Pos2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    harness.event(Event::PointerMoved(from));
    harness.run();
    harness.event(button(from, true));
    harness.run();
    for step in 1..=4 {
        harness.event(Event::PointerMoved(
            from + (to - from) * (step as f32 / 4.0),
        ));
        harness.run();
    }
    harness.event(button(to, false));
    harness.run();
}

#[test]
fn method_panel() {
    let unavailable = [(MethodId::PD, "the character has no skeleton".to_owned())];
    let mut harness = panel(move |ui, raised| {
        let values = sinew::param::ParamValues::default();
        let view = MethodView {
            chosen: MethodId::LBS,
            values: &values,
            view: sinew::session::ViewId(0),
            weights: sinew::weights::WeightMethod::default(),
            weight_notes: &[],
            shown: Some(MethodId::LBS),
            unavailable: &unavailable,
            is_bare: false,
        };
        method_ui(ui, &view, &mut raised.actions);
    });
    harness.get_by_label("Dual quaternion").click();
    assert_eq!(
        raised(&mut harness),
        once(Command::SetMethod(MethodId::DQS))
    );
    harness.get_by_label("Linear blend").click();
    assert_eq!(raised(&mut harness), [], "it is chosen already");
    harness
        .get_by_role_and_label(Role::Button, "Projective dynamics")
        .click();
    assert_eq!(raised(&mut harness), [], "it is unavailable");
}

/// A view of one character with textures, by a method without flesh.
fn look_view() -> LookView {
    LookView {
        view: ViewId(7),
        look: Look::default(),
        has_textures: true,
        has_fields: true,
        has_tissue: false,
        has_selection: false,
        has_clip: true,
        shows_distance: false,
        crowd: 1,
        compares: false,
        voxels: VoxelState::Hidden,
        compared: None,
    }
}

#[test]
fn look_panel() {
    let view = look_view();
    let look = view.look;
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness.get_by_label("Wireframe").click();
    assert_eq!(
        raised(&mut harness),
        [Action::SetLook(
            ViewId(7),
            Look {
                wireframe: true,
                ..look
            }
        )]
    );
    harness.get_by_label("Matcap").click();
    assert_eq!(
        raised(&mut harness),
        [Action::SetLook(
            ViewId(7),
            Look {
                shading: Shading::Matcap,
                ..look
            }
        )]
    );
    harness.get_by_label("Tetrahedra").click();
    assert_eq!(raised(&mut harness), [], "there is no flesh to show");
    harness
        .get_by_role_and_label(Role::CheckBox, "Crowd")
        .click();
    assert_eq!(
        raised(&mut harness),
        once(Command::View(ViewCommand::SetCrowd {
            view: ViewId(7),
            count: 9
        }))
    );
}

/// How many there are can be typed, switched off, and is no choice where methods are compared.
#[test]
fn a_crowd_shows_its_size() {
    let of = |crowd: usize, compares: bool| LookView {
        has_clip: false,
        crowd,
        compares,
        ..look_view()
    };
    let asked = |count| {
        once(Command::View(ViewCommand::SetCrowd {
            view: ViewId(7),
            count,
        }))
    };
    let view = of(9, false);
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness
        .get_by_role_and_label(Role::CheckBox, "Crowd")
        .click();
    assert_eq!(raised(&mut harness), asked(1));
    for (typed, count) in [("25", 25), ("100000", MAX_CROWD)] {
        harness
            .get_by_role_and_label(Role::SpinButton, "Crowd")
            .click();
        harness.run();
        harness.event(Event::Text(typed.into()));
        harness.run();
        harness.key_press(Key::Enter);
        assert_eq!(raised(&mut harness), asked(count), "{typed}");
    }
    let view = of(1, true);
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness
        .get_by_role_and_label(Role::CheckBox, "Crowd")
        .click();
    assert_eq!(raised(&mut harness), []);
}

/// Weights and distances have colours to choose; nothing else uses them.
#[test]
fn colour_maps_are_offered_where_quantities_are_shown() {
    use sinew::app::look::SkinColors;
    for (colors, shows_distance, offered) in [
        (SkinColors::Material, false, false),
        (SkinColors::Strain, false, false),
        (SkinColors::Weights, false, true),
        (SkinColors::Material, true, true),
    ] {
        let look = Look {
            colors,
            ..Look::default()
        };
        let view = LookView {
            look,
            has_selection: true,
            shows_distance,
            compares: shows_distance,
            ..look_view()
        };
        let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
        assert_eq!(
            harness
                .query_by_role_and_label(Role::ComboBox, "Colours")
                .is_some(),
            offered,
            "{colors:?} {shows_distance}"
        );
        assert_eq!(raised(&mut harness), []);
    }
}

#[test]
fn the_scale_of_distances_is_automatic_or_fixed() {
    for shows_distance in [false, true] {
        let view = LookView {
            has_selection: true,
            shows_distance,
            compares: true,
            ..look_view()
        };
        let look = view.look;
        let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
        let scale = harness.query_by_role_and_label(Role::CheckBox, "Scale");
        assert_eq!(scale.is_some(), shows_distance);
        let Some(scale) = scale else { continue };
        scale.click();
        let fixed = Look {
            distance_max_mm: Some(10.0),
            ..look
        };
        assert_eq!(raised(&mut harness), [Action::SetLook(ViewId(7), fixed)]);
    }
}

#[test]
fn top_bar() {
    let mut harness = panel(|ui, raised| {
        let now = ShortcutContext {
            undo: Some("Rotate joint"),
            has_character: true,
            ..ShortcutContext::default()
        };
        let view = TopBarView {
            builtins: &["mannequin", "arm"],
            recent: &[],
            now,
        };
        top_bar_ui(ui, &view, &mut raised.actions);
    });
    // A narrow one says less.
    harness.set_size(vec2(1000.0, 600.0));
    harness.run();
    harness.get_by_role_and_label(Role::Button, "Undo").click();
    assert_eq!(raised(&mut harness), once(Command::Undo));
    harness.get_by_role_and_label(Role::Button, "Redo").click();
    assert_eq!(raised(&mut harness), [], "there is nothing to do again");
    harness.get_by_label("Open…").click();
    assert_eq!(raised(&mut harness), [Action::OpenDialog]);
    harness.get_by_label("Characters").click();
    harness.run();
    harness.get_by_label("Arm").click();
    assert_eq!(
        raised(&mut harness),
        once(Command::Open(Source::builtin("arm")))
    );
}
