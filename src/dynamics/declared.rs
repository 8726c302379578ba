//! Declarations of the numbers in [`Params`], each in one place.
//!
//! The command line's options and help, the rows of the panel, and the ranges that project files are clamped to are all generated
//! from [`PHYSICS`].

use super::{Params, Preset};
use crate::character::MOST_JIGGLE;
use crate::param::{ParamKind, ParamSpec};

/// Largest memory of Anderson acceleration: more only costs time.
pub const MAX_ACCELERATION: u32 = 8;

/// Standard gravity on Earth, m s⁻².
const EARTH_GRAVITY: f64 = 9.81;

/// Accessor of the field of [`Params`] that holds a number.
#[derive(Debug, Clone, Copy)]
pub enum ParamField {
    /// A real number.
    Real(fn(&mut Params) -> &mut f64),
    /// A non-negative integer.
    Whole(fn(&mut Params) -> &mut u32),
    /// A real number that may be absent.
    Optional(fn(&mut Params) -> &mut Option<f64>),
    /// The length of a vector along −Y.
    Downwards(fn(&mut Params) -> &mut [f64; 3]),
}

/// A number of [`Params`]: its declaration, its field, and how a slider displays it.
#[derive(Debug, Clone, Copy)]
pub struct PhysicsParam {
    /// Key, label, unit, range and default.
    pub spec: ParamSpec,
    /// The field that holds it.
    pub field: ParamField,
    /// Name of the field in project files.
    pub project_key: &'static str,
    /// Range of the slider, in the unit of the value.
    pub slider: [f64; 2],
    /// Factor and unit of the displayed value.
    pub shown: (f64, &'static str),
    /// Number of displayed decimals.
    pub decimals: usize,
    /// Value set when an optional number is switched on.
    pub switched_on: Option<f64>,
    /// Placeholder of the value in the command line's help.
    pub value_name: &'static str,
    /// Text that the command line's help appends to the declaration's sentence.
    pub note: &'static str,
}

/// Stiffness of the flesh, Pa.
pub const STIFFNESS: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "stiffness",
        label: "Stiffness",
        unit: "Pa",
        kind: ParamKind::Logarithmic,
        range: [1e-3, 1e12],
        default: 20_000.0,
        doc: "How much the flesh resists any change of shape",
    },
    field: ParamField::Real(|params| &mut params.stiffness_pa),
    project_key: "stiffness_pa",
    slider: [50.0, 500_000.0],
    shown: (1.0, "Pa"),
    decimals: 0,
    switched_on: None,
    value_name: "PA",
    note: ", in pascals of this character instead of those of a human of 1.7 m",
};

/// Density of the flesh, kg m⁻³.
pub const DENSITY: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "density",
        label: "Density",
        unit: "kg/m³",
        kind: ParamKind::Logarithmic,
        range: [1e-3, 1e6],
        default: 1_000.0,
        doc: "Mass per volume; heavier flesh lags and jiggles more",
    },
    field: ParamField::Real(|params| &mut params.density_kg_m3),
    project_key: "density_kg_m3",
    slider: [50.0, 5_000.0],
    shown: (1.0, "kg/m³"),
    decimals: 0,
    switched_on: None,
    value_name: "KG/M3",
    note: "",
};

/// Decay rate of velocities relative to the skeleton, s⁻¹.
pub const DAMPING: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "damping",
        label: "Damping",
        unit: "1/s",
        kind: ParamKind::Real,
        range: [0.0, 1e4],
        default: 5.0,
        doc: "How fast jiggling dies out",
    },
    field: ParamField::Real(|params| &mut params.damping_per_s),
    project_key: "damping_per_s",
    slider: [0.0, 20.0],
    shown: (1.0, "/s"),
    decimals: 1,
    switched_on: None,
    value_name: "1/S",
    note: "",
};

