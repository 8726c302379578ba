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
    groups: Vec<Group>,
    /// The neighbours of each group, in the order of the topology.
    neighbors: Vec<Neighbors>,
    /// 1 where the skin faces outwards at rest, 0 where it faces a cavity.
    outward: Vec<f32>,
    /// 0 in a fold, 1 where the area has not shrunk. Behind them is a zero.
    pub(super) factors: Vec<f32>,
    next: Vec<f32>,
    /// Buffer of [`Folds::spread`].
    spread: Vec<f32>,
}

/// Vertices whose factors are computed at a time: without branches, vector instructions do it.
const LANES: usize = 8;

/// [`LANES`] consecutive vertices.
struct Group {
    /// The first of [`Folds::neighbors`], and the one behind the last.
    neighbors: [u32; 2],
    /// Number of neighbours of each vertex, at least 1.
    counts: [f32; LANES],
}

/// A neighbour of each vertex of a group, and the increase of the factor from it to the vertex. Where a vertex has no more of them, the
/// zero behind all factors, and an infinite increase.
struct Neighbors {
    vertices: [u32; LANES],
    slopes: [f32; LANES],
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
            groups: Vec::new(),
            neighbors: Vec::new(),
            outward: vertices.map(outward).collect(),
            factors: vec![1.0; count],
            next: vec![1.0; count],
            spread: vec![0.0; count],
        };
        folds.factors.push(0.0);
        folds.next.push(0.0);
        folds.find_neighbors(&mesh.positions, max_bulge);
        folds
    }

    /// Whether the mesh has no border.
    pub(super) fn is_closed(&self) -> bool {
        self.topology.boundary_edges() == 0
    }

    /// The buffer for the ratios of posed to rest area, one per vertex, that [`Folds::widen`] reads.
    pub(super) fn area_ratios(&mut self) -> &mut [f32] {
        &mut self.factors[..self.outward.len()]
    }

    /// Computes the factors from the ratios of areas: in the folds first, then around them, and smoothed.
    pub(super) fn widen(&mut self) {
        for (factor, outward) in self.factors.iter_mut().zip(&self.outward) {
            *factor = outward * smoothstep(FOLD_AREA_RATIO, *factor);
        }
        for _ in 0..self.rings {
            self.for_each_group(|own, neighbors, before, _| {
                let mut least = own;
                for Neighbors { vertices, slopes } in neighbors {
                    for lane in 0..LANES {
                        let near = before[vertices[lane] as usize];
                        least[lane] = least[lane].min(near + slopes[lane]);
                    }
                }
                least
            });
        }
        for _ in 0..self.smoothings {
            self.for_each_group(|own, neighbors, before, counts| {
                let mut sum = [0.0; LANES];
                for Neighbors { vertices, .. } in neighbors {
                    for lane in 0..LANES {
                        sum[lane] += before[vertices[lane] as usize];
                    }
                }
                std::array::from_fn(|lane| 0.5 * (own[lane] + sum[lane] / counts[lane]))
            });
        }
    }

    /// Replaces the factors of every group by what `next` returns, given the factors of the group, its neighbours, all factors, and the
    /// numbers of neighbours.
    fn for_each_group(
        &mut self,
        next_of: impl Fn([f32; LANES], &[Neighbors], &[f32], &[f32; LANES]) -> [f32; LANES] + Sync,
    ) {
        let Self {
            groups,
            neighbors,
            outward,
            factors,
            next,
            ..
        } = self;
        let before = &**factors;
        next[..outward.len()]
            .par_chunks_mut(LANES)
            .zip(&*groups)
            .enumerate()
            .with_min_len(MIN_TASK / LANES)
            .for_each(|(index, (out, group))| {
                let mut own = [0.0; LANES];
                own[..out.len()].copy_from_slice(&before[index * LANES..][..out.len()]);
                let [first, end] = group.neighbors.map(|index| index as usize);
                let found = next_of(own, &neighbors[first..end], before, &group.counts);
                out.copy_from_slice(&found[..out.len()]);
            });
        std::mem::swap(factors, next);
    }

    /// Spreads values over the rings of vertices around a fold: each becomes the largest of its own and a part of its neighbours'.
    pub(super) fn spread(&mut self, values: &mut Vec<f32>) {
        if values.iter().all(|&value| value == 0.0) {
            return;
        }
        for _ in 0..self.rings {
            for (vertex, out) in self.spread.iter_mut().enumerate() {
                let near = self.topology.neighbors(vertex).iter();
                let largest = near
                    .map(|&other| values[other as usize])
                    .fold(0.0, f32::max);
                *out = values[vertex].max(PART_OF_NEIGHBOR * largest);
            }
            std::mem::swap(values, &mut self.spread);
        }
    }

    /// Finds the neighbours of every group, and the increase of the fold factor along every edge.
    fn find_neighbors(&mut self, points: &[Point], max_bulge: &[f32]) {
        let count = max_bulge.len();
        for first in (0..count).step_by(LANES) {
            let around: Vec<&[u32]> = (first..count.min(first + LANES))
                .map(|vertex| self.topology.neighbors(vertex))
                .collect();
            let start = self.neighbors.len() as u32;
            let most = around.iter().map(|near| near.len()).max().unwrap_or(0);
            for place in 0..most {
                let mut neighbors = Neighbors {
                    vertices: [count as u32; LANES],
                    slopes: [f32::INFINITY; LANES],
                };
                for (lane, near) in around.iter().enumerate() {
                    if let Some(&other) = near.get(place) {
                        let vertex = first + lane;
                        let reach = FOLD_RADII as f32 * max_bulge[vertex] / MAX_BULGE;
                        let edge = (points[vertex] - points[other as usize]).norm();
                        neighbors.vertices[lane] = other;
                        neighbors.slopes[lane] = edge / reach.max(f32::MIN_POSITIVE);
                    }
                }
                self.neighbors.push(neighbors);
            }
            let mut counts = [1.0; LANES];
            for (count, near) in counts.iter_mut().zip(&around) {
                *count = near.len().max(1) as f32;
            }
            self.groups.push(Group {
                neighbors: [start, self.neighbors.len() as u32],
                counts,
            });
        }
    }
}
