//! What is known of a weight method without running it, and what goes into and comes out of it.

use serde::{Deserialize, Serialize};

use super::{Memo, SkinWeights, WeightReport};
use crate::mesh::TriMesh;
use crate::param::{ParamSpec, ParamValues};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;

/// What weights are computed from.
#[derive(Debug, Clone, Copy)]
pub struct WeightInput<'a> {
    /// The welded skin in the bind pose, world space.
    pub mesh: &'a TriMesh,
    /// The skeleton in the bind pose.
    pub skeleton: &'a Skeleton,
    /// Values of the method's parameters ([`WeightDescriptor::params`]).
    pub values: &'a ParamValues,
    /// What other methods and other values computed from the same skin and skeleton.
    pub memo: &'a Memo,
}

/// Computed weights and what is to be said about them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComputedWeights {
    /// One row per vertex of the skin, not negative, summing to 1. Rows are empty only if there is no joint.
    pub weights: SkinWeights,
    /// What was noticed.
    pub report: WeightReport,
}

/// Why weights could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Computes weights.
pub type Compute = fn(&WeightInput<'_>, &Progress) -> Result<ComputedWeights, WeightError>;

/// All that is known of a weight method without running it.
#[derive(Debug)]
pub struct WeightDescriptor {
    /// Key on the command line and in project files: lower case, no spaces.
    pub id: &'static str,
    /// Name on screen.
    pub label: &'static str,
    /// One or two short sentences: where the weights come from and what they are good for.
    pub doc: &'static str,
    /// What they cost: time for a character of 14k triangles and 60 joints on two cores.
    pub cost: &'static str,
    /// The paper that the method is from, with its equation or section; empty if there is none.
    pub source: &'static str,
    /// Where it differs from the paper, a short sentence each.
    pub departures: &'static [&'static str],
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// Raised when the method computes other weights from the same input: part of the key in the cache.
    pub version: u32,
    /// Computes the weights; `None` takes those of the file, and those by distance for meshes that have none in the file.
    pub compute: Option<Compute>,
}