/// Factor on the inertial mass of the flesh.
pub const JIGGLE: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "jiggle",
        label: "Jiggle",
        unit: "",
        kind: ParamKind::Real,
        range: [0.0, MOST_JIGGLE],
        default: 1.0,
        doc: "How much the flesh jiggles: 0 follows without inertia, 1 is physical, more is exaggerated",
    },
    field: ParamField::Real(|params| &mut params.jiggle),
    project_key: "jiggle",
    slider: [0.0, MOST_JIGGLE],
    shown: (1.0, "×"),
    decimals: 1,
    switched_on: None,
    value_name: "FACTOR",
    note: "",
};

/// Resistance to changes of volume, relative to the resistance to changes of shape.
pub const VOLUME: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "volume",
        label: "Volume",
        unit: "",
        kind: ParamKind::Real,
        range: [0.0, 100.0],
        default: 0.0,
        doc: "Resistance to changes of volume, relative to that against changes of shape: flesh bulges where it is squeezed",
    },
    field: ParamField::Real(|params| &mut params.volume),
    project_key: "volume",
    slider: [0.0, 10.0],
    shown: (1.0, "×"),
    decimals: 1,
    switched_on: None,
    value_name: "WEIGHT",
    note: "",
};

/// Weight of the energies with prescribed rotations of guided flesh.
pub const GUIDANCE: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "guidance",
        label: "Guidance",
        unit: "",
        kind: ParamKind::Real,
        range: [0.0, 100.0],
        default: 1.0,
        doc: "How much the flesh prefers to turn as the skin's weights say, relative to its resistance to changes of shape",
    },
    field: ParamField::Real(|params| &mut params.guidance),
    project_key: "guidance",
    slider: [0.0, 10.0],
    shown: (1.0, "×"),
    decimals: 1,
    switched_on: None,
    value_name: "WEIGHT",
    note: "; not with --base bones",
};

/// Factor on the bending stiffness of the skin.
pub const BENDING: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "bending",
        label: "Bending",
        unit: "",
        kind: ParamKind::Real,
        range: [0.0, 1_000.0],
        default: 1.0,
        doc: "How much the skin resists bending, relative to the default",
    },
    field: ParamField::Real(|params| &mut params.bending),
    project_key: "bending",
    slider: [0.0, 10.0],
    shown: (1.0, "×"),
    decimals: 1,
    switched_on: None,
    value_name: "FACTOR",
    note: "; not with --base bones",
};

/// How much the floor presses guided flesh flat.
pub const FLOOR: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "floor",
        label: "Floor",
        unit: "",
        kind: ParamKind::Real,
        range: [0.0, 1.0],
        default: 0.0,
        doc: "Presses flesh flat against the floor under the bind pose; 0 lets it sink in, 1 presses it in by up to 0.3 of the way to the bone",
    },
    field: ParamField::Real(|params| &mut params.floor),
    project_key: "floor",
    slider: [0.0, 1.0],
    shown: (1.0, ""),
    decimals: 2,
    switched_on: None,
    value_name: "0-1",
    note: "; not with --base bones",
};

/// Local/global iterations of a step.
pub const ITERATIONS: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "iterations",
        label: "Iterations",
        unit: "",
        kind: ParamKind::Integer,
        range: [1.0, 1_000.0],
        default: 5.0,
        doc: "Local/global iterations of a simulation step: more is stiffer and more exact",
    },
    field: ParamField::Whole(|params| &mut params.iterations),
    project_key: "iterations",
    slider: [1.0, 60.0],
    shown: (1.0, ""),
    decimals: 0,
    switched_on: None,
    value_name: "N",
    note: "",
};

/// Number of earlier iterations that Anderson acceleration combines.
pub const ACCELERATION: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "acceleration",
        label: "Acceleration",
        unit: "",
        kind: ParamKind::Integer,
        range: [0.0, MAX_ACCELERATION as f64],
        default: 3.0,
        doc: "Earlier iterations that are combined with the newest (Anderson): the same exactness in fewer iterations; 0 is off",
    },
    field: ParamField::Whole(|params| &mut params.acceleration),
    project_key: "acceleration",
    slider: [0.0, MAX_ACCELERATION as f64],
    shown: (1.0, ""),
    decimals: 0,
    switched_on: None,
    value_name: "M",
    note: "",
};

