//! Where helpers start.

use rayon::prelude::*;

use super::{Fit, Helper, transforms};
use crate::math::Vec64;
use crate::progress::{Cancelled, Progress};

/// Standard deviation of the part of the skin that a helper starts with, as part of the diagonal of the skin.
const SPREAD: f64 = 0.025;
/// Vertices tried as the centre of a helper: those with the largest error.
const TRIED: usize = 160;
/// No helper starts where the error is below this part of the diagonal.
const EXACT: f64 = 1e-7;

impl Fit<'_> {
    /// Starts helpers, one after another, around the vertex whose neighbourhood has the largest error that is left.
    pub(super) fn start_helpers(
        &mut self,
        count: usize,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let diagonal = diagonal(&self.bind);
        let mut errors = self.mean_squares();
        for _ in 0..count {
            progress.check()?;
            let spread = SPREAD * diagonal;
            let Some(seed) = self.seed(&errors, spread) else {
                break;
            };
            if errors[seed].sqrt() <= EXACT * diagonal {
                break;
            }
            let members: Vec<(u32, f64)> = (0..self.bind.len())
                .map(|v| (v as u32, near(&self.bind[v], &self.bind[seed], spread)))
                .filter(|&(_, part)| part > 0.0)
                .collect();
            for &(vertex, part) in &members {
                errors[vertex as usize] *= 1.0 - part;
            }
            let region = self.initial.strongest(seed).unwrap_or_default();
            transforms::start(&mut self.frames, &self.bind, &members, region);
            self.helpers.push(Helper {
                centre: self.bind[seed],
                region,
                parent: region,
            });
        }
        Ok(())
    }

    /// The vertex around which the sum of errors is largest; none if there is no error.
    fn seed(&self, errors: &[f64], spread: f64) -> Option<usize> {
        let mut worst: Vec<usize> = (0..errors.len()).filter(|&v| errors[v] > 0.0).collect();
        worst.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        worst.truncate(TRIED);
        let sum = |&seed: &usize| -> f64 {
            let all = self.bind.iter().zip(errors);
            all.map(|(place, error)| error * near(place, &self.bind[seed], spread))
                .sum()
        };
        let sums: Vec<f64> = worst.par_iter().map(sum).collect();
        let best = (0..sums.len())
            .rev()
            .max_by(|&a, &b| sums[a].total_cmp(&sums[b]))?;
        Some(worst[best])
    }

    /// The mean square error of each vertex over the frames.
    fn mean_squares(&self) -> Vec<f64> {
        let error = |vertex: usize| -> f64 {
            let frames = self.frames.positions.iter().zip(&self.frames.deltas);
            let squares = frames.map(|(positions, deltas)| {
                let blended = transforms::blended(&self.rows[vertex], deltas, &self.bind[vertex]);
                (positions[vertex].coords.cast::<f64>() - blended).norm_squared()
            });
            squares.sum::<f64>() / self.frames.len() as f64
        };
        (0..self.bind.len()).into_par_iter().map(error).collect()
    }
}

/// A bell curve of the distance, 0 from three standard deviations on.
fn near(place: &Vec64, seed: &Vec64, spread: f64) -> f64 {
    let squares = (place - seed).norm_squared() / (spread * spread).max(f64::MIN_POSITIVE);
    if squares > 9.0 {
        0.0
    } else {
        (-squares / 2.0).exp()
    }
}

pub(super) fn diagonal(places: &[Vec64]) -> f64 {
    let low = places.iter().copied().reduce(|a, b| a.inf(&b));
    let high = places.iter().copied().reduce(|a, b| a.sup(&b));
    low.zip(high).map_or(0.0, |(low, high)| (high - low).norm())
}
