//! `--variant`: a method with settings of its own, as a further row.

use std::sync::Arc;

use crate::character::{FleshBase, FleshSettings, SimVertices};
use crate::cli::options::{
    Options, parse_base, parse_collisions, parse_method, parse_preset, parse_sim_vertices,
};
use crate::cli::weights::WeightsOption;
use crate::cli::{CommandResult, Failure};
use crate::dynamics::{Collisions, PHYSICS, PhysicsParam, Preset};
use crate::methods::{MethodId, Requirement, Subject};
use crate::param::ParamSpec;
use crate::report::Variant;

/// A named variant as it was given.
#[derive(Debug, Clone, Default)]
pub(super) struct VariantOption {
    pub(super) name: String,
    method: MethodId,
    /// Values of the method's own parameters.
    values: Vec<(String, String)>,
    physics: Vec<(PhysicsParam, f64)>,
    preset: Option<Preset>,
    collisions: Option<Collisions>,
    sim_vertices: Option<SimVertices>,
    base: Option<FleshBase>,
    weights: WeightsOption,
    /// Method and settings, as they were given.
    text: String,
}

/// Parses "NAME: METHOD KEY=VALUE …".
pub(super) fn parse_variant(text: &str) -> Result<VariantOption, String> {
    let form =
        "expected NAME: METHOD KEY=VALUE …, as in \"soft: pd stiffness=5000 collisions=off\"";
    let (name, rest) = text.split_once(':').ok_or(form)?;
    let mut words = rest.split_whitespace();
    let (name, method) = (name.trim(), words.next().ok_or(form)?);
    if name.is_empty() {
        return Err(form.to_owned());
    }
    let mut variant = VariantOption {
        name: name.to_owned(),
        method: parse_method(method)?,
        text: rest.split_whitespace().collect::<Vec<_>>().join(" "),
        ..VariantOption::default()
    };
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("\"{word}\": expected KEY=VALUE, as in stiffness=5000"))?;
        variant
            .set(key, value)
            .map_err(|error| format!("{key}: {error}"))?;
    }
    Ok(variant)
}

impl VariantOption {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let specs = self.method.descriptor().params;
        if let Some(spec) = specs.iter().find(|spec| spec.key == key) {
            spec.parse(value).map_err(|error| error.to_string())?;
            self.values.push((key.to_owned(), value.to_owned()));
            return Ok(());
        }
        if let Some(param) = PHYSICS.into_iter().find(|param| param.spec.key == key) {
            let number = param.spec.parse(value).map_err(|error| error.to_string())?;
            self.physics.push((param, number));
            return Ok(());
        }
        match key {
            "preset" => self.preset = Some(parse_preset(value)?),
            "collisions" => self.collisions = Some(parse_collisions(value)?),
            "sim-vertices" => self.sim_vertices = Some(parse_sim_vertices(value)?),
            "base" => self.base = Some(parse_base(value)?),
            "weights" if !self.method.needs(Requirement::Weights) => {
                return Err(format!("{} uses no weights", self.method.id()));
            }
            "weights" => self.weights = WeightsOption::of(value)?,
            _ => return Err(self.unknown_key()),
        }
        Ok(())
    }

    fn unknown_key(&self) -> String {
        let own = self.method.descriptor().params.iter();
        let keys: Vec<&str> = own
            .map(|spec: &ParamSpec| spec.key)
            .chain(PHYSICS.iter().map(|param| param.spec.key))
            .chain(["preset", "collisions", "sim-vertices", "base", "weights"])
            .collect();
        format!(
            "no such setting of {}; there are {}",
            self.method.id(),
            keys.join(", ")
        )
    }

    pub(super) fn method(&self) -> MethodId {
        self.method
    }

    /// The options of the command with those of the variant.
    fn options(&self, options: &Options) -> Options {
        let mut own = options.clone();
        own.preset = self.preset.or(own.preset);
        own.collisions = self.collisions.or(own.collisions);
        own.sim_vertices = self.sim_vertices.or(own.sim_vertices);
        own.base = self.base.or(own.base);
        own.values.extend(self.values.iter().cloned());
        for (param, value) in &self.physics {
            own.physics.set(*param, *value);
        }
        own
    }

    /// Settings of the flesh: those of the character, with what the variant sets.
    fn flesh(&self, settings: &FleshSettings, own: &Options) -> FleshSettings {
        let mut flesh = settings.clone();
        if let Some(sim_vertices) = self.sim_vertices {
            flesh.sim_vertices = sim_vertices;
        }
        if self.preset.is_some() || self.base.is_some() {
            flesh.base = own.flesh_base().unwrap_or_default();
        }
        flesh
    }
}

/// The rows of variants. Those with the same flesh share it.
pub(super) fn variants(
    given: &[VariantOption],
    subject: &Arc<Subject>,
    options: &Options,
) -> Result<Vec<Variant>, Failure> {
    let mut known: Vec<Arc<Subject>> = vec![subject.clone()];
    let row = |variant: &VariantOption| {
        let own = variant.options(options);
        let flesh = variant.flesh(&subject.settings, &own);
        let with_flesh = known
            .iter()
            .find(|known| *known.settings == flesh)
            .cloned()
            .unwrap_or_else(|| {
                known.push(Arc::new(subject.with_settings(&flesh)));
                known[known.len() - 1].clone()
            });
        let with_weights = if variant.weights.is_given() {
            variant.weights.on(&with_flesh, None)?
        } else {
            with_flesh
        };
        Ok(Variant {
            id: variant.name.clone(),
            label: variant.name.clone(),
            settings: variant.text.clone(),
            values: own.values_for(variant.method)?,
            params: own.params_for(subject),
            subject: Some(with_weights),
            method: variant.method,
        })
    };
    given.iter().map(row).collect()
}

/// Refuses two rows of one name.
pub(super) fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> CommandResult {
    let names: Vec<&str> = names.collect();
    let twice = (0..names.len()).find(|&index| names[..index].contains(&names[index]));
    match twice {
        Some(index) => Err(Failure::Usage(format!(
            "\"{}\" is compared twice; name each row once",
            names[index]
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_a_name_a_method_and_settings() {
        let text = "very soft :  pd stiffness=5000   collisions=off sim-vertices=900";
        let variant = parse_variant(text).unwrap();
        assert_eq!(variant.name, "very soft");
        assert_eq!(variant.method, MethodId::PD);
        assert_eq!(variant.physics[0].1, 5000.0);
        assert_eq!(variant.collisions, Some(Collisions::Off));
        assert_eq!(variant.sim_vertices, Some(SimVertices::About(900)));
        assert_eq!(
            variant.text,
            "pd stiffness=5000 collisions=off sim-vertices=900"
        );
        assert_eq!(parse_variant("plain: lbs").unwrap().text, "lbs");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("pd stiffness=3", "expected NAME: METHOD"),
            (": pd", "expected NAME: METHOD"),
            ("a:", "expected NAME: METHOD"),
            ("a: pdd", "did you mean pd?"),
            ("a: pd stiffness", "expected KEY=VALUE"),
            ("a: pd stiffness=soft", "stiffness: "),
            ("a: pd squish=2", "there are stiffness"),
            ("a: swing-twist weights=heat", "uses no weights"),
        ] {
            let error = parse_variant(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
