//! The joint hierarchy.

use std::collections::{HashMap, HashSet};

use super::{Pose, Trs};
use crate::math::{Affine, Point64, origin_of};

/// One frame of the skeleton.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Joint {
    /// Name as in the file, made unique by a suffix if necessary.
    pub name: String,
    /// Index of the parent joint, always smaller than the joint's own.
    pub parent: Option<usize>,
    /// Constant transform between the parent joint (or the world) and the frame of `rest`.
    pub parent_from_base: Affine,
    /// The joint's local transform in the rest pose.
    pub rest: Trs,
    /// `world_from_joint` at binding.
    pub world_from_bind: Affine,
    /// False for helpers that carry no skin (an animated node above the skeleton, for instance).
    pub deforms: bool,
    /// World position, in the bind pose, of the end of the bone of a joint without children, if
    /// set.
    pub tail: Option<Point64>,
}

/// Joints, parents before children.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Skeleton {
    joints: Vec<Joint>,
    children: Vec<Vec<usize>>,
}

/// Most joints of a skeleton, in all formats. Characters have about a hundred, those with hair and
/// cloth a thousand; more indicate a damaged file and would make every frame slow.
pub const MOST_JOINTS: usize = 4000;

/// Refuses a number of joints above [`MOST_JOINTS`], before any work on them.
///
/// # Errors
/// [`SkeletonError::TooMany`].
pub fn check_joint_count(count: usize) -> Result<(), SkeletonError> {
    if count > MOST_JOINTS {
        return Err(SkeletonError::TooMany { count });
    }
    Ok(())
}

/// Why a list of joints is not a skeleton.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// A parent does not precede its child.
    #[error("joint \"{name}\" has a parent that does not come before it")]
    Order {
        /// The child.
        name: String,
    },
    /// More than [`MOST_JOINTS`].
    #[error("there are {count} joints; a character has at most {MOST_JOINTS}")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A singular or non-finite bind transform.
    #[error("joint \"{name}\" has a bind transform that is not finite and invertible")]
    Singular {
        /// The joint.
        name: String,
    },
}

impl Skeleton {
    /// Validates and takes a list of joints.
    ///
    /// # Errors
    /// [`SkeletonError::TooMany`] joints, [`SkeletonError::Order`] if a parent index is not smaller than its child's,
    /// [`SkeletonError::Singular`] for a bind transform without an inverse.
    pub fn new(mut joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        check_joint_count(joints.len())?;
        let mut children = vec![Vec::new(); joints.len()];
        make_names_unique(&mut joints);
        for (index, joint) in joints.iter().enumerate() {
            let finite = joint.world_from_bind.matrix().iter().all(|c| c.is_finite());
            if !finite || joint.world_from_bind.try_inverse().is_none() {
                return Err(SkeletonError::Singular {
                    name: joint.name.clone(),
                });
            }
            match joint.parent {
                Some(parent) if parent >= index => {
                    return Err(SkeletonError::Order {
                        name: joint.name.clone(),
                    });
                }
                Some(parent) => children[parent].push(index),
                None => {}
            }
        }
        Ok(Self { joints, children })
    }

    /// A skeleton with identity rotations at the given world positions: `(name, parent, position)`,
    /// bind = rest.
    ///
    /// # Errors
    /// As [`Skeleton::new`].
    pub fn from_positions(
        joints: &[(String, Option<usize>, Point64)],
    ) -> Result<Self, SkeletonError> {
        let made = joints
            .iter()
            .map(|(name, parent, position)| {
                let from = parent
                    .and_then(|p| joints.get(p))
                    .map_or_else(Point64::origin, |p| p.2);
                Joint {
                    name: name.clone(),
                    parent: *parent,
                    parent_from_base: Affine::identity(),
                    rest: Trs::at(position - from),
                    world_from_bind: Trs::at(position.coords).to_affine(),
                    deforms: true,
                    tail: None,
                }
            })
            .collect();
        Self::new(made)
    }

    /// All joints.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The child joints of a joint, ascending.
    #[must_use]
    pub fn children(&self, joint: usize) -> &[usize] {
        &self.children[joint]
    }

    /// A joint and its ancestors, nearest first.
    pub fn path_up(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(joint), |&joint| self.joints[joint].parent)
    }

    /// The ancestors of a joint, nearest first.
    pub fn ancestors(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        self.path_up(joint).skip(1)
    }

    /// Whether `above` is an ancestor of `joint`.
    #[must_use]
    pub fn is_below(&self, joint: usize, above: usize) -> bool {
        self.ancestors(joint).any(|other| other == above)
    }

    /// The joint with exactly that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// Position of a joint in the bind pose.
    #[must_use]
    pub fn bind_position(&self, joint: usize) -> Point64 {
        origin_of(&self.joints[joint].world_from_bind)
    }

    /// The pose without animation.
    #[must_use]
    pub fn rest_pose(&self) -> Pose {
        Pose {
            locals: self.joints.iter().map(|joint| joint.rest).collect(),
            ..Pose::default()
        }
    }

    /// `world_from_joint` of every joint in the bind pose.
    #[must_use]
    pub fn bind_transforms(&self) -> Vec<Affine> {
        self.joints
            .iter()
            .map(|joint| joint.world_from_bind)
            .collect()
    }

    /// `world_from_joint` of every joint in a pose.
    ///
    /// # Panics
    /// If the pose has another number of joints.
    #[must_use]
    pub fn world_from_joint(&self, pose: &Pose) -> Vec<Affine> {
        let mut world = Vec::with_capacity(self.len());
        self.world_from_joint_into(pose, &mut world);
        world
    }

    /// As [`Skeleton::world_from_joint`], into a reused vector.
    ///
    /// # Panics
    /// If the pose has another number of joints.
    pub fn world_from_joint_into(&self, pose: &Pose, world: &mut Vec<Affine>) {
        assert_eq!(pose.locals.len(), self.len(), "a pose of another skeleton");
        world.clear();
        for (joint, local) in self.joints.iter().zip(&pose.locals) {
            let base = match joint.parent {
                Some(parent) => world[parent] * joint.parent_from_base,
                None => joint.parent_from_base,
            };
            world.push(base * local.to_affine());
        }
    }
}

fn make_names_unique(joints: &mut [Joint]) {
    let mut seen = HashSet::new();
    // The next suffix of each name: those before it are taken.
    let mut next: HashMap<String, usize> = HashMap::new();
    for (index, joint) in joints.iter_mut().enumerate() {
        if joint.name.is_empty() {
            joint.name = format!("joint{index}");
        }
        if seen.insert(joint.name.clone()) {
            continue;
        }
        let base = joint.name.clone();
        let suffix = next.entry(base.clone()).or_insert(2);
        while !seen.insert(joint.name.clone()) {
            joint.name = format!("{base}.{suffix}");
            *suffix += 1;
        }
    }
}
