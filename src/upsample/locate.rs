//! Locates points of one mesh on another, nearly equal mesh: on the corresponding component and
//! side.

use rayon::prelude::*;

use super::surface::parts;
use crate::math::{Point, Vec3};
use crate::mesh::{Closest, TriMesh, TriangleTree};

/// Normals whose cosine is below this count as opposite sides…
const SAME_SIDE: f32 = 0.5;
/// …and get this penalty, in edge lengths per unit of cosine.
const OTHER_SIDE: f32 = 1.0;
/// A component of one mesh corresponds to a component of the other if more than this share of its points are located
/// there in the first pass.
const MIN_MATCH_SHARE: f64 = 0.6;

/// A mesh on which points are located.
pub(super) struct LocateTarget<'a> {
    mesh: &'a TriMesh,
    tree: TriangleTree,
    /// Unit normals of all triangles; zero for degenerate ones.
    normals: Vec<Vec3>,
    /// The component of every vertex.
    part_of: Vec<u32>,
}

impl<'a> LocateTarget<'a> {
    pub(super) fn new(mesh: &'a TriMesh) -> Self {
        let normal = |triangle: usize| {
            let [a, b, c] = mesh.corners(triangle);
            (b - a)
                .cross(&(c - a))
                .try_normalize(f32::MIN_POSITIVE)
                .unwrap_or_else(Vec3::zeros)
        };
        let normals = (0..mesh.triangles.len()).map(normal).collect();
        Self {
            mesh,
            tree: TriangleTree::new(mesh),
            normals,
            part_of: parts(mesh.positions.len(), &mesh.triangles).0,
        }
    }

    fn part(&self, triangle: u32) -> u32 {
        self.part_of[self.mesh.triangles[triangle as usize][0] as usize]
    }

    /// Locates the vertices of `other`. `lengths` is the local length scale, one per vertex: an
    /// edge of the coarser mesh.
    pub(super) fn locate(&self, other: &TriMesh, lengths: &[f32]) -> Vec<Option<Closest>> {
        let normals = other.vertex_normals();
        let (part_of, parts) = parts(other.positions.len(), &other.triangles);
        let mut has_side = vec![false; other.positions.len()];
        for &v in other.triangles.as_flattened() {
            has_side[v as usize] = true;
        }
        let find = |v: usize, part: Option<u32>| {
            self.tree.best(&other.positions[v].cast(), |triangle| {
                if part.is_some_and(|part| part != self.part(triangle)) {
                    return f64::INFINITY;
                }
                if has_side[v] {
                    wrong_side(&normals[v], &self.normals[triangle as usize], lengths[v])
                } else {
                    0.0
                }
            })
        };
        let first: Vec<_> = (0..other.positions.len())
            .into_par_iter()
            .map(|v| find(v, None))
            .collect();
        let corresponding = self.corresponding_parts(&first, &part_of, parts);
        let settle = |(v, first): (usize, &Option<(Closest, f64)>)| {
            let (closest, sum) = (*first)?;
            let Some(corresponding) = corresponding[part_of[v] as usize]
                .filter(|&corresponding| corresponding != self.part(closest.triangle))
            else {
                return Some(closest);
            };
            let within = |&(_, second): &(Closest, f64)| second <= sum + f64::from(lengths[v]);
            Some(
                find(v, Some(corresponding))
                    .filter(within)
                    .map_or(closest, |(in_corresponding, _)| in_corresponding),
            )
        };
        first.par_iter().enumerate().map(settle).collect()
    }

    /// For every component of the other mesh the corresponding component of this one: that where most of its points
    /// were located.
    fn corresponding_parts(
        &self,
        found: &[Option<(Closest, f64)>],
        part_of: &[u32],
        parts: usize,
    ) -> Vec<Option<u32>> {
        let mut votes: Vec<(u32, u32)> = found
            .iter()
            .zip(part_of)
            .filter_map(|(hit, &part)| hit.map(|(hit, _)| (part, self.part(hit.triangle))))
            .collect();
        votes.sort_unstable();
        let mut total = vec![0_usize; parts];
        let mut corresponding = vec![(0_usize, 0_u32); parts];
        for same in votes.chunk_by(|a, b| a == b) {
            let (part, there) = same[0];
            total[part as usize] += same.len();
            if same.len() > corresponding[part as usize].0 {
                corresponding[part as usize] = (same.len(), there);
            }
        }
        let clear = |(&(count, there), &total): (&(usize, u32), &usize)| {
            (count as f64 > MIN_MATCH_SHARE * total as f64).then_some(there)
        };
        corresponding.iter().zip(&total).map(clear).collect()
    }
}

fn wrong_side(wanted: &Vec3, normal: &Vec3, length: f32) -> f64 {
    f64::from((SAME_SIDE - wanted.dot(normal)).max(0.0) * OTHER_SIDE * length)
}

/// The mean length of the edges at every vertex; the overall mean for vertices without a triangle.
pub(super) fn edge_lengths(mesh: &TriMesh) -> Vec<f32> {
    let mut sums = vec![(0.0_f64, 0_u32); mesh.positions.len()];
    let length = |a: &Point, b: &Point| f64::from((a - b).norm());
    for &[a, b, c] in &mesh.triangles {
        for (v, w) in [(a, b), (b, c), (c, a)] {
            let length = length(&mesh.positions[v as usize], &mesh.positions[w as usize]);
            if length.is_finite() {
                for end in [v, w] {
                    sums[end as usize].0 += length;
                    sums[end as usize].1 += 1;
                }
            }
        }
    }
    let (sum, count) = sums.iter().fold((0.0, 0_u64), |(sum, count), (s, c)| {
        (sum + s, count + u64::from(*c))
    });
    let mean = if count > 0 { sum / count as f64 } else { 0.0 };
    sums.into_iter().map(|(sum, count)| if count > 0 { sum / f64::from(count) } else { mean } as f32).collect()
}
