//! Frequency and decay of flesh that swings freely.

use nalgebra::{Matrix3, Vector3};

use super::rule::{STEP_SECS, Swing};
use crate::math::Vec64;

/// Frequencies that are tried first, Hz.
const FREQUENCIES: [f64; 2] = [0.5, 14.0];
/// Decays that are tried first, per second.
const DECAYS: [f64; 2] = [0.5, 80.0];
/// Candidates of each.
const CANDIDATES: usize = 24;
/// Rounds, each on a finer grid around the best.
const ROUNDS: usize = 5;

/// The damped oscillation c + e^(−γt) (a cos ωt + b sin ωt), with γ and ω common and a, b, c of each series and axis, that is nearest to
/// series of places, a [`STEP_SECS`] apart. `None` for series that are too short or that do not move.
pub(super) fn free_swing(series: &[Vec<Vec64>]) -> Option<Swing> {
    let frames = series.iter().map(Vec::len).min()?;
    let moves = |places: &Vec<Vec64>| places.iter().any(|place| *place != places[0]);
    if frames < 8 || !series.iter().any(moves) {
        return None;
    }
    let spread = |[low, high]: [f64; 2]| -> [f64; 2] { [f64::ln(low), f64::ln(high)] };
    let (mut frequency, mut decay) = (spread(FREQUENCIES), spread(DECAYS));
    let mut best = None;
    for _ in 0..ROUNDS {
        let at = |[low, high]: [f64; 2], index: usize| {
            (low + (high - low) * index as f64 / (CANDIDATES - 1) as f64).exp()
        };
        let all = (0..CANDIDATES * CANDIDATES).map(|index| Swing {
            frequency_hz: at(frequency, index / CANDIDATES),
            decay_per_sec: at(decay, index % CANDIDATES),
        });
        let scored = all.map(|swing| (left(series, frames, &swing), swing));
        let (_, swing) = scored.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let around = |[low, high]: [f64; 2], value: f64, whole: [f64; 2]| {
            let step = 2.0 * (high - low) / (CANDIDATES - 1) as f64;
            [
                (value.ln() - step).max(whole[0].ln()),
                (value.ln() + step).min(whole[1].ln()),
            ]
        };
        frequency = around(frequency, swing.frequency_hz, FREQUENCIES);
        decay = around(decay, swing.decay_per_sec, DECAYS);
        best = Some(swing);
    }
    best
}

/// The sum of squares that a swing leaves over.
fn left(series: &[Vec<Vec64>], frames: usize, swing: &Swing) -> f64 {
    let turn = std::f64::consts::TAU * swing.frequency_hz;
    let base = |frame: usize| {
        let time = frame as f64 * STEP_SECS;
        let size = (-swing.decay_per_sec * time).exp();
        let (sine, cosine) = (turn * time).sin_cos();
        Vector3::new(size * cosine, size * sine, 1.0)
    };
    let bases: Vec<Vector3<f64>> = (0..frames).map(base).collect();
    let system: Matrix3<f64> = bases.iter().map(|base| base * base.transpose()).sum();
    let Some(factor) = system.cholesky() else {
        return f64::INFINITY;
    };
    let of_series = |places: &Vec<Vec64>| -> f64 {
        let pairs = || bases.iter().zip(places);
        // A column per axis.
        let right: Matrix3<f64> = pairs().map(|(base, place)| base * place.transpose()).sum();
        let parts = factor.solve(&right);
        pairs()
            .map(|(base, place)| (place - parts.tr_mul(base)).norm_squared())
            .sum()
    };
    series.iter().map(of_series).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_is_found_from_what_it_does() {
        for (frequency_hz, decay_per_sec) in [(2.3, 3.0), (6.0, 12.0), (9.5, 30.0)] {
            let series = |phase: f64| -> Vec<Vec64> {
                let place = |frame: usize| {
                    let time = frame as f64 * STEP_SECS;
                    let turn = std::f64::consts::TAU * frequency_hz * time + phase;
                    let size = (-decay_per_sec * time).exp();
                    Vec64::new(0.3, turn.sin() * size, -0.5 * turn.cos() * size)
                };
                (0..48).map(place).collect()
            };
            let found = free_swing(&[series(0.2), series(1.9)]).unwrap();
            assert!((found.frequency_hz / frequency_hz - 1.0).abs() < 0.01);
            assert!((found.decay_per_sec / decay_per_sec - 1.0).abs() < 0.03);
        }
        assert_eq!(free_swing(&[vec![Vec64::zeros(); 48]]), None);
        assert_eq!(free_swing(&[vec![Vec64::x(); 3]]), None);
    }
}
