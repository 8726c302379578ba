//! A skeleton in a pose: positions, rotations, and the body's directions.

use super::mapping::{Link, SignedAxis};
use super::role::{Role, Side};
use crate::math::{Affine, Quat, Vec64, origin_of};
use crate::rig::{Pose, Skeleton, Trs};

/// World transforms of all joints.
#[derive(Debug, Clone, Default)]
pub(super) struct Stance {
    pub places: Vec<Vec64>,
    pub turns: Vec<Quat>,
}

/// Joints that determine the body's directions: the first joint of each role, on one of the two
/// skeletons.
#[derive(Debug, Clone, Default)]
pub(super) struct Landmarks {
    of: std::collections::BTreeMap<Role, Vec<usize>>,
}

impl Stance {
    pub(crate) fn of_pose(skeleton: &Skeleton, pose: &Pose) -> Self {
        Self::of_world(&skeleton.world_from_joint(pose))
    }

    pub(crate) fn of_world(world: &[Affine]) -> Self {
        Self {
            places: world.iter().map(|w| origin_of(w).coords).collect(),
            turns: world.iter().map(|w| Trs::from_affine(w).rotation).collect(),
        }
    }

    /// The same in other axes.
    pub fn turned(&self, turn: &Quat) -> Self {
        Self {
            places: self.places.iter().map(|p| turn * p).collect(),
            turns: self.turns.iter().map(|q| turn * q).collect(),
        }
    }

    pub fn is_finite(&self) -> bool {
        self.places.iter().all(|p| p.iter().all(|c| c.is_finite()))
            && self
                .turns
                .iter()
                .all(|q| q.coords.iter().all(|c| c.is_finite()))
    }
}

impl Landmarks {
    pub fn of<'a>(links: impl Iterator<Item = (&'a Link, &'a [usize])>) -> Self {
        Self {
            of: links
                .filter_map(|(link, joints)| Some((link.role?, joints.to_vec())))
                .collect(),
        }
    }

    pub fn joints(&self, role: Role) -> &[usize] {
        self.of.get(&role).map_or(&[], Vec::as_slice)
    }

    pub fn place(&self, stance: &Stance, role: Role) -> Option<Vec64> {
        self.joints(role).first().map(|&joint| stance.places[joint])
    }

    /// The midpoint of a role's two joints.
    pub fn middle(&self, stance: &Stance, role: impl Fn(Side) -> Role) -> Option<Vec64> {
        Some((self.place(stance, role(Side::Left))? + self.place(stance, role(Side::Right))?) / 2.0)
    }

    /// From right to left.
    fn across(&self, stance: &Stance, role: impl Fn(Side) -> Role) -> Option<Vec64> {
        unit(self.place(stance, role(Side::Left))? - self.place(stance, role(Side::Right))?)
    }

    /// From the hips upwards.
    pub fn up(&self, stance: &Stance) -> Option<Vec64> {
        let from = self
            .middle(stance, Role::Thigh)
            .or_else(|| self.place(stance, Role::Hips))?;
        let tops = [
            self.middle(stance, Role::UpperArm),
            self.place(stance, Role::Neck),
            self.place(stance, Role::Head),
            self.joints(Role::Spine)
                .last()
                .map(|&joint| stance.places[joint]),
        ];
        tops.into_iter().flatten().find_map(|top| unit(top - from))
    }

    /// The rotation that maps X, Y, Z to the body's left, up and front. `vertical` is used as up if
    /// the body is approximately upright.
    pub fn frame(&self, stance: &Stance, vertical: &Vec64) -> Option<Quat> {
        let measured = self.up(stance)?;
        let up = if measured.dot(vertical) > 0.8 {
            *vertical
        } else {
            measured
        };
        let left = match (
            self.across(stance, Role::Thigh),
            self.across(stance, Role::UpperArm),
        ) {
            (Some(hips), Some(arms)) if hips.dot(&arms) > 0.0 => hips + arms,
            (Some(hips), _) => hips,
            (None, arms) => arms?,
        };
        let forward = unit(left.cross(&up))?;
        let left = up.cross(&forward);
        Some(Quat::from_rotation_matrix(
            &nalgebra::Rotation3::from_matrix_unchecked(nalgebra::Matrix3::from_columns(&[
                left, up, forward,
            ])),
        ))
    }

    /// Similarity to a standing person, −1 to 1, and the score of the worst feature.
    pub(crate) fn portrait(&self, stance: &Stance, vertical: &Vec64) -> (f64, f64) {
        let Some(frame) = self.frame(stance, vertical) else {
            return (-1.0, -1.0);
        };
        let [left, up, front] = [Vec64::x(), Vec64::y(), Vec64::z()].map(|axis| frame * axis);
        let mut terms = Vec::new();
        terms.extend(self.up(stance).map(|own| own.dot(&up)));
        terms.extend(
            self.across(stance, Role::UpperArm)
                .map(|arms| arms.dot(&left)),
        );
        for side in Side::BOTH {
            let bone =
                |from: Role, to: Role| unit(self.place(stance, to)? - self.place(stance, from)?);
            let (thigh, shin) = (
                bone(Role::Thigh(side), Role::Shin(side)),
                bone(Role::Shin(side), Role::Foot(side)),
            );
            terms.extend(thigh.map(|thigh| -thigh.dot(&up)));
            terms.extend(shin.map(|shin| -shin.dot(&up)));
            let (upper, fore) = (
                bone(Role::UpperArm(side), Role::Forearm(side)),
                bone(Role::Forearm(side), Role::Hand(side)),
            );
            if let (Some(upper), Some(fore)) = (upper, fore) {
                terms.push(upper.dot(&fore));
                // Neither to the front nor to the back, nor up.
                terms.push(1.0 - upper.dot(&front).powi(2) * 1.2);
                terms.push(1.0 - upper.dot(&up).max(0.0));
            }
        }
        let worst = terms.iter().copied().fold(1.0, f64::min);
        (terms.iter().sum::<f64>() / terms.len().max(1) as f64, worst)
    }
}

