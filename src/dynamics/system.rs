//! Assembly: masses, the constant matrix, and the elements in blocks for the local step.

use nalgebra::Matrix3;
use nalgebra_sparse::{CooMatrix, CscMatrix};

use super::Params;
use super::local::{Blocks, Element};
use crate::tissue::Tissue;

/// Everything of a tissue that the solver needs; independent of parameters and pose.
pub struct System {
    /// Volume lumped to every skin vertex, world units³.
    pub(super) volume: Vec<f64>,
    /// Volume of all tets, world units³.
    pub(super) total_volume: f64,
    /// Lower triangle of Qᵀ V Q (stiffness 1), with every diagonal entry present.
    pub(super) stiffness: CscMatrix<f64>,
    /// Elements in blocks.
    pub(super) blocks: Blocks,
    /// Vertices that no tet holds: they are tied to the place that the anchors give them, behind the base vertices.
    pub(super) loose: Vec<u32>,
    /// Strength of a tie, for stiffness 1.
    pub(super) tie: f64,
    /// Length of a world unit, m.
    metres_per_unit: f64,
    /// Length of a world unit in the paper's bookkeeping, whose characters are all [`PAPER_SIZE`] large.
    paper_units_per_unit: f64,
}

/// Size of the demo characters of FPS (cylinder 14.5, tbone 20.7, armadillo 22.8 units): its numbers mean nothing at another.
const PAPER_SIZE: f64 = 20.0;

impl System {
    /// Assembles a tissue of a character of the given size (diagonal, world units).
    #[must_use]
    pub fn assemble(tissue: &Tissue, size: f64, metres_per_unit: f64) -> Self {
        let vertices = tissue.base.len();
        let mut volume = vec![0.0; vertices];
        let mut coo = CooMatrix::new(vertices, vertices);
        let mut diagonal = vec![0.0; vertices];
        let mut elements = Vec::with_capacity(tissue.prisms.prisms.len());
        for prism in &tissue.prisms.prisms {
            let corners = prism.corners.map(|v| v as usize);
            let mut element = Element { corners: prism.corners, rest_inverse: [Matrix3::zeros(); 3], weight: [0.0; 3] };
            for tet in 0..3 {
                // The tet's share goes to all of its four vertices; the base's part is carried by the bones.
                for &corner in &corners[tet..] {
                    volume[corner] += prism.volumes[tet] / 4.0;
                }
                let Some(inverse) = prism.rest_inverse[tet] else { continue };
                element.rest_inverse[tet] = inverse;
                element.weight[tet] = prism.volumes[tet];
                let gradients = gradients(&inverse);
                // Skin vertices of the tet: chain entries tet..3.
                for (a, &row) in corners.iter().enumerate().skip(tet) {
                    for (b, &column) in corners.iter().enumerate().skip(tet) {
                        if row > column {
                            coo.push(row, column, prism.volumes[tet] * gradients[a - tet].dot(&gradients[b - tet]));
                        } else if row == column {
                            diagonal[row] += prism.volumes[tet] * gradients[a - tet].norm_squared();
                        }
                    }
                }
            }
            elements.push(element);
        }
        let mut sorted: Vec<f64> = diagonal.iter().copied().filter(|&d| d > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        for &vertex in &tissue.loose {
            diagonal[vertex as usize] += typical;
        }
        for (vertex, &entry) in diagonal.iter().enumerate() {
            coo.push(vertex, vertex, entry);
        }
        let total_volume = volume.iter().sum();
        let paper_units_per_unit = PAPER_SIZE / size.max(f64::MIN_POSITIVE);
        let blocks = Blocks::pack(&elements, vertices);
        Self {
            volume,
            total_volume,
            stiffness: CscMatrix::from(&coo),
            blocks,
            loose: tissue.loose.clone(),
            tie: typical,
            metres_per_unit,
            paper_units_per_unit,
        }
    }

    /// How many unknown vertices there are.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.volume.len()
    }

    /// Metres per world unit under the bookkeeping of the parameters.
    pub(super) fn unit(&self, params: &Params) -> f64 {
        if params.paper.is_some() { self.paper_units_per_unit } else { self.metres_per_unit }
    }

    /// What a unit of stiffness is multiplied by: with lengths in world units of s metres, k V s³ Qᵀ Q / s² = (k s) V Qᵀ Q.
    pub(super) fn stiffness_scale(&self, params: &Params) -> f64 {
        params.stiffness_pa * self.unit(params)
    }

    /// Mass of every vertex, kg; at least a millionth of the mean so that nothing is weightless.
    pub(super) fn masses(&self, params: &Params) -> Vec<f64> {
        let density = match params.paper {
            Some(paper) => paper.total_mass_kg / self.total_volume.max(f64::MIN_POSITIVE),
            None => params.density_kg_m3 * self.unit(params).powi(3),
        };
        let least = 1e-6 * self.total_volume / self.volume.len().max(1) as f64;
        self.volume.iter().map(|v| density * v.max(least)).collect()
    }

    /// Lower triangle of M/h² + k Qᵀ V Q.
    pub(super) fn matrix(&self, params: &Params, step_secs: f64) -> CscMatrix<f64> {
        let mut matrix = self.stiffness.clone();
        let scale = self.stiffness_scale(params);
        let masses = self.masses(params);
        for (row, column, value) in matrix.triplet_iter_mut() {
            *value *= scale;
            if row == column {
                *value += masses[row] / (step_secs * step_secs);
            }
        }
        matrix
    }
}

/// ∂F/∂x of the four vertices of a tet: F = Σ xₐ gₐᵀ.
fn gradients(rest_inverse: &Matrix3<f64>) -> [nalgebra::Vector3<f64>; 4] {
    let g: [nalgebra::Vector3<f64>; 3] = std::array::from_fn(|k| rest_inverse.row(k).transpose());
    [-(g[0] + g[1] + g[2]), g[0], g[1], g[2]]
}
