//! A cylinder around the bones of a part, outside of which the field of the part is 0. Unlike a box it stays what it is when the field twists.

use super::motions::{cross, dot};

type V = [f32; 3];

/// A cylinder in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rod {
    at: V,
    /// Unit vector.
    along: V,
    /// Where it begins and ends along its axis, from `at` on.
    ends: [f32; 2],
    radius: f32,
}

impl Rod {
    /// One about a line that holds nothing yet; about any line if `along` has no direction.
    pub(super) fn about(at: V, along: V) -> Self {
        let length = dot(along, along).sqrt();
        let along = if length > f32::MIN_POSITIVE && length.is_finite() {
            along.map(|c| c / length)
        } else {
            [1.0, 0.0, 0.0]
        };
        Self {
            at,
            along,
            ends: [f32::INFINITY, f32::NEG_INFINITY],
            radius: 0.0,
        }
    }

    /// Holds a point from now on.
    pub(super) fn include(&mut self, point: V) {
        let [along, squared] = self.place(point);
        self.ends = [self.ends[0].min(along), self.ends[1].max(along)];
        self.radius = self.radius.max(squared.max(0.0).sqrt());
    }

    /// With a margin on all sides.
    pub(super) fn grown(&self, margin: f32) -> Self {
        Self {
            ends: [self.ends[0] - margin, self.ends[1] + margin],
            radius: self.radius + margin,
            ..*self
        }
    }

    /// Around all points that a turn about the line through `at` along the unit vector `axis`, by any angle up to that one, brings into it.
    pub(super) fn before_turn(&self, at: V, axis: V, angle: f32) -> Self {
        // How far the axis of the cylinder moves, and how far its circles tilt.
        let from = |end: f32| {
            let shift: V = std::array::from_fn(|c| self.at[c] + end * self.along[c] - at[c]);
            let across = cross(axis, shift);
            dot(across, across).sqrt()
        };
        let tilt = cross(axis, self.along);
        let away = self.ends.map(from).into_iter().fold(0.0, f32::max);
        let tilted = self.radius * dot(tilt, tilt).sqrt();
        // NaN for a cylinder that holds nothing, which stays so.
        let margin = angle.abs().min(2.0) * (away + tilted);
        self.grown(if margin.is_nan() { 0.0 } else { margin })
    }

    /// Whether a point may be in it, given how far it is from where it is seen. False for NaN.
    #[inline]
    pub(super) fn holds(&self, point: V, margin: f32) -> bool {
        let [along, squared] = self.place(point);
        let radius = self.radius + margin;
        along >= self.ends[0] - margin
            && along <= self.ends[1] + margin
            && squared <= radius * radius
    }

    /// How far along the axis a point is, and the square of its distance from it.
    #[inline]
    fn place(&self, point: V) -> [f32; 2] {
        let from: V = std::array::from_fn(|c| point[c] - self.at[c]);
        let along = dot(from, self.along);
        [along, dot(from, from) - along * along]
    }
}

#[cfg(test)]
mod tests {
    use super::super::bend::turned;
    use super::*;

    /// Along z from −1 to 2, of radius 0.5.
    fn rod() -> Rod {
        let mut rod = Rod::about([0.0; 3], [0.0, 0.0, 3.0]);
        rod.include([0.5, 0.0, -1.0]);
        rod.include([0.0, 0.1, 2.0]);
        rod
    }

    #[test]
    fn a_rod_holds_what_it_includes_and_nothing_beyond() {
        let rod = rod();
        for inside in [[0.0, 0.49, 1.9], [0.3, -0.3, -0.9]] {
            assert!(rod.holds(inside, 0.0));
        }
        for outside in [[0.0, 0.6, 1.0], [0.0, 0.0, 2.1], [0.0, 0.0, -1.1]] {
            assert!(!rod.holds(outside, 0.0) && rod.holds(outside, 0.2));
        }
        assert!(!rod.holds([f32::NAN, 0.0, 0.0], 1.0));
        let nothing = Rod::about([0.0; 3], [0.0; 3]);
        assert!(!nothing.holds([0.0; 3], 0.0));
        let turned = nothing.before_turn([0.0; 3], [0.0, 1.0, 0.0], 1.0);
        assert!(!turned.holds([0.0; 3], 1e6));
    }

    #[test]
    fn what_a_turn_brings_into_it_is_held_before() {
        let rod = rod();
        // About its own axis nothing changes.
        let same = rod.before_turn([0.0, 0.0, 5.0], [0.0, 0.0, 1.0], 2.0);
        assert_eq!(same, rod);
        let (at, axis) = ([0.1, 0.0, 0.3], [0.0, 0.6, 0.8]);
        let mut held = 0;
        for angle in [-1.5_f32, -0.4, 0.7, 3.0] {
            let before = rod.before_turn(at, axis, angle);
            for k in 0..11_usize.pow(3) {
                let point = [k % 11, k / 11 % 11, k / 121].map(|k| 0.6 * (k as f32 - 5.0));
                for part in [0.25, 0.5, 1.0] {
                    let (sin, cos) = (part * angle).sin_cos();
                    let from = std::array::from_fn(|c| point[c] - at[c]);
                    let to = turned(axis, sin, cos, from);
                    let to = std::array::from_fn(|c| at[c] + to[c]);
                    if rod.holds(to, 0.0) {
                        held += 1;
                        assert!(before.holds(point, 1e-5), "{angle} {point:?}");
                    }
                }
            }
        }
        assert!(held > 50, "{held}");
    }
}
