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
//! | bending   | bending stiffness of the skin at the vertex                                                             |
//! | held      | not a factor: 0 is free; see below                                                                      |
//!
//! # Held
//! A force moves flesh away from where its guide would place it against the stiffness k (1 + μ), with μ of [`Params::guidance`]. Flesh
//! that is held by h, 0 to 1, is moved by the part 1 − h of that: its guidance is μ′ = (1 + μ) / (1 − h) − 1. Flesh without a guide is
//! 1 / (1 − h) times as stiff instead, at most 20 times ([`Materials::hold_by_stiffness`]), and so follows the bones.
//!
//! # Jiggle
//! With inertial mass j m, weight m g and base acceleration a, a vertex on a spring k obeys j m ü + k u = m g − j m a. The sag m g
//! / k does not change. The response to a slow acceleration of the base scales with j. After a stop from velocity v, the vertex
//! oscillates with the amplitude v √(j m / k) and the frequency √(k / (j m)). For j → 0 the flesh follows its equilibrium at once.
//! For the integrator j is only another mass, so that its properties still hold (stability, the same motion at all frame rates,
//! rest is preserved).

use super::Params;
use crate::character::{BoneMap, BoneSettings, FleshPaint, MOST_JIGGLE, PaintMap};
use crate::math::smoothstep;
use crate::mesh::{Topology, TriMesh};
use crate::tissue::Tissue;
use crate::weights::SkinWeights;

/// Smallest ratio of inertial to physical mass: with zero mass the oscillation frequency above would be infinite.
const MIN_INERTIA: f64 = 1e-3;
/// Half-width of the transition between regions, as a fraction of the mean distance from the skin to the bone lines.
const TRANSITION_WIDTH: f64 = 0.5;
/// Largest number of smoothing passes: limits the time. The transition is as wide as its square root, in edges.
const MAX_PASSES: f64 = 100.0;

/// Flesh is not held more than this: a force then still moves it by a thousandth.
const MOST_HELD: f64 = 0.999;
/// The same without a guide: methods that solve the tets one after the other do not converge on much stiffer ones.
const MOST_HELD_BY_STIFFNESS: f32 = 0.95;

/// The skin bends by a hinge where two neighbours have less than this part of their weights in common.
const HINGE_OVERLAP: f32 = 0.1;

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
    /// Factor on [`Params::bending`]; see also [`Materials::release_hinges`].
    pub bending: Vec<f32>,
    /// How far the flesh is held by its guide, 0 to 1.
    pub held: Vec<f32>,
}

impl Materials {
    /// All factors 1, nothing held.
    #[must_use]
    pub fn uniform(vertices: usize) -> Self {
        let ones = vec![1.0; vertices];
        Self {
            stiffness: ones.clone(),
            density: ones.clone(),
            damping: ones.clone(),
            jiggle: ones.clone(),
            bending: ones,
            held: vec![0.0; vertices],
        }
    }

