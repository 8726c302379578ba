//! Determines roles from a skeleton's topology, for joints without informative names.
//!
//! A body is a joint with two equally long limbs below it and a column above it that ends in two
//! more limbs and a head. Below and above are determined from the relative positions of the two
//! pairs of limbs in the bind pose.

use super::role::{Role, Side};
use super::roles::JointRoles;
use crate::math::Vec64;
use crate::rig::Skeleton;

/// With this many limbs at one joint it is not the hips of a body…
const MANY_LEGS: usize = 6;
/// …if they are as long as this part of the longest pair; the chains of a skirt are shorter.
const MANY_LEGS_LENGTH: f64 = 0.75;

/// A path from a joint to its farthest leaf.
#[derive(Debug, Clone)]
struct Branch {
    joints: Vec<usize>,
    length: f64,
    end: Vec64,
}

/// Roles from topology. `known` are the roles from names; their sides are kept.
pub(super) fn body(skeleton: &Skeleton, known: &JointRoles) -> Vec<(Role, Vec<usize>)> {
    let places: Vec<Vec64> = (0..skeleton.len())
        .map(|joint| skeleton.bind_position(joint).coords)
        .collect();
    let Some((hips, legs)) = find_legs(skeleton, &places, known) else {
        return Vec::new();
    };
    let mut found = vec![(Role::Hips, vec![hips])];
    let legs_down = legs.iter().map(|leg| leg.end - places[hips]).sum::<Vec64>() / 2.0;
    let column = skeleton
        .children(hips)
        .iter()
        .copied()
        .filter(|child| !legs.iter().any(|leg| leg.joints.contains(child)));
    let branches = column.map(|child| branch(skeleton, &places, child));
    let spine = branches
        .filter(|b| (b.end - places[hips]).dot(&legs_down) < 0.0)
        .max_by(|a, b| a.length.total_cmp(&b.length));
    let up = -legs_down;
    let left = left_of(&places, hips, &legs, &up);
    for leg in &legs {
        let side = side_of(skeleton, known, leg, &left, &places[hips]);
        let roles = [
            Role::Thigh(side),
            Role::Shin(side),
            Role::Foot(side),
            Role::Toe(side),
        ];
        found.extend(
            roles.into_iter().zip(
                long_from(&places, &leg.joints, 3)
                    .iter()
                    .map(|&joint| vec![joint]),
            ),
        );
    }
    let Some(spine) = spine else { return found };
    let Some((chest, arms)) = find_arms(skeleton, &places, &spine) else {
        return found;
    };
    let at = spine
        .joints
        .iter()
        .position(|&joint| joint == chest)
        .unwrap_or(0);
    found.push((Role::Spine, spine.joints[..=at].to_vec()));
    for arm in &arms {
        let side = side_of(skeleton, known, arm, &left, &places[chest]);
        let chain = long_from(&places, &arm.joints, 2);
        let before = arm
            .joints
            .iter()
            .take_while(|joint| Some(*joint) != chain.first())
            .last();
        found.extend(before.map(|&joint| (Role::Clavicle(side), vec![joint])));
        let roles = [Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)];
        found.extend(
            roles
                .into_iter()
                .zip(chain.iter().map(|&joint| vec![joint])),
        );
    }
    let above = skeleton
        .children(chest)
        .iter()
        .copied()
        .filter(|child| !arms.iter().any(|arm| arm.joints.contains(child)));
    let heads = above
        .map(|child| branch(skeleton, &places, child))
        .max_by(|a, b| (a.end.dot(&up)).total_cmp(&b.end.dot(&up)));
    if let Some(head) = heads {
        let has_tip = head.joints.len() > 2
            && skeleton.joints()[*head.joints.last().unwrap_or(&chest)]
                .name
                .ends_with("_end");
        let last = head.joints.len() - usize::from(has_tip) - 1;
        found.push((Role::Head, vec![head.joints[last]]));
        if last > 0 {
            found.push((Role::Neck, head.joints[..last].to_vec()));
        }
    }
    found
}

/// From a joint to its farthest leaf.
fn branch(skeleton: &Skeleton, places: &[Vec64], from: usize) -> Branch {
    // Children come after their parents: the farthest leaf below each joint is known when the joint
    // is reached.
    let mut below = vec![(0.0_f64, None); skeleton.len()];
    for joint in (from..skeleton.len()).rev() {
        if let Some(parent) = skeleton.joints()[joint].parent {
            let length = below[joint].0 + (places[joint] - places[parent]).norm();
            if length > below[parent].0 {
                below[parent] = (length, Some(joint));
            }
        }
    }
    let joints: Vec<usize> = std::iter::successors(Some(from), |&joint| below[joint].1).collect();
    let above = skeleton.joints()[from]
        .parent
        .map_or(places[from], |parent| places[parent]);
    let end = joints.last().map_or(above, |&last| places[last]);
    Branch {
        length: below[from].0 + (places[from] - above).norm(),
        joints,
        end,
    }
}

