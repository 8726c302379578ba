//! Pose mode and edit mode.

/// What input in a viewport edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The pose of the character.
    #[default]
    Pose,
    /// The skeleton, in the bind pose.
    Edit,
}
