//! Assembly of the guidance matrix, and its weights for given parameters and materials.

use super::guidance::{Guidance, pairs};
use super::system::System;
use super::{Materials, Params};
use crate::numerics::polar::Inverted;

impl System {
    /// What inverted tets are projected to: guided flesh does not pop where their closest rotation jumps; unguided flesh is that of the
    /// paper.
    pub(super) fn inverted(&self) -> Inverted {
        if self.guidance.is_some() {
            Inverted::Softened
        } else {
            Inverted::Rotated
        }
    }

    /// Bending stiffness k/A of the skin per vertex: the factor of ‖(L x)ᵢ‖².
    pub(super) fn bending_weights(
        &self,
        guidance: &Guidance,
        params: &Params,
        materials: &Materials,
    ) -> Vec<f64> {
        let bending = &guidance.bending;
        let scale = self.stiffness_scale(params) * params.bending * bending.stiffness;
        let of = |(vertex, area): (usize, &f64)| scale * materials.bending(vertex) / area;
        bending.areas.iter().enumerate().map(of).collect()
    }

    /// μ w per element (chain), with more guidance where it is held.
    pub(super) fn guidance_weights(&self, params: &Params, materials: &Materials) -> Vec<f64> {
        let scale = self.stiffness_scale(params);
        let chains = self.chains.chains.iter();
        chains
            .map(|chain| {
                let cell = self.chains.cells.get(chain.cell as usize);
                let guidance = materials.cell_guidance(cell, params.guidance);
                scale * guidance * materials.cell_stiffness(cell)
            })
            .collect()
    }

    /// Values of Q in the order of the partition's pattern; `None` without guidance.
    pub(super) fn guidance_matrix(
        &self,
        params: &Params,
        materials: &Materials,
    ) -> Option<Vec<f64>> {
        let guidance = self.guidance.as_ref()?;
        let mut values = vec![0.0; self.partition.pattern.rows.len()];
        let weights = self.guidance_weights(params, materials);
        self.add_couplings_to(&mut values, |chain| weights[chain]);
        let weights = self.bending_weights(guidance, params, materials);
        for (vertex, weight) in weights.into_iter().enumerate() {
            let entries =
                &guidance.entries[guidance.entry_starts[vertex]..guidance.entry_starts[vertex + 1]];
            for ([(_, a), (_, b)], &entry) in pairs(&guidance.bending, vertex).zip(entries) {
                values[entry as usize] += weight * a * b;
            }
        }
        Some(values)
    }
}
