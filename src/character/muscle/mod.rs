//! Muscles of implicit skinning: fields beside the bones that swell as a joint bends.
//!
//! Vaillant, Guennebaud, Barthe, Wyvill, Cani, "Robust Iso-Surface Tracking for Interactive Character Skinning", SIGGRAPH Asia 2014. A muscle
//! is placed relative to its limb, so that the same numbers fit a limb of any size.

mod error;
mod text;
mod values;

use serde::{Deserialize, Serialize};

pub use error::MuscleEditError;
pub use text::MuscleText;
pub use values::{MUSCLE_VALUES, MuscleValue};

use crate::rig::edit::Remap;

/// A character has at most this many muscles.
pub const MOST_MUSCLES: usize = 64;
/// A name has at most this many characters.
const LONGEST_NAME: usize = 64;
/// Least difference between the ends of a muscle, in parts of its limb.
const LEAST_LENGTH: f64 = 0.02;
/// Least difference between the angles of a range, rad.
const LEAST_RANGE: f64 = std::f64::consts::PI / 360.0;

/// How the field of a muscle meets that of the part it belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MuscleMeeting {
    /// A crease around the muscle where it stands out.
    #[default]
    Union,
    /// A crease that is filled.
    Blend,
}

impl MuscleMeeting {
    /// All of them, with their names in text.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Union, "union"), (Self::Blend, "blend")];
}

/// Where a muscle is, and how it swells.
///
/// Its limb is the line from the joint of its bone to its driver, if that is below it, or else to the end of the bone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MuscleShape {
    /// Its beginning and its end along the limb, 0 to 1.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Where it is about the limb, rad, by the right hand along the limb: 0 is the side that the driver bends to.
    pub angle: f64,
    /// Distance of its middle from the axis of the limb, in radii of the limb there.
    pub depth: f64,
    /// Half its width at rest, in radii of the limb.
    pub thickness: f64,
    /// How much wider it gets at most, as a part of its width.
    pub bulge: f64,
    /// The bend of the driver away from rest, rad, from which on it swells, and at which it has swollen fully.
    pub range: [f64; 2],
    /// How it meets the part.
    pub meets: MuscleMeeting,
}

impl Default for MuscleShape {
    /// A muscle like the biceps.
    fn default() -> Self {
        let mut shape = Self {
            from: 0.0,
            to: 0.0,
            angle: 0.0,
            depth: 0.0,
            thickness: 0.0,
            bulge: 0.0,
            range: [0.0; 2],
            meets: MuscleMeeting::default(),
        };
        for value in MUSCLE_VALUES {
            value.set(&mut shape, value.spec.default);
        }
        shape
    }
}

impl MuscleShape {
    /// The same with every value finite and within its range.
    #[must_use]
    pub fn sanitized(&self) -> Self {
        let mut clean = *self;
        for value in MUSCLE_VALUES {
            let shown = value.get(&clean);
            let shown = if shown.is_finite() {
                value.spec.sanitized(shown)
            } else {
                value.spec.default
            };
            // What is within the range is kept to the last bit.
            if shown != value.get(self) {
                value.set(&mut clean, shown);
            }
        }
        clean.from = clean.from.min(1.0 - LEAST_LENGTH);
        clean.to = clean.to.max(clean.from + LEAST_LENGTH);
        clean.range[0] = clean.range[0].min(std::f64::consts::PI - LEAST_RANGE);
        clean.range[1] = clean.range[1].max(clean.range[0] + LEAST_RANGE);
        clean
    }

    /// The mirror image, on a limb of the other side of the body.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            angle: -self.angle,
            ..*self
        }
    }

    /// Its width at a bend of the driver, rad, relative to that at rest.
    #[must_use]
    pub fn swelling(&self, bend: f64) -> f64 {
        let [from, full] = self.range;
        1.0 + self.bulge * ((bend - from) / (full - from)).clamp(0.0, 1.0)
    }
}

/// A muscle of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct Muscle {
    /// Its name.
    pub name: String,
    /// The joint that carries it.
    pub bone: usize,
    /// The joint whose bend it follows; `None` for the next one that bends its limb.
    pub driver: Option<usize>,
    /// Where it is, and how it swells.
    pub shape: MuscleShape,
}

/// A name without control characters, and not too long.
#[must_use]
pub fn sanitized_muscle_name(name: &str) -> String {
    let plain = name.chars().filter(|c| !c.is_control());
    let name: String = plain.take(LONGEST_NAME).collect();
    let name = name.trim();
    if name.is_empty() { "muscle" } else { name }.to_owned()
}

/// Muscles on the joints of an edited skeleton: those of deleted joints are dropped.
pub(super) fn carried(muscles: &[Muscle], remap: &Remap) -> Vec<Muscle> {
    let carried = muscles.iter().filter_map(|muscle| {
        Some(Muscle {
            bone: remap.new_from_old(muscle.bone)?,
            driver: muscle.driver.and_then(|driver| remap.new_from_old(driver)),
            ..muscle.clone()
        })
    });
    carried.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_files_are_moved_into_their_ranges() {
        let usual = MuscleShape::default();
        assert_eq!(usual.sanitized(), usual);
        let odd = MuscleShape {
            angle: 0.123_456_789,
            range: [0.7, 1.9],
            ..usual
        };
        assert_eq!(odd.sanitized(), odd, "to the last bit");
        let wild = MuscleShape {
            from: f64::NAN,
            to: -3.0,
            angle: 99.0,
            depth: f64::INFINITY,
            thickness: 0.0,
            bulge: -7.0,
            range: [9.0, -1.0],
            ..usual
        };
        let clean = wild.sanitized();
        assert!((clean.from - usual.from).abs() < 1e-12 && clean.to > clean.from);
        assert!((clean.angle - std::f64::consts::PI).abs() < 1e-12);
        assert!(clean.depth == usual.depth && clean.thickness > 0.0 && clean.bulge > -1.0);
        assert!(clean.range[0] < clean.range[1] && clean.range[1] <= std::f64::consts::PI + 1e-12);
        assert_eq!(clean.sanitized(), clean);
    }

    #[test]
    fn a_muscle_swells_between_the_angles_of_its_range() {
        let shape = MuscleShape {
            bulge: 0.4,
            range: [0.5, 1.5],
            ..MuscleShape::default()
        };
        for (bend, expected) in [(0.0, 1.0), (0.5, 1.0), (1.0, 1.2), (1.5, 1.4), (3.0, 1.4)] {
            assert!((shape.swelling(bend) - expected).abs() < 1e-12, "{bend}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        assert_eq!(sanitized_muscle_name(" bi\nceps.L "), "biceps.L");
        assert_eq!(sanitized_muscle_name("\t"), "muscle");
        assert_eq!(sanitized_muscle_name(&"x".repeat(999)).len(), LONGEST_NAME);
    }
}
