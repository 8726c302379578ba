//! The context menu of a joint.

use egui::{Button, Response, RichText, Ui};

use super::super::picking::PickTarget;
use super::super::screen_map::ScreenMap;
use super::super::{Viewport, ViewportView};
use crate::app::actions::PosingRequest;
use crate::app::actions::{Action, Actions};
use crate::app::theme;
use crate::rig::Skeleton;
use crate::rig::symmetry::{MirrorHow, Symmetry};
use crate::session::{Command, PoseCommand, SelectHow};

impl Viewport {
    /// A right click selects the joint under the pointer and opens its menu.
    pub(super) fn context_menu(
        &mut self,
        response: &Response,
        map: &ScreenMap,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) {
        let Some(skeleton) = view.skeleton.filter(|skeleton| !skeleton.is_empty()) else {
            return;
        };
        if response.secondary_clicked() {
            if let Some(pointer) = response.interact_pointer_pos() {
                self.pick(map, pointer, skeleton, view);
            }
            let joint = self.hovered.map(PickTarget::joint);
            if let Some(joint) = joint.filter(|joint| !view.selection.contains(joint)) {
                actions.once(Command::SelectJoint(Some(joint)));
            }
        }
        response.context_menu(|ui| joint_menu(ui, skeleton, view, actions));
    }
}

/// A joint and its descendants.
#[must_use]
pub fn with_children(skeleton: &Skeleton, joints: &[usize]) -> Vec<usize> {
    let mut taken = vec![false; skeleton.len()];
    for joint in 0..skeleton.len() {
        let carried = skeleton.joints()[joint]
            .parent
            .is_some_and(|parent| taken[parent]);
        taken[joint] = carried || joints.contains(&joint);
    }
    // The initially selected joints remain active.
    let below = (0..skeleton.len()).filter(|joint| taken[*joint] && !joints.contains(joint));
    below
        .chain(
            joints
                .iter()
                .copied()
                .filter(|&joint| joint < skeleton.len()),
        )
        .collect()
}

fn joint_menu(ui: &mut Ui, skeleton: &Skeleton, view: &ViewportView<'_>, actions: &mut Actions) {
    ui.set_min_width(210.0);
    let title = match view.selection {
        [] => "No joint is selected".to_owned(),
        [joint] => skeleton
            .joints()
            .get(*joint)
            .map(|joint| joint.name.clone())
            .unwrap_or_default(),
        many => format!("{} joints", many.len()),
    };
    ui.label(RichText::new(title).color(theme::colors(ui.ctx()).text_weak));
    select_items(ui, skeleton, view, actions);
    ui.separator();
    selection_items(ui, view, actions);
    ui.separator();
    copy_items(ui, view, actions);
    ui.separator();
    whole_pose_items(ui, view, actions);
}

fn partners_in<'a>(view: &ViewportView<'a>) -> Option<&'a Symmetry> {
    view.symmetry.filter(|symmetry| symmetry.has_pairs())
}

/// Items that change the selection.
fn select_items(ui: &mut Ui, skeleton: &Skeleton, view: &ViewportView<'_>, actions: &mut Actions) {
    let some = !view.selection.is_empty();
    let select = |joints: Vec<usize>| PoseCommand::Select {
        joints,
        how: SelectHow::Replace,
    };
    item(ui, actions, some, "Select with children", "", &|| {
        select(with_children(skeleton, view.selection))
    });
    let parents = || {
        view.selection
            .iter()
            .filter_map(|&joint| skeleton.joints().get(joint)?.parent)
            .collect::<Vec<_>>()
    };
    item(
        ui,
        actions,
        !parents().is_empty(),
        "Select parent",
        "",
        &|| select(parents()),
    );
    let partners = partners_in(view);
    item(
        ui,
        actions,
        some && partners.is_some(),
        "Select the other side",
        "",
        &|| {
            select(
                view.selection
                    .iter()
                    .map(|&joint| partners.map_or(joint, |symmetry| symmetry.partner(joint)))
                    .collect(),
            )
        },
    );
}

/// Items that change the selected joints.
fn selection_items(ui: &mut Ui, view: &ViewportView<'_>, actions: &mut Actions) {
    let some = !view.selection.is_empty();
    let joints = || view.selection.to_vec();
    let pinned = some
        && view.selection.iter().all(|joint| {
            view.document
                .is_some_and(|document| document.pins.contains(joint))
        });
    item(
        ui,
        actions,
        some,
        if pinned { "Unpin" } else { "Pin in place" },
        "P",
        &|| PoseCommand::SetPins {
            joints: joints(),
            pinned: !pinned,
        },
    );
    item(ui, actions, some, "Reset", "", &|| {
        PoseCommand::Reset(joints())
    });
}

/// Items that copy poses and mirror them.
fn copy_items(ui: &mut Ui, view: &ViewportView<'_>, actions: &mut Actions) {
    let some = !view.selection.is_empty();
    let joints = || view.selection.to_vec();
    let partners = partners_in(view);
    if ui
        .add(Button::new("Copy pose").shortcut_text("Ctrl+C"))
        .clicked()
    {
        actions.push(Action::Posing(PosingRequest::Copy));
        ui.close();
    }
    item(ui, actions, view.can_paste, "Paste pose", "Ctrl+V", &|| {
        PoseCommand::Paste {
            text: None,
            mirrored: false,
        }
    });
    item(
        ui,
        actions,
        view.can_paste && partners.is_some(),
        "Paste mirrored",
        "Ctrl+Shift+V",
        &|| PoseCommand::Paste {
            text: None,
            mirrored: true,
        },
    );
    item(
        ui,
        actions,
        some && partners.is_some(),
        "Copy to the other side",
        "",
        &|| PoseCommand::Mirror {
            joints: Some(joints()),
            how: MirrorHow::Copy,
        },
    );
    item(
        ui,
        actions,
        partners.is_some(),
        "Mirror the whole pose",
        "Ctrl+M",
        &|| PoseCommand::Mirror {
            joints: None,
            how: MirrorHow::Flip,
        },
    );
}

/// Items for limits and pins of all joints.
fn whole_pose_items(ui: &mut Ui, view: &ViewportView<'_>, actions: &mut Actions) {
    item(ui, actions, true, "Balance on the feet", "", &|| {
        PoseCommand::Balance
    });
    let keeps = view.keeps_balance;
    let button = Button::selectable(keeps, "Keep balance while dragging");
    if ui.add(button).clicked() {
        actions.push(Action::Posing(PosingRequest::ToggleBalance));
        ui.close();
    }
    ui.separator();
    item(ui, actions, true, "Limit joints as a human's", "", &|| {
        PoseCommand::LimitAsHuman
    });
    let limited = view
        .document
        .is_some_and(|document| !document.limits.is_empty());
    item(ui, actions, limited, "Remove all limits", "", &|| {
        PoseCommand::ClearLimits
    });
    let pins = view
        .document
        .map(|document| document.pins.iter().copied().collect::<Vec<_>>())
        .unwrap_or_default();
    item(
        ui,
        actions,
        !pins.is_empty(),
        "Remove all pins",
        "",
        &|| PoseCommand::SetPins {
            joints: pins.clone(),
            pinned: false,
        },
    );
}

fn item(
    ui: &mut Ui,
    actions: &mut Actions,
    enabled: bool,
    name: &str,
    keys: &str,
    command: &dyn Fn() -> PoseCommand,
) {
    let button = Button::new(name)
        .shortcut_text(RichText::new(keys).color(theme::colors(ui.ctx()).text_weak));
    if ui.add_enabled(enabled, button).clicked() {
        actions.once(command().into());
        ui.close();
    }
}
