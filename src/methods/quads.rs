//! Vectors in one 128-bit register each.

use pulp::Simd;

use crate::numerics::lanes::Padded;
#[cfg(target_arch = "x86_64")]
use crate::numerics::lanes::{as_v3, as_v4};

/// t x + a.
#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
pub(super) fn multiply_add<S: Simd>(simd: S, t: f32, x: Padded, a: Padded) -> Padded {
    #[cfg(target_arch = "x86_64")]
    {
        let v3 = as_v3(simd).or_else(|| as_v4(simd).map(|v4| *v4));
        if let Some(v3) = v3 {
            return pulp::cast(v3.fma._mm_fmadd_ps(
                v3.sse._mm_set1_ps(t),
                pulp::cast(x),
                pulp::cast(a),
            ));
        }
    }
    let _ = simd;
    [
        a[0] + t * x[0],
        a[1] + t * x[1],
        a[2] + t * x[2],
        a[3] + t * x[3],
    ]
}

/// x, y and z.
#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
pub(super) fn xyz(v: Padded) -> [f32; 3] {
    [v[0], v[1], v[2]]
}

/// The image of a point under the transform with these columns.
#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
pub(super) fn moved_by<S: Simd>(simd: S, columns: &[Padded; 4], point: &[f32; 3]) -> Padded {
    let [x, y, z, translation] = *columns;
    let moved = multiply_add(simd, point[0], x, translation);
    multiply_add(simd, point[2], z, multiply_add(simd, point[1], y, moved))
}