/// Two limbs are a pair if they have similar dimensions.
fn is_pair(a: &Branch, b: &Branch) -> bool {
    let alike = (a.length - b.length).abs() <= 0.15 * a.length.max(b.length);
    alike && a.joints.len() == b.joints.len() && a.joints.len() >= 3
}

/// The joint with the longest pair of limbs as direct children, and another branch.
fn find_legs(
    skeleton: &Skeleton,
    places: &[Vec64],
    known: &JointRoles,
) -> Option<(usize, [Branch; 2])> {
    if let (Some(hips), [Some(left), Some(right)]) = (
        known.first(Role::Hips),
        Side::BOTH.map(|side| known.first(Role::Thigh(side))),
    ) {
        let of = |thigh: usize| branch(skeleton, places, thigh);
        return Some((hips, [of(left), of(right)]));
    }
    // The hips are the joint with both pairs below it; the first from the root with a pair and a
    // column of its own.
    (0..skeleton.len()).find_map(|joint| {
        let branches: Vec<Branch> = skeleton
            .children(joint)
            .iter()
            .map(|&child| branch(skeleton, places, child))
            .collect();
        let (i, j) = best_pair(&branches)?;
        // The legs of a spider are no legs of a body.
        let alike = branches.iter().filter(|branch| {
            branch.joints.len() >= 3 && branch.length >= MANY_LEGS_LENGTH * branches[i].length
        });
        if alike.count() >= MANY_LEGS {
            return None;
        }
        let column = branches
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i && *k != j)
            .map(|(_, b)| b.length)
            .fold(0.0, f64::max);
        (column > 0.3 * branches[i].length)
            .then(|| (joint, [branches[i].clone(), branches[j].clone()]))
    })
}

fn best_pair(branches: &[Branch]) -> Option<(usize, usize)> {
    let pairs = (0..branches.len()).flat_map(|i| (i + 1..branches.len()).map(move |j| (i, j)));
    let pairs = pairs
        .take(4096)
        .filter(|&(i, j)| is_pair(&branches[i], &branches[j]));
    pairs.max_by(|a, b| branches[a.0].length.total_cmp(&branches[b.0].length))
}

/// The joint of the column at which the arms branch.
fn find_arms(
    skeleton: &Skeleton,
    places: &[Vec64],
    spine: &Branch,
) -> Option<(usize, [Branch; 2])> {
    // The column was followed to its farthest leaf, which may be a hand: check every joint on the
    // path.
    spine.joints.iter().find_map(|&joint| {
        let branches: Vec<Branch> = skeleton
            .children(joint)
            .iter()
            .map(|&child| branch(skeleton, places, child))
            .collect();
        let (i, j) = best_pair(&branches)?;
        Some((joint, [branches[i].clone(), branches[j].clone()]))
    })
}

/// The chain of joints that starts with a limb's longest `bones` consecutive bones.
fn long_from<'a>(places: &[Vec64], joints: &'a [usize], bones: usize) -> &'a [usize] {
    let bones = bones.min(2);
    let length = |at: usize| (places[joints[at + 1]] - places[joints[at]]).norm();
    let starts = 0..joints.len().saturating_sub(bones);
    // The shorter bone decides: upper and lower bone are both long.
    let score = |&start: &usize| {
        (start..start + bones)
            .map(length)
            .fold(f64::INFINITY, f64::min)
    };
    let best = starts
        .max_by(|a, b| score(a).total_cmp(&score(b)).then(b.cmp(a)))
        .unwrap_or(0);
    &joints[best..]
}

/// The character's left: across the hips, with the feet pointing to the front.
fn left_of(places: &[Vec64], hips: usize, legs: &[Branch; 2], up: &Vec64) -> Vec64 {
    let up = up.try_normalize(1e-12).unwrap_or_else(Vec64::y);
    let feet: Vec64 = legs
        .iter()
        .filter_map(|leg| {
            let run = long_from(places, &leg.joints, 2);
            let (ankle, tip) = (*run.get(2)?, *run.last()?);
            let foot = places[tip] - places[ankle];
            Some(foot - up * foot.dot(&up))
        })
        .sum();
    let across = legs[0].end - legs[1].end;
    let forward = feet
        .try_normalize(1e-9 * (places[hips] - legs[0].end).norm())
        .unwrap_or_else(Vec64::z);
    let left = up.cross(&forward);
    if left.dot(&across).abs() > 0.0 {
        left
    } else {
        Vec64::x()
    }
}

