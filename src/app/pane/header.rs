//! The header of a view: its method, comparison, look and layout.

use egui::{
    Align, Button, CursorIcon, Id, PopupCloseBehavior, Rect, RichText, Role, Sense, Spinner, Ui,
    UiBuilder, WidgetInfo,
};

use super::variants::{compared_variants_ui, variants_ui};
use super::{Pane, PaneContext, requests};
use crate::app::actions::Action;
use crate::app::actions::CameraAction;
use crate::app::actions::LayoutAction;
use crate::app::actions::LayoutPreset;
use crate::app::actions::SplitSide;
use crate::app::panels::overlays::{LookView, look_ui};
use crate::app::shortcuts::Bindings;
use crate::app::theme;
use crate::methods::{MethodId, registry};
use crate::render::{NamedView, Projection};
use crate::session::{Command, Compare, MAX_VIEWS, PaneState, View, ViewCommand, ViewId};

/// Narrower headers have shorter texts, and the ways to compare in the menu…
const NARROW: f32 = 430.0;
/// …narrower ones than this the shortest…
const VERY_NARROW: f32 = 280.0;
/// …and narrower ones than this only one of the menus to compare and for the look: the former while there is a comparison.
const TOO_NARROW: f32 = 200.0;
/// Space between the buttons on the left and those on the right.
const GAP: f32 = 4.0;

/// Draws the header. Returns whether it is being dragged.
pub(super) fn header_ui(
    ui: &mut Ui,
    rect: Rect,
    id: ViewId,
    pane: &Pane,
    context: &mut PaneContext<'_>,
) -> bool {
    let Some(view) = context.session.views().get(id).copied() else {
        return false;
    };
    let colors = theme::colors(ui.ctx());
    ui.painter().rect_filled(rect, 0.0, colors.bar);
    let many = context.session.views().list().len() > 1;
    let grip = grip_ui(ui, rect, id, many, context);
    let narrow = rect.width() < NARROW;
    let inner = rect.shrink2(egui::vec2(8.0, 2.0));
    let mut right = ui.new_child(
        UiBuilder::new()
            .max_rect(inner)
            .layout(egui::Layout::right_to_left(Align::Center)),
    );
    right.set_clip_rect(rect.intersect(ui.clip_rect()));
    right.push_id(("view header right", id), |ui| {
        place_menu(ui, view, pane, many, context);
        if rect.width() >= TOO_NARROW || view.compare.is_none() {
            look_menu(ui, view, pane, context);
        }
    });
    let end = (right.min_rect().left() - GAP).max(inner.left());
    let rest = Rect::from_min_max(inner.min, egui::pos2(end, inner.bottom()));
    let mut left = ui.new_child(
        UiBuilder::new()
            .max_rect(rest)
            .layout(egui::Layout::left_to_right(Align::Center)),
    );
    left.set_clip_rect(rest.expand2(egui::vec2(8.0, 2.0)).intersect(ui.clip_rect()));
    left.push_id(("view header", id), |ui| {
        method_menu(ui, view, narrow, context);
        compare_menu(ui, view, pane.state, rect.width(), context);
    });
    grip
}

/// The header can be dragged wherever there is no button.
fn grip_ui(ui: &mut Ui, rect: Rect, id: ViewId, many: bool, context: &mut PaneContext<'_>) -> bool {
    let response = ui.interact(rect, Id::unique(("view grip", id)), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, "View header"));
    if response.double_clicked() {
        context
            .actions
            .push(Action::Layout(LayoutAction::ToggleMaximised(id)));
    } else if response.clicked() && context.session.active_view().id != id {
        context
            .actions
            .once(Command::View(ViewCommand::Activate(id)));
    }
    let movable = many && context.maximised.is_none();
    if movable {
        let text = "Drag to put this view elsewhere; double-click to show it alone.";
        return response
            .on_hover_cursor(CursorIcon::Grab)
            .on_hover_text(text)
            .drag_started();
    }
    false
}

/// The methods of the menus: with the distilled rig, once there is one.
fn methods_offered(context: &PaneContext<'_>) -> Vec<MethodId> {
    let subject = context.session.subject();
    let rig = subject.and_then(|subject| subject.helper_rig());
    let mut methods = registry();
    methods.extend(rig.map(|_| MethodId::DISTILLED));
    methods
}

