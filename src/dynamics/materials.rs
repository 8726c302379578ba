//! Materials per unknown: factors on the parameters of the whole body.
//!
//! They come from the settings of bones ([`Materials::of_bones`]): every vertex takes the settings of the bone that its foot point
//! lies on, and transitions between regions are smoothed over half a limb radius. Or they come from any other source of numbers per
//! vertex (a vertex colour, a painted map).
//!
//! | factor    | applies to                                                                                             |
//! |-----------|--------------------------------------------------------------------------------------------------------|
//! | stiffness | wᵢ of a tet: the mean factor of the unknowns of its cell                                                |
//! | density   | mass of the vertex                                                                                      |
//! | damping   | decay rate of the vertex's velocity relative to the base                                                |
//! | jiggle    | *inertial* mass of the vertex; its weight does not change                                               |
//!
//! # Jiggle
//! With inertial mass j m, weight m g and base acceleration a, a vertex on a spring k obeys j m ü + k u = m g − j m a. The sag m g
//! / k does not change. The response to a slow acceleration of the base scales with j. After a stop from velocity v, the vertex
//! oscillates with the amplitude v √(j m / k) and the frequency √(k / (j m)). For j → 0 the flesh follows its equilibrium at once.
//! For the integrator j is only another mass, so that its properties still hold (stability, the same motion at all frame rates,
//! rest is preserved).

use super::Params;
use crate::character::{BoneMap, BoneSettings, MOST_JIGGLE};
use crate::mesh::{Topology, TriMesh};
use crate::tissue::Tissue;

/// Smallest ratio of inertial to physical mass: with zero mass the oscillation frequency above would be infinite.
const MIN_INERTIA: f64 = 1e-3;
/// Half-width of the transition between regions, as a fraction of the mean distance from the skin to the bone lines.
const TRANSITION_WIDTH: f64 = 0.5;
/// Largest number of smoothing passes: limits the time. The transition is as wide as its square root, in edges.
const MAX_PASSES: f64 = 100.0;

/// Factors on the body's parameters, one entry per unknown each (skin vertices first).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Materials {
    /// Factor on [`Params::stiffness_pa`].
    pub stiffness: Vec<f32>,
    /// Factor on [`Params::density_kg_m3`].
    pub density: Vec<f32>,
    /// Factor on [`Params::damping_per_s`].
    pub damping: Vec<f32>,
    /// Factor on [`Params::jiggle`].
    pub jiggle: Vec<f32>,
}

impl Materials {
    /// All factors 1.
    #[must_use]
    pub fn uniform(vertices: usize) -> Self {
        let ones = vec![1.0; vertices];
        Self {
            stiffness: ones.clone(),
            density: ones.clone(),
            damping: ones.clone(),
            jiggle: ones,
        }
    }

