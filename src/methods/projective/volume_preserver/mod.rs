//! Volume preservation of guided flesh: the volume that a bend removes is restored by bulges around it.
//!
//! Flesh hardly changes its volume: where a limb folds, it becomes thicker. The volume of the body is divided into
//! cones, one per vertex, from its foot point on the bone lines to the skin around it. The bulge b of a vertex is the
//! outward displacement of guide skin and base along the rest normal. It is computed from the volume that the cones
//! would lose without any bulge: implicit heat flow spreads this volume along the skin over about the radius of a limb
//! and preserves its sum. With the spreading operator D and the measured loss l, every measurement of the skin sets
//!
//! ```text
//!     b = D (l + b)
//! ```
//!
//! At a fixed point the sum of all losses is zero, and b is as smooth as D makes it. In sharp bends the foot points do
//! not stay on lines, and the sum of the cones differs from the volume of the skin. If the skin is closed, the
//! difference between its total loss and that of its cones is added to l where the pose changes volume.
//!
//! The bulge is stored as a multiple of the change length of the vertex, so that it varies with the pose. The change
//! length is the mean displacement that corresponds to the change of volume around the vertex under the guide alone. Skin
//! in a fold or facing a cavity is not displaced, because there is no free space.
//!
//! Joints that scale change the volume intentionally: the loss of a cone is relative to its volume at rest, times the determinant of the
//! guide's stretch at its vertex.

mod bone_shares;
mod folds;

use rayon::prelude::*;

use self::bone_shares::BoneShares;
use self::folds::Folds;
use crate::math::{Point, Vec3};
use crate::mesh::{Bending, TriMesh};
use crate::numerics::{Cholesky, Ordering, SolveMemory, SymmetricMatrix};
use crate::tissue::{GuideFrame, Tissue};

/// Losses are spread over this many limb radii…
const SPREAD_RADII: f64 = 1.5;
/// …and the part of them that falls into folds over this many.
const FAR_SPREAD_RADII: f64 = 4.0;
/// The volume changes of a bone count over about this many limb radii around its skin.
const BONE_REACH_RADII: f64 = 2.8;
/// Upper bound of a bulge relative to the change length of the vertex.
const MAX_RATIO: f32 = 6.0;
/// Regularisation of the change length, as a fraction of the limb radius: the ratio to a shorter length is unreliable.
const MIN_CHANGE_LENGTH: f64 = 2e-3;
/// The loss inside folds is recovered by the skin around them: the part of it that heat flow brings there is scaled up to
/// the full loss, by at most this factor.
const MAX_FOLD_SHARE: f32 = 4.0;
/// Upper bound of a bulge in both directions, as a fraction of the distance to the foot point.
const MAX_BULGE: f32 = 0.3;
/// Gain per step of each of the two low-pass filters from the target ratio to the ratio in use.
const FILTER_GAIN: f32 = 0.35;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

/// The volume around every vertex, and the bulge that restores it.
pub(super) struct VolumePreserver {
    triangles: Vec<[u32; 3]>,
    triangles_of_vertex: Vec<Vec<u32>>,
    /// At rest: foot points, unit normals, volumes of the cones.
    feet: Vec<Point>,
    normals: Vec<Vec3>,
    cone_volumes: Vec<f32>,
    max_bulge: Vec<f32>,
    /// Factored implicit heat flow over the two distances.
    diffusion: [Cholesky<f32>; 2],
    memory: [SolveMemory; 2],
    vertex_areas: Vec<f32>,
    folds: Folds,
    bones: BoneShares,
    /// Outward displacement of each vertex relative to the guide, before the fold factor, world units.
    bulge: Vec<f32>,
    rest: Vec<Point>,
    posed: Vec<Point>,
    /// Norm of the sum of the area vectors around each vertex, at rest.
    rest_areas: Vec<f32>,
    area_vectors: Vec<Vec3>,
    loss: Vec<f32>,
    fold_loss: Vec<f32>,
    /// Mean displacement that corresponds to the guide's change of volume around each vertex in this pose, world units;
    /// 0 at rest.
    change_length: Vec<f32>,
    min_change_length: f32,
    /// Whether the skin is closed, and the volume that it encloses at rest, world units³.
    closed: bool,
    volume: f64,
    /// Volume that each cone loses under the guide alone, world units³.
    guide_loss: Vec<f32>,
    /// Bulge relative to the change length of each vertex, as of the last measurement.
    target_ratio: Vec<f32>,
    /// The same after two low-pass filters in series, whose first output is `filter_state`; they hide that measurements are
    /// several steps apart.
    ratio: Vec<f32>,
    filter_state: Vec<f32>,
}

