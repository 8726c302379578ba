//! Findings of the check-up, and how each part of the skin moves.

use egui::{Button, CollapsingHeader, ComboBox, Label, RichText, ScrollArea, Ui};

use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::character::{BoneMap, BoneSettings, Note, PartMap, Place, Severity};
use crate::rig::Skeleton;
use crate::session::{Checkup, Command, Finding, FindingKind, Gesture};
use crate::tissue::SkinComponent;

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct CheckupView<'a> {
    /// The findings; `None` while the check-up is running.
    pub checkup: Option<&'a Checkup>,
    /// Whether it stopped without findings.
    pub failed: bool,
    /// Notes of the reader and of the tissue stage.
    pub notes: &'a [Note],
    /// The connected parts of the skin.
    pub parts: &'a [SkinComponent],
    /// The user's settings for them.
    pub said: &'a PartMap,
    /// The settings of bones.
    pub bones: &'a BoneMap,
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// The selected joint: the target of "rigid".
    pub selected: Option<usize>,
}

/// Draws the panel.
pub fn checkup_ui(ui: &mut Ui, view: &CheckupView<'_>, actions: &mut Actions) {
    let findings = view.checkup.map_or(&[][..], |checkup| &checkup.findings);
    let notes = view.checkup.map_or(view.notes, |checkup| &checkup.notes);
    let mut rows: Vec<(Severity, CheckupRow<'_>)> = findings
        .iter()
        .map(|finding| (finding.severity, CheckupRow::Finding(finding)))
        .collect();
    rows.extend(
        notes
            .iter()
            .map(|note| (note.severity, CheckupRow::Note(note))),
    );
    rows.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let rest = rows
        .iter()
        .position(|(severity, _)| *severity == Severity::Info)
        .unwrap_or(rows.len());
    if rest == 0 {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            icons::label(ui, Icon::Check, theme::colors(ui.ctx()).mended);
            let text = match (view.checkup.is_some(), view.failed) {
                (true, _) => "Nothing had to be mended",
                (false, true) => "The check-up stopped because of a fault; the log has its report",
                (false, false) => "Looking…",
            };
            ui.label(RichText::new(text).color(theme::colors(ui.ctx()).text_weak));
        });
    }
    for (_, row) in &rows[..rest] {
        row.draw(ui, view, actions);
    }
    if rest < rows.len() {
        let title = RichText::new(format!("Good to know ({})", rows.len() - rest))
            .color(theme::colors(ui.ctx()).text_weak);
        CollapsingHeader::new(title)
            .id_salt("good to know")
            .show_unindented(ui, |ui| {
                for (_, row) in &rows[rest..] {
                    row.draw(ui, view, actions);
                }
            });
    }
    if view.parts.len() > 1 {
        let title = RichText::new(format!("Parts of the skin ({})", view.parts.len()))
            .color(theme::colors(ui.ctx()).text_weak);
        CollapsingHeader::new(title)
            .id_salt("parts")
            .show_unindented(ui, |ui| parts_ui(ui, view, actions));
    }
}

enum CheckupRow<'a> {
    Finding(&'a Finding),
    Note(&'a Note),
}

impl CheckupRow<'_> {
    fn draw(&self, ui: &mut Ui, view: &CheckupView<'_>, actions: &mut Actions) {
        let (severity, text) = match self {
            Self::Finding(finding) => (finding.severity, &finding.text),
            Self::Note(note) => (note.severity, &note.text),
        };
        let color = theme::colors(ui.ctx()).severity(severity);
        let (icon, meaning) = match severity {
            Severity::Info => (Icon::Info, "Good to know"),
            Severity::Mended => (Icon::Check, "Was wrong in the file and has been mended"),
            Severity::Warning => (Icon::Warning, "The result may not be what you expect"),
        };
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            icons::label(ui, icon, color).on_hover_text(meaning);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 1.0;
                ui.add(
                    Label::new(RichText::new(capitalised(text)).color(
                        if severity == Severity::Info {
                            theme::colors(ui.ctx()).text
                        } else {
                            color
                        },
                    ))
                    .wrap(),
                );
                if let Self::Finding(finding) = self {
                    remedy_ui(ui, finding, view, actions);
                }
            });
        });
    }
}

