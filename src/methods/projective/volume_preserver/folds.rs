//! Fold factors: skin in a fold or facing a cavity has no free space, and does not bulge.

use rayon::prelude::*;

use super::{MAX_BULGE, MIN_TASK};
use crate::math::{Point, Vec3, smoothstep};
use crate::mesh::{Topology, TriMesh};

/// Ratio of posed to rest area under the guide: no bulge below the first value, full bulge above the second.
const FOLD_AREA_RATIO: [f32; 2] = [0.5, 0.9];
/// The bulge is also reduced around a fold, by less with the distance, up to this many radii of its limb.
const FOLD_RADII: f64 = 1.0;
/// Maximum number of vertex rings within that distance.
const MAX_RINGS: usize = 3;
/// Cosine between the direction from the foot point and the skin's normal: below the first value the skin faces a
/// cavity and does not bulge, above the second it bulges fully.
const OUTWARD_COSINE: [f32; 2] = [0.2, 0.6];
/// Part of its largest neighbour that a vertex takes over, see [`Folds::spread`].
const PART_OF_NEIGHBOR: f32 = 0.75;

/// The factor on the bulge of every vertex.
pub(super) struct Folds {
    topology: Topology,
    rings: usize,
    smoothings: usize,
    /// For every neighbour, in the order of the topology, the increase of the factor from that neighbour to the vertex; and the index of
    /// the first entry of every vertex.
    slopes: Vec<f32>,
    slope_starts: Vec<u32>,
    /// 1 where the skin faces outwards at rest, 0 where it faces a cavity.
    outward: Vec<f32>,
    /// 0 in a fold, 1 where the area has not shrunk.
    pub(super) factors: Vec<f32>,
    next: Vec<f32>,
}

impl Folds {
    /// For a mesh at rest with foot points, unit normals and the largest bulges of its vertices; the radius of limbs in world units.
    pub(super) fn bind(
        mesh: &TriMesh,
        feet: &[Point],
        normals: &[Vec3],
        max_bulge: &[f32],
        limb_radius: f64,
    ) -> Self {
        let count = mesh.positions.len();
        let topology = Topology::of(mesh);
        let length = |&[a, b]: &[u32; 2]| {
            f64::from((mesh.positions[a as usize] - mesh.positions[b as usize]).norm())
        };
        let edge =
            topology.edges.iter().map(length).sum::<f64>() / topology.edges.len().max(1) as f64;
        let rings = (FOLD_RADII * limb_radius / edge).ceil();
        let rings = (rings as usize).min(MAX_RINGS);
        let outward = |((skin, foot), normal): ((&Point, &Point), &Vec3)| {
            let direction = (skin - foot).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
            smoothstep(OUTWARD_COSINE, direction.dot(normal))
        };
        let vertices = mesh.positions.iter().zip(feet).zip(normals);
        let mut folds = Self {
            topology,
            rings,
            smoothings: rings + 1,
            slopes: Vec::new(),
            slope_starts: vec![0],
            outward: vertices.map(outward).collect(),
            factors: vec![1.0; count],
            next: vec![1.0; count],
        };
        folds.compute_slopes(&mesh.positions, max_bulge);
        folds
    }

    /// Whether the mesh has no border.
    pub(super) fn is_closed(&self) -> bool {
        self.topology.boundary_edges() == 0
    }

    /// The buffer for the ratios of posed to rest area, one per vertex, that [`Folds::widen`] reads.
    pub(super) fn area_ratios(&mut self) -> &mut [f32] {
        &mut self.factors
    }

    /// Computes the factors from the ratios of areas: in the folds first, then around them, and smoothed.
    pub(super) fn widen(&mut self) {
        let Self {
            topology,
            rings,
            smoothings,
            slopes,
            slope_starts,
            outward,
            factors,
            next,
        } = self;
        for (factor, outward) in factors.iter_mut().zip(&*outward) {
            *factor = outward * smoothstep(FOLD_AREA_RATIO, *factor);
        }
        for round in 0..*rings + *smoothings {
            let before = &*factors;
            next.par_iter_mut()
                .with_min_len(MIN_TASK)
                .enumerate()
                .for_each(|(vertex, out)| {
                    let own = before[vertex];
                    let near = topology
                        .neighbors(vertex)
                        .iter()
                        .map(|&other| before[other as usize]);
                    *out = if round < *rings {
                        let slopes = &slopes[slope_starts[vertex] as usize..];
                        near.zip(slopes)
                            .fold(own, |least, (near, slope)| least.min(near + slope))
                    } else {
                        let count = topology.neighbors(vertex).len().max(1) as f32;
                        0.5 * (own + near.sum::<f32>() / count)
                    };
                });
            std::mem::swap(factors, next);
        }
    }

    /// Spreads values over the rings of vertices around a fold: each becomes the largest of its own and a part of its neighbours'.
    pub(super) fn spread(&mut self, values: &mut Vec<f32>) {
        if values.iter().all(|&value| value == 0.0) {
            return;
        }
        for _ in 0..self.rings {
            for (vertex, out) in self.next.iter_mut().enumerate() {
                let near = self.topology.neighbors(vertex).iter();
                let largest = near
                    .map(|&other| values[other as usize])
                    .fold(0.0, f32::max);
                *out = values[vertex].max(PART_OF_NEIGHBOR * largest);
            }
            std::mem::swap(values, &mut self.next);
        }
    }

    /// Computes the increase of the fold factor along every edge.
    fn compute_slopes(&mut self, points: &[Point], max_bulge: &[f32]) {
        for (vertex, max_bulge) in max_bulge.iter().enumerate() {
            let reach = FOLD_RADII as f32 * max_bulge / MAX_BULGE;
            for &other in self.topology.neighbors(vertex) {
                let edge = (points[vertex] - points[other as usize]).norm();
                self.slopes.push(edge / reach.max(f32::MIN_POSITIVE));
            }
            self.slope_starts.push(self.slopes.len() as u32);
        }
    }
}
