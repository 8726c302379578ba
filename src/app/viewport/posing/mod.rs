//! Posing with the pointer: picking, selection, drags.

mod arrows;
mod drag;
pub mod keys;
mod marks;
mod menu;
mod modal;
pub mod strip;
mod without_button;

use egui::{Modifiers, PointerButton, Pos2, Rect, Response, Ui};

pub use arrows::{Arrow, Arrows};
pub use drag::{PoseDrag, ReachDrag};
pub use marks::draw_marks;
pub use modal::Modal;

use self::arrows::ArrowDrag;
use self::drag::orientation;
use super::gizmo::{Gizmo, Ring, RingDrag};
use super::picking::{JOINT_REACH, PickTarget, pick_bones, pick_flesh, pick_vertex};
use super::pull::Pull;
use super::screen_map::ScreenMap;
use super::{Viewport, ViewportView};
use crate::app::actions::tools::GizmoAxes;
use crate::app::actions::tools::Tool;
use crate::app::actions::{Action, Actions, ProbeAction};
use crate::math::{Quat, origin_of};
use crate::rig::Skeleton;
use crate::session::{Command, Gesture, PoseCommand, SelectHow};

/// A handle of the selected joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoseHandle {
    /// A ring.
    Ring(Ring),
    /// The trackball between the rings.
    Ball,
    /// An arrow.
    Arrow(Arrow),
}

/// Snap step of a move, relative to the character's size.
const SNAP_PART: f64 = 0.01;

impl Viewport {
    /// Handles posing by the pointer. Returns whether the pointer is in use, so that the camera
    /// must not move.
    pub(super) fn pose_with_pointer(
        &mut self,
        ui: &Ui,
        response: &Response,
        map: &ScreenMap,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) -> bool {
        if view.tools.tool == Tool::Explain {
            return self.probe_with_pointer(response, map, view, actions);
        }
        if view.tools.tool == Tool::Paint {
            return self.paint_with_pointer(ui, response, map, view, actions);
        }
        let modifiers = ui.input(|input| input.modifiers);
        // The release that ends a drag that was given up is no click.
        let given_up = self.given_up;
        if !ui.input(|input| input.pointer.any_down()) {
            self.given_up = false;
            // The axis gizmo in the corner has priority.
            self.hover(
                map,
                response.hover_pos().filter(|_| !self.axis_gizmo.hovered),
                view,
            );
        }
        if ui.input(|input| self.continue_modal(input, map, view, actions)) {
            return true;
        }
        if response.drag_started_by(PointerButton::Primary)
            && !given_up
            && !self.navigation.preset.uses_left_button(modifiers)
        {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.start_drag(map, origin, modifiers, view, actions);
        }
        if self.drag.is_some() {
            self.continue_drag(map, response, modifiers, view, actions);
            return true;
        }
        if response.clicked_by(PointerButton::Primary) && !given_up {
            self.click(
                map,
                response.interact_pointer_pos(),
                modifiers,
                view,
                actions,
            );
        }
        self.context_menu(response, map, view, actions);
        self.given_up
    }

    /// With the tool that explains: the vertex under the pointer, and a click that pins it. The camera may move.
    fn probe_with_pointer(
        &mut self,
        response: &Response,
        map: &ScreenMap,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) -> bool {
        (self.hovered, self.hovered_handle) = (None, None);
        let vertex_at = |pointer: Pos2| {
            let snapshot = view.snapshot?;
            pick_vertex(&map.ray(pointer), snapshot)
        };
        if response.clicked_by(PointerButton::Primary) {
            let pressed = response.interact_pointer_pos();
            let action = match pressed.and_then(vertex_at) {
                Some(vertex) => ProbeAction::Pin(vertex),
                None => ProbeAction::Release,
            };
            actions.push(Action::Probe(action));
            return false;
        }
        let pointer = response.hover_pos().filter(|_| !self.axis_gizmo.hovered);
        let state = view.snapshot.map_or(0, |snapshot| snapshot.sequence);
        let picked = pointer.map(|pointer| (pointer, state));
        if picked != self.picked {
            let left = self.picked.is_some() && pointer.is_none();
            self.picked = picked;
            if left {
                actions.push(Action::Probe(ProbeAction::Hover(None)));
            } else if let Some(pointer) = pointer {
                actions.push(Action::Probe(ProbeAction::Hover(vertex_at(pointer))));
            }
        }
        false
    }

