//! Muscles as text, with joints by name.

use serde::{Deserialize, Serialize};

use super::{
    MUSCLE_VALUES, Muscle, MuscleEditError, MuscleMeeting, MuscleShape, sanitized_muscle_name,
};
use crate::character::meeting::parsed_opening;
use crate::rig::{PoseError, Skeleton};

/// A muscle with its joints by name: in files, and in text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MuscleText {
    /// Its name.
    pub name: String,
    /// The joint that carries it.
    pub bone: String,
    /// The joint whose bend it follows, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Where it is, and how it swells.
    #[serde(default)]
    pub shape: MuscleShape,
}

const BONE: &str = "bone";
const DRIVER: &str = "driver";
const RANGE: &str = "range";
const MEETS: &str = "meets";

impl MuscleText {
    /// Parses `NAME=bone:JOINT,KEY:VALUE,…`; only the bone is required, everything else has a usual value. Angles are in degrees.
    ///
    /// # Errors
    /// [`MuscleEditError`].
    pub fn parse(text: &str) -> Result<Self, MuscleEditError> {
        let no_name = || MuscleEditError::NoName {
            text: text.to_owned(),
        };
        let (name, settings) = text.split_once('=').ok_or_else(no_name)?;
        if name.trim().is_empty() {
            return Err(no_name());
        }
        let mut muscle = Self {
            name: sanitized_muscle_name(name),
            bone: String::new(),
            driver: None,
            shape: MuscleShape::default(),
        };
        for part in settings.split(',') {
            let (key, value) = part.split_once(':').unwrap_or((part, ""));
            muscle.set(key.trim(), value.trim())?;
        }
        if muscle.bone.is_empty() {
            return Err(MuscleEditError::NoBone { name: muscle.name });
        }
        let MuscleShape { from, to, .. } = muscle.shape;
        if muscle.shape.sanitized().to != to {
            return Err(MuscleEditError::BadEnds { from, to });
        }
        Ok(muscle)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), MuscleEditError> {
        match key {
            BONE => value.clone_into(&mut self.bone),
            DRIVER => self.driver = (!value.is_empty()).then(|| value.to_owned()),
            RANGE => {
                let bad = || MuscleEditError::BadRange {
                    value: value.to_owned(),
                };
                self.shape.range = parsed_opening(value).ok_or_else(bad)?;
            }
            MEETS => {
                let known = MuscleMeeting::ALL.iter().find(|(_, name)| *name == value);
                let bad = || MuscleEditError::BadMeeting {
                    value: value.to_owned(),
                };
                self.shape.meets = known.ok_or_else(bad)?.0;
            }
            key => {
                let known = MUSCLE_VALUES.iter().find(|known| known.spec.key == key);
                let unknown = || MuscleEditError::UnknownKey {
                    key: key.to_owned(),
                    nearest: nearest_key(key),
                };
                let known = known.ok_or_else(unknown)?;
                let [least, most] = known.spec.range;
                let number = value.parse::<f64>().ok();
                let number = number.filter(|number| (least..=most).contains(number));
                let bad = || MuscleEditError::BadNumber {
                    key: known.spec.key,
                    value: value.to_owned(),
                    least,
                    most,
                    unit: known.spec.unit,
                    default: known.spec.default,
                };
                known.set(&mut self.shape, number.ok_or_else(bad)?);
            }
        }
        Ok(())
    }

    /// The muscle on a skeleton, with its values in their ranges.
    ///
    /// # Errors
    /// [`MuscleEditError::Joint`] if there is no such joint.
    pub fn on(&self, skeleton: &Skeleton) -> Result<Muscle, MuscleEditError> {
        let joint = |key, name: &str| {
            let found = skeleton.find_or_suggest(name);
            found.map_err(|error: PoseError| MuscleEditError::Joint {
                name: self.name.clone(),
                key,
                error,
            })
        };
        let driver = self.driver.as_ref().map(|driver| joint(DRIVER, driver));
        Ok(Muscle {
            name: sanitized_muscle_name(&self.name),
            bone: joint(BONE, &self.bone)?,
            driver: driver.transpose()?,
            shape: self.shape.sanitized(),
        })
    }

