//! Cloth follows the flesh per vertex: y' = A e + (1 − φ) t + φ b', where
//!
//! - (A, t) = Σ wᵢ Mᵢ is a blend of affine frames at control points of the flesh, with weights that vary smoothly over the cloth;
//! - b is the closest point of the flesh, b' its current position, and φ is 1 on the flesh and falls to 0 a few control
//!   points away;
//! - e = (y − φ b) at rest: close to the flesh a vertex keeps its offset to its closest point; further away only the smooth
//!   blend counts, because the closest point is discontinuous there.
//!
//! A control point's frame follows the stretch of the flesh in its tangent plane, up to a limit, and keeps lengths along the
//! normal. Rigid motions, and affine ones within the limit, are reproduced exactly.

mod bind;

use nalgebra::Matrix3;
use rayon::prelude::*;

use self::bind::{controls, rider};
use super::{BindTarget, PlainCloth};
use crate::math::{Point, Vec3};

/// Distance of control points, relative to the size.
const SPACING: f64 = 0.012;
/// Control points that a vertex follows.
pub const FRAMES: usize = 12;
/// Neighbours that a control point's frame is fitted to.
const PATCH: usize = 16;
/// φ falls to 0 at this many control points' distances from the flesh.
const CLOSE: f64 = 2.0;
/// Largest deviation of a frame from a rotation, as a norm.
pub const STRETCH: f32 = 0.6;

/// Cloth bound to flesh.
#[derive(Debug, Clone, Default)]
pub(super) struct Soft {
    /// Positions are relative to this point, so that single precision is enough.
    origin: Point,
    controls: Vec<Control>,
    /// Offsets and coefficients of all controls' patches.
    patches: Vec<TangentCoefficients>,
    frames: Vec<ControlFrame>,
    riders: Vec<Rider>,
    moved: Vec<Point>,
}

/// A vertex of the flesh with a frame: `linear` is fitted to its patch.
#[derive(Debug, Clone)]
pub struct Control {
    /// Of the skin.
    pub vertex: u32,
    /// Range of its neighbours in the list of all patches.
    pub patch: [u32; 2],
    /// Relative to the origin.
    pub rest: Vec3,
    /// Orthonormal: two tangents and the normal at rest.
    pub axes: Matrix3<f32>,
}

/// Coefficients of a neighbour for the two tangents.
#[derive(Debug, Clone, Copy)]
pub struct TangentCoefficients {
    /// The neighbour, of the skin.
    pub vertex: u32,
    /// Coefficients of its offset from the control point.
    pub along: [f32; 2],
}

/// An affine map of positions relative to the origin, column by column.
#[derive(Debug, Clone, Copy)]
struct ControlFrame {
    linear: Matrix3<f32>,
    offset: Vec3,
}

/// A vertex of cloth.
#[derive(Debug, Clone)]
pub struct Rider {
    /// Of the skin.
    pub vertex: u32,
    /// y − φ b, relative to the origin.
    pub arm: Vec3,
    /// φ.
    pub close: f32,
    /// Vertices of the skin that b lies between.
    pub triangle: [u32; 3],
    /// Barycentric coordinates.
    pub barycentric: [f32; 3],
    /// Control points that it follows.
    pub frames: [u32; FRAMES],
    /// Their weights.
    pub weights: [f32; FRAMES],
}

impl Soft {
    pub(super) fn bind(ground: &BindTarget<'_>, cloth: &[u32]) -> Self {
        let origin = ground.mesh.bounds().center();
        if cloth.is_empty() {
            return Self::default();
        }
        let spacing = (SPACING * ground.size).max(f64::MIN_POSITIVE);
        let mut patches = Vec::new();
        let controls = controls(ground, spacing, &origin, &mut patches);
        if controls.is_empty() {
            return Self::default();
        }
        let riders: Vec<Rider> = cloth
            .par_iter()
            .filter_map(|&vertex| rider(ground, vertex, &controls, spacing, &origin))
            .collect();
        let frames = vec![
            ControlFrame {
                linear: Matrix3::identity(),
                offset: Vec3::zeros()
            };
            controls.len()
        ];
        let moved = vec![Point::origin(); riders.len()];
        let mut soft = Self {
            origin,
            controls,
            patches,
            frames,
            riders,
            moved,
        };
        soft.drop_unused();
        soft
    }

