//! The composed field around the place where a vertex last asked for it.

use super::composed::Composite;
use super::motions::dot;

type V = [f32; 3];

/// The composed field at a point, and so far around it as its gradient stays the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    at: V,
    /// The square of how far it holds; negative for nothing known.
    reach: f32,
    found: Composite,
}

impl Known {
    pub(super) const NOTHING: Self = Self {
        at: [0.0; 3],
        reach: -1.0,
        found: Composite::NONE,
    };

    /// The field at a point, known as far as `reach`.
    pub(super) fn of(at: V, reach: f32, found: Composite) -> Self {
        Self {
            at,
            reach: reach * reach,
            found,
        }
    }

    /// The field at a point to first order, if the last one that was asked for is near enough; else the field itself, which is known from
    /// then on as far as `reach`.
    #[inline]
    pub(super) fn at(&mut self, at: V, reach: f32, field: impl FnOnce() -> Composite) -> Composite {
        let shift: V = std::array::from_fn(|c| at[c] - self.at[c]);
        if dot(shift, shift) <= self.reach {
            return self.found.shifted(shift);
        }
        *self = Self::of(at, reach, field());
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_known_to_first_order_as_far_as_its_gradient_holds() {
        // f = x², at 1.
        let asked = std::cell::Cell::new(0);
        let square = |x: f32| {
            asked.set(asked.get() + 1);
            Composite {
                value: x * x,
                gradient: [2.0 * x, 0.0, 0.0],
                ..Composite::NONE
            }
        };
        let mut known = Known::NOTHING;
        let mut value = |x: f32| known.at([x, 0.0, 0.0], 0.1, || square(x)).value;
        assert_eq!(value(1.0), 1.0);
        assert!((value(1.05) - 1.1).abs() < 1e-6 && (value(0.95) - 0.9).abs() < 1e-6);
        assert_eq!(asked.get(), 1);
        assert_eq!(value(2.0), 4.0);
        assert!((value(1.95) - 3.8).abs() < 1e-6);
        assert_eq!(asked.get(), 2);
        assert!(value(f32::NAN).is_nan(), "never taken for near");
    }
}
