//! `--weights`: choice of a registered weight method, or of a character whose weights are transferred; and the verb that writes weights.

mod verb;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

pub(super) use verb::WeightsVerb;

use super::options::Options;
use super::{Failure, stderr};
use crate::methods::{MethodId, Requirement, Subject};
use crate::progress::Progress;
use crate::session::ProjectState;
use crate::weights::{WeightMethod, registry};

/// The option.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct WeightsOption {
    #[arg(long, value_name = "ID", help = help(), value_parser = parse)]
    weights: Option<Choice>,
}

/// Where weights come from.
#[derive(Debug, Clone, PartialEq)]
enum Choice {
    Method(WeightMethod),
    /// A file that is read when the weights are needed.
    Transfer(PathBuf),
}

fn parse(text: &str) -> Result<Choice, String> {
    match WeightMethod::transfer_file(text) {
        Some("") => Err("expected the file after transfer:, as in transfer:body.glb".to_owned()),
        Some(file) => Ok(Choice::Transfer(file.into())),
        None => WeightMethod::from_id(text)
            .map(Choice::Method)
            .map_err(|error| format!("{error}, transfer:FILE")),
    }
}

impl WeightsOption {
    /// The option with a value.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        Ok(Self {
            weights: Some(parse(text)?),
        })
    }

    /// Whether it was given.
    pub(super) fn is_given(&self) -> bool {
        self.weights.is_some()
    }

    /// The choice has no effect on methods without weights, nor on what rides on their flesh: the flesh is built with the file's.
    pub(super) fn note_unused(&self, methods: &[MethodId], options: &Options) {
        let [first, ..] = methods else { return };
        let needs_some = methods
            .iter()
            .any(|method| method.needs(Requirement::Weights));
        if self.weights.is_some() && !needs_some && !options.quiet {
            stderr::line(&format!(
                "note: {} has no skinning weights to choose; its flesh and what rides on it are built with those of the file",
                first.label()
            ));
        }
    }

    /// The character with the requested weights, or with those of the project's active view.
    pub(super) fn on(
        &self,
        subject: &Arc<Subject>,
        saved: Option<&ProjectState>,
    ) -> Result<Arc<Subject>, Failure> {
        let method = match &self.weights {
            Some(Choice::Method(method)) => *method,
            Some(Choice::Transfer(path)) => crate::transfer_weights(path, &Progress::new())?,
            None => saved.map(|saved| saved.weights).unwrap_or_default(),
        };
        Ok(subject.weighted(method))
    }
}

/// One line of help for each registered weight method.
fn help() -> String {
    let methods: Vec<String> = registry()
        .iter()
        .map(|method| format!("{}: {}", method, method.descriptor().doc))
        .collect();
    format!(
        "Skinning weights of methods that use them [default: {}, or those of a project's active view]\n{}\ntransfer:FILE: The weights of \
         another character at the closest points, filled in smoothly where it is far away. Both must be in the same place and unit.",
        WeightMethod::default(),
        methods.join("\n")
    )
}
