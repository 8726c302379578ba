//! The registry of weight methods: what each is called and how it computes weights.
//!
//! `--weights` and its help, the panel and project files go by the registry.
//!
//! A transfer from another character is a method too. Its id is `transfer:FILE`; whoever reads files makes it by
//! [`WeightMethod::transfer`], and from then on [`WeightMethod::from_id`] knows it.

use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Deserializer};

use super::SkinWeights;
use super::transfer::{TransferSource, transferred};
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

/// A registered weight method. Two are equal if their ids are; of transfers, if the content of their sources is, too.
#[derive(Clone, Copy)]
pub struct WeightMethod {
    descriptor: &'static WeightDescriptor,
    /// Of a transfer.
    from: Option<&'static SourceEntry>,
}

/// The source of a transfer, kept for the rest of the process.
struct SourceEntry {
    source: TransferSource,
    /// Tells sources of one id apart.
    number: usize,
}

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

/// The transfers from other characters, in the order in which they were made.
static TRANSFERS: RwLock<Vec<WeightMethod>> = RwLock::new(Vec::new());

/// What the id of a transfer begins with.
const TRANSFER: &str = "transfer:";

/// All weight methods: the built-in ones, those that were registered, then the transfers from files, each file once.
#[must_use]
pub fn registry() -> Vec<WeightMethod> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    let transfers = TRANSFERS.read().unwrap_or_else(PoisonError::into_inner);
    let is_latest = |place: &usize| {
        let id = transfers[*place].id();
        !transfers[place + 1..].iter().any(|later| later.id() == id)
    };
    let latest = (0..transfers.len())
        .filter(is_latest)
        .map(|place| transfers[place]);
    let fixed = super::BUILT_IN.iter().chain(&*added).copied();
    fixed.chain(latest).collect()
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
    let method = WeightMethod::of(descriptor);
    added.push(method);
    Ok(method)
}

impl WeightMethod {
    /// The file's own weights.
    pub const FILE: Self = Self::of(&super::FILE);

    /// The method of a descriptor, for the list of built-in methods.
    pub(super) const fn of(descriptor: &'static WeightDescriptor) -> Self {
        Self {
            descriptor,
            from: None,
        }
    }

    /// The method that transfers the weights of another character; its id is `transfer:` and the name given, which is that of the file.
    /// The same name with the same content gives the same method. Sources are never freed: there are as many as there were different
    /// files. The latest source of a name is the one that [`WeightMethod::from_id`] finds.
    #[must_use]
    pub fn transfer(file: &str, source: TransferSource) -> Self {
        let id = format!("{TRANSFER}{file}");
        let mut transfers = TRANSFERS.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = |method: &Self| {
            method.id() == id && method.from.is_some_and(|from| from.source == source)
        };
        if let Some(place) = transfers.iter().position(is_same) {
            // It is the latest from now on; its number stays.
            let method = transfers.remove(place);
            transfers.push(method);
            return method;
        }
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let descriptor = WeightDescriptor {
            label: Box::leak(format!("Transfer from {name}").into_boxed_str()),
            id: Box::leak(id.into_boxed_str()),
            doc: "The weights of another character at the closest points, filled in smoothly where it is far away.",
            version: 1,
            compute: None,
        };
        let number = transfers.len() + 1;
        let method = Self {
            descriptor: Box::leak(Box::new(descriptor)),
            from: Some(Box::leak(Box::new(SourceEntry { source, number }))),
        };
        transfers.push(method);
        method
    }

    /// The file named by the id of a transfer; `None` for other ids.
    #[must_use]
    pub fn transfer_file(id: &str) -> Option<&str> {
        id.strip_prefix(TRANSFER)
    }

    /// The source of a transfer.
    #[must_use]
    pub fn transfer_source(self) -> Option<&'static TransferSource> {
        self.from.map(|from| &from.source)
    }

    /// Whether it computes weights, instead of taking those of the file.
    #[must_use]
    pub fn is_computed(self) -> bool {
        self.from.is_some() || self.descriptor.compute.is_some()
    }

    /// Computes the weights of a skin; `None` if it takes those of the file.
    ///
    /// # Errors
    /// [`WeightError`].
    pub fn compute(
        self,
        input: &WeightInput<'_>,
        progress: &Progress,
    ) -> Option<Result<SkinWeights, WeightError>> {
        match (self.from, self.descriptor.compute) {
            (Some(from), _) => Some(transferred(&from.source, input, progress)),
            (None, Some(compute)) => Some(compute(input, progress)),
            (None, None) => None,
        }
    }

    /// What tells methods apart: the id, and the number of a transfer's source.
    fn key(&self) -> (&'static str, usize) {
        (self.id(), self.from.map_or(0, |from| from.number))
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
        self.descriptor
    }

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.descriptor.id
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.descriptor.label
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

told_apart_by_id!(WeightMethod, key);

impl<'de> Deserialize<'de> for WeightMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_id(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
