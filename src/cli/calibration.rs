//! What this machine can do at best, so that measured times can be compared between machines.
//!
//! Both numbers are of one thread, with the widest vectors of this processor.

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};

/// Numbers read again and again: 192 KiB, larger than any L1 and smaller than any L2 of today.
const L2_NUMBERS: usize = (192 << 10) / size_of::<u32>();
/// Independent chains of operations: enough to hide their latency, few enough for 16 registers.
const CHAINS: usize = 12;
/// Best of so many runs, so that a disturbance does not count.
const RUNS: usize = 7;

/// Single-thread calibration of a machine.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(super) struct Calibration {
    /// Reading from the second-level cache, 10⁹ bytes per second.
    pub(super) l2_read_gb_s: f64,
    /// Fused multiply-adds of f32 (two operations each), 10⁹ operations per second.
    pub(super) f32_fma_gflop_s: f64,
}

impl Calibration {
    /// Measures; takes about 0.1 s.
    pub(super) fn measure() -> Self {
        let arch = Arch::new();
        let numbers = vec![1_u32; L2_NUMBERS];
        Self {
            l2_read_gb_s: best_rate(|| arch.dispatch(ReadPasses { numbers: black_box(&numbers), passes: 500 })),
            f32_fma_gflop_s: best_rate(|| arch.dispatch(MultiplyAdd { steps: 300_000 })),
        }
    }
}

/// The largest rate of a few runs, 10⁹ per second; `run` returns how much it did.
fn best_rate(mut run: impl FnMut() -> f64) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..RUNS {
        let start = Instant::now();
        let amount = run();
        best = best.max(amount / start.elapsed().as_secs_f64().max(1e-9) * 1e-9);
    }
    best
}

/// Reads all numbers so many times; returns the bytes read.
struct ReadPasses<'a> {
    numbers: &'a [u32],
    passes: usize,
}

impl WithSimd for ReadPasses<'_> {
    type Output = f64;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled for the vectors of the caller")]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        // "Or" takes one cycle and less, so that only the reading counts.
        let mut chains = [simd.splat_u32s(0); CHAINS];
        for _ in 0..self.passes {
            let (vectors, _) = S::as_simd_u32s(black_box(self.numbers));
            for group in vectors.as_chunks::<CHAINS>().0 {
                for (chain, vector) in chains.iter_mut().zip(group) {
                    *chain = simd.or_u32s(*chain, *vector);
                }
            }
        }
        black_box(chains);
        (self.passes * size_of_val(self.numbers)) as f64
    }
}

/// `x ← x · factor + term` in all chains; returns the operations done.
struct MultiplyAdd {
    steps: usize,
}

impl WithSimd for MultiplyAdd {
    type Output = f64;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled for the vectors of the caller")]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (factor, term) = (simd.splat_f32s(black_box(0.999)), simd.splat_f32s(black_box(1e-3)));
        let mut chains = [simd.splat_f32s(1.0); CHAINS];
        for _ in 0..self.steps {
            for chain in &mut chains {
                *chain = simd.mul_add_e_f32s(*chain, factor, term);
            }
        }
        black_box(chains);
        (2 * CHAINS * S::F32_LANES * self.steps) as f64
    }
}
