//! Helpers moved by the pose.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::frames::Frames;
use super::rows::Steps;
use super::{Decomposition, Fit};
use crate::math::{Affine, Quat, Vec64};
use crate::rig::{Pose, Trs};

/// Joints that drive a helper are no more than so many steps from its parent.
const REACH: usize = 3;
/// Weight of the squares of the coefficients against the mean square error of a frame.
const RIDGE: f64 = 1e-3;
/// A joint can be a helper's parent if it has this part of the weight of the helper's vertices.
const LEAST_PART: f64 = 0.05;
/// Numbers of a joint: the entries of its rotation.
pub(super) const PER_JOINT: usize = 9;
/// Rotation vector and translation.
pub(super) const OUTPUTS: usize = 6;

/// A helper's local transform as a linear function of the pose: of the entries of R − I, with R the rotations from rest of some joints.
#[derive(Debug, Clone, PartialEq)]
pub struct Driver {
    /// The joints, and their rotations at rest.
    pub(super) joints: Vec<(usize, Quat)>,
    /// What is subtracted from the numbers of a pose: their mean over the fitted frames.
    pub(super) mean: DVector<f64>,
    /// Output at the mean: a rotation vector, then a translation.
    pub(super) middle: [f64; OUTPUTS],
    /// A row per number, a column per output.
    pub(super) coefficients: DMatrix<f64>,
}

/// Joints, mean, middle and the rows of coefficients of a driver.
type FileNumbers<'a> = (&'a [(usize, Quat)], Vec<f32>, Vec<f32>, Vec<Vec<f32>>);

impl Driver {
    /// The helper's local transform in a pose.
    #[must_use]
    pub fn local(&self, pose: &Pose) -> Trs {
        self.local_by(|joint| pose.locals.get(joint).map(|local| local.rotation))
    }

    /// The helper's local transform at rest.
    pub(super) fn rest(&self) -> Trs {
        self.local_by(|_| None)
    }

    /// The helper's local transform for the local rotations of joints; those without one are at rest. Does not allocate.
    fn local_by(&self, rotation: impl Fn(usize) -> Option<Quat>) -> Trs {
        let mut outputs = self.middle;
        for (index, &(joint, rest)) in self.joints.iter().enumerate() {
            for (entry, value) in entries(rotation(joint), rest).into_iter().enumerate() {
                let row = index * PER_JOINT + entry;
                let off = value - self.mean[row];
                for (column, output) in outputs.iter_mut().enumerate() {
                    *output += off * self.coefficients[(row, column)];
                }
            }
        }
        let [rx, ry, rz, x, y, z] = outputs;
        Trs {
            rotation: Quat::from_scaled_axis(Vec64::new(rx, ry, rz)),
            ..Trs::at(Vec64::new(x, y, z))
        }
    }

    /// The entries of R − I of all joints.
    fn numbers(&self, rotation: impl Fn(usize) -> Option<Quat>) -> DVector<f64> {
        let all = (self.joints.iter()).flat_map(|&(joint, rest)| entries(rotation(joint), rest));
        DVector::from_iterator(self.joints.len() * PER_JOINT, all)
    }

