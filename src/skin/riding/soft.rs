//! Cloth rides vertex by vertex: y' = A e + (1 − φ) t + φ b', where
//!
//! - (A, t) = Σ wᵢ Mᵢ is a blend of affine frames at control points of the flesh, with weights that vary smoothly over the cloth;
//! - b is the closest point of the flesh, b' where it is now, and φ is 1 on the flesh and falls to 0 a few control points away;
//! - e = (y − φ b) at rest: close to the flesh a vertex keeps its offset to the very point of the flesh that it lies over; further
//!   away only the smooth blend counts, because closest points jump there.
//!
//! A control point's frame takes the stretch of the flesh in its tangent plane, limited, and leaves lengths along the normal as they
//! are. A rigid motion, and an affine one within the limit, is followed exactly.

use std::collections::HashSet;

use nalgebra::{Matrix2, Matrix3};
use rayon::prelude::*;

use super::{Ground, PlainCloth};
use crate::math::{Point, Vec3, Vec64};

/// Distance of control points, of the size.
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
    patches: Vec<Tangent>,
    frames: Vec<Frame>,
    riders: Vec<Rider>,
    moved: Vec<Point>,
}

/// A vertex of the flesh with a frame: `linear` is fitted to its patch.
#[derive(Debug, Clone)]
pub struct Control {
    /// Of the skin.
    pub vertex: u32,
    /// Begin and end of its part of all patches.
    pub patch: [u32; 2],
    /// Relative to the origin.
    pub rest: Vec3,
    /// Orthonormal: two tangents and the normal at rest.
    pub axes: Matrix3<f32>,
}

/// How a neighbour counts for the two tangents.
#[derive(Debug, Clone, Copy)]
pub struct Tangent {
    /// The neighbour, of the skin.
    pub vertex: u32,
    /// Coefficients of its offset from the control point.
    pub along: [f32; 2],
}

/// An affine map of positions relative to the origin, column by column.
#[derive(Debug, Clone, Copy)]
struct Frame {
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
    /// Where.
    pub barycentric: [f32; 3],
    /// Control points that it follows.
    pub frames: [u32; FRAMES],
    /// How much each counts.
    pub weights: [f32; FRAMES],
}

impl Soft {
    pub(super) fn bind(ground: &Ground<'_>, cloth: &[u32]) -> Self {
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
        let riders: Vec<Rider> = cloth.par_iter().filter_map(|&vertex| rider(ground, vertex, &controls, spacing, &origin)).collect();
        let frames = vec![Frame { linear: Matrix3::identity(), offset: Vec3::zeros() }; controls.len()];
        let moved = vec![Point::origin(); riders.len()];
        let mut soft = Self { origin, controls, patches, frames, riders, moved };
        soft.drop_unused();
        soft
    }

