//! A posing drag: its start, and the command for each pointer position.

use egui::{Modifiers, Pos2};

use super::super::gizmo::{Gizmo, Ring, RingDrag};
use super::super::picking::PickTarget;
use super::super::pull::Pull;
use super::super::screen_map::ScreenMap;
use super::arrows::ArrowDrag;
use super::modal::Modal;
use crate::app::actions::tools::GizmoAxes;
use crate::app::actions::tools::Toolbox;
use crate::math::{Affine, Point64, Quat, Vec64, origin_of};
use crate::rig::ik::{DraggedPoint, EndRotation};
use crate::session::{PoseCommand, TurnAxes};

/// Trackball rotation, radians, for a pointer movement of the rings' radius.
const BALL_TURN: f64 = 1.2;

/// The current posing drag.
#[derive(Debug, Clone)]
pub enum PoseDrag {
    /// Rotates joints by a ring.
    Ring {
        /// The joint of the rings.
        joint: usize,
        /// All rotated joints.
        joints: Vec<usize>,
        /// The ring's geometry at the start.
        gizmo: Gizmo,
        /// The ring drag.
        drag: RingDrag,
        /// Angle so far, radians, snapped if requested.
        angle: f64,
        /// Whether several joints rotate about their own axes.
        own_axes: bool,
    },
    /// Rotates joints by the trackball between the rings.
    Ball {
        /// The joint at the centre.
        joint: usize,
        /// All rotated joints.
        joints: Vec<usize>,
        /// The initial pointer position.
        last: Pos2,
        /// Rotation so far, about world axes.
        turned: Quat,
    },
    /// Moves a joint by an arrow.
    Arrow {
        /// The joint.
        joint: usize,
        /// The arrow drag.
        drag: ArrowDrag,
        /// Step length while Ctrl is held, world units.
        step: f64,
    },
    /// Drags the body by a point.
    Reach(ReachDrag),
    /// Rotates the one joint that carries the point.
    Pull(Pull),
    /// Turns or moves joints by keys and numbers, without a button held.
    Modal(Modal),
    /// Selects the joints in a rectangle.
    Box {
        /// First corner.
        from: Pos2,
        /// Second corner.
        to: Pos2,
    },
}

/// A point of the body that follows the pointer.
#[derive(Debug, Clone, Copy)]
pub struct ReachDrag {
    /// The point.
    pub grip: DraggedPoint,
    /// Its initial position.
    pub start: Point64,
    /// The target.
    pub target: Point64,
    grabbed: Vec64,
}

impl ReachDrag {
    /// Starts with the item under the pointer.
    #[must_use]
    pub fn start(
        map: &ScreenMap,
        world_from_joint: &[Affine],
        target: PickTarget,
        pointer: Pos2,
    ) -> Option<Self> {
        let joint = target.joint();
        let world = world_from_joint.get(joint)?;
        let origin = origin_of(world);
        let start = match target {
            PickTarget::Joint(_) => origin,
            PickTarget::Bone(_) => map.ray(pointer).meet_plane(&origin, &map.back())?,
            PickTarget::Flesh { point, .. } => point,
        };
        let point = if let PickTarget::Joint(_) = target {
            Point64::origin()
        } else {
            world.try_inverse()? * start
        };
        let grabbed = start - map.ray(pointer).meet_plane(&start, &map.back())?;
        Some(Self {
            grip: DraggedPoint { joint, point },
            start,
            target: start,
            grabbed,
        })
    }

    fn update(&mut self, map: &ScreenMap, pointer: Pos2) -> Point64 {
        if let Some(at) = map.ray(pointer).meet_plane(&self.start, &map.back()) {
            self.target = at + self.grabbed;
        }
        self.target
    }
}

impl PoseDrag {
    /// The dragged or rotated joint; `None` for a rectangle.
    #[must_use]
    pub fn joint(&self) -> Option<usize> {
        match self {
            Self::Ring { joint, .. } | Self::Ball { joint, .. } | Self::Arrow { joint, .. } => {
                Some(*joint)
            }
            Self::Reach(reach) => Some(reach.grip.joint),
            Self::Pull(pull) => Some(pull.joint),
            Self::Modal(modal) => Some(modal.joint),
            Self::Box { .. } => None,
        }
    }

    /// Follows the pointer. Returns the resulting command.
    pub fn follow(
        &mut self,
        map: &ScreenMap,
        pointer: Pos2,
        modifiers: Modifiers,
        tools: &Toolbox,
    ) -> Option<PoseCommand> {
        let snaps = modifiers.command;
        let turn = |joints: &[usize], rotation: Quat, axes: TurnAxes| PoseCommand::Turn {
            joints: joints.to_vec(),
            rotation,
            axes,
        };
        match self {
            Self::Ring {
                joints,
                drag,
                angle,
                own_axes,
                ..
            } => {
                drag.update(map, pointer);
                *angle = drag.angle(snaps.then(|| tools.snap_deg.to_radians()));
                Some(match (drag.ring, *own_axes) {
                    (Ring::Axis(axis), true) => {
                        turn(joints, about(&axis_of(axis), *angle), TurnAxes::Own)
                    }
                    _ => turn(joints, about(&drag.axis, *angle), TurnAxes::World),
                })
            }
            Self::Ball {
                joints,
                last,
                turned,
                ..
            } => {
                let by = pointer - *last;
                *last = pointer;
                let (right, up) = map.right_and_up();
                let scale = BALL_TURN / Gizmo::radius_on_screen();
                *turned =
                    Quat::new((up * f64::from(by.x) + right * f64::from(by.y)) * scale) * *turned;
                Some(turn(joints, *turned, TurnAxes::World))
            }
            Self::Arrow { joint, drag, step } => {
                let target = drag.update(map, pointer, snaps.then_some(*step));
                Some(PoseCommand::Reach {
                    grip: DraggedPoint::of_joint(*joint),
                    target,
                    end: end_turn(modifiers),
                })
            }
            Self::Reach(reach) => {
                let target = reach.update(map, pointer);
                Some(PoseCommand::Reach {
                    grip: reach.grip,
                    target,
                    end: end_turn(modifiers),
                })
            }
            Self::Pull(pull) => {
                let rotation = pull.update(map, pointer)?;
                Some(turn(&[pull.joint], rotation, TurnAxes::World))
            }
            // Follows on its own.
            Self::Modal(_) => None,
            Self::Box { to, .. } => {
                *to = pointer;
                None
            }
        }
    }
}

/// Shift keeps the world rotation of a hand or foot.
fn end_turn(modifiers: Modifiers) -> EndRotation {
    if modifiers.shift {
        EndRotation::Stays
    } else {
        EndRotation::Follows
    }
}

fn axis_of(axis: usize) -> Vec64 {
    [Vec64::x(), Vec64::y(), Vec64::z()][axis.min(2)]
}

fn about(axis: &Vec64, angle: f64) -> Quat {
    Quat::from_axis_angle(&nalgebra::Unit::new_normalize(*axis), angle)
}

/// The orientation of handles at a joint.
#[must_use]
pub fn orientation(map: &ScreenMap, world: &Affine, axes: GizmoAxes) -> Quat {
    match axes {
        GizmoAxes::Own => crate::rig::Trs::from_affine(world).rotation,
        GizmoAxes::World => Quat::identity(),
        GizmoAxes::View => {
            let (right, up) = map.right_and_up();
            let columns = nalgebra::Matrix3::from_columns(&[right, up, right.cross(&up)]);
            Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(columns))
        }
    }
}
