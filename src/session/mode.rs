//! Posing or editing the skeleton.

/// What the hand does with the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It poses the character.
    #[default]
    Pose,
    /// It edits the skeleton in the bind pose.
    Edit,
}
