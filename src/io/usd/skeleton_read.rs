//! `Skeleton` prims → joints and bind pose.
//!
//! `UsdSkel` skins a point p by  Σ w · joint · bind⁻¹ · `geomBindTransform` · p  in the space of the skeleton, which the `Skeleton` prim
//! then places in the world. `bindTransforms` are in world space by the schema, and in the space of the skeleton in most files: which of
//! both holds is decided by the distance to the rest pose.

use std::collections::HashMap;

use super::layer::Prim;
use super::scene::{LARGEST, Scene, affine_of, distance, is_usable};
use crate::io::error::Parsed;
use crate::math::{Affine, Vec64};
use crate::rig::{Joint, Skeleton, Trs, check_joint_count};

/// Longest path of a joint, bytes.
const LONGEST_TOKEN: usize = 4096;

/// The joints of all skeletons.
#[derive(Debug, Default)]
pub(super) struct UsdJoints<'a> {
    pub(super) skeleton: Skeleton,
    pub(super) sources: Vec<SkeletonSource<'a>>,
}

/// One `Skeleton` prim.
#[derive(Debug)]
pub(super) struct SkeletonSource<'a> {
    pub(super) prim: usize,
    /// The joint of each of its joints, in its order.
    pub(super) joints: Vec<usize>,
    /// The same by path.
    pub(super) by_token: HashMap<&'a str, usize>,
    /// Inverse of `bindTransforms`, in the order of all joints of the character; identity for those of other skeletons.
    pub(super) joint_from_bind: Vec<Affine>,
    /// Placement of the skeleton.
    pub(super) world: Affine,
}

/// A joint while it is read.
struct RawJoint<'a> {
    token: &'a str,
    name: String,
    parent: Option<usize>,
    rest: Affine,
    /// In the space of the skeleton.
    rest_in_skeleton: Affine,
    bind: Option<Affine>,
}

impl<'a> UsdJoints<'a> {
    pub(super) fn of(scene: &Scene<'a>) -> Parsed<Self> {
        let mut joints: Vec<Joint> = Vec::new();
        let mut sources = Vec::new();
        for index in scene.of_kind("Skeleton") {
            let prim = scene.prims[index];
            let tokens = prim.texts("joints");
            check_joint_count(joints.len() + tokens.len())?;
            let raw = raw_joints(prim);
            let world = scene.world[index];
            if raw.is_empty() || !is_usable(&world) {
                continue;
            }
            sources.push(add(&raw, index, world, &scene.turn, &mut joints));
        }
        let count = joints.len();
        for source in &mut sources {
            let source: &mut SkeletonSource<'_> = source;
            source.joint_from_bind.resize(count, Affine::identity());
        }
        Ok(Self {
            skeleton: Skeleton::new(joints)?,
            sources,
        })
    }
}

/// The joints of a prim in the order of the prim, with parents by index there.
fn raw_joints<'a>(prim: &'a Prim) -> Vec<RawJoint<'a>> {
    let tokens = prim.texts("joints");
    let names = prim.texts("jointNames");
    let (rest, bind) = (
        prim.numbers("restTransforms"),
        prim.numbers("bindTransforms"),
    );
    let matrix = |list: &[f64], joint: usize| {
        let rows = list.get(16 * joint..16 * joint + 16)?;
        affine_of(rows)
    };
    let mut by_token: HashMap<&str, usize> = HashMap::new();
    for (joint, token) in tokens.iter().enumerate() {
        if token.len() <= LONGEST_TOKEN {
            by_token.entry(token).or_insert(joint);
        }
    }
    let mut raw: Vec<RawJoint<'a>> = Vec::with_capacity(tokens.len());
    for (joint, token) in tokens.iter().enumerate() {
        let mut above = token.as_str();
        let mut parent = None;
        while let (None, Some(slash), true) =
            (parent, above.rfind('/'), token.len() <= LONGEST_TOKEN)
        {
            above = &above[..slash];
            parent = by_token.get(above).copied().filter(|&p| p != joint);
        }
        let last = token.rsplit('/').next().unwrap_or(token);
        let name = names.get(joint).filter(|_| names.len() == tokens.len());
        raw.push(RawJoint {
            token,
            name: name.cloned().unwrap_or_else(|| last.to_owned()),
            parent,
            rest: matrix(rest, joint).unwrap_or_else(Affine::identity),
            rest_in_skeleton: Affine::identity(),
            bind: matrix(bind, joint).filter(is_usable),
        });
    }
    place(&mut raw, rest.len() == 16 * tokens.len());
    raw
}

