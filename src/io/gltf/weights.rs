//! Skin weights of a primitive: any number of sets, any encoding; invalid weights are repaired.

use gltf::json::mesh::{Primitive, Semantic};

use super::accessor::Accessors;
use super::document::attribute;
use super::skeleton::BoundSkin;
use crate::character::{Attachment, Character, Severity};
use crate::io::error::Parsed;
use crate::math::{Affine, Point, Point64, transform_point};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Maximum number of sets of four influences.
const MOST_SETS: u32 = 16;

/// A sum that deviates more from 1 counts as not normalised; u8 weights deviate by a few 255ths.
const SUM_TOLERANCE: f32 = 0.02;

/// Counts of repairs.
#[derive(Default)]
pub struct WeightRepairs {
    not_numbers: usize,
    without_any: usize,
    not_normalised: usize,
    unknown_joints: usize,
    non_finite_sets: usize,
}

/// Weights on the skeleton; `None` if the primitive has none and is therefore unskinned.
pub fn read(
    primitive: &Primitive,
    positions: &[Point],
    accessors: &Accessors<'_>,
    skeleton: &Skeleton,
    skin: &BoundSkin,
    tally: &mut WeightRepairs,
) -> Parsed<Option<Attachment>> {
    let mut sets = Vec::new();
    for set in 0..MOST_SETS {
        let pair = [Semantic::Joints(set), Semantic::Weights(set)]
            .map(|semantic| attribute(primitive, semantic));
        match pair {
            [Some(joints), Some(weights)]
                if accessors.width(joints) == 4 && accessors.width(weights) == 4 =>
            {
                sets.push((
                    accessors.indices::<4>(joints)?,
                    accessors.reals::<4>(weights)?,
                ));
            }
            [None, None] => break,
            _ => tally.non_finite_sets += 1,
        }
    }
    if sets.is_empty() {
        return Ok(None);
    }
    let mut rows = Vec::with_capacity(sets.len() * 4);
    let mut unknown = 0;
    let mut not_numbers = 0;
    let mut not_normalised = 0;
    let made = (0..positions.len()).map(|vertex| {
        rows.clear();
        let mut sum = 0.0;
        let mut not_finite = false;
        for (joints, weights) in &sets {
            for (&joint, &weight) in joints[vertex].iter().zip(&weights[vertex]) {
                not_finite |= !weight.is_finite();
                sum += if weight.is_finite() { weight } else { 0.0 };
                match skin.joints.get(joint as usize) {
                    Some(&joint) => rows.push((joint as u32, weight)),
                    None => unknown += usize::from(weight != 0.0),
                }
            }
        }
        not_numbers += usize::from(not_finite);
        not_normalised +=
            usize::from(!not_finite && sum > 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE);
        rows.clone()
    });
    let (weights, empty) = SkinWeights::from_rows(made);
    tally.unknown_joints += unknown;
    tally.not_numbers += not_numbers;
    tally.not_normalised += not_normalised;
    tally.without_any += empty.len();
    let weights = if empty.is_empty() {
        weights
    } else {
        on_nearest_bone(&weights, &empty, positions, skeleton, skin)
    };
    let mut joint_from_mesh = vec![Affine::identity(); skeleton.len()];
    for (&joint, matrix) in skin.joints.iter().zip(&skin.joint_from_mesh) {
        joint_from_mesh[joint] = *matrix;
    }
    Ok(Some(Attachment::Skinned {
        weights,
        joint_from_mesh,
    }))
}

/// As [`on_nearest_bone`], for a mesh in world space and all joints.
pub(crate) fn give_to_nearest_bone(
    weights: SkinWeights,
    empty: &[usize],
    positions: &[Point],
    skeleton: &Skeleton,
) -> SkinWeights {
    if empty.is_empty() {
        return weights;
    }
    let joints: Vec<usize> = (0..skeleton.len()).collect();
    let joint_from_mesh = vec![Affine::identity(); joints.len()];
    let all = BoundSkin {
        joints,
        joint_from_mesh,
        world_from_mesh: Affine::identity(),
    };
    on_nearest_bone(&weights, empty, positions, skeleton, &all)
}

/// Gives each of the `empty` vertices full weight on the joint of the bone (of the skin) nearest to
/// it in the bind pose.
fn on_nearest_bone(
    weights: &SkinWeights,
    empty: &[usize],
    positions: &[Point],
    skeleton: &Skeleton,
    skin: &BoundSkin,
) -> SkinWeights {
    let mut in_skin = vec![false; skeleton.len()];
    for &joint in &skin.joints {
        in_skin[joint] = true;
    }
    let mut bones: Vec<(u32, Point64, Point64)> = Vec::new();
    for joint in (0..skeleton.len()).filter(|&j| in_skin[j]) {
        let head = skeleton.bind_position(joint);
        let before = bones.len();
        bones.extend(
            skeleton
                .children(joint)
                .iter()
                .filter(|&&c| in_skin[c])
                .map(|&c| (joint as u32, head, skeleton.bind_position(c))),
        );
        if bones.len() == before {
            bones.push((joint as u32, head, head));
        }
    }
    let nearest = |vertex: usize| {
        let p = transform_point(&skin.world_from_mesh, &positions[vertex]).cast::<f64>();
        let distance = |bone: &(u32, Point64, Point64)| squared_distance(&p, &bone.1, &bone.2);
        bones
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .map(|bone| (bone.0, 1.0))
    };
    let mut next_empty = empty.iter().copied().peekable();
    let rows = (0..positions.len()).map(|vertex| {
        if next_empty.next_if_eq(&vertex).is_some() {
            nearest(vertex).into_iter().collect::<Vec<_>>()
        } else {
            weights
                .of(vertex)
                .map(|(joint, weight)| (joint as u32, weight))
                .collect()
        }
    });
    SkinWeights::from_rows(rows).0
}

/// Squared distance of a point from a segment.
fn squared_distance(p: &Point64, a: &Point64, b: &Point64) -> f64 {
    let along = b - a;
    let length2 = along.norm_squared();
    let t = if length2 > 0.0 {
        ((p - a).dot(&along) / length2).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (p - (a + along * t)).norm_squared()
}

impl WeightRepairs {
    /// Adds notes for the user.
    pub fn note(&self, character: &mut Character) {
        let mut note = |count: usize, text: String| {
            if count > 0 {
                character.note(Severity::Mended, count, text);
            }
        };
        note(
            self.not_numbers,
            format!(
                "vertices with non-finite skin weights, which are ignored: {}",
                self.not_numbers
            ),
        );
        note(
            self.without_any,
            format!(
                "vertices without a usable skin weight, bound to the nearest bone: {}",
                self.without_any
            ),
        );
        note(
            self.not_normalised,
            format!(
                "vertices with normalised skin weights: {}",
                self.not_normalised
            ),
        );
        note(
            self.unknown_joints,
            format!(
                "ignored skin weights on joints outside the skin: {}",
                self.unknown_joints
            ),
        );
        note(
            self.non_finite_sets,
            format!(
                "ignored sets with joints but no weights, or weights but no joints: {}",
                self.non_finite_sets
            ),
        );
    }
}
