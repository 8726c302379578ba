//! Motion types of parts of the skin, as set by the user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rig::{PoseError, Skeleton};

/// Motion type of a connected part of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// It gets tissue and is simulated.
    #[default]
    Flesh,
    /// It follows the surface of the adjacent flesh.
    Rides,
    /// It moves rigidly with one joint.
    Rigid {
        /// Index into the skeleton's joints.
        joint: usize,
    },
}

/// Motion types set by the user, by [`crate::tissue::SkinComponent::name`], by the name of a source mesh
/// (all of its parts), or by a part's number.
pub type PartMap = BTreeMap<String, Place>;

/// Why a setting of a part was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// The part does not exist.
    #[error("there is no part \"{name}\"{}; `sinew info -v` lists them", nearest.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default())]
    UnknownPart {
        /// The requested name.
        name: String,
        /// The most similar part, if any.
        nearest: Option<String>,
    },
    /// Unknown motion type.
    #[error("a part is flesh, ride or rigid:JOINT, as in rigid:head, but got \"{text}\"")]
    UnknownPlace {
        /// The given text.
        text: String,
    },
    /// The joint does not exist.
    #[error(transparent)]
    Joint(#[from] PoseError),
}

impl Place {
    /// Parses `flesh`, `ride` or `rigid:JOINT`.
    ///
    /// # Errors
    /// [`PartError`].
    pub fn parse(text: &str, skeleton: &Skeleton) -> Result<Self, PartError> {
        match text.trim().split_once(':') {
            None if text.trim() == "flesh" => Ok(Self::Flesh),
            None if matches!(text.trim(), "ride" | "rides") => Ok(Self::Rides),
            Some(("rigid", joint)) => Ok(Self::Rigid {
                joint: skeleton.find_or_suggest(joint.trim())?,
            }),
            _ => Err(PartError::UnknownPlace {
                text: text.to_owned(),
            }),
        }
    }

    /// The text that [`Place::parse`] parses.
    #[must_use]
    pub fn to_text(&self, skeleton: &Skeleton) -> String {
        match self {
            Self::Flesh => "flesh".to_owned(),
            Self::Rides => "ride".to_owned(),
            Self::Rigid { joint } => match skeleton.joints().get(*joint) {
                Some(joint) => format!("rigid:{}", joint.name),
                None => format!("rigid:{joint}"),
            },
        }
    }
}
