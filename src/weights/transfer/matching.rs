//! The closest points of the source, and which of them match.

use rayon::prelude::*;

use super::{JointMap, MATCH_ANGLE_COS, MATCH_DISTANCE, TransferSource};
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh, TriangleTree, vertex_areas};
use crate::progress::Progress;
use crate::weights::WeightError;
use crate::weights::rows::{self, Row, RowSum};

/// What every vertex of the target finds on the source.
#[derive(Debug, Clone)]
pub(super) struct Matches {
    /// The weights of the closest point, by joints of the target; empty if there is none.
    pub rows: Vec<Row>,
    /// Whether the closest point matches.
    pub is_matched: Vec<bool>,
    /// Connected parts that face the source from behind.
    pub reversed_parts: usize,
    /// Vertices with a position that is not finite.
    pub without_position: usize,
}

/// The closest point to a vertex.
struct Nearest {
    row: Row,
    is_near: bool,
    /// Cosine of the angle between the normals; `None` if one of them has no direction.
    cosine: Option<f64>,
}

impl Matches {
    pub fn find(
        source: &TransferSource,
        target: &TriMesh,
        topology: &Topology,
        joints: &JointMap,
        progress: &Progress,
    ) -> Result<Self, WeightError> {
        let surface = Surface::of(source);
        progress.check()?;
        let reach = MATCH_DISTANCE * f64::from(target.bounds().size());
        let normals = normals_of(target);
        let find = |sum: &mut RowSum, vertex: usize| {
            if progress.is_cancelled() {
                return None;
            }
            surface.nearest(
                &target.positions[vertex].cast(),
                &normals[vertex],
                reach,
                joints,
                sum,
            )
        };
        let found: Vec<Option<Nearest>> = (0..target.positions.len())
            .into_par_iter()
            .map_init(|| RowSum::new(joints.targets), find)
            .collect();
        progress.check()?;
        let is_reversed = reversed_parts(&found, topology);
        let is_matched = found
            .iter()
            .zip(&topology.component_of)
            .map(|(found, part)| {
                let Some(found) = found else { return false };
                let sign = if is_reversed[*part as usize] {
                    -1.0
                } else {
                    1.0
                };
                found.is_near
                    && found
                        .cosine
                        .is_none_or(|cosine| sign * cosine >= MATCH_ANGLE_COS)
            });
        let is_finite = |at: &&crate::math::Point| at.iter().all(|c| c.is_finite());
        Ok(Self {
            is_matched: is_matched.collect(),
            reversed_parts: is_reversed.iter().filter(|reversed| **reversed).count(),
            without_position: target.positions.len()
                - target.positions.iter().filter(is_finite).count(),
            rows: found
                .into_iter()
                .map(|found| found.map_or_else(Row::new, |found| found.row))
                .collect(),
        })
    }
}

/// For every connected part whether more of its vertices near the source face it from behind than from the front.
fn reversed_parts(found: &[Option<Nearest>], topology: &Topology) -> Vec<bool> {
    let mut votes = vec![0_i64; topology.components];
    for (found, &part) in found.iter().zip(&topology.component_of) {
        let near = found.as_ref().filter(|found| found.is_near);
        if let Some(cosine) = near.and_then(|found| found.cosine) {
            if cosine >= MATCH_ANGLE_COS {
                votes[part as usize] += 1;
            } else if cosine <= -MATCH_ANGLE_COS {
                votes[part as usize] -= 1;
            }
        }
    }
    votes.into_iter().map(|votes| votes < 0).collect()
}

/// The triangles of the source whose corners have weights.
struct Surface {
    mesh: TriMesh,
    tree: TriangleTree,
    normals: Vec<Vec64>,
    rows: Vec<Row>,
}

impl Surface {
    fn of(source: &TransferSource) -> Self {
        let positions = &source.mesh.positions;
        let rows = rows::rows_of(&source.weights, positions.len());
        let is_usable = |triangle: &[u32; 3]| {
            let has_weights = |&v: &u32| rows.get(v as usize).is_some_and(|row| !row.is_empty());
            triangle.iter().all(has_weights)
        };
        let mesh = TriMesh {
            positions: positions.clone(),
            triangles: (source.mesh.triangles.iter().copied())
                .filter(is_usable)
                .collect(),
        };
        Self {
            tree: TriangleTree::new(&mesh),
            normals: normals_of(&mesh),
            mesh,
            rows,
        }
    }

    fn nearest(
        &self,
        point: &Point64,
        normal: &Vec64,
        reach: f64,
        joints: &JointMap,
        sum: &mut RowSum,
    ) -> Option<Nearest> {
        if !point.iter().all(|c| c.is_finite()) {
            return None;
        }
        let found = self.tree.closest(point, f64::INFINITY, |_| true)?;
        let triangle = found.triangle as usize;
        let corners = self
            .mesh
            .corners(triangle)
            .map(nalgebra::OPoint::cast::<f64>);
        let parts = rows::barycentric(&corners, &found.point);
        let mut there = Vec64::zeros();
        for (&corner, part) in self.mesh.triangles[triangle].iter().zip(parts) {
            let corner = corner as usize;
            there += self.normals[corner] * part;
            for &(joint, weight) in &self.rows[corner] {
                if let Some(partner) = joints.target(joint) {
                    sum.add_one(partner, weight * part);
                }
            }
        }
        let mut row = sum.take();
        rows::normalise(&mut row);
        let lengths = there.norm() * normal.norm();
        (!row.is_empty()).then_some(Nearest {
            row,
            is_near: found.distance <= reach,
            cosine: (lengths > 0.0).then(|| there.dot(normal) / lengths),
        })
    }
}

/// Unit normals of the vertices; 0 for those without area.
fn normals_of(mesh: &TriMesh) -> Vec<Vec64> {
    let areas = vertex_areas(mesh);
    let normals = mesh.vertex_normals();
    let normal = |(normal, area): (&crate::math::Vec3, &f64)| {
        let normal = normal.cast::<f64>();
        if *area > 0.0 && normal.iter().all(|c| c.is_finite()) {
            normal
        } else {
            Vec64::zeros()
        }
    };
    normals.iter().zip(&areas).map(normal).collect()
}
