//! Edit mode in a view: joints placed in the middle of the flesh, dragged, joined and cut.
//!
//! | input                            | effect                                                               |
//! |----------------------------------|---------------------------------------------------------------------|
//! | click into the flesh             | adds a joint in its middle, as a child of the selected one          |
//! | click a joint or a bone          | selects                                                             |
//! | drag a joint                     | moves it inside the flesh; with Ctrl its descendants move too       |
//! | X, Y, Z while dragging           | only along that axis                                                |
//! | drag the end of a leaf's bone    | sets its tail                                                       |
//! | drag the ring around a bone      | sets its radius                                                     |
//! | Shift+click a bone               | adds a joint there                                                  |
//! | Ctrl+click another joint         | makes it the parent of the selected joint                           |
//! | Delete, M                        | deletes, merges the selected joint                                  |
//!
//! [`EditTool`] is what the pointer does, shared by all views; it reads an [`EditView`] and raises commands.

mod drag;
mod draw;
mod hint;
mod keys;
mod landmarks;
mod pick;

pub use drag::EditDrag;
pub use draw::draw;
pub use hint::hint;
pub use landmarks::{Fitting, LandmarkHandle};
pub use pick::PickedItem;

use std::collections::VecDeque;

use egui::{PointerButton, Pos2, Response, Ui};

use super::Viewport;
use super::screen_map::{ScreenMap, ScreenRay};
use crate::app::actions::Actions;
use crate::app::look::Look;
use crate::math::Point64;
use crate::render::{OnionSkins, Shading, SkinColors};
use crate::rig::edit::{Mirror, Placed, Placer, Rig, RigBone, RigEdit};
use crate::session::{Command, RigCommand, Session};

/// Data for edit mode.
#[derive(Debug, Clone)]
pub struct EditView<'a> {
    /// The rig.
    pub rig: &'a Rig,
    /// The selected joint.
    pub selected: Option<usize>,
    /// The mirror plane of edits.
    pub mirror: Option<&'a Mirror>,
    /// Finds the centre of the flesh; available after the mesh was analysed.
    pub placer: Option<&'a Placer>,
    /// Bones with tissue.
    pub volumes: Vec<Volume>,
    /// Joints of bones without tissue, as the handles of a game rig.
    pub without_flesh: Vec<usize>,
}

/// A bone with tissue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Volume {
    /// The joint of the rig that carries it.
    pub joint: usize,
    /// From the joint to its end.
    pub segment: [Point64; 2],
    /// Radius, world units.
    pub radius: f64,
    /// Whether its end is computed from the flesh.
    pub is_tail: bool,
}

impl<'a> EditView<'a> {
    /// The data of edit mode; `None` without a character.
    #[must_use]
    pub fn of(session: &'a Session) -> Option<Self> {
        let (rig, subject) = (session.rigging().rig()?, session.subject()?);
        let graph = subject
            .flesh_if_made()
            .and_then(Result::ok)
            .map(|flesh| &flesh.tissue.graph);
        let volume = |index: usize, bone: &crate::tissue::Bone| {
            let joint = rig.index_of(subject.rig.joints().get(bone.joint)?.id)?;
            let segment = graph?.segment(index);
            Some(Volume {
                joint,
                segment,
                radius: bone.radius,
                is_tail: bone.end_joint.is_none(),
            })
        };
        let volumes = graph
            .into_iter()
            .flat_map(|graph| graph.bones.iter().enumerate())
            .filter_map(|(index, bone)| volume(index, bone));
        let carries = |joint: usize| {
            let bones = graph.into_iter().flat_map(|graph| &graph.bones);
            bones
                .filter_map(|bone| bone.end_joint)
                .any(|end| end == joint)
        };
        let is_bare = |id| {
            graph.is_some()
                && subject
                    .rig
                    .index_of(id)
                    .is_some_and(|joint| !carries(joint))
        };
        let hanging = rig
            .joints()
            .iter()
            .enumerate()
            .filter(|(_, joint)| joint.parent.is_some());
        let without_flesh = hanging
            .filter(|(_, joint)| is_bare(joint.id))
            .map(|(joint, _)| joint)
            .collect();
        Some(Self {
            without_flesh,
            rig,
            selected: session.rigging().selected(),
            mirror: session.rigging().mirror(),
            placer: session.rigging().placer().map(|placer| &**placer),
            volumes: volumes.collect(),
        })
    }

