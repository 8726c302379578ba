//! Vector code with one element per lane, for every vector unit, and conversion between lanes and points in memory.
//!
//! A point in memory is [`Padded`] to x, y, z and a pad, so that one 128-bit instruction moves it. Elements name their points by `u16`
//! indices into [`Slots`], which have room for every `u16`: no index can be out of bounds, so none needs a check.

#![expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]

#[cfg(target_arch = "x86_64")]
mod x86;

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use x86::MapTo;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{as_v3, as_v4};

/// Elements in a block.
pub(crate) const LANES: usize = 16;
/// A vector padded to one 128-bit register: x, y, z and a number that is not used.
pub(crate) type Padded = [f32; 4];
/// One for every `u16`. Untouched pages take no memory.
pub(crate) type Slots = [Padded; SLOTS];
pub(crate) const SLOTS: usize = 1 << 16;

/// One number per lane.
pub(crate) type Lanes = [f32; LANES];
/// Indices of the points of a block.
pub(crate) type Indices = [u16; LANES];

/// Three columns of three entries; each entry holds one value per lane.
pub(crate) type Mat3<S> = [[<S as Simd>::f32s; 3]; 3];
pub(crate) type Vec3s<S> = [<S as Simd>::f32s; 3];

/// a + b.
#[inline]
pub(crate) fn add(a: Padded, b: Padded) -> Padded {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

/// a − b.
#[inline]
pub(crate) fn sub(a: Padded, b: Padded) -> Padded {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}

/// s a.
#[inline]
pub(crate) fn scaled(a: Padded, s: f32) -> Padded {
    [a[0] * s, a[1] * s, a[2] * s, a[3] * s]
}

/// The scalar product of x, y and z.
#[inline]
pub(crate) fn dot(a: Padded, b: Padded) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// All zero; untouched memory is not committed.
pub(crate) fn zeroed_slots() -> Box<Slots> {
    let slots: Box<[Padded]> = vec![[0.0; 4]; SLOTS].into_boxed_slice();
    slots
        .try_into()
        .unwrap_or_else(|_| unreachable!("the length is that of the array"))
}

/// Vector instructions under short names.
#[derive(Clone, Copy)]
pub(crate) struct Ops<S: Simd>(pub(crate) S);

#[expect(
    clippy::unused_self,
    reason = "all operations read the same at the call, whether they need the token or not"
)]
impl<S: Simd> Ops<S> {
    #[inline(always)]
    pub(crate) fn splat(self, value: f32) -> S::f32s {
        self.0.splat_f32s(value)
    }

    #[inline(always)]
    pub(crate) fn zero3(self) -> Vec3s<S> {
        [self.splat(0.0); 3]
    }

    #[inline(always)]
    pub(crate) fn load(self, lanes: &Lanes, part: usize) -> S::f32s {
        S::as_simd_f32s(lanes).0[part]
    }

    #[inline(always)]
    pub(crate) fn store(self, lanes: &mut Lanes, part: usize, value: S::f32s) {
        S::as_mut_simd_f32s(lanes).0[part] = value;
    }

    #[inline(always)]
    pub(crate) fn lane(self, value: S::f32s, lane: usize) -> f32 {
        let values: &[f32] = bytemuck::cast_slice(std::slice::from_ref(&value));
        values[lane]
    }

    #[inline(always)]
    pub(crate) fn set_lane(self, value: &mut S::f32s, lane: usize, entry: f32) {
        let values: &mut [f32] = bytemuck::cast_slice_mut(std::slice::from_mut(value));
        values[lane] = entry;
    }

    #[inline(always)]
    pub(crate) fn add(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.add_f32s(a, b)
    }

    #[inline(always)]
    pub(crate) fn sub(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.sub_f32s(a, b)
    }

    #[inline(always)]
    pub(crate) fn mul(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.mul_f32s(a, b)
    }

    #[inline(always)]
    pub(crate) fn div(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.div_f32s(a, b)
    }

    /// a b + c.
    #[inline(always)]
    pub(crate) fn fma(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        self.0.mul_add_e_f32s(a, b, c)
    }

