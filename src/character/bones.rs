//! Per-bone settings of the user: behaviour of the flesh on a bone, and the bone's role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bone_edit_error::BoneEditError;
use super::meeting::{Meeting, parsed_opening, sanitized_opening};
use crate::param::{ParamKind, ParamSpec};

/// Settings of all bones that a joint carries, and of the flesh whose foot points lie on them.
///
/// The factors multiply the parameters of the whole body. [`BoneSettings::default`] changes
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoneSettings {
    /// Factor on the stiffness of the flesh.
    pub stiffness: f64,
    /// Factor on its density.
    pub density: f64,
    /// Factor on its damping.
    pub damping: f64,
    /// Factor on its jiggle: 0 follows without inertia, 1 is physical, more is exaggerated.
    pub jiggle: f64,
    /// The bone shapes the flesh but does not anchor it: it is held by its neighbours and swings
    /// (FPS figure 3.21).
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The skin of the region is rigid with the bone: not simulated, but coupled to its neighbours.
    pub held: bool,
    /// The twist of the joint at the bone's end is distributed along the bone (FPS figure 3.20).
    pub twist: bool,
    /// How the joint's part meets the part that it hangs at, in implicit skinning.
    pub meeting: Meeting,
    /// The angles between the gradients of the parts, rad, from which on they meet in that way, and at which they do so fully; `None` for
    /// the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<[f64; 2]>,
    /// Factor on the depth of the meeting, 0 to 1.
    pub depth: f64,
    /// Factor on its bulges, 0 to 1.
    pub bulge: f64,
}

/// Settings by joint; joints that are not listed have the default.
pub type BoneMap = BTreeMap<usize, BoneSettings>;

impl Default for BoneSettings {
    fn default() -> Self {
        Self {
            stiffness: 1.0,
            density: 1.0,
            damping: 1.0,
            jiggle: 1.0,
            is_virtual: false,
            held: false,
            twist: false,
            meeting: Meeting::Usual,
            opening: None,
            depth: 1.0,
            bulge: 1.0,
        }
    }
}

const SWITCHES: [&str; 3] = ["virtual", "held", "twist"];
const MEETING: &str = "meeting";
const OPENING: &str = "opening";
/// Maximum jiggle: larger values behave like another material.
pub const MOST_JIGGLE: f64 = 4.0;

/// A factor of [`BoneSettings`]: its declaration, where it is stored, and how a slider shows it.
#[derive(Debug, Clone, Copy)]
pub struct BoneFactor {
    /// Key, label, range and default.
    pub spec: ParamSpec,
    /// The field that holds it.
    pub field: fn(&mut BoneSettings) -> &mut f64,
    /// Smallest and largest value that the slider reaches.
    pub slider: [f64; 2],
}

/// All factors, in the order of the panel.
pub const BONE_FACTORS: [BoneFactor; 4] = [
    BoneFactor {
        spec: ParamSpec {
            doc: "How stiff the flesh here is, against the rest of the body",
            kind: ParamKind::Logarithmic,
            ..factor("stiffness", "Stiffness ×", [1e-3, 1e3])
        },
        field: |bone| &mut bone.stiffness,
        slider: [0.05, 20.0],
    },
    BoneFactor {
        spec: ParamSpec {
            doc: "How heavy it is",
            kind: ParamKind::Logarithmic,
            ..factor("density", "Density ×", [1e-3, 1e3])
        },
        field: |bone| &mut bone.density,
        slider: [0.1, 10.0],
    },
    BoneFactor {
        spec: ParamSpec {
            doc: "How fast jiggling dies out here",
            ..factor("damping", "Damping ×", [0.0, 1e3])
        },
        field: |bone| &mut bone.damping,
        slider: [0.0, 10.0],
    },
    BoneFactor {
        spec: ParamSpec {
            doc: "0 follows without inertia, 1 is physical, more is exaggerated",
            ..factor("jiggle", "Jiggle ×", [0.0, MOST_JIGGLE])
        },
        field: |bone| &mut bone.jiggle,
        slider: [0.0, MOST_JIGGLE],
    },
];

