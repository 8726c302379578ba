//! Assembly: masses, the constant matrix and its structure, and the elements in blocks for the local step.

use super::blocks::SubdomainBlocks;
use super::chain::{Chain, Chains, TETS};
use super::guidance::{Guidance, stars};
use super::local::{Block, BlockWeights};
use super::{Materials, Params};
use crate::mesh::Bending;
use crate::numerics::FactorError;
use crate::numerics::lanes::LANES;
use crate::numerics::partition::{Partition, Subdomain};
use crate::numerics::pattern::Cliques;
use crate::tissue::{Layer, Tissue};

/// The assembled equations of a tissue; independent of parameters and pose.
pub struct System {
    /// Lumped volume of each unknown, world units³.
    pub(super) volume: Vec<f64>,
    /// Sum of the lumped volumes, world units³.
    pub(super) total_volume: f64,
    /// Distribution of the unknowns to subdomains.
    pub(super) partition: Partition,
    /// Elements of each subdomain.
    pub(super) blocks: Vec<SubdomainBlocks>,
    pub(super) chains: Chains,
    /// Energies with prescribed rotations; `None` if the flesh is not guided.
    pub(super) guidance: Option<Guidance>,
    /// Contributions of the chains to the matrix, chain by chain.
    couplings: Vec<Coupling>,
    /// Start of each chain's couplings, followed by their total number.
    coupling_starts: Vec<usize>,
    /// Diagonal of Qᵀ V Q, for stiffness 1.
    pub(super) diagonal: Vec<f64>,
    /// Per unknown, the prescribed point that it moves with; see [`Tissue::references`].
    pub(super) references: Vec<u32>,
    /// Unknowns that are not simulated, each with the prescribed point that it is placed at. Their matrix rows are diagonal.
    pub(super) carried: Vec<[u32; 2]>,
    is_carried: Vec<bool>,
    /// Number of prescribed points: those of the tets, and the positions of carried unknowns.
    pub(super) prescribed: usize,
    /// Length of a world unit, m.
    metres_per_unit: f64,
    /// Length of a world unit in the paper's units, in which all characters have the size [`PAPER_SIZE`].
    paper_units_per_unit: f64,
    /// Length of a world unit if the character had the size of a human, m.
    human_metres_per_unit: f64,
}

/// Input of the assembly: tets with unknown and prescribed corners.
#[derive(Debug, Clone, Copy)]
pub struct TetModel<'a> {
    /// The tets. Indices of unknown corners are less than the length of `references`, those of prescribed corners less than
    /// `prescribed`.
    pub layers: &'a [Layer],
    /// Per unknown, the prescribed point that it moves with; see [`Tissue::references`].
    pub references: &'a [u32],
    /// Number of prescribed points.
    pub prescribed: usize,
    /// Unknowns that are not simulated, each with the prescribed point that it is placed at.
    pub carried: &'a [[u32; 2]],
    /// Mean depth of the flesh, world units: the length that parameters for a human are scaled by.
    pub limb_radius: f64,
    /// Bending of the skin, one row per unknown. With it the unknowns have guidance targets ([`super::Target`]).
    pub bending: Option<&'a Bending>,
}

/// Contribution of a chain to a matrix entry.
struct Coupling {
    unknowns: [u32; 2],
    /// `Σ V gₐ·g_b` over the tets.
    stiffness: f64,
    /// Index of the matrix entry.
    entry: u32,
}

/// Stiffness of carried vertices relative to others, so that contacts hardly move them.
const CARRIED_STIFFNESS: f64 = 1e5;

/// Size of the FPS demo characters (cylinder 14.5, tbone 20.7, armadillo 22.8 units). The paper's parameters are valid only at this
/// size.
const PAPER_SIZE: f64 = 20.0;

/// Mean distance from the skin to the bone lines of a human of 1.7 m, m.
const HUMAN_LIMB_RADIUS_M: f64 = 0.08;

impl System {
    /// Assembles the tissue of a character of the given size (bounding box diagonal, world units).
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the symbolic analysis fails.
    pub fn assemble(tissue: &Tissue, size: f64, metres_per_unit: f64) -> Result<Self, FactorError> {
        let carried = tissue.carried.iter().enumerate();
        let carried: Vec<[u32; 2]> = carried
            .map(|(k, &unknown)| [unknown, tissue.carried_place(k)])
            .collect();
        let model = TetModel {
            layers: &tissue.layers,
            references: &tissue.references,
            prescribed: tissue.anchors.len(),
            carried: &carried,
            limb_radius: tissue.quality.limb_radius,
            bending: tissue
                .bending
                .as_ref()
                .filter(|_| tissue.interior.is_empty()),
        };
        Self::of_tets(&model, size, metres_per_unit)
    }