/// The side of a limb: by its names, otherwise by position.
fn side_of(
    skeleton: &Skeleton,
    known: &JointRoles,
    limb: &Branch,
    left: &Vec64,
    middle: &Vec64,
) -> Side {
    let named = known.iter().find_map(|(role, joints)| {
        let (Role::Thigh(side)
        | Role::Shin(side)
        | Role::Foot(side)
        | Role::Toe(side)
        | Role::Clavicle(side)
        | Role::UpperArm(side)
        | Role::Forearm(side)
        | Role::Hand(side)) = role
        else {
            return None;
        };
        let inside = joints.iter().any(|joint| {
            limb.joints.contains(joint)
                || limb
                    .joints
                    .first()
                    .is_some_and(|&top| skeleton.is_below(*joint, top))
        });
        inside.then_some(side)
    });
    named.unwrap_or(if (limb.end - middle).dot(left) >= 0.0 {
        Side::Left
    } else {
        Side::Right
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    /// A body without names, in a T-pose facing +Z.
    fn nameless() -> Skeleton {
        let p = Point64::new;
        let mut joints = vec![
            (None, p(0.0, 1.0, 0.0)),
            (Some(0), p(0.0, 1.2, 0.0)),
            (Some(1), p(0.0, 1.4, 0.0)),
            (Some(2), p(0.0, 1.6, 0.0)),
            (Some(3), p(0.0, 1.7, 0.0)),
        ];
        for side in [-1.0, 1.0] {
            let first = joints.len();
            joints.push((Some(2), p(0.05 * side, 1.5, 0.0)));
            for (i, x) in [0.2, 0.5, 0.75, 0.85].into_iter().enumerate() {
                joints.push((Some(first + i), p(x * side, 1.5, 0.0)));
            }
            let first = joints.len();
            joints.push((Some(0), p(0.1 * side, 0.95, 0.0)));
            joints.push((Some(first), p(0.1 * side, 0.5, 0.02)));
            joints.push((Some(first + 1), p(0.1 * side, 0.1, 0.0)));
            joints.push((Some(first + 2), p(0.1 * side, 0.02, 0.15)));
        }
        let made: Vec<_> = joints
            .into_iter()
            .enumerate()
            .map(|(i, (parent, place))| (format!("n{i}"), parent, place))
            .collect();
        Skeleton::from_positions(&made).unwrap()
    }

    #[test]
    fn a_body_without_names_is_recognised() {
        let skeleton = nameless();
        let roles = JointRoles::of(&skeleton);
        assert_eq!(roles.first(Role::Hips), Some(0));
        assert_eq!(roles.joints(Role::Spine), [1, 2]);
        assert_eq!(roles.joints(Role::Neck), [3]);
        assert_eq!(roles.joints(Role::Head), [4]);
        for (side, arm, leg) in [(Side::Right, 5, 10), (Side::Left, 14, 19)] {
            assert_eq!(roles.first(Role::Clavicle(side)), Some(arm));
            assert_eq!(roles.first(Role::UpperArm(side)), Some(arm + 1));
            assert_eq!(roles.first(Role::Forearm(side)), Some(arm + 2));
            assert_eq!(roles.first(Role::Hand(side)), Some(arm + 3));
            assert_eq!(roles.first(Role::Thigh(side)), Some(leg));
            assert_eq!(roles.first(Role::Shin(side)), Some(leg + 1));
            assert_eq!(roles.first(Role::Foot(side)), Some(leg + 2));
            assert_eq!(roles.first(Role::Toe(side)), Some(leg + 3));
        }
    }

    #[test]
    fn a_skeleton_that_is_not_a_body_has_no_roles() {
        let chain: Vec<_> = (0..5)
            .map(|i: usize| {
                (
                    format!("n{i}"),
                    i.checked_sub(1),
                    Point64::new(0.0, i as f64, 0.0),
                )
            })
            .collect();
        assert!(
            body(
                &Skeleton::from_positions(&chain).unwrap(),
                &JointRoles::default()
            )
            .is_empty()
        );
        assert!(body(&Skeleton::default(), &JointRoles::default()).is_empty());
    }
}
