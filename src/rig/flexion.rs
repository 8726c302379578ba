//! The way that joints bend, and which joint bends a limb.

use super::body_axes::BodyAxes;
use super::ik::{IkRig, any_across};
use super::limit_presets::{flex_axis, flex_of_hand};
use super::palm::Palm;
use super::rest_shape::RestShape;
use super::retarget::{JointRoles, Side};
use super::{Skeleton, Trs};
use crate::math::Vec64;

/// Sine of the least bend at rest that shows the way in which a joint bends.
const BENT: f64 = 0.1;

/// The axes about which the joints of a skeleton bend. Depends on the skeleton only.
#[derive(Debug, Clone, PartialEq)]
pub struct Flexion {
    axes: Vec<Vec64>,
    benders: Vec<usize>,
}

impl Flexion {
    /// Finds the axes from the limbs, the palms and the front of the body, or else from how bones are bent at rest.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        if skeleton.is_empty() {
            return Self {
                axes: Vec::new(),
                benders: Vec::new(),
            };
        }
        let (rest, rig) = (RestShape::new(skeleton), IkRig::of(skeleton));
        let roles = JointRoles::of(skeleton);
        let body = BodyAxes::of(&rest.world, &roles);
        let palms = Side::BOTH.map(|side| (side, Palm::of(&rest, &roles, side)));
        let mut in_hand = vec![None; skeleton.len()];
        for (role, joints) in roles.iter() {
            for &joint in joints {
                in_hand[joint] = flex_of_hand(&palms, role, joint);
            }
        }
        let axis = |joint: usize| {
            let at_rest = in_hand[joint]
                .or_else(|| flex_axis(&rest, &rig, joint, body.as_ref()))
                .or_else(|| axis_of_bend(&rest, joint))
                .unwrap_or_else(|| any_across(&rest.along(joint).unwrap_or_else(Vec64::y)));
            let bind = Trs::from_affine(&skeleton.joints()[joint].world_from_bind);
            let rest = Trs::from_affine(&rest.world[joint]);
            bind.rotation * (rest.rotation.inverse() * at_rest)
        };
        Self {
            axes: (0..skeleton.len()).map(axis).collect(),
            benders: (0..skeleton.len())
                .map(|joint| bender(&rest, &rig, joint))
                .collect(),
        }
    }

    /// The axis about which a joint bends, unit vector in the bind pose: a positive rotation bends it.
    #[must_use]
    pub fn axis(&self, joint: usize) -> Vec64 {
        self.axes.get(joint).copied().unwrap_or_else(Vec64::x)
    }

    /// The joint below whose bend moves what hangs at the limb of a joint: the elbow for the upper arm, also where joints that twist the arm
    /// are between them. The joint itself where there is none below.
    #[must_use]
    pub fn bender(&self, joint: usize) -> usize {
        self.benders.get(joint).copied().unwrap_or(joint)
    }
}

fn axis_of_bend(rest: &RestShape<'_>, joint: usize) -> Option<Vec64> {
    let parent = rest.skeleton.joints()[joint].parent?;
    let (before, along) = (rest.direction(parent, joint)?, rest.along(joint)?);
    before.cross(&along).try_normalize(BENT)
}

fn bender(rest: &RestShape<'_>, rig: &IkRig, joint: usize) -> usize {
    // A bone belongs to a limb if it lies between two of its joints.
    let between = |top: usize, end: usize| {
        let mut inside = rest
            .skeleton
            .ancestors(end)
            .take_while(|&above| above != top);
        inside.any(|above| above == joint) || joint == top
    };
    for limb in rig.limbs() {
        for [top, end] in [[limb.upper, limb.lower], [limb.lower, limb.end]] {
            if between(top, end) {
                return end;
            }
        }
    }
    let far = |child: &usize| (rest.place(*child) - rest.place(joint)).norm();
    let children = rest.skeleton.children(joint).iter().copied();
    children
        .rev()
        .max_by(|a, b| far(a).total_cmp(&far(b)))
        .unwrap_or(joint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    fn skeleton(joints: &[(&str, Option<usize>, [f64; 3])]) -> Skeleton {
        let joints: Vec<_> = joints
            .iter()
            .map(|(name, parent, at)| ((*name).to_owned(), *parent, Point64::from(*at)))
            .collect();
        Skeleton::from_positions(&joints).expect("a tree")
    }

    #[test]
    fn elbows_bend_to_the_front_and_knees_to_the_back() {
        let skeleton = skeleton(&[
            ("hips", None, [0.0, 1.0, 0.0]),
            ("thigh.L", Some(0), [0.1, 0.95, 0.0]),
            ("shin.L", Some(1), [0.1, 0.5, 0.0]),
            ("foot.L", Some(2), [0.1, 0.1, 0.0]),
            ("thigh.R", Some(0), [-0.1, 0.95, 0.0]),
            ("shin.R", Some(4), [-0.1, 0.5, 0.0]),
            ("foot.R", Some(5), [-0.1, 0.1, 0.0]),
            ("spine", Some(0), [0.0, 1.4, 0.0]),
            ("upper_arm.L", Some(7), [0.2, 1.4, 0.0]),
            ("arm_twist.L", Some(8), [0.3, 1.4, 0.0]),
            ("forearm.L", Some(9), [0.5, 1.4, 0.0]),
            ("hand.L", Some(10), [0.8, 1.4, 0.0]),
            ("upper_arm.R", Some(7), [-0.2, 1.4, 0.0]),
            ("forearm.R", Some(12), [-0.5, 1.4, 0.0]),
            ("hand.R", Some(13), [-0.8, 1.4, 0.0]),
        ]);
        let flexion = Flexion::of(&skeleton);
        // Where a bone goes as it bends.
        let goes = |joint: usize, along: Vec64| flexion.axis(joint).cross(&along);
        for (joint, along) in [(10, Vec64::x()), (13, -Vec64::x())] {
            assert!(goes(joint, along).z > 0.99, "{joint}");
        }
        for joint in [2, 5] {
            assert!(goes(joint, -Vec64::y()).z < -0.99, "{joint}");
        }
        // Past the joint that twists the arm.
        let benders = [8, 9, 10, 12, 1, 2].map(|joint| flexion.bender(joint));
        assert_eq!(benders, [10, 10, 11, 13, 2, 3]);
        assert_eq!(flexion.bender(3), 3, "a leaf");
    }

    #[test]
    fn a_chain_without_a_body_bends_on_as_it_is_bent() {
        let skeleton = skeleton(&[
            ("a", None, [0.0, 0.0, 0.0]),
            ("b", Some(0), [1.0, 0.0, 0.0]),
            ("c", Some(1), [1.8, 0.6, 0.0]),
            ("d", Some(2), [2.0, 1.6, 0.0]),
            ("e", Some(3), [2.0, 2.6, 0.0]),
        ]);
        let flexion = Flexion::of(&skeleton);
        assert!(flexion.axis(1).z > 0.99 && flexion.axis(2).z > 0.99);
        let one = self::skeleton(&[("a", None, [0.0; 3])]);
        assert!((Flexion::of(&one).axis(0).norm() - 1.0).abs() < 1e-12);
    }
}
