//! `--weights`: choice of a registered weight method.

use std::sync::Arc;

use clap::Args;

use super::options::Options;
use super::stderr;
use crate::methods::{MethodId, Requirement, Subject};
use crate::session::ProjectState;
use crate::weights::{WeightMethod, registry};

/// The option.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct WeightsOption {
    #[arg(long, value_name = "ID", help = help())]
    weights: Option<WeightMethod>,
}

impl WeightsOption {
    /// The choice has no effect on methods without weights, nor on what rides on their flesh: the flesh is built with the file's.
    pub(super) fn note_unused(self, methods: &[MethodId], options: &Options) {
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
    pub(super) fn on(self, subject: &Arc<Subject>, saved: Option<&ProjectState>) -> Arc<Subject> {
        let method = self.weights.or(saved.map(|saved| saved.weights));
        subject.weighted(method.unwrap_or_default())
    }
}

/// One line of help for each registered weight method.
fn help() -> String {
    let methods: Vec<String> = registry()
        .iter()
        .map(|method| format!("{}: {}", method, method.descriptor().doc))
        .collect();
    format!(
        "Skinning weights of methods that use them [default: {}, or those of a project's active view]\n{}",
        WeightMethod::default(),
        methods.join("\n")
    )
}
