//! What this machine can do at best, so that measured times can be compared between machines.
//!
//! Both numbers are of one thread and of plain Rust loops, compiled for the widest vectors of this processor.

use std::hint::black_box;
use std::time::Instant;

/// Bytes read again and again: larger than any L1, smaller than any L2 of today.
const L2_BYTES: usize = 192 << 10;
/// Independent chains of multiply-adds: enough to hide their latency.
const LANES: usize = 96;
/// Best of so many runs, so that a disturbance does not count.
const RUNS: usize = 7;

/// Single-thread calibration of a machine.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(super) struct Calibration {
    /// Reading f32 from the second-level cache, 10⁹ bytes per second.
    pub(super) l2_read_gb_s: f64,
    /// Fused multiply-adds of f32 (two operations each), 10⁹ operations per second.
    pub(super) f32_fma_gflop_s: f64,
}

impl Calibration {
    /// Measures; takes about 0.2 s.
    pub(super) fn measure() -> Self {
        let arch = pulp::Arch::new();
        Self { l2_read_gb_s: l2_read(arch), f32_fma_gflop_s: f32_fma(arch) }
    }
}

/// The largest rate of a few runs; `run` returns how much it did.
fn best_rate(mut run: impl FnMut() -> f64) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..RUNS {
        let start = Instant::now();
        let amount = run();
        best = best.max(amount / start.elapsed().as_secs_f64().max(1e-9) * 1e-9);
    }
    best
}

fn l2_read(arch: pulp::Arch) -> f64 {
    const PASSES: usize = 1000;
    let numbers = vec![1.0_f32; L2_BYTES / size_of::<f32>()];
    best_rate(|| {
        let numbers = black_box(numbers.as_slice());
        black_box(arch.dispatch(
            #[inline(always)]
            || read_passes(numbers, PASSES),
        ));
        (PASSES * L2_BYTES) as f64
    })
}

/// Integer "or" of the bits: one cycle an operation, so that only the reading counts.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the vectors of the caller")]
fn read_passes(numbers: &[f32], passes: usize) -> u32 {
    let mut sums = [0_u32; LANES];
    for _ in 0..passes {
        for chunk in black_box(numbers).as_chunks::<LANES>().0 {
            for (sum, number) in sums.iter_mut().zip(chunk) {
                *sum |= number.to_bits();
            }
        }
    }
    sums.iter().fold(0, |a, b| a | b)
}

fn f32_fma(arch: pulp::Arch) -> f64 {
    const STEPS: usize = 200_000;
    let fused = !matches!(arch, pulp::Arch::Scalar);
    best_rate(|| {
        let (factor, term) = (black_box(0.999_f32), black_box(1e-3_f32));
        black_box(arch.dispatch(
            #[inline(always)]
            || if fused { multiply_add::<true>(factor, term, STEPS) } else { multiply_add::<false>(factor, term, STEPS) },
        ));
        (2 * LANES * STEPS) as f64
    })
}

/// `x ← x · factor + term` in all lanes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the vectors of the caller")]
fn multiply_add<const FUSED: bool>(factor: f32, term: f32, steps: usize) -> f32 {
    let mut x = [1.0_f32; LANES];
    for _ in 0..steps {
        for lane in &mut x {
            *lane = if FUSED { lane.mul_add(factor, term) } else { *lane * factor + term };
        }
    }
    x.iter().sum()
}
