//! Quadrics: sums of squared distances to planes and points.

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
            a: [
                n.x * normal.x,
                n.x * normal.y,
                n.x * normal.z,
                n.y * normal.y,
                n.y * normal.z,
                n.z * normal.z,
            ],
            b: (n * distance).into(),
            c: weight * distance * distance,
        }
    }

    /// The value at `x`; rounding never makes it negative.
    pub(super) fn at(&self, x: &Vec64) -> f64 {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        let ax = [
            xx * x.x + xy * x.y + xz * x.z,
            xy * x.x + yy * x.y + yz * x.z,
            xz * x.x + yz * x.y + zz * x.z,
        ];
        let sum: f64 = (0..3).map(|k| x[k] * (ax[k] - 2.0 * self.b[k])).sum();
        (sum + self.c).max(0.0)
    }

    /// The minimiser when `share` of the distances to `points` is added, by `LDLᵀ` factorisation;
    /// `None` if the sum is too close to singular.
    pub(super) fn minimiser(&self, points: &PointQuadric, share: f64) -> Option<Vec64> {
        let [mut xx, xy, xz, mut yy, yz, mut zz] = self.a;
        for diagonal in [&mut xx, &mut yy, &mut zz] {
            *diagonal += share * points.weight;
        }
        let b = Vec64::from(self.b) + points.b * share;
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
        let y1 = b.y - l1 * b.x;
        let y2 = b.z - l2 * b.x - l3 * y1;
        let z = y2 / d2;
        let y = y1 / d1 - l3 * z;
        Some(Vec64::new(b.x / xx - l1 * y - l2 * z, y, z))
    }
}

/// Sum of squared distances to points.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PointQuadric {
    weight: f64,
    b: Vec64,
    c: f64,
}

impl PointQuadric {
    /// `weight` times the squared distance to `point`, plus `weight · spread`.
    pub(super) fn at_point(point: &Vec64, spread: f64, weight: f64) -> Self {
        Self {
            weight,
            b: point * weight,
            c: weight * (point.norm_squared() + spread),
        }
    }

    /// The value at `x`; rounding never makes it negative.
    pub(super) fn at(&self, x: &Vec64) -> f64 {
        (self.weight * x.norm_squared() - 2.0 * self.b.dot(x) + self.c).max(0.0)
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

impl AddAssign<&Self> for PointQuadric {
    fn add_assign(&mut self, other: &Self) {
        self.weight += other.weight;
        self.b += other.b;
        self.c += other.c;
    }
}

impl Add<&Self> for PointQuadric {
    type Output = Self;

    fn add(mut self, other: &Self) -> Self {
        self += other;
        self
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
    fn three_planes_meet_at_the_zero_minimum() {
        let corner = Vec64::new(0.3, -0.7, 0.2);
        let mut sum = Quadric::default();
        for normal in [
            Vec64::new(1.0, 0.2, 0.1),
            Vec64::new(-0.3, 1.0, 0.4),
            Vec64::new(0.1, 0.5, 1.0),
        ] {
            sum += &Quadric::plane(&normal.normalize(), &corner, 2.0);
        }
        let found = sum.minimiser(&PointQuadric::default(), 1.0).unwrap();
        assert!((found - corner).norm() < 1e-12 && sum.at(&found) < 1e-14);
        assert!((sum.at(&(corner + Vec64::x())) - (sum.at(&(corner - Vec64::x())))).abs() < 1e-12);
    }

    #[test]
    fn parallel_planes_have_a_minimum_only_with_a_point_term() {
        let sum = Quadric::plane(&Vec64::z(), &Vec64::zeros(), 1.0)
            + &Quadric::plane(&Vec64::z(), &Vec64::z(), 1.0);
        assert_eq!(sum.minimiser(&PointQuadric::default(), 1.0), None);
        let x = Vec64::new(3.0, 4.0, 0.5);
        let points = PointQuadric::at_point(&(x + Vec64::x()), 0.25, 0.01)
            + &PointQuadric::at_point(&(x - Vec64::x()), 0.25, 0.01);
        assert!((sum.minimiser(&points, 0.1).unwrap() - x).norm() < 1e-12);
        assert!((sum.at(&x) - 0.5).abs() < 1e-12 && (points.at(&x) - 0.025).abs() < 1e-12);
    }
}
