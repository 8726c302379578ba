//! Posing by hand: rotating several joints, dragging any point of the body, pins, limits, mirror and clipboard.
//!
//! Drags are given *relative to their start*: the session keeps the pose at the start of a gesture, so that limits and snapping do not
//! accumulate, and [`PoseCommand::Revert`] restores it exactly.

mod clipboard;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use super::timeline::NO_FEET;
use super::{EditContext, Editor};
use crate::character::Character;
use crate::math::{Point64, Quat};
use crate::rig::ik::{DragConstraints, DraggedPoint, EndRotation, IkDrag, IkRig, keep_pins};
use crate::rig::limits::{Limit, LimitMap, clamp_joint, clamp_pose};
use crate::rig::symmetry::{MirrorHow, Symmetry};
use crate::rig::{Pose, PoseFile, Skeleton, Stance, human_limits};
use crate::session::{Gesture, Level, SelectHow};

/// The axes of a rotation of several joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnAxes {
    /// World axes, for all joints.
    #[default]
    World,
    /// Each joint's own axes: fingers curl together.
    Own,
}

/// Commands of the pose tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PoseCommand {
    /// Changes which joints are selected.
    Select {
        /// Which; the last one becomes active.
        joints: Vec<usize>,
        /// Whether they replace the selection or extend it.
        how: SelectHow,
    },
    /// Rotates joints, each about its own origin (undoable).
    Turn {
        /// The joints, by index.
        joints: Vec<usize>,
        /// Rotation since the start of the gesture.
        rotation: Quat,
        /// The axes that `rotation` is given in.
        axes: TurnAxes,
    },
    /// Drags a point of the body by inverse kinematics with pins and limits (undoable). Hips and roots move the whole body.
    Reach {
        /// The dragged point, constant during a gesture.
        grip: DraggedPoint,
        /// Its target, world space.
        target: Point64,
        /// How a hand or foot is oriented.
        end: EndRotation,
    },
    /// Cancels the gesture in progress and leaves no undo step.
    Revert,
    /// Pins joints (fixed while others are dragged) or unpins them (undoable).
    SetPins {
        /// The joints, by index.
        joints: Vec<usize>,
        /// Whether to pin.
        pinned: bool,
    },
    /// Sets a joint limit (undoable); the pose is clamped to it.
    SetLimit {
        /// The joint, by index.
        joint: usize,
        /// The limit; `None` removes it.
        limit: Option<Limit>,
    },
    /// Sets human joint limits on the joints of a humanoid (undoable).
    LimitAsHuman,
    /// Removes all joint limits (undoable).
    ClearLimits,
    /// Mirrors the pose (undoable).
    Mirror {
        /// These joints and their partners; `None` means all.
        joints: Option<Vec<usize>>,
        /// Direction of the mirroring.
        how: MirrorHow,
    },
    /// Copies the pose of joints; `None` means all.
    Copy(Option<Vec<usize>>),
    /// Pastes a pose onto joints (undoable).
    Paste {
        /// A pose as JSON from elsewhere; `None` pastes the copied one.
        text: Option<String>,
        /// Whether to paste it mirrored.
        mirrored: bool,
    },
    /// Resets joints to rest (undoable).
    Reset(Vec<usize>),
    /// Moves the hips until the body is balanced above the feet that stand (undoable).
    Balance,
    /// Whether the body is balanced while it is dragged.
    SetKeepBalance(bool),
}

