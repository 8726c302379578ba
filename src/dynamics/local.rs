//! The local step: for every tet the closest rotation, and the forces that pull towards it.
//!
//! Elements are prisms of three tets (see [`crate::tissue::prisms`]), packed in blocks of [`LANES`] with one value a lane, so that one
//! vector instruction works on 4, 8 or 16 prisms, whatever the processor has (chosen at run time). With F = `D_s D_m⁻¹` and its
//! closest rotation R, a tet's forces on its last three vertices are the columns of w V (R − F) `D_m⁻ᵀ`, on its first minus their sum.

use nalgebra::Matrix3;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::simd::{Mat3, Ops, is_rotation, load_matrix, load_vector};
use crate::math::{Point, Vec3, closest_rotation};

/// Prisms in a block.
pub const LANES: usize = 16;

/// Blocks that one task handles.
const TASK: usize = 32;

type Lanes = [f32; LANES];

/// One prism for packing; tets with weight 0 take no part.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) corners: [u32; 3],
    pub(super) rest_inverse: [Matrix3<f64>; 3],
    /// Volumes.
    pub(super) weight: [f64; 3],
}

/// Sixteen prisms.
#[derive(Debug, Clone)]
struct Block {
    corners: [[u32; LANES]; 3],
    /// Three matrices, nine entries each, column by column.
    rest_inverse: [Lanes; 27],
    weight: [Lanes; 3],
    /// 1 where a tet takes no part: its F is then the identity, at rest for ever, instead of something that wants to be mended.
    unused: [Lanes; 3],
}

/// Forces of a block on its skin corners: corner by corner, x y z each.
type BlockForces = [Lanes; 9];

/// All elements, and where the force on each vertex is gathered from.
#[derive(Debug, Clone)]
pub struct Blocks {
    packed: Vec<Block>,
    /// `gather_offsets[v]..gather_offsets[v + 1]` index `gather`.
    gather_offsets: Vec<u32>,
    /// Index of the x component in the forces seen as one slice; y and z follow at distance `LANES`.
    gather: Vec<u32>,
    elements: usize,
}

/// Scratch of the local step.
#[derive(Debug, Clone, Default)]
pub struct Forces {
    blocks: Vec<BlockForces>,
}

impl Blocks {
    /// Packs elements that refer to `vertices` skin vertices.
    pub(super) fn pack(elements: &[Element], vertices: usize) -> Self {
        let packed: Vec<Block> = elements.chunks(LANES).map(Block::pack).collect();
        let mut gather_offsets = vec![0_u32; vertices + 1];
        for element in elements {
            for corner in element.corners {
                gather_offsets[corner as usize + 1] += 1;
            }
        }
        for v in 0..vertices {
            gather_offsets[v + 1] += gather_offsets[v];
        }
        let mut cursor = gather_offsets.clone();
        let mut gather = vec![0; elements.len() * 3];
        for (index, element) in elements.iter().enumerate() {
            for (k, corner) in element.corners.into_iter().enumerate() {
                let slot = &mut cursor[corner as usize];
                gather[*slot as usize] = ((index / LANES) * 9 * LANES + k * 3 * LANES + index % LANES) as u32;
                *slot += 1;
            }
        }
        Self { packed, gather_offsets, gather, elements: elements.len() }
    }

    /// How many prisms there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether there is no prism.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// Computes the forces of all elements, per unit of stiffness.
    pub fn forces(&self, skin: &[Point], base: &[Point], forces: &mut Forces) {
        forces.blocks.resize(self.packed.len(), [[0.0; LANES]; 9]);
        let arch = Arch::new();
        self.packed.par_chunks(TASK).zip(forces.blocks.par_chunks_mut(TASK)).for_each(|(blocks, out)| {
            arch.dispatch(Kernel { blocks, skin, base, out });
        });
    }

    /// The sum of the element forces on a skin vertex.
    #[must_use]
    pub fn force_on(&self, vertex: usize, forces: &Forces) -> Vec3 {
        let flat: &[f32] = forces.blocks.as_flattened().as_flattened();
        let range = self.gather_offsets[vertex] as usize..self.gather_offsets[vertex + 1] as usize;
        let mut sum = Vec3::zeros();
        for &slot in &self.gather[range] {
            let slot = slot as usize;
            sum += Vec3::new(flat[slot], flat[slot + LANES], flat[slot + 2 * LANES]);
        }
        sum
    }

    /// Σ V/2 ‖F − R‖² over all tets, in `f64` with exact rotations: the elastic energy per unit of stiffness.
    #[must_use]
    pub fn energy(&self, skin: &[Point], base: &[Point]) -> f64 {
        let mut energy = 0.0;
        for index in 0..self.elements {
            let (block, lane) = (&self.packed[index / LANES], index % LANES);
            let points = block.chain(lane, skin, base);
            for tet in 0..3 {
                let f = deformation(block, lane, tet, &points);
                energy += 0.5 * f64::from(block.weight[tet][lane]) * (f - closest_rotation(&f)).norm_squared();
            }
        }
        energy
    }
}