    /// Assembles any tets of a body of the given size (bounding box diagonal, world units).
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the symbolic analysis fails.
    pub fn of_tets(
        model: &TetModel<'_>,
        size: f64,
        metres_per_unit: f64,
    ) -> Result<Self, FactorError> {
        let unknowns = model.references.len();
        let mut volume = vec![0.0; unknowns];
        for tet in model.layers.iter().flat_map(|layer| &layer.tets) {
            // Each of the four corners gets a quarter of the volume; the share of prescribed corners is dropped.
            for unknown in tet.corners.iter().filter_map(|corner| corner.as_unknown()) {
                volume[unknown as usize] += tet.volume / 4.0;
            }
        }
        let chains = Chains::of(model.layers);
        let bending = model.bending.filter(|bending| bending.len() == unknowns);
        // Cliques: the chains, then the vertex stars of bending.
        let stars = bending.map(stars).unwrap_or_default();
        let of_chains = chains.cliques();
        let cliques = Cliques::of(of_chains.iter().chain(stars.iter().map(|star| &star[..])));
        let slots_behind = |own: &[u32]| SubdomainBlocks::prescribed_of(&chains.chains, own).len();
        let mut partition = Partition::analyse(&cliques, unknowns, &slots_behind)?;
        for subdomain in &mut partition.subdomains {
            subdomain
                .cliques
                .retain(|&clique| (clique as usize) < chains.chains.len());
        }
        let blocks = (0..partition.subdomains.len())
            .map(|index| SubdomainBlocks::pack(&partition, index, &chains.chains))
            .collect();
        let mut diagonal = vec![0.0; unknowns];
        let (mut couplings, mut coupling_starts) = (Vec::new(), vec![0]);
        for chain in &chains.chains {
            add_couplings(chain, &partition, &mut couplings);
            for coupling in &couplings[coupling_starts[coupling_starts.len() - 1]..] {
                let [a, b] = coupling.unknowns;
                if a == b {
                    diagonal[a as usize] += coupling.stiffness;
                }
            }
            coupling_starts.push(couplings.len());
        }
        let mut sorted: Vec<f64> = diagonal.iter().copied().filter(|&d| d > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        let mut is_carried = vec![false; unknowns];
        for &[unknown, _] in model.carried {
            is_carried[unknown as usize] = true;
            diagonal[unknown as usize] = typical;
        }
        Ok(Self {
            total_volume: volume.iter().sum(),
            volume,
            guidance: bending.map(|bending| Guidance::of(bending, &partition)),
            chains,
            partition,
            blocks,
            couplings,
            coupling_starts,
            diagonal,
            references: model.references.to_vec(),
            carried: model.carried.to_vec(),
            prescribed: model.prescribed,
            is_carried,
            metres_per_unit,
            paper_units_per_unit: PAPER_SIZE / size.max(f64::MIN_POSITIVE),
            human_metres_per_unit: HUMAN_LIMB_RADIUS_M / model.limb_radius.max(f64::MIN_POSITIVE),
        })
    }

    /// Number of unknowns.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.volume.len()
    }

    /// Ratio of the character's size to that of a human of 1.7 m, by the radius of the limbs.
    #[must_use]
    pub fn size_over_human(&self) -> f64 {
        self.metres_per_unit / self.human_metres_per_unit
    }

    /// Length of a world unit if the character had the size of a human, m.
    pub(super) fn human_unit(&self) -> f64 {
        self.human_metres_per_unit
    }

    /// Length of a world unit that the parameters select (actual size, human size, or the paper's units), m.
    pub(crate) fn unit(&self, params: &Params) -> f64 {
        match params.paper {
            Some(_) => self.paper_units_per_unit,
            None if params.human_sized => self.human_metres_per_unit,
            None => self.metres_per_unit,
        }
    }

    /// Factor on stiffness. With lengths in world units of s metres: k V s³ Qᵀ Q / s² = (k s) V Qᵀ Q.
    pub(crate) fn stiffness_scale(&self, params: &Params) -> f64 {
        params.stiffness_pa * self.unit(params)
    }

    /// Mass per world unit³, kg.
    pub(super) fn density(&self, params: &Params) -> f64 {
        match params.paper {
            Some(paper) => paper.total_mass_kg / self.total_volume.max(f64::MIN_POSITIVE),
            None => params.density_kg_m3 * self.unit(params).powi(3),
        }
    }

