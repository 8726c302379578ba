//! The sign of a tetrahedron's volume, exact for `f32` coordinates.
//!
//! Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", Discrete & Computational
//! Geometry 18, 1997: the determinant in `f64` with its error bound `o3derrboundA`, and an exact sum where the bound does not decide.
//!
//! # Departures
//! - The coordinates are `f32`: a product of two is exact in `f64`, a product of three is exactly the sum of two `f64`. The exact
//!   path therefore expands the determinant into 24 products of coordinates and needs no adaptive stages in between.

use std::cmp::Ordering;

use super::{Point, Vec64};

/// Relative error bound of the determinant evaluated in `f64` (Shewchuk's `o3derrboundA`).
const ERROR_BOUND: f64 = (7.0 + 56.0 * HALF_ULP) * HALF_ULP;
const HALF_ULP: f64 = f64::EPSILON / 2.0;

/// The sign of (b − a) × (c − a) · (d − a): `Greater` if d lies on the side of the triangle a b c that its normal points to,
/// `Equal` if the four points lie in one plane. Coordinates must be finite.
#[must_use]
pub fn orientation(a: &Point, b: &Point, c: &Point, d: &Point) -> Ordering {
    let [u, v, w] = [b, c, d].map(|p| p.coords.cast::<f64>() - a.coords.cast::<f64>());
    let determinant = u.cross(&v).dot(&w);
    let bound = ERROR_BOUND * permanent(&u, &v, &w);
    if determinant > bound {
        Ordering::Greater
    } else if determinant < -bound {
        Ordering::Less
    } else {
        exact([a, b, c, d])
    }
}

/// The determinant of three vectors with all products counted positive.
fn permanent(u: &Vec64, v: &Vec64, w: &Vec64) -> f64 {
    let pair = |i: usize, j: usize| (u[i] * v[j]).abs() + (u[j] * v[i]).abs();
    pair(1, 2) * w.x.abs() + pair(2, 0) * w.y.abs() + pair(0, 1) * w.z.abs()
}

/// The sign of the 4 × 4 determinant with rows (p, 1), by a sum without rounding.
fn exact(points: [&Point; 4]) -> Ordering {
    let mut sum = ExactSum::default();
    // Omitting row k leaves the 3 × 3 determinant of the other three points; signs alternate.
    for (omitted, sign) in [(0, 1.0), (1, -1.0), (2, 1.0), (3, -1.0)] {
        let rows: [&Point; 3] = std::array::from_fn(|k| points[k + usize::from(k >= omitted)]);
        for ([i, j, k], parity) in PERMUTATIONS {
            let pair = f64::from(rows[0][i]) * f64::from(rows[1][j]) * (sign * parity);
            let factor = f64::from(rows[2][k]);
            let product = pair * factor;
            sum.add(product);
            sum.add(pair.mul_add(factor, -product));
        }
    }
    sum.sign()
}

/// Permutations of three columns with their signs.
const PERMUTATIONS: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

/// A sum held as non-overlapping parts of increasing magnitude (Shewchuk's expansions): nothing is rounded away.
struct ExactSum {
    parts: [f64; 48],
    count: usize,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self {
            parts: [0.0; 48],
            count: 0,
        }
    }
}

impl ExactSum {
    /// Adds a number; at most 48 numbers that are not 0.
    fn add(&mut self, value: f64) {
        let mut carry = value;
        let mut kept = 0;
        for index in 0..self.count {
            let part = self.parts[index];
            let sum = carry + part;
            // Knuth's two-sum: sum + error is exactly carry + part.
            let virtual_part = sum - carry;
            let error = (carry - (sum - virtual_part)) + (part - virtual_part);
            carry = sum;
            if error != 0.0 {
                self.parts[kept] = error;
                kept += 1;
            }
        }
        if carry != 0.0 {
            self.parts[kept] = carry;
            kept += 1;
        }
        self.count = kept;
    }

    /// The sign of the largest part is that of the sum.
    fn sign(&self) -> Ordering {
        let largest = self.parts[..self.count].last().copied().unwrap_or(0.0);
        largest.total_cmp(&0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_a_triangle_have_opposite_signs() {
        let at = |x: f32, y: f32, z: f32| Point::new(x, y, z);
        let [a, b, c] = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
        assert_eq!(
            orientation(&a, &b, &c, &at(0.3, 0.3, 1.0)),
            Ordering::Greater
        );
        assert_eq!(orientation(&a, &b, &c, &at(0.3, 0.3, -1.0)), Ordering::Less);
        assert_eq!(
            orientation(&a, &b, &c, &at(7.0, -9.0, 0.0)),
            Ordering::Equal
        );
    }

    /// The sum without rounding decides as the determinant does where that is far from 0.
    #[test]
    fn the_exact_sign_is_that_of_the_determinant() {
        let mut state = 5_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16) / 65_536.0 - 0.5
        };
        for _ in 0..500 {
            let mut point = || Point::new(random(), random(), random());
            let [a, b, c, d] = [point(), point(), point(), point()];
            let [u, v, w] = [b, c, d].map(|p| p.coords.cast::<f64>() - a.coords.cast::<f64>());
            let determinant = u.cross(&v).dot(&w);
            if determinant.abs() > 1e-9 {
                assert_eq!(exact([&a, &b, &c, &d]), determinant.total_cmp(&0.0));
            }
        }
    }

    /// All points of the plane x + y + z = s that f32 can represent lie in it, and one ulp off it does not, far from the origin too.
    #[test]
    fn orientation_is_exact() {
        let mut state = 7_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16) / 4096.0
        };
        for _ in 0..500 {
            let mut point = || {
                let (x, y) = (random(), random());
                // Both are multiples of 2⁻¹² below 16, so that the third is exact.
                Point::new(x, y, 64.0 - x - y)
            };
            let [a, b, c, d] = [point(), point(), point(), point()];
            assert_eq!(orientation(&a, &b, &c, &d), Ordering::Equal);
            let above = Point::new(d.x, d.y, d.z.next_up());
            let signs = [
                orientation(&a, &b, &c, &above),
                orientation(&b, &a, &c, &above),
                orientation(&above, &b, &c, &a),
            ];
            let flat = orientation(&a, &b, &c, &Point::new(0.0, 0.0, 0.0)) == Ordering::Equal;
            assert!(flat || signs[0] != Ordering::Equal);
            assert_eq!(signs[0], signs[1].reverse());
            assert_eq!(signs[0], orientation(&b, &c, &a, &above));
        }
    }
}
