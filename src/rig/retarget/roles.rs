//! Assigns roles to the joints of a skeleton: by names, otherwise by topology.

use std::collections::{BTreeMap, BTreeSet};

use super::role::{Digit, NamedRole, Role, Side, role_of_name};
use super::topology;
use crate::rig::Skeleton;

/// Joints by role, parents first. Only chain roles have more than one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JointRoles {
    of: BTreeMap<Role, Vec<usize>>,
}

impl JointRoles {
    /// Determines the roles of a skeleton.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        let mut roles = Self::by_names(skeleton);
        roles.drop_detached(skeleton);
        if !roles.is_body() {
            let found = topology::body(skeleton, &roles);
            let named: BTreeSet<usize> = roles.of.values().flatten().copied().collect();
            for (role, mut joints) in found {
                // Roles from names are kept, except for the hips, which may be named like the first
                // torso joint.
                joints.retain(|joint| role == Role::Hips || !named.contains(joint));
                if !joints.is_empty() {
                    roles.of.entry(role).or_insert(joints);
                }
            }
            roles.drop_detached(skeleton);
        }
        if !roles.of.contains_key(&Role::Hips) {
            roles.find_hips(skeleton);
        }
        roles.part_column(skeleton);
        roles
    }

    /// Roles of a lone arm or leg whose names have no side, as if they were those of a left one; by names only.
    #[must_use]
    pub(crate) fn of_lone_limb(skeleton: &Skeleton) -> Self {
        let mut roles = Self::named(skeleton, |name| {
            role_of_name(name).or_else(|| role_of_name(&format!("{name}.L")))
        });
        roles.drop_detached(skeleton);
        roles
    }

    /// The joints of a role.
    #[must_use]
    pub fn joints(&self, role: Role) -> &[usize] {
        self.of.get(&role).map_or(&[], Vec::as_slice)
    }

    /// The first joint of a role.
    #[must_use]
    pub fn first(&self, role: Role) -> Option<usize> {
        self.joints(role).first().copied()
    }

    /// Roles with at least one joint.
    pub fn iter(&self) -> impl Iterator<Item = (Role, &[usize])> {
        self.of
            .iter()
            .map(|(role, joints)| (*role, joints.as_slice()))
    }

    /// Whether hips, both legs and both arms are determined.
    fn is_body(&self) -> bool {
        let limbs = Side::BOTH.into_iter().flat_map(|side| {
            [
                Role::Thigh(side),
                Role::Shin(side),
                Role::UpperArm(side),
                Role::Forearm(side),
            ]
        });
        limbs
            .chain([Role::Hips])
            .all(|role| self.of.contains_key(&role))
    }

    fn by_names(skeleton: &Skeleton) -> Self {
        Self::named(skeleton, role_of_name)
    }

    fn named(skeleton: &Skeleton, role_of: impl Fn(&str) -> Option<NamedRole>) -> Self {
        let mut named: BTreeMap<Role, Vec<(usize, String)>> = BTreeMap::new();
        for (joint, name) in skeleton
            .joints()
            .iter()
            .map(|joint| joint.name.as_str())
            .enumerate()
        {
            if let Some(NamedRole { role, key }) = role_of(name) {
                named.entry(role).or_default().push((joint, key));
            }
        }
        for side in Side::BOTH {
            let legs = [
                Role::Thigh(side),
                Role::Shin(side),
                Role::Foot(side),
                Role::Toe(side),
            ];
            let arms = [Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)];
            shoulder_is_arm(&mut named, side);
            spread(&mut named, Role::Shin(side), &legs);
            spread(&mut named, Role::UpperArm(side), &arms);
            gather_fingers(&mut named, side, skeleton);
        }
        let plain = named.into_iter().map(|(role, joints)| {
            let joints: Vec<usize> = joints.into_iter().map(|(joint, _)| joint).collect();
            (
                role,
                if role.is_chain() {
                    longest_chain(skeleton, &joints)
                } else {
                    joints[..1].to_vec()
                },
            )
        });
        let mut roles = Self {
            of: plain.collect(),
        };
        for finger in Side::BOTH
            .into_iter()
            .flat_map(|side| Digit::ALL.map(|digit| Role::Finger(side, digit)))
        {
            if let Some(joints) = roles.of.get_mut(&finger)
                && joints.len() == 4
                && joints
                    .last()
                    .is_some_and(|&last| skeleton.children(last).is_empty())
            {
                // The fourth joint of a finger is its tip.
                joints.pop();
            }
        }
        roles
    }

    /// A limb's joints are descendants of each other; a control beside the body is not.
    fn drop_detached(&mut self, skeleton: &Skeleton) {
        for side in Side::BOTH {
            let leg = [
                Role::Hips,
                Role::Thigh(side),
                Role::Shin(side),
                Role::Foot(side),
                Role::Toe(side),
            ];
            let arm = [
                Role::Clavicle(side),
                Role::UpperArm(side),
                Role::Forearm(side),
                Role::Hand(side),
            ];
            for limb in [&leg[..], &arm[..]] {
                let mut above: Option<usize> = None;
                for role in limb {
                    let Some(joint) = self.first(*role) else {
                        continue;
                    };
                    if above.is_none_or(|above| skeleton.is_below(joint, above)) {
                        above = Some(joint);
                    } else if *role == Role::Thigh(side) {
                        // A joint named hips that does not carry the legs is not the hips; their
                        // common ancestor is.
                        self.of.remove(&Role::Hips);
                        above = Some(joint);
                    } else {
                        self.of.remove(role);
                    }
                }
            }
        }
    }

    /// The nearest common ancestor of both thighs, or the first joint with children.
    fn find_hips(&mut self, skeleton: &Skeleton) {
        let thighs = Side::BOTH.map(|side| self.first(Role::Thigh(side)));
        let hips = match thighs {
            [Some(left), Some(right)] => skeleton
                .ancestors(left)
                .find(|&joint| skeleton.is_below(right, joint)),
            _ => (0..skeleton.len()).find(|&joint| skeleton.children(joint).len() > 1),
        };
        if let Some(hips) = hips {
            self.of.insert(Role::Hips, vec![hips]);
        }
    }

    /// The spine starts above the hips; a neck without a child is the head.
    fn part_column(&mut self, skeleton: &Skeleton) {
        if let (Some(hips), Some(spine)) = (self.first(Role::Hips), self.of.get_mut(&Role::Spine)) {
            spine.retain(|&joint| skeleton.is_below(joint, hips));
        }
        if !self.of.contains_key(&Role::Head)
            && let Some(neck) = self.of.get_mut(&Role::Neck)
            && neck.len() > 1
            && let Some(head) = neck.pop()
        {
            self.of.insert(Role::Head, vec![head]);
        }
        self.of.retain(|_, joints| !joints.is_empty());
    }
}

