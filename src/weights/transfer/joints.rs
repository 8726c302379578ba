//! Which joint of one skeleton stands for which of another.

use std::collections::BTreeMap;

use crate::rig::Skeleton;
use crate::rig::retarget::JointRoles;

/// Farthest that joints matched by position may be apart, relative to the size of the target's skeleton.
const NEAR: f64 = 0.03;

/// How a joint of the source was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JointMatch {
    /// A joint of the target has the same name.
    Name,
    /// A joint of the target has the same role in the body (upper arm, spine, …).
    Role,
    /// A joint of the target is at about the same place in the bind pose.
    Position,
    /// Nothing stands for it: its weights go to the partner of its nearest ancestor that has one.
    Ancestor,
    /// Neither it nor an ancestor has a partner: its weights go to the closest joint.
    Closest,
}

/// For every joint of a source skeleton the joint of a target skeleton that gets its weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointMap {
    /// The partner of each joint of the source; `None` only if the target has no joint.
    pub target_of: Vec<Option<u32>>,
    /// How each was found; [`JointMatch::Closest`] without partner.
    pub how: Vec<JointMatch>,
    /// How many joints the target has.
    pub targets: usize,
}

impl JointMap {
    /// Matches joints by their exact names; then by their roles in a body; then by positions in the bind pose. Joints that no joint
    /// stands for give their weights to their ancestor's partner.
    #[must_use]
    pub fn between(source: &Skeleton, target: &Skeleton) -> Self {
        let mut found: Vec<Option<(u32, JointMatch)>> = by_names(source, target);
        by_roles(source, target, &mut found);
        by_positions(source, target, &mut found);
        for joint in 0..source.len() {
            // Parents come first.
            let parent = source.joints()[joint].parent;
            if let (None, Some((partner, _))) = (found[joint], parent.and_then(|p| found[p])) {
                found[joint] = Some((partner, JointMatch::Ancestor));
            }
        }
        let closest = |joint: usize| closest(source, joint, target).map(|(partner, _)| partner);
        let all = found
            .into_iter()
            .enumerate()
            .map(|(joint, found)| match found {
                Some((partner, how)) => (Some(partner), how),
                None => (closest(joint), JointMatch::Closest),
            });
        let (target_of, how) = all.unzip();
        Self {
            target_of,
            how,
            targets: target.len(),
        }
    }

    /// The partner of a joint of the source.
    #[must_use]
    pub fn target(&self, joint: u32) -> Option<u32> {
        self.target_of.get(joint as usize).copied().flatten()
    }

    /// The joints of the source that no joint of the target stands for.
    pub fn unmatched(&self) -> impl Iterator<Item = usize> + '_ {
        let stands_in =
            |how: &JointMatch| matches!(how, JointMatch::Ancestor | JointMatch::Closest);
        (0..self.how.len()).filter(move |&joint| stands_in(&self.how[joint]))
    }
}

fn by_names(source: &Skeleton, target: &Skeleton) -> Vec<Option<(u32, JointMatch)>> {
    let of_target: BTreeMap<&str, usize> = (target.joints().iter().enumerate())
        .map(|(index, joint)| (joint.name.as_str(), index))
        .collect();
    let same = |joint: &crate::rig::Joint| {
        let partner = *of_target.get(joint.name.as_str())?;
        Some((partner as u32, JointMatch::Name))
    };
    source.joints().iter().map(same).collect()
}

/// Joints of the same role; a chain is spread over a chain of another length, ends on ends.
fn by_roles(source: &Skeleton, target: &Skeleton, found: &mut [Option<(u32, JointMatch)>]) {
    if found.iter().all(Option::is_some) {
        return;
    }
    let (of_source, of_target) = (JointRoles::of(source), JointRoles::of(target));
    for (role, joints) in of_source.iter() {
        let partners = of_target.joints(role);
        let Some(last) = partners.len().checked_sub(1) else {
            continue;
        };
        for (place, &joint) in joints.iter().enumerate() {
            let steps = joints.len().saturating_sub(1).max(1);
            let partner = partners[(place * last + steps / 2) / steps];
            found[joint].get_or_insert((partner as u32, JointMatch::Role));
        }
    }
}

fn by_positions(source: &Skeleton, target: &Skeleton, found: &mut [Option<(u32, JointMatch)>]) {
    let at = (0..target.len()).map(|joint| target.bind_position(joint).cast::<f32>());
    let at: Vec<crate::math::Point> = at.collect();
    let near = NEAR * f64::from(crate::mesh::Bounds::of(&at).size());
    for (joint, found) in found.iter_mut().enumerate() {
        if found.is_none() {
            *found = closest(source, joint, target)
                .filter(|&(_, distance)| distance <= near)
                .map(|(partner, _)| (partner, JointMatch::Position));
        }
    }
}

/// The joint of the target closest to a joint of the source, and its distance.
fn closest(source: &Skeleton, joint: usize, target: &Skeleton) -> Option<(u32, f64)> {
    let here = source.bind_position(joint);
    (0..target.len())
        .map(|other| (other as u32, (target.bind_position(other) - here).norm()))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}