    /// Tail of a leaf: as set, or as computed from the flesh.
    #[must_use]
    pub fn tail(&self, joint: usize) -> Option<Point64> {
        let grown = || {
            self.volumes
                .iter()
                .find(|volume| volume.joint == joint && volume.is_tail)
                .map(|volume| volume.segment[1])
        };
        self.rig
            .is_leaf(joint)
            .then(|| self.rig.tail(joint).or_else(grown))
            .flatten()
    }

    /// The volume whose ring is shown: that of the selected joint.
    #[must_use]
    pub fn ring(&self) -> Option<&Volume> {
        let selected = self.selected?;
        self.volumes.iter().find(|volume| volume.joint == selected)
    }
}

/// Pointer state of edit mode.
#[derive(Debug, Default)]
pub struct EditTool {
    /// The item under the pointer.
    pub under: Option<PickedItem>,
    /// The current drag.
    pub drag: Option<EditDrag>,
    /// A template being fitted.
    pub fitting: Option<Fitting>,
    picked: Option<(Pos2, Picked)>,
    /// Clicks made before the mesh was analysed; they place joints afterwards.
    waiting: VecDeque<Click>,
}

/// Position of a click: on the screen, and its ray.
#[derive(Debug, Clone, Copy)]
struct Click {
    at: Pos2,
    ray: ScreenRay,
}

/// Inputs of picking other than the pointer.
type Picked = (usize, Option<usize>, bool);

impl EditTool {
    /// Drops state of another character or mode.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Handles the pointer over one view.
    pub fn interact(
        &mut self,
        ui: &Ui,
        response: &Response,
        viewport: &mut Viewport,
        view: &EditView<'_>,
        actions: &mut Actions,
    ) {
        if viewport.rect.is_none() {
            return;
        }
        viewport.update_camera(ui, response);
        let Some(map) = viewport.map() else { return };
        self.catch_up(ui, &map, view, actions);
        let modifiers = ui.input(|input| input.modifiers);
        if self
            .fitting
            .as_ref()
            .is_some_and(|fitting| fitting.landmarks.is_empty())
            && let (Some(fitting), Some(placer)) = (&mut self.fitting, view.placer)
        {
            fitting.guess(placer);
        }
        if !ui.input(|input| input.pointer.any_down()) {
            self.hover(
                ui,
                &map,
                response
                    .hover_pos()
                    .filter(|_| !viewport.axis_gizmo.hovered),
                view,
            );
        }
        if response.drag_started_by(PointerButton::Primary)
            && !viewport.navigation.preset.uses_left_button(modifiers)
        {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.drag = origin.and_then(|origin| self.start_drag(&map, origin, view, actions));
        }
        if self.drag.is_some() {
            self.read_axis(ui);
            self.continue_drag(&map, response, modifiers, view, actions);
            return;
        }
        viewport.drag_camera(ui, response);
        if response.clicked_by(PointerButton::Primary)
            && let Some(pointer) = response.interact_pointer_pos()
        {
            self.click(&map, pointer, modifiers, view, actions);
        }
        if response.hovered() || response.contains_pointer() {
            keys::read(ui, self, view, actions);
        }
    }

    fn hover(&mut self, ui: &Ui, map: &ScreenMap, pointer: Option<Pos2>, view: &EditView<'_>) {
        let Some(pointer) = pointer else {
            // Another view may own the state.
            if self.picked.is_some_and(|(at, _)| map.rect().contains(at)) {
                (self.under, self.picked) = (None, None);
            }
            return;
        };
        let picked = (
            pointer,
            (
                std::ptr::from_ref(view.rig) as usize,
                view.selected,
                view.placer.is_some(),
            ),
        );
        if self.picked != Some(picked) || self.under.is_none() {
            self.picked = Some(picked);
            let under = self.pick(map, pointer, view);
            if under != self.under {
                // The status line was already drawn.
                ui.ctx().request_repaint();
            }
            self.under = under;
        }
    }

    fn pick(&self, map: &ScreenMap, pointer: Pos2, view: &EditView<'_>) -> Option<PickedItem> {
        match &self.fitting {
            Some(fitting) => pick::landmark(map, pointer, fitting, view),
            None => pick::pick(map, pointer, view),
        }
    }

