//! The weights of each vertex, with fixed transforms.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::frames::{Delta, moved};
use super::least_squares::sparse_weights;
use super::{Fit, SkinWeights};
use crate::math::Vec64;
use crate::progress::{Cancelled, Progress};

/// Bones and weights of a vertex.
pub(super) type Row = Vec<(u32, f64)>;

/// Helpers that may move a vertex: the nearest.
const NEAREST_HELPERS: usize = 5;
/// A helper may move vertices of joints that are no more than so many steps from its own.
const REACH: usize = 3;
/// Smaller weights are dropped.
const LEAST: f64 = 1e-4;

pub(super) fn weights_of(rows: &[Row]) -> SkinWeights {
    let single =
        |row: &Row| -> Vec<(u32, f32)> { row.iter().map(|&(bone, w)| (bone, w as f32)).collect() };
    SkinWeights::from_rows(rows.iter().map(single)).0
}

impl Fit<'_> {
    /// Fits the weights of all vertices to the frames, and to the same frames moved by other transforms, if given.
    pub(super) fn fit_weights(
        &mut self,
        also: Option<&[Vec<Delta>]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let steps = Steps::new(self.skeleton);
        let motions: Vec<&[Vec<Delta>]> = std::iter::once(self.frames.deltas.as_slice())
            .chain(also)
            .collect();
        let rows = (0..self.bind.len()).into_par_iter().map(|vertex| {
            if progress.is_cancelled() {
                return Row::new();
            }
            let start = self.candidates(vertex, &steps);
            self.fit_row(vertex, &start, &motions)
        });
        let rows = rows.collect();
        progress.check()?;
        self.rows = rows;
        Ok(())
    }

    /// The bones that may move a vertex, each with its weight at the start: those of the file, the relatives of the strongest one, and
    /// the nearest helpers.
    fn candidates(&self, vertex: usize, steps: &Steps) -> Row {
        let own = self.initial.of(vertex);
        let mut row: Row = own.map(|(joint, w)| (joint as u32, f64::from(w))).collect();
        let Some(strongest) = self.initial.strongest(vertex) else {
            // Without weights the first joint.
            return vec![(0, 1.0)];
        };
        let joint = &self.skeleton.joints()[strongest];
        let relatives = joint
            .parent
            .into_iter()
            .chain(self.skeleton.children(strongest).iter().copied());
        for relative in relatives.filter(|&joint| self.skeleton.joints()[joint].deforms) {
            if row.iter().all(|&(bone, _)| bone as usize != relative) {
                row.push((relative as u32, 0.0));
            }
        }
        let distance =
            |helper: usize| (self.helpers[helper].centre - self.bind[vertex]).norm_squared();
        let mut near: Vec<usize> = (0..self.helpers.len())
            .filter(|&helper| steps.between(strongest, self.helpers[helper].region) <= REACH)
            .collect();
        near.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
        let first = self.skeleton.len();
        row.extend(
            near.iter()
                .take(NEAREST_HELPERS)
                .map(|&helper| ((first + helper) as u32, 0.0)),
        );
        row
    }

    fn fit_row(&self, vertex: usize, start: &Row, motions: &[&[Vec<Delta>]]) -> Row {
        let count = start.len();
        let mut products = DMatrix::zeros(count, count);
        let mut offsets = vec![Vec64::zeros(); count];
        for (frame, positions) in self.frames.positions.iter().enumerate() {
            let place: Vec64 = positions[vertex].coords.cast();
            for motion in motions {
                for (offset, &(bone, _)) in offsets.iter_mut().zip(start) {
                    *offset = moved(&motion[frame][bone as usize], &self.bind[vertex]) - place;
                }
                for i in 0..count {
                    for j in 0..=i {
                        products[(i, j)] += offsets[i].dot(&offsets[j]);
                    }
                }
            }
        }
        products.fill_upper_triangle_with_lower_triangle();
        let at_start: Vec<f64> = start.iter().map(|&(_, weight)| weight).collect();
        let weights = sparse_weights(&products, &at_start, self.influences);
        let mut row: Row = start
            .iter()
            .zip(&weights)
            .map(|(&(bone, _), &w)| (bone, w))
            .collect();
        row.retain(|&(_, weight)| weight > LEAST);
        let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
        for (_, weight) in &mut row {
            *weight /= sum;
        }
        row
    }
}

/// How many steps one joint is from another, from parent to child or back.
pub(super) struct Steps {
    joints: usize,
    steps: Vec<u16>,
}

impl Steps {
    pub fn new(skeleton: &crate::rig::Skeleton) -> Self {
        let joints = skeleton.len();
        let mut steps = vec![u16::MAX; joints * joints];
        for joint in 0..joints {
            steps[joint * joints + joint] = 0;
            // Parents come before children, so that all pairs of earlier joints are known.
            let Some(parent) = skeleton.joints()[joint].parent else {
                continue;
            };
            for other in 0..joint {
                let far = steps[parent * joints + other].saturating_add(1);
                steps[joint * joints + other] = far;
                steps[other * joints + joint] = far;
            }
        }
        Self { joints, steps }
    }

    /// A large number for joints that are not connected.
    pub fn between(&self, a: usize, b: usize) -> usize {
        self.steps[a * self.joints + b].into()
    }
}
