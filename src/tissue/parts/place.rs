//! How a part moves, and what the user says about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Parts;
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

/// What the user says about parts, by [`super::Part::name`], by the name of a source mesh (all of its parts), or by a part's number.
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

impl Parts {
    /// What the user said about part `index`: about the part itself before its number before its source mesh.
    pub(super) fn said(&self, overrides: &PartMap, index: usize) -> Option<Place> {
        let part = &self.parts[index];
        [part.name.as_str(), &index.to_string(), &part.mesh].into_iter().find_map(|key| overrides.get(key)).copied()
    }

    /// Checks that there is something of that name: a part, a source mesh or a number.
    ///
    /// # Errors
    /// [`PartError::UnknownPart`].
    pub fn check_name(&self, name: &str) -> Result<(), PartError> {
        let by_number = name.parse::<usize>().is_ok_and(|index| index < self.parts.len());
        if by_number || self.parts.iter().any(|part| part.name == name || part.mesh == name) {
            return Ok(());
        }
        let lower = name.to_lowercase();
        let alike = |part: &&super::Part| strsim::jaro_winkler(&part.name.to_lowercase(), &lower);
        let nearest = self.parts.iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|part| alike(part) > 0.6);
        Err(PartError::UnknownPart { name: name.to_owned(), nearest: nearest.map(|part| part.name.clone()) })
    }
}
