//! Parameters of delta mush.

use crate::methods::MethodId;
use crate::methods::blend_normals::NORMALS;
use crate::param::{ParamKind, ParamSpec, ParamValues};

const OVER: ParamSpec = ParamSpec {
    key: "over",
    label: "Over",
    unit: "",
    kind: ParamKind::Choice(&["rigid", "lbs", "dqs", "cor", "swing-twist"]),
    range: [0.0, 4.0],
    default: 1.0,
    doc: "The method that moves the skin before it is smoothed.",
};
const REACH: ParamSpec = ParamSpec {
    key: "reach",
    label: "Reach",
    unit: "radii",
    kind: ParamKind::Real,
    range: [0.0, 3.0],
    default: 0.3,
    doc: "How far positions are smoothed over the skin, in radii of the limb.",
};
const PASSES: ParamSpec = ParamSpec {
    key: "passes",
    label: "Passes",
    unit: "",
    kind: ParamKind::Integer,
    range: [0.0, 100.0],
    default: 0.0,
    doc: "Number of passes of averaging with neighbours, as in the paper, instead of the reach; 0 for the reach.",
};
const PIN: ParamSpec = ParamSpec {
    key: "pin-borders",
    label: "Pin borders",
    unit: "",
    kind: ParamKind::Switch,
    range: [0.0, 1.0],
    default: 1.0,
    doc: "Vertices on open borders are not smoothed.",
};

/// Parameters of the method.
pub(super) const PARAMS: &[ParamSpec] = &[OVER, REACH, PASSES, PIN, NORMALS];

/// The methods that [`OVER`] names, in its order.
const METHODS: [MethodId; 5] = [
    MethodId::RIGID,
    MethodId::LBS,
    MethodId::DQS,
    MethodId::COR,
    MethodId::SWING_TWIST,
];

/// How positions are smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// One implicit step, its reach in limb radii.
    Reach(f64),
    /// Passes of ½ own position + ½ mean of the neighbours.
    Passes(usize),
}

/// Values of the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Options {
    /// The method that moves the skin before it is smoothed.
    pub(super) over: MethodId,
    pub(super) form: Form,
    pub(super) pins_borders: bool,
}

impl Options {
    pub(super) fn of(values: &ParamValues) -> Self {
        let passes = values.get(&PASSES) as usize;
        Self {
            over: METHODS[(values.get(&OVER) as usize).min(METHODS.len() - 1)],
            form: if passes > 0 {
                Form::Passes(passes)
            } else {
                Form::Reach(values.get(&REACH))
            },
            pins_borders: values.get(&PIN) > 0.5,
        }
    }
}
