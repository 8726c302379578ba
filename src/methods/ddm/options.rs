//! Parameters of direct delta mush.

use serde::Serialize;

use crate::methods::blend_normals::NORMALS;
use crate::param::{ParamKind, ParamSpec, ParamValues};

/// Implicit steps of the smoothing that follows the thickness of limbs.
pub(super) const STEPS: usize = 4;

const ROTATIONS: ParamSpec = ParamSpec {
    key: "reach",
    label: "Reach",
    unit: "radii",
    kind: ParamKind::Real,
    range: [0.0, 3.0],
    default: 0.8,
    doc: "How far rotations are smoothed over the skin, in radii of the limb: more is rounder, less is crisper.",
};
const TRANSLATIONS: ParamSpec = ParamSpec {
    key: "weight-reach",
    label: "Reach of weights",
    unit: "radii",
    kind: ParamKind::Real,
    range: [0.0, 3.0],
    default: 0.4,
    doc: "How far translations are smoothed over the skin, in radii of the limb; less than the reach keeps the volume.",
};
const TRANSLATION: ParamSpec = ParamSpec {
    key: "translation",
    label: "Blended translation",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 0.98],
    default: 0.8,
    doc: "What part of the translations is blended as by linear blending of smoothed weights.",
};
const BY_EDGES: ParamSpec = ParamSpec {
    key: "by-edges",
    label: "Count edges",
    unit: "",
    kind: ParamKind::Switch,
    range: [0.0, 1.0],
    default: 0.0,
    doc: "Smooth over numbers of edges as in the paper (20 steps of 3 and 1) instead of limb radii.",
};

/// Parameters of the method.
pub(super) const PARAMS: &[ParamSpec] = &[ROTATIONS, TRANSLATIONS, TRANSLATION, BY_EDGES, NORMALS];

/// What the smoothing is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) enum Form {
    /// Distances over the skin, in limb radii.
    Lengths {
        /// Reach of rotations.
        rotations: f64,
        /// Reach of translations.
        translations: f64,
    },
    /// Steps over edges, as in the paper.
    Edges {
        /// λ.
        lambda: f64,
        /// κ.
        kappa: f64,
        /// p.
        steps: usize,
    },
}

/// Values of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Options {
    pub(super) form: Form,
    /// α.
    pub(super) translation: f64,
}

impl Options {
    pub(super) fn of(values: &ParamValues) -> Self {
        let form = if values.get(&BY_EDGES) > 0.5 {
            Form::Edges {
                lambda: 3.0,
                kappa: 1.0,
                steps: 20,
            }
        } else {
            Form::Lengths {
                rotations: values.get(&ROTATIONS),
                translations: values.get(&TRANSLATIONS),
            }
        };
        Self {
            form,
            translation: values.get(&TRANSLATION),
        }
    }
}
