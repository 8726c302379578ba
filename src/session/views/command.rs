//! Commands about views.

use super::{View, ViewId};
use crate::methods::MethodId;
use crate::session::variants::VariantId;
use crate::weights::WeightMethod;

/// Commands about views. All are undoable but for the choice of the active view.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewCommand {
    /// Adds a copy of a view; [`super::Views::next_id`] gives a valid identity.
    Add {
        /// The new one.
        id: ViewId,
        /// The view to copy.
        like: ViewId,
    },
    /// Removes a view; the last one is kept.
    Remove(ViewId),
    /// Makes a view the active one.
    Activate(ViewId),
    /// Changes the method of a view; the present one is shown until the new one is bound.
    SetMethod {
        /// The view.
        view: ViewId,
        /// Its method.
        method: MethodId,
    },
    /// Changes the weights of a view; the present ones are used until the new ones are computed.
    SetWeights {
        /// The view.
        view: ViewId,
        /// Its weights.
        weights: WeightMethod,
    },
    /// Compares a view with another method that has the same settings, or ends the comparison.
    SetCompare {
        /// The view.
        view: ViewId,
        /// The other method.
        method: Option<MethodId>,
    },
    /// Gives a view a variant of the settings, or the shared ones.
    SetVariant {
        /// The view.
        view: ViewId,
        /// The variant.
        variant: Option<VariantId>,
    },
    /// Compares a view with a method that has a variant of the settings, or ends the comparison.
    SetCompareVariant {
        /// The view.
        view: ViewId,
        /// The other method.
        method: Option<MethodId>,
        /// The variant of its settings.
        variant: Option<VariantId>,
    },
    /// Sets the number of instances in a view. More than one are not compared.
    SetCrowd {
        /// The view.
        view: ViewId,
        /// Number of instances, 1 to [`super::MAX_CROWD`].
        count: usize,
    },
    /// Gives a view its own pose and clock, initially copies of the shared ones, or links it again.
    SetFree {
        /// The view.
        view: ViewId,
        /// Whether it is free.
        free: bool,
    },
    /// Replaces all views, for a preset or a project. The first becomes active.
    SetAll(Vec<View>),
}

impl ViewCommand {
    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Add { .. } => "Add view",
            Self::Remove(_) => "Close view",
            Self::Activate(_) => "Choose view",
            Self::SetMethod { .. } => "Change method",
            Self::SetWeights { .. } => "Change weights",
            Self::SetCompare { .. } | Self::SetCompareVariant { .. } => "Compare",
            Self::SetVariant { .. } => "Change variant",
            Self::SetCrowd { .. } => "Change crowd",
            Self::SetFree { free: true, .. } => "Unlink view",
            Self::SetFree { free: false, .. } => "Link view",
            Self::SetAll(_) => "Arrange views",
        }
    }
}
