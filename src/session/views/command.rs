//! What can be asked of the views.

use super::{View, ViewId};
use crate::methods::MethodId;
use crate::weights::WeightMethod;

/// What can be asked of the views. None of it is undone, except that a free view's pose is part of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewCommand {
    /// Adds a view that shows the same as another one; [`super::Views::next_id`] says what may be its identity.
    Add {
        /// The new one.
        id: ViewId,
        /// The one it begins as.
        like: ViewId,
    },
    /// Takes a view away; the last one stays.
    Remove(ViewId),
    /// Commands act on this one from now on.
    Activate(ViewId),
    /// Changes the method of a view; the present one stays until the new one is bound.
    SetMethod {
        /// Which.
        view: ViewId,
        /// Its method.
        method: MethodId,
    },
    /// Changes the weights of a view; the present ones stay until the new ones are computed.
    SetWeights {
        /// Which.
        view: ViewId,
        /// Its weights.
        weights: WeightMethod,
    },
    /// Compares a view with another method, or with none.
    SetCompare {
        /// Which.
        view: ViewId,
        /// The other method.
        method: Option<MethodId>,
    },
    /// Shows many of the character in a view, or one. Many are not compared.
    SetCrowd {
        /// Which.
        view: ViewId,
        /// How many, 1 to [`super::MAX_CROWD`].
        count: usize,
    },
    /// Gives a view a pose and a clock of its own, which begin as the shared ones, or links it again.
    SetFree {
        /// Which.
        view: ViewId,
        /// Whether it is free.
        free: bool,
    },
    /// Replaces all views, as a preset or a project does. The first is the active one.
    SetAll(Vec<View>),
}

impl ViewCommand {
    /// What the command is called in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Add { .. } => "Add view",
            Self::Remove(_) => "Close view",
            Self::Activate(_) => "Choose view",
            Self::SetMethod { .. } => "Change method",
            Self::SetWeights { .. } => "Change weights",
            Self::SetCompare { .. } => "Compare",
            Self::SetCrowd { .. } => "Change crowd",
            Self::SetFree { free: true, .. } => "Unlink view",
            Self::SetFree { free: false, .. } => "Link view",
            Self::SetAll(_) => "Arrange views",
        }
    }
}