/// Length of a simulation step, s.
pub const TIME_STEP: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "time-step",
        label: "Time step",
        unit: "s",
        kind: ParamKind::Real,
        range: [1e-4, 1.0],
        default: 1.0 / 60.0,
        doc: "Simulated time of one step",
    },
    field: ParamField::Real(|params| &mut params.time_step_secs),
    project_key: "time_step_secs",
    slider: [2e-3, 50e-3],
    shown: (1e3, "ms"),
    decimals: 1,
    switched_on: None,
    value_name: "S",
    note: ", as in 0.01",
};

/// Time limit of a frame's iterations, ms.
pub const BUDGET: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "budget",
        label: "Time budget",
        unit: "ms",
        kind: ParamKind::Logarithmic,
        range: [0.0, 1e4],
        default: 0.0,
        doc: "Ends a frame's iterations after so much time; the motion then depends on how fast this machine is",
    },
    field: ParamField::Optional(|params| &mut params.budget_ms),
    project_key: "budget_ms",
    slider: [0.1, 50.0],
    shown: (1.0, "ms"),
    decimals: 1,
    switched_on: Some(8.0),
    value_name: "MS",
    note: "",
};

/// Strength of gravity, m s⁻².
pub const GRAVITY: PhysicsParam = PhysicsParam {
    spec: ParamSpec {
        key: "gravity",
        label: "Gravity",
        unit: "m/s²",
        kind: ParamKind::Real,
        range: [-1e4, 1e4],
        default: 0.0,
        doc: "Acceleration of gravity downwards",
    },
    field: ParamField::Downwards(|params| &mut params.gravity_m_s2),
    project_key: "gravity_m_s2",
    slider: [0.0, 30.0],
    shown: (1.0, "m/s²"),
    decimals: 2,
    switched_on: Some(EARTH_GRAVITY),
    value_name: "M/S2",
    note: ", along the axis that `info` says is up; on the ground 9.81",
};

/// All declarations, in the order of the panel.
pub const PHYSICS: [PhysicsParam; 13] = [
    STIFFNESS,
    DENSITY,
    DAMPING,
    JIGGLE,
    VOLUME,
    GUIDANCE,
    BENDING,
    ITERATIONS,
    ACCELERATION,
    TIME_STEP,
    BUDGET,
    GRAVITY,
    FLOOR,
];

impl PhysicsParam {
    /// The number in these parameters, in the declaration's unit; `None` if it is optional and absent.
    #[must_use]
    pub fn get(&self, params: &Params) -> Option<f64> {
        let mut params = *params;
        match self.field {
            ParamField::Real(field) => Some(*field(&mut params)),
            ParamField::Whole(field) => Some(f64::from(*field(&mut params))),
            ParamField::Optional(field) => *field(&mut params),
            // `0 − y` instead of `−y`, which would print as −0.
            ParamField::Downwards(field) => Some(0.0 - field(&mut params)[1]),
        }
    }

    /// Sets the number, clamped to its range.
    pub fn set(&self, params: &mut Params, value: f64) {
        let value = self.spec.sanitized(value);
        match self.field {
            ParamField::Real(field) => *field(params) = value,
            ParamField::Whole(field) => *field(params) = value as u32,
            ParamField::Optional(field) => *field(params) = Some(value),
            ParamField::Downwards(field) => *field(params) = [0.0, -value, 0.0],
        }
    }

    /// Clamps the number to its range. Non-finite numbers become the default, or absent if optional.
    pub(super) fn sanitize(&self, params: &mut Params) {
        let clean = |value: f64| {
            if value.is_finite() {
                self.spec.sanitized(value)
            } else {
                self.spec.default
            }
        };
        match self.field {
            ParamField::Real(field) => {
                let value = field(params);
                *value = clean(*value);
            }
            ParamField::Whole(field) => {
                let value = field(params);
                *value = clean(f64::from(*value)) as u32;
            }
            ParamField::Optional(field) => {
                let value = field(params);
                *value = value.filter(|value| value.is_finite()).map(clean);
            }
            ParamField::Downwards(field) => {
                let vector = field(params);
                *vector = vector.map(clean);
            }
        }
    }

