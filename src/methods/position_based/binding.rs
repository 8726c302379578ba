//! The constraint *bind to LBS* of Abu Rumman & Fratarcangeli: every vertex is pulled to its place under linear blend skinning.

use rayon::prelude::*;

use super::points::{Points, Vector, add, scaled, sub};
use crate::math::{Affine, Point};
use crate::stages::Subject;
use crate::weights::SkinWeights;

/// Vertices per parallel task at least.
const MIN_TASK: usize = 512;

/// Linear blend skinning of the simulated vertices.
pub(super) struct Binding {
    weights: SkinWeights,
    rest: Vec<Point>,
    joint_from_bind: Vec<Affine>,
    /// In the pose before, and in the current one.
    places: [Vec<Vector>; 2],
    /// Whether there is no pose before.
    is_new: bool,
    /// α̃ λ of every vertex; see `compliant.rs`.
    multipliers: Vec<Vector>,
}

impl Binding {
    pub(super) fn of(subject: &Subject) -> Self {
        let sim = subject.sim();
        let rest = sim.mesh.positions.clone();
        let joints = subject.character.skeleton.joints().iter();
        let inverse = |joint: &crate::rig::Joint| {
            let inverse = joint.world_from_bind.try_inverse();
            inverse.unwrap_or_else(Affine::identity)
        };
        let places: Vec<Vector> = rest.iter().map(|&p| p.into()).collect();
        Self {
            weights: subject.skin_weights().of_some(&sim.skin_from_sim),
            joint_from_bind: joints.map(inverse).collect(),
            multipliers: vec![[0.0; 3]; rest.len()],
            places: [places.clone(), places],
            is_new: true,
            rest,
        }
    }

    /// Sets the pose at the end of the next step. Vertices without weights keep their place.
    pub(super) fn place(&mut self, world_from_joint: &[Affine]) {
        let [before, now] = &mut self.places;
        std::mem::swap(before, now);
        let (weights, joint_from_bind) = (&self.weights, &self.joint_from_bind);
        now.par_iter_mut()
            .zip(&self.rest)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (out, rest))| {
                let rest64 = rest.cast::<f64>();
                let (mut sum, mut total) = (nalgebra::Vector3::zeros(), 0.0);
                for (joint, weight) in weights.of(vertex) {
                    let posed = world_from_joint[joint] * (joint_from_bind[joint] * rest64);
                    sum += posed.coords * f64::from(weight);
                    total += f64::from(weight);
                }
                *out = if total > 0.0 {
                    (sum / total).cast::<f32>().into()
                } else {
                    (*rest).into()
                };
            });
        if std::mem::take(&mut self.is_new) {
            before.clone_from(now);
        }
    }

    /// Forgets the multipliers.
    pub(super) fn begin(&mut self) {
        self.multipliers.fill([0.0; 3]);
    }

    /// The place of a vertex at the fraction `t` of the step.
    fn at(&self, vertex: usize, t: f32) -> Vector {
        let [before, now] = &self.places;
        add(before[vertex], scaled(sub(now[vertex], before[vertex]), t))
    }

    /// Plain: moves every vertex by the part `k` of its way.
    pub(super) fn sweep_plain(&self, points: &Points, inverse_masses: &[f32], t: f32, k: f32) {
        (0..self.rest.len())
            .into_par_iter()
            .with_min_len(MIN_TASK)
            .filter(|&vertex| inverse_masses[vertex] > 0.0)
            .for_each(|vertex| {
                let at = points.get(vertex as u32);
                let way = sub(self.at(vertex, t), at);
                points.set(vertex as u32, add(at, scaled(way, k)));
            });
    }

    /// With compliance: `masses` are w/α̃ of every vertex.
    pub(super) fn sweep_compliant(&mut self, points: &Points, masses: &[f32], t: f32) {
        let mut multipliers = std::mem::take(&mut self.multipliers);
        multipliers
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, own)| {
                let at = points.get(vertex as u32);
                let residual = add(sub(at, self.at(vertex, t)), *own);
                let step = scaled(residual, -1.0 / (1.0 + masses[vertex]));
                *own = add(*own, step);
                points.set(vertex as u32, add(at, scaled(step, masses[vertex])));
            });
        self.multipliers = multipliers;
    }

    /// Moves the points by the multipliers.
    pub(super) fn push(&self, points: &Points, masses: &[f32]) {
        self.multipliers
            .par_iter()
            .zip(masses)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (own, &mass))| {
                let at = points.get(vertex as u32);
                points.set(vertex as u32, add(at, scaled(*own, mass)));
            });
    }

    pub(super) fn multipliers(&self) -> &[Vector] {
        &self.multipliers
    }

    /// Sets the multipliers; without any, they are zero.
    pub(super) fn set_multipliers(&mut self, multipliers: &[Vector]) {
        self.begin();
        if multipliers.len() == self.multipliers.len() {
            self.multipliers.copy_from_slice(multipliers);
        }
    }

    /// The places in both poses.
    pub(super) fn save(&self) -> [Vec<Vector>; 2] {
        self.places.clone()
    }

    pub(super) fn restore(&mut self, places: &[Vec<Vector>; 2]) {
        for (own, saved) in self.places.iter_mut().zip(places) {
            own.clone_from(saved);
        }
        self.is_new = false;
    }
}