pub(super) fn unit(vector: Vec64) -> Option<Vec64> {
    vector.try_normalize(1e-9)
}

/// The smallest rotation from one direction to another; a half turn is about `axis`.
pub(super) fn swing(from: &Vec64, to: &Vec64, axis: &Vec64) -> Quat {
    Quat::rotation_between(from, to).unwrap_or_else(|| {
        let across = axis - from * (axis.dot(from) / from.norm_squared().max(1e-300));
        let across =
            unit(across).unwrap_or_else(|| from.cross(&Vec64::new(0.31, 0.57, 0.76)).normalize());
        Quat::from_axis_angle(&nalgebra::Unit::new_unchecked(across), std::f64::consts::PI)
    })
}

/// The angle about `axis` that rotates the perpendicular part of `from` onto that of `to`, if both
/// are non-zero.
pub(super) fn twist_angle(axis: &Vec64, from: &Vec64, to: &Vec64) -> Option<f64> {
    let across = |v: &Vec64| unit(v - axis * v.dot(axis));
    let (from, to) = (across(from)?, across(to)?);
    Some(axis.dot(&from.cross(&to)).atan2(from.dot(&to)))
}

pub(super) fn about(axis: &Vec64, angle: f64) -> Quat {
    Quat::new(axis * angle)
}

impl SignedAxis {
    pub(super) fn vector(self) -> Vec64 {
        match self {
            Self::X => Vec64::x(),
            Self::Y => Vec64::y(),
            Self::Z => Vec64::z(),
            Self::MinusX => -Vec64::x(),
            Self::MinusY => -Vec64::y(),
            Self::MinusZ => -Vec64::z(),
        }
    }

    /// The axis nearest to a direction.
    pub(super) fn nearest(direction: &Vec64) -> Self {
        let all = [
            Self::Y,
            Self::Z,
            Self::X,
            Self::MinusY,
            Self::MinusZ,
            Self::MinusX,
        ];
        all.into_iter()
            .max_by(|a, b| {
                a.vector()
                    .dot(direction)
                    .total_cmp(&b.vector().dot(direction))
            })
            .unwrap_or(Self::Y)
    }

    /// The smallest axis permutation that maps this axis to another.
    pub(super) fn turn_to(self, other: Self) -> Quat {
        swing(&self.vector(), &other.vector(), &Vec64::x())
    }
}
