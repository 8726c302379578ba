//! The export dialog.

use egui::{ComboBox, Context, DragValue, Ui};

use super::modal::{buttons, question};
use super::push;
use crate::app::actions::Actions;
use crate::app::actions::ProjectAction;
use crate::app::widgets::row;
use crate::methods::registry;
use crate::session::{Clips, Export, ExportAs};

/// Asks for format, clip, range and frame rate.
pub fn export_ui(ctx: &Context, export: &Export, clips: &Clips<'_>, actions: &mut Actions) {
    let mut edited = export.clone();
    let mut chosen = None;
    let escaped = question(ctx, "export", "Export", |ui| {
        as_ui(ui, &mut edited);
        if !matches!(
            edited.what,
            ExportAs::Rig | ExportAs::UsdRig | ExportAs::Scores(_)
        ) {
            motion_ui(ui, &mut edited, clips);
        }
        if edited.can_be_compressed() {
            ui.checkbox(&mut edited.compress, "Compress")
                .on_hover_text(
                    "Quantised and compressed by the meshopt extension of glTF, which engines read and Blender does not",
                );
        }
        chosen = buttons(ui, &[("Export…", true), ("Cancel", false)]);
    });
    if edited != *export {
        push(actions, ProjectAction::SetExport(Some(edited)));
    }
    match chosen {
        Some(true) => push(actions, ProjectAction::ChooseExportFile),
        Some(false) => push(actions, ProjectAction::SetExport(None)),
        None if escaped => push(actions, ProjectAction::SetExport(None)),
        None => {}
    }
}

fn as_ui(ui: &mut Ui, export: &mut Export) {
    row(ui, "Write", "As what to write it", |ui, label| {
        let combo = ComboBox::from_id_salt("export as")
            .selected_text(export.what.label())
            .width(300.0);
        let response = combo.show_ui(ui, |ui| {
            for what in ExportAs::ALL {
                ui.selectable_value(&mut export.what, what, what.label());
            }
        });
        response.response.labelled_by(label);
    });
    if export.what == ExportAs::Report {
        methods_ui(ui, export);
    }
    if matches!(export.what, ExportAs::Skin(_)) {
        row(ui, "Method", "How the skin is moved", |ui, label| {
            let combo = ComboBox::from_id_salt("export method")
                .selected_text(export.method.label())
                .width(300.0);
            let response = combo.show_ui(ui, |ui| {
                for method in registry() {
                    ui.selectable_value(&mut export.method, method, method.label());
                }
            });
            response.response.labelled_by(label);
        });
    }
}

/// A check box for each method.
fn methods_ui(ui: &mut Ui, export: &mut Export) {
    row(ui, "Methods", "What is compared", |ui, _| {
        ui.horizontal_wrapped(|ui| {
            for method in registry() {
                let mut wanted = export.methods.contains(&method);
                let doc = method.descriptor().doc;
                if ui
                    .checkbox(&mut wanted, method.short_label())
                    .on_hover_text(doc)
                    .changed()
                {
                    export.methods.retain(|other| *other != method);
                    if wanted {
                        export.methods.push(method);
                    }
                }
            }
        });
    });
}

fn motion_ui(ui: &mut Ui, export: &mut Export, clips: &Clips<'_>) {
    let duration = |clip: Option<usize>| {
        clip.and_then(|clip| clips.get(clip))
            .map_or(0.0, |clip| clip.duration_secs)
    };
    row(
        ui,
        "Motion",
        "Which clip, or the pose that is shown",
        |ui, label| {
            let without = if export.what == ExportAs::Report {
                "The range of motion"
            } else {
                "The pose shown"
            };
            let name = |clip: Option<usize>| {
                clip.and_then(|clip| clips.get(clip))
                    .map_or(without, |clip| clip.name.as_str())
            };
            let combo = ComboBox::from_id_salt("export clip")
                .selected_text(name(export.clip))
                .width(300.0);
            let before = export.clip;
            let response = combo.show_ui(ui, |ui| {
                for clip in std::iter::once(None).chain((0..clips.len()).map(Some)) {
                    ui.selectable_value(&mut export.clip, clip, name(clip));
                }
            });
            response.response.labelled_by(label);
            if export.clip != before {
                export.range_secs = None;
            }
        },
    );
    if export.clip.is_none() {
        return;
    }
    let whole = [0.0, duration(export.clip)];
    let [mut from, mut to] = export.range_secs.unwrap_or(whole);
    row(
        ui,
        "From, to",
        "Which part of the clip, seconds",
        |ui, label| {
            let seconds = |value| {
                DragValue::new(value)
                    .speed(0.01)
                    .range(0.0..=whole[1])
                    .fixed_decimals(2)
                    .suffix(" s")
            };
            let first = ui.add(seconds(&mut from)).labelled_by(label);
            let last = ui.add(seconds(&mut to)).labelled_by(label);
            if first.changed() || last.changed() {
                export.range_secs = (from < to && [from, to] != whole).then_some([from, to]);
            }
        },
    );
    row(ui, "Frames", "How many frames a second", |ui, label| {
        ui.add(
            DragValue::new(&mut export.fps)
                .speed(0.5)
                .range(1.0..=240.0)
                .suffix(" per second"),
        )
        .labelled_by(label);
    });
}