    fn hover(&mut self, map: &ScreenMap, pointer: Option<Pos2>, view: &ViewportView<'_>) {
        let (Some(pointer), Some(skeleton)) = (pointer, view.skeleton) else {
            (self.hovered, self.hovered_handle, self.picked) = (None, None, None);
            return;
        };
        let picked = Some((
            pointer,
            view.snapshot.map_or(0, |snapshot| snapshot.sequence),
        ));
        if picked == self.picked && self.hovered.is_some() {
            return;
        }
        self.picked = picked;
        self.pick(map, pointer, skeleton, view);
    }

    fn pick(
        &mut self,
        map: &ScreenMap,
        pointer: Pos2,
        skeleton: &Skeleton,
        view: &ViewportView<'_>,
    ) {
        self.hovered_handle = handle_at(map, view, pointer);
        self.hovered = match self.hovered_handle {
            Some(PoseHandle::Ring(_) | PoseHandle::Arrow(_)) => None,
            Some(PoseHandle::Ball) | None => {
                pick_bones(map, skeleton, view.world_from_joint, pointer).or_else(|| {
                    view.snapshot
                        .and_then(|snapshot| pick_flesh(&map.ray(pointer), snapshot))
                })
            }
        };
    }

    fn click(
        &mut self,
        map: &ScreenMap,
        pointer: Option<Pos2>,
        modifiers: Modifiers,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) {
        // Picked again at the press position, because the pointer may have moved since the last
        // frame.
        if let (Some(pointer), Some(skeleton)) = (pointer, view.skeleton) {
            self.pick(map, pointer, skeleton, view);
        }
        // A ring is dragged; a click on a ring selects the dot under it, if there is one.
        let under_handle = matches!(
            self.hovered_handle,
            Some(PoseHandle::Ring(_) | PoseHandle::Arrow(_))
        );
        let target = if under_handle {
            let dot = pointer.zip(view.skeleton).and_then(|(pointer, skeleton)| {
                pick_bones(map, skeleton, view.world_from_joint, pointer)
            });
            let Some(dot @ PickTarget::Joint(_)) = dot else {
                return;
            };
            Some(dot)
        } else {
            self.hovered
        };
        let joint = target.map(PickTarget::joint);
        match (joint, how(modifiers)) {
            (_, SelectHow::Replace) if joint != view.selected || view.selection.len() > 1 => {
                actions.once(Command::SelectJoint(joint));
            }
            (_, SelectHow::Replace) | (None, _) => {}
            (Some(joint), how) => actions.once(
                PoseCommand::Select {
                    joints: vec![joint],
                    how,
                }
                .into(),
            ),
        }
    }

    fn start_drag(
        &mut self,
        map: &ScreenMap,
        origin: Option<Pos2>,
        modifiers: Modifiers,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) {
        let (Some(origin), Some(skeleton)) = (origin, view.skeleton) else {
            return;
        };
        self.pick(map, origin, skeleton, view);
        self.last_command = None;
        if let Some((handle, joint)) = self.hovered_handle.zip(view.selected) {
            self.drag = grab(
                map,
                view,
                handle,
                joint,
                origin,
                f64::from(self.size()) * SNAP_PART,
            );
            return;
        }
        if modifiers.command {
            self.drag = Some(PoseDrag::Box {
                from: origin,
                to: origin,
            });
            return;
        }
        let Some(target) = self.hovered else { return };
        self.drag = match view.tools.tool {
            Tool::Rotate => Pull::start(map, skeleton, view.world_from_joint, target, origin)
                .map(PoseDrag::Pull),
            Tool::Explain | Tool::Paint => None,
            Tool::Drag | Tool::Move => {
                ReachDrag::start(map, view.world_from_joint, target, origin).map(PoseDrag::Reach)
            }
        };
        let held = self.drag.as_ref().and_then(PoseDrag::joint);
        if held.is_some() && held != view.selected {
            actions.once(Command::SelectJoint(held));
        }
    }

    fn continue_drag(
        &mut self,
        map: &ScreenMap,
        response: &Response,
        modifiers: Modifiers,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) {
        let Some(drag) = &mut self.drag else { return };
        let ends = response.drag_stopped() || !response.dragged();
        if let Some(pointer) = response.interact_pointer_pos() {
            let command = drag.follow(map, pointer, modifiers, &view.tools);
            self.last_command = command.or_else(|| self.last_command.take());
        }
        let gesture = if ends {
            Gesture::Released
        } else {
            Gesture::Dragging
        };
        if let Some(command) = &self.last_command {
            actions.send(command.clone().into(), gesture);
        }
        if let (true, PoseDrag::Box { from, to }) = (ends, drag) {
            let joints = joints_within(map, view, Rect::from_two_pos(*from, *to));
            actions.once(
                PoseCommand::Select {
                    joints,
                    how: SelectHow::Add,
                }
                .into(),
            );
        }
        if ends {
            (self.drag, self.picked, self.last_command) = (None, None, None);
        }
    }