    /// Help text of the command line: the declaration's sentence, the note, and the default by preset.
    #[must_use]
    pub fn help(&self) -> String {
        let text = |preset: Preset| {
            self.get(&preset.params())
                .map_or_else(|| "none".to_owned(), short)
        };
        let usual = text(Preset::default());
        let others: Vec<Preset> = Preset::ALL
            .into_iter()
            .filter(|&preset| text(preset) != usual)
            .collect();
        let default = match others[..] {
            [] => usual,
            [other] => format!("{usual}, but {} for the preset {}", text(other), other.id()),
            _ => "the preset's".to_owned(),
        };
        format!("{}{} [default: {default}]", self.spec.doc, self.note)
    }
}

/// A number with at most four decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of the parameters is declared under its name in project files, with the default of the default preset.
    #[test]
    fn every_number_of_a_project_is_declared() {
        let serde_json::Value::Object(fields) =
            serde_json::to_value(Params::default()).expect("serialises")
        else {
            panic!("a struct is an object");
        };
        let others = ["human_sized", "collisions", "paper"];
        for key in fields.keys().filter(|key| !others.contains(&key.as_str())) {
            let declared = PHYSICS.iter().filter(|param| param.project_key == key);
            assert_eq!(declared.count(), 1, "{key}");
        }
        assert_eq!(fields.len(), PHYSICS.len() + others.len());
        for param in &PHYSICS {
            assert!(fields.contains_key(param.project_key));
            let default = param.get(&Params::default());
            assert_eq!(
                default.unwrap_or(0.0),
                param.spec.default,
                "{}",
                param.spec.key
            );
        }
    }

    /// A number in a project file sets the declared field, clamped to the declared range.
    #[test]
    fn numbers_of_a_project_are_clamped_into_the_declared_range() {
        for param in &PHYSICS {
            let [low, high] = param.spec.range;
            let read = |value: f64| {
                let value = match param.field {
                    ParamField::Downwards(_) => serde_json::json!([0.0, -value, 0.0]),
                    ParamField::Whole(_) => serde_json::json!(value.max(0.0) as u32),
                    ParamField::Real(_) | ParamField::Optional(_) => serde_json::json!(value),
                };
                let text = serde_json::json!({ param.project_key: value });
                let params: Params = serde_json::from_value(text).expect("is read");
                param.get(&params.sanitized()).expect("is there")
            };
            assert_eq!(read(low), low, "{}", param.spec.key);
            assert_eq!(read(high), high, "{}", param.spec.key);
            assert_eq!(read(low - 1.0), low, "{}", param.spec.key);
            assert_eq!(read(high + 1.0), high, "{}", param.spec.key);
            let mut set = Params::default();
            param.set(&mut set, high + 1.0);
            assert_eq!(param.get(&set), Some(high), "{}", param.spec.key);
            param.set(&mut set, low - 1.0);
            assert_eq!(param.get(&set), Some(low), "{}", param.spec.key);
        }
    }

    #[test]
    fn sliders_and_switches_stay_inside_the_range() {
        for param in &PHYSICS {
            let [low, high] = param.spec.range;
            let inside = |value: f64| (low..=high).contains(&value);
            assert!(param.slider.into_iter().all(inside), "{}", param.spec.key);
            assert!(param.switched_on.is_none_or(inside), "{}", param.spec.key);
        }
    }

    #[test]
    fn help_says_the_default() {
        assert!(
            ITERATIONS
                .help()
                .ends_with("[default: 5, but 10 for the preset fps]")
        );
        assert!(STIFFNESS.help().ends_with("[default: the preset's]"));
        assert!(GRAVITY.help().ends_with("[default: 0]"));
        assert!(BUDGET.help().ends_with("[default: none]"));
        assert!(TIME_STEP.help().ends_with("[default: 0.0167]"));
    }
}