impl Block {
    fn pack(elements: &[Element]) -> Self {
        let mut block =
            Self { corners: [[0; LANES]; 3], rest_inverse: [[0.0; LANES]; 27], weight: [[0.0; LANES]; 3], unused: [[0.0; LANES]; 3] };
        for lane in 0..LANES {
            // Lanes beyond the end repeat the last prism without weight.
            let element = &elements[lane.min(elements.len() - 1)];
            for k in 0..3 {
                block.corners[k][lane] = element.corners[k];
                let used = lane < elements.len() && element.weight[k] > 0.0;
                block.weight[k][lane] = if used { element.weight[k] as f32 } else { 0.0 };
                block.unused[k][lane] = if used { 0.0 } else { 1.0 };
                let inverse = if used { element.rest_inverse[k] } else { Matrix3::zeros() };
                for (entry, value) in inverse.iter().enumerate() {
                    block.rest_inverse[9 * k + entry][lane] = *value as f32;
                }
            }
        }
        block
    }

    fn chain(&self, lane: usize, skin: &[Point], base: &[Point]) -> [Point; 6] {
        let [i, j, k] = self.corners.map(|corner| corner[lane] as usize);
        [skin[i], skin[j], skin[k], base[i], base[j], base[k]]
    }
}

/// F of one tet in `f64`.
fn deformation(block: &Block, lane: usize, tet: usize, points: &[Point; 6]) -> Matrix3<f64> {
    let edge = |k: usize| (points[tet + k] - points[tet]).cast::<f64>();
    let inverse = Matrix3::from_fn(|row, column| f64::from(block.rest_inverse[9 * tet + 3 * column + row][lane]));
    Matrix3::from_columns(&[edge(1), edge(2), edge(3)]) * inverse
}

struct Kernel<'a> {
    blocks: &'a [Block],
    skin: &'a [Point],
    base: &'a [Point],
    out: &'a mut [BlockForces],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "a lane goes through arrays of two kinds")]
    fn with_simd<S: Simd>(self, simd: S) {
        let ops = Ops(simd);
        for (block, out) in self.blocks.iter().zip(self.out) {
            let mut points = [[0.0_f32; LANES]; 18];
            for lane in 0..LANES {
                for (entry, point) in block.chain(lane, self.skin, self.base).iter().enumerate() {
                    points[3 * entry][lane] = point.x;
                    points[3 * entry + 1][lane] = point.y;
                    points[3 * entry + 2][lane] = point.z;
                }
            }
            for part in 0..LANES / S::F32_LANES {
                prism_forces(ops, block, &points, part, out);
            }
        }
    }
}

/// The three tets of `S::F32_LANES` prisms.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn prism_forces<S: Simd>(ops: Ops<S>, block: &Block, points: &[Lanes; 18], part: usize, out: &mut BlockForces) {
    let mut sums = [[ops.splat(0.0); 3]; 3];
    for tet in 0..3 {
        let first = 3 * tet;
        let origin = load_vector(ops, points, first, part);
        let edges = [
            ops.sub3(load_vector(ops, points, first + 3, part), origin),
            ops.sub3(load_vector(ops, points, first + 6, part), origin),
            ops.sub3(load_vector(ops, points, first + 9, part), origin),
        ];
        let rest_inverse = load_matrix(ops, &block.rest_inverse, 9 * tet, part);
        let mut f = ops.matmul(edges, rest_inverse);
        let unused = ops.load(&block.unused[tet], part);
        for (diagonal, column) in f.iter_mut().enumerate() {
            column[diagonal] = ops.add(column[diagonal], unused);
        }
        let (mut r, failed) = ops.closest_rotation(f);
        if failed {
            mend(ops, &f, &mut r);
        }
        let weight = ops.load(&block.weight[tet], part);
        let stress =
            [ops.scaled(ops.sub3(r[0], f[0]), weight), ops.scaled(ops.sub3(r[1], f[1]), weight), ops.scaled(ops.sub3(r[2], f[2]), weight)];
        let h = ops.matmul_transposed(stress, rest_inverse);
        let first = ops.add3(ops.add3(h[0], h[1]), h[2]);
        sums[tet] = ops.sub3(sums[tet], first);
        // Only skin corners (chain entries 0..3) need their force.
        for k in 0..2 - tet.min(2) {
            sums[tet + 1 + k] = ops.add3(sums[tet + 1 + k], h[k]);
        }
    }
    for (corner, sum) in sums.into_iter().enumerate() {
        for (c, value) in sum.into_iter().enumerate() {
            ops.store(&mut out[3 * corner + c], part, value);
        }
    }
}

/// Replaces what came out as no rotation (tets squeezed into a line) by exact ones.
#[inline(never)]
fn mend<S: Simd>(ops: Ops<S>, f: &Mat3<S>, r: &mut Mat3<S>) {
    for lane in 0..S::F32_LANES {
        let of = |m: &Mat3<S>| Matrix3::from_fn(|row, column| f64::from(ops.lane(m[column][row], lane)));
        if is_rotation(&of(r)) {
            continue;
        }
        let rotation = closest_rotation(&of(f));
        for column in 0..3 {
            for row in 0..3 {
                ops.set_lane(&mut r[column][row], lane, rotation[(row, column)] as f32);
            }
        }
    }
}