    /// Cancels the current drag. Returns whether there was one.
    pub fn cancel_drag(&mut self, actions: &mut Actions) -> bool {
        if self.cancel_stroke() {
            actions.once(PoseCommand::Revert.into());
            return true;
        }
        let Some(drag) = self.drag.take() else {
            return false;
        };
        // The button is still down: the pointer has no effect until it is released.
        self.given_up = true;
        if !matches!(drag, PoseDrag::Box { .. }) {
            actions.once(PoseCommand::Revert.into());
        }
        true
    }
}

/// Selection mode of a click with modifier keys.
pub(in crate::app) fn how(modifiers: Modifiers) -> SelectHow {
    match (modifiers.command, modifiers.shift) {
        (true, _) => SelectHow::Toggle,
        (false, true) => SelectHow::Add,
        (false, false) => SelectHow::Replace,
    }
}

/// Distance from another joint's dot at which a ring is not grabbed: little more than the dot, points.
const OTHER_DOT_REACH: f32 = 5.0;

/// The handle of the selected joint that is under the pointer.
fn handle_at(map: &ScreenMap, view: &ViewportView<'_>, pointer: Pos2) -> Option<PoseHandle> {
    let joint = view.selected?;
    if view.tools.tool == Tool::Move {
        return arrows_at(map, view, joint)?
            .hit(map, pointer)
            .map(PoseHandle::Arrow);
    }
    let gizmo = gizmo_at(map, view, joint)?;
    // The tool drags dots: the joint's own, which rings seen edge-on cross, and those of other joints that rings pass.
    let over_dot = || {
        view.world_from_joint
            .iter()
            .enumerate()
            .any(|(other, world)| {
                let reach = if other == joint {
                    JOINT_REACH
                } else {
                    OTHER_DOT_REACH
                };
                map.project(&origin_of(world))
                    .is_some_and(|dot| dot.distance(pointer) <= reach)
            })
    };
    if view.tools.tool == Tool::Drag && over_dot() {
        return None;
    }
    let ring = gizmo.hit(map, pointer).map(PoseHandle::Ring);
    ring.or_else(|| {
        (view.tools.tool == Tool::Rotate && gizmo.is_inside(map, pointer))
            .then_some(PoseHandle::Ball)
    })
}

/// The rings around a joint.
#[must_use]
pub fn gizmo_at(map: &ScreenMap, view: &ViewportView<'_>, joint: usize) -> Option<Gizmo> {
    let world = view.world_from_joint.get(joint)?;
    Gizmo::new(
        map,
        origin_of(world),
        &orientation(map, world, view.tools.axes),
    )
}

/// The arrows at a joint.
#[must_use]
pub fn arrows_at(map: &ScreenMap, view: &ViewportView<'_>, joint: usize) -> Option<Arrows> {
    let world = view.world_from_joint.get(joint)?;
    Arrows::new(
        map,
        origin_of(world),
        &orientation(map, world, view.tools.axes),
    )
}

fn grab(
    map: &ScreenMap,
    view: &ViewportView<'_>,
    handle: PoseHandle,
    joint: usize,
    origin: Pos2,
    step: f64,
) -> Option<PoseDrag> {
    let joints = if view.selection.contains(&joint) {
        view.selection.to_vec()
    } else {
        vec![joint]
    };
    match handle {
        PoseHandle::Ring(ring) => {
            let gizmo = gizmo_at(map, view, joint)?;
            let drag = RingDrag::start(&gizmo, map, ring, origin);
            let own_axes = joints.len() > 1 && view.tools.axes == GizmoAxes::Own;
            Some(PoseDrag::Ring {
                joint,
                joints,
                gizmo,
                drag,
                angle: 0.0,
                own_axes,
            })
        }
        PoseHandle::Ball => Some(PoseDrag::Ball {
            joint,
            joints,
            last: origin,
            turned: Quat::identity(),
        }),
        PoseHandle::Arrow(arrow) => {
            let drag = ArrowDrag::start(&arrows_at(map, view, joint)?, map, arrow, origin)?;
            Some(PoseDrag::Arrow { joint, drag, step })
        }
    }
}

/// The joints whose dots are in a rectangle.
fn joints_within(map: &ScreenMap, view: &ViewportView<'_>, rect: Rect) -> Vec<usize> {
    let inside = |world| {
        map.project(&origin_of(world))
            .is_some_and(|at| rect.contains(at))
    };
    view.world_from_joint
        .iter()
        .enumerate()
        .filter(|(_, world)| inside(world))
        .map(|(joint, _)| joint)
        .collect()
}

#[cfg(test)]
mod tests;
