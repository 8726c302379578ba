//! The smoothed fields that Ω is made of: moments of the weights of every joint.

use rayon::prelude::*;

use super::moments::{Moments, about, in_units, moments, with_ball};
use super::options::{Form, Options, STEPS};
use crate::methods::BindError;
use crate::methods::smoothing::Surface;
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::{Cancelled, Progress};
use crate::weights::SkinWeights;

/// Least unit of length, as a part of the size: rounding of Ψ is far below it.
const LEAST_LENGTH: f64 = 1e-4;

/// `(N + T)^{-p} N^p` for a diagonal N: smoothing in p implicit steps.
pub(super) struct Powers {
    factor: Cholesky<f64>,
    diagonal: Vec<f64>,
    steps: usize,
}

impl Powers {
    fn of(
        (matrix, diagonal): (SymmetricMatrix, Vec<f64>),
        steps: usize,
    ) -> Result<Self, BindError> {
        Ok(Self {
            factor: Cholesky::<f64>::factor(&matrix, Ordering::default())?,
            diagonal,
            steps,
        })
    }

    /// Smooths columns of one number a vertex.
    pub(super) fn smooth(&self, columns: &mut [f64], progress: &Progress) -> Result<(), Cancelled> {
        for _ in 0..self.steps {
            progress.check()?;
            columns
                .par_chunks_mut(self.diagonal.len())
                .for_each(|column| {
                    for (value, factor) in column.iter_mut().zip(&self.diagonal) {
                        *value *= factor;
                    }
                });
            self.factor.solve(columns);
        }
        progress.check()
    }
}

/// B and C of the paper, transposed.
pub(super) struct Smoothers {
    pub(super) of_rotations: Powers,
    pub(super) of_translations: Powers,
}

impl Smoothers {
    pub(super) fn of(surface: &Surface, radii: &[f64], form: &Form) -> Result<Self, BindError> {
        let (rotations, translations, steps) = match *form {
            Form::Lengths {
                rotations,
                translations,
            } => {
                let by_reach = |reach: f64| {
                    let time = |radius: &f64| (reach * radius).powi(2) / STEPS as f64;
                    let times: Vec<f64> = radii.iter().map(time).collect();
                    (surface.implicit(&times), surface.areas.clone())
                };
                (by_reach(rotations), by_reach(translations), STEPS)
            }
            Form::Edges {
                lambda,
                kappa,
                steps,
            } => (surface.by_edges(lambda), surface.by_edges(kappa), steps),
        };
        Ok(Self {
            of_rotations: Powers::of(rotations, steps)?,
            of_translations: Powers::of(translations, steps)?,
        })
    }
}

/// A joint, and the vertices it moves with their weights.
pub(super) type JointWeights = (u32, Vec<(u32, f64)>);

/// The weights of every joint that has some.
pub(super) fn by_joint(weights: &SkinWeights) -> Vec<JointWeights> {
    let joints = weights
        .joints
        .iter()
        .max()
        .map_or(0, |&last| last as usize + 1);
    let mut all: Vec<JointWeights> = (0..joints).map(|j| (j as u32, Vec::new())).collect();
    for vertex in 0..weights.len() {
        for (joint, weight) in weights.of(vertex) {
            all[joint].1.push((vertex as u32, f64::from(weight)));
        }
    }
    all.retain(|(_, vertices)| !vertices.is_empty());
    all
}

/// What Ω of all joints of a vertex have in common.
pub(super) struct Hoods {
    /// C = Ψ − p pᵀ of all joints together: xx, xy, xz, yy, yz, zz.
    pub(super) covariances: Vec<[f64; 6]>,
    /// p − v̄.
    pub(super) offsets: Vec<[f64; 3]>,
    /// The square root of the trace of C.
    pub(super) lengths: Vec<f64>,
}

