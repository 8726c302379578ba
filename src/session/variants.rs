//! Variants: settings of simulation and methods under a name, which a view can have instead of those that all views share.
//!
//! A view with a variant shows its method with the variant's settings, and changes of settings while that view is the active one change the
//! variant only. Views are compared with variants as with methods: beside a line, behind a key, as distances, on the scoreboard and in reports.

use crate::dynamics::Params;
use crate::methods::{Capability, MethodId, MethodValues};

/// Identifies a variant in its document.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct VariantId(pub u32);

/// Settings of simulation and methods under a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SettingsVariant {
    /// Its name.
    pub name: String,
    /// Physical parameters.
    pub params: Params,
    /// Values of the methods' own parameters.
    pub method_values: MethodValues,
}

/// Whether a method has settings that a variant can change.
pub(super) fn has_settings(method: MethodId) -> bool {
    method.has(Capability::Physics) || !method.descriptor().params.is_empty()
}
