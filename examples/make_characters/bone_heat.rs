//! Skin weights from heat that flows over the skin, out of the nearest bones.
//!
//! Baran and Popović, "Automatic Rigging and Animation of 3D Characters", SIGGRAPH 2007, section 4.2: for every joint
//! `(L + H) wⱼ = H pⱼ`, with the cotangent Laplacian `L`, `H` diagonal with `c / d²` at a vertex at distance `d` from its nearest
//! visible bone, and `pⱼ` 1 where that bone is the joint's.
//!
//! # Departures
//! - `H` counts a vertex by its area, so that the weights do not depend on the meshing.
//! - Visibility is asked of the implicit solid instead of a distance field of the mesh.

use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use sinew::math::{Point64, Vec64};

use crate::field::Field;
use crate::polygonise::Mesh;

/// A line through the flesh that a joint moves.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// The joint.
    pub joint: usize,
    /// One end.
    pub from: Point64,
    /// The other end.
    pub to: Point64,
}

/// How strongly a bone holds the skin against its spreading; larger is stiffer.
const HOLD: f64 = 1.0;
/// Most joints that may move a vertex.
pub const MOST_INFLUENCES: usize = 4;

/// For every vertex its weights, one per joint, unlimited and summing to 1.
///
/// # Errors
/// If the sparse system can't be factored.
pub fn bone_heat(mesh: &Mesh, field: &Field, segments: &[Segment], joints: usize) -> Result<Vec<Vec<f64>>, String> {
    let n = mesh.positions.len();
    let nearest: Vec<(Vec<usize>, f64)> = mesh.positions.iter().map(|p| nearest_visible(p, field, segments)).collect();
    let mut area = vec![0.0; n];
    let mut triplets: Vec<Triplet<u32, u32, f64>> = Vec::with_capacity(n * 8);
    for triangle in &mesh.triangles {
        let p = triangle.map(|v| mesh.positions[v as usize]);
        let twice = (p[1] - p[0]).cross(&(p[2] - p[0])).norm();
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            area[triangle[i] as usize] += twice / 6.0;
            // The cotangent at corner i belongs to the edge j–k.
            let half = 0.5 * (p[j] - p[i]).dot(&(p[k] - p[i])) / twice.max(1e-18);
            let (j, k) = (triangle[j], triangle[k]);
            triplets.extend([(j, j, half), (k, k, half), (j, k, -half), (k, j, -half)].map(|(r, c, v)| Triplet::new(r, c, v)));
        }
    }
    let hold: Vec<f64> = (0..n).map(|v| HOLD * area[v] / nearest[v].1.powi(2)).collect();
    triplets.extend(hold.iter().enumerate().map(|(v, &h)| Triplet::new(v as u32, v as u32, h)));
    let matrix = SparseColMat::<u32, f64>::try_new_from_triplets(n, n, &triplets).map_err(|e| format!("{e:?}"))?;
    let factor = matrix.sp_cholesky(faer::Side::Lower).map_err(|e| format!("{e:?}"))?;
    let mut right = faer::Mat::<f64>::zeros(n, joints);
    for (v, (owners, _)) in nearest.iter().enumerate() {
        for &joint in owners {
            right[(v, joint)] += hold[v] / owners.len() as f64;
        }
    }
    let solved = factor.solve(&right);
    Ok((0..n).map(|v| (0..joints).map(|j| solved[(v, j)].max(0.0)).collect()).collect())
}

fn nearest_on(p: &Point64, segment: &Segment) -> Point64 {
    let axis: Vec64 = segment.to - segment.from;
    let t = (p - segment.from).dot(&axis) / axis.norm_squared().max(1e-18);
    segment.from + axis * t.clamp(0.0, 1.0)
}

/// Joints of the nearest bones that are seen from the skin through the flesh, and their distance.
fn nearest_visible(p: &Point64, field: &Field, segments: &[Segment]) -> (Vec<usize>, f64) {
    let mut feet: Vec<(f64, usize, Point64)> = segments
        .iter()
        .map(|segment| {
            let foot = nearest_on(p, segment);
            ((foot - p).norm().max(1e-3), segment.joint, foot)
        })
        .collect();
    feet.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let visible = |foot: &Point64| (1..10).all(|i| field.distance(&(p + (foot - p) * (f64::from(i) / 10.0))) < 1e-3);
    let Some(first) = feet.iter().find(|(_, _, foot)| visible(foot)).or(feet.first()).copied() else { return (Vec::new(), 1.0) };
    let near = feet.iter().filter(|(d, _, foot)| *d >= first.0 - 1e-12 && *d < first.0 * 1.0001 && visible(foot));
    let mut owners: Vec<usize> = near.map(|&(_, joint, _)| joint).collect();
    owners.push(first.1);
    owners.sort_unstable();
    owners.dedup();
    (owners, first.0)
}

/// The largest few weights of every vertex, smoothly faded out so that none jumps where it is cut, as rows of `(joint, weight)`.
pub fn limited(weights: &[Vec<f64>]) -> Vec<Vec<(u32, f32)>> {
    weights.iter().map(|row| limit(row)).collect()
}

fn limit(row: &[f64]) -> Vec<(u32, f32)> {
    let mut order: Vec<(f64, usize)> = row.iter().copied().zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let cut = order.get(MOST_INFLUENCES).map_or(0.0, |next| next.0).max(0.004);
    let kept: Vec<(f64, usize)> = order.into_iter().take(MOST_INFLUENCES).map(|(w, j)| (w - cut, j)).filter(|(w, _)| *w > 1e-5).collect();
    let sum: f64 = kept.iter().map(|(w, _)| w).sum();
    kept.into_iter().map(|(w, j)| (j as u32, (w / sum) as f32)).collect()
}
