//! The local step: computes the closest rotation of each tet, and adds the resulting forces on its points.
//!
//! Elements are chains of up to three tets (`chain.rs`), packed in blocks of [`LANES`] with one chain per lane. One vector
//! instruction processes 4, 8 or 16 chains, depending on the processor (chosen at run time). With E the edges of a tet along the
//! chain, F = E Ē⁻¹ and R the rotation closest to F, the stress w V (R − F) Ē⁻ᵀ has one column per edge. The force on a point is
//! the difference of the sums on its two edges. If all chains have three unknown points followed by prescribed ones, only forces on
//! those three are computed.

use nalgebra::{Matrix3, Vector3};
use pulp::{Arch, Simd, WithSimd};

use super::chain::{Chain, POINTS, TETS};
use crate::numerics::determinant::project_volume;
use crate::numerics::lanes::{
    Indices, LANES, Lanes, Mat3, Ops, Slots, Vec3s, load_matrix, prefetch, transposed,
};
use crate::numerics::polar::{Inverted, Rotations};

/// Sixteen chains; aligned so that every load is of one cache line.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Block {
    /// Slots of the chains' six points.
    points: [Indices; POINTS],
    /// Three matrices, column-major.
    rest_inverse: [[Lanes; 9]; TETS],
}

/// Stiffness times volume of the tets of a block; 0 for degenerate or missing tets.
pub(super) type BlockWeights = [Lanes; TETS];

/// Prefetch distance, blocks.
const PREFETCH_BLOCKS: isize = 2;
/// Bytes of one block that the local step reads.
pub(super) const BLOCK_BYTES: usize = size_of::<Block>() + size_of::<BlockWeights>();
/// Floating-point operations per chain. Per tet: F 45, three Newton steps of 53 (cofactors 27, determinant 5, step 18, tests 3),
/// strain and stress 27. Per chain: edges 15, six columns on edges to the first three points 96, differences 6 and sums 9.
pub(super) const CHAIN_FLOPS: usize = 3 * (45 + 3 * 53 + 27) + 15 + 96 + 15;

impl Block {
    /// Packs up to sixteen chains. `slots` returns the slots of the six points of a chain. Empty lanes have zero weight and write
    /// to the slot `dummy`.
    pub(super) fn pack(
        elements: &[&Chain],
        slots: impl Fn(&Chain) -> [u16; POINTS],
        dummy: u16,
    ) -> Self {
        let mut block = Self {
            points: [[0; LANES]; POINTS],
            rest_inverse: [[[0.0; LANES]; 9]; TETS],
        };
        for lane in 0..LANES {
            let element = elements[lane.min(elements.len() - 1)];
            let mut points = slots(element);
            if lane >= elements.len() {
                points.fill(dummy);
            }
            for (k, point) in points.into_iter().enumerate() {
                block.points[k][lane] = point;
            }
            if lane < elements.len() {
                for tet in 0..3 {
                    for (entry, value) in element.rest_inverse[tet].iter().enumerate() {
                        block.rest_inverse[tet][entry][lane] = *value as f32;
                    }
                }
            }
        }
        block
    }

    /// Inverse rest edges of the three tets of the chain in a lane, column-major.
    pub(super) fn rest_inverse_of(&self, lane: usize) -> [[f32; 9]; 3] {
        std::array::from_fn(|tet| std::array::from_fn(|entry| self.rest_inverse[tet][entry][lane]))
    }

    /// Stiffness times volume of the tets of up to sixteen elements.
    pub(super) fn weights(elements: impl Iterator<Item = [f64; 3]>) -> BlockWeights {
        let mut weights = [[0.0; LANES]; 3];
        for (lane, element) in elements.enumerate() {
            for tet in 0..3 {
                weights[tet][lane] = element[tet] as f32;
            }
        }
        weights
    }

    /// Σ w V/2 (‖F − R‖² + volume ‖F − F*‖²) over the tets, in `f64` with exact rotations; of inverted tets the energy of [`Inverted`].
    pub(super) fn energy(
        &self,
        weights: &BlockWeights,
        points: &Slots,
        volume: f32,
        inverted: Inverted,
    ) -> f64 {
        let mut energy = 0.0;
        for lane in 0..LANES {
            let point = |k: usize| {
                let slot = points[self.points[k][lane] as usize];
                Vector3::new(slot[0], slot[1], slot[2]).cast::<f64>()
            };
            let edge = |k: usize| point(k + 1) - point(k);
            for (tet, (rest_inverse, weight)) in self.rest_inverse.iter().zip(weights).enumerate() {
                let weight = f64::from(weight[lane]);
                if weight > 0.0 {
                    let inverse = Matrix3::from_fn(|row, column| {
                        f64::from(rest_inverse[3 * column + row][lane])
                    });
                    let f =
                        Matrix3::from_columns(&[edge(tet), edge(tet + 1), edge(tet + 2)]) * inverse;
                    energy += weight * inverted.strain_energy(&f);
                    if volume > 0.0 {
                        energy += 0.5
                            * weight
                            * f64::from(volume)
                            * (f - project_volume(&f)).norm_squared();
                    }
                }
            }
        }
        energy
    }
}

