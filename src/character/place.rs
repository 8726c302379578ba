//! How a part moves, and what the user says about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rig::{PoseError, Skeleton};

/// How a connected part of the skin moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// It gets tissue of its own and is simulated.
    #[default]
    Flesh,
    /// It follows the surface of the flesh next to it.
    Rides,
    /// It moves with one joint and nothing else.
    Rigid {
        /// Index into the skeleton's joints.
        joint: usize,
    },
}

/// What the user says about parts, by [`crate::tissue::Part::name`], by the name of a source mesh (all of its parts), or by a part's number.
pub type PartMap = BTreeMap<String, Place>;

/// Why something said about a part can't be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// No such part.
    #[error("there is no part \"{name}\"{}; `sinew info -v` lists them", nearest.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default())]
    UnknownPart {
        /// What was asked for.
        name: String,
        /// The part that is most alike, if any is.
        nearest: Option<String>,
    },
    /// No such way to move.
    #[error("a part is flesh, ride or rigid:JOINT, as in rigid:head, but got \"{text}\"")]
    UnknownPlace {
        /// What was given.
        text: String,
    },
    /// Rigid with a joint that isn't there.
    #[error(transparent)]
    Joint(#[from] PoseError),
}

impl Place {
    /// Reads `flesh`, `ride` or `rigid:JOINT`.
    ///
    /// # Errors
    /// [`PartError`] with what there is.
    pub fn parse(text: &str, skeleton: &Skeleton) -> Result<Self, PartError> {
        match text.trim().split_once(':') {
            None if text.trim() == "flesh" => Ok(Self::Flesh),
            None if matches!(text.trim(), "ride" | "rides") => Ok(Self::Rides),
            Some(("rigid", joint)) => Ok(Self::Rigid { joint: skeleton.find_or_suggest(joint.trim())? }),
            _ => Err(PartError::UnknownPlace { text: text.to_owned() }),
        }
    }

    /// The text that [`Place::parse`] reads.
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
