//! Joint mappings between a motion's skeleton and a character: a plain list that can be shown,
//! saved, edited and read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::RetargetError;
use super::role::{Digit, Role};
use super::roles::JointRoles;
use crate::rig::Skeleton;

/// Joints of the character and the corresponding joints of the motion, both by name from the body
/// outwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointPair {
    /// Their role: `hips`, `spine`, `left_upper_arm`, … (see [`Role::id`]). For any other word,
    /// rotations are copied unchanged.
    pub role: String,
    /// Joints of the character.
    pub target: Vec<String>,
    /// Joints of the motion. If the numbers differ, the chain's rotation is distributed over the
    /// character's joints.
    pub source: Vec<String>,
}

/// How a motion is retargeted to a character.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The pairs of joints.
    pub pairs: Vec<JointPair>,
    /// Up axis of the motion; detected if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<SignedAxis>,
    /// Ratio of the character's length to that of the motion's skeleton; from leg lengths if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

/// An axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignedAxis {
    /// +X.
    #[serde(rename = "x")]
    X,
    /// +Y.
    #[serde(rename = "y")]
    Y,
    /// +Z.
    #[serde(rename = "z")]
    Z,
    /// −X.
    #[serde(rename = "-x")]
    MinusX,
    /// −Y.
    #[serde(rename = "-y")]
    MinusY,
    /// −Z.
    #[serde(rename = "-z")]
    MinusZ,
}

/// Role of pairs of joints with equal names and without a role.
const SAME_NAME: &str = "same name";

/// A pair with indices instead of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub role: Option<Role>,
    pub target: Vec<usize>,
    pub source: Vec<usize>,
}

impl JointPair {
    /// Whether the joints were matched because their names are equal.
    #[must_use]
    pub fn is_by_name(&self) -> bool {
        self.role == SAME_NAME
    }
}

impl Mapping {
    /// Matches two skeletons by names and topology. Joints without a partner are omitted.
    #[must_use]
    pub fn guess(source: &Skeleton, target: &Skeleton) -> Self {
        let (of_source, of_target) = (JointRoles::of(source), JointRoles::of(target));
        let names = |skeleton: &Skeleton, joints: &[usize]| {
            joints
                .iter()
                .map(|&j| skeleton.joints()[j].name.clone())
                .collect::<Vec<_>>()
        };
        let mut pairs = Vec::new();
        let mut moved = BTreeSet::new();
        for role in Role::all() {
            let joints: Vec<usize> = of_target
                .joints(role)
                .iter()
                .copied()
                .filter(|&joint| moved.insert(joint))
                .collect();
            let partners = partner_of(role, &of_source);
            if !joints.is_empty() && !partners.is_empty() {
                pairs.push(JointPair {
                    role: role.id(),
                    target: names(target, &joints),
                    source: names(source, partners),
                });
            }
        }
        let taken = |roles: &JointRoles| {
            roles
                .iter()
                .flat_map(|(_, joints)| joints.to_vec())
                .collect::<BTreeSet<usize>>()
        };
        let (source_taken, target_taken) = (taken(&of_source), taken(&of_target));
        let source_by_name: BTreeMap<&str, usize> = source
            .joints()
            .iter()
            .enumerate()
            .map(|(i, joint)| (joint.name.as_str(), i))
            .collect();
        for (index, joint) in target.joints().iter().enumerate() {
            if let Some(partner) = source_by_name.get(joint.name.as_str())
                && !target_taken.contains(&index)
                && !source_taken.contains(partner)
                && !joint.name.ends_with("_end")
            {
                pairs.push(JointPair {
                    role: SAME_NAME.to_owned(),
                    target: vec![joint.name.clone()],
                    source: vec![joint.name.clone()],
                });
            }
        }
        Self {
            pairs,
            up: None,
            scale: None,
        }
    }

