//! Assembly: masses, the constant matrix with its structure, and the elements in blocks for the local step.

use nalgebra::{Matrix3, Vector3};

use super::Params;
use super::factor::FactorError;
use super::local::{Block, BlockWeights, Element};
use super::structure::{Part, Structure};
use crate::tissue::Tissue;

/// Everything of a tissue that the solver needs; independent of parameters and pose.
pub struct System {
    /// Volume lumped to every skin vertex, world units³.
    pub(super) volume: Vec<f64>,
    /// Volume of all tets, world units³.
    pub(super) total_volume: f64,
    /// Who owns what.
    pub(super) structure: Structure,
    prisms: Vec<Prism>,
    /// Vertices that no tet holds: they are tied to the place that the anchors give them, behind the base vertices.
    pub(super) loose: Vec<u32>,
    /// Strength of a tie, for stiffness 1.
    pub(super) tie: f64,
    /// Length of a world unit, m.
    metres_per_unit: f64,
    /// Length of a world unit in the paper's bookkeeping, whose characters are all [`PAPER_SIZE`] large.
    paper_units_per_unit: f64,
}

/// What the matrix needs of a prism.
struct Prism {
    /// Usable volume of each tet, world units³.
    volume: [f64; 3],
    /// Σ V gₐ·g_b over the tets, for the pairs of skin corners 00 11 22 01 02 12.
    stiffness: [f64; 6],
    /// Where these are stored in the matrix.
    entries: [u32; 6],
}

/// Corners of the six entries of a prism.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// Size of the demo characters of FPS (cylinder 14.5, tbone 20.7, armadillo 22.8 units): its numbers mean nothing at another.
const PAPER_SIZE: f64 = 20.0;

impl System {
    /// Assembles a tissue of a character of the given size (diagonal, world units).
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the system can't be analysed.
    pub fn assemble(tissue: &Tissue, size: f64, metres_per_unit: f64) -> Result<Self, FactorError> {
        let vertices = tissue.base.len();
        let mut volume = vec![0.0; vertices];
        for prism in &tissue.prisms.prisms {
            for tet in 0..3 {
                // The tet's share goes to all of its four vertices; the base's part is carried by the bones.
                for &corner in &prism.corners[tet..] {
                    volume[corner as usize] += prism.volumes[tet] / 4.0;
                }
            }
        }
        let elements: Vec<Element> = tissue.prisms.prisms.iter().map(element).collect();
        let structure = Structure::analyse(&elements, vertices)?;
        let mut diagonal = vec![0.0; vertices];
        let mut prisms = Vec::with_capacity(elements.len());
        for element in &elements {
            let stiffness = element_stiffness(element);
            let mut entries = [0; 6];
            for (entry, [a, b]) in entries.iter_mut().zip(PAIRS) {
                *entry = structure.pattern.entry(element.corners[a], element.corners[b]).unwrap_or_default() as u32;
            }
            for k in 0..3 {
                diagonal[element.corners[k] as usize] += stiffness[k];
            }
            prisms.push(Prism { volume: element.volume, stiffness, entries });
        }
        let mut sorted: Vec<f64> = diagonal.iter().copied().filter(|&d| d > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        Ok(Self {
            total_volume: volume.iter().sum(),
            volume,
            structure,
            prisms,
            loose: tissue.loose.clone(),
            tie: typical,
            metres_per_unit,
            paper_units_per_unit: PAPER_SIZE / size.max(f64::MIN_POSITIVE),
        })
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

    /// Values of M/h² + k Qᵀ V Q, in the order of the structure's pattern.
    pub(super) fn matrix(&self, params: &Params, step_secs: f64) -> Vec<f64> {
        let pattern = &self.structure.pattern;
        let mut values = vec![0.0; pattern.rows.len()];
        let scale = self.stiffness_scale(params);
        for prism in &self.prisms {
            for (&entry, stiffness) in prism.entries.iter().zip(prism.stiffness) {
                values[entry as usize] += scale * stiffness;
            }
        }
        for &vertex in &self.loose {
            values[pattern.column_starts[vertex as usize] as usize] += scale * self.tie;
        }
        for (vertex, mass) in self.masses(params).into_iter().enumerate() {
            // The diagonal is the first entry of its column.
            values[pattern.column_starts[vertex] as usize] += mass / (step_secs * step_secs);
        }
        values
    }

    /// Stiffness times volume of all tets of a part.
    pub(super) fn weights(&self, part: &Part, params: &Params) -> Vec<BlockWeights> {
        let scale = self.stiffness_scale(params);
        let weights = |block: &[u32]| Block::weights(block.iter().map(|&e| self.prisms[e as usize].volume.map(|v| v * scale)));
        part.elements.chunks(super::lanes::LANES).map(weights).collect()
    }
}

/// A prism for the solver: edges along the chain instead of from a tet's first vertex.
fn element(prism: &crate::tissue::Prism) -> Element {
    let mut element = Element { corners: prism.corners, rest_inverse: [Matrix3::zeros(); 3], volume: [0.0; 3] };
    // Edges from the first vertex are sums of edges along the chain.
    let sums = Matrix3::new(1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0);
    for tet in 0..3 {
        if let Some(inverse) = prism.rest_inverse[tet] {
            element.rest_inverse[tet] = sums * inverse;
            element.volume[tet] = prism.volumes[tet];
        }
    }
    element
}

/// Σ V gₐ·g_b with ∂F/∂xₐ = gₐ, for the pairs of [`PAIRS`].
fn element_stiffness(element: &Element) -> [f64; 6] {
    let mut sums = [0.0; 6];
    for tet in 0..3 {
        let inverse = &element.rest_inverse[tet];
        let row = |k: usize| inverse.row(k).transpose();
        // Of the four points of the tet, chain entries tet … tet + 3, those on the skin.
        let mut gradients = [Vector3::zeros(); 3];
        gradients[tet] = -row(0);
        for corner in tet + 1..3 {
            gradients[corner] = row(corner - tet - 1) - row(corner - tet);
        }
        for (sum, [a, b]) in sums.iter_mut().zip(PAIRS) {
            *sum += element.volume[tet] * gradients[a].dot(&gradients[b]);
        }
    }
    sums
}