/// How far parts meet in that way, in the order of the panel. With 1 nothing is changed.
pub const MEETING_FACTORS: [BoneFactor; 2] = [
    BoneFactor {
        spec: ParamSpec {
            doc: "How far the parts press each other, or how far the crease is filled: 1 is all of it",
            ..factor("depth", "Depth ×", [0.0, 1.0])
        },
        field: |bone| &mut bone.depth,
        slider: [0.0, 1.0],
    },
    BoneFactor {
        spec: ParamSpec {
            doc: "How much of the bulges beside the fold there is: 0 is plain contact",
            ..factor("bulge", "Bulge ×", [0.0, 1.0])
        },
        field: |bone| &mut bone.bulge,
        slider: [0.0, 1.0],
    },
];

const fn factor(key: &'static str, label: &'static str, range: [f64; 2]) -> ParamSpec {
    ParamSpec {
        key,
        label,
        unit: "",
        kind: ParamKind::Real,
        range,
        default: 1.0,
        doc: "",
    }
}

impl BoneSettings {
    /// Parses settings: `KEY:VALUE` with a factor, a switch alone, or `meeting:NAME`; several separated by commas.
    ///
    /// # Errors
    /// [`BoneEditError`]; settings after the invalid one are not applied.
    pub fn edit(&mut self, text: &str) -> Result<(), BoneEditError> {
        text.split(',').try_for_each(|part| {
            let (key, value) = part
                .split_once(':')
                .map_or((part, None), |(key, value)| (key, Some(value.trim())));
            self.edit_one(key.trim(), value)
        })
    }

    fn edit_one(&mut self, key: &str, value: Option<&str>) -> Result<(), BoneEditError> {
        if let Some(known) = factors().find(|known| known.spec.key == key) {
            let (key, [least, most]) = (known.spec.key, known.spec.range);
            let value = value.unwrap_or_default();
            let factor = value
                .parse::<f64>()
                .ok()
                .filter(|factor| (least..=most).contains(factor));
            *(known.field)(self) = factor.ok_or_else(|| BoneEditError::BadFactor {
                key,
                value: value.to_owned(),
                least,
                most,
            })?;
            return Ok(());
        }
        if key == MEETING {
            let value = value.unwrap_or_default();
            let known = Meeting::ALL.iter().find(|(_, name)| *name == value);
            let (meeting, _) = known.ok_or_else(|| BoneEditError::BadMeeting {
                value: value.to_owned(),
            })?;
            self.meeting = *meeting;
            return Ok(());
        }
        if key == OPENING {
            let value = value.unwrap_or_default();
            self.opening = if value == "usual" {
                None
            } else {
                let bad = || BoneEditError::BadOpening {
                    value: value.to_owned(),
                };
                Some(parsed_opening(value).ok_or_else(bad)?)
            };
            return Ok(());
        }
        let Some(&key) = SWITCHES.iter().find(|name| **name == key) else {
            return Err(BoneEditError::UnknownKey {
                key: key.to_owned(),
                nearest: nearest_key(key),
            });
        };
        let on = match value {
            None | Some("on" | "true" | "1") => true,
            Some("off" | "false" | "0") => false,
            Some(value) => {
                return Err(BoneEditError::BadSwitch {
                    key,
                    value: value.to_owned(),
                });
            }
        };
        match key {
            "virtual" => self.is_virtual = on,
            "held" => self.held = on,
            _ => self.twist = on,
        }
        Ok(())
    }

    /// The same settings with every factor finite and within its range.
    #[must_use]
    pub(crate) fn sanitized(&self) -> Self {
        let mut clean = *self;
        for BoneFactor { spec, field, .. } in factors() {
            let value = field(&mut clean);
            *value = if value.is_finite() {
                spec.sanitized(*value)
            } else {
                spec.default
            };
        }
        clean.opening = clean.opening.and_then(sanitized_opening);
        clean
    }

