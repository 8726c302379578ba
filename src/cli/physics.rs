//! Options for the physical parameters, generated from their declarations.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::dynamics::{PHYSICS, Params, PhysicsParam, STIFFNESS};

/// Values that replace those of the preset.
#[derive(Debug, Clone, Default)]
pub(super) struct PhysicsOptions(Vec<(PhysicsParam, f64)>);

impl PhysicsOptions {
    /// The value given for a parameter.
    pub(super) fn value(&self, param: &PhysicsParam) -> Option<f64> {
        let given = self
            .0
            .iter()
            .find(|(given, _)| given.spec.key == param.spec.key);
        given.map(|&(_, value)| value)
    }

    /// Sets a value.
    pub(super) fn set(&mut self, param: PhysicsParam, value: f64) {
        self.0.retain(|(given, _)| given.spec.key != param.spec.key);
        self.0.push((param, value));
    }

    /// Applies the values that were given.
    pub(super) fn apply(&self, params: &mut Params) {
        for (param, value) in &self.0 {
            param.set(params, *value);
        }
        // Values in pascals are converted to this character's units.
        if self.value(&STIFFNESS).is_some() {
            params.human_sized = false;
        }
    }
}

impl Args for PhysicsOptions {
    fn augment_args(command: Command) -> Command {
        command.args(PHYSICS.map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(param: PhysicsParam) -> Arg {
    Arg::new(param.spec.key)
        .long(param.spec.key)
        .global(true)
        .value_name(param.value_name)
        .help(param.help())
        .allow_hyphen_values(param.spec.range[0] < 0.0)
        .value_parser(move |text: &str| param.spec.parse(text))
}

impl FromArgMatches for PhysicsOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |param: PhysicsParam| Some((param, *matches.get_one::<f64>(param.spec.key)?));
        Ok(Self(PHYSICS.into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
