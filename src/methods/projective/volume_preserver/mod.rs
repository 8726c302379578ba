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
//! The bulge has three parts:
//!
//! - The prediction for the guide: what the guide alone loses around each bone, spread over the skin around it, and balanced so that all
//!   bulges together restore the loss of the whole skin. It depends on the pose alone, without delay.
//! - What measurements ask for beyond that, as a multiple of the change length of the vertex, so that it varies with the pose. The change
//!   length is the mean displacement that corresponds to the change of volume around the vertex under the guide alone. Where flesh is
//!   thick, a part of that of bones farther away is added to it: a folded armpit empties a belly that the guide alone does not change.
//!   Where the change length is too short, the bulge would be too long, or the ratio too large, others restore the rest in proportion to
//!   their change lengths: the whole skin gets back what it has lost.
//! - What restores the volume that contacts press out between the guide and the skin. It is a length, because it does not depend on the
//!   angle of a joint. Between measurements it follows the pressed volume down: as soon as an arm leaves the side of the body, neither
//!   needs a bulge.
//!
//! Skin in a fold or facing a cavity is not displaced, because there is no free space.
//!
//! Joints that scale change the volume intentionally: the loss of a cone is relative to its volume at rest, times the determinant of the
//! guide's stretch at its vertex.

mod bone_shares;
mod folds;
mod low_pass;
mod measure;
mod rest_volume;
mod saved;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::bone_shares::BoneShares;
use self::folds::Folds;
use self::low_pass::LowPass;
use self::measure::DiffusionMemory;
use self::rest_volume::RestVolume;
pub(in crate::methods) use self::saved::SavedVolume;
use crate::math::{Point, Vec3};
use crate::mesh::{Bending, TriMesh, VertexTriangles};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::tissue::{GuideFrame, Tissue};

/// Losses are spread over this many limb radii…
const SPREAD_RADII: f64 = 1.5;
/// …and the part of them that falls into folds over this many.
const FAR_SPREAD_RADII: f64 = 4.0;
/// The volume changes of a bone count over about this many limb radii around its skin.
const BONE_REACH_RADII: f64 = 2.8;
/// Upper bound of a bulge relative to the change length of the vertex.
const MAX_RATIO: f32 = 6.0;
/// Multiple of the change lengths of farther bones, each reduced by the distance, that is added to that of thick flesh where measurements
/// count.
const FAR_FACTOR: f32 = 3.0;
/// Regularisation of the change length, as a fraction of the limb radius: the ratio to a shorter length is unreliable.
const MIN_CHANGE_LENGTH: f64 = 2e-3;
/// The loss inside folds is recovered by the skin around them: the part of it that heat flow brings there is scaled up to
/// the full loss, by at most this factor.
const MAX_FOLD_SHARE: f32 = 4.0;
/// Upper bound of a bulge in both directions, as a fraction of the distance to the foot point.
const MAX_BULGE: f32 = 0.3;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

