//! Sums of squared distances to planes and points.

use std::ops::{Add, AddAssign};

use crate::math::Vec64;

/// The function xᵀAx − 2bᵀx + c with a symmetric positive semidefinite A.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Quadric {
    /// A: xx, xy, xz, yy, yz, zz.
    a: [f64; 6],
    b: [f64; 3],
    c: f64,
}

impl Quadric {
    /// `weight` times the squared distance to the plane through `point` with the unit `normal`.
    pub(super) fn plane(normal: &Vec64, point: &Vec64, weight: f64) -> Self {
        let distance = normal.dot(point);
        let n = normal * weight;
        Self {
            a: [n.x * normal.x, n.x * normal.y, n.x * normal.z, n.y * normal.y, n.y * normal.z, n.z * normal.z],
            b: (n * distance).into(),
            c: weight * distance * distance,
        }
    }

    /// `weight` times the squared distance to `point`, plus `weight · spread`.
    pub(super) fn point(point: &Vec64, spread: f64, weight: f64) -> Self {
        Self { a: [weight, 0.0, 0.0, weight, 0.0, weight], b: (point * weight).into(), c: weight * (point.norm_squared() + spread) }
    }

    /// The value at `x`; rounding never makes it negative.
    pub(super) fn at(&self, x: &Vec64) -> f64 {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        let ax = [xx * x.x + xy * x.y + xz * x.z, xy * x.x + yy * x.y + yz * x.z, xz * x.x + yz * x.y + zz * x.z];
        let sum: f64 = (0..3).map(|k| x[k] * (ax[k] - 2.0 * self.b[k])).sum();
        (sum + self.c).max(0.0)
    }

    /// Where it is least, by Cholesky's square-root-free factorisation; `None` if A is too close to singular.
    pub(super) fn minimiser(&self) -> Option<Vec64> {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        let tiny = 1e-10 * (xx + yy + zz);
        if !(tiny > 0.0 && xx > tiny) {
            return None;
        }
        let (l1, l2) = (xy / xx, xz / xx);
        let d1 = yy - l1 * xy;
        if d1 <= tiny {
            return None;
        }
        let e = yz - l1 * xz;
        let l3 = e / d1;
        let d2 = zz - l2 * xz - l3 * e;
        if d2 <= tiny {
            return None;
        }
        let y1 = self.b[1] - l1 * self.b[0];
        let y2 = self.b[2] - l2 * self.b[0] - l3 * y1;
        let z = y2 / d2;
        let y = y1 / d1 - l3 * z;
        Some(Vec64::new(self.b[0] / xx - l1 * y - l2 * z, y, z))
    }
}

impl AddAssign<&Self> for Quadric {
    fn add_assign(&mut self, other: &Self) {
        for (mine, theirs) in self.a.iter_mut().zip(&other.a) {
            *mine += theirs;
        }
        for (mine, theirs) in self.b.iter_mut().zip(&other.b) {
            *mine += theirs;
        }
        self.c += other.c;
    }
}

impl Add<&Self> for Quadric {
    type Output = Self;

    fn add(mut self, other: &Self) -> Self {
        self += other;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_planes_meet_where_it_is_least_and_zero() {
        let corner = Vec64::new(0.3, -0.7, 0.2);
        let mut sum = Quadric::default();
        for normal in [Vec64::new(1.0, 0.2, 0.1), Vec64::new(-0.3, 1.0, 0.4), Vec64::new(0.1, 0.5, 1.0)] {
            sum += &Quadric::plane(&normal.normalize(), &corner, 2.0);
        }
        let found = sum.minimiser().unwrap();
        assert!((found - corner).norm() < 1e-12 && sum.at(&found) < 1e-14);
        assert!((sum.at(&(corner + Vec64::x())) - (sum.at(&(corner - Vec64::x())))).abs() < 1e-12);
    }

    #[test]
    fn parallel_planes_have_no_least_point_until_a_point_is_added() {
        let mut sum = Quadric::plane(&Vec64::z(), &Vec64::zeros(), 1.0) + &Quadric::plane(&Vec64::z(), &Vec64::z(), 1.0);
        assert_eq!(sum.minimiser(), None);
        sum += &Quadric::point(&Vec64::new(3.0, 4.0, 0.5), 0.25, 0.01);
        assert!((sum.minimiser().unwrap() - Vec64::new(3.0, 4.0, 0.5)).norm() < 1e-12);
        assert!((sum.at(&Vec64::new(3.0, 4.0, 0.5)) - 0.5025).abs() < 1e-12);
    }
}
