//! Sliders of morph targets and expressions.

use egui::{
    CollapsingHeader, RichText, Role, ScrollArea, Slider, SliderClamping, TextEdit, Ui, WidgetInfo,
};

use crate::app::actions::{Actions, edit_of};
use crate::app::theme;
use crate::app::widgets::{name_text_field, row_of};
use crate::character::{Character, MorphControl};
use crate::rig::MorphWeights;
use crate::session::Command;

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct MorphsView<'a> {
    /// The character.
    pub character: &'a Character,
    /// The weights shown, relative to rest.
    pub shown: &'a MorphWeights,
}

/// State of the panel.
#[derive(Debug, Clone, Default)]
pub struct MorphsState {
    /// Search text.
    pub search: String,
}

/// From this number of controls on there is a search field.
const MANY: usize = 12;
/// Height of the list, points.
const HEIGHT: f32 = 260.0;
/// Width of names, points.
const NAMES: f32 = 104.0;
/// Changes of weights below this are rounding of the display.
const SAME: f64 = 1e-9;

/// A control that is listed.
struct Listed<'a> {
    index: usize,
    control: MorphControl<'a>,
}

/// Name of the row of a control: the same for the palette.
#[must_use]
pub fn row_name(control: &MorphControl<'_>) -> String {
    control.id()
}

/// Draws the panel.
pub fn morphs_ui(
    ui: &mut Ui,
    view: &MorphsView<'_>,
    state: &mut MorphsState,
    actions: &mut Actions,
) {
    let character = view.character;
    ui.horizontal(|ui| {
        let reset = egui::Button::new("Reset morphs");
        let button = ui
            .add_enabled(!view.shown.is_rest(), reset)
            .on_hover_text("All expressions and morph targets back to rest");
        if button.clicked() {
            let moved = view.shown.iter();
            actions.once(Command::SetMorphs(
                moved.map(|(index, _)| (index, 0.0)).collect(),
            ));
        }
    });
    let count = character.moving_controls().count();
    if count >= MANY {
        let search = TextEdit::singleline(&mut state.search)
            .hint_text("Search morphs")
            .desired_width(f32::INFINITY);
        let response = ui.add(search);
        name_text_field(&response, "Search morphs");
        ui.add_space(2.0);
    } else {
        state.search.clear();
    }
    let wanted = state.search.to_lowercase();
    let listed: Vec<Listed<'_>> = (character.moving_controls())
        .filter(|(_, control)| control.id().to_lowercase().contains(&wanted))
        .map(|(index, control)| Listed { index, control })
        .collect();
    if listed.is_empty() {
        ui.label(RichText::new("No match").color(theme::colors(ui.ctx()).text_weak));
        return;
    }
    ScrollArea::vertical()
        .id_salt("morph list")
        .max_height(HEIGHT)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            let (morphs, expressions): (Vec<_>, Vec<_>) = listed
                .into_iter()
                .partition(|listed| listed.control.mesh.is_some());
            if !expressions.is_empty() {
                group_ui(ui, "Expressions", true, &expressions, view, actions);
            }
            let few = count < MANY || !wanted.is_empty();
            for of_mesh in morphs.chunk_by(|a, b| a.control.mesh == b.control.mesh) {
                let mesh = of_mesh[0].control.mesh.unwrap_or_default();
                let open = few || expressions.is_empty();
                group_ui(ui, mesh, open, of_mesh, view, actions);
            }
        });
}

