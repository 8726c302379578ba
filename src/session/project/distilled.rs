//! The distilled rig in a project: its own entry, so that a damaged one does not prevent opening the project.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::methods::MethodId;
use crate::session::distill::KeptFit;
use crate::session::{KeptRig, ViewId};

/// The entry.
#[derive(Debug, Serialize, Deserialize)]
struct DistilledPart {
    /// The method that was simulated.
    method: String,
    /// The views that showed the rig.
    #[serde(default)]
    shown: Vec<u32>,
    /// The views that compared with it.
    #[serde(default)]
    compared: Vec<u32>,
    #[serde(flatten)]
    rig: KeptRig,
}

/// The entry of a rig.
pub(super) fn entry_of(kept: &KeptFit) -> Result<Box<RawValue>, serde_json::Error> {
    let numbers = |views: &[ViewId]| views.iter().map(|view| view.0).collect();
    to_raw_value(&DistilledPart {
        method: kept.method.id().to_owned(),
        shown: numbers(&kept.shown),
        compared: numbers(&kept.compared),
        rig: kept.rig.clone(),
    })
}

/// The rig of an entry; the error is a sentence.
pub(super) fn rig_of(entry: &RawValue) -> Result<KeptFit, String> {
    let part: DistilledPart = serde_json::from_str(entry.get())
        .map_err(|error| format!("the distilled rig was ignored: {error}"))?;
    let ids = |views: Vec<u32>| views.into_iter().map(ViewId).collect();
    Ok(KeptFit {
        method: MethodId::from_id(&part.method).unwrap_or_default(),
        rig: part.rig,
        shown: ids(part.shown),
        compared: ids(part.compared),
    })
}
