//! Performance limits of this machine, so that times of different machines can be compared.
//!
//! All rates are of one thread, with the widest vectors of this CPU.

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};

/// Bytes that are read repeatedly: larger than any L1 and smaller than any L2 cache of current CPUs.
const L2_BYTES: usize = 192 << 10;
/// Approximate number of bytes read per measurement.
const READ_BYTES: usize = 96 << 20;
/// Independent chains of operations: enough to hide their latency, few enough for 16 registers.
const CHAINS: usize = 12;
/// The best of several runs is used, to exclude disturbances.
const RUNS: usize = 7;

/// Single-thread calibration of a machine.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(super) struct Calibration {
    /// Reading from the second-level cache, 10⁹ bytes per second.
    pub(super) l2_read_gb_s: f64,
    /// Reading from the third-level cache.
    pub(super) l3_read_gb_s: f64,
    /// Reading from memory.
    pub(super) memory_read_gb_s: f64,
    /// Fused multiply-adds of f32 (two operations each), 10⁹ operations per second.
    pub(super) f32_fma_gflop_s: f64,
    /// Size of the caches.
    pub(super) caches: Caches,
}

/// Cache sizes for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) struct Caches {
    /// Second level, of one core.
    pub(super) l2_bytes: u64,
    /// Third level, shared.
    pub(super) l3_bytes: u64,
}

/// Where repeatedly read data reside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) enum MemoryLevel {
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Memory.
    #[serde(rename = "memory")]
    Memory,
}

impl Calibration {
    /// Measures; takes about 0.3 s, and memory: four times the third-level cache, at most 256 MB.
    pub(super) fn measure() -> Self {
        let arch = Arch::new();
        let caches = Caches::of_this_machine();
        let read = |bytes: u64| {
            let numbers = vec![1_u32; bytes as usize / size_of::<u32>()];
            let passes = (READ_BYTES / bytes as usize).max(1);
            best_rate(|| {
                arch.dispatch(ReadPasses {
                    numbers: black_box(&numbers),
                    passes,
                })
            })
        };
        Self {
            l2_read_gb_s: read(L2_BYTES as u64),
            l3_read_gb_s: read((2 * caches.l2_bytes).max(caches.l3_bytes / 4)),
            memory_read_gb_s: read((4 * caches.l3_bytes).clamp(16 << 20, 256 << 20)),
            f32_fma_gflop_s: best_rate(|| arch.dispatch(MultiplyAdd { steps: 300_000 })),
            caches,
        }
    }

    /// Read rate of a thread at that level.
    pub(super) fn read_gb_s(&self, level: MemoryLevel) -> f64 {
        match level {
            MemoryLevel::L2 => self.l2_read_gb_s,
            MemoryLevel::L3 => self.l3_read_gb_s,
            MemoryLevel::Memory => self.memory_read_gb_s,
        }
    }
}

impl Caches {
    /// As reported by the system; otherwise typical values.
    fn of_this_machine() -> Self {
        let size = |index: u32| {
            let text = std::fs::read_to_string(format!(
                "/sys/devices/system/cpu/cpu0/cache/index{index}/size"
            ))
            .ok()?;
            text.trim()
                .strip_suffix('K')?
                .parse::<u64>()
                .ok()
                .map(|kilobytes| kilobytes << 10)
        };
        Self {
            l2_bytes: size(2).unwrap_or(1 << 20),
            l3_bytes: size(3).unwrap_or(16 << 20),
        }
    }

    /// The level that holds this many bytes if each of `threads` repeatedly reads its own share.
    pub(super) fn level_of(&self, bytes: u64, threads: usize) -> MemoryLevel {
        match bytes {
            _ if bytes / threads.max(1) as u64 <= self.l2_bytes => MemoryLevel::L2,
            _ if bytes <= self.l3_bytes => MemoryLevel::L3,
            _ => MemoryLevel::Memory,
        }
    }
}

/// The largest rate of several runs, 10⁹ per second; `run` returns its amount of work.
fn best_rate(mut run: impl FnMut() -> f64) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..RUNS {
        let start = Instant::now();
        let amount = run();
        best = best.max(amount / start.elapsed().as_secs_f64().max(1e-9) * 1e-9);
    }
    best
}

/// Reads all values repeatedly; returns the bytes read.
struct ReadPasses<'a> {
    numbers: &'a [u32],
    passes: usize,
}

impl WithSimd for ReadPasses<'_> {
    type Output = f64;

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "must be compiled for the vectors of the caller"
    )]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        // "Or" takes at most one cycle, so that reading dominates.
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
    #[expect(
        clippy::inline_always,
        reason = "must be compiled for the vectors of the caller"
    )]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (factor, term) = (
            simd.splat_f32s(black_box(0.999)),
            simd.splat_f32s(black_box(1e-3)),
        );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_reside_in_the_smallest_sufficient_cache() {
        let caches = Caches {
            l2_bytes: 1000,
            l3_bytes: 10_000,
        };
        assert_eq!(
            [900, 1900, 9000, 90_000].map(|bytes| caches.level_of(bytes, 1)),
            [
                MemoryLevel::L2,
                MemoryLevel::L3,
                MemoryLevel::L3,
                MemoryLevel::Memory
            ]
        );
        assert_eq!(caches.level_of(1900, 2), MemoryLevel::L2);
        assert_eq!(caches.level_of(0, 0), MemoryLevel::L2);
    }
}