    /// Joints of the character in no pair.
    #[must_use]
    pub fn unmatched<'a>(&self, target: &'a Skeleton) -> Vec<&'a str> {
        let named: BTreeSet<&str> = self
            .pairs
            .iter()
            .flat_map(|pair| pair.target.iter().map(String::as_str))
            .collect();
        target
            .joints()
            .iter()
            .map(|joint| joint.name.as_str())
            .filter(|name| !named.contains(name))
            .collect()
    }

    /// Resolves names to indices.
    pub(super) fn links(
        &self,
        source: &Skeleton,
        target: &Skeleton,
    ) -> Result<Vec<Link>, RetargetError> {
        let mut moved = BTreeSet::new();
        let mut links = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            let find = |skeleton: &Skeleton,
                        names: &[String],
                        of: &'static str|
             -> Result<Vec<usize>, RetargetError> {
                names
                    .iter()
                    .map(|name| {
                        skeleton
                            .find_or_suggest(name)
                            .map_err(|problem| RetargetError::UnknownJoint { of, problem })
                    })
                    .collect()
            };
            let link = Link {
                role: Role::from_id(&pair.role),
                target: find(target, &pair.target, "the character")?,
                source: find(source, &pair.source, "the motion")?,
            };
            if let Some(twice) = link.target.iter().find(|&&joint| !moved.insert(joint)) {
                return Err(RetargetError::Twice {
                    name: target.joints()[*twice].name.clone(),
                });
            }
            if !link.target.is_empty() && !link.source.is_empty() {
                links.push(link);
            }
        }
        Ok(links)
    }
}

/// The joints of the motion for a role of the character: fingers may substitute each other.
fn partner_of(role: Role, source: &JointRoles) -> &[usize] {
    let own = source.joints(role);
    let Role::Finger(side, digit) = role else {
        return own;
    };
    if !own.is_empty() || digit == Digit::Thumb {
        return own;
    }
    let mut instead = [
        Digit::All,
        Digit::Middle,
        Digit::Index,
        Digit::Ring,
        Digit::Little,
    ]
    .into_iter();
    // One finger of the motion must not move fingers that the motion omits; if it is the only one,
    // it moves all.
    let others = Digit::ALL.into_iter().filter(|digit| {
        *digit != Digit::Thumb && !source.joints(Role::Finger(side, *digit)).is_empty()
    });
    let stands_for_all = digit == Digit::All || others.count() == 1;
    if !stands_for_all {
        return &[];
    }
    instead
        .find_map(|digit| {
            Some(source.joints(Role::Finger(side, digit))).filter(|joints| !joints.is_empty())
        })
        .unwrap_or(&[])
}

/// For every joint of a character's chain the two joints of the motion's chain between which it
/// lies, and the fraction; `None` for the joint before the chain.
pub(super) fn spread_over(
    targets: usize,
    sources: usize,
) -> Vec<(Option<usize>, Option<usize>, f64)> {
    let at = |index: usize| index.checked_sub(1);
    let spread = |k: usize| {
        let place = k as f64 / targets as f64 * sources as f64;
        let below = (place + 1e-9).floor().min(sources as f64) as usize;
        let fraction = (place - below as f64).clamp(0.0, 1.0);
        (at(below), at((below + 1).min(sources)), fraction)
    };
    (1..=targets).map(spread).collect()
}

/// Correspondence of finger joints: aligned at the tips if the motion has more, at the hand if the
/// character has more.
pub(super) fn align_finger(targets: usize, sources: usize) -> Vec<(usize, usize)> {
    let skipped = sources.saturating_sub(targets);
    (0..targets.min(sources))
        .map(|k| (k, k + skipped))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_any_lengths_end_together() {
        for targets in 1..6 {
            for sources in 1..6 {
                let spread = spread_over(targets, sources);
                let (below, above, fraction) = spread[targets - 1];
                assert!(
                    below == Some(sources - 1)
                        && above == Some(sources - 1)
                        && fraction.abs() < 1e-6,
                    "{targets} {sources}"
                );
            }
        }
        assert_eq!(spread_over(2, 1)[0], (None, Some(0), 0.5));
        assert_eq!(align_finger(3, 4), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(align_finger(3, 1), [(0, 0)]);
    }

    #[test]
    fn a_mapping_is_plain_json() {
        let text = r#"{"pairs": [{"role": "hips", "target": ["a"], "source": ["b"]}], "up": "-z", "scale": 2.5}"#;
        let mapping: Mapping = serde_json::from_str(text).unwrap();
        assert_eq!(
            (mapping.up, mapping.scale),
            (Some(SignedAxis::MinusZ), Some(2.5))
        );
        assert_eq!(
            serde_json::from_str::<Mapping>(&serde_json::to_string(&mapping).unwrap()).unwrap(),
            mapping
        );
        assert!(serde_json::from_str::<Mapping>(r#"{"pears": []}"#).is_err());
    }
}