fn method_menu(ui: &mut Ui, view: View, narrow: bool, context: &mut PaneContext<'_>) {
    let document = context.session.document();
    let title = if narrow {
        document.short_label_of(view.method, view.variant)
    } else {
        document.label_of(view.method, view.variant)
    };
    let config = egui::containers::menu::MenuConfig::new()
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let title = RichText::new(title).color(theme::colors(ui.ctx()).text_strong);
    let (button, _) = egui::containers::menu::MenuButton::new(title)
        .config(config)
        .ui(ui, |ui| {
            for method in methods_offered(context) {
                let reason = context
                    .unavailable
                    .iter()
                    .find(|(other, _)| *other == method)
                    .map(|(_, reason)| reason.as_str());
                let response = ui.add_enabled(
                    reason.is_none(),
                    Button::selectable(view.method == method, method.label()),
                );
                if response
                    .on_disabled_hover_text(reason.unwrap_or_default())
                    .clicked()
                {
                    context.actions.once(Command::View(ViewCommand::SetMethod {
                        view: view.id,
                        method,
                    }));
                    ui.close();
                }
            }
            variants_ui(ui, view, context);
        });
    button.on_hover_text("The method that moves the skin in this view.");
    let shown = context
        .session
        .snapshot_of(view.id)
        .map(|snapshot| snapshot.method);
    if shown.is_some_and(|shown| shown != view.method) && !context.session.jobs().is_empty() {
        ui.add(Spinner::new().size(12.0));
    }
}

fn compare_menu(
    ui: &mut Ui,
    view: View,
    state: PaneState,
    width: f32,
    context: &mut PaneContext<'_>,
) {
    if view.compare.is_none() && width < TOO_NARROW {
        return;
    }
    let narrow = width < NARROW;
    let title = match view.compare {
        None if width < VERY_NARROW => "vs".to_owned(),
        None => "Compare".to_owned(),
        Some(_) if width < TOO_NARROW => "vs".to_owned(),
        Some(other) if narrow => {
            let document = context.session.document();
            format!(
                "vs {}",
                document.short_label_of(other, view.compare_variant)
            )
        }
        Some(other) => {
            let document = context.session.document();
            format!("vs {}", document.label_of(other, view.compare_variant))
        }
    };
    if view.crowd > 1 {
        ui.add_enabled(false, Button::new(title))
            .on_disabled_hover_text(requests::NO_COMPARISON);
        return;
    }
    let response = ui.menu_button(title, |ui| {
        let set = |method| {
            Command::View(ViewCommand::SetCompare {
                view: view.id,
                method,
            })
        };
        if ui
            .add(Button::selectable(view.compare.is_none(), "With nothing"))
            .clicked()
        {
            context.actions.once(set(None));
            ui.close();
        }
        for method in methods_offered(context)
            .into_iter()
            .filter(|method| *method != view.method)
        {
            let usable = context
                .unavailable
                .iter()
                .all(|(other, _)| *other != method);
            if ui
                .add_enabled(
                    usable,
                    Button::selectable(view.compare == Some(method), method.label()),
                )
                .clicked()
            {
                context.actions.once(set(Some(method)));
                ui.close();
            }
        }
        compared_variants_ui(ui, view, context);
        if narrow && view.compare.is_some() {
            ui.separator();
            compare_modes(ui, view, state, context);
        }
    });
    response.response.on_hover_text("Shows a second method in this view: beside a line, while a key is held, or as a map of distances.");
    if !narrow && view.compare.is_some() {
        compare_modes(ui, view, state, context);
    }
}

