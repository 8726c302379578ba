//! Evaluation of moving least squares: sums over neighbours.
//!
//! A fine vertex is x = x₀ + Σ Nᵢ (xᵢ − x₀) + its remainder in the local frame, with x₀ the nearest
//! neighbour and tangents tₐ = Σ Dᵢₐ (xᵢ − x₀). Differences to a neighbour make the partition of
//! unity exact, avoid cancellation far from the origin, and make 16-bit weights sufficient (of 20
//! neighbours within a hundredth of the size: 1e-7 of the size). The effect of rounding the weights
//! on the rest pose is part of the remainder. Each vertex is summed by one thread in a fixed order.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::fit::{MAX_NEIGHBOURS, Stencil};
use super::frames::{Frames, LocalFrame, LocalFrames, PaddedPoint, SLOTS, Tangents};
use super::lanes::{LANES, Numbers, Vectors, VertexOps, minus, plus, scaled};
use super::plain::PlainSums;
use crate::math::Point;

/// Fine vertices per block.
pub(super) const BLOCK: usize = 1024;

/// The weights of up to [`BLOCK`] fine vertices, [`LANES`] at a time.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct WeightBlock {
    /// Number of neighbours of each vertex besides the first; missing ones repeat the first with
    /// zero weight.
    width: usize,
    groups: Vec<LaneGroup>,
    /// Consecutive entries for each group.
    neighbours: Neighbours,
}

/// [`LANES`] vertices.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
struct LaneGroup {
    first: [u32; LANES],
    /// Quantisation units of the weights for the position and two tangents.
    unit: [Numbers; 3],
    /// Remainder at rest, along tangents and normal.
    remainder: [Numbers; 3],
}

/// Indices of coarse vertices, in the smallest possible type.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
enum Neighbours {
    ShortIndices(Vec<Neighbour<u16>>),
    LongIndices(Vec<Neighbour<u32>>),
}

/// One neighbour of each of [`LANES`] vertices, and its weights for the position and two tangents.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
struct Neighbour<N> {
    names: [N; LANES],
    weights: [[i16; LANES]; 3],
}

impl WeightBlock {
    /// Allocates `count` vertices with up to `neighbours` neighbours of `coarse`.
    pub(super) fn new(count: usize, neighbours: usize, coarse: usize) -> Self {
        let width = neighbours.max(1) - 1;
        let groups = count.div_ceil(LANES);
        let neighbours = if coarse <= SLOTS {
            Neighbours::ShortIndices(vec![
                Neighbour {
                    names: [0; LANES],
                    weights: [[0; LANES]; 3]
                };
                groups * width
            ])
        } else {
            Neighbours::LongIndices(vec![
                Neighbour {
                    names: [0; LANES],
                    weights: [[0; LANES]; 3]
                };
                groups * width
            ])
        };
        Self {
            width,
            groups: vec![LaneGroup::default(); groups],
            neighbours,
        }
    }

    /// Sets a vertex. The stencil has at least one and at most `neighbours` neighbours, the nearest
    /// first.
    pub(super) fn set(&mut self, vertex: usize, stencil: &Stencil) {
        let (index, lane) = (vertex / LANES, vertex % LANES);
        let group = &mut self.groups[index];
        let filled = stencil.count.min(self.width + 1);
        let weights = &stencil.weights[1..filled];
        let unit: [f64; 3] = std::array::from_fn(|c| {
            weights
                .iter()
                .fold(0.0, |most: f64, w| most.max(w[c].abs()))
                / f64::from(i16::MAX)
        });
        group.first[lane] = stencil.coarse[0];
        for (slot, unit) in group.unit.iter_mut().zip(unit) {
            slot[lane] = unit as f32;
        }
        // Ascending order, for memory locality.
        let mut order: [usize; MAX_NEIGHBOURS] = std::array::from_fn(|i| i);
        order[1..filled].sort_unstable_by_key(|&i| stencil.coarse[i]);
        for place in 0..self.width {
            let neighbour = order.get(place + 1).copied().filter(|_| place + 1 < filled);
            let name = stencil.coarse[neighbour.unwrap_or(0)];
            let weight = |c: usize| {
                neighbour
                    .filter(|_| unit[c] > 0.0)
                    .map_or(0, |i| (stencil.weights[i][c] / unit[c]).round() as i16)
            };
            let weights = [weight(0), weight(1), weight(2)];
            match &mut self.neighbours {
                Neighbours::ShortIndices(all) => {
                    all[index * self.width + place].set(lane, name as u16, weights);
                }
                Neighbours::LongIndices(all) => {
                    all[index * self.width + place].set(lane, name, weights);
                }
            }
        }
    }

    /// Computes the remainders, so that the block reproduces the rest positions; `frames` holds the
    /// coarse vertices at rest.
    pub(super) fn set_remainder(&mut self, frames: &Frames, fine: &[Point]) {
        let mut reached = vec![Point::origin(); fine.len()];
        let mut tangents = vec![Tangents::default(); fine.len()];
        self.apply(&frames.slots, &mut reached, &mut tangents);
        for (v, tangents) in tangents.iter().enumerate() {
            let components = LocalFrame::new(tangents).components(&(fine[v] - reached[v]));
            for (slot, component) in self.groups[v / LANES].remainder.iter_mut().zip(components) {
                slot[v % LANES] = component;
            }
        }
    }

