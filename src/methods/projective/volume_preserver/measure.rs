//! Measurement of the volume that skin has lost, and what bulges it asks for.

use rayon::prelude::*;

use super::{MAX_FOLD_SHARE, MAX_RATIO, MIN_TASK, VolumePreserver};
use crate::collision::Contact;
use crate::math::Point;
use crate::numerics::{Cholesky, SolveMemory};
use crate::tissue::GuideFrame;

impl VolumePreserver {
    /// Measures the skin in the pose of the last [`VolumePreserver::set_pose`]. What was measured before changes by the fraction `gain` of
    /// the difference.
    pub(in crate::methods::projective) fn measure(
        &mut self,
        skin: &[Point],
        contacts: &[Contact],
        frame: &GuideFrame,
        gain: f32,
    ) {
        self.pressed.scale(self.left_of_pressed());
        self.find_pressed_parts(contacts);
        let mut guide = std::mem::take(&mut self.posed);
        self.place_guide(frame, &mut guide);
        self.compute_skin_losses(&guide, frame);
        self.posed = guide;
        self.target_loss.copy_from_slice(&self.loss);
        self.compute_skin_losses(skin, frame);
        // What lies between the guide and the skin; and the loss without bulges: if only the remaining loss were spread each time, rough
        // components would accumulate.
        let bulges = self
            .bulge
            .iter()
            .zip(&self.folds.factors)
            .zip(&self.vertex_areas);
        let losses = self.loss.iter_mut().zip(&mut self.target_loss);
        let losses = losses.zip(&self.pressed_parts);
        for (((loss, between), part), ((bulge, fold_factor), area)) in losses.zip(bulges) {
            *between = part * (*loss - *between);
            *loss += bulge * fold_factor * area;
        }
        self.diffuse_losses();
        self.ask_for_bulges(gain);
        self.track_pressed_volume(skin, frame);
        self.measured_volume = self.pressed_volume;
    }

    /// Passes the bulges that restore the spread losses to the filters: relative to the change lengths, and those for contacts as lengths.
    fn ask_for_bulges(&mut self, gain: f32) {
        // Volume that is asked for but not given; and the area times change length of the vertices that can give more.
        let (mut cut_off, mut all) = (0.0, 0.0);
        for vertex in 0..self.loss.len() {
            let pressed = self.target_loss[vertex];
            let asked = self.loss[vertex] - pressed - self.predicted[vertex];
            let (length, bound) = (self.wide_length[vertex], self.ratio_bound(vertex));
            // Where the change length is small, the ratio is reduced.
            let ratio = (asked / (length + self.min_change_length)).clamp(-bound, bound);
            let area = f64::from(self.vertex_areas[vertex] * self.folds.factors[vertex]);
            cut_off += area * f64::from(asked - ratio * length);
            if ratio.abs() < bound {
                all += area * f64::from(length + self.min_change_length);
            }
            self.loss[vertex] = ratio;
            self.pressed.measure(vertex, pressed, gain);
        }
        // Other vertices restore the volume that was cut off, in proportion to their change lengths.
        let share = (cut_off / all.max(f64::MIN_POSITIVE)) as f32;
        let share = if share.is_finite() { share } else { 0.0 };
        for vertex in 0..self.loss.len() {
            let bound = self.ratio_bound(vertex);
            let ratio = (self.loss[vertex] + share).clamp(-bound, bound);
            self.ratio.measure(vertex, ratio, gain);
        }
    }

    /// Largest ratio of a vertex: more would exceed the largest bulge.
    fn ratio_bound(&self, vertex: usize) -> f32 {
        let known = self.wide_length[vertex] + self.min_change_length;
        MAX_RATIO.min(self.max_bulge[vertex] / known)
    }

    /// Marks the vertices that contacts press, and with less weight those around them.
    fn find_pressed_parts(&mut self, contacts: &[Contact]) {
        self.pressed_parts.fill(0.0);
        for contact in contacts.iter().filter(|contact| contact.load > 0.0) {
            for vertex in [contact.vertex].into_iter().chain(contact.corners) {
                self.pressed_parts[vertex as usize] = 1.0;
            }
        }
        self.folds.spread(&mut self.pressed_parts);
    }

