//! A pose with cached world transforms, kept consistent while a solver rotates joints.

use crate::math::{Affine, Point64, Quat, Vec64, linear_part, origin_of};
use crate::rig::{Pose, Skeleton};

/// A skeleton in a pose.
#[derive(Debug, Clone)]
pub(in crate::rig) struct Figure<'a> {
    pub skeleton: &'a Skeleton,
    pub pose: Pose,
    pub world: Vec<Affine>,
}

impl<'a> Figure<'a> {
    pub fn new(skeleton: &'a Skeleton, pose: Pose) -> Self {
        let world = skeleton.world_from_joint(&pose);
        Self {
            skeleton,
            pose,
            world,
        }
    }

    /// Updates the world transforms of these joints (parents first).
    pub(crate) fn refresh(&mut self, joints: &[usize]) {
        for &joint in joints {
            self.world[joint] = self.base(joint) * self.pose.locals[joint].to_affine();
        }
    }

    pub(crate) fn refresh_all(&mut self) {
        self.skeleton
            .world_from_joint_into(&self.pose, &mut self.world);
    }

    /// The frame in which a joint's local transform is given.
    pub fn base(&self, joint: usize) -> Affine {
        let own = &self.skeleton.joints()[joint];
        own.parent.map_or(own.parent_from_base, |parent| {
            self.world[parent] * own.parent_from_base
        })
    }

    pub(crate) fn base_turn(&self, joint: usize) -> Quat {
        rotation_of(&self.base(joint))
    }

    pub fn place(&self, joint: usize) -> Point64 {
        origin_of(&self.world[joint])
    }

    pub fn point(&self, joint: usize, local: &Point64) -> Point64 {
        self.world[joint] * local
    }

    pub fn is_finite(&self) -> bool {
        self.pose.locals.iter().all(|local| {
            local
                .rotation
                .coords
                .iter()
                .chain(local.translation.iter())
                .all(|c| c.is_finite())
        })
    }
}

/// The rotation of a transform, from its normalised axes; shear is ignored, and for a mirroring
/// transform the X axis is negated.
pub(in crate::rig) fn rotation_of(transform: &Affine) -> Quat {
    let mut axes = linear_part(transform);
    let mirrored = axes.determinant() < 0.0;
    for axis in 0..3 {
        let length = axes.column(axis).norm();
        let length = if length > 1e-300 { length } else { 1.0 };
        axes.column_mut(axis).unscale_mut(if mirrored && axis == 0 {
            -length
        } else {
            length
        });
    }
    let quat = Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(axes));
    Quat::try_new(quat.into_inner(), 1e-12).unwrap_or_else(Quat::identity)
}

/// The smallest rotation from one unit direction to another; for opposite directions about `axis`.
pub(super) fn swing(from: &Vec64, to: &Vec64, axis: &Vec64) -> Quat {
    Quat::rotation_between(from, to).unwrap_or_else(|| {
        let across = axis - from * axis.dot(from);
        match nalgebra::Unit::try_new(across, 1e-9) {
            Some(across) => Quat::from_axis_angle(&across, std::f64::consts::PI),
            None => Quat::identity(),
        }
    })
}

/// Rotation about a unit axis.
pub(super) fn about(axis: &Vec64, angle: f64) -> Quat {
    Quat::new(axis * angle)
}

/// The rotation that maps one pair of perpendicular unit vectors to another.
pub(super) fn frame_turn(from: [&Vec64; 2], to: [&Vec64; 2]) -> Quat {
    let frame = |[x, y]: [&Vec64; 2]| nalgebra::Matrix3::from_columns(&[*x, *y, x.cross(y)]);
    let turn = frame(to) * frame(from).transpose();
    Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(turn))
}

/// The normalised part of `vector` perpendicular to the unit `axis`.
pub(super) fn across(vector: &Vec64, axis: &Vec64) -> Option<Vec64> {
    (vector - axis * vector.dot(axis)).try_normalize(1e-9)
}
