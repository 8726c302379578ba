//! Rows of weights in double precision: sums, smoothing over a mesh, and the limit of influences.

use rayon::prelude::*;

use super::{SkinWeights, WeightError};
use crate::math::Point64;
use crate::mesh::Topology;
use crate::progress::Progress;

/// The weights of one vertex: joints ascending, each at most once.
pub(super) type Row = Vec<(u32, f64)>;

/// Weights that differ by no more than this part are equal where a choice between joints depends on it.
const TIE: f64 = 1e-6;

/// Adds up rows. Joints are numbered below the size that it was made for; others are ignored.
#[derive(Debug, Clone)]
pub(super) struct RowSum {
    values: Vec<f64>,
    touched: Vec<u32>,
}

impl RowSum {
    pub fn new(joints: usize) -> Self {
        Self {
            values: vec![0.0; joints],
            touched: Vec::new(),
        }
    }

    /// Adds a row, times a factor.
    pub fn add(&mut self, row: &[(u32, f64)], factor: f64) {
        for &(joint, weight) in row {
            self.add_one(joint, weight * factor);
        }
    }

    /// Adds to the weight of one joint.
    pub fn add_one(&mut self, joint: u32, weight: f64) {
        let Some(value) = self.values.get_mut(joint as usize) else {
            return;
        };
        if *value == 0.0 && weight > 0.0 {
            self.touched.push(joint);
        }
        if weight > 0.0 {
            *value += weight;
        }
    }

    /// The sum; empty from then on.
    pub fn take(&mut self) -> Row {
        self.touched.sort_unstable();
        let values = &mut self.values;
        let taken = |joint: u32| (joint, std::mem::take(&mut values[joint as usize]));
        self.touched.drain(..).map(taken).collect()
    }
}

/// The rows of some weights, one per vertex of a mesh; empty for vertices beyond the weights. Weights that are not finite and positive
/// are left out.
pub(super) fn rows_of(weights: &SkinWeights, vertices: usize) -> Vec<Row> {
    let row = |vertex: usize| -> Row {
        if vertex >= weights.len() {
            return Row::new();
        }
        let usable = |&(_, weight): &(usize, f32)| weight.is_finite() && weight > 0.0;
        let mut row: Row = weights
            .of(vertex)
            .filter(usable)
            .map(|(joint, weight)| (joint as u32, f64::from(weight)))
            .collect();
        row.sort_by_key(|&(joint, _)| joint);
        row
    };
    (0..vertices).map(row).collect()
}

/// The rows as weights; each is made to sum to 1.
pub(super) fn weights_of(rows: &[Row]) -> SkinWeights {
    let single = |row: &Row| -> Vec<(u32, f32)> {
        row.iter()
            .map(|&(joint, weight)| (joint, weight as f32))
            .collect()
    };
    SkinWeights::from_rows(rows.iter().map(single)).0
}

/// Divides a row by its sum.
pub(super) fn normalise(row: &mut Row) {
    let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
    if sum > 0.0 {
        for (_, weight) in row {
            *weight /= sum;
        }
    }
}

/// One pass over the mesh: w ← (1 − μ) w + μ · mean of the neighbours that have weights, with μ of each vertex from `strength`; `None`
/// leaves it as it is. A vertex without weights takes the mean alone.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn smoothed(
    rows: &[Row],
    topology: &Topology,
    joints: usize,
    strength: impl Fn(usize) -> Option<f64> + Sync,
    progress: &Progress,
) -> Result<Vec<Row>, WeightError> {
    let average = |sum: &mut RowSum, vertex: usize| {
        let own = &rows[vertex];
        let Some(strength) = strength(vertex).filter(|_| !progress.is_cancelled()) else {
            return own.clone();
        };
        let neighbors = || {
            let all = topology.neighbors(vertex).iter();
            all.map(|&next| &rows[next as usize])
                .filter(|row| !row.is_empty())
        };
        let count = neighbors().count();
        if count == 0 {
            return own.clone();
        }
        let share = if own.is_empty() { 1.0 } else { strength };
        sum.add(own, 1.0 - share);
        for row in neighbors() {
            sum.add(row, share / count as f64);
        }
        sum.take()
    };
    let averaged = (0..rows.len())
        .into_par_iter()
        .map_init(|| RowSum::new(joints), average)
        .collect();
    progress.check()?;
    Ok(averaged)
}

/// Drops small weights and keeps the largest ones, both continuously, so that no weight jumps along the skin; the rest is made to sum
/// to 1, joints ascending.
///
/// A weight w below 2 t fades as 2 (w − t), which is 0 at the threshold t. Of the weights left, the K + 1st largest is subtracted from
/// the K largest: where two joints change places, both are 0. If no weight exceeds the threshold, all count; if the K + 1 largest are
/// equal, the K of them with the lowest indices.
pub(super) fn limited(row: &[(u32, f64)], influences: usize, least: f64) -> Row {
    let fade = |weight: f64| {
        if weight >= 2.0 * least {
            weight
        } else {
            2.0 * (weight - least)
        }
    };
    let usable = || {
        row.iter()
            .copied()
            .filter(|(_, weight)| weight.is_finite() && *weight > 0.0)
    };
    let faded = |(joint, weight): (u32, f64)| (joint, fade(weight));
    let mut order: Row = usable().map(faded).filter(|(_, w)| *w > 0.0).collect();
    if order.is_empty() {
        order = usable().collect();
    }
    let influences = influences.max(1);
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if let (Some(&(_, first)), Some(&(_, cut))) = (order.first(), order.get(influences)) {
        if first - cut > TIE * first {
            order.truncate(influences);
            for (_, weight) in &mut order {
                *weight -= cut;
            }
            order.retain(|(_, weight)| *weight > 0.0);
        } else {
            order.retain(|(_, weight)| first - weight <= TIE * first);
            order.sort_by_key(|&(joint, _)| joint);
            order.truncate(influences);
        }
    }
    normalise(&mut order);
    order.sort_by_key(|&(joint, _)| joint);
    order
}

/// The parts of the corners of a triangle at one of its points, not negative, summing to 1; equal for a triangle without area. A point
/// at a corner, but for rounding, has that corner alone.
pub(super) fn barycentric(corners: &[Point64; 3], point: &Point64) -> [f64; 3] {
    const AT_CORNER: f64 = 1.0 - 1e-4;
    let [a, b, c] = corners;
    let area = |p: &Point64, q: &Point64| (p - point).cross(&(q - point)).norm();
    let parts = [area(b, c), area(c, a), area(a, b)];
    let sum: f64 = parts.iter().sum();
    if !(sum > 0.0 && sum.is_finite()) {
        let nearest = |k: &usize| (corners[*k] - point).norm();
        let closest = (0..3).min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
        return [0, 1, 2].map(|k| f64::from(u8::from(Some(k) == closest)));
    }
    let parts = parts.map(|part| part / sum);
    if parts.iter().any(|part| *part > AT_CORNER) {
        return parts.map(|part| f64::from(u8::from(part > AT_CORNER)));
    }
    parts
}