    /// Measures the volume between guide and skin where contacts press.
    pub(in crate::methods::projective) fn track_pressed_volume(
        &mut self,
        skin: &[Point],
        frame: &GuideFrame,
    ) {
        let parts = self.pressed_parts.iter().enumerate();
        self.pressed_volume = parts
            .filter(|&(_, &part)| part > 0.0)
            .map(|(vertex, part)| {
                let guide = frame.apply_one(vertex, &(self.rest[vertex] + self.offset(vertex)));
                let normal = frame.rotation(vertex) * self.normals[vertex];
                part * self.vertex_areas[vertex] * normal.dot(&(guide - skin[vertex]))
            })
            .sum();
    }

    /// Writes the posed skin under the guide with its bulges.
    pub(super) fn place_guide(&self, frame: &GuideFrame, out: &mut [Point]) {
        out.par_iter_mut()
            .zip(&self.rest)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (out, rest))| {
                *out = frame.apply_one(vertex, &(rest + self.offset(vertex)));
            });
    }

    /// Computes the losses of a posed skin.
    fn compute_skin_losses(&mut self, skin: &[Point], frame: &GuideFrame) {
        self.at_rest.area_vectors_into(skin, &mut self.area_vectors);
        self.compute_losses(skin, |vertex, foot| {
            (frame.apply_one(vertex, foot), frame.volume_factor(vertex))
        });
        self.add_global_loss(skin, frame);
    }

    /// Converts both losses of volume to outward displacements that restore them.
    fn diffuse_losses(&mut self) {
        let Self {
            diffusion,
            loss,
            target_loss,
            diffusion_memory,
            vertex_areas,
            folds,
            ..
        } = self;
        let cells = Cells {
            areas: vertex_areas,
            fold_factors: &folds.factors,
        };
        let [memory, target_memory] = diffusion_memory;
        rayon::join(
            || cells.diffuse(diffusion, loss, memory),
            || cells.diffuse(diffusion, target_loss, target_memory),
        );
    }

    /// Adds the loss of the whole skin beyond that of its cones, distributed by change length.
    fn add_global_loss(&mut self, skin: &[Point], frame: &GuideFrame) {
        if !self.at_rest.closed {
            return;
        }
        let lost = self.at_rest.lost(skin, &self.area_vectors, frame);
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
    pub(super) fn compute_losses(
        &mut self,
        skin: &[Point],
        pose: impl Fn(usize, &Point) -> (Point, f32) + Sync,
    ) {
        let Self {
            triangles_of_vertex,
            feet,
            at_rest,
            area_vectors,
            loss,
            ..
        } = self;
        loss.par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, loss)| {
                let area = triangles_of_vertex.sum_at(vertex as u32, area_vectors);
                let (foot, volume_factor) = pose(vertex, &feet[vertex]);
                let cone = area.dot(&(skin[vertex] - foot)) / 3.0;
                *loss = at_rest.cones[vertex] * volume_factor - cone;
            });
    }
}

/// Buffers of one [`Cells::diffuse`].
pub(super) struct DiffusionMemory {
    solves: [SolveMemory; 2],
    fold_loss: Vec<f32>,
}

impl DiffusionMemory {
    pub(super) fn of([near, far]: &[Cholesky<f32>; 2], vertices: usize) -> Self {
        Self {
            solves: [near.memory(), far.memory()],
            fold_loss: vec![0.0; vertices],
        }
    }
}

/// Area and fold factor of every vertex.
#[derive(Clone, Copy)]
struct Cells<'a> {
    areas: &'a [f32],
    fold_factors: &'a [f32],
}

impl Cells<'_> {
    /// Converts losses of volume to outward displacements that restore it. `near` and `far` are the factored heat flows.
    fn diffuse(
        self,
        [near, far]: &[Cholesky<f32>; 2],
        loss: &mut [f32],
        memory: &mut DiffusionMemory,
    ) {
        let DiffusionMemory {
            solves: [near_memory, far_memory],
            fold_loss: in_folds,
        } = memory;
        near.solve_one(loss, near_memory);
        let mut fold_loss = 0.0;
        let cells = self.areas.iter().zip(self.fold_factors);
        for ((out, loss), (area, fold_factor)) in in_folds.iter_mut().zip(&*loss).zip(cells.clone())
        {
            *out = loss * area * (1.0 - fold_factor);
            fold_loss += *out;
        }
        far.solve_one(in_folds, far_memory);
        let reached: f32 = in_folds
            .iter()
            .zip(cells)
            .map(|(length, (area, fold_factor))| length * area * fold_factor)
            .sum();
        let share = (fold_loss / reached).clamp(1.0, MAX_FOLD_SHARE);
        if share.is_finite() {
            for (loss, length) in loss.iter_mut().zip(in_folds) {
                *loss += *length * share;
            }
        }
    }
}