/// The remedy of a finding, and a button that frames its places in turn.
fn remedy_ui(ui: &mut Ui, finding: &Finding, view: &CheckupView<'_>, actions: &mut Actions) {
    // A long remedy wraps beside the button, not under it.
    ui.horizontal(|ui| {
        if !finding.places.is_empty() {
            let id = ui.scope_id().with(("spot", finding.kind));
            let next: usize = ui.data(|data| data.get_temp(id)).unwrap_or(0);
            let place = finding.places[next % finding.places.len()];
            let name = if next == 0 { "Show" } else { "Next" };
            let hover = match finding.places.len() {
                1 => "Moves the camera there".to_owned(),
                many => format!(
                    "Moves the camera there: place {} of {many}",
                    next % many + 1
                ),
            };
            if ui.small_button(name).on_hover_text(hover).clicked() {
                ui.data_mut(|data| data.insert_temp(id, next + 1));
                actions.push(Action::Show(place));
            }
        }
        fix_ui(ui, finding, view, actions);
        let remedy = ui.add(
            Label::new(
                RichText::new(capitalised(&finding.remedy))
                    .small()
                    .color(theme::colors(ui.ctx()).text_weak),
            )
            .wrap(),
        );
        if let Some(option) = &finding.option {
            remedy.on_hover_text(format!("On the command line: {option}"));
        }
    });
}

/// A button that mends what can be mended: flesh that is too thin is held rigid by its bones. One undo step.
fn fix_ui(ui: &mut Ui, finding: &Finding, view: &CheckupView<'_>, actions: &mut Actions) {
    let joints: Vec<usize> = finding
        .places
        .iter()
        .filter_map(|place| place.joint)
        .filter(|_| finding.kind == FindingKind::InvertedFlesh)
        .collect();
    let hover = "Holds the skin there rigid with its bones: it is not simulated";
    if joints.is_empty() || !ui.small_button("Fix").on_hover_text(hover).clicked() {
        return;
    }
    for (index, &joint) in joints.iter().enumerate() {
        let settings = BoneSettings {
            held: true,
            ..view.bones.get(&joint).copied().unwrap_or_default()
        };
        let gesture = if index + 1 < joints.len() {
            Gesture::Dragging
        } else {
            Gesture::Released
        };
        actions.send(Command::SetBone { joint, settings }, gesture);
    }
}

/// Every part with its motion and the alternatives, largest first.
fn parts_ui(ui: &mut Ui, view: &CheckupView<'_>, actions: &mut Actions) {
    let mut order: Vec<usize> = (0..view.parts.len()).collect();
    order.sort_by(|&a, &b| {
        view.parts[b]
            .area
            .total_cmp(&view.parts[a].area)
            .then(a.cmp(&b))
    });
    let height = ui.spacing().interact_size.y;
    let area = ScrollArea::vertical()
        .id_salt("part rows")
        .max_height(8.0 * (height + 4.0))
        .auto_shrink([false, true]);
    area.show_rows(ui, height, order.len(), |ui, range| {
        for &index in &order[range] {
            part_ui(ui, view, index, actions);
        }
    });
}