    /// Joints, mean, middle and the rows of coefficients.
    pub(super) fn numbers_of_file(&self) -> FileNumbers<'_> {
        let single = |x: &f64| *x as f32;
        let rows = self.coefficients.row_iter();
        (
            &self.joints,
            self.mean.iter().map(single).collect(),
            self.middle.iter().map(single).collect(),
            rows.map(|row| row.iter().map(single).collect()).collect(),
        )
    }

    /// The driver of the same joints for other locals.
    pub(super) fn refitted(&self, poses: &[&Pose], locals: &[Trs]) -> Self {
        Self::fit(self.joints.clone(), poses, locals)
    }

    /// Fits by ridge regression to the locals of all frames.
    fn fit(joints: Vec<(usize, Quat)>, poses: &[&Pose], locals: &[Trs]) -> Self {
        let mut driver = Self {
            mean: DVector::zeros(joints.len() * PER_JOINT),
            middle: [0.0; OUTPUTS],
            coefficients: DMatrix::zeros(joints.len() * PER_JOINT, OUTPUTS),
            joints,
        };
        let count = poses.len() as f64;
        let mut inputs: Vec<DVector<f64>> = (poses.iter())
            .map(|pose| driver.numbers(|joint| pose.locals.get(joint).map(|l| l.rotation)))
            .collect();
        let outputs: Vec<[f64; OUTPUTS]> = (locals.iter())
            .map(|local| {
                let (turn, shift) = (local.rotation.scaled_axis(), local.translation);
                [turn.x, turn.y, turn.z, shift.x, shift.y, shift.z]
            })
            .collect();
        for (input, output) in inputs.iter().zip(&outputs) {
            driver.mean += input / count;
            (0..OUTPUTS).for_each(|i| driver.middle[i] += output[i] / count);
        }
        let numbers = driver.mean.len();
        let mut system = DMatrix::identity(numbers, numbers) * RIDGE;
        let mut right = DMatrix::zeros(numbers, OUTPUTS);
        for (input, output) in inputs.iter_mut().zip(&outputs) {
            *input -= &driver.mean;
            system.ger(1.0 / count, &*input, &*input, 1.0);
            for (column, (value, middle)) in output.iter().zip(driver.middle).enumerate() {
                right
                    .column_mut(column)
                    .axpy((value - middle) / count, &*input, 1.0);
            }
        }
        if let Some(factor) = system.cholesky() {
            driver.coefficients = factor.solve(&right);
        }
        driver
    }
}

/// The entries of R − I, by columns, with R the rotation of a joint from rest; 0 for a joint without a rotation.
pub(super) fn entries(rotation: Option<Quat>, rest: Quat) -> [f64; PER_JOINT] {
    let turn = rotation.map_or_else(Quat::identity, |now| now * rest.inverse());
    let matrix = turn.to_rotation_matrix().into_inner() - nalgebra::Matrix3::identity();
    std::array::from_fn(|i| matrix[i])
}

impl Decomposition {
    /// Adds the helpers, as the drivers move them, to the transforms of the given joints. `rotations` is reused; nothing is allocated
    /// from the second call on.
    pub fn add_driven(&self, rotations: &mut Vec<Quat>, world_from_joint: &mut Vec<Affine>) {
        let (joints, helpers) =
            (self.skeleton.joints()).split_at(self.skeleton.len() - self.drivers.len());
        rotations.clear();
        for (joint, world) in joints.iter().zip(&*world_from_joint) {
            let base = match joint.parent {
                Some(parent) => world_from_joint[parent] * joint.parent_from_base,
                None => joint.parent_from_base,
            };
            let local = base.try_inverse().unwrap_or_else(Affine::identity) * world;
            rotations.push(Trs::from_affine(&local).rotation);
        }
        for (helper, driver) in helpers.iter().zip(&self.drivers) {
            let local = driver.local_by(|joint| rotations.get(joint).copied());
            let base = match helper.parent {
                Some(parent) => world_from_joint[parent] * helper.parent_from_base,
                None => helper.parent_from_base,
            };
            world_from_joint.push(base * local.to_affine());
        }
    }
}

