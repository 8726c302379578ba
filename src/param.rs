//! Declared parameters: key, label, unit, range, default and documentation of a number in one place.
//!
//! A declaration ([`ParamSpec`]) is what command-line options, rows of panels and keys in project files are made from. Values that are
//! not fields of a struct, such as the parameters of a skinning method, are held by [`ParamValues`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What values a parameter takes, and how a slider for it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A real number.
    Real,
    /// A real number whose slider is logarithmic.
    Logarithmic,
    /// A whole number.
    Integer,
    /// 0 for off, 1 for on.
    Switch,
    /// One of several named options; the value is the index of its name. Names are lower case, words joined by hyphens.
    Choice(&'static [&'static str]),
}

/// The declaration of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamSpec {
    /// Name on the command line and in project files: lower case, words joined by hyphens.
    pub key: &'static str,
    /// Name on screen.
    pub label: &'static str,
    /// Unit of the stored value, empty if it has none.
    pub unit: &'static str,
    /// Kind of its values.
    pub kind: ParamKind,
    /// Smallest and largest value, inclusive.
    pub range: [f64; 2],
    /// Value where none is given.
    pub default: f64,
    /// One sentence for tooltips and help.
    pub doc: &'static str,
}

/// Why a value was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The text is not a value of the parameter's kind.
    #[error("{key} takes {expected}, not \"{text}\"")]
    NotANumber {
        /// The parameter.
        key: &'static str,
        /// What it takes.
        expected: Cow<'static, str>,
        /// What was given.
        text: String,
    },
    /// The number is outside of the range.
    #[error("{key} lies between {low} and {high}{}, {value} is outside", spaced(.unit))]
    OutOfRange {
        /// The parameter.
        key: &'static str,
        /// The number given.
        value: f64,
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
        /// Unit of the three.
        unit: &'static str,
    },
    /// There is no parameter of that name.
    #[error("there is no parameter \"{key}\"; there are: {known}")]
    Unknown {
        /// The name given.
        key: String,
        /// The names there are, joined by commas.
        known: String,
    },
}

/// A unit behind a number.
fn spaced(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

impl ParamSpec {
    /// The nearest value that the parameter can take; the default for NaN.
    #[must_use]
    pub fn sanitized(&self, value: f64) -> f64 {
        let value = match self.kind {
            ParamKind::Integer | ParamKind::Switch | ParamKind::Choice(_) => value.round(),
            ParamKind::Real | ParamKind::Logarithmic => value,
        };
        if value.is_nan() {
            self.default
        } else {
            value.clamp(self.range[0], self.range[1])
        }
    }

    /// A value as it is written on the command line; the inverse of [`ParamSpec::parse`].
    #[must_use]
    pub fn format(&self, value: f64) -> String {
        let value = self.sanitized(value);
        match self.kind {
            ParamKind::Real | ParamKind::Logarithmic | ParamKind::Integer => value.to_string(),
            ParamKind::Switch if value == 0.0 => "off".to_owned(),
            ParamKind::Switch => "on".to_owned(),
            ParamKind::Choice(names) => names
                .get(value as usize)
                .map_or_else(|| value.to_string(), |name| (*name).to_owned()),
        }
    }

    /// Reads a value as it is written on the command line. Switches take `on` and `off`, too; choices take their names.
    ///
    /// # Errors
    /// [`ParamError::NotANumber`], [`ParamError::OutOfRange`].
    pub fn parse(&self, text: &str) -> Result<f64, ParamError> {
        let (expected, value) = match self.kind {
            ParamKind::Real | ParamKind::Logarithmic => {
                (Cow::Borrowed("a number"), text.trim().parse().ok())
            }
            ParamKind::Integer => (
                Cow::Borrowed("a whole number"),
                text.trim().parse::<i32>().ok().map(f64::from),
            ),
            ParamKind::Switch => {
                let value = match text.trim() {
                    "on" | "1" | "true" => Some(1.0),
                    "off" | "0" | "false" => Some(0.0),
                    _ => None,
                };
                (Cow::Borrowed("on or off"), value)
            }
            ParamKind::Choice(names) => {
                let index = names.iter().position(|name| *name == text.trim());
                let expected = format!("one of {}", names.join(", "));
                (Cow::Owned(expected), index.map(|index| index as f64))
            }
        };
        let value = value
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| ParamError::NotANumber {
                key: self.key,
                expected,
                text: text.to_owned(),
            })?;
        let [low, high] = self.range;
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        Err(ParamError::OutOfRange {
            key: self.key,
            value,
            low,
            high,
            unit: self.unit,
        })
    }
}

/// Values of declared parameters by key. A parameter that has none here has its default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ParamValues(BTreeMap<String, f64>);

