//! Drags in edit mode.

use egui::{Key, Modifiers, Pos2, Response, Ui};

use super::{EditTool, EditView, LandmarkHandle, PickedItem};
use crate::app::actions::Actions;
use crate::app::viewport::screen_map::ScreenMap;
use crate::math::{Point64, Vec64};
use crate::rig::edit::RigEdit;
use crate::session::{Command, Gesture, RigCommand};

/// A drag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EditDrag {
    /// A joint.
    Joint {
        /// The joint.
        joint: usize,
        /// Its initial position.
        from: Point64,
        /// Offset of the pointer from the joint at the start.
        offset: Vec64,
        /// Restricts the drag to this axis.
        axis: Option<usize>,
        /// Whether descendants move with it.
        with_children: bool,
    },
    /// The end of a leaf's bone.
    Tail {
        /// The joint.
        joint: usize,
        /// The initial position, if it was set.
        from: Option<Point64>,
        /// The current position.
        at: Point64,
    },
    /// The radius of a bone.
    Radius {
        /// The joint.
        joint: usize,
        /// The initial radius.
        from: f64,
        /// Centre of the ring on the screen.
        middle: Pos2,
        /// Initial distance from the centre.
        reach: f32,
    },
    /// A landmark of the template, or its mirrored counterpart.
    Landmark(LandmarkHandle),
}

/// Range of a dragged radius, relative to the initial one.
const RADIUS_FACTORS: [f32; 2] = [0.05, 20.0];

impl EditDrag {
    /// Reverts the drag.
    pub(super) fn revert(self, actions: &mut Actions) {
        let command = match self {
            Self::Joint {
                joint,
                from,
                with_children,
                ..
            } => RigCommand::Edit(RigEdit::Move {
                joint,
                position: from,
                with_children,
            }),
            Self::Tail { joint, from, .. } => {
                RigCommand::Edit(RigEdit::SetTail { joint, tail: from })
            }
            Self::Radius { joint, from, .. } => RigCommand::SetRadius {
                joint,
                radius: Some(from),
            },
            Self::Landmark(_) => return,
        };
        actions.send(Command::Rig(command), Gesture::Released);
    }
}

impl EditTool {
    pub(super) fn start_drag(
        &mut self,
        map: &ScreenMap,
        origin: Pos2,
        view: &EditView<'_>,
        actions: &mut Actions,
    ) -> Option<EditDrag> {
        self.under = self.pick(map, origin, view);
        let select = |joint: usize, actions: &mut Actions| {
            if view.selected != Some(joint) {
                actions.once(Command::Rig(RigCommand::Select(Some(joint))));
            }
        };
        match self.under? {
            PickedItem::Joint(joint) => {
                let from = view.rig.joints()[joint].position;
                let held = map.ray(origin).meet_plane(&from, &map.back())?;
                select(joint, actions);
                Some(EditDrag::Joint {
                    joint,
                    from,
                    offset: from - held,
                    axis: None,
                    with_children: false,
                })
            }
            PickedItem::Tail(joint) => {
                select(joint, actions);
                Some(EditDrag::Tail {
                    joint,
                    from: view.rig.tail(joint),
                    at: view.tail(joint)?,
                })
            }
            PickedItem::Ring(joint) => {
                let volume = view.ring()?;
                let middle =
                    map.project(&nalgebra::center(&volume.segment[0], &volume.segment[1]))?;
                Some(EditDrag::Radius {
                    joint,
                    from: volume.radius,
                    middle,
                    reach: middle.distance(origin).max(3.0),
                })
            }
            PickedItem::Landmark(handle) => Some(EditDrag::Landmark(handle)),
            PickedItem::Bone { .. } | PickedItem::Flesh(_) => None,
        }
    }

    /// X, Y and Z choose the axis of a drag; the same key again removes the restriction.
    pub(super) fn read_axis(&mut self, ui: &Ui) {
        let Some(EditDrag::Joint { axis, .. }) = &mut self.drag else {
            return;
        };
        ui.input_mut(|input| {
            for (index, key) in [Key::X, Key::Y, Key::Z].into_iter().enumerate() {
                if input.consume_key(Modifiers::NONE, key) {
                    *axis = (*axis != Some(index)).then_some(index);
                }
            }
        });
    }

