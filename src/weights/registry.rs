//! The registry of weight methods: what each is called and how it computes weights.
//!
//! `--weights` and its help, the panel and project files go by the registry. A choice of weights is one text everywhere: the id of a
//! method, and behind a colon the values of its parameters that differ from the defaults, as in `geodesic:power=4`.
//!
//! A transfer from another character is a method too. Its id is `transfer:FILE`; whoever reads files makes it by
//! [`WeightMethod::transfer`], and from then on [`WeightMethod::from_id`] knows it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Deserializer};

use super::Memo;
use super::common_params::{INFLUENCES, SMOOTHING, resolution};
use super::descriptor::{ComputedWeights, WeightDescriptor, WeightError, WeightInput};
use super::finish::{FinishSettings, finish};
use super::transfer::{TransferSource, transferred};
use super::voxel::VoxelBinding;
use crate::mesh::TriMesh;
use crate::param::{ParamError, ParamValues};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;

/// A registered weight method with values of its parameters. Two are equal if their ids are; of transfers, if the content of their
/// sources is, too.
#[derive(Clone, Copy)]
pub struct WeightMethod {
    descriptor: &'static WeightDescriptor,
    /// The id of the descriptor, and the values that differ from the defaults.
    id: &'static str,
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

/// A text names no weights.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownWeights {
    /// No weight method has that id.
    #[error("there are no weights \"{id}\"; there are: {known}")]
    Id {
        /// The text.
        id: String,
        /// The ids there are, joined by commas.
        known: String,
    },
    /// A parameter has no value.
    #[error(
        "\"{text}\" behind \"{id}:\" is no parameter: expected KEY=VALUE, several joined by commas"
    )]
    NoValue {
        /// The method.
        id: &'static str,
        /// What was written.
        text: String,
    },
    /// A parameter is unknown, or its value cannot be used.
    #[error("weights \"{id}\": {error}")]
    Value {
        /// The method.
        id: &'static str,
        /// Why.
        error: ParamError,
    },
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

/// Keeps a text for the rest of the process; the same text is kept once.
fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.into());
    texts.insert(kept);
    kept
}

impl WeightMethod {
    /// The file's own weights.
    pub const FILE: Self = Self::of(&super::FILE);

    /// Those that meshes without weights get.
    pub const AUTOMATIC: Self = Self::of(&super::biharmonic::DESCRIPTOR);