impl PoseCommand {
    /// Label in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Select { .. } => "Select joints",
            Self::Turn { .. } => "Rotate joints",
            Self::Reach { .. } => "Drag body",
            Self::Revert => "Take back",
            Self::SetPins { pinned: true, .. } => "Pin joints",
            Self::SetPins { pinned: false, .. } => "Unpin joints",
            Self::SetLimit { .. } => "Limit joint",
            Self::LimitAsHuman => "Human joint limits",
            Self::ClearLimits => "Remove joint limits",
            Self::Mirror {
                how: MirrorHow::Flip,
                ..
            } => "Mirror pose",
            Self::Mirror {
                how: MirrorHow::Copy,
                ..
            } => "Copy pose to the other side",
            Self::Copy(_) => "Copy pose",
            Self::Paste { .. } => "Paste pose",
            Self::Reset(_) => "Reset joints",
            Self::Balance => "Balance",
            Self::SetKeepBalance(_) => "Keep balance",
        }
    }
}

/// Posing data of the skeleton, and the gesture in progress.
#[derive(Debug, Default)]
pub struct PoseTools {
    ik: Arc<IkRig>,
    symmetry: Option<Arc<Symmetry>>,
    drag: Option<ManualDrag>,
    copied: Option<PoseFile>,
    /// Whether the body is balanced while it is dragged.
    keep_balance: bool,
    /// Limbs, soles and ground of a character, once they were needed.
    stance: (Weak<Character>, Option<Arc<Stance>>),
}

/// A gesture in progress.
#[derive(Debug)]
struct ManualDrag {
    label: &'static str,
    start: Pose,
    /// Pose after the gesture's last command: a different pose means that another edit came between.
    last: Pose,
    reach: Option<(IkDrag, EndRotation)>,
}

impl PoseTools {
    /// Limbs and hips of the open character.
    #[must_use]
    pub fn ik_rig(&self) -> &Arc<IkRig> {
        &self.ik
    }

    /// Whether the body is balanced while it is dragged.
    #[must_use]
    pub fn keeps_balance(&self) -> bool {
        self.keep_balance
    }

    /// Symmetric joint pairs of the open character.
    #[must_use]
    pub fn symmetry(&self) -> Option<&Arc<Symmetry>> {
        self.symmetry.as_ref()
    }

    /// The skeleton changed: clears what is known about the previous one.
    fn enter(&mut self, skeleton: &Skeleton) {
        self.ik = Arc::new(IkRig::of(skeleton));
        self.symmetry = Some(Arc::new(Symmetry::of(skeleton)));
        self.drag = None;
    }
}

impl Editor {
    /// Sets the skeleton that is posed.
    pub(in crate::session) fn enter_skeleton(&mut self) {
        if let Some(skeleton) = self.document.skeleton() {
            self.pose_tools.enter(skeleton);
            self.selection.keep_below(skeleton.len());
        }
    }

    pub(in crate::session) fn apply_pose(
        &mut self,
        with: &mut EditContext<'_>,
        command: PoseCommand,
    ) {
        let label = command.label();
        match command {
            PoseCommand::Select { joints, how } => {
                self.selection
                    .change(&joints, how, self.document.pose.locals.len());
            }
            PoseCommand::Turn {
                joints,
                rotation,
                axes,
            } => self.turn_joints(with, label, &joints, &rotation, axes),
            PoseCommand::Reach { grip, target, end } => self.reach(with, label, grip, &target, end),
            PoseCommand::Revert => {}
            PoseCommand::SetPins { joints, pinned } => self.set_pins(&joints, pinned),
            PoseCommand::SetLimit { joint, limit } => self.set_limit(with, joint, limit),
            PoseCommand::LimitAsHuman => self.limit_as_human(with),
            PoseCommand::ClearLimits => self.document.limits.clear(),
            PoseCommand::Mirror { joints, how } => self.mirror_pose(with, joints.as_deref(), how),
            PoseCommand::Copy(joints) => self.copy_pose(with, joints.as_deref()),
            PoseCommand::Paste { text, mirrored } => {
                self.paste_pose(with, text.as_deref(), mirrored);
            }
            PoseCommand::Reset(joints) => self.reset_joints(with, &joints),
            PoseCommand::Balance => self.balance(with),
            PoseCommand::SetKeepBalance(on) => self.pose_tools.keep_balance = on,
        }
    }