impl Hoods {
    pub(super) fn of(
        smoothers: &Smoothers,
        positions: &[[f64; 3]],
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let count = positions.len();
        let mut columns = vec![0.0; 9 * count];
        for (vertex, position) in positions.iter().enumerate() {
            for (field, value) in moments(1.0, position).into_iter().take(9).enumerate() {
                columns[field * count + vertex] = value;
            }
        }
        smoothers.of_rotations.smooth(&mut columns, progress)?;
        let mut hoods = Self {
            covariances: Vec::with_capacity(count),
            offsets: Vec::with_capacity(count),
            lengths: Vec::with_capacity(count),
        };
        for (vertex, position) in positions.iter().enumerate() {
            let mut psi: Moments = [1.0; 10];
            for (field, value) in psi.iter_mut().take(9).enumerate() {
                *value = columns[field * count + vertex];
            }
            let psi = about(&psi, position);
            let p = [psi[6], psi[7], psi[8]];
            let centered = about(&psi, &p);
            let covariance = [0, 1, 2, 3, 4, 5].map(|k| centered[k]);
            let trace = (covariance[0] + covariance[3] + covariance[5]).max(0.0);
            hoods.covariances.push(covariance);
            hoods.offsets.push(p);
            hoods.lengths.push(trace.sqrt().max(LEAST_LENGTH));
        }
        Ok(hoods)
    }

    /// `Σ_j` Ω of a vertex, in its unit of length.
    pub(super) fn total(&self, vertex: usize, alpha: f64) -> Moments {
        let (c, p) = (&self.covariances[vertex], self.offsets[vertex]);
        let mut total = moments(1.0, &p);
        for (entry, covariance) in total.iter_mut().zip(c) {
            *entry += (1.0 - alpha) * covariance;
        }
        with_ball(in_units(&total, self.lengths[vertex]), alpha)
    }
}

/// The smoothed fields of a group of joints.
pub(super) struct Fields {
    count: usize,
    /// Ψ: ten columns a joint.
    psi: Vec<f64>,
    /// w': one column a joint.
    blended: Vec<f64>,
}

impl Fields {
    pub(super) fn of(
        smoothers: &Smoothers,
        positions: &[[f64; 3]],
        group: &[JointWeights],
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let count = positions.len();
        let mut psi = vec![0.0; 10 * count * group.len()];
        let mut blended = vec![0.0; count * group.len()];
        for (place, (_, vertices)) in group.iter().enumerate() {
            for &(vertex, weight) in vertices {
                let vertex = vertex as usize;
                blended[place * count + vertex] = weight;
                let own = moments(weight, &positions[vertex]);
                for (field, value) in own.into_iter().enumerate() {
                    psi[(place * 10 + field) * count + vertex] = value;
                }
            }
        }
        smoothers.of_rotations.smooth(&mut psi, progress)?;
        smoothers.of_translations.smooth(&mut blended, progress)?;
        Ok(Self {
            count,
            psi,
            blended,
        })
    }

    /// Ω = (1 − α) Ψ + α w' [p pᵀ, p; pᵀ, 1] of the joint at a place of the group.
    pub(super) fn omega(
        &self,
        vertex: usize,
        place: usize,
        hoods: &Hoods,
        positions: &[[f64; 3]],
        options: &Options,
    ) -> Moments {
        let (count, alpha) = (self.count, options.translation);
        let mut psi: Moments = [0.0; 10];
        for (field, value) in psi.iter_mut().enumerate() {
            *value = self.psi[(place * 10 + field) * count + vertex];
        }
        let psi = about(&psi, &positions[vertex]);
        let blended = moments(self.blended[place * count + vertex], &hoods.offsets[vertex]);
        let mut omega = psi;
        for (entry, blended) in omega.iter_mut().zip(blended) {
            *entry = (1.0 - alpha) * *entry + alpha * blended;
        }
        with_ball(in_units(&omega, hoods.lengths[vertex]), alpha)
    }
}