    pub(super) fn continue_drag(
        &mut self,
        map: &ScreenMap,
        response: &Response,
        modifiers: Modifiers,
        view: &EditView<'_>,
        actions: &mut Actions,
    ) {
        let ends = response.drag_stopped() || !response.dragged();
        let gesture = if ends {
            Gesture::Released
        } else {
            Gesture::Dragging
        };
        let pointer = response.interact_pointer_pos();
        let (Some(drag), Some(pointer)) = (&mut self.drag, pointer) else {
            self.drag = None;
            return;
        };
        let command = match drag {
            EditDrag::Joint {
                joint,
                from,
                offset,
                axis,
                with_children,
            } => {
                *with_children = modifiers.command;
                let wanted = moved(map, pointer, from, offset, *axis);
                wanted.map(|wanted| {
                    let position = kept_inside(view, from, wanted, *axis);
                    RigCommand::Edit(RigEdit::Move {
                        joint: *joint,
                        position,
                        with_children: *with_children,
                    })
                })
            }
            EditDrag::Tail { joint, at, .. } => {
                map.ray(pointer).meet_plane(at, &map.back()).map(|wanted| {
                    *at = view
                        .placer
                        .map_or(wanted, |placer| placer.kept_inside(&wanted));
                    RigCommand::Edit(RigEdit::SetTail {
                        joint: *joint,
                        tail: Some(*at),
                    })
                })
            }
            EditDrag::Radius {
                joint,
                from,
                middle,
                reach,
            } => {
                let [least, most] = RADIUS_FACTORS;
                let factor = (middle.distance(pointer) / *reach).clamp(least, most);
                Some(RigCommand::SetRadius {
                    joint: *joint,
                    radius: Some(*from * f64::from(factor)),
                })
            }
            EditDrag::Landmark(handle) => {
                if let Some(fitting) = &mut self.fitting {
                    fitting.move_to(*handle, map, pointer, view.placer, view.mirror);
                }
                None
            }
        };
        if let Some(command) = command {
            actions.send(Command::Rig(command), gesture);
        }
        if ends {
            (self.drag, self.picked) = (None, None);
        }
    }
}

/// The joint position for the pointer: in the screen plane through the joint, or on the axis.
fn moved(
    map: &ScreenMap,
    pointer: Pos2,
    from: &Point64,
    offset: &Vec64,
    axis: Option<usize>,
) -> Option<Point64> {
    let wanted = map.ray(pointer).meet_plane(from, &map.back())? + offset;
    let Some(axis) = axis else {
        return Some(wanted);
    };
    // The point of the axis nearest to the ray.
    let ray = map.ray(pointer);
    let mut along = Vec64::zeros();
    along[axis] = 1.0;
    let across = along.cross(&ray.direction);
    let square = across.norm_squared();
    if square < 1e-4 {
        return None;
    }
    let t = (ray.origin + offset - from)
        .cross(&ray.direction)
        .dot(&across)
        / square;
    t.is_finite().then(|| from + along * t)
}

/// A joint that was inside the flesh stays there; along an axis it stops at the skin.
fn kept_inside(
    view: &EditView<'_>,
    from: &Point64,
    wanted: Point64,
    axis: Option<usize>,
) -> Point64 {
    let Some(placer) = view.placer.filter(|placer| placer.is_inside(from)) else {
        return wanted;
    };
    if axis.is_none() {
        return placer.kept_inside(&wanted);
    }
    let (mut inside, mut outside) = (0.0, 1.0);
    if placer.is_inside(&wanted) {
        return wanted;
    }
    for _ in 0..16 {
        let middle = 0.5 * (inside + outside);
        if placer.is_inside(&(from + (wanted - from) * middle)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    from + (wanted - from) * inside
}
