//! The rows of a comparison that are computed: methods, and variants of methods.

use std::sync::Arc;

use crate::dynamics::Params;
use crate::methods::{MethodId, Subject};
use crate::param::ParamValues;

/// A method with all that may differ from row to row.
#[derive(Clone)]
pub struct Variant {
    /// Id, unique in the comparison: the method's, or a name.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// What is different in a named variant, as on the command line; empty for a method.
    pub settings: String,
    /// The method.
    pub method: MethodId,
    /// Values of the method's own parameters.
    pub values: ParamValues,
    /// Physical parameters of simulated methods.
    pub params: Params,
    /// The character with other weights or other flesh; `None` for that of the comparison. Its source meshes and skeleton are the same.
    pub subject: Option<Arc<Subject>>,
}

impl Variant {
    /// The row of a method.
    #[must_use]
    pub fn of(method: MethodId, values: ParamValues, params: Params) -> Self {
        Self {
            id: method.id().to_owned(),
            label: method.label().to_owned(),
            settings: String::new(),
            method,
            values,
            params,
            subject: None,
        }
    }
}
