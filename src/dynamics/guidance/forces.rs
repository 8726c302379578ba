//! The forces of guidance at its targets, once a step.

use rayon::prelude::*;

use super::element::ChainForces;
use super::{Guidance, Target};
use crate::math::{Point, Vec3};
use crate::numerics::lanes::{Padded, add};

/// Elements or vertices that one task handles at least.
const MIN_TASK: usize = 256;

/// Weights under one set of parameters, and the buffers of a step.
#[derive(Default)]
pub(in crate::dynamics) struct Forces {
    element_weights: Vec<f32>,
    bending_weights: Vec<f32>,
    of_elements: Vec<ChainForces>,
    bends: Vec<Vec3>,
    /// r by unknown.
    pub(in crate::dynamics) values: Vec<Padded>,
}

impl Forces {
    /// Takes over the weights μ w of elements and those of bending.
    pub(in crate::dynamics) fn weigh(
        &mut self,
        guidance: &Guidance,
        of_elements: Vec<f64>,
        of_bending: Vec<f64>,
    ) {
        let single = |values: Vec<f64>| values.into_iter().map(|v| v as f32).collect();
        self.element_weights = single(of_elements);
        self.bending_weights = single(of_bending);
        self.of_elements
            .resize(guidance.elements.len(), ChainForces::default());
        self.bends.resize(guidance.bending.len(), Vec3::zeros());
        self.values.resize(guidance.bending.len(), [0.0; 4]);
    }

    /// Computes r for these targets and this base.
    pub(in crate::dynamics) fn compute(
        &mut self,
        guidance: &Guidance,
        targets: &[Target],
        base: &[Point],
    ) {
        self.of_elements
            .par_iter_mut()
            .zip(&guidance.elements)
            .zip(&self.element_weights)
            .with_min_len(MIN_TASK)
            .for_each(|((forces, element), &weight)| {
                *forces = element.forces(weight, targets, base);
            });
        let bending = &guidance.bending;
        self.bends
            .par_iter_mut()
            .zip(&self.bending_weights)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (bend, &weight))| {
                let own = &targets[vertex];
                let mut sum = own.rotation * bending.curvature[vertex].cast::<f32>();
                for (column, value) in bending.row(vertex) {
                    sum -= (targets[column as usize].place - own.place) * value as f32;
                }
                *bend = sum * weight;
            });
        let (of_elements, bends) = (&self.of_elements, &self.bends);
        self.values
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, out)| {
                let mut bent = Vec3::zeros();
                for (column, value) in bending.row(vertex) {
                    bent += bends[column as usize] * value as f32;
                }
                let mut sum = [bent.x, bent.y, bent.z, 0.0];
                for &(element, corner) in &guidance.around[vertex] {
                    sum = add(sum, of_elements[element as usize][corner as usize]);
                }
                *out = sum;
            });
    }
}
