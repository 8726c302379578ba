//! The variants of settings in the menus of a view.

use egui::{Button, RichText, TextEdit, Ui, WidgetInfo};

use super::PaneContext;
use crate::app::theme;
use crate::methods::{Capability, MethodId};
use crate::session::{Command, VariantCommand, VariantId, View, ViewCommand};

fn has_settings(method: MethodId) -> bool {
    method.has(Capability::Physics) || !method.descriptor().params.is_empty()
}

/// The settings that the view has: the shared ones, or a variant, which can be made, named and removed.
pub(super) fn variants_ui(ui: &mut Ui, view: View, context: &mut PaneContext<'_>) {
    if !has_settings(view.method) {
        return;
    }
    let document = context.session.document();
    let current = view.variant.filter(|id| document.variants.contains_key(id));
    ui.separator();
    ui.label(
        RichText::new("Settings")
            .small()
            .color(theme::colors(ui.ctx()).text_weak),
    );
    let mut choice = |ui: &mut Ui, name: &str, variant: Option<VariantId>| {
        let chosen = ui
            .add(Button::selectable(current == variant, name))
            .clicked();
        if chosen {
            let view = view.id;
            context
                .actions
                .once(Command::View(ViewCommand::SetVariant { view, variant }));
            ui.close();
        }
    };
    choice(ui, "Shared by all views", None);
    for (&id, variant) in &document.variants {
        choice(ui, &variant.name, Some(id));
    }
    let add = ui.button("New variant");
    let tip = "Copies these settings for this view: changes of them then leave the other views as they are.";
    if add.on_hover_text(tip).clicked() {
        let (view, name) = (view.id, String::new());
        context
            .actions
            .once(Command::Variant(VariantCommand::Add { view, name }));
        ui.close();
    }
    if let Some(id) = current {
        name_ui(ui, id, context);
    }
}

fn name_ui(ui: &mut Ui, id: VariantId, context: &mut PaneContext<'_>) {
    let Some(variant) = context.session.document().variant(Some(id)) else {
        return;
    };
    let place = ui.scope_id().with(("variant name", id.0));
    let typed = ui.data(|data| data.get_temp::<String>(place));
    let mut name = typed.unwrap_or_else(|| variant.name.clone());
    let field = ui.add(TextEdit::singleline(&mut name).desired_width(150.0));
    field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the variant"));
    if field.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(place));
        if name != variant.name {
            context
                .actions
                .once(Command::Variant(VariantCommand::Rename { id, name }));
        }
    } else if field.changed() {
        ui.data_mut(|data| data.insert_temp(place, name));
    }
    if ui.button("Remove variant").clicked() {
        context
            .actions
            .once(Command::Variant(VariantCommand::Remove(id)));
        ui.close();
    }
}

/// Variants to compare the view's method with.
pub(super) fn compared_variants_ui(ui: &mut Ui, view: View, context: &mut PaneContext<'_>) {
    let document = context.session.document();
    if !has_settings(view.method) || document.variants.is_empty() {
        return;
    }
    ui.separator();
    let known = |id: Option<VariantId>| id.filter(|id| document.variants.contains_key(id));
    let all = std::iter::once(None).chain(document.variants.keys().copied().map(Some));
    for variant in all.filter(|variant| *variant != known(view.variant)) {
        let name = match variant {
            Some(_) => document.label_of(view.method, variant),
            None => format!("{}, shared settings", view.method.label()),
        };
        let chosen = view.compare == Some(view.method) && known(view.compare_variant) == variant;
        if ui.add(Button::selectable(chosen, name)).clicked() {
            context
                .actions
                .once(Command::View(ViewCommand::SetCompareVariant {
                    view: view.id,
                    method: Some(view.method),
                    variant,
                }));
            ui.close();
        }
    }
}
