//! The registry of methods: what each is called, what it needs, what it can do, and how it is bound.
//!
//! Everything outside of this folder uses the registry: the command line and its help, the panels and menus, presets,
//! project files, the table in the README and the conformance suite. No code matches on a method's name to find out what it
//! can do; use [`Requirement`] and [`Capability`].

use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Deserializer};

use super::Skinner;
use crate::dynamics::Params;
use crate::math::Vec3;
use crate::param::{ParamSpec, ParamValues};
use crate::progress::Progress;
use crate::stages::{BindError, Subject};

/// What a method is bound to, beside the meshes and the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Skinning weights, the file's or computed ones.
    Weights,
    /// The volumetric tissue between bones and skin.
    Tissue,
}

/// What a method can do besides moving vertices by a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// It has a state: a frame depends on the frames before it, and a frame of 0 s means the equilibrium of the pose.
    State,
    /// It follows the physical parameters ([`Params`]) and the settings of bones.
    Physics,
    /// Joints choose how their parts meet, by the settings of bones ([`crate::character::Meeting`]).
    Meetings,
    /// Parts of the skin that touch can be kept apart ([`crate::dynamics::Collisions`]).
    Contacts,
    /// A graphics device can compute its frames. Other methods run on the CPU.
    Device,
    /// It moves the simulation mesh, and the source vertices follow that by upsampling.
    Upsampling,
    /// A frame takes seconds or minutes and allocates memory: for comparison, not for playing.
    Offline,
}

/// What a method is bound to.
pub struct BindInput<'a> {
    /// The character with its derived stages.
    pub subject: &'a Arc<Subject>,
    /// Physical parameters, for methods with [`Capability::Physics`].
    pub physics: &'a Params,
    /// Values of the method's own parameters ([`Descriptor::params`]).
    pub values: &'a ParamValues,
    /// Unit normals of all source vertices in the bind pose.
    pub normals: &'a [Vec3],
    /// Progress and cancellation.
    pub progress: &'a Progress,
}

/// Binds a method: computes everything that does not depend on the pose.
pub type Bind = fn(&BindInput<'_>) -> Result<Box<dyn Skinner>, BindError>;

/// Properties of a method that are known without binding it.
#[derive(Debug)]
pub struct Descriptor {
    /// Key on the command line and in project files: lower case, no spaces.
    pub id: &'static str,
    /// Name on screen.
    pub label: &'static str,
    /// Name where space is limited.
    pub short_label: &'static str,
    /// One or two short sentences: what it does and what it is good for.
    pub doc: &'static str,
    /// What a frame of 20 000 vertices costs on two cores.
    pub cost: &'static str,
    /// The paper that the method is from, with its equation or section; empty if there is none.
    pub source: &'static str,
    /// Where it differs from the paper, a short sentence each.
    pub departures: &'static [&'static str],
    /// What it is bound to.
    pub needs: &'static [Requirement],
    /// What it can do.
    pub capabilities: &'static [Capability],
    /// Its own parameters; physical parameters are shared by all methods.
    pub params: &'static [ParamSpec],
    /// Binds it.
    pub bind: Bind,
}

/// A registered method. Two are equal if their ids are.
#[derive(Clone, Copy)]
pub struct MethodId(&'static Descriptor);

/// Why a method was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another method has that id.
    #[error("there is a method \"{0}\" already")]
    Taken(&'static str),
    /// An id is written on the command line and in files.
    #[error("\"{0}\" can't be the id of a method: use lower-case letters, digits and hyphens")]
    BadId(&'static str),
}

/// Methods registered from outside of the crate.
static ADDED: RwLock<Vec<MethodId>> = RwLock::new(Vec::new());

/// All methods: the built-in ones, simplest first, then those that were registered.
#[must_use]
pub fn registry() -> Vec<MethodId> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    super::BUILT_IN.iter().chain(&*added).copied().collect()
}

/// Adds a method. From then on it is in every list of methods.
///
/// # Errors
/// [`RegisterError`] if its id is taken or cannot be written on a command line.
pub fn register(descriptor: &'static Descriptor) -> Result<MethodId, RegisterError> {
    let id = descriptor.id;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        return Err(RegisterError::BadId(id));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if super::BUILT_IN
        .iter()
        .chain(&*added)
        .any(|method| method.id() == id)
    {
        return Err(RegisterError::Taken(id));
    }
    let method = MethodId(descriptor);
    added.push(method);
    Ok(method)
}

impl MethodId {
    /// The method of a descriptor, for the list of built-in methods.
    pub(super) const fn of(descriptor: &'static Descriptor) -> Self {
        Self(descriptor)
    }

    /// The registered method with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        registry().into_iter().find(|method| method.id() == id)
    }

    /// All that is known of it.
    #[must_use]
    pub fn descriptor(self) -> &'static Descriptor {
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

    /// Name where space is limited.
    #[must_use]
    pub fn short_label(self) -> &'static str {
        self.0.short_label
    }

    /// Whether it is bound to that.
    #[must_use]
    pub fn needs(self, need: Requirement) -> bool {
        self.0.needs.contains(&need)
    }

    /// Whether it can do that.
    #[must_use]
    pub fn has(self, capability: Capability) -> bool {
        self.0.capabilities.contains(&capability)
    }
}

impl Default for MethodId {
    /// Projective dynamics.
    fn default() -> Self {
        Self::PD
    }
}

told_apart_by_id!(MethodId);

impl<'de> Deserialize<'de> for MethodId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Self::from_id(&id).ok_or_else(|| {
            let known: Vec<&str> = registry().iter().map(|method| method.id()).collect();
            serde::de::Error::custom(format!(
                "there is no method \"{id}\"; there are: {}",
                known.join(", ")
            ))
        })
    }
}