    pub(super) fn plain(&self) -> PlainCloth<'_> {
        PlainCloth { origin: self.origin, controls: &self.controls, patches: &self.patches, riders: &self.riders }
    }

    /// Leaves out control points that nobody follows.
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
                patches.extend_from_slice(&self.patches[control.patch[0] as usize..control.patch[1] as usize]);
                kept.push(Control { patch: [start, patches.len() as u32], ..control.clone() });
            }
        }
        for rider in &mut self.riders {
            rider.frames = rider.frames.map(|frame| number[frame as usize]);
        }
        self.frames.truncate(kept.len());
        (self.controls, self.patches) = (kept, patches);
    }

    pub(super) fn place(&mut self, positions: &mut [Point]) {
        let Self { origin, controls, patches, frames, riders, moved } = self;
        {
            let positions = &*positions;
            let (patches, origin) = (&*patches, *origin);
            frames.par_iter_mut().zip(&*controls).with_min_len(256).for_each(|(frame, control)| {
                control.follow(&patches[control.patch[0] as usize..control.patch[1] as usize], positions, origin, frame);
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
    /// Fits the frame to the patch. A patch that has collapsed to a line leaves the frame's directions as they were.
    fn follow(&self, patch: &[Tangent], positions: &[Point], origin: Point, frame: &mut Frame) {
        let here = positions[self.vertex as usize];
        let (mut u, mut v) = (Vec3::zeros(), Vec3::zeros());
        for tangent in patch {
            let offset = positions[tangent.vertex as usize] - here;
            u += offset * tangent.along[0];
            v += offset * tangent.along[1];
        }
        if let Some(normal) = u.cross(&v).try_normalize(1e-6) {
            // The rotation in the plane that is closest to [u v], and what deviates from it.
            let first = (u + v.cross(&normal)).try_normalize(1e-6).unwrap_or(self.axes.column(0).into_owned());
            let second = normal.cross(&first);
            let (du, dv) = (u - first, v - second);
            let deviation = (du.norm_squared() + dv.norm_squared()).sqrt();
            let kept = if deviation > STRETCH { STRETCH / deviation } else { 1.0 };
            let now = Matrix3::from_columns(&[first + du * kept, second + dv * kept, normal]);
            frame.linear = now * self.axes.transpose();
        }
        frame.offset = (here - origin) - frame.linear * self.rest;
    }
}

impl Rider {
    fn place(&self, frames: &[Frame], positions: &[Point], origin: Point) -> Point {
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

/// Control points, about one in every cell of a grid, with the patches that their frames are fitted to.
fn controls(ground: &Ground<'_>, spacing: f64, origin: &Point, patches: &mut Vec<Tangent>) -> Vec<Control> {
    let topology = crate::mesh::Topology::of(ground.mesh);
    let mut taken: HashSet<(u32, [i64; 3])> = HashSet::new();
    let mut controls = Vec::new();
    for (vertex, position) in ground.mesh.positions.iter().enumerate() {
        if !ground.is_flesh(vertex as u32) || topology.neighbors(vertex).is_empty() {
            continue;
        }
        let cell = [position.x, position.y, position.z].map(|c| (f64::from(c) / spacing).floor() as i64);
        let key = (ground.parts.part_of_vertex[vertex], cell);
        if taken.contains(&key) {
            continue;
        }
        let start = patches.len();
        if let Some(axes) = patch(ground, &topology, vertex as u32, spacing, patches) {
            taken.insert(key);
            let patch = [start as u32, patches.len() as u32];
            controls.push(Control { vertex: vertex as u32, patch, rest: position - origin, axes });
        } else {
            patches.truncate(start);
        }
    }
    controls
}

/// Appends the neighbours that a control point's frame is fitted to, by least squares in its tangent plane, and returns the frame at
/// rest; `None` if they don't span a plane.
fn patch(
    ground: &Ground<'_>,
    topology: &crate::mesh::Topology,
    vertex: u32,
    spacing: f64,
    patches: &mut Vec<Tangent>,
) -> Option<Matrix3<f32>> {
    let at = |v: u32| ground.mesh.positions[v as usize].cast::<f64>();
    let here = at(vertex);
    // Outwards ring by ring; at least the first ring.
    let mut ring: Vec<u32> = topology.neighbors(vertex as usize).to_vec();
    let mut next = 0;
    while next < ring.len() && ring.len() < 4 * PATCH {
        let from = ring[next];
        next += 1;
        for &v in topology.neighbors(from as usize) {
            if v != vertex && !ring.contains(&v) && (at(v) - here).norm() < spacing {
                ring.push(v);
            }
        }
    }
    let step = ring.len().div_ceil(PATCH).max(1);
    let neighbors: Vec<(u32, Vec64)> = ring.into_iter().step_by(step).map(|v| (v, at(v) - here)).collect();
    // The plane that fits best.
    let spread: Matrix3<f64> = neighbors.iter().map(|(_, o)| o * o.transpose()).sum();
    let eigen = spread.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    if eigen.eigenvalues[order[1]] <= 1e-4 * eigen.eigenvalues[order[0]] || eigen.eigenvalues[order[1]] <= 0.0 {
        return None;
    }
    let axes = [0, 1].map(|k| eigen.eigenvectors.column(order[k]).into_owned());
    // Least squares: g_j = S⁻¹ p_j, so that Σ g_j p_jᵀ is the identity.
    let flat: Vec<nalgebra::Vector2<f64>> =
        neighbors.iter().map(|(_, o)| nalgebra::Vector2::new(o.dot(&axes[0]), o.dot(&axes[1]))).collect();
    let inverse = flat.iter().map(|p| p * p.transpose()).sum::<Matrix2<f64>>().try_inverse()?;
    let coefficients: Vec<nalgebra::Vector2<f64>> = flat.iter().map(|p| inverse * p).collect();
    // What they give at rest, made orthonormal by the coefficients themselves (Gram–Schmidt).
    let sum = |k: usize| neighbors.iter().zip(&coefficients).map(|((_, o), g)| o * g[k]).sum::<Vec64>();
    let (u, v) = (sum(0), sum(1));
    let (length, along) = (u.norm(), u.dot(&v) / u.norm_squared());
    let across = v - u * along;
    let height = across.norm();
    if !(length > 1e-6 && height > 1e-6) {
        return None;
    }
    for ((neighbor, _), g) in neighbors.iter().zip(&coefficients) {
        patches.push(Tangent { vertex: *neighbor, along: [(g.x / length) as f32, ((g.y - along * g.x) / height) as f32] });
    }
    let (u, v) = (u / length, across / height);
    Some(Matrix3::from_columns(&[u, v, u.cross(&v)]).cast::<f32>())
}

/// Binds one vertex of the cloth; `None` if there is no flesh.
fn rider(ground: &Ground<'_>, vertex: u32, controls: &[Control], spacing: f64, origin: &Point) -> Option<Rider> {
    let position = ground.mesh.positions[vertex as usize];
    let offset = position - origin;
    let mut near: Vec<(f32, u32)> = Vec::with_capacity(controls.len());
    near.extend(controls.iter().enumerate().map(|(index, control)| ((control.rest - offset).norm_squared(), index as u32)));
    // The nearest before likeness are enough to choose from.
    let some = (8 * FRAMES).min(near.len());
    if some < near.len() {
        near.select_nth_unstable_by(some, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(some);
    }
    for (distance, index) in &mut near {
        let alike = 0.1 + 0.9 * ground.likeness(vertex, controls[*index as usize].vertex);
        *distance /= alike * alike;
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let least = near.first()?.0;
    // The first one that is not followed any more is where weights vanish, so that they vary smoothly over the cloth.
    let last = near.get(FRAMES).or(near.last()).map_or(least, |last| last.0) * (1.0 + 1e-3) + f32::MIN_POSITIVE;
    let (mut frames, mut weights) = ([near[0].1; FRAMES], [0.0; FRAMES]);
    for (slot, &(distance, index)) in near.iter().take(FRAMES).enumerate() {
        frames[slot] = index;
        weights[slot] = (1.0 - (distance - least) / (last - least)).powi(2);
    }
    let sum: f32 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= sum;
    }
    let closest = ground.closest_flesh(vertex)?;
    let close = (1.0 - (closest.distance / (CLOSE * spacing)).powi(2)).max(0.0).powi(2) as f32;
    let triangle = ground.mesh.triangles[closest.triangle as usize];
    let barycentric = barycentric(ground, triangle, &closest.point);
    let below = closest.point.cast::<f32>() - origin;
    Some(Rider { vertex, arm: offset - below * close, close, triangle, barycentric, frames, weights })
}

/// Barycentric coordinates of a point of a triangle, by areas; a flat triangle gives its nearest corner.
fn barycentric(ground: &Ground<'_>, triangle: [u32; 3], point: &crate::math::Point64) -> [f32; 3] {
    let [a, b, c] = triangle.map(|v| ground.mesh.positions[v as usize].cast::<f64>());
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    if square > 0.0 {
        let part =
            |p: &crate::math::Point64, q: &crate::math::Point64| ((p - point).cross(&(q - point)).dot(&normal) / square).clamp(0.0, 1.0);
        let (first, second) = (part(&b, &c), part(&c, &a));
        return [first as f32, second as f32, (1.0 - first - second) as f32];
    }
    let distance = [a, b, c].map(|corner| (corner - point).norm());
    let nearest = (0..3).min_by(|&i, &j| distance[i].total_cmp(&distance[j])).unwrap_or(0);
    std::array::from_fn(|k| if k == nearest { 1.0 } else { 0.0 })
}
