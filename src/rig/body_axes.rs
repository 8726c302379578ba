//! The axes of a body at rest: left, up and front, from its legs and what is above or before them.

use super::retarget::{JointRoles, Role, Side};
use crate::math::{Affine, Vec64, origin_of};

/// A thigh whose direction, dotted with that from the legs to the shoulders, is below this hangs away from the spine, as a person's does.
const HANGS_AWAY: f64 = -0.6;
/// Front legs point the way of the hind legs: at least this dot product of their directions.
const SAME_WAY: f64 = 0.3;
/// Vectors shorter than this, in units of the skeleton, have no direction.
const NO_LENGTH: f64 = 1e-12;

/// Axes of the body at rest, world space, unit vectors perpendicular to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyAxes {
    /// To the body's own left.
    pub left: Vec64,
    /// From the feet to the body.
    pub up: Vec64,
    /// The way that the body faces.
    pub front: Vec64,
    /// Whether it stands on four legs: its spine points to the front instead of up.
    pub four_legged: bool,
}

impl BodyAxes {
    /// From the legs and the shoulders, or else the head; `None` without two legs or anything above them.
    #[must_use]
    pub fn of(world: &[Affine], roles: &JointRoles) -> Option<Self> {
        let place = |role: Role| {
            let joint = roles.first(role)?;
            Some(origin_of(&world[joint]).coords)
        };
        let pair = |role: fn(Side) -> Role| {
            let [left, right] = Side::BOTH.map(|side| place(role(side)));
            Some([left?, right?])
        };
        let thighs = pair(Role::Thigh)?;
        let across = thighs[0] - thighs[1];
        let above = pair(Role::UpperArm)
            .map(|[a, b]| (a + b) / 2.0)
            .or_else(|| place(Role::Head))
            .or_else(|| place(Role::Neck))?;
        let left = unit(across)?;
        let spine = above - (thighs[0] + thighs[1]) / 2.0;
        let spine = unit(spine - left * left.dot(&spine))?;
        let bone = |upper: Role, lower: Role| unit(place(lower)? - place(upper)?);
        let four_legged = Side::BOTH.iter().all(|&side| {
            let thigh = bone(Role::Thigh(side), Role::Shin(side));
            let arm = bone(Role::UpperArm(side), Role::Forearm(side));
            thigh.is_some_and(|thigh| {
                thigh.dot(&spine) > HANGS_AWAY && arm.is_none_or(|arm| arm.dot(&thigh) > SAME_WAY)
            })
        });
        let [front, up] = if four_legged {
            [spine, spine.cross(&left)]
        } else {
            [left.cross(&spine), spine]
        };
        Some(Self {
            left,
            up,
            front,
            four_legged,
        })
    }

    /// Away from the middle of the body on one side.
    #[must_use]
    pub fn outward(&self, side: Side) -> Vec64 {
        match side {
            Side::Left => self.left,
            Side::Right => -self.left,
        }
    }
}

fn unit(vector: Vec64) -> Option<Vec64> {
    vector
        .try_normalize(NO_LENGTH)
        .filter(|unit| unit.iter().all(|c| c.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;
    use crate::rig::Skeleton;

    fn axes(joints: &[(&str, usize, [f64; 3])]) -> BodyAxes {
        let joints: Vec<_> = joints
            .iter()
            .enumerate()
            .map(|(index, (name, parent, at))| {
                let parent = (index > 0).then_some(*parent);
                ((*name).to_owned(), parent, Point64::from(*at))
            })
            .collect();
        let skeleton = Skeleton::from_positions(&joints).unwrap();
        let world = skeleton.world_from_joint(&skeleton.rest_pose());
        BodyAxes::of(&world, &JointRoles::of(&skeleton)).unwrap()
    }

    #[test]
    fn a_person_stands_and_an_animal_looks_along_its_spine() {
        let person = axes(&[
            ("hips", 0, [0.0, 1.0, 0.0]),
            ("thigh.L", 0, [0.1, 0.95, 0.0]),
            ("shin.L", 1, [0.1, 0.5, 0.0]),
            ("thigh.R", 0, [-0.1, 0.95, 0.0]),
            ("shin.R", 3, [-0.1, 0.5, 0.0]),
            ("spine", 0, [0.0, 1.3, 0.0]),
            ("head", 5, [0.0, 1.6, 0.05]),
        ]);
        assert!(!person.four_legged);
        assert!((person.left - Vec64::x()).norm() < 1e-9);
        assert!(person.front.z > 0.99 && person.up.y > 0.99);
        let hanging = [
            ("hips", 0, [0.0, 0.6, -0.3]),
            ("thigh.L", 0, [0.1, 0.6, -0.3]),
            ("shin.L", 1, [0.1, 0.3, -0.25]),
            ("thigh.R", 0, [-0.1, 0.6, -0.3]),
            ("shin.R", 3, [-0.1, 0.3, -0.25]),
            ("spine", 0, [0.0, 0.6, 0.0]),
            ("upper_arm.L", 5, [0.1, 0.6, 0.3]),
            ("forearm.L", 6, [0.1, 0.3, 0.28]),
            ("upper_arm.R", 5, [-0.1, 0.6, 0.3]),
            ("forearm.R", 8, [-0.1, 0.3, 0.28]),
        ];
        let animal = axes(&hanging);
        assert!(animal.four_legged);
        assert!((animal.front - Vec64::z()).norm() < 1e-9);
        assert!((animal.up - Vec64::y()).norm() < 1e-9);
        // Someone who sits has legs to the front, too, but arms that hang.
        let mut sitting = hanging;
        for (name, _, at) in &mut sitting {
            *at = match *name {
                "shin.L" => [0.1, 0.6, 0.1],
                "shin.R" => [-0.1, 0.6, 0.1],
                "spine" => [0.0, 0.9, -0.3],
                "upper_arm.L" => [0.2, 1.1, -0.3],
                "forearm.L" => [0.2, 0.8, -0.3],
                "upper_arm.R" => [-0.2, 1.1, -0.3],
                "forearm.R" => [-0.2, 0.8, -0.3],
                _ => *at,
            };
        }
        assert!(!axes(&sitting).four_legged);
    }
}