/// Variant of the force computation in [`add_forces`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ForceTask {
    /// Resistance to changes of volume, relative to the resistance to changes of shape.
    pub(super) volume: f32,
    /// What inverted tets are projected to.
    pub(super) inverted: Inverted,
    pub(super) with_energy: bool,
    /// Whether only the first three points of every chain are unknown.
    pub(super) first_three_only: bool,
}

/// Adds the forces of all elements to `forces`. Returns their elastic energy Σ w V/2 (‖F − R‖² + volume ‖F − F*‖²) if `task` asks
/// for it, otherwise 0.
pub(super) fn add_forces(
    blocks: &[Block],
    weights: &[BlockWeights],
    points: &Slots,
    forces: &mut Slots,
    task: ForceTask,
) -> f64 {
    let input = LocalInput {
        blocks,
        weights,
        points,
        forces,
        task,
    };
    match (task.with_energy, task.volume > 0.0, task.first_three_only) {
        (false, false, true) => input.run::<false, false, false>(),
        (true, false, true) => input.run::<true, false, false>(),
        (false, true, true) => input.run::<false, true, false>(),
        (true, true, true) => input.run::<true, true, false>(),
        (false, false, false) => input.run::<false, false, true>(),
        (true, false, false) => input.run::<true, false, true>(),
        (false, true, false) => input.run::<false, true, true>(),
        (true, true, false) => input.run::<true, true, true>(),
    }
}

/// Input and output of [`LocalKernel`].
struct LocalInput<'a> {
    blocks: &'a [Block],
    weights: &'a [BlockWeights],
    points: &'a Slots,
    forces: &'a mut Slots,
    task: ForceTask,
}

impl LocalInput<'_> {
    fn run<const ENERGY: bool, const VOLUME: bool, const ALL: bool>(self) -> f64 {
        Arch::new().dispatch(LocalKernel::<ENERGY, VOLUME, ALL>(self))
    }
}

/// The local step with options: `ENERGY` sums up the energy, `VOLUME` adds resistance to changes of volume, `ALL` computes forces
/// on all six points instead of three.
struct LocalKernel<'a, const ENERGY: bool, const VOLUME: bool, const ALL: bool>(LocalInput<'a>);

impl<const ENERGY: bool, const VOLUME: bool, const ALL: bool> WithSimd
    for LocalKernel<'_, ENERGY, VOLUME, ALL>
{
    type Output = f64;

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let ops = Ops(simd);
        let mut energy = 0.0;
        let LocalInput {
            blocks,
            weights,
            points,
            forces,
            task,
        } = self.0;
        for (block, weights) in blocks.iter().zip(weights) {
            prefetch_lines(simd, block, PREFETCH_BLOCKS);
            prefetch_lines(simd, weights, PREFETCH_BLOCKS);
            for part in 0..LANES / S::F32_LANES {
                let lanes = chains::<S, ENERGY, VOLUME, ALL>(
                    ops, block, weights, part, points, forces, task,
                );
                if ENERGY {
                    energy += 0.5 * f64::from(simd.reduce_sum_f32s(lanes));
                }
            }
        }
        energy
    }
}

/// Prefetches the element that is `ahead` elements after `element`.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn prefetch_lines<S: Simd, T>(simd: S, element: &T, ahead: isize) {
    let line = std::ptr::from_ref(element)
        .wrapping_offset(ahead)
        .cast::<[u8; 64]>();
    for k in 0..size_of::<T>() / 64 {
        prefetch(simd, line.wrapping_add(k));
    }
}