    /// c − a b.
    #[inline(always)]
    pub(crate) fn fnma(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(v4) = as_v4(self.0) {
                return bytemuck::cast(v4.avx512f._mm512_fnmadd_ps(
                    bytemuck::cast(a),
                    bytemuck::cast(b),
                    bytemuck::cast(c),
                ));
            }
            if let Some(v3) = as_v3(self.0) {
                return bytemuck::cast(v3.fma._mm256_fnmadd_ps(
                    bytemuck::cast(a),
                    bytemuck::cast(b),
                    bytemuck::cast(c),
                ));
            }
        }
        self.fma(self.0.neg_f32s(a), b, c)
    }

    /// Whether a < b in any lane; false for NaN.
    #[inline(always)]
    pub(crate) fn any_less(self, a: S::f32s, b: S::f32s) -> bool {
        self.any(self.0.less_than_f32s(a, b))
    }

    /// Whether a > b in any lane, or one of them is NaN.
    #[inline(always)]
    pub(crate) fn any_not_less_or_equal(self, a: S::f32s, b: S::f32s) -> bool {
        let simd = self.0;
        let (zero, one) = (self.splat(0.0), self.splat(1.0));
        self.any_less(
            zero,
            simd.select_f32s(simd.less_than_or_equal_f32s(a, b), zero, one),
        )
    }

    #[inline(always)]
    fn any(self, mask: S::m32s) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = as_v3(self.0) {
            return v3.avx._mm256_movemask_ps(bytemuck::checked::cast(mask)) != 0;
        }
        self.0.first_true_m32s(mask) < S::F32_LANES
    }

    #[inline(always)]
    pub(crate) fn add3(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [
            self.add(a[0], b[0]),
            self.add(a[1], b[1]),
            self.add(a[2], b[2]),
        ]
    }

    #[inline(always)]
    pub(crate) fn sub3(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [
            self.sub(a[0], b[0]),
            self.sub(a[1], b[1]),
            self.sub(a[2], b[2]),
        ]
    }

    #[inline(always)]
    pub(crate) fn dot(self, a: Vec3s<S>, b: Vec3s<S>) -> S::f32s {
        self.fma(a[0], b[0], self.fma(a[1], b[1], self.mul(a[2], b[2])))
    }

    #[inline(always)]
    fn cross(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [
            self.fnma(a[2], b[1], self.mul(a[1], b[2])),
            self.fnma(a[0], b[2], self.mul(a[2], b[0])),
            self.fnma(a[1], b[0], self.mul(a[0], b[1])),
        ]
    }

    #[inline(always)]
    pub(crate) fn scaled(self, a: Vec3s<S>, s: S::f32s) -> Vec3s<S> {
        [self.mul(a[0], s), self.mul(a[1], s), self.mul(a[2], s)]
    }

    /// a s + b.
    #[inline(always)]
    pub(crate) fn fma3(self, a: Vec3s<S>, s: S::f32s, b: Vec3s<S>) -> Vec3s<S> {
        [
            self.fma(a[0], s, b[0]),
            self.fma(a[1], s, b[1]),
            self.fma(a[2], s, b[2]),
        ]
    }

    /// A v.
    #[inline(always)]
    pub(crate) fn combine(self, a: Mat3<S>, v: Vec3s<S>) -> Vec3s<S> {
        self.fma3(a[0], v[0], self.fma3(a[1], v[1], self.scaled(a[2], v[2])))
    }

    /// A B.
    #[inline(always)]
    pub(crate) fn matmul(self, a: Mat3<S>, b: Mat3<S>) -> Mat3<S> {
        [
            self.combine(a, b[0]),
            self.combine(a, b[1]),
            self.combine(a, b[2]),
        ]
    }

    /// Columns of the cofactor matrix: det(A) A⁻ᵀ.
    #[inline(always)]
    pub(crate) fn cofactors(self, a: Mat3<S>) -> Mat3<S> {
        [
            self.cross(a[1], a[2]),
            self.cross(a[2], a[0]),
            self.cross(a[0], a[1]),
        ]
    }

    #[inline(always)]
    pub(crate) fn norm2(self, a: Mat3<S>) -> S::f32s {
        self.add(
            self.dot(a[0], a[0]),
            self.add(self.dot(a[1], a[1]), self.dot(a[2], a[2])),
        )
    }

    /// Loads the points that a part of a block refers to, one vector per coordinate.
    #[inline(always)]
    pub(crate) fn gather(self, slots: &Slots, indices: &Indices, part: usize) -> Vec3s<S> {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(v4) = as_v4(self.0) {
                return x86::gather_v4(v4, slots, indices).map_to();
            }
            if let Some(v3) = as_v3(self.0) {
                return x86::gather_v3(v3, slots, indices, part).map_to();
            }
        }
        let mut out = [[0.0_f32; LANES]; 3];
        for lane in 0..S::F32_LANES {
            let slot = slots[indices[part * S::F32_LANES + lane] as usize];
            out[0][lane] = slot[0];
            out[1][lane] = slot[1];
            out[2][lane] = slot[2];
        }
        [
            self.load(&out[0], 0),
            self.load(&out[1], 0),
            self.load(&out[2], 0),
        ]
    }

    /// Adds vectors to the slots that a part of a block refers to, lane after lane.
    #[inline(always)]
    pub(crate) fn scatter_add(
        self,
        slots: &mut Slots,
        indices: &Indices,
        part: usize,
        v: Vec3s<S>,
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(v4) = as_v4(self.0) {
                return x86::scatter_add_v4(v4, slots, indices, v.map_to());
            }
            if let Some(v3) = as_v3(self.0) {
                return x86::scatter_add_v3(v3, slots, indices, part, v.map_to());
            }
        }
        for lane in 0..S::F32_LANES {
            let slot = &mut slots[indices[part * S::F32_LANES + lane] as usize];
            slot[0] += self.lane(v[0], lane);
            slot[1] += self.lane(v[1], lane);
            slot[2] += self.lane(v[2], lane);
        }
    }
}

/// Prefetches a cache line; the address need not be valid.
#[inline(always)]
pub(crate) fn prefetch<S: Simd, T>(simd: S, place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(v4) = as_v4(simd) {
            v4.sse
                ._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
        } else if let Some(v3) = as_v3(simd) {
            v3.sse
                ._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (simd, place);
}

/// Loads nine consecutive lane arrays, column by column.
#[inline(always)]
pub(crate) fn load_matrix<S: Simd>(ops: Ops<S>, lanes: &[Lanes; 9], part: usize) -> Mat3<S> {
    [
        [
            ops.load(&lanes[0], part),
            ops.load(&lanes[1], part),
            ops.load(&lanes[2], part),
        ],
        [
            ops.load(&lanes[3], part),
            ops.load(&lanes[4], part),
            ops.load(&lanes[5], part),
        ],
        [
            ops.load(&lanes[6], part),
            ops.load(&lanes[7], part),
            ops.load(&lanes[8], part),
        ],
    ]
}

#[inline(always)]
pub(crate) fn transposed<F: Copy>(a: [[F; 3]; 3]) -> [[F; 3]; 3] {
    [
        [a[0][0], a[1][0], a[2][0]],
        [a[0][1], a[1][1], a[2][1]],
        [a[0][2], a[1][2], a[2][2]],
    ]
}