    /// Inertial mass of an unknown, kg, see [`Materials`]. It is at least a millionth of the mean, so that the matrix stays
    /// regular.
    pub(crate) fn inertial_mass(
        &self,
        vertex: usize,
        params: &Params,
        materials: &Materials,
    ) -> f64 {
        let least = 1e-6 * self.total_volume / self.volume.len().max(1) as f64;
        let mass = self.density(params)
            * self.volume[vertex].max(least)
            * f64::from(materials.density[vertex]);
        mass * materials.inertia(vertex, params)
    }

    /// Values of M/h² + k Qᵀ V Q, in the order of the partition's pattern.
    pub(super) fn matrix(
        &self,
        params: &Params,
        materials: &Materials,
        step_secs: f64,
    ) -> Vec<f64> {
        let pattern = &self.partition.pattern;
        let mut values = vec![0.0; pattern.rows.len()];
        // The projection to constant volume uses the same gradients as that to rotations.
        let scale = self.stiffness_scale(params) * (1.0 + params.volume);
        self.add_couplings_to(&mut values, |chain| {
            let cell = self.chains.chains[chain].cell as usize;
            scale * materials.cell_stiffness(self.chains.cells.get(cell))
        });
        if let Some(guidance) = self.guidance_matrix(params, materials) {
            for (value, guidance) in values.iter_mut().zip(guidance) {
                *value += guidance;
            }
        }
        self.uncouple_carried(&mut values);
        for vertex in 0..self.volume.len() {
            // The diagonal is the first entry of its column.
            let value = &mut values[pattern.column(vertex).start];
            *value += self.inertial_mass(vertex, params, materials) / (step_secs * step_secs);
            if self.is_carried[vertex] {
                *value += CARRIED_STIFFNESS * scale * self.diagonal[vertex];
            }
        }
        values
    }

    /// Adds the stiffness of every chain, scaled by `factor(chain)`, to values in the order of the pattern.
    pub(super) fn add_couplings_to(&self, values: &mut [f64], factor: impl Fn(usize) -> f64) {
        for (chain, range) in self.coupling_starts.windows(2).enumerate() {
            let factor = factor(chain);
            for coupling in &self.couplings[range[0]..range[1]] {
                values[coupling.entry as usize] += factor * coupling.stiffness;
            }
        }
    }

    /// Clears the rows and columns of carried unknowns.
    fn uncouple_carried(&self, values: &mut [f64]) {
        if self.carried.is_empty() {
            return;
        }
        let pattern = &self.partition.pattern;
        for column in 0..self.unknowns() {
            for entry in pattern.column(column) {
                if self.is_carried[column] || self.is_carried[pattern.rows[entry] as usize] {
                    values[entry] = 0.0;
                }
            }
        }
    }

    /// Stiffness times volume of each tet of a chain.
    pub(super) fn chain_weights(
        &self,
        chain: u32,
        params: &Params,
        materials: &Materials,
    ) -> [f64; TETS] {
        let chain = &self.chains.chains[chain as usize];
        let cell = self.chains.cells.get(chain.cell as usize);
        let scale = self.stiffness_scale(params) * materials.cell_stiffness(cell);
        chain.volume.map(|volume| volume * scale)
    }

    /// Stiffness times volume of all tets of a subdomain.
    pub(super) fn weights(
        &self,
        subdomain: &Subdomain,
        params: &Params,
        materials: &Materials,
    ) -> Vec<BlockWeights> {
        let of_chain = |&chain: &u32| self.chain_weights(chain, params, materials);
        subdomain
            .cliques
            .chunks(LANES)
            .map(|block| Block::weights(block.iter().map(of_chain)))
            .collect()
    }
}

/// Appends the contributions of a chain to the matrix: one per pair of its unknowns, diagonal entries first.
fn add_couplings(chain: &Chain, partition: &Partition, couplings: &mut Vec<Coupling>) {
    let corners = chain.own_corners();
    let unknowns: Vec<(usize, u32)> = corners
        .iter()
        .enumerate()
        .filter_map(|(k, corner)| Some((k, corner.as_unknown()?)))
        .collect();
    let diagonal = unknowns.iter().map(|&a| [a, a]);
    let others = unknowns
        .iter()
        .enumerate()
        .flat_map(|(k, &a)| unknowns[k + 1..].iter().map(move |&b| [a, b]));
    for [(a, first), (b, second)] in diagonal.chain(others) {
        couplings.push(Coupling {
            unknowns: [first, second],
            stiffness: chain.stiffness(a, b),
            entry: partition.pattern.entry(first, second).unwrap_or_default() as u32,
        });
    }
}