type Named = BTreeMap<Role, Vec<(usize, String)>>;

/// If a joint is called elbow, the last "shoulder" is the upper arm (and a preceding "collar" the
/// clavicle).
fn shoulder_is_arm(named: &mut Named, side: Side) {
    let no_arm = !named.contains_key(&Role::UpperArm(side));
    if let Some(shoulders) = named.get_mut(&Role::Clavicle(side))
        && no_arm
        && let Some(at) = shoulders.iter().rposition(|(_, key)| key == "shoulder")
    {
        let arm = shoulders.remove(at);
        if shoulders.is_empty() {
            named.remove(&Role::Clavicle(side));
        }
        named.insert(Role::UpperArm(side), vec![arm]);
    }
}

/// A limb whose joints share one name (`leg_1`, `leg_2`, …) is assigned in order; a single "leg" is
/// a thigh.
fn spread(named: &mut Named, role: Role, limb: &[Role]) {
    let Some(joints) = named.get(&role).cloned() else {
        return;
    };
    let free = limb
        .iter()
        .all(|other| *other == role || !named.contains_key(other));
    let first_missing = !named.contains_key(&limb[0]);
    let one_name = joints.iter().all(|(_, key)| *key == joints[0].1);
    if free && one_name && (joints.len() > 1 || first_missing) {
        named.remove(&role);
        for (role, joint) in limb.iter().zip(joints) {
            named.insert(*role, vec![joint]);
        }
    } else if first_missing && joints.len() > 1 {
        named.insert(limb[0], vec![joints[0].clone()]);
        named.insert(role, joints[1..].to_vec());
    } else if first_missing && role == limb[1] && !joints.is_empty() {
        named.remove(&role);
        named.insert(limb[0], joints);
    }
}

