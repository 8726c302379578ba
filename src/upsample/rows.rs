//! Sums over neighbours: the run time of moving least squares.
//!
//! A fine vertex is x = x₀ + Σ Nᵢ (xᵢ − x₀) + its remainder in the local frame, with x₀ the nearest neighbour and tangents
//! tₐ = Σ Dᵢₐ (xᵢ − x₀). Differences to a neighbour make the partition of unity exact and leave nothing to rounding that is far from the
//! origin. Each vertex is summed by one thread in a fixed order.

#[cfg(target_arch = "x86_64")]
use std::any::Any;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::fit::Stencil;
use super::frames::{Frames, LocalFrame, SLOTS, Slot, Tangents};
use crate::math::{Point, Vec3};

/// Fine vertices of a block.
pub(super) const BLOCK: usize = 1024;

/// The weights of up to [`BLOCK`] fine vertices.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Block {
    /// Neighbours of each vertex beside the first; those with fewer repeat the first without weight.
    width: usize,
    first: Vec<u32>,
    names: Names,
    /// For position and tangents.
    weights: Vec<[f32; 3]>,
    /// What the sum misses at rest, along tangents and normal.
    remainder: Vec<[f32; 3]>,
}

/// Names of coarse vertices, as short as they can be.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
enum Names {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Block {
    /// Room for some fine vertices with so many `neighbours` out of `coarse`.
    pub(super) fn new(neighbours: usize, coarse: usize) -> Self {
        let names = if coarse <= SLOTS { Names::Short(Vec::new()) } else { Names::Long(Vec::new()) };
        Self { width: neighbours.max(1) - 1, first: Vec::new(), names, weights: Vec::new(), remainder: Vec::new() }
    }

    /// Adds a vertex. The stencil has at least one and at most as many neighbours as the block has room for, the nearest first.
    pub(super) fn push(&mut self, stencil: &Stencil) {
        let first = stencil.coarse[0];
        // In ascending order, which memory likes best.
        let mut order = [0_usize; super::fit::MAX_NEIGHBOURS];
        for (i, slot) in order.iter_mut().enumerate() {
            *slot = i;
        }
        order[1..stencil.count].sort_unstable_by_key(|&i| stencil.coarse[i]);
        for i in 1..=self.width {
            let filled = i < stencil.count;
            let name = if filled { stencil.coarse[order[i]] } else { first };
            match &mut self.names {
                Names::Short(names) => names.push(name as u16),
                Names::Long(names) => names.push(name),
            }
            self.weights.push(if filled { stencil.weights[order[i]].map(|w| w as f32) } else { [0.0; 3] });
        }
        self.first.push(first);
        self.remainder.push([0.0; 3]);
    }

    /// Makes the block reproduce the rest positions of its vertices; `frames` holds the coarse vertices at rest.
    pub(super) fn set_remainder(&mut self, frames: &Frames, fine: &[Point]) {
        let mut reached = vec![Point::origin(); fine.len()];
        let mut tangents = vec![Tangents::default(); fine.len()];
        self.apply(&frames.slots, &mut reached, &mut tangents);
        for (v, tangents) in tangents.iter().enumerate() {
            self.remainder[v] = LocalFrame::new(tangents).components(&(fine[v] - reached[v]));
        }
    }

    /// Whether the tangents of a vertex at rest span less than they should: then it can't tell how it turns, and keeps its remainder in
    /// the frame of the world.
    pub(super) fn forget_flat_tangents(&mut self, frames: &Frames) {
        let mut reached = vec![Point::origin(); self.first.len()];
        let mut tangents = vec![Tangents::default(); self.first.len()];
        self.apply(&frames.slots, &mut reached, &mut tangents);
        for (v, [a, b]) in tangents.iter().enumerate() {
            let area = Vec3::from(*a).cross(&Vec3::from(*b)).norm();
            if !(0.3..3.0).contains(&area) {
                for weights in &mut self.weights[v * self.width..(v + 1) * self.width] {
                    *weights = [weights[0], 0.0, 0.0];
                }
            }
        }
    }

