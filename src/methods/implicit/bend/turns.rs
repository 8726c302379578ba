//! The turns of a field about hinges on the way from a point to where the field has what it shows there.

use crate::methods::implicit::motions::{cross, dot};

/// Most bends that turn a field at a point.
const MOST: usize = 2;

type V = [f32; 3];

/// The turn of a field at a point about a hinge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    pub(super) hinge: V,
    pub(super) sin: f32,
    pub(super) cos: f32,
    /// From the joint to the point, turned by 90° about the hinge.
    pub(super) across: V,
    /// The gradient of the angle.
    pub(super) slope: V,
}

/// The turns of a field at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Turns {
    turns: [Turn; MOST],
    pub(super) count: usize,
}

impl Turns {
    pub(in super::super) const NONE: Self = Self {
        turns: [Turn {
            hinge: [0.0; 3],
            sin: 0.0,
            cos: 1.0,
            across: [0.0; 3],
            slope: [0.0; 3],
        }; MOST],
        count: 0,
    };

    /// Whether no other turn can follow.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// Adds the next turn.
    #[inline]
    pub(super) fn push(&mut self, turn: Turn) {
        self.turns[self.count] = turn;
        self.count += 1;
    }

    /// The gradient at a point, from that at its source.
    #[inline]
    pub(in super::super) fn gradient(&self, mut gradient: V) -> V {
        for turn in self.turns[..self.count].iter().rev() {
            let back = turned(turn.hinge, turn.sin, turn.cos, gradient);
            let shear = dot(turn.across, back);
            gradient = std::array::from_fn(|c| back[c] - shear * turn.slope[c]);
        }
        gradient
    }
}

/// A vector turned about a unit vector by an angle with that sine and cosine.
pub(in super::super) fn turned(axis: V, sin: f32, cos: f32, v: V) -> V {
    let along = (1.0 - cos) * dot(axis, v);
    let across = cross(axis, v);
    std::array::from_fn(|c| cos * v[c] + sin * across[c] + along * axis[c])
}
