//! Skinning weights and the methods that compute them.
//!
//! A weight method is a file here with a [`WeightDescriptor`] and a line in the list of built-in methods; others can be added from outside of
//! the crate by [`register`]. What is common to all of them comes after: [`finish`](finish()) smooths, mirrors and limits weights, and
//! [`score`] compares them with a reference. [`WeightMethod::transfer`] makes a method of the weights of another character.

mod biharmonic;
mod bones;
mod bounded;
mod common_params;
pub mod decomposition;
mod descriptor;
mod distance;
pub mod elastic;
mod fields;
pub mod finish;
mod geodesic;
mod harmonic;
mod heat;
mod memo;
mod refit;
mod registry;
mod report;
mod rows;
pub mod score;
mod simplex;
#[cfg(test)]
mod solved_tests;
mod spread;
#[cfg(test)]
mod tests;
pub mod transfer;
pub mod voxel;

pub use biharmonic::{biharmonic, bounded_biharmonic, weights_of};
pub use bones::Segment;
pub use bounded::{BoundedSettings, BoundedSolve, Feasible, StepChange, bounded_weights};
pub use descriptor::{Compute, ComputedWeights, WeightDescriptor, WeightError, WeightInput};
pub use distance::by_distance;
pub use fields::{FieldSystem, GivenNodes};
pub use finish::{FinishReport, FinishSettings, Finished, MirrorFrom, finish};
pub use geodesic::{GeodesicField, GeodesicFormula, geodesic};
pub use harmonic::{HARMONIC_POWER, harmonic_weights, squared_harmonic};
pub use heat::{HeatSource, heat_equilibrium, limited};
pub use memo::Memo;
pub use refit::{RefitReport, refit_influences};
pub use registry::{UnknownWeights, WeightMethod, WeightRegisterError, register, registry};
pub use report::WeightReport;
pub use score::{ReferenceScore, score_against};
pub use simplex::{project_to_box, project_to_simplex};
pub use transfer::{JointMap, TransferSource, Transferred, transfer};

/// The built-in weight methods, the default first.
const BUILT_IN: [WeightMethod; 8] = [
    WeightMethod::FILE,
    WeightMethod::of(&biharmonic::DESCRIPTOR),
    WeightMethod::of(&biharmonic::BOUNDED),
    WeightMethod::of(&harmonic::DESCRIPTOR),
    WeightMethod::of(&geodesic::DESCRIPTOR),
    WeightMethod::of(&elastic::DESCRIPTOR),
    WeightMethod::of(&distance::DESCRIPTOR),
    WeightMethod::of(&heat::DESCRIPTOR),
];

/// The file's own weights.
const FILE: WeightDescriptor = WeightDescriptor {
    id: "file",
    label: "From the file",
    doc: "The weights in the file; biharmonic ones for meshes that have none there.",
    cost: "none",
    source: "",
    departures: &[],
    params: &[],
    version: 1,
    compute: None,
};

/// For every vertex a few joints and how much each moves it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SkinWeights {
    /// `offsets[v]..offsets[v + 1]` are the influences of vertex `v`; one longer than there are vertices.
    pub offsets: Vec<u32>,
    /// Joint of each influence.
    pub joints: Vec<u32>,
    /// Weight of each influence, positive, summing to 1 over a vertex.
    pub values: Vec<f32>,
}

impl SkinWeights {
    /// Takes lists of `(joint, weight)` per vertex. Influences that are not finite and positive are dropped, the others of a
    /// vertex made to sum to 1, largest first. Returns the weights and the vertices that were left with no influence at all.
    #[must_use]
    pub fn from_rows<I: IntoIterator<Item = (u32, f32)>>(
        rows: impl IntoIterator<Item = I>,
    ) -> (Self, Vec<usize>) {
        let mut weights = Self {
            offsets: vec![0],
            joints: Vec::new(),
            values: Vec::new(),
        };
        let mut empty = Vec::new();
        let mut merged: Vec<(u32, f32)> = Vec::new();
        for (vertex, row) in rows.into_iter().enumerate() {
            merged.clear();
            for (joint, value) in row {
                if value.is_finite() && value > 0.0 {
                    match merged.iter_mut().find(|(j, _)| *j == joint) {
                        Some((_, sum)) => *sum += value,
                        None => merged.push((joint, value)),
                    }
                }
            }
            merged.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let sum: f64 = merged.iter().map(|&(_, value)| f64::from(value)).sum();
            if merged.is_empty() {
                empty.push(vertex);
            }
            for &(joint, value) in &merged {
                weights.joints.push(joint);
                weights.values.push((f64::from(value) / sum) as f32);
            }
            weights
                .offsets
                .push(u32::try_from(weights.joints.len()).unwrap_or(u32::MAX));
        }
        (weights, empty)
    }

    /// The influences of a vertex, as [`SkinWeights::from_rows`] takes them.
    #[must_use]
    pub fn row(&self, vertex: usize) -> Vec<(u32, f32)> {
        self.of(vertex)
            .map(|(joint, value)| (joint as u32, value))
            .collect()
    }

    /// The weights of some of the vertices, in the order given.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn of_some(&self, vertices: &[u32]) -> Self {
        Self::from_rows(vertices.iter().map(|&vertex| self.row(vertex as usize))).0
    }

    /// Whether every vertex has an influence.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.offsets.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// How many vertices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no vertex.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The influences of a vertex, largest first.
    #[inline]
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.joints[range.clone()]
            .iter()
            .map(|&j| j as usize)
            .zip(self.values[range].iter().copied())
    }

    /// The part that the weights of two vertices have in common, from 0 to 1: Σ min(a, b) over the joints.
    #[must_use]
    pub fn overlap(&self, a: usize, b: usize) -> f32 {
        let of_b = |joint: usize| -> f32 {
            let own = self.of(b).filter(|&(other, _)| other == joint);
            own.map(|(_, weight)| weight).sum()
        };
        self.of(a)
            .map(|(joint, weight)| weight.min(of_b(joint)))
            .sum()
    }

    /// The joint with the largest weight, if the vertex has any.
    #[must_use]
    pub fn strongest(&self, vertex: usize) -> Option<usize> {
        self.of(vertex).next().map(|(joint, _)| joint)
    }
}
