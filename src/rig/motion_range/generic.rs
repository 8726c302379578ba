//! Movements of joints without a role: chains such as tails, and skeletons of which nothing is recognised.

use std::collections::BTreeSet;

use super::{Builder, MovementName, spread, turn};
use crate::math::Vec64;
use crate::rig::ik::limb::any_across;
use crate::rig::rest_shape::across;
use crate::rig::retarget::{JointRoles, Role};
use crate::rig::symmetry::mirrored_name;

/// A chain has at least this many joints that bend.
const SHORTEST_CHAIN: usize = 3;
/// At most this many chains move.
const MOST_CHAINS: usize = 2;
/// With fewer movements than this a body is not recognised.
const FEW_MOVEMENTS: usize = 4;
/// At most this many joints of a skeleton without roles move.
const MOST_JOINTS: usize = 8;
/// A chain shorter than this part of the longest one does not count: hair, straps.
const SHORT: f64 = 0.4;
/// A joint off the line of a bone shows a plane if it is farther from the line than this part of the bone's reach.
const OFF_THE_LINE: f64 = 0.05;
/// Bones that differ in direction by less than this, sine of the angle, are straight.
const STRAIGHT: f64 = 0.1;

/// Adds chains beside a body, or the most important joints if hardly anything is recognised.
pub(super) fn add(builder: &mut Builder<'_>, roles: &JointRoles) {
    let with_role: BTreeSet<usize> = roles
        .iter()
        .filter(|(role, _)| *role != Role::Hips)
        .flat_map(|(_, joints)| joints.iter().copied())
        .collect();
    let movements = builder
        .poses
        .chunk_by(|a, b| a.movement == b.movement)
        .count();
    if movements < FEW_MOVEMENTS {
        joints(builder);
    } else {
        chains(builder, roles, &with_role);
    }
}

/// Joints from a start to its farthest leaf, without the leaf, and their length.
fn chain_from(builder: &Builder<'_>, start: usize) -> (Vec<usize>, f64) {
    let mut chain = vec![start];
    let mut length = 0.0;
    let reach = reaches(builder);
    while let Some(&next) = builder
        .rest
        .skeleton
        .children(chain[chain.len() - 1])
        .iter()
        .max_by(|&&a, &&b| reach[a].total_cmp(&reach[b]))
    {
        length += (builder.rest.place(next) - builder.rest.place(chain[chain.len() - 1])).norm();
        chain.push(next);
    }
    if chain.len() > 1 {
        chain.pop();
    }
    (chain, length)
}

/// Length of the longest path from each joint's parent to a leaf below the joint.
fn reaches(builder: &Builder<'_>) -> Vec<f64> {
    let joints = builder.rest.skeleton.joints();
    let mut reach = vec![0.0_f64; joints.len()];
    for joint in (0..joints.len()).rev() {
        if let Some(parent) = joints[joint].parent {
            let own =
                reach[joint] + (builder.rest.place(joint) - builder.rest.place(parent)).norm();
            reach[parent] = reach[parent].max(own);
        }
    }
    reach
}

/// Tails and the like: chains whose joints have no role, which start at a joint that has one or at the root.
fn chains(builder: &mut Builder<'_>, roles: &JointRoles, with_role: &BTreeSet<usize>) {
    let skeleton = builder.rest.skeleton;
    let below_role = |joint: usize| {
        std::iter::successors(Some(joint), |&joint| skeleton.joints()[joint].parent)
            .any(|joint| with_role.contains(&joint))
    };
    let has_role_below = |joint: usize| {
        with_role.iter().any(|&other| {
            std::iter::successors(Some(other), |&other| skeleton.joints()[other].parent)
                .any(|above| above == joint)
        })
    };
    // A chain that a limb or the head carries is a finger, hair or cloth. One at the spine or the hips is a tail or a wing.
    let spine: BTreeSet<usize> = roles.joints(Role::Spine).iter().copied().collect();
    let starts = (0..skeleton.len()).filter(|&joint| {
        let Some(parent) = skeleton.joints()[joint].parent else {
            return false;
        };
        let carried = if spine.contains(&parent) {
            !with_role.contains(&joint)
        } else {
            has_role_below(parent) && !below_role(joint)
        };
        carried && !has_role_below(joint)
    });
    let mut found: Vec<(Vec<usize>, f64)> = starts
        .map(|start| chain_from(builder, start))
        .filter(|(chain, _)| chain.len() >= SHORTEST_CHAIN)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let longest = found.first().map_or(0.0, |(_, length)| *length);
    found.retain(|(_, length)| *length >= SHORT * longest && *length > 0.0);
    let mut starts: Vec<usize> = found.iter().map(|(chain, _)| chain[0]).collect();
    one_of_each_pair(builder, &mut starts);
    found.retain(|(chain, _)| starts.contains(&chain[0]));
    for (chain, _) in found.into_iter().take(MOST_CHAINS) {
        let Some(along) = builder.rest.along(chain[0]) else {
            continue;
        };
        let first = axis_across(builder, chain[0], &along);
        for (way, axis) in [("a", first), ("b", along.cross(&first))] {
            let start = name_of(builder, chain[0]);
            let name = MovementName {
                id: &format!("{}-chain-{way}", id_of(builder, chain[0])),
                label: &format!("Chain from {start}, direction {way}"),
                joint: chain[0],
            };
            builder.add(&name, &[-90.0, -45.0, 45.0, 90.0], |angle| {
                Some(spread(&chain, &axis, angle))
            });
        }
    }
}

