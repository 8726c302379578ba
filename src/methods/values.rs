//! Values of the own parameters of methods.

use std::collections::BTreeMap;

use super::MethodId;
use crate::param::ParamValues;

/// Values of the own parameters of several methods ([`super::Descriptor::params`]). A method that is not here has its defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MethodValues(BTreeMap<MethodId, ParamValues>);

impl MethodValues {
    /// The values of a method.
    #[must_use]
    pub fn of(&self, method: MethodId) -> ParamValues {
        self.0.get(&method).cloned().unwrap_or_default()
    }

    /// Sets the values of a method, moved into their ranges. What the method does not declare is left out.
    pub fn set(&mut self, method: MethodId, values: &ParamValues) {
        let mut known = ParamValues::default();
        for spec in method.descriptor().params {
            known.set(spec, values.get(spec));
        }
        if known.is_empty() {
            self.0.remove(&method);
        } else {
            self.0.insert(method, known);
        }
    }

    /// The methods that have other values than their defaults, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (MethodId, &ParamValues)> {
        self.0.iter().map(|(method, values)| (*method, values))
    }
}
