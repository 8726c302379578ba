//! Output of a frame: positions and local frames of the fine vertices.

use nalgebra::Matrix3;
use pulp::Simd;

use super::lanes::{LANES, Numbers, Vectors, VertexOps, each, scaled};
use crate::math::{Point, Vec3};

/// A point in memory: x, y, z and padding, so that one instruction moves it.
pub(super) type PaddedPoint = [f32; 4];
/// Number of values of a `u16` index.
pub(super) const SLOTS: usize = 1 << 16;

/// Two tangents of a fine vertex.
pub(super) type Tangents = [PaddedPoint; 2];
/// The first two world axes.
const WORLD: Tangents = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];

/// Tangents whose parallelogram is smaller than this (at rest it is about 1) define no direction.
const FLAT: f32 = 1e-6;

/// Buffers of one frame of an [`Upsampling`](super::Upsampling): the local frame of every fine
/// vertex, from which [`Directions`](super::Directions) computes normals and tangents. Allocated
/// once by [`Upsampling::frames`](super::Upsampling::frames).
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    /// The coarse positions.
    pub(super) slots: Vec<PaddedPoint>,
    /// For every fine vertex; the first two world axes where degenerate.
    pub(super) tangents: Vec<Tangents>,
    /// For every coarse vertex, if requested.
    pub(super) coarse_normals: Vec<Vec3>,
}

impl Frames {
    pub(super) fn new(coarse: usize, fine: usize, with_normals: bool) -> Self {
        // With `u16` indices the buffer has all 65536 entries, so that no index needs a check;
        // untouched memory costs nothing.
        let slots = vec![[0.0; 4]; if coarse <= SLOTS { SLOTS } else { coarse }];
        let coarse_normals = vec![Vec3::y(); if with_normals { coarse } else { 0 }];
        Self {
            slots,
            tangents: vec![WORLD; fine],
            coarse_normals,
        }
    }

    pub(super) fn set_coarse(&mut self, coarse: &[Point]) {
        for (slot, point) in self.slots.iter_mut().zip(coarse) {
            *slot = [point.x, point.y, point.z, 0.0];
        }
    }
}

/// Tangents t₁, t₂ with their unit normal: the basis in which vectors are expressed. The world axes
/// if the tangents span no area.
#[derive(Clone, Copy)]
pub(super) struct LocalFrame {
    t: [Vec3; 2],
    normal: Vec3,
}

impl LocalFrame {
    pub(super) fn new(tangents: &Tangents) -> Self {
        let [a, b] = tangents.map(|t| Vec3::new(t[0], t[1], t[2]));
        let cross = a.cross(&b);
        let area = cross.norm();
        // False for NaN too.
        if area > FLAT {
            Self {
                t: [a, b],
                normal: cross / area,
            }
        } else {
            Self {
                t: [Vec3::x(), Vec3::y()],
                normal: Vec3::z(),
            }
        }
    }

    pub(super) fn tangents(&self) -> Tangents {
        self.t.map(|t| [t.x, t.y, t.z, 0.0])
    }

    /// The vector with these components along t₁, t₂ and the normal.
    pub(super) fn vector(&self, local: &[f32; 3]) -> Vec3 {
        self.t[0] * local[0] + self.t[1] * local[1] + self.normal * local[2]
    }

    /// Components of a vector, for [`LocalFrame::vector`]. Zero if it is not finite.
    pub(super) fn components(&self, vector: &Vec3) -> [f32; 3] {
        let columns: Matrix3<f64> =
            Matrix3::from_columns(&[self.t[0], self.t[1], self.normal]).cast();
        let solved = columns
            .try_inverse()
            .map(|inverse| inverse * vector.cast::<f64>());
        finite_or_zero(solved.unwrap_or_default().cast())
    }

    /// Components of a normal vector, for [`LocalFrames::covectors`].
    pub(super) fn dual_components(&self, normal: &Vec3) -> [f32; 3] {
        finite_or_zero(Vec3::new(
            normal.dot(&self.t[0]),
            normal.dot(&self.t[1]),
            normal.dot(&self.normal),
        ))
    }
}

fn finite_or_zero(vector: Vec3) -> [f32; 3] {
    if vector.iter().all(|c| c.is_finite()) {
        vector.into()
    } else {
        [0.0; 3]
    }
}

/// Local frames of [`LANES`] vertices.
#[derive(Clone, Copy)]
pub(super) struct LocalFrames {
    pub(super) t: [Vectors; 2],
    pub(super) normal: Vectors,
    area: Numbers,
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl LocalFrames {
    #[inline(always)]
    pub(super) fn new<S: Simd>(ops: VertexOps<S>, t: [Vectors; 2]) -> Self {
        let cross = ops.cross(t[0], t[1]);
        let area = ops.norm(cross);
        let normal = scaled(cross, each(|lane| 1.0 / area[lane]));
        let mut frames = Self { t, normal, area };
        // False for NaN too.
        if !area.iter().all(|&area| area > FLAT) {
            frames.replace_flat();
        }
        frames
    }

    /// The world axes where the tangents span no area.
    #[cold]
    fn replace_flat(&mut self) {
        for lane in 0..LANES {
            if self.area[lane] > FLAT {
                continue;
            }
            for (axis, coordinate) in self.normal.iter_mut().enumerate() {
                self.t[0][axis][lane] = WORLD[0][axis];
                self.t[1][axis][lane] = WORLD[1][axis];
                coordinate[lane] = if axis == 2 { 1.0 } else { 0.0 };
            }
            self.area[lane] = 1.0;
        }
    }

    /// The vectors with these components along t₁, t₂ and the normal.
    #[inline(always)]
    pub(super) fn vectors<S: Simd>(&self, ops: VertexOps<S>, local: [Numbers; 3]) -> Vectors {
        ops.combine(&[self.t[0], self.t[1], self.normal], local)
    }

    /// Scaled normal vectors (covectors) with these components along the dual frame.
    #[inline(always)]
    pub(super) fn covectors<S: Simd>(&self, ops: VertexOps<S>, local: [Numbers; 3]) -> Vectors {
        let [a, b] = self.t;
        let dual = [
            ops.cross(b, self.normal),
            ops.cross(self.normal, a),
            self.normal,
        ];
        ops.combine(
            &dual,
            [
                local[0],
                local[1],
                each(|lane| local[2][lane] * self.area[lane]),
            ],
        )
    }
}
