//! What a frame leaves behind: how each fine vertex is turned and stretched.

use nalgebra::Matrix3;

use crate::math::{Point, Vec3};

/// A point in memory: x, y, z and a pad, so that one instruction moves it.
pub(super) type Slot = [f32; 4];
/// As many as a `u16` can name.
pub(super) const SLOTS: usize = 1 << 16;

/// Two tangents of a fine vertex.
pub(super) type Tangents = [[f32; 3]; 2];

/// Tangents whose parallelogram is smaller than this (at rest it is about 1) say nothing about a direction.
const FLAT: f32 = 1e-6;

/// Room for one frame of an [`Upsampling`](super::Upsampling), and its outcome: the local frame of every fine vertex, from which
/// [`Directions`](super::Directions) makes normals and tangents. Made once by
/// [`Upsampling::frames`](super::Upsampling::frames).
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    /// The coarse positions.
    pub(super) slots: Vec<Slot>,
    /// Of every fine vertex; degenerate ones are the first two axes of the world.
    pub(super) tangents: Vec<Tangents>,
    /// Of every coarse vertex, if asked for.
    pub(super) coarse_normals: Vec<Vec3>,
}

impl Frames {
    pub(super) fn new(coarse: usize, fine: usize, with_normals: bool) -> Self {
        // Where a u16 can name all there is room for all that a u16 can name, so that no index needs a check; untouched memory costs
        // nothing.
        let slots = vec![[0.0; 4]; if coarse <= SLOTS { SLOTS } else { coarse }];
        let coarse_normals = vec![Vec3::y(); if with_normals { coarse } else { 0 }];
        Self { slots, tangents: vec![[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]; fine], coarse_normals }
    }

    pub(super) fn set_coarse(&mut self, coarse: &[Point]) {
        for (slot, point) in self.slots.iter_mut().zip(coarse) {
            *slot = [point.x, point.y, point.z, 0.0];
        }
    }
}

/// Tangents t₁, t₂ with their unit normal and the area of their parallelogram. The axes of the world if that area is nothing.
#[derive(Clone, Copy)]
pub(super) struct LocalFrame {
    pub(super) t: [Vec3; 2],
    pub(super) normal: Vec3,
    pub(super) area: f32,
}

impl LocalFrame {
    #[expect(clippy::inline_always, reason = "part of vector code, which must be inlined into the function that enables the instructions")]
    #[inline(always)]
    pub(super) fn new(tangents: &Tangents) -> Self {
        let [a, b] = tangents.map(Vec3::from);
        let cross = a.cross(&b);
        let area = cross.norm();
        // False for NaN too.
        if area > FLAT {
            Self { t: [a, b], normal: cross / area, area }
        } else {
            Self { t: [Vec3::x(), Vec3::y()], normal: Vec3::z(), area: 1.0 }
        }
    }

    #[expect(clippy::inline_always, reason = "part of vector code, which must be inlined into the function that enables the instructions")]
    #[inline(always)]
    pub(super) fn tangents(&self) -> Tangents {
        [self.t[0].into(), self.t[1].into()]
    }

    /// The vector with these components along t₁, t₂ and the normal.
    #[expect(clippy::inline_always, reason = "part of vector code, which must be inlined into the function that enables the instructions")]
    #[inline(always)]
    pub(super) fn vector(&self, local: &[f32; 3]) -> Vec3 {
        self.t[0] * local[0] + self.t[1] * local[1] + self.normal * local[2]
    }

    /// A multiple of the normal vector (one that is perpendicular to what was perpendicular at rest) with these components along the
    /// dual frame.
    pub(super) fn covector(&self, local: &[f32; 3]) -> Vec3 {
        let [a, b] = self.t;
        b.cross(&self.normal) * local[0] + self.normal.cross(&a) * local[1] + self.normal * (local[2] * self.area)
    }

    /// Components of a vector, for [`LocalFrame::vector`]. Zero if it is not finite.
    pub(super) fn components(&self, vector: &Vec3) -> [f32; 3] {
        let columns = [self.t[0], self.t[1], self.normal].map(|column| column.cast::<f64>());
        let solved = Matrix3::from_columns(&columns).try_inverse().map(|inverse| inverse * vector.cast::<f64>());
        finite_or_zero(solved.unwrap_or_default().cast())
    }

    /// Components of a normal vector, for [`LocalFrame::covector`].
    pub(super) fn dual_components(&self, normal: &Vec3) -> [f32; 3] {
        finite_or_zero(Vec3::new(normal.dot(&self.t[0]), normal.dot(&self.t[1]), normal.dot(&self.normal)))
    }
}

fn finite_or_zero(vector: Vec3) -> [f32; 3] {
    if vector.iter().all(|c| c.is_finite()) { vector.into() } else { [0.0; 3] }
}