/// A finger joint below a joint for several fingers belongs to it, if the hand has no other
/// fingers.
fn gather_fingers(named: &mut Named, side: Side, skeleton: &Skeleton) {
    let Some(&(first, _)) = named
        .get(&Role::Finger(side, Digit::All))
        .and_then(|all| all.first())
    else {
        return;
    };
    let single = [Digit::Index, Digit::Middle, Digit::Ring, Digit::Little]
        .map(|digit| Role::Finger(side, digit));
    let present: Vec<Role> = single
        .into_iter()
        .filter(|role| named.contains_key(role))
        .collect();
    if let [only] = present[..]
        && named[&only]
            .iter()
            .all(|(joint, _)| skeleton.is_below(*joint, first))
    {
        let below = named.remove(&only).unwrap_or_default();
        named
            .entry(Role::Finger(side, Digit::All))
            .or_default()
            .extend(below);
    }
}

/// The longest chain of joints that are descendants of each other.
fn longest_chain(skeleton: &Skeleton, joints: &[usize]) -> Vec<usize> {
    // The spine's length is bounded.
    let joints = &joints[..joints.len().min(100)];
    let chain_to = |&last: &usize| -> Vec<usize> {
        joints
            .iter()
            .copied()
            .filter(|&joint| joint == last || skeleton.is_below(last, joint))
            .collect()
    };
    let mut best: Vec<usize> = Vec::new();
    for chain in joints.iter().map(chain_to) {
        if chain.len() > best.len() {
            best = chain;
        }
    }
    best.sort_unstable();
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
        let made: Vec<_> = joints
            .iter()
            .enumerate()
            .map(|(i, (name, parent))| {
                (
                    (*name).to_owned(),
                    *parent,
                    Point64::new(0.0, i as f64, 0.0),
                )
            })
            .collect();
        Skeleton::from_positions(&made).unwrap()
    }

    #[test]
    fn shoulder_is_the_upper_arm_if_there_is_an_elbow() {
        let poser = [
            ("Hips", None),
            ("Chest", Some(0)),
            ("LeftCollar", Some(1)),
            ("LeftShoulder", Some(2)),
            ("LeftElbow", Some(3)),
        ];
        let roles = JointRoles::by_names(&skeleton(&poser));
        assert_eq!(roles.first(Role::Clavicle(Side::Left)), Some(2));
        assert_eq!(roles.first(Role::UpperArm(Side::Left)), Some(3));
        assert_eq!(roles.first(Role::Forearm(Side::Left)), Some(4));
        let mixamo = [
            ("Hips", None),
            ("Spine", Some(0)),
            ("LeftShoulder", Some(1)),
            ("LeftArm", Some(2)),
            ("LeftForeArm", Some(3)),
        ];
        let roles = JointRoles::by_names(&skeleton(&mixamo));
        assert_eq!(roles.first(Role::Clavicle(Side::Left)), Some(2));
        assert_eq!(roles.first(Role::UpperArm(Side::Left)), Some(3));
    }

    #[test]
    fn limbs_with_one_name_are_assigned_in_order() {
        let names = [
            ("torso_1", None),
            ("arm_joint_L_4", Some(0)),
            ("arm_joint_L_3", Some(1)),
            ("arm_joint_L_2", Some(2)),
            ("LeftLeg", Some(0)),
        ];
        let roles = JointRoles::by_names(&skeleton(&names));
        assert_eq!(roles.first(Role::UpperArm(Side::Left)), Some(1));
        assert_eq!(roles.first(Role::Forearm(Side::Left)), Some(2));
        assert_eq!(roles.first(Role::Hand(Side::Left)), Some(3));
        assert_eq!(roles.first(Role::Thigh(Side::Left)), Some(4));
    }
}
