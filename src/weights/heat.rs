//! Bone heat: every vertex is heated by its nearest bone, and the heat spreads over the skin.
//!
//! Baran, Popović, "Automatic Rigging and Animation of 3D Characters", SIGGRAPH 2007, section 4: for every joint j
//!
//! ```text
//! (L + M H) wⱼ = M H pⱼ
//! ```
//!
//! | paper | here                  | shape        | unit   | note                                                  |
//! |-------|-----------------------|--------------|--------|-------------------------------------------------------|
//! | L     | [`cotangent_laplacian`] | n × n      | –      | positive semi-definite, rows sum to 0                 |
//! | M     | [`vertex_areas`]      | n (diagonal) | length² |                                                      |
//! | H     | c / d²                | n (diagonal) | length⁻² | d: distance to the nearest bone; 0 where it is hidden |
//! | p     | [`HeatSource::joints`] | n × joints  | –      | 1, or 1/k for each of k joints at the same distance   |
//! | c     | [`CONDUCTION`]        | 1            | –      | larger is stiffer                                     |
//!
//! `Σ pⱼ = 1` wherever `H > 0` and `L 1 = 0` give `Σ wⱼ = 1`.
//!
//! # Departures
//! - `H` is weighted by the area of the vertex, so that the weights do not depend on the density of the mesh.
//! - Every connected part is solved on its own. A part that no bone heats (an eye, a button) takes the weights of the closest point of
//!   the parts that have some. If no bone is seen at all, the weights are those by distance. Nothing fails as a whole.
//! - The four largest weights of a vertex are kept; the fifth is subtracted from them first, so that none jumps to 0.

use rayon::prelude::*;

use super::{
    ComputedWeights, Segment, SkinWeights, WeightDescriptor, WeightError, WeightInput,
    WeightReport, by_distance,
};
use crate::math::Point64;
use crate::mesh::{Topology, TriMesh, TriangleTree, cotangent_laplacian, vertex_areas};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::Progress;

/// Bone heat.
pub(super) const DESCRIPTOR: WeightDescriptor = WeightDescriptor {
    id: "heat",
    label: "Bone heat",
    doc: "Heat that spreads over the skin from the nearest visible bones. Best on one closed skin.",
    cost: "0.3 s",
    source: "Baran, Popović, Automatic Rigging and Animation of 3D Characters, SIGGRAPH 2007, section 4",
    departures: &[
        "Heat is weighted by the area of vertices, so that the density of the mesh does not matter.",
        "Parts that no bone heats take the weights of the closest part that has some; nothing fails as a whole.",
        "The fifth largest weight of a vertex is subtracted from the four that are kept, so that none jumps.",
    ],
    params: &[],
    version: 3,
    compute: Some(bone_heat),
};

/// How strongly a bone heats the skin.
const CONDUCTION: f64 = 1.0;
/// Bones that are farther away than the nearest by no more than this, relative to its distance, count as equally near.
const TIE: f64 = 1e-4;
/// Part of the way from a vertex to a bone within which its own triangles do not hide the bone.
const OWN_TRIANGLES: f64 = 1e-4;
/// Most joints that move a vertex.
const INFLUENCES: usize = 4;
/// Weights below this are dropped, and all others reduced by it, before they are made to sum to 1.
const LEAST: f64 = 0.004;

/// The heat that a vertex gets from bones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatSource {
    /// Joints whose bones heat it, in equal parts; none if the nearest bone is hidden.
    pub joints: Vec<u32>,
    /// Distance to the nearest of these bones.
    pub distance: f64,
}

/// Weights of the vertices of a skin in the bind pose, at most four each.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn bone_heat(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let WeightInput { mesh, skeleton, .. } = *input;
    let segments = Segment::of(skeleton);
    progress.report(0.0, "Finding visible bones");
    let tree = TriangleTree::new(mesh);
    let least = f64::from(mesh.bounds().size()).max(f64::MIN_POSITIVE) * 1e-6;
    let sources: Vec<HeatSource> = mesh
        .positions
        .par_iter()
        .map(|position| heat_source(&position.cast(), &segments, &tree, least))
        .collect();
    let heated = heat_equilibrium(mesh, &sources, skeleton.len(), &progress.part(0.2, 0.9))?;
    progress.check()?;
    progress.report(0.9, "Filling parts without bones");
    let rows = limited(&heated);
    let report = WeightReport {
        unseeded: without_heat(&segments, &sources),
        unreached: rows.iter().filter(|row| row.is_empty()).count(),
        unknowns: mesh.positions.len(),
    };
    let weights = fill(mesh, &rows, || by_distance(mesh, skeleton));
    Ok(ComputedWeights { weights, report })
}

