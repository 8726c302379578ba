//! The transforms of the helpers in each frame, with fixed weights.

use nalgebra::Matrix3;
use rayon::prelude::*;

use super::frames::{Delta, Frames, moved};
use super::rows::Row;
use crate::math::{Point, Vec64, closest_rotation};

/// A helper moves vertices by at least this weight.
const LEAST: f64 = 1e-3;
/// Part of the covariance that holds a rotation at that of the round before, where vertices on a line or at a point leave it open.
const HOLD: f64 = 1e-6;

/// Transforms that helpers are pulled towards.
pub(super) struct Guide<'a> {
    /// Of each frame, of each bone.
    pub deltas: &'a [Vec<Delta>],
    /// Weight of the pull, as part of that of the data.
    pub pull: f64,
}

/// The vertices that a helper moves, with their weights.
struct Members {
    vertices: Vec<(u32, f64)>,
    centre: Vec64,
    /// Sum of the squares of the weights.
    total: f64,
}

impl Members {
    fn new(vertices: Vec<(u32, f64)>, bind: &[Vec64]) -> Self {
        let total: f64 = vertices.iter().map(|(_, weight)| weight * weight).sum();
        let sum: Vec64 = vertices
            .iter()
            .map(|&(v, w)| bind[v as usize] * (w * w))
            .sum();
        Self {
            vertices,
            centre: sum / total.max(f64::MIN_POSITIVE),
            total,
        }
    }
}

/// The place of a vertex by linear blending.
pub(super) fn blended(row: &[(u32, f64)], deltas: &[Delta], place: &Vec64) -> Vec64 {
    let parts = row
        .iter()
        .map(|&(bone, w)| moved(&deltas[bone as usize], place) * w);
    parts.sum()
}

/// Appends a helper that moves as its vertices do: the rigid transform nearest to their motion.
pub(super) fn start(frames: &mut Frames, bind: &[Vec64], members: &[(u32, f64)], region: usize) {
    let weighted = members
        .iter()
        .map(|&(vertex, part)| (vertex, part.sqrt()))
        .collect();
    let members = Members::new(weighted, bind);
    let positions = &frames.positions;
    frames
        .deltas
        .par_iter_mut()
        .enumerate()
        .for_each(|(frame, deltas)| {
            let target =
                |vertex: u32, weight: f64| place(positions[frame], vertex) * (weight * weight);
            let guide = deltas[region];
            deltas.push(nearest_rigid(
                &members,
                bind,
                target,
                1.0,
                &guide,
                scale_of(&guide),
            ));
        });
}

/// Fits the helpers of every frame, one after another, `sweeps` times. Returns the centre of each helper that moves vertices.
///
/// With q the part of a vertex that the other bones leave, it minimises Σ |q − w T p|² and, with a guide D, μ Σ w² |T p − D p|²:
/// a weighted Procrustes problem (Le and Deng 2012, equations 8–10).
pub(super) fn fit(
    frames: &mut Frames,
    bind: &[Vec64],
    rows: &[Row],
    guide: Option<&Guide>,
    sweeps: usize,
) -> Vec<Option<Vec64>> {
    let joints = frames.world_from_joint.first().map_or(0, Vec::len);
    let bones = frames.deltas.first().map_or(0, Vec::len);
    let mut vertices: Vec<Vec<(u32, f64)>> = vec![Vec::new(); bones - joints];
    for (vertex, row) in rows.iter().enumerate() {
        for &(bone, weight) in row {
            if bone as usize >= joints && weight > LEAST {
                vertices[bone as usize - joints].push((vertex as u32, weight));
            }
        }
    }
    let members: Vec<Members> = vertices
        .into_iter()
        .map(|v| Members::new(v, bind))
        .collect();
    let positions = &frames.positions;
    frames
        .deltas
        .par_iter_mut()
        .enumerate()
        .for_each(|(frame, deltas)| {
            let guide = guide.map(|guide| (guide.deltas[frame].as_slice(), guide.pull));
            let mut current: Vec<Vec64> = rows
                .iter()
                .zip(bind)
                .map(|(row, place)| blended(row, deltas, place))
                .collect();
            for _ in 0..sweeps {
                for (helper, members) in members.iter().enumerate() {
                    fit_one(
                        deltas,
                        joints + helper,
                        members,
                        bind,
                        positions[frame],
                        &mut current,
                        guide,
                    );
                }
            }
        });
    let used = |members: &Members| (!members.vertices.is_empty()).then_some(members.centre);
    members.iter().map(used).collect()
}

/// Fits one helper in one frame, and moves its vertices.
fn fit_one(
    deltas: &mut [Delta],
    bone: usize,
    members: &Members,
    bind: &[Vec64],
    positions: &[Point],
    current: &mut [Vec64],
    guide: Option<(&[Delta], f64)>,
) {
    if members.vertices.is_empty() {
        return;
    }
    let before = deltas[bone];
    let pull = guide.map_or(0.0, |(_, pull)| pull);
    let target = |vertex: u32, weight: f64| {
        let at = vertex as usize;
        let left = place(positions, vertex) - current[at] + moved(&before, &bind[at]) * weight;
        let pulled = guide.map_or_else(Vec64::zeros, |(guides, pull)| {
            moved(&guides[bone], &bind[at]) * (pull * weight * weight)
        });
        left * weight + pulled
    };
    let scale = scale_of(&before);
    let after = nearest_rigid(members, bind, target, 1.0 + pull, &before, scale);
    for &(vertex, weight) in &members.vertices {
        let at = vertex as usize;
        current[at] += (moved(&after, &bind[at]) - moved(&before, &bind[at])) * weight;
    }
    deltas[bone] = after;
}

/// The transform of a rotation and a given scale that minimises Σ a |T p − t / a|², with a = `factor` · w² and `target` giving t.
fn nearest_rigid(
    members: &Members,
    bind: &[Vec64],
    target: impl Fn(u32, f64) -> Vec64,
    factor: f64,
    before: &Delta,
    scale: f64,
) -> Delta {
    let (mut sum, mut covariance) = (Vec64::zeros(), Matrix3::zeros());
    for &(vertex, weight) in &members.vertices {
        let target = target(vertex, weight);
        sum += target;
        covariance += target * (bind[vertex as usize] - members.centre).transpose();
    }
    let middle = sum / (members.total * factor).max(f64::MIN_POSITIVE);
    let hold = HOLD * covariance.norm() + f64::MIN_POSITIVE;
    let kept = before.fixed_columns::<3>(0) / scale;
    let rotation = closest_rotation(&(covariance + kept * hold)) * scale;
    let mut delta = Delta::zeros();
    delta.fixed_columns_mut::<3>(0).copy_from(&rotation);
    delta.set_column(3, &(middle - rotation * members.centre));
    delta
}

/// The scale of a transform; 1 where it is flat.
fn scale_of(delta: &Delta) -> f64 {
    let scale = delta.fixed_columns::<3>(0).determinant().abs().cbrt();
    if scale > 1e-9 && scale.is_finite() {
        scale
    } else {
        1.0
    }
}

fn place(positions: &[Point], vertex: u32) -> Vec64 {
    positions[vertex as usize].coords.cast()
}
