//! Why a muscle in text is rejected.

use crate::rig::PoseError;

/// Why a muscle was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MuscleEditError {
    /// No name before the sign.
    #[error(
        "expected NAME=bone:JOINT,KEY:VALUE,… as in biceps.L=bone:upper_arm.L,bulge:0.4, but got \"{text}\""
    )]
    NoName {
        /// The given text.
        text: String,
    },
    /// The joint that carries it is missing.
    #[error("muscle \"{name}\" needs the joint that carries it, as in {name}=bone:upper_arm.L")]
    NoBone {
        /// Its name.
        name: String,
    },
    /// The setting does not exist.
    #[error("there is no muscle setting \"{key}\"{} Settings are bone and driver with a joint, from, to, angle, depth, thickness and bulge with a number, range and meets, as in bone:upper_arm.L,from:0.2,to:0.8,range:30-140,meets:union",
        nearest.map_or_else(|| ".".to_owned(), |n| format!("; did you mean \"{n}\"?")))]
    UnknownKey {
        /// The requested key.
        key: String,
        /// The most similar setting, if any.
        nearest: Option<&'static str>,
    },
    /// An invalid number.
    #[error(
        "{key} of a muscle is a number from {least} to {most}{unit}, as in {key}:{default}, but got \"{value}\""
    )]
    BadNumber {
        /// The setting.
        key: &'static str,
        /// The given value.
        value: String,
        /// Smallest number.
        least: f64,
        /// Largest number.
        most: f64,
        /// What it is measured in; empty for none.
        unit: &'static str,
        /// The usual number.
        default: f64,
    },
    /// Its end is not behind its beginning.
    #[error(
        "a muscle ends behind its beginning, as in from:0.2,to:0.8, but got from:{from},to:{to}"
    )]
    BadEnds {
        /// Its beginning.
        from: f64,
        /// Its end.
        to: f64,
    },
    /// No angles.
    #[error(
        "range of a muscle is two angles from 0 to 180 degrees, the smaller one first, as in range:30-140, but got \"{value}\""
    )]
    BadRange {
        /// The given value.
        value: String,
    },
    /// No way of meeting.
    #[error("meets of a muscle is union or blend, as in meets:union, but got \"{value}\"")]
    BadMeeting {
        /// The given value.
        value: String,
    },
    /// A joint does not exist.
    #[error("{key} of muscle \"{name}\": {error}")]
    Joint {
        /// Its name.
        name: String,
        /// The setting.
        key: &'static str,
        /// Which joint.
        error: PoseError,
    },
    /// There are more than a character can have.
    #[error("a character has at most {most} muscles, but got {count}")]
    TooMany {
        /// How many were given.
        count: usize,
        /// How many there can be.
        most: usize,
    },
}