/// The volume around every vertex, and the bulge that restores it.
pub(super) struct VolumePreserver {
    at_rest: RestVolume,
    triangles_of_vertex: VertexTriangles,
    /// At rest: foot points and unit normals.
    feet: Vec<Point>,
    normals: Vec<Vec3>,
    max_bulge: Vec<f32>,
    /// Factored implicit heat flow over the two distances.
    diffusion: [Cholesky<f32>; 2],
    /// For the solves of `loss` and of `target_loss`.
    diffusion_memory: [DiffusionMemory; 2],
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
    /// Mean displacement that corresponds to the guide's change of volume around each vertex in this pose, world units;
    /// 0 at rest.
    change_length: Vec<f32>,
    /// The same with what farther bones change, where flesh is thick: measurements count relative to it.
    wide_length: Vec<f32>,
    min_change_length: f32,
    /// Volume that each cone loses under the guide alone, world units³.
    guide_loss: Vec<f32>,
    /// Bulge that would restore the volume that the guide alone loses in this pose, world units; 0 at rest.
    predicted: Vec<f32>,
    /// What bulges need beyond the prediction for the guide, relative to the change lengths.
    ratio: LowPass,
    /// Bulges that restore what contacts press out between the guide and the skin, world units.
    pressed: LowPass,
    /// As of the last measurement, 1 at vertices that contacts press, less around them, 0 elsewhere.
    pressed_parts: Vec<f32>,
    /// Volume that contacts press out, world units³, as of the last measurement and after the last step.
    measured_volume: f32,
    pressed_volume: f32,
    /// Loss of the guide with its bulges.
    target_loss: Vec<f32>,
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
        let diffusion = [near, far];
        let memory = || DiffusionMemory::of(&diffusion, count);
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
        // The full factor where flesh is as thick as a limb, little where it is thin.
        let far_weight = |max_bulge: &f32| {
            let thickness = f64::from(max_bulge / MAX_BULGE) / tissue.quality.limb_radius;
            FAR_FACTOR * thickness.min(1.0).powi(2) as f32
        };
        let mut built = Self {
            at_rest: RestVolume {
                triangles: mesh.triangles.clone(),
                closed: false,
                enclosed: 0.0,
                cones: vec![0.0; count],
            },
            triangles_of_vertex: VertexTriangles::of(mesh.positions.len(), &mesh.triangles),
            folds: Folds::bind(
                mesh,
                &feet,
                &normals,
                &max_bulge,
                tissue.quality.limb_radius,
            ),
            bones: BoneShares::bind(
                tissue,
                &vertex_areas,
                [&around_bones, &diffusion[1]],
                max_bulge.iter().map(far_weight),
            ),
            feet,
            normals,
            max_bulge,
            diffusion_memory: [memory(), memory()],
            diffusion,
            vertex_areas,
            bulge: vec![0.0; count],
            rest: mesh.positions.clone(),
            posed: mesh.positions.clone(),
            rest_areas: Vec::new(),
            area_vectors: vec![Vec3::zeros(); mesh.triangles.len()],
            loss: vec![0.0; count],
            change_length: vec![0.0; count],
            wide_length: vec![0.0; count],
            min_change_length: (MIN_CHANGE_LENGTH * tissue.quality.limb_radius) as f32,
            guide_loss: vec![0.0; count],
            predicted: vec![0.0; count],
            ratio: LowPass::zeros(count),
            pressed: LowPass::zeros(count),
            pressed_parts: vec![0.0; count],
            measured_volume: 0.0,
            pressed_volume: 0.0,
            target_loss: vec![0.0; count],
        };
        built
            .at_rest
            .area_vectors_into(&mesh.positions, &mut built.area_vectors);
        built.compute_losses(&mesh.positions, |_, foot| (*foot, 1.0));
        let enclosed = (built.at_rest).enclosed_by(&mesh.positions, &built.area_vectors);
        built.at_rest.closed = built.folds.is_closed();
        built.at_rest.enclosed = enclosed;
        built.at_rest.cones = built.loss.iter().map(|loss| -loss).collect();
        let areas = (0..count as u32).map(|vertex| {
            built
                .triangles_of_vertex
                .sum_at(vertex, &built.area_vectors)
        });
        built.rest_areas = areas.map(|area| area.norm()).collect();
        Some(built)
    }

    /// Displacement of a vertex at rest: its bulge along the normal.
    pub(super) fn offset(&self, vertex: usize) -> Vec3 {
        self.normals[vertex] * (self.bulge[vertex] * self.folds.factors[vertex])
    }

    /// Forgets all measurements.
    pub(super) fn reset(&mut self) {
        self.ratio.reset();
        self.pressed.reset();
        self.pressed_parts.fill(0.0);
        (self.measured_volume, self.pressed_volume) = (0.0, 0.0);
    }

    /// Uses the last measurement at once, without filtering.
    pub(super) fn use_measured(&mut self) {
        self.ratio.jump();
        self.pressed.jump();
    }

    /// Advances the low-pass filters by one step. `left`: number of steps until the next measurement, this one included.
    pub(super) fn filter(&mut self, left: u32) {
        self.ratio.step(left);
        self.pressed.step(left);
    }

    /// Updates folds, change lengths and bulges for a pose, with the ratios in use.
    pub(super) fn set_pose(&mut self, frame: &GuideFrame) {
        self.compute_guide_loss(frame);
        let Self {
            at_rest,
            folds,
            bones,
            posed,
            area_vectors,
            change_length,
            wide_length,
            guide_loss,
            predicted,
            ..
        } = self;
        let (lost, ()) = rayon::join(
            || {
                bones.write_lengths(guide_loss, change_length, predicted, wide_length);
                if at_rest.closed {
                    at_rest.lost(posed, area_vectors, frame)
                } else {
                    guide_loss.iter().map(|&loss| f64::from(loss)).sum()
                }
            },
            || folds.widen(),
        );
        self.balance_prediction(lost);
        self.compute_bulges();
    }

    /// What is left of the volume that contacts pressed out at the last measurement, at most 1: bulges that restore it follow it down at
    /// once.
    fn left_of_pressed(&self) -> f32 {
        if self.measured_volume > 0.0 {
            (self.pressed_volume / self.measured_volume).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// Computes the bulges of this pose. Returns the largest change, world units.
    pub(super) fn compute_bulges(&mut self) -> f32 {
        let mut largest = 0.0_f32;
        let left = self.left_of_pressed();
        let measured = self.ratio.values().iter().zip(self.pressed.values());
        let of_pose = self.predicted.iter().zip(&self.wide_length);
        let bulges = self.bulge.iter_mut().zip(&self.max_bulge);
        for (((bulge, &max_bulge), (predicted, wide_length)), (ratio, pressed)) in
            bulges.zip(of_pose).zip(measured)
        {
            // Nothing bulges at rest, whatever was measured before.
            let most_pressed = MAX_RATIO * wide_length;
            let pressed = (left * pressed).clamp(-most_pressed, most_pressed);
            let next = predicted + ratio * wide_length + pressed;
            let next = next.clamp(-max_bulge, max_bulge);
            largest = largest.max((next - *bulge).abs());
            *bulge = next;
        }
        largest
    }

    /// Computes the ratios of areas under the guide, and its change of volume around each vertex.
    fn compute_guide_loss(&mut self, frame: &GuideFrame) {
        frame.apply(&self.rest, &mut self.posed);
        self.at_rest
            .area_vectors_into(&self.posed, &mut self.area_vectors);
        let Self {
            triangles_of_vertex,
            area_vectors,
            rest_areas,
            folds,
            guide_loss,
            posed,
            feet,
            at_rest,
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
                let area = triangles_of_vertex.sum_at(vertex as u32, area_vectors);
                let volume_factor = frame.volume_factor(vertex);
                let area_factor = if volume_factor == 1.0 {
                    1.0
                } else {
                    volume_factor.cbrt().powi(2)
                };
                let scaled = (rest_areas[vertex] * area_factor).max(f32::MIN_POSITIVE);
                *area_ratio = area.norm() / scaled;
                let foot = frame.apply_one(vertex, &feet[vertex]);
                let cone = area.dot(&(posed[vertex] - foot)) / 3.0;
                *guide_loss = at_rest.cones[vertex] * volume_factor - cone;
            });
    }

    /// Changes the predicted bulges in proportion to the change lengths, so that together they restore the volume that the guide alone has
    /// lost.
    fn balance_prediction(&mut self, lost: f64) {
        let (mut predicted, mut all) = (0.0, 0.0);
        let weights = self.vertex_areas.iter().zip(&self.folds.factors);
        let lengths = self.predicted.iter().zip(&self.change_length);
        for ((length, change_length), (area, fold_factor)) in lengths.zip(weights) {
            let area = f64::from(area * fold_factor);
            predicted += f64::from(*length) * area;
            all += f64::from(change_length + self.min_change_length) * area;
        }
        let share = ((lost - predicted) / all.max(f64::MIN_POSITIVE)) as f32;
        let share = share.clamp(-MAX_RATIO, MAX_RATIO);
        if share.is_finite() {
            for (length, change_length) in self.predicted.iter_mut().zip(&self.change_length) {
                *length += share * change_length;
            }
        }
    }
}
