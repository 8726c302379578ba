//! Parameters of implicit skinning.

use super::operators::{Meets, Operator};
use crate::character::BoneMap;
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::rig::Skeleton;
use crate::rig::retarget::{Digit, JointRoles, Role, Side};

const MODE: ParamSpec = ParamSpec {
    key: "mode",
    label: "Mode",
    unit: "",
    kind: ParamKind::Choice(&["tracking", "projection"]),
    range: [0.0, 1.0],
    default: 0.0,
    doc: "Tracking follows the surface from frame to frame and bends far; projection corrects dual quaternion skinning, each pose by itself.",
};
const OPERATOR: ParamSpec = ParamSpec {
    key: "operator",
    label: "Where parts meet",
    unit: "",
    kind: ParamKind::Choice(&["contact", "bulge", "union", "blend", "automatic"]),
    range: [0.0, 4.0],
    default: 4.0,
    doc: "A contact surface, one with bulges beside the fold, a crease, or a filled crease; automatic is contact, with bulges at fingers. A joint's own choice (--bone JOINT=meeting:NAME, and the panel Bone) goes before.",
};
const ITERATIONS: ParamSpec = ParamSpec {
    key: "iterations",
    label: "Iterations",
    unit: "",
    kind: ParamKind::Integer,
    range: [1.0, 100.0],
    default: 12.0,
    doc: "Rounds of relaxation in the surface for every step of the skeleton: more are smoother and slower.",
};

/// Parameters of the method.
pub(super) const PARAMS: &[ParamSpec] = &[MODE, OPERATOR, ITERATIONS];

/// What a frame begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The frame before, or the walk from the bind pose (Vaillant et al. 2014).
    Tracking,
    /// Dual quaternion skinning of the pose (Vaillant et al. 2013).
    Projection,
}

/// Values of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) mode: Mode,
    /// How parts meet; `None` by what they are.
    pub(super) operator: Option<Operator>,
    /// Rounds of relaxation a step.
    pub(super) rounds: usize,
}

impl Options {
    /// How the part of each joint meets the part that it hangs at. `bulging`: whether it bulges by itself, by joint.
    pub(super) fn meets(&self, bulging: &[bool], bones: &BoneMap) -> Vec<Meets> {
        let of = |(joint, operator): (usize, Operator)| match bones.get(&joint) {
            Some(bone) => Meets::asked_for(operator, bone),
            None => operator.into(),
        };
        self.usual(bulging)
            .into_iter()
            .enumerate()
            .map(of)
            .collect()
    }

    /// The operators of joints that do not ask for one.
    pub(super) fn usual(&self, bulging: &[bool]) -> Vec<Operator> {
        let of = |&bulges: &bool| {
            let own = if bulges {
                Operator::Bulge
            } else {
                Operator::Contact
            };
            self.operator.unwrap_or(own)
        };
        bulging.iter().map(of).collect()
    }

    pub(super) fn of(values: &ParamValues) -> Self {
        let operator = values.get(&OPERATOR) as usize;
        Self {
            mode: if values.get(&MODE) > 0.5 {
                Mode::Projection
            } else {
                Mode::Tracking
            },
            operator: Operator::ALL.get(operator).copied(),
            rounds: values.get(&ITERATIONS) as usize,
        }
    }
}

/// The joints of fingers, at which parts bulge by themselves.
pub(super) fn fingers(skeleton: &Skeleton) -> Vec<bool> {
    let roles = JointRoles::of(skeleton);
    let mut is_finger = vec![false; skeleton.len()];
    for (side, digit) in Side::BOTH
        .into_iter()
        .flat_map(|side| Digit::ALL.map(|digit| (side, digit)))
    {
        for &joint in roles.joints(Role::Finger(side, digit)) {
            is_finger[joint] = true;
        }
    }
    is_finger
}