/// Processes `S::F32_LANES` chains. Returns twice the energy of each.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn chains<S: Simd, const ENERGY: bool, const VOLUME: bool, const ALL: bool>(
    ops: Ops<S>,
    block: &Block,
    weights: &BlockWeights,
    part: usize,
    points: &Slots,
    forces: &mut Slots,
    task: ForceTask,
) -> S::f32s {
    let p = &block.points;
    let (p0, p1, p2) = (
        ops.gather(points, &p[0], part),
        ops.gather(points, &p[1], part),
        ops.gather(points, &p[2], part),
    );
    let (p3, p4, p5) = (
        ops.gather(points, &p[3], part),
        ops.gather(points, &p[4], part),
        ops.gather(points, &p[5], part),
    );
    let edges = [
        ops.sub3(p1, p0),
        ops.sub3(p2, p1),
        ops.sub3(p3, p2),
        ops.sub3(p4, p3),
        ops.sub3(p5, p4),
    ];
    let f = [
        gradient(ops, block, weights, 0, part, [edges[0], edges[1], edges[2]]),
        gradient(ops, block, weights, 1, part, [edges[1], edges[2], edges[3]]),
        gradient(ops, block, weights, 2, part, [edges[2], edges[3], edges[4]]),
    ];
    let mut rotations = ops.projections(&f, task.inverted);
    if rotations.doubtful {
        ops.repair(&f, &mut rotations);
    }
    let mut energy = ops.splat(0.0);
    let mut edge_forces = [ops.zero3(); POINTS - 1];
    for tet in 0..TETS {
        let weight = ops.load(&weights[tet], part);
        let mut stress = stress::<S, ENERGY>(ops, &f[tet], &rotations, tet, weight, &mut energy);
        if VOLUME {
            add_volume_stress::<S, ENERGY>(
                ops,
                &f[tet],
                ops.mul(weight, ops.splat(task.volume)),
                &mut stress,
                &mut energy,
            );
        }
        // Only edges that end at an unknown point contribute forces.
        let columns = transposed(load_matrix(ops, &block.rest_inverse[tet], part));
        let loaded_edges = if ALL { 3 } else { 3 - tet };
        for edge in 0..loaded_edges {
            edge_forces[tet + edge] =
                ops.add3(edge_forces[tet + edge], ops.combine(stress, columns[edge]));
        }
    }
    ops.scatter_add(forces, &block.points[0], part, edge_forces[0]);
    ops.scatter_add(
        forces,
        &block.points[1],
        part,
        ops.sub3(edge_forces[1], edge_forces[0]),
    );
    ops.scatter_add(
        forces,
        &block.points[2],
        part,
        ops.sub3(edge_forces[2], edge_forces[1]),
    );
    if ALL {
        ops.scatter_add(
            forces,
            &block.points[3],
            part,
            ops.sub3(edge_forces[3], edge_forces[2]),
        );
        ops.scatter_add(
            forces,
            &block.points[4],
            part,
            ops.sub3(edge_forces[4], edge_forces[3]),
        );
        let last = ops.sub3(ops.zero3(), edge_forces[4]);
        ops.scatter_add(forces, &block.points[5], part, last);
    }
    energy
}

/// F = E Ē⁻¹ of one tet. Zero-weight tets use F = I, which needs no repair of its rotation.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn gradient<S: Simd>(
    ops: Ops<S>,
    block: &Block,
    weights: &BlockWeights,
    tet: usize,
    part: usize,
    edges: Mat3<S>,
) -> Mat3<S> {
    let simd = ops.0;
    let f = ops.matmul(edges, load_matrix(ops, &block.rest_inverse[tet], part));
    let (zero, one) = (ops.splat(0.0), ops.splat(1.0));
    let unused = simd.select_f32s(
        simd.less_than_or_equal_f32s(ops.load(&weights[tet], part), zero),
        one,
        zero,
    );
    [
        [ops.add(f[0][0], unused), f[0][1], f[0][2]],
        [f[1][0], ops.add(f[1][1], unused), f[1][2]],
        [f[2][0], f[2][1], ops.add(f[2][2], unused)],
    ]
}

/// Adds w (F − F*) to the stress.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn add_volume_stress<S: Simd, const ENERGY: bool>(
    ops: Ops<S>,
    f: &Mat3<S>,
    weight: S::f32s,
    stress: &mut Mat3<S>,
    energy: &mut S::f32s,
) {
    let projected = ops.project_volume(f);
    for column in 0..3 {
        let strain = ops.sub3(f[column], projected[column]);
        let own = ops.scaled(strain, weight);
        stress[column] = ops.add3(stress[column], own);
        if ENERGY {
            *energy = ops.add(*energy, ops.dot(strain, own));
        }
    }
}

/// w (F − R), the negative stress of FPS: the force on an edge's first point.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn stress<S: Simd, const ENERGY: bool>(
    ops: Ops<S>,
    f: &Mat3<S>,
    rotations: &Rotations<S>,
    tet: usize,
    weight: S::f32s,
    energy: &mut S::f32s,
) -> Mat3<S> {
    let scale = ops.splat(rotations.scale);
    let r: &Mat3<S> = &rotations.matrices[tet];
    let strain = [
        strain(ops, f[0], r[0], scale),
        strain(ops, f[1], r[1], scale),
        strain(ops, f[2], r[2], scale),
    ];
    let stress = [
        ops.scaled(strain[0], weight),
        ops.scaled(strain[1], weight),
        ops.scaled(strain[2], weight),
    ];
    if ENERGY {
        for column in 0..3 {
            *energy = ops.add(*energy, ops.dot(strain[column], stress[column]));
        }
        if rotations.inverted == Inverted::Softened {
            *energy = ops.fma(weight, ops.softening(r, rotations.scale), *energy);
        }
    }
    stress
}

/// A column of F − s R.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn strain<S: Simd>(ops: Ops<S>, f: Vec3s<S>, r: Vec3s<S>, s: S::f32s) -> Vec3s<S> {
    [
        ops.fnma(r[0], s, f[0]),
        ops.fnma(r[1], s, f[1]),
        ops.fnma(r[2], s, f[2]),
    ]
}
