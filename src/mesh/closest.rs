//! Closest points on segments and triangles.

use crate::math::{Point64, Vec64};

/// Parameter 0..=1 of the point of segment `a b` closest to `p`; 0 for a segment without length.
#[must_use]
pub fn closest_on_segment(p: &Point64, a: &Point64, b: &Point64) -> f64 {
    let d = b - a;
    let length2 = d.norm_squared();
    if length2 > 0.0 {
        ((p - a).dot(&d) / length2).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The point of triangle `a b c` closest to `p` (Ericson, "Real-Time Collision Detection", 5.1.5).
#[must_use]
pub fn closest_on_triangle(p: &Point64, a: &Point64, b: &Point64, c: &Point64) -> Point64 {
    let (ab, ac, ap): (Vec64, Vec64, Vec64) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let denominator = va + vb + vc;
    if denominator == 0.0 {
        *a
    } else {
        a + ab * (vb / denominator) + ac * (vc / denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_on_triangle_beats_a_dense_sampling() {
        let [a, b, c] = [
            Point64::new(0.0, 0.0, 0.0),
            Point64::new(2.0, 0.2, 0.1),
            Point64::new(0.4, 1.5, -0.3),
        ];
        for k in 0..200 {
            let t = f64::from(k);
            let p = Point64::new(
                (t * 0.7).sin() * 3.0,
                (t * 1.3).cos() * 3.0,
                (t * 2.1).sin(),
            );
            let found = (closest_on_triangle(&p, &a, &b, &c) - p).norm();
            let mut best = f64::INFINITY;
            for i in 0..=40 {
                for j in 0..=40 - i {
                    let q = a + (b - a) * (f64::from(i) / 40.0) + (c - a) * (f64::from(j) / 40.0);
                    best = best.min((q - p).norm());
                }
            }
            assert!(
                found <= best + 1e-12 && found >= best - 0.06,
                "{found} {best}"
            );
        }
    }
}
