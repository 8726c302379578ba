//! A distilled rig with what is known of its fit, made or read from a project.

use std::sync::Arc;

use super::{Distilled, KeptRig};
use crate::methods::MethodId;
use crate::session::{View, ViewId};

/// A rig, and the method that was simulated.
#[derive(Clone)]
pub(in crate::session) struct Made {
    pub distilled: Arc<Distilled>,
    pub method: MethodId,
}

/// A rig as it is kept, how it was made, and where it was shown.
#[derive(Debug, Clone)]
pub(in crate::session) struct KeptFit {
    /// The method that was simulated.
    pub method: MethodId,
    /// The rig.
    pub rig: KeptRig,
    /// The views that showed it.
    pub shown: Vec<ViewId>,
    /// The views that compared with it.
    pub compared: Vec<ViewId>,
}

/// What a project is to keep.
#[derive(Clone)]
pub(in crate::session) enum RigToKeep {
    /// A rig that was fitted or restored.
    Made(Made),
    /// What was read, because it has not been restored yet.
    Read(Arc<KeptFit>),
}

impl RigToKeep {
    /// As it is kept. The views are those of the project.
    pub fn kept(&self, views: &[View]) -> KeptFit {
        let made = match self {
            Self::Made(made) => made,
            Self::Read(kept) => return (**kept).clone(),
        };
        let ids = |is_rig: &dyn Fn(&&View) -> bool| {
            let views = views.iter().filter(is_rig);
            views.map(|view| view.id).collect()
        };
        KeptFit {
            method: made.method,
            rig: made.distilled.kept(),
            shown: ids(&|view| view.method == MethodId::DISTILLED),
            compared: ids(&|view| view.compare == Some(MethodId::DISTILLED)),
        }
    }
}
