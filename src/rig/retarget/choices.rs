//! Joints of a motion that are chosen by hand, and what drives each joint of a character.

use std::collections::{BTreeMap, BTreeSet};

use super::mapping::{JointPair, Mapping, align_finger, spread_over};
use super::role::Role;
use super::roles::JointRoles;
use crate::rig::Skeleton;

/// Joints of the motion chosen by hand, by joint of the character. `None`: nothing drives the joint.
pub type JointChoices = BTreeMap<usize, Option<String>>;

/// Role of pairs made by hand whose joints have none of their own.
const BY_HAND: &str = "by hand";

/// What drives a joint of the character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointDriver<'a> {
    /// Joints of the motion: one, or the two between which the joint lies in a chain of another length.
    pub joints: Vec<&'a str>,
    /// Index into [`Mapping::pairs`].
    pub pair: usize,
}

impl JointPair {
    /// The joints of the motion that a joint of the character follows, by its place in the pair; none for a finger's joint that has
    /// no counterpart.
    fn followed(&self, place: usize) -> Vec<&str> {
        let (targets, sources) = (self.target.len(), self.source.len());
        let name = |at: usize| self.source[at].as_str();
        if let Some(Role::Finger(..) | Role::Toe(_)) = Role::from_id(&self.role) {
            let mut pairs = align_finger(targets, sources).into_iter();
            let own = pairs.find(|(own, _)| *own == place);
            return own.map(|(_, partner)| name(partner)).into_iter().collect();
        }
        match spread_over(targets, sources).get(place) {
            Some((below, above, fraction)) if *fraction > 0.0 => {
                below.iter().chain(above).map(|&at| name(at)).collect()
            }
            Some((below, ..)) => below.iter().map(|&at| name(at)).collect(),
            None => Vec::new(),
        }
    }
}

impl Mapping {
    /// What drives a joint of the character, if anything does.
    #[must_use]
    pub fn driver_of(&self, joint: &str) -> Option<JointDriver<'_>> {
        self.pairs.iter().enumerate().find_map(|(pair, of)| {
            let place = of.target.iter().position(|name| name == joint)?;
            let joints = of.followed(place);
            (!joints.is_empty()).then_some(JointDriver { joints, pair })
        })
    }

    /// The mapping in which the joints chosen by hand win. What is left of a chain follows the same joints of the motion as before. A
    /// joint chosen for all of a role has that role, so that limbs are aligned as in an automatic match.
    #[must_use]
    pub fn with_choices(&self, target: &Skeleton, choices: &JointChoices) -> Self {
        let named: BTreeMap<&str, Option<&str>> = choices
            .iter()
            .filter_map(|(&joint, source)| {
                let joint = target.joints().get(joint)?;
                Some((joint.name.as_str(), source.as_deref()))
            })
            .collect();
        let mut pairs = Vec::with_capacity(self.pairs.len());
        let mut placed = BTreeSet::new();
        for pair in &self.pairs {
            let is_chosen = |name: &&String| named.contains_key(name.as_str());
            let mut changed = pair.clone();
            changed.target.retain(|name| !is_chosen(&name));
            if changed.target.is_empty() {
                let chosen = pair.target.iter().filter_map(|name| {
                    let source = named.get(name.as_str()).copied().flatten()?;
                    Some((name.clone(), source.to_owned()))
                });
                (changed.target, changed.source) = chosen.unzip();
                placed.extend(changed.target.iter().cloned());
            }
            if !changed.target.is_empty() {
                pairs.push(changed);
            }
        }
        let automatic = pairs.len();
        let roles = JointRoles::of(target);
        for (joint, source) in choices {
            let Some((source, joint)) = source.as_ref().zip(target.joints().get(*joint)) else {
                continue;
            };
            if placed.contains(&joint.name) {
                continue;
            }
            let own = roles.iter().find(|(_, joints)| {
                let mut names = joints.iter().map(|&j| &target.joints()[j].name);
                names.any(|name| *name == joint.name)
            });
            let role = own.map(|(role, _)| role.id());
            let known = pairs
                .iter()
                .position(|pair| Some(&pair.role) == role.as_ref());
            match known {
                Some(known) if known >= automatic => {
                    pairs[known].target.push(joint.name.clone());
                    pairs[known].source.push(source.clone());
                }
                _ => pairs.push(JointPair {
                    role: role
                        .filter(|_| known.is_none())
                        .unwrap_or_else(|| BY_HAND.to_owned()),
                    target: vec![joint.name.clone()],
                    source: vec![source.clone()],
                }),
            }
        }
        Self {
            pairs,
            ..self.clone()
        }
    }

    /// The same with other names of the character's joints; joints without a new name are left out.
    #[must_use]
    pub fn renamed(&self, new_name: impl Fn(&str) -> Option<String>) -> Self {
        let mut renamed = self.clone();
        for pair in &mut renamed.pairs {
            pair.target = pair.target.iter().filter_map(|n| new_name(n)).collect();
        }
        renamed.pairs.retain(|pair| !pair.target.is_empty());
        renamed
    }
}