    /// Appends the data of its first `count` vertices.
    pub(super) fn append_to(&self, plain: &mut PlainSums, count: usize) {
        for vertex in 0..count {
            let (index, lane) = (vertex / LANES, vertex % LANES);
            let group = &self.groups[index];
            plain.first.push(group.first[lane]);
            plain.units.push(group.unit.map(|unit| unit[lane]));
            plain
                .remainders
                .push(group.remainder.map(|component| component[lane]));
            let own = index * self.width..(index + 1) * self.width;
            match &self.neighbours {
                Neighbours::ShortIndices(all) => plain.extend(
                    all[own]
                        .iter()
                        .map(|n| (u32::from(n.names[lane]), n.weights.map(|w| w[lane]))),
                ),
                Neighbours::LongIndices(all) => plain.extend(
                    all[own]
                        .iter()
                        .map(|n| (n.names[lane], n.weights.map(|w| w[lane]))),
                ),
            }
        }
    }

    /// Number of neighbours of a vertex besides the first.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn apply(&self, slots: &[PaddedPoint], fine: &mut [Point], tangents: &mut [Tangents]) {
        let arch = Arch::new();
        match &self.neighbours {
            Neighbours::ShortIndices(all) => {
                if let Some(slots) = slots.first_chunk::<SLOTS>() {
                    arch.dispatch(Sum {
                        block: self,
                        neighbours: all,
                        slots: ShortIndices(slots),
                        fine,
                        tangents,
                    });
                }
            }
            Neighbours::LongIndices(all) => arch.dispatch(Sum {
                block: self,
                neighbours: all,
                slots: LongIndices(slots),
                fine,
                tangents,
            }),
        }
    }
}

impl<N> Neighbour<N> {
    fn set(&mut self, lane: usize, name: N, weights: [i16; 3]) {
        self.names[lane] = name;
        for (slot, weight) in self.weights.iter_mut().zip(weights) {
            slot[lane] = weight;
        }
    }
}

/// Sums all blocks over the coarse positions in `frames`.
pub(super) fn apply(blocks: &[WeightBlock], frames: &mut Frames, fine: &mut [Point]) {
    let Frames {
        slots, tangents, ..
    } = frames;
    let slots = slots.as_slice();
    let parts = fine
        .par_chunks_mut(BLOCK)
        .zip(tangents.par_chunks_mut(BLOCK));
    blocks
        .par_iter()
        .zip(parts)
        .for_each(|(block, (fine, tangents))| block.apply(slots, fine, tangents));
}

/// Coarse positions by index.
trait CoarsePoints: Copy {
    type Index: Copy;
    fn at(self, name: Self::Index) -> PaddedPoint;
    fn first(self, name: u32) -> PaddedPoint;
}

/// With an entry for every index value, so that no bounds check is needed.
#[derive(Clone, Copy)]
struct ShortIndices<'a>(&'a [PaddedPoint; SLOTS]);

#[derive(Clone, Copy)]
struct LongIndices<'a>(&'a [PaddedPoint]);

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl CoarsePoints for ShortIndices<'_> {
    type Index = u16;

    #[inline(always)]
    fn at(self, name: u16) -> PaddedPoint {
        self.0[name as usize]
    }

    #[inline(always)]
    fn first(self, name: u32) -> PaddedPoint {
        self.0[name as usize & (SLOTS - 1)]
    }
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl CoarsePoints for LongIndices<'_> {
    type Index = u32;

    #[inline(always)]
    fn at(self, name: u32) -> PaddedPoint {
        self.0[name as usize]
    }

    #[inline(always)]
    fn first(self, name: u32) -> PaddedPoint {
        self.0[name as usize]
    }
}

struct Sum<'a, P: CoarsePoints> {
    block: &'a WeightBlock,
    neighbours: &'a [Neighbour<P::Index>],
    slots: P,
    fine: &'a mut [Point],
    tangents: &'a mut [Tangents],
}

impl<P: CoarsePoints> WithSimd for Sum<'_, P> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            block,
            neighbours,
            slots,
            fine,
            tangents,
        } = self;
        let ops = VertexOps(simd);
        let out = fine.chunks_mut(LANES).zip(tangents.chunks_mut(LANES));
        for (index, (group, (fine, tangents))) in block.groups.iter().zip(out).enumerate() {
            let own = &neighbours[index * block.width..(index + 1) * block.width];
            let (positions, frames) = group_at(ops, group, own, slots);
            let positions = ops.scattered(positions);
            let (a, b) = (ops.scattered(frames.t[0]), ops.scattered(frames.t[1]));
            for (lane, (fine, tangents)) in fine.iter_mut().zip(tangents).enumerate() {
                let [x, y, z, _] = positions[lane];
                *fine = Point::new(x, y, z);
                *tangents = [a[lane], b[lane]];
            }
        }
    }
}

/// Positions and frames of a group.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn group_at<S: Simd, P: CoarsePoints>(
    ops: VertexOps<S>,
    group: &LaneGroup,
    neighbours: &[Neighbour<P::Index>],
    slots: P,
) -> (Vectors, LocalFrames) {
    let mut named = [[0.0; 4]; LANES];
    for (slot, &name) in named.iter_mut().zip(&group.first) {
        *slot = slots.first(name);
    }
    let nearest = ops.gathered(named);
    let (mut sum, mut a, mut b) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3], [[0.0; LANES]; 3]);
    for Neighbour { names, weights } in neighbours {
        for (slot, &name) in named.iter_mut().zip(names) {
            *slot = slots.at(name);
        }
        let offset = minus(ops.gathered(named), nearest);
        sum = ops.fma3(offset, ops.widened(weights[0]), sum);
        a = ops.fma3(offset, ops.widened(weights[1]), a);
        b = ops.fma3(offset, ops.widened(weights[2]), b);
    }
    let frames = LocalFrames::new(ops, [scaled(a, group.unit[1]), scaled(b, group.unit[2])]);
    let reached = ops.fma3(sum, group.unit[0], nearest);
    (plus(reached, frames.vectors(ops, group.remainder)), frames)
}