    pub(super) fn plain(&self) -> PlainCloth<'_> {
        PlainCloth {
            origin: self.origin,
            controls: &self.controls,
            patches: &self.patches,
            riders: &self.riders,
        }
    }

    /// Removes control points that no vertex follows.
    fn drop_unused(&mut self) {
        let mut number = vec![u32::MAX; self.controls.len()];
        for rider in &self.riders {
            for &frame in &rider.frames {
                number[frame as usize] = 0;
            }
        }
        let mut kept = Vec::new();
        let mut patches = Vec::new();
        for (control, number) in self.controls.iter().zip(&mut number) {
            if *number == 0 {
                *number = kept.len() as u32;
                let start = patches.len() as u32;
                patches.extend_from_slice(
                    &self.patches[control.patch[0] as usize..control.patch[1] as usize],
                );
                kept.push(Control {
                    patch: [start, patches.len() as u32],
                    ..control.clone()
                });
            }
        }
        for rider in &mut self.riders {
            rider.frames = rider.frames.map(|frame| number[frame as usize]);
        }
        self.frames.truncate(kept.len());
        (self.controls, self.patches) = (kept, patches);
    }

    pub(super) fn place(&mut self, positions: &mut [Point]) {
        let Self {
            origin,
            controls,
            patches,
            frames,
            riders,
            moved,
        } = self;
        {
            let positions = &*positions;
            let (patches, origin) = (&*patches, *origin);
            frames
                .par_iter_mut()
                .zip(&*controls)
                .with_min_len(256)
                .for_each(|(frame, control)| {
                    control.follow(
                        &patches[control.patch[0] as usize..control.patch[1] as usize],
                        positions,
                        origin,
                        frame,
                    );
                });
            let frames = &*frames;
            moved
                .par_iter_mut()
                .zip(&*riders)
                .with_min_len(1024)
                .for_each(|(moved, rider)| *moved = rider.place(frames, positions, origin));
        }
        for (rider, moved) in riders.iter().zip(moved) {
            positions[rider.vertex as usize] = *moved;
        }
    }
}

impl Control {
    /// Fits the frame to the patch. If the patch has collapsed to a line, the frame keeps its directions.
    fn follow(
        &self,
        patch: &[TangentCoefficients],
        positions: &[Point],
        origin: Point,
        frame: &mut ControlFrame,
    ) {
        let here = positions[self.vertex as usize];
        let (mut u, mut v) = (Vec3::zeros(), Vec3::zeros());
        for tangent in patch {
            let offset = positions[tangent.vertex as usize] - here;
            u += offset * tangent.along[0];
            v += offset * tangent.along[1];
        }
        if let Some(normal) = u.cross(&v).try_normalize(1e-6) {
            // The rotation in the plane that is closest to [u v], and what deviates from it.
            let first = (u + v.cross(&normal))
                .try_normalize(1e-6)
                .unwrap_or(self.axes.column(0).into_owned());
            let second = normal.cross(&first);
            let (du, dv) = (u - first, v - second);
            let deviation = (du.norm_squared() + dv.norm_squared()).sqrt();
            let kept = if deviation > STRETCH {
                STRETCH / deviation
            } else {
                1.0
            };
            let now = Matrix3::from_columns(&[first + du * kept, second + dv * kept, normal]);
            frame.linear = now * self.axes.transpose();
        }
        frame.offset = (here - origin) - frame.linear * self.rest;
    }
}

impl Rider {
    fn place(&self, frames: &[ControlFrame], positions: &[Point], origin: Point) -> Point {
        let mut linear = Matrix3::zeros();
        let mut offset = Vec3::zeros();
        for (&frame, &weight) in self.frames.iter().zip(&self.weights) {
            let frame = &frames[frame as usize];
            linear += frame.linear * weight;
            offset += frame.offset * weight;
        }
        let [a, b, c] = self.triangle.map(|v| positions[v as usize] - origin);
        let below = a * self.barycentric[0] + b * self.barycentric[1] + c * self.barycentric[2];
        origin + (linear * self.arm + offset * (1.0 - self.close) + below * self.close)
    }
}
