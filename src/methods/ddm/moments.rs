//! Weighted moments of points up to the second: symmetric 4 × 4 matrices `Σ w u uᵀ`, u = (v, 1).

/// A symmetric 4 × 4 matrix: xx, xy, xz, yy, yz, zz, x, y, z, 1.
pub(super) type Moments = [f64; 10];

/// Squared radius of the ball that every vertex counts as, as a part of the variance of its neighbourhood.
const BALL: f64 = 1e-3;

/// w u uᵀ for u = (v, 1).
pub(super) fn moments(w: f64, v: &[f64; 3]) -> Moments {
    let [x, y, z] = *v;
    [x * x, x * y, x * z, y * y, y * z, z * z, x, y, z, 1.0].map(|entry| w * entry)
}

/// The same moments with coordinates relative to v.
pub(super) fn about(psi: &Moments, v: &[f64; 3]) -> Moments {
    let s = [psi[6], psi[7], psi[8]];
    let w = psi[9];
    let second =
        |k: usize, a: usize, b: usize| psi[k] - s[a] * v[b] - v[a] * s[b] + w * v[a] * v[b];
    let first = |a: usize| s[a] - w * v[a];
    [
        second(0, 0, 0),
        second(1, 0, 1),
        second(2, 0, 2),
        second(3, 1, 1),
        second(4, 1, 2),
        second(5, 2, 2),
        first(0),
        first(1),
        first(2),
        w,
    ]
}

/// The same moments with another unit of length.
pub(super) fn in_units(psi: &Moments, length: f64) -> Moments {
    let mut scaled = *psi;
    for (k, entry) in scaled.iter_mut().enumerate() {
        *entry /= match k {
            0..6 => length * length,
            6..9 => length,
            _ => 1.0,
        };
    }
    scaled
}

/// With every vertex a small ball instead of a point.
pub(super) fn with_ball(mut omega: Moments, alpha: f64) -> Moments {
    for diagonal in [0, 3, 5] {
        omega[diagonal] += BALL * (1.0 - alpha) * omega[9];
    }
    omega
}
