//! The registry of weight methods: what each is called and how it computes weights.
//!
//! `--weights` and its help, the panel and project files go by the registry.

use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Deserializer};

use super::SkinWeights;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;

/// What weights are computed from.
#[derive(Debug, Clone, Copy)]
pub struct WeightInput<'a> {
    /// The welded skin in the bind pose, world space.
    pub mesh: &'a TriMesh,
    /// The skeleton in the bind pose.
    pub skeleton: &'a Skeleton,
}

/// Why weights could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Computes weights: one row per vertex of the skin, not negative, summing to 1. Rows are empty only if there is no joint.
pub type Compute = fn(&WeightInput<'_>, &Progress) -> Result<SkinWeights, WeightError>;

/// All that is known of a weight method without running it.
#[derive(Debug)]
pub struct WeightDescriptor {
    /// Key on the command line and in project files: lower case, no spaces.
    pub id: &'static str,
    /// Name on screen.
    pub label: &'static str,
    /// One or two short sentences: where the weights come from and what they are good for.
    pub doc: &'static str,
    /// Raised when the method computes other weights from the same input: part of the key in the cache.
    pub version: u32,
    /// Computes the weights; `None` takes those of the file, and those by distance for meshes that have none in the file.
    pub compute: Option<Compute>,
}

/// A registered weight method. Two are equal if their ids are.
#[derive(Clone, Copy)]
pub struct WeightMethod(&'static WeightDescriptor);

/// Why a weight method was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightRegisterError {
    /// Another weight method has that id.
    #[error("there are weights \"{0}\" already")]
    Taken(&'static str),
    /// An id is written on the command line and in files.
    #[error("\"{0}\" can't be the id of weights: use lower-case letters, digits and hyphens")]
    BadId(&'static str),
}

/// No weight method has that id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are no weights \"{id}\"; there are: {known}")]
pub struct UnknownWeights {
    id: String,
    known: String,
}

/// Weight methods registered from outside of the crate.
static ADDED: RwLock<Vec<WeightMethod>> = RwLock::new(Vec::new());

/// All weight methods: the built-in ones, then those that were registered.
#[must_use]
pub fn registry() -> Vec<WeightMethod> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    super::BUILT_IN.iter().chain(&*added).copied().collect()
}

/// Adds a weight method. From then on it is in every list of weight methods.
///
/// # Errors
/// [`WeightRegisterError`] if its id is taken or cannot be written on a command line.
pub fn register(
    descriptor: &'static WeightDescriptor,
) -> Result<WeightMethod, WeightRegisterError> {
    let id = descriptor.id;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        return Err(WeightRegisterError::BadId(id));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let mut known = super::BUILT_IN.iter().chain(&*added);
    if known.any(|method| method.id() == id) {
        return Err(WeightRegisterError::Taken(id));
    }
    let method = WeightMethod(descriptor);
    added.push(method);
    Ok(method)
}

impl WeightMethod {
    /// The file's own weights.
    pub const FILE: Self = Self(&super::FILE);

    /// The method of a descriptor, for the list of built-in methods.
    pub(super) const fn of(descriptor: &'static WeightDescriptor) -> Self {
        Self(descriptor)
    }

    /// The registered weight method with that id.
    ///
    /// # Errors
    /// [`UnknownWeights`], which lists those there are.
    pub fn from_id(id: &str) -> Result<Self, UnknownWeights> {
        let all = registry();
        let found = all.iter().find(|method| method.id() == id);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|method| method.id()).collect();
            UnknownWeights {
                id: id.to_owned(),
                known: known.join(", "),
            }
        })
    }

    /// All that is known of it.
    #[must_use]
    pub fn descriptor(self) -> &'static WeightDescriptor {
        self.0
    }

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.0.label
    }
}

impl Default for WeightMethod {
    /// The file's own weights.
    fn default() -> Self {
        Self::FILE
    }
}

impl std::str::FromStr for WeightMethod {
    type Err = UnknownWeights;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::from_id(id)
    }
}

told_apart_by_id!(WeightMethod);

impl<'de> Deserialize<'de> for WeightMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_id(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
