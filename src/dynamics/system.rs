//! Assembly: masses, the constant matrix with its structure, and the elements in blocks for the local step.

use nalgebra::{Matrix3, Vector3};

use super::factor::FactorError;
use super::local::{Block, BlockWeights, Element};
use super::structure::{Part, Structure};
use super::{Materials, Params};
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
    /// Diagonal of Qᵀ V Q, for stiffness 1.
    pub(super) diagonal: Vec<f64>,
    /// Vertices that are no unknowns: they are where the anchors put them, behind the base vertices. Their rows of the matrix are
    /// diagonal.
    pub(super) carried: Vec<u32>,
    is_carried: Vec<bool>,
    /// Length of a world unit, m.
    metres_per_unit: f64,
    /// Length of a world unit in the paper's bookkeeping, whose characters are all [`PAPER_SIZE`] large.
    paper_units_per_unit: f64,
    /// Length of a world unit if the character were as large as a human, m.
    human_metres_per_unit: f64,
}

/// What the matrix needs of a prism.
struct Prism {
    corners: [u32; 3],
    /// Usable volume of each tet, world units³.
    volume: [f64; 3],
    /// `Σ V gₐ·g_b` over the tets, for the pairs of skin corners 00 11 22 01 02 12.
    stiffness: [f64; 6],
    /// Where these are stored in the matrix.
    entries: [u32; 6],
}

/// How much stiffer than others a carried vertex is to what touches it.
const HARD: f64 = 1e5;

/// Corners of the six entries of a prism.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// Size of the demo characters of FPS (cylinder 14.5, tbone 20.7, armadillo 22.8 units): its numbers mean nothing at another.
const PAPER_SIZE: f64 = 20.0;

/// Mean distance from the skin of a human of 1.7 m to the bone lines, m.
const HUMAN_LIMB_RADIUS_M: f64 = 0.08;

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
            prisms.push(Prism { corners: element.corners, volume: element.volume, stiffness, entries });
        }
        let mut sorted: Vec<f64> = diagonal.iter().copied().filter(|&d| d > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        let mut is_carried = vec![false; vertices];
        for &vertex in &tissue.carried {
            is_carried[vertex as usize] = true;
            diagonal[vertex as usize] = typical;
        }
        Ok(Self {
            total_volume: volume.iter().sum(),
            volume,
            structure,
            prisms,
            diagonal,
            carried: tissue.carried.clone(),
            is_carried,
            metres_per_unit,
            paper_units_per_unit: PAPER_SIZE / size.max(f64::MIN_POSITIVE),
            human_metres_per_unit: HUMAN_LIMB_RADIUS_M / tissue.quality.limb_radius.max(f64::MIN_POSITIVE),
        })
    }

    /// How many unknown vertices there are.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.volume.len()
    }

    /// How much larger than a human of 1.7 m the character is, by the radius of its limbs.
    #[must_use]
    pub fn size_over_human(&self) -> f64 {
        self.metres_per_unit / self.human_metres_per_unit
    }

    /// Metres per world unit if the character were as large as a human.
    pub(super) fn human_unit(&self) -> f64 {
        self.human_metres_per_unit
    }

    /// Metres per world unit under the bookkeeping of the parameters.
    pub(super) fn unit(&self, params: &Params) -> f64 {
        match params.paper {
            Some(_) => self.paper_units_per_unit,
            None if params.human_sized => self.human_metres_per_unit,
            None => self.metres_per_unit,
        }
    }

    /// What a unit of stiffness is multiplied by: with lengths in world units of s metres, k V s³ Qᵀ Q / s² = (k s) V Qᵀ Q.
    pub(super) fn stiffness_scale(&self, params: &Params) -> f64 {
        params.stiffness_pa * self.unit(params)
    }

    /// Mass per world unit³, kg.
    pub(super) fn density(&self, params: &Params) -> f64 {
        match params.paper {
            Some(paper) => paper.total_mass_kg / self.total_volume.max(f64::MIN_POSITIVE),
            None => params.density_kg_m3 * self.unit(params).powi(3),
        }
    }

    /// Inertial mass of a vertex, kg: see [`Materials`]. At least a millionth of the mean so that nothing is weightless.
    pub(super) fn inertial_mass(&self, vertex: usize, params: &Params, materials: &Materials) -> f64 {
        let least = 1e-6 * self.total_volume / self.volume.len().max(1) as f64;
        let mass = self.density(params) * self.volume[vertex].max(least) * f64::from(materials.density[vertex]);
        mass * materials.inertia(vertex, params)
    }

    /// Values of M/h² + k Qᵀ V Q, in the order of the structure's pattern.
    pub(super) fn matrix(&self, params: &Params, materials: &Materials, step_secs: f64) -> Vec<f64> {
        let pattern = &self.structure.pattern;
        let mut values = vec![0.0; pattern.rows.len()];
        // Volume is held against the same gradients as shape.
        let scale = self.stiffness_scale(params) * (1.0 + params.volume);
        for prism in &self.prisms {
            let scale = scale * materials.prism_stiffness(prism.corners);
            for ((&entry, stiffness), [a, b]) in prism.entries.iter().zip(prism.stiffness).zip(PAIRS) {
                if [a, b].iter().all(|&k| !self.is_carried[prism.corners[k] as usize]) {
                    values[entry as usize] += scale * stiffness;
                }
            }
        }
        for vertex in 0..self.volume.len() {
            // The diagonal is the first entry of its column.
            let value = &mut values[pattern.column_starts[vertex] as usize];
            *value += self.inertial_mass(vertex, params, materials) / (step_secs * step_secs);
            if self.is_carried[vertex] {
                *value += HARD * scale * self.diagonal[vertex];
            }
        }
        values
    }

    /// Skin vertices of a prism.
    pub(super) fn corners(&self, prism: u32) -> [u32; 3] {
        self.prisms[prism as usize].corners
    }

    /// Stiffness times volume of the tets of a prism.
    pub(super) fn prism_weights(&self, prism: u32, params: &Params, materials: &Materials) -> [f64; 3] {
        let prism = &self.prisms[prism as usize];
        let scale = self.stiffness_scale(params) * materials.prism_stiffness(prism.corners);
        prism.volume.map(|volume| volume * scale)
    }

    /// Stiffness times volume of all tets of a part.
    pub(super) fn weights(&self, part: &Part, params: &Params, materials: &Materials) -> Vec<BlockWeights> {
        let of_prism = |&element: &u32| self.prism_weights(element, params, materials);
        part.elements.chunks(super::lanes::LANES).map(|block| Block::weights(block.iter().map(of_prism))).collect()
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

/// `Σ V gₐ·g_b` with ∂F/∂xₐ = gₐ, for the pairs of [`PAIRS`].
fn element_stiffness(element: &Element) -> [f64; 6] {
    let mut sums = [0.0; 6];
    for tet in 0..3 {
        let inverse = &element.rest_inverse[tet];
        let row = |k: usize| inverse.row(k).transpose();
        // Of the four points of the tet, chain entries tet … tet + 3, those on the skin.
        let mut gradients = [Vector3::zeros(); 3];
        gradients[tet] = -row(0);
        for (k, gradient) in gradients[tet + 1..].iter_mut().enumerate() {
            *gradient = row(k) - row(k + 1);
        }
        for (sum, [a, b]) in sums.iter_mut().zip(PAIRS) {
            *sum += element.volume[tet] * gradients[a].dot(&gradients[b]);
        }
    }
    sums
}