impl Fit<'_> {
    /// The drivers of all helpers, fitted to their transforms in these frames.
    pub(super) fn drivers(&self, frames: &Frames) -> Vec<Driver> {
        let steps = Steps::new(self.skeleton);
        let turns_all = self.joints_that_turn_all();
        let fit = |helper: usize| {
            let parent = self.helpers[helper].parent;
            let joints = (0..self.skeleton.len())
                .filter(|&joint| steps.between(parent, joint) <= REACH && !turns_all[joint])
                .map(|joint| (joint, self.skeleton.joints()[joint].rest.rotation))
                .collect();
            let locals: Vec<Trs> = (0..frames.len())
                .map(|f| self.local(frames, f, helper))
                .collect();
            Driver::fit(joints, &frames.poses, &locals)
        };
        (0..self.helpers.len()).into_par_iter().map(fit).collect()
    }

    /// The joints that can drive morphs, with their rotations at rest.
    pub(super) fn inputs(&self) -> Vec<(usize, Quat)> {
        let turns_all = self.joints_that_turn_all();
        let joints = self.skeleton.joints().iter().enumerate();
        joints
            .filter(|(joint, _)| !turns_all[*joint])
            .map(|(index, joint)| (index, joint.rest.rotation))
            .collect()
    }

    /// Joints that have no ancestor with weight: they turn the whole character, which must not change its shape.
    fn joints_that_turn_all(&self) -> Vec<bool> {
        let mut has_weight = vec![false; self.skeleton.len()];
        let joints = self.initial.joints.iter();
        joints.for_each(|&joint| has_weight[joint as usize] = true);
        let mut all: Vec<bool> = Vec::with_capacity(has_weight.len());
        for joint in self.skeleton.joints() {
            all.push(
                joint
                    .parent
                    .is_none_or(|parent| all[parent] && !has_weight[parent]),
            );
        }
        all
    }

    /// Makes each helper a child of the joint in whose frame it moves least, among those that have weight where it has.
    pub(super) fn choose_parents(&mut self) {
        let joints = self.skeleton.len();
        let mut mass = vec![vec![0.0; joints]; self.helpers.len()];
        for (vertex, row) in self.rows.iter().enumerate() {
            for &(bone, weight) in row.iter().filter(|(bone, _)| *bone as usize >= joints) {
                for (joint, part) in self.initial.of(vertex) {
                    mass[bone as usize - joints][joint] += weight * f64::from(part);
                }
            }
        }
        for (helper, mass) in mass.iter().enumerate() {
            let total: f64 = mass.iter().sum();
            let possible = (0..joints).filter(|&j| total > 0.0 && mass[j] >= LEAST_PART * total);
            let motions: Vec<(usize, f64)> =
                possible.map(|j| (j, self.motion_in(helper, j))).collect();
            let least = motions
                .iter()
                .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            if let Some(&(joint, _)) = least {
                self.helpers[helper].parent = joint;
            }
        }
    }

    /// Variance of the place of a helper, and of points around it, in the frame of a joint.
    fn motion_in(&self, helper: usize, joint: usize) -> f64 {
        let mut moved = self.helpers[helper].clone();
        moved.parent = joint;
        let bind = self.world_from_bind(&moved);
        let bone = self.skeleton.len() + helper;
        let length = (self.skeleton.joints()[joint]
            .world_from_bind
            .matrix()
            .column(0))
        .norm();
        let scale = [1.0, LEVER / length.max(f64::MIN_POSITIVE)];
        let values = (0..self.frames.len()).map(|frame| {
            let delta = super::frames::affine_of(&self.frames.deltas[frame][bone]);
            let local =
                Trs::from_affine(&(self.frames.joint_from_world(frame, joint) * delta * bind));
            let (shift, turn) = (local.translation * scale[0], local.rotation.scaled_axis());
            [shift, turn * self.size() * scale[1]]
        });
        let values: Vec<[Vec64; 2]> = values.collect();
        let count = values.len() as f64;
        let mean = [0, 1].map(|i| values.iter().map(|v| v[i]).sum::<Vec64>() / count);
        let squares = values
            .iter()
            .map(|v| (v[0] - mean[0]).norm_squared() + (v[1] - mean[1]).norm_squared());
        squares.sum::<f64>() / count
    }

    /// Diagonal of the skin.
    fn size(&self) -> f64 {
        super::seeds::diagonal(&self.bind)
    }
}

/// Distance of points that show how a helper turns, as part of the size.
const LEVER: f64 = 0.05;