    /// Whether all factors are 1 and nothing is held.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        [
            &self.stiffness,
            &self.density,
            &self.damping,
            &self.jiggle,
            &self.bending,
        ]
        .into_iter()
        .flatten()
        .all(|&factor| factor == 1.0)
            && self.held.iter().all(|&held| held == 0.0)
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
            bending: vec![1.0; vertices],
            held: vec![0.0; vertices],
        }
    }

    /// Adds what was painted. `source_from_sim`: the source vertex at each vertex of the simulation mesh.
    pub fn apply_paint(&mut self, paint: &FleshPaint, source_from_sim: &[u32]) {
        let painted = |map| paint.values_at(map, source_from_sim).unwrap_or_default();
        for (factor, painted) in self.stiffness.iter_mut().zip(painted(PaintMap::Stiffness)) {
            *factor *= painted;
        }
        for (held, painted) in self.held.iter_mut().zip(painted(PaintMap::Held)) {
            *held = painted;
        }
    }

    /// Holds the flesh by its stiffness, for flesh without a guide.
    pub fn hold_by_stiffness(&mut self) {
        for (factor, held) in self.stiffness.iter_mut().zip(&mut self.held) {
            *factor /= 1.0 - held.clamp(0.0, MOST_HELD_BY_STIFFNESS);
            *held = 0.0;
        }
    }

    /// Takes the bending stiffness away at hinges: where neighbours of the skin have no joint in common, the mesh bends by the whole angle
    /// at one edge. The curvature that bending would preserve is that of the two rigid sides; it would push the edge's ends apart and
    /// crumple the skin around. Elsewhere the factors stay.
    ///
    /// # Panics
    /// If there are fewer weights than vertices.
    pub fn release_hinges(&mut self, mesh: &TriMesh, weights: &SkinWeights) {
        let topology = Topology::of(mesh);
        for (vertex, bending) in self.bending.iter_mut().enumerate() {
            let neighbors = topology.neighbors(vertex).iter();
            let least = neighbors
                .map(|&other| weights.overlap(vertex, other as usize))
                .fold(1.0, f32::min);
            *bending *= smoothstep([0.0, HINGE_OVERLAP], least);
        }
    }

    /// Factors for `vertices` vertices, all finite and in the range that the solver supports. Missing and non-finite factors become
    /// 1, missing holds 0.
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
        let mut held: Vec<f32> = self.held.clone();
        for held in &mut held {
            *held = if held.is_finite() {
                held.clamp(0.0, 1.0)
            } else {
                0.0
            };
        }
        held.resize(vertices, 0.0);
        Self {
            stiffness: clean(&self.stiffness, 1e-3, 1e3),
            density: clean(&self.density, 1e-3, 1e3),
            damping: clean(&self.damping, 0.0, 1e3),
            jiggle: clean(&self.jiggle, 0.0, MOST_JIGGLE as f32),
            bending: clean(&self.bending, 0.0, 1e3),
            held,
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

    /// Guidance of a cell with these unknowns, whose mean is held; `guidance` where it is not.
    pub(super) fn cell_guidance(&self, unknowns: &[u32], guidance: f64) -> f64 {
        let held = unknowns.iter();
        let held = held.map(|&corner| f64::from(self.held[corner as usize]));
        let mean = held.sum::<f64>() / unknowns.len().max(1) as f64;
        if mean > 0.0 {
            (1.0 + guidance) / (1.0 - mean.min(MOST_HELD)) - 1.0
        } else {
            guidance
        }
    }

    /// Factor on the bending stiffness of a vertex.
    pub(super) fn bending(&self, vertex: usize) -> f64 {
        f64::from(self.stiffness[vertex] * self.bending[vertex])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// A strip of squares along x, and weights of two joints that change from one to the other at x = 2, over `width`.
    fn strip(width: f32) -> (TriMesh, SkinWeights) {
        let positions: Vec<Point> = (0..12)
            .map(|v| Point::new((v / 2) as f32, (v % 2) as f32, 0.0))
            .collect();
        let triangles = (0..5u32).flat_map(|cell| {
            let first = 2 * cell;
            [[first, first + 2, first + 3], [first, first + 3, first + 1]]
        });
        let row = |point: &Point| {
            let part = ((point.x - 2.0) / width).clamp(0.0, 1.0);
            vec![(0, 1.0 - part), (1, part)]
        };
        let weights = SkinWeights::from_rows(positions.iter().map(row)).0;
        let triangles = triangles.collect();
        (
            TriMesh {
                positions,
                triangles,
            },
            weights,
        )
    }

    fn bending(width: f32) -> Vec<f32> {
        let (mesh, weights) = strip(width);
        let mut materials = Materials::uniform(mesh.positions.len());
        materials.release_hinges(&mesh, &weights);
        assert_eq!(materials.is_uniform(), width > 1.0);
        materials.bending
    }

    #[test]
    fn a_hinge_has_no_bending_stiffness_and_a_bend_over_several_edges_keeps_it() {
        let hinge = bending(1.0);
        for (vertex, factor) in hinge.iter().enumerate() {
            // The edge from x = 2 to x = 3 has no joint in common.
            let expected = if (4..8).contains(&vertex) { 0.0 } else { 1.0 };
            assert_eq!(*factor, expected, "vertex {vertex}");
        }
        assert!(bending(3.0).iter().all(|&factor| factor == 1.0));
    }

    #[test]
    fn paint_multiplies_stiffness_and_sets_what_is_held() {
        let mut paint = FleshPaint::default();
        let (stiff, held) = (PaintMap::Stiffness.code(4.0), PaintMap::Held.code(0.5));
        paint.set(PaintMap::Stiffness, vec![0, stiff, 0]);
        paint.set(PaintMap::Held, vec![0, 0, held]);
        let mut materials = Materials {
            stiffness: vec![2.0; 3],
            ..Materials::uniform(3)
        };
        materials.apply_paint(&paint, &[2, 1, 0]);
        assert_eq!(materials.stiffness, [2.0, 8.0, 2.0]);
        assert_eq!(materials.held, [0.5, 0.0, 0.0]);
        assert!(!materials.is_uniform());
        // (1 + 3) / (1 − ½) − 1, and untouched without a held corner.
        assert_eq!(materials.cell_guidance(&[0], 3.0), 7.0);
        assert_eq!(materials.cell_guidance(&[1, 2], 0.3), 0.3);
        materials.hold_by_stiffness();
        assert_eq!(materials.stiffness, [4.0, 8.0, 2.0]);
        let mut none = Materials::uniform(3);
        none.apply_paint(&FleshPaint::default(), &[0, 1, 2]);
        none.hold_by_stiffness();
        assert_eq!(none, Materials::uniform(3));
        let wrong = Materials {
            held: vec![f32::NAN, -1.0, 7.0],
            ..Materials::uniform(3)
        };
        assert_eq!(wrong.sanitized(4).held, [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn factors_of_bending_are_checked_like_others() {
        let wrong = Materials {
            bending: vec![f32::NAN, -1.0, f32::INFINITY],
            ..Materials::uniform(3)
        };
        assert_eq!(wrong.sanitized(4).bending, [1.0, 0.0, 1.0, 1.0]);
    }
}