    /// Whether two bones give the same tissue, ignoring factors.
    #[must_use]
    pub(crate) fn same_structure(&self, other: &Self) -> bool {
        (self.is_virtual, self.held, self.twist) == (other.is_virtual, other.held, other.twist)
    }
}

/// The factors of flesh and of meetings.
fn factors() -> impl Iterator<Item = &'static BoneFactor> {
    BONE_FACTORS.iter().chain(&MEETING_FACTORS)
}

fn nearest_key(key: &str) -> Option<&'static str> {
    factors()
        .map(|factor| factor.spec.key)
        .chain(SWITCHES)
        .chain([MEETING, OPENING])
        .map(|name| (strsim::jaro_winkler(name, &key.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Whether two maps give the same tissue, ignoring factors.
pub(super) fn same_structure(a: &BoneMap, b: &BoneMap) -> bool {
    let of = |map: &BoneMap, joint: &usize| map.get(joint).copied().unwrap_or_default();
    a.keys()
        .chain(b.keys())
        .all(|joint| of(a, joint).same_structure(&of(b, joint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_sets_the_named_settings() {
        let mut bone = BoneSettings::default();
        bone.edit("stiffness:2.5, held").unwrap();
        bone.edit("jiggle:0,virtual,held:off").unwrap();
        bone.edit("depth:0.5,opening:0-180").unwrap();
        assert_eq!(
            bone,
            BoneSettings {
                stiffness: 2.5,
                jiggle: 0.0,
                is_virtual: true,
                depth: 0.5,
                opening: Some([0.0, std::f64::consts::PI]),
                ..BoneSettings::default()
            }
        );
    }

    #[test]
    fn invalid_text_lists_the_valid_settings() {
        let mut bone = BoneSettings::default();
        assert!(
            bone.edit("stifness:2")
                .unwrap_err()
                .to_string()
                .contains("did you mean \"stiffness\"")
        );
        for wrong in [
            "",
            "stiffness",
            "stiffness:NaN",
            "stiffness:-1",
            "density:1e9",
            "jiggle:inf",
            "held:maybe",
            "virtual:2",
            "depth:2",
            "bulge:-1",
            "opening:120-20",
            "opening",
            ",",
        ] {
            assert!(bone.edit(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bone, BoneSettings::default());
    }

    #[test]
    fn meetings_of_files_are_moved_into_the_declared_ranges() {
        let wild = BoneSettings {
            depth: 7.0,
            bulge: f64::NAN,
            opening: Some([f64::INFINITY, 0.0]),
            ..BoneSettings::default()
        };
        assert_eq!(wild.sanitized(), BoneSettings::default());
    }

    #[test]
    fn factors_are_moved_into_the_declared_ranges() {
        for BoneFactor {
            spec,
            field,
            slider,
        } in BONE_FACTORS
        {
            let [least, most] = spec.range;
            assert!(least <= slider[0] && slider[0] < 1.0 && 1.0 < slider[1] && slider[1] <= most);
            for (value, expected) in [
                (f64::NAN, 1.0),
                (f64::INFINITY, 1.0),
                (-1.0, least),
                (1e9, most),
                (1.5, 1.5),
            ] {
                let mut bone = BoneSettings::default();
                assert_eq!(*field(&mut bone), spec.default, "{}", spec.key);
                *field(&mut bone) = value;
                assert_eq!(*field(&mut bone.sanitized()), expected, "{}", spec.key);
            }
        }
    }

    #[test]
    fn factors_do_not_affect_the_tissue() {
        let map = |edit: &str| {
            let mut bone = BoneSettings::default();
            bone.edit(edit).unwrap();
            BoneMap::from([(3, bone)])
        };
        assert!(same_structure(&BoneMap::new(), &map("stiffness:3")));
        assert!(same_structure(&map("held,density:2"), &map("held")));
        assert!(!same_structure(&BoneMap::new(), &map("virtual")));
    }
}