impl ParamValues {
    /// The value of a parameter, inside its range.
    #[must_use]
    pub fn get(&self, spec: &ParamSpec) -> f64 {
        spec.sanitized(self.0.get(spec.key).copied().unwrap_or(spec.default))
    }

    /// Sets the value of a parameter, moved into its range; the default is not stored.
    pub fn set(&mut self, spec: &ParamSpec, value: f64) {
        let value = spec.sanitized(value);
        if value.to_bits() == spec.default.to_bits() {
            self.0.remove(spec.key);
        } else {
            self.0.insert(spec.key.to_owned(), value);
        }
    }

    /// Reads `KEY=VALUE` for one of the declared parameters.
    ///
    /// # Errors
    /// [`ParamError`].
    pub fn set_text(
        &mut self,
        specs: &[ParamSpec],
        key: &str,
        value: &str,
    ) -> Result<(), ParamError> {
        let spec =
            specs
                .iter()
                .find(|spec| spec.key == key)
                .ok_or_else(|| ParamError::Unknown {
                    key: key.to_owned(),
                    known: specs
                        .iter()
                        .map(|spec| spec.key)
                        .collect::<Vec<_>>()
                        .join(", "),
                })?;
        self.set(spec, spec.parse(value)?);
        Ok(())
    }

    /// Whether every parameter has its default.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stored keys that none of the declarations has.
    pub fn unknown<'a>(&'a self, specs: &'a [ParamSpec]) -> impl Iterator<Item = &'a str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|key| specs.iter().all(|spec| spec.key != *key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURNS: ParamSpec = ParamSpec {
        key: "turns",
        label: "Turns",
        unit: "",
        kind: ParamKind::Integer,
        range: [0.0, 4.0],
        default: 1.0,
        doc: "How often.",
    };
    const SWITCH: ParamSpec = ParamSpec {
        key: "on",
        kind: ParamKind::Switch,
        range: [0.0, 1.0],
        ..TURNS
    };

    #[test]
    fn values_are_inside_the_range_and_defaults_are_not_stored() {
        let mut values = ParamValues::default();
        values.set(&TURNS, 2.6);
        assert_eq!(values.get(&TURNS), 3.0);
        values.set(&TURNS, 1e9);
        assert_eq!(values.get(&TURNS), 4.0);
        values.set(&TURNS, f64::NAN);
        assert!(values.is_empty());
        assert_eq!(values.get(&TURNS), 1.0);
    }

    const SHAPE: ParamSpec = ParamSpec {
        key: "shape",
        kind: ParamKind::Choice(&["round", "square", "flat"]),
        range: [0.0, 2.0],
        ..TURNS
    };

    #[test]
    fn a_choice_is_read_and_written_by_name() {
        let mut values = ParamValues::default();
        values.set_text(&[SHAPE], "shape", " flat ").unwrap();
        assert_eq!(values.get(&SHAPE), 2.0);
        assert_eq!(SHAPE.format(values.get(&SHAPE)), "flat");
        values.set(&SHAPE, 0.4);
        assert_eq!(SHAPE.format(values.get(&SHAPE)), "round");
        values.set(&SHAPE, 17.0);
        assert_eq!(values.get(&SHAPE), 2.0);
        values.set(&SHAPE, f64::NAN);
        assert_eq!(SHAPE.format(values.get(&SHAPE)), "square");
        for index in 0..3 {
            let value = f64::from(index);
            assert_eq!(SHAPE.parse(&SHAPE.format(value)), Ok(value));
        }
        for wrong in ["oval", "2", ""] {
            let error = SHAPE.parse(wrong).unwrap_err().to_string();
            assert!(error.contains("one of round, square, flat"), "{error}");
        }
    }

    #[test]
    fn formatted_values_are_read_back() {
        for (spec, value) in [(TURNS, 3.0), (SWITCH, 0.0), (SWITCH, 1.0)] {
            assert_eq!(spec.parse(&spec.format(value)), Ok(value));
        }
    }

    #[test]
    fn text_is_checked_against_the_declaration() {
        let mut values = ParamValues::default();
        let specs = [TURNS, SWITCH];
        values.set_text(&specs, "turns", "3").unwrap();
        values.set_text(&specs, "on", "off").unwrap();
        assert_eq!((values.get(&TURNS), values.get(&SWITCH)), (3.0, 0.0));
        let message = |key, text| {
            let mut values = ParamValues::default();
            values.set_text(&specs, key, text).unwrap_err().to_string()
        };
        assert!(message("turns", "2.5").contains("a whole number"));
        assert!(message("turns", "5").contains("between 0 and 4"));
        assert!(message("turn", "1").contains("turns, on"));
    }
}
