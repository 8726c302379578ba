//! Weights by moving least squares for all vertices of a fine mesh.

use rayon::prelude::*;

use super::fit::Fitter;
use super::frames::Frames;
use super::front::{Near, Neighbourhoods, Start, neighbourhoods};
use super::locate::{LocateTarget, edge_lengths};
use super::rows::{BLOCK, WeightBlock};
use super::surface::FrontMesh;
use crate::math::{Point, Vec3};
use crate::mesh::{Closest, TriMesh, TriangleTree};
use crate::progress::{Cancelled, Progress};

/// Number of vertices of a component without coarse vertices for which the closest coarse vertex is searched.
const SAMPLES: usize = 64;

/// Computes the weights. The coarse mesh has at least one finite vertex.
pub(super) fn build(
    fine: &TriMesh,
    coarse: &TriMesh,
    neighbours: usize,
    progress: &Progress,
) -> Result<Vec<WeightBlock>, Cancelled> {
    let surface = FrontMesh::new(fine);
    let target = LocateTarget::new(fine);
    progress.check()?;
    progress.set_fraction(0.1);
    let hits = target.locate(coarse, &edge_lengths(coarse));
    let starts: Vec<Option<Start>> = hits
        .iter()
        .map(|hit| hit.as_ref().map(|hit| start(fine, hit)))
        .collect();
    progress.check()?;
    progress.set_fraction(0.2);
    let found = neighbourhoods(&surface, &starts, neighbours + 1, progress)?;
    progress.set_fraction(0.6);
    let rigid_attachments = rigid_attachments(&surface, coarse, &starts, &found);
    let normals = coarse.vertex_normals();
    let mut rest = Frames::new(coarse.positions.len(), 0, false);
    rest.set_coarse(&coarse.positions);
    let any = coarse
        .positions
        .iter()
        .position(is_finite)
        .unwrap_or_default();
    let fallback = RigidAttachment {
        near: vec![Near {
            distance: 0.0,
            coarse: any as u32,
        }],
        at: coarse.positions[any],
        normal: Vec3::y(),
    };
    let block = |first: usize| {
        progress.check()?;
        let mut fitter = Fitter::new(&coarse.positions, &normals);
        let range = first..(first + BLOCK).min(surface.len());
        let mut block = WeightBlock::new(range.len(), neighbours, coarse.positions.len());
        for v in range.clone() {
            let own = found.of(v);
            if own.is_empty() {
                let attachment = rigid_attachments[surface.part_of[v] as usize]
                    .as_ref()
                    .unwrap_or(&fallback);
                fitter.fit(
                    &attachment.near,
                    neighbours,
                    &attachment.at,
                    &attachment.normal,
                );
            } else {
                fitter.fit(own, neighbours, &fine.positions[v], &Vec3::y());
            }
            block.set(v - first, &fitter.stencil);
        }
        block.set_remainder(&rest, &fine.positions[range]);
        progress.set_fraction(0.6 + 0.4 * first as f32 / surface.len() as f32);
        Ok(block)
    };
    (0..surface.len())
        .into_par_iter()
        .step_by(BLOCK)
        .map(block)
        .collect()
}

fn is_finite(point: &Point) -> bool {
    point.iter().all(|c| c.is_finite())
}

/// The corners of the triangle where a coarse vertex was located, and their distances.
fn start(fine: &TriMesh, hit: &Closest) -> Start {
    fine.triangles[hit.triangle as usize].map(|v| {
        (
            v,
            (fine.positions[v as usize].cast::<f64>() - hit.point).norm() as f32,
        )
    })
}

/// Attachment of a component without coarse vertices: it moves rigidly with one point of another component.
struct RigidAttachment {
    near: Vec<Near>,
    at: Point,
    normal: Vec3,
}

/// For every component without coarse vertices its attachment to the closest coarse vertex, with that vertex's
/// neighbours.
fn rigid_attachments(
    surface: &FrontMesh<'_>,
    coarse: &TriMesh,
    starts: &[Option<Start>],
    found: &Neighbourhoods,
) -> Vec<Option<RigidAttachment>> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); surface.parts];
    let mut reached = vec![false; surface.parts];
    for v in 0..surface.len() {
        let part = surface.part_of[v] as usize;
        if !found.of(v).is_empty() {
            reached[part] = true;
        } else if is_finite(&surface.positions[v]) {
            members[part].push(v as u32);
        }
    }
    if reached.iter().all(|&reached| reached) {
        return (0..surface.parts).map(|_| None).collect();
    }
    let tree = TriangleTree::new(coarse);
    let attachment = |members: &Vec<u32>| {
        if members.is_empty() {
            return None;
        }
        let step = members.len().div_ceil(SAMPLES);
        let samples = members
            .iter()
            .step_by(step)
            .map(|&v| surface.positions[v as usize]);
        let (c, at, normal) = samples
            .filter_map(|sample| closest(&tree, coarse, starts, &sample))
            .min_by(|a, b| a.0.total_cmp(&b.0))?
            .1;
        let near = starts[c as usize]
            .iter()
            .flatten()
            .map(|&(v, _)| found.of(v as usize))
            .find(|near| !near.is_empty());
        Some(RigidAttachment {
            near: near.map_or_else(
                || {
                    vec![Near {
                        distance: 0.0,
                        coarse: c,
                    }]
                },
                <[Near]>::to_vec,
            ),
            at,
            normal,
        })
    };
    members.par_iter().map(attachment).collect()
}

/// The coarse vertex nearest to a point, the closest point on the coarse mesh and the normal there,
/// with the distance.
fn closest(
    tree: &TriangleTree,
    coarse: &TriMesh,
    starts: &[Option<Start>],
    point: &Point,
) -> Option<(f64, (u32, Point, Vec3))> {
    let usable = |triangle: u32| {
        coarse.triangles[triangle as usize]
            .iter()
            .all(|&c| starts[c as usize].is_some())
    };
    let distance_to = |c: u32| (coarse.positions[c as usize] - point).norm_squared();
    if let Some(hit) = tree.closest(&point.cast(), f64::INFINITY, usable) {
        let corners = coarse.triangles[hit.triangle as usize];
        let c = corners
            .into_iter()
            .min_by(|&a, &b| distance_to(a).total_cmp(&distance_to(b)))?;
        let [p, q, r] = coarse.corners(hit.triangle as usize);
        return Some((hit.distance, (c, hit.point.cast(), (q - p).cross(&(r - p)))));
    }
    let nowhere = starts.iter().all(Option::is_none);
    let fits = |&c: &u32| {
        if nowhere {
            is_finite(&coarse.positions[c as usize])
        } else {
            starts[c as usize].is_some()
        }
    };
    let all = (0..coarse.positions.len() as u32).filter(fits);
    let c = all.min_by(|&a, &b| distance_to(a).total_cmp(&distance_to(b)))?;
    Some((
        f64::from(distance_to(c)).sqrt(),
        (c, coarse.positions[c as usize], Vec3::y()),
    ))
}