/// How the second method is shown.
fn compare_modes(ui: &mut Ui, view: View, state: PaneState, context: &mut PaneContext<'_>) {
    let at = if let Compare::Wipe(at) = state.comparing {
        at
    } else {
        0.5
    };
    for (comparing, name, sentence) in [
        (
            Compare::Wipe(at),
            "Wipe",
            "The other method on the right of a line that can be dragged.",
        ),
        (
            Compare::Flicker,
            "Flicker",
            "The other method while its key is held.",
        ),
        (
            Compare::Difference,
            "Distance",
            "How far each vertex is from where the other method puts it.",
        ),
    ] {
        let chosen = std::mem::discriminant(&state.comparing) == std::mem::discriminant(&comparing);
        if ui
            .add(Button::selectable(chosen, RichText::new(name).small()))
            .on_hover_ui(|ui| {
                let keys = Bindings::get(ui.ctx()).hint("compare.hold", "shows the other method.");
                let flicker = keys.filter(|_| comparing == Compare::Flicker);
                ui.label(flicker.as_deref().unwrap_or(sentence));
            })
            .clicked()
            && !chosen
        {
            context.actions.push(Action::Layout(LayoutAction::SetPane(
                view.id,
                PaneState { comparing, ..state },
            )));
        }
    }
}

fn look_menu(ui: &mut Ui, view: View, pane: &Pane, context: &mut PaneContext<'_>) {
    let config = egui::containers::menu::MenuConfig::new()
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (response, _) = egui::containers::menu::MenuButton::new("Look")
        .config(config)
        .ui(ui, |ui| {
            ui.set_width(300.0);
            egui::ScrollArea::vertical()
                .max_height(ui.ctx().content_rect().height() * 0.7)
                .show(ui, |ui| {
                    look_ui(
                        ui,
                        &LookView::of(view.id, &pane.state, context.session),
                        context.actions,
                    );
                });
        });
    response.on_hover_text("Shading, overlays, ground and background of this view.");
}

fn place_menu(ui: &mut Ui, view: View, pane: &Pane, many: bool, context: &mut PaneContext<'_>) {
    let full = context.session.views().list().len() >= MAX_VIEWS;
    let alone = context.maximised.is_some();
    ui.menu_button("View", |ui| {
        let mut item = |ui: &mut Ui, enabled: bool, name: &str, action: Action| {
            if ui.add_enabled(enabled, Button::new(name)).clicked() {
                context.actions.push(action);
                ui.close();
            }
        };
        let layout = |action| Action::Layout(action);
        item(
            ui,
            !full,
            "Split to the right",
            layout(LayoutAction::Split(view.id, SplitSide::Right)),
        );
        item(
            ui,
            !full,
            "Split below",
            layout(LayoutAction::Split(view.id, SplitSide::Below)),
        );
        item(
            ui,
            many,
            if alone { "Show all views" } else { "Maximise" },
            layout(LayoutAction::ToggleMaximised(view.id)),
        );
        item(ui, many, "Close", layout(LayoutAction::Close(view.id)));
        ui.separator();
        for preset in LayoutPreset::ALL {
            item(
                ui,
                true,
                preset.label(),
                layout(LayoutAction::Arrange(preset)),
            );
        }
        ui.separator();
        for (name, side) in NamedView::ALL {
            let mut name = name.replace('-', " ");
            name[..1].make_ascii_uppercase();
            item(
                ui,
                true,
                &name,
                Action::CameraOf(view.id, CameraAction::LookFrom(side)),
            );
        }
        let orthographic = pane.viewport.camera.projection == Projection::Orthographic;
        item(
            ui,
            true,
            if orthographic {
                "Perspective"
            } else {
                "Orthographic"
            },
            Action::CameraOf(view.id, CameraAction::ToggleProjection),
        );
        ui.separator();
        let mut linked = pane.state.camera_linked;
        if ui
            .checkbox(&mut linked, "Camera moves with the others")
            .changed()
        {
            let state = PaneState {
                camera_linked: linked,
                ..pane.state
            };
            context
                .actions
                .push(Action::Layout(LayoutAction::SetPane(view.id, state)));
        }
        let mut scores = pane.shows_scores(context.session);
        if ui
            .checkbox(&mut scores, "Scores: volume, cuts, stretch, time")
            .changed()
        {
            let state = PaneState {
                scores: Some(scores),
                ..pane.state
            };
            context
                .actions
                .push(Action::Layout(LayoutAction::SetPane(view.id, state)));
        }
        let mut shared = !view.free;
        if ui
            .checkbox(&mut shared, "Pose and clock shared with the others")
            .changed()
        {
            context.actions.once(Command::View(ViewCommand::SetFree {
                view: view.id,
                free: !shared,
            }));
        }
    })
    .response
    .on_hover_text("Splits, closes and links this view, and turns its camera.");
}