fn group_ui(
    ui: &mut Ui,
    title: &str,
    open: bool,
    listed: &[Listed<'_>],
    view: &MorphsView<'_>,
    actions: &mut Actions,
) {
    let must_open = (listed.iter())
        .any(|listed| crate::app::spotlight::wants(ui, &row_name(&listed.control)))
        .then_some(true);
    let moved = listed
        .iter()
        .filter(|l| view.shown.get(l.index) != 0.0)
        .count();
    let shown = match moved {
        0 => title.to_owned(),
        _ => format!("{title} ({moved} moved)"),
    };
    CollapsingHeader::new(RichText::new(shown).color(theme::colors(ui.ctx()).text_strong))
        .id_salt(("morphs of", title))
        .default_open(open)
        .open(must_open)
        .show_unindented(ui, |ui| {
            for listed in listed {
                control_ui(ui, listed, view, actions);
            }
        });
}

fn control_ui(ui: &mut Ui, listed: &Listed<'_>, view: &MorphsView<'_>, actions: &mut Actions) {
    let Listed { index, control } = listed;
    let rest = control.rest_weight;
    let weight = rest + view.shown.get(*index);
    let name = control.name;
    let hover = if control.is_binary {
        format!("{}: on above one half, else off", control.id())
    } else {
        control.id()
    };
    let row = |ui: &mut Ui| {
        row_of(ui, NAMES, name, &hover, |ui, label| {
            if control.is_binary {
                let mut on = weight > 0.5;
                let response = ui.checkbox(&mut on, "").labelled_by(label);
                let enabled = response.enabled();
                response.widget_info(|| WidgetInfo::selected(Role::CheckBox, enabled, on, name));
                return response
                    .changed()
                    .then(|| (f64::from(u8::from(on)), crate::session::Gesture::Once));
            }
            let mut edited = weight;
            // A weight beyond the usual range stays as it is until it is dragged.
            let slider = Slider::new(&mut edited, weight.min(0.0)..=weight.max(1.0))
                .clamping(SliderClamping::Never)
                .max_decimals(2);
            let response = ui.add(slider).labelled_by(label);
            let enabled = response.enabled();
            response.widget_info(|| {
                let mut info = WidgetInfo::slider(enabled, weight, name);
                info.label = Some(name.to_owned());
                info
            });
            let is_new = (edited - weight).abs() > SAME;
            edit_of(&response)
                .filter(|gesture| is_new || *gesture == crate::session::Gesture::Released)
                .map(|gesture| (edited, gesture))
        })
    };
    let drawn = ui.scope(row);
    crate::app::spotlight::mark(ui, &row_name(control), drawn.response.rect);
    if let Some((edited, gesture)) = drawn.inner {
        actions.send(Command::SetMorphs(vec![(*index, edited - rest)]), gesture);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use egui::vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::app::actions::Action;
    use crate::character::{Expression, Morph, MorphShape, MorphTarget};
    use crate::math::Vec3;

    /// With morphs that move a vertex, one that moves nothing, and an expression of that one.
    fn character(count: usize) -> Character {
        let target = MorphTarget {
            mesh: 0,
            vertices: vec![0],
            offsets: vec![Vec3::y()],
            normals: Vec::new(),
        };
        let morph = |k: usize| Morph {
            name: format!("shape {k}"),
            mesh: format!("mesh {}", k / 8),
            rest_weight: 0.0,
            shapes: vec![MorphShape {
                at: 1.0,
                targets: (k < count).then(|| target.clone()).into_iter().collect(),
            }],
        };
        let expression = |name: &str, is_binary| Expression {
            name: name.to_owned(),
            is_binary,
            binds: vec![(0, 1.0)],
        };
        let idle = Expression {
            binds: vec![(count, 1.0)],
            ..expression("idle", false)
        };
        Character {
            morphs: (0..=count).map(morph).collect(),
            expressions: [expression("happy", false), expression("blink", true), idle].into(),
            ..Character::default()
        }
    }

    fn harness(count: usize, weights: MorphWeights) -> (Harness<'static>, Rc<RefCell<Actions>>) {
        let actions = Rc::new(RefCell::new(Actions::default()));
        let (mut state, sent, character) =
            (MorphsState::default(), actions.clone(), character(count));
        let harness = Harness::builder()
            .with_size(vec2(320.0, 700.0))
            .build_ui(move |ui| {
                let view = MorphsView {
                    character: &character,
                    shown: &weights,
                };
                morphs_ui(ui, &view, &mut state, &mut sent.borrow_mut());
            });
        (harness, actions)
    }

    #[test]
    fn untouched_it_raises_nothing_and_a_switch_raises_one_command() {
        let (mut harness, actions) = harness(3, MorphWeights::default());
        harness.run();
        assert!(actions.borrow().list().is_empty());
        assert!(
            harness.query_by_label("Search morphs").is_none(),
            "a few need no search"
        );
        for idle in ["idle", "shape 3"] {
            let count = harness.query_all_by_label_contains(idle).count();
            assert_eq!(count, 0, "{idle} moves nothing");
        }
        assert!(harness.query_all_by_label_contains("shape 2").count() > 0);
        harness
            .get_by_role_and_label(Role::CheckBox, "blink")
            .click();
        harness.run();
        let expected = Action::Session(
            Command::SetMorphs(vec![(5, 1.0)]),
            crate::session::Gesture::Once,
        );
        assert_eq!(actions.borrow().list(), [expected]);
    }

    #[test]
    fn reset_takes_all_back_and_many_can_be_searched() {
        let mut weights = MorphWeights::default();
        weights.set(1, 0.5);
        // Beyond the range of the slider: it stays as it is.
        weights.set(20, 3.0);
        let (mut harness, actions) = harness(24, weights);
        harness.run();
        assert!(actions.borrow().list().is_empty());
        harness.get_by_role_and_label(Role::TextInput, "Search morphs");
        harness.get_by_label("Reset morphs").click();
        harness.run();
        let expected = Command::SetMorphs(vec![(1, 0.0), (20, 0.0)]);
        assert_eq!(
            actions.borrow().list(),
            [Action::Session(expected, crate::session::Gesture::Once)]
        );
    }
}