    fn apply(&self, slots: &[Slot], fine: &mut [Point], tangents: &mut [Tangents]) {
        let arch = Arch::new();
        match (&self.names, slots.first_chunk::<SLOTS>()) {
            (Names::Short(names), Some(slots)) => arch.dispatch(Sum { block: self, names, slots: Short(slots), fine, tangents }),
            (Names::Short(_), None) => {}
            (Names::Long(names), _) => arch.dispatch(Sum { block: self, names, slots: Long(slots), fine, tangents }),
        }
    }
}

/// Sums all blocks over the coarse positions in `frames`.
pub(super) fn apply(blocks: &[Block], frames: &mut Frames, fine: &mut [Point]) {
    let Frames { slots, tangents, .. } = frames;
    let slots = slots.as_slice();
    let parts = fine.par_chunks_mut(BLOCK).zip(tangents.par_chunks_mut(BLOCK));
    blocks.par_iter().zip(parts).for_each(|(block, (fine, tangents))| block.apply(slots, fine, tangents));
}

/// Coarse positions by name.
trait Slots: Copy {
    type Name: Copy;
    fn at(self, name: Self::Name) -> Slot;
    fn first(self, name: u32) -> Slot;
}

#[derive(Clone, Copy)]
struct Short<'a>(&'a [Slot; SLOTS]);

#[derive(Clone, Copy)]
struct Long<'a>(&'a [Slot]);

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
impl Slots for Short<'_> {
    type Name = u16;
    #[inline(always)]
    fn at(self, name: u16) -> Slot {
        self.0[name as usize]
    }
    #[inline(always)]
    fn first(self, name: u32) -> Slot {
        self.0[name as usize & (SLOTS - 1)]
    }
}

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
impl Slots for Long<'_> {
    type Name = u32;
    #[inline(always)]
    fn at(self, name: u32) -> Slot {
        self.0[name as usize]
    }
    #[inline(always)]
    fn first(self, name: u32) -> Slot {
        self.0[name as usize]
    }
}

struct Sum<'a, P: Slots> {
    block: &'a Block,
    names: &'a [P::Name],
    slots: P,
    fine: &'a mut [Point],
    tangents: &'a mut [Tangents],
}

impl<P: Slots> WithSimd for Sum<'_, P> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { block, names, slots, fine, tangents } = self;
        let width = block.width;
        for v in 0..fine.len().min(block.first.len()) {
            let own = v * width..(v + 1) * width;
            let nearest = slots.first(block.first[v]);
            let mut sums = [nearest, [0.0; 4], [0.0; 4]];
            for (&name, weights) in names[own.clone()].iter().zip(&block.weights[own]) {
                let offset = minus(simd, slots.at(name), nearest);
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum = fma(simd, weight, offset, *sum);
                }
            }
            let [[x, y, z, _], [ax, ay, az, _], [bx, by, bz, _]] = sums;
            let frame = LocalFrame::new(&[[ax, ay, az], [bx, by, bz]]);
            fine[v] = Point::new(x, y, z) + frame.vector(&block.remainder[v]);
            tangents[v] = frame.tangents();
        }
    }
}

/// x − y.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn minus<S: Simd>(simd: S, x: Slot, y: Slot) -> Slot {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = as_v3(simd) {
        return pulp::cast(v3.sse._mm_sub_ps(pulp::cast(x), pulp::cast(y)));
    }
    let _ = simd;
    [x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3]]
}

/// t x + a.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn fma<S: Simd>(simd: S, t: f32, x: Slot, a: Slot) -> Slot {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = as_v3(simd) {
        return pulp::cast(v3.fma._mm_fmadd_ps(v3.sse._mm_set1_ps(t), pulp::cast(x), pulp::cast(a)));
    }
    let _ = simd;
    [a[0] + t * x[0], a[1] + t * x[1], a[2] + t * x[2], a[3] + t * x[3]]
}

/// The token for AVX2 if `simd` has it.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn as_v3<S: Simd>(simd: S) -> Option<pulp::x86::V3> {
    let any = &simd as &dyn Any;
    any.downcast_ref::<pulp::x86::V4>().map(|v4| **v4).or_else(|| any.downcast_ref::<pulp::x86::V3>().copied())
}
