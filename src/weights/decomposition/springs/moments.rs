//! What a spring can change about the distance to simulated frames, in a few numbers a frame.
//!
//! With e the rest that the driven rig leaves of a vertex, w its weight on the helper, z its place from the helper's centre, l the vector
//! from the spring's joint to the centre, and D = R − I of the spring's rotation, all turned into the helper's frame:
//!
//! ```text
//!     Σ |e − w D (z + l)|² − Σ |e|² = tr(D C Dᵀ) − 2 tr(Dᵀ G)     G = Σ w e (z + l)ᵀ     C = Σ w² (z + l)(z + l)ᵀ
//! ```

use nalgebra::Matrix3;
use rayon::prelude::*;

use super::super::frames::{deltas_of, moved};
use super::super::{Decomposition, SimulatedFrame};
use crate::math::{Affine, Point, Vec64, origin_of};
use crate::rig::{Pose, Trs};

/// A helper moves vertices by at least this weight.
const LEAST: f32 = 1e-3;

/// Sums over the vertices that a helper moves, in one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Moments {
    /// Σ w e.
    pub left: Vec64,
    /// Σ w e zᵀ.
    left_by_place: Matrix3<f64>,
    /// Σ w² z.
    place: Vec64,
    /// Σ w² z zᵀ.
    place_by_place: Matrix3<f64>,
    /// Σ w².
    mass: f64,
    /// Σ |e|².
    pub square: f64,
}

impl Moments {
    /// By how much a spring changes the square error: its rotation less the identity, and the vector from its joint to the centre.
    pub fn change(&self, rotation_less_one: &Matrix3<f64>, lever: &Vec64) -> f64 {
        let crossed = self.place * lever.transpose();
        let left = self.left_by_place + self.left * lever.transpose();
        let square = self.place_by_place
            + crossed
            + crossed.transpose()
            + lever * lever.transpose() * self.mass;
        (rotation_less_one * square).dot(rotation_less_one) - 2.0 * rotation_less_one.dot(&left)
    }
}

/// The vertices that a helper moves.
pub(super) struct Region {
    /// Index of the helper among the joints.
    pub joint: usize,
    vertices: Vec<(usize, f64)>,
    /// Sum of the weights.
    pub weight: f64,
}

impl Region {
    pub fn of(found: &Decomposition, helper: usize) -> Self {
        let joint = found.skeleton.len() - found.drivers.len() + helper;
        let own = |vertex: usize| {
            let weight = (found.weights.of(vertex))
                .find(|(bone, _)| *bone == joint)?
                .1;
            (weight > LEAST).then_some((vertex, f64::from(weight)))
        };
        let vertices: Vec<(usize, f64)> = (0..found.weights.len()).filter_map(own).collect();
        Self {
            joint,
            weight: vertices.iter().map(|(_, weight)| weight).sum(),
            vertices,
        }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Root mean square of the distances from a place, in the bind pose, weighted.
    pub fn radius(&self, bind: &[Point], centre: &Vec64) -> f64 {
        let square = |&(vertex, weight): &(usize, f64)| {
            (bind[vertex].coords.cast::<f64>() - centre).norm_squared() * weight
        };
        let sum: f64 = self.vertices.iter().map(square).sum();
        (sum / self.weight.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// The moments of frames whose helpers have these poses.
    pub fn moments(
        &self,
        found: &Decomposition,
        bind: &[Point],
        frames: &[SimulatedFrame],
        poses: &[Pose],
    ) -> Vec<Moments> {
        let of_frame = |(frame, pose): (&SimulatedFrame, &Pose)| {
            let world = found.skeleton.world_from_joint(pose);
            let deltas = deltas_of(&found.skeleton, &world);
            let (turn, centre) = frame_of(&world[self.joint]);
            let into = turn.inverse();
            let mut sums = Moments::default();
            for &(vertex, weight) in &self.vertices {
                let place: Vec64 = bind[vertex].coords.cast();
                let parts = found.weights.of(vertex);
                let blended: Vec64 = parts
                    .map(|(bone, w)| moved(&deltas[bone], &place) * f64::from(w))
                    .sum();
                let left = into * (frame.positions[vertex].coords.cast::<f64>() - blended);
                let place = into * (moved(&deltas[self.joint], &place) - centre);
                let heavy = place * (weight * weight);
                sums.left += left * weight;
                sums.left_by_place += left * weight * place.transpose();
                sums.place += heavy;
                sums.place_by_place += heavy * place.transpose();
                sums.mass += weight * weight;
                sums.square += left.norm_squared();
            }
            sums
        };
        frames.par_iter().zip(poses).map(of_frame).collect()
    }
}

/// Rotation and place of a joint.
pub(super) fn frame_of(world_from_joint: &Affine) -> (crate::math::Quat, Vec64) {
    let turn = Trs::from_affine(world_from_joint).rotation;
    (turn, origin_of(world_from_joint).coords)
}
