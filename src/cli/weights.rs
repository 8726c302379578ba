//! `--weights`: choice of a registered weight method.

use std::sync::Arc;

use clap::Args;

use crate::methods::Subject;
use crate::session::ProjectState;
use crate::weights::{WeightMethod, registry};

/// The option.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct WeightsOption {
    #[arg(long, value_name = "ID", help = help())]
    weights: Option<WeightMethod>,
}

impl WeightsOption {
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