    /// The method of a descriptor, for the list of built-in methods.
    pub(super) const fn of(descriptor: &'static WeightDescriptor) -> Self {
        Self {
            descriptor,
            id: descriptor.id,
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
            cost: "0.5 s",
            source: "Abdrashitov, Raichstat, Monsen, Hill, Robust Skin Weights Transfer via Weight Inpainting, SIGGRAPH Asia 2023",
            departures: &[
                "The result does not depend on the unit of length.",
                "Parts turned inside out are found as a whole, and parts without a match follow the closest point.",
                "Weights are projected onto the simplex.",
            ],
            params: &[],
            version: 1,
            compute: None,
        };
        let number = transfers.len() + 1;
        let descriptor: &'static WeightDescriptor = Box::leak(Box::new(descriptor));
        let method = Self {
            descriptor,
            id: descriptor.id,
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

    /// Computes the weights of a skin, limited to a few influences; `None` if it takes those of the file. `memo` belongs to this skin and
    /// this skeleton.
    ///
    /// # Errors
    /// [`WeightError`].
    pub fn compute(
        self,
        mesh: &TriMesh,
        skeleton: &Skeleton,
        memo: &Memo,
        progress: &Progress,
    ) -> Option<Result<ComputedWeights, WeightError>> {
        let values = self.values();
        let input = WeightInput {
            mesh,
            skeleton,
            values: &values,
            memo,
        };
        if let Some(from) = self.from {
            return Some(transferred(&from.source, &input, progress));
        }
        let compute = self.descriptor.compute?;
        if !self.descriptor.params.contains(&INFLUENCES) {
            return Some(compute(&input, progress));
        }
        let settings = FinishSettings {
            influences: values.get(&INFLUENCES) as usize,
            smoothing_passes: values.get(&SMOOTHING) as usize,
            ..FinishSettings::default()
        };
        Some((|| {
            let computed = compute(&input, &progress.part(0.0, 0.95))?;
            let last = progress.part(0.95, 1.0);
            let finished = finish(mesh, skeleton, &computed.weights, &settings, &last)?;
            Ok(ComputedWeights {
                weights: finished.weights,
                ..computed
            })
        })())
    }

    /// Whether it takes a few tenths of a second, so that weights can follow a joint of the skeleton while it is dragged.
    #[must_use]
    pub fn is_quick(self) -> bool {
        [
            super::harmonic::DESCRIPTOR.id,
            super::distance::DESCRIPTOR.id,
        ]
        .contains(&self.descriptor.id)
    }

    /// The voxel domain of a skin with the resolution of this method, or with the default one if it has no such parameter. `memo` belongs
    /// to this skin and this skeleton.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn voxel_domain(
        self,
        mesh: &TriMesh,
        skeleton: &Skeleton,
        memo: &Memo,
        progress: &Progress,
    ) -> Result<Arc<VoxelBinding>, Cancelled> {
        let values = self.values();
        let input = WeightInput {
            mesh,
            skeleton,
            values: &values,
            memo,
        };
        VoxelBinding::shared(&input, resolution(&values), progress)
    }

    /// What tells methods apart: the id, and the number of a transfer's source.
    fn key(&self) -> (&'static str, usize) {
        (self.id(), self.from.map_or(0, |from| from.number))
    }

    /// The registered weight method with that id, with values of its parameters behind a colon if there is one.
    ///
    /// # Errors
    /// [`UnknownWeights`], which says what there is.
    pub fn from_id(id: &str) -> Result<Self, UnknownWeights> {
        let all = registry();
        let named = |id: &str| all.iter().find(|method| method.id == id).copied();
        if let Some(found) = named(id) {
            return Ok(found);
        }
        let with_values = id.split_once(':');
        let Some((method, values)) = with_values.and_then(|(id, rest)| Some((named(id)?, rest)))
        else {
            let known: Vec<&str> = all.iter().map(|method| method.id).collect();
            return Err(UnknownWeights::Id {
                id: id.to_owned(),
                known: known.join(", "),
            });
        };
        Ok(method.with_values(&method.parsed(values)?))
    }

    /// The values that a text gives to the parameters.
    fn parsed(self, text: &str) -> Result<ParamValues, UnknownWeights> {
        let (id, specs) = (self.descriptor.id, self.descriptor.params);
        let mut values = ParamValues::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let no_value = || UnknownWeights::NoValue {
                id,
                text: part.to_owned(),
            };
            let (key, value) = part.split_once('=').ok_or_else(no_value)?;
            let set = values.set_text(specs, key.trim(), value);
            set.map_err(|error| UnknownWeights::Value { id, error })?;
        }
        Ok(values)
    }

    /// The same method with other values of its parameters. What it does not declare is left out.
    #[must_use]
    pub fn with_values(self, values: &ParamValues) -> Self {
        let mut id = self.descriptor.id.to_owned();
        let mut separator = ':';
        for spec in self.descriptor.params {
            let value = spec.sanitized(values.get(spec));
            if value != spec.default {
                id = format!("{id}{separator}{}={}", spec.key, spec.format(value));
                separator = ',';
            }
        }
        Self {
            id: interned(&id),
            ..self
        }
    }

    /// The same method with another number of influences per vertex, if it can be chosen.
    #[must_use]
    pub fn with_influences(self, influences: usize) -> Self {
        let mut values = self.values();
        values.set(&INFLUENCES, influences as f64);
        self.with_values(&values)
    }

    /// The values of its parameters.
    #[must_use]
    pub fn values(self) -> ParamValues {
        let text = self.id.strip_prefix(self.descriptor.id);
        let text = text.and_then(|rest| rest.strip_prefix(':'));
        // The id was written by `with_values`, so that it can be read.
        text.map(|text| self.parsed(text).unwrap_or_default())
            .unwrap_or_default()
    }

    /// All that is known of it.
    #[must_use]
    pub fn descriptor(self) -> &'static WeightDescriptor {
        self.descriptor
    }

    /// Key on the command line and in files, with the values that differ from the defaults.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.id
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