/// Computes the rest pose in the skeleton's space; without rest transforms it is the bind pose.
fn place(raw: &mut [RawJoint<'_>], has_rest: bool) {
    for joint in order(raw) {
        let parent = raw[joint].parent;
        let above = parent.map_or_else(Affine::identity, |p| raw[p].rest_in_skeleton);
        if let (false, Some(bind), Some(inverse)) = (has_rest, raw[joint].bind, above.try_inverse())
        {
            raw[joint].rest = inverse * bind;
        }
        raw[joint].rest_in_skeleton = above * raw[joint].rest;
    }
}

/// Joints with parents first; the paths of parents are shorter.
fn order(raw: &[RawJoint<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..raw.len()).collect();
    let is_sorted = (raw.iter().enumerate()).all(|(i, j)| j.parent.is_none_or(|parent| parent < i));
    if !is_sorted {
        order.sort_by_key(|&joint| raw[joint].token.len());
    }
    order
}

/// Appends the joints of a skeleton.
fn add<'a>(
    raw: &[RawJoint<'a>],
    prim: usize,
    world: Affine,
    turn: &Affine,
    joints: &mut Vec<Joint>,
) -> SkeletonSource<'a> {
    // Whether bind transforms are in the skeleton's space or in the world's.
    let error = |from_bind: &Affine| -> f64 {
        let bound = raw.iter().filter_map(|joint| Some((joint, joint.bind?)));
        bound
            .map(|(joint, bind)| distance(&(from_bind * bind), &(world * joint.rest_in_skeleton)))
            .sum()
    };
    let world_from_bind = if error(turn) < error(&world) {
        *turn
    } else {
        world
    };
    let mut source = SkeletonSource {
        prim,
        joints: vec![0; raw.len()],
        by_token: HashMap::new(),
        joint_from_bind: vec![Affine::identity(); joints.len()],
        world,
    };
    for index in order(raw) {
        let joint = &raw[index];
        let place = joints.len();
        source.joints[index] = place;
        source.by_token.entry(joint.token).or_insert(place);
        let at_rest = world * joint.rest_in_skeleton;
        let bind = joint.bind.map(|bind| world_from_bind * bind);
        let bind = bind.filter(is_usable).unwrap_or_else(|| upright(&at_rest));
        source.joint_from_bind.push(
            joint
                .bind
                .or(Some(joint.rest_in_skeleton))
                .and_then(Affine::try_inverse)
                .unwrap_or_else(Affine::identity),
        );
        joints.push(Joint {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| source.joints[parent]),
            parent_from_base: if joint.parent.is_none() {
                world
            } else {
                Affine::identity()
            },
            rest: rest_of(&joint.rest),
            world_from_bind: bind,
            deforms: true,
            tail: None,
        });
    }
    source
}

/// The transform as translation, rotation and scale; numbers beyond any character are left out.
fn rest_of(rest: &Affine) -> Trs {
    let rest = Trs::from_affine(rest);
    let is_sane = rest.is_finite() && rest.translation.iter().all(|c| c.abs() < LARGEST);
    if is_sane { rest } else { Trs::IDENTITY }
}

/// A joint scaled to zero keeps its position.
fn upright(rest: &Affine) -> Affine {
    if is_usable(rest) {
        *rest
    } else {
        let origin: Vec64 = crate::math::origin_of(rest).coords;
        Trs::at(origin).to_affine()
    }
}