    fn click(
        &mut self,
        map: &ScreenMap,
        pointer: Pos2,
        modifiers: egui::Modifiers,
        view: &EditView<'_>,
        actions: &mut Actions,
    ) {
        if self.fitting.is_some() {
            return;
        }
        // Picked again at the press position, because the pointer may have moved since the last
        // frame.
        self.under = self.pick(map, pointer, view);
        let rig = |command: RigCommand| Command::Rig(command);
        let edit = |edit: RigEdit| rig(RigCommand::Edit(edit));
        match self.under {
            Some(PickedItem::Joint(joint)) if modifiers.command => {
                if let Some(selected) = view.selected.filter(|&selected| selected != joint) {
                    actions.once(edit(RigEdit::Reparent {
                        joint: selected,
                        parent: Some(joint),
                    }));
                }
            }
            Some(PickedItem::Joint(joint)) => actions.once(rig(RigCommand::Select(Some(joint)))),
            Some(PickedItem::Tail(joint)) if view.selected != Some(joint) => {
                actions.once(rig(RigCommand::Select(Some(joint))));
            }
            Some(PickedItem::Bone { bone, at }) if modifiers.shift => {
                actions.once(edit(RigEdit::Insert { bone, at }));
            }
            Some(PickedItem::Bone { bone, .. }) => {
                actions.once(rig(RigCommand::Select(Some(carrier(view.rig, bone)))));
            }
            // Handles of the selected bone do not prevent extending it.
            Some(PickedItem::Flesh(_) | PickedItem::Tail(_) | PickedItem::Ring(_)) => {
                if let Some(placed) = pick::flesh(map, pointer, view) {
                    actions.once(edit(RigEdit::Add {
                        parent: view.selected,
                        position: placed.position,
                        name: None,
                    }));
                }
            }
            Some(PickedItem::Landmark(_)) => {}
            None if view.placer.is_none() => self.waiting.push_back(Click {
                at: pointer,
                ray: map.ray(pointer),
            }),
            None if view.selected.is_some() => actions.once(rig(RigCommand::Select(None))),
            None => {}
        }
        self.picked = None;
    }

    /// Applies a click made before the mesh was analysed; one per frame, because each selects the
    /// parent of the next joint.
    fn catch_up(&mut self, ui: &Ui, map: &ScreenMap, view: &EditView<'_>, actions: &mut Actions) {
        let Some(placer) = view.placer else { return };
        let Some(Click { ray, .. }) = self
            .waiting
            .pop_front_if(|click| map.rect().contains(click.at))
        else {
            return;
        };
        match placer.under(&ray.origin, &ray.direction) {
            Some(placed) => {
                let add = RigEdit::Add {
                    parent: view.selected,
                    position: placed.position,
                    name: None,
                };
                actions.once(Command::Rig(RigCommand::Edit(add)));
            }
            None if view.selected.is_some() => actions.once(Command::Rig(RigCommand::Select(None))),
            None => {}
        }
        ui.ctx().request_repaint();
    }

    /// Number of pending clicks.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Cancels the current drag or template. Returns whether there was one.
    pub fn cancel(&mut self, actions: &mut Actions) -> bool {
        if let Some(drag) = self.drag.take() {
            drag.revert(actions);
            self.picked = None;
            return true;
        }
        let waited = !self.waiting.is_empty();
        self.waiting.clear();
        self.fitting.take().is_some() || waited
    }

    /// Where a click would place a joint.
    #[must_use]
    pub fn ghost(&self) -> Option<Placed> {
        match (self.under, &self.drag) {
            (Some(PickedItem::Flesh(placed)), None) => Some(placed),
            _ => None,
        }
    }
}

/// The joint whose frame carries a bone.
fn carrier(rig: &Rig, bone: RigBone) -> usize {
    match bone {
        RigBone::To(joint) => rig
            .joints()
            .get(joint)
            .and_then(|joint| joint.parent)
            .unwrap_or(joint),
        RigBone::Tail(joint) => joint,
    }
}

/// Display settings of edit mode: only the mesh, transparent and in clay, so that bones are visible
/// in dark materials too. The weights of the selected joint are shown as colours if `weights` is set:
/// they are asked for, and known.
#[must_use]
pub fn look(look: &Look, weights: bool) -> Look {
    Look {
        skin: true,
        xray: !weights,
        shading: if look.shading == Shading::Textured {
            Shading::Studio
        } else {
            look.shading
        },
        bones: false,
        bone_volumes: false,
        base_surface: false,
        tets: false,
        voxels: false,
        fields: false,
        contacts: false,
        feet: false,
        velocities: false,
        sections: false,
        findings: false,
        colors: if weights {
            SkinColors::Weights
        } else {
            SkinColors::Material
        },
        ghosts: OnionSkins::default(),
        ..*look
    }
}

#[cfg(test)]
mod tests;
