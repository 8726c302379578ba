//! Parameters of the two methods.

use crate::param::{ParamKind, ParamSpec, ParamValues};

const EDGES: ParamSpec = ParamSpec {
    key: "edge-stiffness",
    label: "Edge stiffness",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 1.0],
    default: 1.0,
    doc: "Part of an edge's change of length that a step takes back; what comes out also depends on the iterations.",
};
const VOLUMES: ParamSpec = ParamSpec {
    key: "volume-stiffness",
    label: "Volume stiffness",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 1.0],
    default: 1.0,
    doc: "Part of a tet's change of volume that a step takes back; what comes out also depends on the iterations.",
};
const PLAIN_BIND: ParamSpec = ParamSpec {
    key: "bind-to-lbs",
    label: "Bind to LBS",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 1.0],
    default: 0.0,
    doc: "Part of the way to linear blend skinning that a step pulls the skin; 0 for none.",
};
const SUBSTEPS: ParamSpec = ParamSpec {
    key: "substeps",
    label: "Substeps",
    unit: "",
    kind: ParamKind::Integer,
    range: [1.0, 32.0],
    default: 5.0,
    doc: "Parts of a time step; the iterations are divided among them, and each has at least one. More damp less.",
};
const POISSON: ParamSpec = ParamSpec {
    key: "poisson",
    label: "Poisson's ratio",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 0.49],
    default: 0.4,
    doc: "How much the flesh keeps its volume where it is squeezed or stretched: 0 not at all, 0.5 entirely.",
};
const GUARD: ParamSpec = ParamSpec {
    key: "guard",
    label: "Guard",
    unit: "",
    kind: ParamKind::Switch,
    range: [0.0, 1.0],
    default: 1.0,
    doc: "Tets that are turned inside out are opened again after every time step.",
};
const COMPLIANT_BIND: ParamSpec = ParamSpec {
    key: "bind-to-lbs",
    label: "Bind to LBS",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 100.0],
    default: 0.0,
    doc: "Stiffness of springs that pull the skin to linear blend skinning, relative to that of the flesh; 0 for none.",
};

/// Parameters of `pbd`.
pub(super) const PLAIN: &[ParamSpec] = &[EDGES, VOLUMES, PLAIN_BIND];
/// Parameters of `xpbd`.
pub(super) const COMPLIANT: &[ParamSpec] = &[SUBSTEPS, POISSON, GUARD, COMPLIANT_BIND];

/// Values of the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Options {
    /// Of `pbd`.
    Plain {
        /// Stiffness of distance and volume constraints in a step, 0 to 1.
        stiffness: [f64; 2],
        bind: f64,
    },
    /// Of `xpbd`.
    Compliant {
        substeps: u32,
        /// Lamé's second parameter over the stiffness: with μ = k/2, 2 μ ν/(1 − 2 ν) over k.
        volume: f64,
        guard: bool,
        bind: f64,
    },
}

impl Options {
    pub(super) fn plain(values: &ParamValues) -> Self {
        Self::Plain {
            stiffness: [values.get(&EDGES), values.get(&VOLUMES)],
            bind: values.get(&PLAIN_BIND),
        }
    }

    pub(super) fn compliant(values: &ParamValues) -> Self {
        let poisson = values.get(&POISSON);
        Self::Compliant {
            substeps: values.get(&SUBSTEPS) as u32,
            volume: poisson / (1.0 - 2.0 * poisson),
            guard: values.get(&GUARD) > 0.5,
            bind: values.get(&COMPLIANT_BIND),
        }
    }

    /// Options of the same method with these values.
    pub(super) fn with(&self, values: &ParamValues) -> Self {
        match self {
            Self::Plain { .. } => Self::plain(values),
            Self::Compliant { .. } => Self::compliant(values),
        }
    }

    /// How strongly skin is bound to linear blend skinning.
    pub(super) fn bind(&self) -> f64 {
        match *self {
            Self::Plain { bind, .. } | Self::Compliant { bind, .. } => bind,
        }
    }

    pub(super) fn substeps(&self) -> u32 {
        match *self {
            Self::Plain { .. } => 1,
            Self::Compliant { substeps, .. } => substeps.max(1),
        }
    }
}