impl VolumePreserver {
    /// `None` if the skin has no area to spread volume over.
    pub(super) fn bind(mesh: &TriMesh, tissue: &Tissue, bending: &Bending) -> Option<Self> {
        let count = mesh.positions.len();
        let flow = |reach: f64| {
            let time = (reach * tissue.quality.limb_radius).powi(2);
            let entries = (0..count).flat_map(|row| {
                bending
                    .row(row)
                    .filter(move |&(column, _)| column as usize <= row)
                    .map(move |(column, value)| (row, column as usize, time * value))
            });
            let matrix =
                SymmetricMatrix::from_triplets(count, entries).plus_diagonal(&bending.areas);
            Cholesky::factor(&matrix, Ordering::default()).ok()
        };
        let (near, far) = (flow(SPREAD_RADII)?, flow(FAR_SPREAD_RADII)?);
        let around_bones = flow(BONE_REACH_RADII)?;
        let feet: Vec<Point> = tissue.foot_points.iter().map(|p| p.cast::<f32>()).collect();
        let normals = mesh.vertex_normals();
        let vertex_areas: Vec<f32> = bending.areas.iter().map(|&area| area as f32).collect();
        let memory = [near.memory(), far.memory()];
        let is_carried = |vertex: usize| tissue.carried.binary_search(&(vertex as u32)).is_ok();
        let depth = |vertex: usize| (mesh.positions[vertex] - feet[vertex]).norm();
        let max_bulge: Vec<f32> = (0..count)
            .map(|vertex| {
                if is_carried(vertex) {
                    0.0
                } else {
                    depth(vertex) * MAX_BULGE
                }
            })
            .collect();
        let mut built = Self {
            triangles: mesh.triangles.clone(),
            triangles_of_vertex: vec![Vec::new(); count],
            folds: Folds::bind(
                mesh,
                &feet,
                &normals,
                &max_bulge,
                tissue.quality.limb_radius,
            ),
            bones: BoneShares::bind(tissue, &vertex_areas, &around_bones),
            feet,
            normals,
            cone_volumes: vec![0.0; count],
            max_bulge,
            memory,
            diffusion: [near, far],
            vertex_areas,
            bulge: vec![0.0; count],
            rest: mesh.positions.clone(),
            posed: mesh.positions.clone(),
            rest_areas: Vec::new(),
            area_vectors: vec![Vec3::zeros(); mesh.triangles.len()],
            loss: vec![0.0; count],
            fold_loss: vec![0.0; count],
            change_length: vec![0.0; count],
            min_change_length: (MIN_CHANGE_LENGTH * tissue.quality.limb_radius) as f32,
            closed: false,
            volume: 0.0,
            guide_loss: vec![0.0; count],
            target_ratio: vec![0.0; count],
            ratio: vec![0.0; count],
            filter_state: vec![0.0; count],
        };
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for &vertex in triangle {
                built.triangles_of_vertex[vertex as usize].push(index as u32);
            }
        }
        compute_area_vectors(&built.triangles, &mesh.positions, &mut built.area_vectors);
        built.compute_losses(&mesh.positions, |_, foot| (*foot, 1.0));
        built.closed = built.folds.is_closed();
        built.volume = enclosed_volume(&built.triangles, &mesh.positions, &built.area_vectors);
        built.cone_volumes = built.loss.iter().map(|loss| -loss).collect();
        built.rest_areas = (0..count)
            .map(|vertex| {
                area_vector_of(&built.triangles_of_vertex[vertex], &built.area_vectors).norm()
            })
            .collect();
        Some(built)
    }

    /// Displacement of a vertex at rest: its bulge along the normal.
    pub(super) fn offset(&self, vertex: usize) -> Vec3 {
        self.normals[vertex] * (self.bulge[vertex] * self.folds.factors[vertex])
    }

    /// The state that persists from step to step.
    pub(super) fn state(&self) -> [Vec<f32>; 3] {
        [
            self.target_ratio.clone(),
            self.filter_state.clone(),
            self.ratio.clone(),
        ]
    }

    /// Restores a state that [`VolumePreserver::state`] returned.
    pub(super) fn set_state(&mut self, [target_ratio, filter_state, ratio]: &[Vec<f32>; 3]) {
        self.target_ratio.copy_from_slice(target_ratio);
        self.filter_state.copy_from_slice(filter_state);
        self.ratio.copy_from_slice(ratio);
    }

    /// Sets all ratios to zero.
    pub(super) fn reset(&mut self) {
        self.target_ratio.fill(0.0);
        self.use_target_ratio();
    }

    /// Uses the ratios of the last measurement at once, without filtering.
    pub(super) fn use_target_ratio(&mut self) {
        self.filter_state.copy_from_slice(&self.target_ratio);
        self.ratio.copy_from_slice(&self.target_ratio);
    }

    /// Advances the low-pass filters by one step.
    pub(super) fn filter_ratio(&mut self) {
        let targets = self.target_ratio.iter().zip(&mut self.filter_state);
        for (ratio, (target_ratio, filter_state)) in self.ratio.iter_mut().zip(targets) {
            *filter_state += FILTER_GAIN * (target_ratio - *filter_state);
            *ratio += FILTER_GAIN * (*filter_state - *ratio);
        }
    }

    /// Updates folds, change lengths and bulges for a pose, with the ratios in use.
    pub(super) fn set_pose(&mut self, frame: &GuideFrame) {
        self.compute_folds(frame);
        self.bones
            .change_lengths_into(&self.guide_loss, &mut self.change_length);
        self.compute_bulges();
    }

    /// Measures the skin in the pose of the last [`VolumePreserver::set_pose`], and moves the target ratios by the
    /// fraction `gain` towards the measured ones.
    pub(super) fn update_target_ratio(&mut self, skin: &[Point], frame: &GuideFrame, gain: f32) {
        compute_area_vectors(&self.triangles, skin, &mut self.area_vectors);
        self.compute_losses(skin, |vertex, foot| {
            let transform = &frame.points[vertex];
            (transform.apply(foot), transform.volume_factor())
        });
        self.add_global_loss(skin, frame);
        // The loss without bulges: if only the remaining loss were spread each time, rough components would accumulate.
        let bulges = self
            .bulge
            .iter()
            .zip(&self.folds.factors)
            .zip(&self.vertex_areas);
        for (loss, ((bulge, fold_factor), area)) in self.loss.iter_mut().zip(bulges) {
            *loss += bulge * fold_factor * area;
        }
        self.diffuse_losses();
        let skin = self
            .loss
            .iter()
            .zip(&self.change_length)
            .zip(&self.max_bulge);
        for (ratio, ((length, &change_length), max_bulge)) in self.target_ratio.iter_mut().zip(skin)
        {
            // Where the change length is small, the ratio is reduced; values beyond the bounds of the bulge are not
            // stored.
            let known = change_length + self.min_change_length;
            let bound = MAX_RATIO.min(max_bulge / known);
            let next = (length / known).clamp(-bound, bound);
            if next.is_finite() {
                *ratio += gain * (next - *ratio);
            }
        }
    }

    /// Computes the bulges of this pose. Returns the largest change, world units.
    pub(super) fn compute_bulges(&mut self) -> f32 {
        let mut largest = 0.0_f32;
        let lengths = self
            .ratio
            .iter()
            .zip(&self.change_length)
            .zip(&self.max_bulge);
        for (bulge, ((ratio, change_length), &max_bulge)) in self.bulge.iter_mut().zip(lengths) {
            let next = (ratio * change_length).clamp(-max_bulge, max_bulge);
            largest = largest.max((next - *bulge).abs());
            *bulge = next;
        }
        largest
    }

    /// Converts the losses of volume to outward displacements that restore it.
    fn diffuse_losses(&mut self) {
        let ([near, far], [near_memory, far_memory]) = (&self.diffusion, &mut self.memory);
        near.solve_one(&mut self.loss, near_memory);
        let mut fold_loss = 0.0;
        let cells = self.vertex_areas.iter().zip(&self.folds.factors);
        for ((out, loss), (area, fold_factor)) in
            self.fold_loss.iter_mut().zip(&self.loss).zip(cells.clone())
        {
            *out = loss * area * (1.0 - fold_factor);
            fold_loss += *out;
        }
        far.solve_one(&mut self.fold_loss, far_memory);
        let reached: f32 = self
            .fold_loss
            .iter()
            .zip(cells)
            .map(|(length, (area, fold_factor))| length * area * fold_factor)
            .sum();
        let share = (fold_loss / reached).clamp(1.0, MAX_FOLD_SHARE);
        if share.is_finite() {
            for (loss, length) in self.loss.iter_mut().zip(&self.fold_loss) {
                *loss += length * share;
            }
        }
    }

    /// Computes the fold factors under the guide, and its change of volume around each vertex.
    fn compute_folds(&mut self, frame: &GuideFrame) {
        frame.apply(&self.rest, &mut self.posed);
        compute_area_vectors(&self.triangles, &self.posed, &mut self.area_vectors);
        let Self {
            triangles_of_vertex,
            area_vectors,
            rest_areas,
            folds,
            guide_loss,
            posed,
            feet,
            cone_volumes,
            ..
        } = self;
        let area_vectors = &*area_vectors;
        let areas = folds.area_ratios();
        areas
            .par_iter_mut()
            .zip(guide_loss)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (area_ratio, guide_loss))| {
                let area = area_vector_of(&triangles_of_vertex[vertex], area_vectors);
                let transform = &frame.points[vertex];
                let volume_factor = transform.volume_factor();
                let area_factor = volume_factor.cbrt().powi(2);
                let scaled = (rest_areas[vertex] * area_factor).max(f32::MIN_POSITIVE);
                *area_ratio = area.norm() / scaled;
                let foot = transform.apply(&feet[vertex]);
                let cone = area.dot(&(posed[vertex] - foot)) / 3.0;
                *guide_loss = cone_volumes[vertex] * volume_factor - cone;
            });
        self.folds.widen();
    }

    /// Adds the loss of the whole skin beyond that of its cones, distributed by change length.
    fn add_global_loss(&mut self, skin: &[Point], frame: &GuideFrame) {
        if !self.closed {
            return;
        }
        let cones = self.cone_volumes.iter().zip(&frame.points);
        let intended: f64 = cones
            .map(|(&cone, transform)| f64::from(cone) * f64::from(transform.volume_factor() - 1.0))
            .sum();
        let enclosed = enclosed_volume(&self.triangles, skin, &self.area_vectors);
        let lost = self.volume + intended - enclosed;
        let seen: f64 = self.loss.iter().map(|&loss| f64::from(loss)).sum();
        let lengths = self.change_length.iter().zip(&self.vertex_areas);
        let all: f64 = lengths
            .clone()
            .map(|(change_length, area)| f64::from((change_length + self.min_change_length) * area))
            .sum();
        let share = ((lost - seen) / all.max(f64::MIN_POSITIVE)) as f32;
        if share.is_finite() {
            for (loss, (change_length, area)) in self.loss.iter_mut().zip(lengths) {
                *loss += share * change_length * area;
            }
        }
    }

    /// Computes the loss of every cone. `pose` returns the posed foot point of a vertex, and the factor on the volume around it.
    fn compute_losses(
        &mut self,
        skin: &[Point],
        pose: impl Fn(usize, &Point) -> (Point, f32) + Sync,
    ) {
        let Self {
            triangles_of_vertex,
            feet,
            cone_volumes,
            area_vectors,
            loss,
            ..
        } = self;
        loss.par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, loss)| {
                let area = area_vector_of(&triangles_of_vertex[vertex], area_vectors);
                let (foot, volume_factor) = pose(vertex, &feet[vertex]);
                let cone = area.dot(&(skin[vertex] - foot)) / 3.0;
                *loss = cone_volumes[vertex] * volume_factor - cone;
            });
    }
}

/// A third of the area vector of every triangle, the share of each corner: a sixth of the cross product of two edges.
fn compute_area_vectors(triangles: &[[u32; 3]], points: &[Point], out: &mut [Vec3]) {
    let corner = |v: u32| points[v as usize];
    out.par_iter_mut()
        .zip(triangles)
        .with_min_len(MIN_TASK)
        .for_each(|(area, &[a, b, c])| {
            *area = (corner(b) - corner(a)).cross(&(corner(c) - corner(a))) / 6.0;
        });
}

/// The volume enclosed by triangles with these area vectors.
fn enclosed_volume(triangles: &[[u32; 3]], points: &[Point], area_vectors: &[Vec3]) -> f64 {
    let first = points.first().copied().unwrap_or_else(Point::origin);
    let cone_volumes = triangles.iter().zip(area_vectors);
    cone_volumes
        .map(|(&[corner, ..], area)| f64::from(area.dot(&(points[corner as usize] - first))))
        .sum()
}

fn area_vector_of(triangles_of_vertex: &[u32], area_vectors: &[Vec3]) -> Vec3 {
    triangles_of_vertex
        .iter()
        .map(|&triangle| area_vectors[triangle as usize])
        .sum()
}
