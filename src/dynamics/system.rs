//! Assembly: masses, the constant matrix, and the elements in blocks for the local step.

use nalgebra::Matrix3;
use nalgebra_sparse::{CooMatrix, CscMatrix};

use super::local::{Blocks, Element};
use super::{Materials, Params};
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
    /// Vertices that are no unknowns: they are where the anchors put them, behind the base vertices. Their rows of the matrix are
    /// diagonal.
    pub(super) carried: Vec<u32>,
    /// Factors on the parameters.
    pub(super) materials: Materials,
    /// The elements as packed, with stiffness 1.
    elements: Vec<Element>,
    /// Length of a world unit, m.
    metres_per_unit: f64,
    /// Length of a world unit in the paper's bookkeeping, whose characters are all [`PAPER_SIZE`] large.
    paper_units_per_unit: f64,
    /// Length of a world unit if the character were as large as a human, m.
    human_metres_per_unit: f64,
}

/// Size of the demo characters of FPS (cylinder 14.5, tbone 20.7, armadillo 22.8 units): its numbers mean nothing at another.
const PAPER_SIZE: f64 = 20.0;

/// Mean distance from the skin of a human of 1.7 m to the bone lines, m.
const HUMAN_LIMB_RADIUS_M: f64 = 0.08;

impl System {
    /// Assembles a tissue of a character of the given size (diagonal, world units).
    #[must_use]
    pub fn assemble(tissue: &Tissue, size: f64, metres_per_unit: f64) -> Self {
        let vertices = tissue.base.len();
        let mut volume = vec![0.0; vertices];
        let mut elements = Vec::with_capacity(tissue.prisms.prisms.len());
        for prism in &tissue.prisms.prisms {
            let mut element = Element { corners: prism.corners, rest_inverse: [Matrix3::zeros(); 3], weight: [0.0; 3] };
            for tet in 0..3 {
                // The tet's share goes to all of its four vertices; the base's part is carried by the bones.
                for &corner in &prism.corners[tet..] {
                    volume[corner as usize] += prism.volumes[tet] / 4.0;
                }
                let Some(inverse) = prism.rest_inverse[tet] else { continue };
                element.rest_inverse[tet] = inverse;
                element.weight[tet] = prism.volumes[tet];
            }
            elements.push(element);
        }
        Self {
            total_volume: volume.iter().sum(),
            volume,
            stiffness: stiffness(&elements, vertices, &tissue.carried),
            blocks: Blocks::pack(&elements, vertices),
            carried: tissue.carried.clone(),
            materials: Materials::uniform(vertices),
            elements,
            metres_per_unit,
            paper_units_per_unit: PAPER_SIZE / size.max(f64::MIN_POSITIVE),
            human_metres_per_unit: HUMAN_LIMB_RADIUS_M / tissue.quality.limb_radius.max(f64::MIN_POSITIVE),
        }
    }

    /// The same tissue made of other materials.
    #[must_use]
    pub fn with_materials(&self, materials: &Materials) -> Self {
        let materials = materials.sanitized(self.unknowns());
        let mut elements = self.elements.clone();
        for element in &mut elements {
            let factor = materials.prism_stiffness(element.corners);
            element.weight = element.weight.map(|weight| weight * factor);
        }
        Self {
            volume: self.volume.clone(),
            total_volume: self.total_volume,
            stiffness: stiffness(&elements, self.unknowns(), &self.carried),
            blocks: Blocks::pack(&elements, self.unknowns()),
            carried: self.carried.clone(),
            materials,
            elements: self.elements.clone(),
            ..*self
        }
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

    /// Mass of every vertex, kg; at least a millionth of the mean so that nothing is weightless.
    pub(super) fn masses(&self, params: &Params) -> Vec<f64> {
        let density = self.density(params);
        let least = 1e-6 * self.total_volume / self.volume.len().max(1) as f64;
        self.volume.iter().zip(&self.materials.density).map(|(v, &factor)| density * v.max(least) * f64::from(factor)).collect()
    }

    /// Inertial mass of every vertex, kg: see [`Materials`].
    pub(super) fn inertial_masses(&self, params: &Params) -> Vec<f64> {
        self.masses(params).iter().enumerate().map(|(vertex, mass)| mass * self.materials.inertia(vertex, params)).collect()
    }

    /// Lower triangle of M/h² + k Qᵀ V Q.
    pub(super) fn matrix(&self, params: &Params, step_secs: f64) -> CscMatrix<f64> {
        let mut matrix = self.stiffness.clone();
        let scale = self.stiffness_scale(params);
        let masses = self.inertial_masses(params);
        for (row, column, value) in matrix.triplet_iter_mut() {
            *value *= scale;
            if row == column {
                *value += masses[row] / (step_secs * step_secs);
            }
        }
        matrix
    }
}

/// Lower triangle of Qᵀ V Q. Vertices that are carried have diagonal rows, as heavy as is usual.
fn stiffness(elements: &[Element], vertices: usize, carried: &[u32]) -> CscMatrix<f64> {
    let mut is_carried = vec![false; vertices];
    for &vertex in carried {
        is_carried[vertex as usize] = true;
    }
    let mut coo = CooMatrix::new(vertices, vertices);
    let mut diagonal = vec![0.0; vertices];
    for element in elements {
        let corners = element.corners.map(|v| v as usize);
        for tet in (0..3).filter(|&tet| element.weight[tet] > 0.0) {
            let gradients = gradients(&element.rest_inverse[tet]);
            // Skin vertices of the tet: chain entries tet..3.
            for (a, &row) in corners.iter().enumerate().skip(tet) {
                for (b, &column) in corners.iter().enumerate().skip(tet) {
                    if row == column {
                        diagonal[row] += element.weight[tet] * gradients[a - tet].norm_squared();
                    } else if row > column && !is_carried[row] && !is_carried[column] {
                        coo.push(row, column, element.weight[tet] * gradients[a - tet].dot(&gradients[b - tet]));
                    }
                }
            }
        }
    }
    let mut sorted: Vec<f64> = diagonal.iter().copied().filter(|&d| d > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
    for (vertex, &entry) in diagonal.iter().enumerate() {
        coo.push(vertex, vertex, if is_carried[vertex] { typical } else { entry });
    }
    CscMatrix::from(&coo)
}

/// ∂F/∂x of the four vertices of a tet: F = Σ xₐ gₐᵀ.
fn gradients(rest_inverse: &Matrix3<f64>) -> [nalgebra::Vector3<f64>; 4] {
    let g: [nalgebra::Vector3<f64>; 3] = std::array::from_fn(|k| rest_inverse.row(k).transpose());
    [-(g[0] + g[1] + g[2]), g[0], g[1], g[2]]
}
