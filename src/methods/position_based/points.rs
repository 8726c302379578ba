//! Points that the constraints of a colour move in parallel.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::math::Point;

/// x, y, z.
pub(super) type Vector = [f32; 3];

/// Positions: those of the unknowns, of the prescribed points, and four pads that nothing moves, a tet for lanes without a constraint: the
/// origin and the three axes.
///
/// Constraints of a colour share no vertex that they move, so no position is written by one and read or written by another at the same
/// time. Relaxed atomics are plain loads and stores that several threads may make.
pub(super) struct Points(Vec<[AtomicU32; 3]>);

impl Points {
    /// `count` points, all at the origin, and the pads.
    pub(super) fn new(count: usize) -> Self {
        let pads = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let origins = std::iter::repeat_n([0.0_f32; 3], count);
        let bits = |at: Vector| at.map(|c| AtomicU32::new(c.to_bits()));
        Self(origins.chain(pads).map(bits).collect())
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Vector {
        let [x, y, z] = &self.0[index as usize];
        [x, y, z].map(|c| f32::from_bits(c.load(Relaxed)))
    }

    #[inline]
    pub(super) fn set(&self, index: u32, at: Vector) {
        for (own, c) in self.0[index as usize].iter().zip(at) {
            own.store(c.to_bits(), Relaxed);
        }
    }

    pub(super) fn point(&self, index: usize) -> Point {
        Point::from(self.get(index as u32))
    }

    pub(super) fn set_point(&self, index: usize, at: &Point) {
        self.set(index as u32, [at.x, at.y, at.z]);
    }
}

#[inline]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub(super) fn scaled(a: Vector, s: f32) -> Vector {
    a.map(|c| c * s)
}

#[inline]
pub(super) fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
