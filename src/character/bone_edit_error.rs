//! Why settings of bones in text are rejected.

/// Why a change of [`BoneSettings`](super::BoneSettings) was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoneEditError {
    /// The setting does not exist.
    #[error("there is no bone setting \"{key}\"{} Settings are stiffness, density, damping and jiggle with a factor, as in stiffness:2, virtual, held and twist, and meeting, opening, depth and bulge, as in meeting:bulge,opening:20-120,depth:0.8",
        nearest.map_or_else(|| ".".to_owned(), |n| format!("; did you mean \"{n}\"?")))]
    UnknownKey {
        /// The requested key.
        key: String,
        /// The most similar setting, if any.
        nearest: Option<&'static str>,
    },
    /// An invalid factor.
    #[error("{key} needs a factor from {least} to {most}, as in {key}:2, but got \"{value}\"")]
    BadFactor {
        /// The setting.
        key: &'static str,
        /// The given value.
        value: String,
        /// Smallest factor.
        least: f64,
        /// Largest factor.
        most: f64,
    },
    /// No way of meeting.
    #[error(
        "meeting is usual, contact, bulge, union or blend, as in meeting:bulge, but got \"{value}\""
    )]
    BadMeeting {
        /// The given value.
        value: String,
    },
    /// No angles.
    #[error(
        "opening is usual, or two angles from 0 to 180 degrees, the smaller one first, as in opening:20-120, but got \"{value}\""
    )]
    BadOpening {
        /// The given value.
        value: String,
    },
    /// A switch with a value other than on or off.
    #[error("{key} is on or off, as in {key} or {key}:off, but got \"{value}\"")]
    BadSwitch {
        /// The setting.
        key: &'static str,
        /// The given value.
        value: String,
    },
}