/// Joints whose bones heat no vertex, ascending.
fn without_heat(segments: &[Segment], sources: &[HeatSource]) -> Vec<u32> {
    let mut joints: Vec<u32> = segments.iter().map(|segment| segment.joint).collect();
    joints.sort_unstable();
    joints.dedup();
    let last = joints.last().map_or(0, |&joint| joint as usize + 1);
    let mut heats = vec![false; last];
    for &joint in sources.iter().flat_map(|source| &source.joints) {
        heats[joint as usize] = true;
    }
    joints.retain(|&joint| !heats[joint as usize]);
    joints
}

/// The nearest bones, if they are seen from the point.
fn heat_source(
    point: &Point64,
    segments: &[Segment],
    tree: &TriangleTree,
    least: f64,
) -> HeatSource {
    let feet: Vec<(u32, Point64, f64)> = segments
        .iter()
        .map(|segment| {
            let foot = segment.nearest_to(point);
            (segment.joint, foot, (foot - point).norm().max(least))
        })
        .collect();
    let nearest = feet
        .iter()
        .map(|&(_, _, distance)| distance)
        .fold(f64::INFINITY, f64::min);
    let is_seen = |foot: &Point64| {
        let mut hidden = false;
        let range = [OWN_TRIANGLES, 1.0 - 1e-9];
        tree.crossings(point, &(foot - point), range, |_| hidden = true);
        !hidden
    };
    let mut joints: Vec<u32> = feet
        .iter()
        .filter(|(_, foot, distance)| *distance <= nearest * (1.0 + TIE) && is_seen(foot))
        .map(|&(joint, _, _)| joint)
        .collect();
    joints.sort_unstable();
    joints.dedup();
    HeatSource {
        joints,
        distance: nearest,
    }
}

/// The equilibrium of the heat, one row of weights per vertex with a column per joint: not negative, summing to 1. Rows of parts that
/// no bone heats are empty.
///
/// # Errors
/// [`WeightError::Cancelled`].
///
/// # Panics
/// If there are fewer sources than vertices.
pub fn heat_equilibrium(
    mesh: &TriMesh,
    sources: &[HeatSource],
    joints: usize,
    progress: &Progress,
) -> Result<Vec<Vec<f64>>, WeightError> {
    progress.report(0.0, "Spreading heat");
    let (laplacian, areas) = (cotangent_laplacian(mesh), vertex_areas(mesh));
    let parts = LaplacianParts::of(mesh, &laplacian);
    progress.check()?;
    let solved: Vec<Vec<(usize, Vec<f64>)>> = (0..parts.vertices.len())
        .into_par_iter()
        .map(|part| {
            if progress.is_cancelled() {
                return Vec::new();
            }
            solve_part(&parts, part, sources, &areas, joints)
        })
        .collect();
    progress.check()?;
    let mut rows = vec![Vec::new(); mesh.positions.len()];
    for (vertex, row) in solved.into_iter().flatten() {
        rows[vertex] = row;
    }
    Ok(rows)
}

/// The Laplacian taken apart by connected parts.
struct LaplacianParts {
    /// The vertices of each part, ascending.
    vertices: Vec<Vec<u32>>,
    /// Entries of the Laplacian of each part, by places in its `vertices`.
    entries: Vec<Vec<(usize, usize, f64)>>,
}

impl LaplacianParts {
    fn of(mesh: &TriMesh, laplacian: &SymmetricMatrix) -> Self {
        let topology = Topology::of(mesh);
        let mut vertices = vec![Vec::new(); topology.components];
        let mut place = vec![0; mesh.positions.len()];
        for (vertex, &part) in topology.component_of.iter().enumerate() {
            let own: &mut Vec<u32> = &mut vertices[part as usize];
            place[vertex] = own.len();
            own.push(vertex as u32);
        }
        let mut entries = vec![Vec::new(); topology.components];
        for (row, column, value) in laplacian.entries() {
            let part = topology.component_of[row] as usize;
            entries[part].push((place[row], place[column], value));
        }
        Self { vertices, entries }
    }
}

