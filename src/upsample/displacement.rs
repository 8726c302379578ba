//! Upsampling by normal displacements, the alternative to which the thesis compares.
//!
//! Botsch and Sorkine, "On linear variational surface deformation methods", TVCG 2008, section 2.4:
//! a fine vertex is a point of a coarse triangle plus a displacement in the local frame, whose
//! third axis is the coarse normal interpolated over the triangle.

use nalgebra::Matrix3;
use rayon::prelude::*;

use super::fit::frame;
use super::frames::{Frames, LocalFrame, Tangents};
use super::locate::{LocateTarget, edge_lengths};
use super::plain::PlainDisplacement;
use super::surface::FrontMesh;
use crate::math::{Point, Point64, Vec3};
use crate::mesh::{Closest, TriMesh, vertex_normals_into};

/// Vertices per task.
const TASK: usize = 1024;

/// Fine vertices on coarse triangles.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Displacement {
    triangles: Vec<[u32; 3]>,
    anchors: Vec<TriangleAnchor>,
}

/// One fine vertex.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct TriangleAnchor {
    corners: [u32; 3],
    /// Barycentric coordinates of the second and third corner.
    share: [f32; 2],
    /// The displacement, along two tangents and the normal.
    local: [f32; 3],
}

impl Displacement {
    /// Binds every fine vertex to its best coarse triangle. `None` if there is no coarse triangle.
    pub(super) fn build(fine: &TriMesh, coarse: &TriMesh) -> Option<Self> {
        if coarse.triangles.is_empty() {
            return None;
        }
        let lengths = edge_lengths(coarse);
        let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
        let target = LocateTarget::new(coarse);
        let found = target.locate(fine, &vec![mean; fine.positions.len()]);
        let on_triangle = |hit: &Option<Closest>| {
            let Some(hit) = hit else {
                return TriangleAnchor {
                    corners: coarse.triangles[0],
                    share: [0.0; 2],
                    local: [0.0; 3],
                };
            };
            let corners = coarse.triangles[hit.triangle as usize];
            TriangleAnchor {
                corners,
                share: barycentric(&hit.point, &coarse.corners(hit.triangle as usize)),
                local: [0.0; 3],
            }
        };
        let mut built = Self {
            triangles: coarse.triangles.clone(),
            anchors: found.iter().map(on_triangle).collect(),
        };
        let normals = coarse.vertex_normals();
        for (anchor, fine) in built.anchors.iter_mut().zip(&fine.positions) {
            let (base, frame) = anchor.place(&coarse.positions, &normals);
            anchor.local = frame.components(&(fine - base));
        }
        Some(built)
    }

    /// Binds every vertex to itself, with one of its edges as a tangent: for equal coarse and fine
    /// meshes.
    pub(super) fn identity(mesh: &TriMesh) -> Self {
        let surface = FrontMesh::new(mesh);
        let anchor = |v: u32| {
            let [a, b] = surface.opposite_edges(v).first().copied().unwrap_or([v, v]);
            TriangleAnchor {
                corners: [v, a, b],
                share: [0.0; 2],
                local: [0.0; 3],
            }
        };
        Self {
            triangles: mesh.triangles.clone(),
            anchors: (0..mesh.positions.len() as u32).map(anchor).collect(),
        }
    }

    /// The displacement of each fine vertex.
    pub(super) fn plain(&self) -> Vec<PlainDisplacement> {
        self.anchors
            .iter()
            .map(
                |&TriangleAnchor {
                     corners,
                     share,
                     local,
                 }| PlainDisplacement {
                    corners,
                    share,
                    local,
                },
            )
            .collect()
    }

    /// The coarse triangles.
    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(super) fn apply(&self, coarse: &[Point], frames: &mut Frames, fine: &mut [Point]) {
        let Frames {
            tangents,
            coarse_normals,
            ..
        } = frames;
        vertex_normals_into(coarse, &self.triangles, coarse_normals);
        let normals = coarse_normals.as_slice();
        let parts = fine.par_chunks_mut(TASK).zip(tangents.par_chunks_mut(TASK));
        self.anchors
            .par_chunks(TASK)
            .zip(parts)
            .for_each(|(anchors, (fine, tangents))| {
                for ((anchor, fine), tangents) in anchors.iter().zip(fine).zip(tangents) {
                    let (base, frame) = anchor.place(coarse, normals);
                    *fine = base + frame.vector(&anchor.local);
                    *tangents = frame.tangents();
                }
            });
    }
}

impl TriangleAnchor {
    /// The point on the triangle and the orthonormal frame there.
    fn place(&self, coarse: &[Point], normals: &[Vec3]) -> (Point, LocalFrame) {
        let [a, b, c] = self.corners.map(|v| coarse[v as usize]);
        let [na, nb, nc] = self.corners.map(|v| normals[v as usize]);
        let [s, t] = self.share;
        let base = a + (b - a) * s + (c - a) * t;
        let normal = na + (nb - na) * s + (nc - na) * t;
        let side = normal.cross(&(b - a));
        let tangents: Option<Tangents> =
            match (normal.try_normalize(1e-20), side.try_normalize(1e-30)) {
                (Some(normal), Some(side)) => {
                    Some([side.cross(&normal), side].map(|t| [t.x, t.y, t.z, 0.0]))
                }
                _ => None,
            };
        (
            base,
            LocalFrame::new(&tangents.unwrap_or_else(|| any_tangents(&normal))),
        )
    }
}

/// Tangents for a degenerate triangle.
fn any_tangents(normal: &Vec3) -> Tangents {
    let axes: Matrix3<f32> = frame(&normal.cast()).cast();
    [axes.column(0), axes.column(1)].map(|t| [t.x, t.y, t.z, 0.0])
}

/// Barycentric coordinates of the second and third corner.
fn barycentric(point: &Point64, corners: &[Point; 3]) -> [f32; 2] {
    let [a, b, c]: [Point64; 3] = [corners[0].cast(), corners[1].cast(), corners[2].cast()];
    let (u, v, p) = (b - a, c - a, point - a);
    let (uu, uv, vv, pu, pv) = (u.dot(&u), u.dot(&v), v.dot(&v), p.dot(&u), p.dot(&v));
    let determinant = uu * vv - uv * uv;
    if determinant > 1e-12 * uu * vv {
        [
            ((vv * pu - uv * pv) / determinant) as f32,
            ((uu * pv - uv * pu) / determinant) as f32,
        ]
    } else if uu >= vv && uu > 0.0 {
        [(pu / uu) as f32, 0.0]
    } else if vv > 0.0 {
        [0.0, (pv / vv) as f32]
    } else {
        [0.0; 2]
    }
}