fn part_ui(ui: &mut Ui, view: &CheckupView<'_>, index: usize, actions: &mut Actions) {
    let part = &view.parts[index];
    let name_of = |place: Place| match place {
        Place::Flesh => "Flesh".to_owned(),
        Place::Rides => "Rides".to_owned(),
        Place::Rigid { joint } => format!(
            "With {}",
            view.skeleton
                .joints()
                .get(joint)
                .map_or("?", |joint| joint.name.as_str())
        ),
    };
    let said = view.said.get(&part.name).copied();
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 150.0).max(60.0);
        let height = ui.spacing().interact_size.y;
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        let label = ui.allocate_ui_with_layout(egui::vec2(width, height), layout, |ui| {
            ui.set_min_width(width);
            let text = RichText::new(&part.name).color(if said.is_some() {
                theme::colors(ui.ctx()).text_strong
            } else {
                theme::colors(ui.ctx()).text
            });
            ui.add(Label::new(text).truncate().sense(egui::Sense::hover()))
                .on_hover_text(format!("{}: {}", name_of(part.place), part.reason))
        });
        let shown = said.unwrap_or(part.place);
        let mut places = vec![None, Some(Place::Flesh), Some(Place::Rides)];
        places.extend(view.selected.map(|joint| Some(Place::Rigid { joint })));
        let combo = ComboBox::from_id_salt(("part", index))
            .width(132.0)
            .truncate()
            .selected_text(name_of(shown));
        let chosen = combo.show_ui(ui, |ui| {
            let mut chosen = None;
            for place in places {
                let text = place.map_or_else(|| "By itself".to_owned(), name_of);
                if ui.selectable_label(said == place, text).clicked() && said != place {
                    chosen = Some(place);
                }
            }
            if view.selected.is_none() {
                ui.add_enabled(
                    false,
                    Button::new("Select a joint to make it rigid with").frame(false),
                );
            }
            chosen
        });
        chosen.response.labelled_by(label.inner.id);
        if let Some(Some(place)) = chosen.inner {
            actions.once(Command::SetPart {
                name: part.name.clone(),
                place,
            });
        }
    });
}

/// Capitalises the first letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::methods::Subject;
    use crate::progress::Progress;
    use crate::session::FindingPlace;

    #[test]
    fn flesh_that_is_too_thin_is_held_by_a_click_in_one_step() {
        let character = crate::io::builtin::load_builtin("cylinder").unwrap();
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        let place = |joint: usize| FindingPlace {
            vertex: None,
            joint: Some(joint),
            position: [0.0; 3],
            radius: 0.1,
        };
        let finding = |kind: FindingKind| Finding {
            kind,
            severity: Severity::Warning,
            count: 2,
            text: "the flesh is too thin".to_owned(),
            remedy: "it is held".to_owned(),
            option: None,
            places: vec![place(0), place(1)],
        };
        let mut checkup = Checkup::of(&subject);
        let soft = BoneSettings {
            stiffness: 0.5,
            ..BoneSettings::default()
        };
        let bones = BoneMap::from([(1, soft)]);
        for (kind, offered) in [
            (FindingKind::InvertedFlesh, true),
            (FindingKind::JointsOutside, false),
        ] {
            checkup.findings = vec![finding(kind)];
            let (checkup, bones, subject) = (checkup.clone(), bones.clone(), &subject);
            let draw = move |ui: &mut Ui, actions: &mut Actions| {
                let view = CheckupView {
                    checkup: Some(&checkup),
                    failed: false,
                    notes: &[],
                    parts: &[],
                    said: &PartMap::new(),
                    bones: &bones,
                    skeleton: &subject.character.skeleton,
                    selected: None,
                };
                checkup_ui(ui, &view, actions);
            };
            let mut harness = Harness::new_ui_state(draw, Actions::default());
            harness.run_steps(3);
            let button = harness.query_by_label("Fix");
            assert_eq!(button.is_some(), offered, "{kind:?}");
            let Some(button) = button else { continue };
            button.click();
            harness.run_steps(3);
            let held = |joint, settings| Command::SetBone { joint, settings };
            let plain = BoneSettings {
                held: true,
                ..BoneSettings::default()
            };
            let kept = BoneSettings { held: true, ..soft };
            assert_eq!(
                harness.state().list(),
                [
                    Action::Session(held(0, plain), Gesture::Dragging),
                    Action::Session(held(1, kept), Gesture::Released)
                ]
            );
        }
    }
}