    /// Whether all factors are 1.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        [&self.stiffness, &self.density, &self.damping, &self.jiggle]
            .into_iter()
            .flatten()
            .all(|&factor| factor == 1.0)
    }

    /// Number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stiffness.len()
    }

    /// Whether there are no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stiffness.is_empty()
    }

    /// Distributes the settings of bones over the skin `mesh` of `tissue`.
    #[must_use]
    pub fn of_bones(tissue: &Tissue, mesh: &TriMesh, bones: &BoneMap) -> Self {
        let vertices = mesh.positions.len();
        let of_vertex = |vertex: usize| {
            let joint = tissue.graph.bones[tissue.foot_bones[vertex] as usize].joint;
            bones
                .get(&joint)
                .map(BoneSettings::sanitized)
                .unwrap_or_default()
        };
        let settings: Vec<BoneSettings> = (0..vertices).map(of_vertex).collect();
        let smoothing = RegionSmoothing::new(tissue, mesh);
        // Stiffness and density are interpolated logarithmically: the mean of 1/4 and 4 is 1.
        let ratios = |of: fn(&BoneSettings) -> f64| {
            let logarithms = smoothing.smooth(settings.iter().map(|bone| of(bone).ln()).collect());
            logarithms.into_iter().map(|l| l.exp() as f32).collect()
        };
        let numbers = |of: fn(&BoneSettings) -> f64| {
            smoothing
                .smooth(settings.iter().map(of).collect())
                .into_iter()
                .map(|f| f as f32)
                .collect()
        };
        Self {
            stiffness: ratios(|bone| bone.stiffness),
            density: ratios(|bone| bone.density),
            damping: numbers(|bone| bone.damping),
            jiggle: numbers(|bone| bone.jiggle),
        }
    }

    /// Factors for `vertices` vertices, all finite and in the range that the solver supports. Missing and non-finite factors become
    /// 1.
    #[must_use]
    pub fn sanitized(&self, vertices: usize) -> Self {
        let clean = |factors: &[f32], least: f32, most: f32| {
            let mut clean: Vec<f32> = factors
                .iter()
                .map(|&f| {
                    if f.is_finite() {
                        f.clamp(least, most)
                    } else {
                        1.0
                    }
                })
                .collect();
            clean.resize(vertices, 1.0);
            clean
        };
        Self {
            stiffness: clean(&self.stiffness, 1e-3, 1e3),
            density: clean(&self.density, 1e-3, 1e3),
            damping: clean(&self.damping, 0.0, 1e3),
            jiggle: clean(&self.jiggle, 0.0, MOST_JIGGLE as f32),
        }
    }

    /// Mean stiffness factor of a cell with these unknowns.
    pub(crate) fn cell_stiffness(&self, unknowns: &[u32]) -> f64 {
        unknowns
            .iter()
            .map(|&corner| f64::from(self.stiffness[corner as usize]))
            .sum::<f64>()
            / unknowns.len().max(1) as f64
    }

    /// Ratio of inertial to physical mass of a vertex.
    pub(crate) fn inertia(&self, vertex: usize, params: &Params) -> f64 {
        (f64::from(self.jiggle[vertex]) * params.jiggle).max(MIN_INERTIA)
    }

    /// Decay rate of a vertex's velocity relative to its base, s⁻¹.
    pub(crate) fn damping_per_s(&self, vertex: usize, params: &Params) -> f64 {
        f64::from(self.damping[vertex]) * params.damping_per_s
    }
}

/// Smooths the transitions between regions.
struct RegionSmoothing {
    topology: Topology,
    passes: usize,
}

impl RegionSmoothing {
    fn new(tissue: &Tissue, mesh: &TriMesh) -> Self {
        let topology = Topology::of(mesh);
        let length = |[a, b]: &[u32; 2]| {
            f64::from((mesh.positions[*a as usize] - mesh.positions[*b as usize]).norm())
        };
        let edge =
            topology.edges.iter().map(length).sum::<f64>() / topology.edges.len().max(1) as f64;
        // n passes of averaging widen a step to about √n edges.
        let width = TRANSITION_WIDTH * tissue.quality.limb_radius / edge.max(f64::MIN_POSITIVE);
        Self {
            topology,
            passes: (width * width).clamp(2.0, MAX_PASSES) as usize,
        }
    }

    /// Averages with the neighbours repeatedly. Values far from any transition do not change, bit-exactly.
    fn smooth(&self, mut values: Vec<f64>) -> Vec<f64> {
        let Some(&first) = values.first() else {
            return values;
        };
        if values.iter().all(|&value| value == first) {
            return values;
        }
        let mut next = values.clone();
        for _ in 0..self.passes {
            for (vertex, out) in next.iter_mut().enumerate() {
                let own = values[vertex];
                let neighbors = self.topology.neighbors(vertex);
                let difference: f64 = neighbors
                    .iter()
                    .map(|&other| values[other as usize] - own)
                    .sum();
                *out = own + 0.5 * difference / neighbors.len().max(1) as f64;
            }
            std::mem::swap(&mut values, &mut next);
        }
        values
    }
}