    /// Limbs, soles and ground of the open character; `None` for a body without limbs.
    pub(super) fn stance(&mut self) -> Option<Arc<Stance>> {
        let character = &self.document.subject.as_ref()?.character;
        let (known, stance) = &mut self.pose_tools.stance;
        if !std::ptr::eq(known.as_ptr(), Arc::as_ptr(character)) {
            *stance = character.stance().map(Arc::new);
            *known = Arc::downgrade(character);
        }
        stance.clone()
    }

    fn balance(&mut self, with: &mut EditContext<'_>) {
        self.refresh(with.channels);
        let Some(stance) = self.stance() else {
            return with.add_message(Level::Info, NO_FEET);
        };
        if stance.imbalance(with.channels.active().pose()).is_none() {
            return with.add_message(
                Level::Info,
                "No foot stands on the ground, so there is nothing to balance on.",
            );
        }
        self.edit_pose(with, |_, pose| stance.balance(pose));
    }

    /// Balances a pose during a gesture on some joints, if that is asked for: unless one of them `is_free`.
    fn balanced(
        &mut self,
        joints: impl IntoIterator<Item = usize>,
        is_free: impl Fn(&Stance, usize) -> bool,
        mut pose: Pose,
    ) -> Pose {
        if self.pose_tools.keep_balance
            && let Some(stance) = self.stance()
            && !joints.into_iter().any(|joint| is_free(&stance, joint))
        {
            stance.balance(&mut pose);
        }
        pose
    }

    /// Restores the pose from before the gesture.
    pub(in crate::session) fn revert_gesture(&mut self, with: &mut EditContext<'_>) {
        if let Some(drag) = self.pose_tools.drag.take() {
            if *self.document.pose_in(with.channels.active_id()) == drag.last {
                self.document
                    .pose_in_mut(with.channels.active_id())
                    .clone_from(&drag.start);
            }
            self.revert_keys(with);
        }
        self.revert_paint();
    }

    /// Continues the gesture in progress, or starts one.
    fn take_drag(&mut self, with: &mut EditContext<'_>, label: &'static str) -> ManualDrag {
        self.refresh(with.channels);
        let continues = |drag: &ManualDrag| {
            drag.label == label
                && self.gesture != Gesture::Once
                && drag.last == *with.channels.active().pose()
        };
        match self.pose_tools.drag.take() {
            Some(drag) if continues(&drag) => drag,
            _ => ManualDrag {
                label,
                start: with.channels.active().pose().clone(),
                last: with.channels.active().pose().clone(),
                reach: None,
            },
        }
    }

    /// Shows the gesture's pose, and keeps it if the gesture continues.
    fn put_drag(&mut self, with: &mut EditContext<'_>, mut drag: ManualDrag, pose: Pose) {
        self.edit_pose(with, |_, now| *now = pose);
        // A pose that became keys differs in rounding.
        self.refresh(with.channels);
        drag.last.clone_from(with.channels.active().pose());
        self.pose_tools.drag = (self.gesture == Gesture::Dragging).then_some(drag);
    }

