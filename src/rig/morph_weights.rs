//! Weights of morphs in a pose.
//!
//! A *morph control* is a number that a pose sets beside its joints: the weight of a morph target, or of an expression that
//! combines several. This layer knows controls by index only; [`crate::character::Character::morph_controls`] names them.

/// Weights beyond ± this are limited to it: with the offsets that readers accept, positions stay finite.
pub const MOST_MORPH_WEIGHT: f64 = 100.0;

/// The weights of all morph controls in one pose, each relative to its weight at rest: 0 is at rest.
///
/// Only the weights up to the last that is not 0 are stored, so that equal poses compare equal, and a pose without morphs
/// allocates nothing.
#[derive(Debug, Default, PartialEq)]
pub struct MorphWeights(Vec<f64>);

impl Clone for MorphWeights {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    /// Allocates nothing if there is room.
    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl MorphWeights {
    /// Whether all controls are at rest.
    #[must_use]
    pub fn is_rest(&self) -> bool {
        self.0.is_empty()
    }

    /// The weight of a control.
    #[must_use]
    pub fn get(&self, control: usize) -> f64 {
        self.0.get(control).copied().unwrap_or(0.0)
    }

    /// Sets the weight of a control, limited to ±[`MOST_MORPH_WEIGHT`]. A weight that is not a number is ignored.
    pub fn set(&mut self, control: usize, weight: f64) {
        if weight.is_nan() {
            return;
        }
        let weight = weight.clamp(-MOST_MORPH_WEIGHT, MOST_MORPH_WEIGHT);
        if control >= self.0.len() {
            if weight == 0.0 {
                return;
            }
            self.0.resize(control + 1, 0.0);
        }
        self.0[control] = weight;
        self.trim();
    }

    /// The controls that are not at rest, and their weights.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        let all = self.0.iter().copied().enumerate();
        all.filter(|(_, weight)| *weight != 0.0)
    }

    /// Adds a fraction of other weights.
    pub fn add(&mut self, other: &Self, part: f64) {
        for (control, weight) in other.iter() {
            self.set(control, self.get(control) + weight * part);
        }
    }

    /// Interpolates linearly.
    #[must_use]
    pub fn lerp(&self, other: &Self, t: f64) -> Self {
        if self == other {
            return self.clone();
        }
        let mixed = |control| self.get(control) * (1.0 - t) + other.get(control) * t;
        let mut made = Self((0..self.0.len().max(other.0.len())).map(mixed).collect());
        made.trim();
        made
    }

    /// The same without the controls from `count` on, which another character may have had.
    #[must_use]
    pub fn up_to(&self, count: usize) -> Self {
        let mut made = Self(self.0[..count.min(self.0.len())].to_vec());
        made.trim();
        made
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0.0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_at_rest_are_not_stored() {
        let mut weights = MorphWeights::default();
        weights.set(3, 0.5);
        weights.set(1, f64::NAN);
        weights.set(7, 0.0);
        assert_eq!(weights.iter().collect::<Vec<_>>(), [(3, 0.5)]);
        weights.set(3, 0.0);
        assert_eq!(weights, MorphWeights::default());
        weights.set(0, f64::INFINITY);
        assert_eq!(weights.get(0), MOST_MORPH_WEIGHT);
    }

    #[test]
    fn a_mix_is_linear_and_equal_poses_stay_equal() {
        let (mut a, mut b) = (MorphWeights::default(), MorphWeights::default());
        a.set(0, 1.0);
        b.set(2, 0.5);
        let mid = a.lerp(&b, 0.5);
        assert_eq!([mid.get(0), mid.get(1), mid.get(2)], [0.5, 0.0, 0.25]);
        assert_eq!(a.lerp(&b, 0.0), a);
        assert_eq!(b.lerp(&b, 0.3), b);
        let mut sum = a.clone();
        sum.add(&a, -1.0);
        assert!(sum.is_rest());
    }
}