/// The weights of one part; nothing if no bone heats it, or its system cannot be factored.
fn solve_part(
    parts: &LaplacianParts,
    part: usize,
    sources: &[HeatSource],
    areas: &[f64],
    joints: usize,
) -> Vec<(usize, Vec<f64>)> {
    let vertices = &parts.vertices[part];
    let count = vertices.len();
    // M H of each vertex.
    let heat: Vec<f64> = vertices
        .iter()
        .map(|&vertex| {
            let source = &sources[vertex as usize];
            if source.joints.is_empty() {
                0.0
            } else {
                CONDUCTION * areas[vertex as usize] / source.distance.powi(2)
            }
        })
        .collect();
    let is_heated = |joint: &u32| {
        vertices
            .iter()
            .any(|&vertex| sources[vertex as usize].joints.contains(joint))
    };
    let columns: Vec<u32> = (0..joints as u32).filter(is_heated).collect();
    if columns.is_empty() {
        return Vec::new();
    }
    let matrix = SymmetricMatrix::from_triplets(count, parts.entries[part].iter().copied())
        .plus_diagonal(&heat);
    let Ok(factor) = Cholesky::<f64>::factor(&matrix, Ordering::default()) else {
        return Vec::new();
    };
    let mut solution = vec![0.0; count * columns.len()];
    for (place, &vertex) in vertices.iter().enumerate() {
        let owners = &sources[vertex as usize].joints;
        for joint in owners {
            if let Ok(column) = columns.binary_search(joint) {
                solution[column * count + place] = heat[place] / owners.len() as f64;
            }
        }
    }
    factor.solve(&mut solution);
    let row = |place: usize| {
        let mut row = vec![0.0; joints];
        for (column, &joint) in columns.iter().enumerate() {
            row[joint as usize] = solution[column * count + place].clamp(0.0, 1.0);
        }
        row
    };
    (0..count)
        .map(|place| (vertices[place] as usize, row(place)))
        .collect()
}

/// The largest weights of every vertex, faded out so that none jumps where the fifth replaces the fourth, as rows of (joint, weight).
#[must_use]
pub fn limited(weights: &[Vec<f64>]) -> Vec<Vec<(u32, f32)>> {
    weights.iter().map(|row| limit(row)).collect()
}

fn limit(row: &[f64]) -> Vec<(u32, f32)> {
    let mut order: Vec<(f64, u32)> = row.iter().copied().zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let cut = order.get(INFLUENCES).map_or(0.0, |next| next.0).max(LEAST);
    let mut kept: Vec<(f64, u32)> = order
        .iter()
        .take(INFLUENCES)
        .map(|&(weight, joint)| (weight - cut, joint))
        .filter(|(weight, _)| *weight > 1e-5)
        .collect();
    if kept.is_empty() {
        // Five equal weights: the first counts alone.
        kept.extend(order.first().filter(|(weight, _)| *weight > 0.0));
    }
    let sum: f64 = kept.iter().map(|(weight, _)| weight).sum();
    kept.into_iter()
        .map(|(weight, joint)| (joint, (weight / sum) as f32))
        .collect()
}

/// Gives vertices without weights those of the closest point of the triangles that have some; `otherwise` if there is none.
fn fill(
    mesh: &TriMesh,
    rows: &[Vec<(u32, f32)>],
    otherwise: impl FnOnce() -> SkinWeights,
) -> SkinWeights {
    if rows.iter().all(|row| !row.is_empty()) {
        return SkinWeights::from_rows(rows.iter().cloned()).0;
    }
    let has_weights = |triangle: &[u32; 3]| triangle.iter().all(|&v| !rows[v as usize].is_empty());
    let heated = TriMesh {
        positions: mesh.positions.clone(),
        triangles: mesh.triangles.iter().copied().filter(has_weights).collect(),
    };
    let tree = TriangleTree::new(&heated);
    let by_distance = heated.triangles.is_empty().then(otherwise);
    let row = |(vertex, row): (usize, &Vec<(u32, f32)>)| -> Vec<(u32, f32)> {
        if !row.is_empty() {
            return row.clone();
        }
        if let Some(weights) = &by_distance {
            return weights.row(vertex);
        }
        let point: Point64 = mesh.positions[vertex].cast();
        let Some(found) = tree.closest(&point, f64::INFINITY, |_| true) else {
            // A position that is not finite moves with the root.
            return vec![(0, 1.0)];
        };
        interpolated(&heated, rows, found.triangle as usize, &found.point)
    };
    let filled: Vec<_> = rows.par_iter().enumerate().map(row).collect();
    SkinWeights::from_rows(filled).0
}

/// The weights at a point of a triangle.
fn interpolated(
    mesh: &TriMesh,
    rows: &[Vec<(u32, f32)>],
    triangle: usize,
    point: &Point64,
) -> Vec<(u32, f32)> {
    let [a, b, c] = mesh.corners(triangle).map(nalgebra::OPoint::cast::<f64>);
    let area = |p: &Point64, q: &Point64| (p - point).cross(&(q - point)).norm();
    let shares = [area(&b, &c), area(&c, &a), area(&a, &b)];
    let sum: f64 = shares.iter().sum();
    let mut row: Vec<(u32, f32)> = Vec::new();
    for (&corner, share) in mesh.triangles[triangle].iter().zip(shares) {
        let share = if sum > 0.0 { share / sum } else { 1.0 / 3.0 };
        row.extend(
            rows[corner as usize]
                .iter()
                .map(|&(joint, weight)| (joint, weight * share as f32)),
        );
    }
    let merged = SkinWeights::from_rows([row]).0;
    let mut row = merged.row(0);
    row.truncate(INFLUENCES);
    row
}