    fn turn_joints(
        &mut self,
        with: &mut EditContext<'_>,
        label: &'static str,
        joints: &[usize],
        rotation: &Quat,
        axes: TurnAxes,
    ) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let skeleton = &subject.character.skeleton;
        if !rotation.coords.iter().all(|c| c.is_finite()) {
            return;
        }
        let drag = self.take_drag(with, label);
        let mut pose = drag.start.clone();
        let joints: BTreeSet<usize> = joints
            .iter()
            .copied()
            .filter(|&joint| joint < skeleton.len())
            .collect();
        for &joint in &joints {
            match axes {
                TurnAxes::World => pose.rotate_about_world_axes(skeleton, joint, rotation),
                TurnAxes::Own => {
                    let local = &mut pose.locals[joint].rotation;
                    *local *= rotation;
                }
            }
            clamp_joint(skeleton, &self.document.limits, &mut pose, joint);
        }
        keep_pins(
            skeleton,
            &self.pose_tools.ik,
            &drag.start,
            &mut pose,
            &self.document.pins,
            &joints,
        );
        let pose = self.balanced(joints, Stance::carries_hips, pose);
        self.put_drag(with, drag, pose);
    }

    fn reach(
        &mut self,
        with: &mut EditContext<'_>,
        label: &'static str,
        grip: DraggedPoint,
        target: &Point64,
        end: EndRotation,
    ) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let skeleton = &subject.character.skeleton;
        let mut drag = self.take_drag(with, label);
        let (mut reach, _) = match drag.reach.take() {
            Some((reach, before)) if reach.grip() == grip && before == end => (reach, before),
            _ => {
                let held = DragConstraints {
                    pins: self.document.pins.clone(),
                    limits: self.document.limits.clone(),
                    end,
                };
                let Some(reach) =
                    IkDrag::begin(skeleton, &self.pose_tools.ik, &drag.start, grip, &held)
                else {
                    return;
                };
                (reach, end)
            }
        };
        let pose = reach.reach(skeleton, target).clone();
        drag.reach = Some((reach, end));
        // A dragged foot stays under the pointer.
        let is_free =
            |stance: &Stance, joint| stance.carries_hips(joint) || stance.is_of_leg(joint);
        let pose = self.balanced([grip.joint], is_free, pose);
        self.put_drag(with, drag, pose);
    }

    fn set_pins(&mut self, joints: &[usize], pinned: bool) {
        for &joint in joints
            .iter()
            .filter(|&&joint| joint < self.document.pose.locals.len())
        {
            if pinned {
                self.document.pins.insert(joint);
            } else {
                self.document.pins.remove(&joint);
            }
        }
    }

    fn set_limit(&mut self, with: &mut EditContext<'_>, joint: usize, limit: Option<Limit>) {
        if joint >= self.document.pose.locals.len() {
            return;
        }
        match limit {
            Some(limit) => {
                self.document.limits.insert(joint, limit.sanitized());
                self.keep_limits(with);
            }
            None => {
                self.document.limits.remove(&joint);
            }
        }
    }

    fn limit_as_human(&mut self, with: &mut EditContext<'_>) {
        let Some(limits) = self.document.skeleton().map(human_limits) else {
            return;
        };
        if limits.is_empty() {
            with.add_message(
                Level::Warning,
                "No joint limits were set: the joints do not match a human body.",
            );
            return;
        }
        self.document.limits = limits;
        self.keep_limits(with);
    }

    /// Clamps the pose made by hand to the limits; a clip is shown unclamped.
    fn keep_limits(&mut self, with: &mut EditContext<'_>) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let limits: LimitMap = self.document.limits.clone();
        clamp_pose(
            &subject.character.skeleton,
            &limits,
            self.document.pose_in_mut(with.channels.active_id()),
        );
    }

    fn mirror_pose(
        &mut self,
        with: &mut EditContext<'_>,
        joints: Option<&[usize]>,
        how: MirrorHow,
    ) {
        let Some(symmetry) = self.pose_tools.symmetry.clone() else {
            return;
        };
        self.edit_pose(with, |skeleton, pose| {
            *pose = symmetry.mirrored(skeleton, pose, joints, how);
        });
    }

    fn reset_joints(&mut self, with: &mut EditContext<'_>, joints: &[usize]) {
        let joints: Vec<usize> = joints
            .iter()
            .copied()
            .filter(|&joint| joint < self.document.pose.locals.len())
            .collect();
        if !joints.is_empty() {
            self.edit_pose(with, |skeleton: &Skeleton, pose| {
                for joint in joints {
                    pose.locals[joint] = skeleton.joints()[joint].rest;
                }
            });
        }
    }
}