fn name_of<'a>(builder: &Builder<'a>, joint: usize) -> &'a str {
    &builder.rest.skeleton.joints()[joint].name
}

/// The name of a joint as a part of an id: lower-case letters, digits and dots; with the joint's number if another joint has the same.
fn id_of(builder: &Builder<'_>, joint: usize) -> String {
    let plain = |name: &str| -> String {
        name.chars()
            .map(|c| c.to_ascii_lowercase())
            .filter(|c| c.is_ascii_alphanumeric() || *c == '.')
            .collect()
    };
    let own = plain(name_of(builder, joint));
    let joints = builder.rest.skeleton.joints().iter().enumerate();
    let same = joints.filter(|(other, with)| *other != joint && plain(&with.name) == own);
    if own.is_empty() || same.count() > 0 {
        format!("{own}joint{joint}")
    } else {
        own
    }
}

/// Leaves out the right one of two joints whose names are mirror images.
fn one_of_each_pair(builder: &Builder<'_>, joints: &mut Vec<usize>) {
    let names: BTreeSet<&str> = joints.iter().map(|&j| name_of(builder, j)).collect();
    let is_second = |name: &str| {
        let other = mirrored_name(name).filter(|other| names.contains(other.as_str()));
        // "L" comes before "R" in any spelling.
        other.is_some_and(|other| other.as_str() < name)
    };
    let second: BTreeSet<usize> = joints
        .iter()
        .copied()
        .filter(|&joint| is_second(name_of(builder, joint)))
        .collect();
    joints.retain(|joint| !second.contains(joint));
}

/// A unit vector across the bone of a joint that follows from the body, not from its file: across the bend of the bones at rest; the
/// body's left; or across the plane of the bone and the joint farthest from its line. Only where all joints are on one line it is arbitrary.
fn axis_across(builder: &Builder<'_>, joint: usize, along: &Vec64) -> Vec64 {
    let rest = &builder.rest;
    let parent = rest.skeleton.joints()[joint].parent;
    let before = parent.and_then(|parent| rest.direction(parent, joint));
    let bend = before.and_then(|before| before.cross(along).try_normalize(STRAIGHT));
    let left = builder.axes.and_then(|axes| across(&axes.left, along));
    let off_the_line = || {
        let off = |other: usize| {
            let from = rest.place(other) - rest.place(joint);
            from - along * along.dot(&from)
        };
        let farthest = (0..rest.skeleton.len())
            .map(|other| off(other).norm())
            .fold(0.0, f64::max);
        // Of joints equally far, as those of two sides, the first one, whatever rounding says.
        let far = (0..rest.skeleton.len())
            .map(off)
            .find(|off| off.norm() >= farthest * (1.0 - 1e-6))?;
        let reach = (0..rest.skeleton.len())
            .map(|other| (rest.place(other) - rest.place(joint)).norm())
            .fold(0.0, f64::max);
        let clear = far.norm() > OFF_THE_LINE * reach;
        clear.then(|| rest.unit(along.cross(&far))).flatten()
    };
    bend.or(left)
        .or_else(off_the_line)
        .unwrap_or_else(|| any_across(along))
}

/// The joints with the longest bones below them that have a bone on both sides.
fn joints(builder: &mut Builder<'_>) {
    let reach = reaches(builder);
    let skeleton = builder.rest.skeleton;
    let mut found: Vec<usize> = (0..skeleton.len())
        .filter(|&joint| {
            skeleton.joints()[joint].parent.is_some() && builder.rest.is_length(reach[joint])
        })
        .collect();
    if found.is_empty() {
        // A single bone turns about its own start; so does a leaf.
        found = (0..skeleton.len())
            .filter(|&joint| skeleton.joints()[joint].parent.is_some())
            .collect();
    }
    // What a role moves has its movements.
    found.retain(|joint| builder.poses.iter().all(|pose| pose.joint != *joint));
    one_of_each_pair(builder, &mut found);
    found.sort_by(|&a, &b| reach[b].total_cmp(&reach[a]).then(a.cmp(&b)));
    found.truncate(MOST_JOINTS);
    found.sort_unstable();
    for joint in found {
        let Some(along) = builder.rest.along(joint) else {
            continue;
        };
        let first = axis_across(builder, joint, &along);
        let name = name_of(builder, joint);
        let ways: [(&str, &str, Vec64, &[f64]); 3] = [
            ("bend", "bend", first, &[-60.0, -30.0, 30.0, 60.0]),
            ("across", "bend across", along.cross(&first), &[-60.0, 60.0]),
            ("twist", "twist", along, &[-60.0, 60.0]),
        ];
        for (id, label, axis, angles) in ways {
            let movement = MovementName {
                id: &format!("{}-{id}", id_of(builder, joint)),
                label: &format!("{name}, {label}"),
                joint,
            };
            builder.add(&movement, angles, |angle| {
                Some(vec![(joint, turn(&axis, angle))])
            });
        }
    }
}