    /// The muscle with its joints by name; `None` if the skeleton does not have its bone.
    #[must_use]
    pub fn of(muscle: &Muscle, skeleton: &Skeleton) -> Option<Self> {
        let name = |joint: usize| Some(skeleton.joints().get(joint)?.name.clone());
        Some(Self {
            name: muscle.name.clone(),
            bone: name(muscle.bone)?,
            driver: muscle.driver.and_then(name),
            shape: muscle.shape,
        })
    }
}

fn nearest_key(key: &str) -> Option<&'static str> {
    MUSCLE_VALUES
        .iter()
        .map(|value| value.spec.key)
        .chain([BONE, DRIVER, RANGE, MEETS])
        .map(|name| (strsim::jaro_winkler(name, &key.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    const BICEPS: &str = "biceps.L=bone:upper_arm.L,driver:forearm.L,from:0.2,to:0.8,angle:-90,depth:0.3,thickness:0.5,bulge:0.4,range:30-140,meets:blend";

    #[test]
    fn text_gives_every_value() {
        let muscle = MuscleText::parse(BICEPS).unwrap();
        assert_eq!((&*muscle.name, &*muscle.bone), ("biceps.L", "upper_arm.L"));
        assert_eq!(muscle.driver.as_deref(), Some("forearm.L"));
        let expected = MuscleShape {
            from: 0.2,
            to: 0.8,
            angle: (-90.0_f64).to_radians(),
            depth: 0.3,
            thickness: 0.5,
            bulge: 0.4,
            range: [30.0_f64.to_radians(), 140.0_f64.to_radians()],
            meets: MuscleMeeting::Blend,
        };
        let far = |a: f64, b: f64| (a - b).abs() > 1e-12;
        for value in MUSCLE_VALUES {
            let (value, expected) = (value.get(&muscle.shape), value.get(&expected));
            assert!(!far(value, expected), "{value} {expected}");
        }
        assert_eq!(muscle.shape.meets, expected.meets);
        let least = MuscleText::parse("a=bone:mixamorig:LeftArm").unwrap();
        assert_eq!(least.bone, "mixamorig:LeftArm");
        assert_eq!((least.driver, least.shape), (None, MuscleShape::default()));
    }

    #[test]
    fn wrong_text_is_told_with_what_is_expected() {
        for (wrong, told) in [
            ("", "expected NAME=bone:JOINT"),
            ("=bone:a", "expected NAME=bone:JOINT"),
            ("biceps", "expected NAME=bone:JOINT"),
            ("biceps=", "no muscle setting \"\""),
            ("biceps=from:0.1", "needs the joint"),
            ("biceps=bone:", "needs the joint"),
            ("b=bone:a,thicknes:1", "did you mean \"thickness\""),
            (
                "b=bone:a,depth:2",
                "depth of a muscle is a number from 0 to 1.5",
            ),
            ("b=bone:a,bulge:NaN", "bulge of a muscle is a number"),
            ("b=bone:a,angle:200", "from -180 to 180°"),
            ("b=bone:a,from", "from of a muscle is a number"),
            ("b=bone:a,from:0.8,to:0.2", "ends behind its beginning"),
            ("b=bone:a,range:140-30", "the smaller one first"),
            ("b=bone:a,range:30", "the smaller one first"),
            ("b=bone:a,meets:contact", "union or blend"),
        ] {
            let error = MuscleText::parse(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }

    #[test]
    fn joints_are_found_by_name_and_named_again() {
        let joint = |name: &str, parent, x| (name.to_owned(), parent, Point64::new(x, 0.0, 0.0));
        let joints = [
            joint("upper_arm.L", None, 0.0),
            joint("forearm.L", Some(0), 1.0),
        ];
        let skeleton = Skeleton::from_positions(&joints).unwrap();
        let text = MuscleText::parse(BICEPS).unwrap();
        let muscle = text.on(&skeleton).unwrap();
        assert_eq!((muscle.bone, muscle.driver), (0, Some(1)));
        assert_eq!(MuscleText::of(&muscle, &skeleton), Some(text));
        let wrong = MuscleText::parse("b=bone:upper_arm.L,driver:forarm.L").unwrap();
        let error = wrong.on(&skeleton).unwrap_err().to_string();
        assert!(
            error.contains(
                "driver of muscle \"b\": there is no joint \"forarm.L\"; did you mean \"forearm.L\""
            ),
            "{error}"
        );
    }
}
