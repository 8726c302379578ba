//! Left and right: mirror partners of joints, and mirrored poses.
//!
//! Partners are found by their names (`arm.L`/`arm.R`, `LeftArm`/`RightArm`, `l_arm`, `arm_l` …),
//! otherwise by their rest positions on both sides of the mirror plane. A joint without a partner
//! that lies on the plane is its own partner.
//!
//! With M the reflection and Tⱼ the rotation of joint j from rest about the rest pose's world axes,
//! the mirrored pose rotates j's partner by M Tⱼ M. World rotations are products of such rotations
//! along the chain, so the whole body is mirrored, independent of the joints' axes; mirroring twice
//! restores the pose exactly, because M M = 1.

use super::{Pose, Skeleton, Trs};
use crate::math::{Affine, Point64, Quat, Vec64, linear_part, origin_of};

/// Partners of joints, and the plane between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Symmetry {
    partner: Vec<usize>,
    /// Whether partners are at mirrored positions.
    normal: Vec64,
    point: Point64,
    base_linear: Vec<nalgebra::Matrix3<f64>>,
}

/// How a pose is mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorHow {
    /// Both sides are exchanged.
    #[default]
    Flip,
    /// Partners get the mirrored pose of the given joints, which stay unchanged.
    Copy,
}

impl Symmetry {
    /// Finds the partners of a skeleton's joints.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        let world = skeleton.world_from_joint(&skeleton.rest_pose());
        let places: Vec<Vec64> = world.iter().map(|world| origin_of(world).coords).collect();
        let mut partner: Vec<Option<usize>> = by_names(skeleton);
        let (normal, point) =
            plane_of(&places, &partner).unwrap_or_else(|| best_plane(skeleton, &places));
        by_places(skeleton, &places, &normal, &point, &mut partner);
        let partner = partner
            .into_iter()
            .enumerate()
            .map(|(joint, partner)| partner.unwrap_or(joint))
            .collect();
        let base_linear = (0..skeleton.len())
            .map(|joint| linear_part(&base(skeleton, &world, joint)))
            .collect();
        Self {
            partner,
            normal,
            point: Point64::from(point),
            base_linear,
        }
    }

    /// The partner of a joint; the joint itself if it has none.
    #[must_use]
    pub fn partner(&self, joint: usize) -> usize {
        self.partner.get(joint).copied().unwrap_or(joint)
    }

    /// Whether there is any pair.
    #[must_use]
    pub fn has_pairs(&self) -> bool {
        self.partner
            .iter()
            .enumerate()
            .any(|(joint, partner)| joint != *partner)
    }

    /// The mirror image of a direction, at rest.
    #[must_use]
    pub fn mirrored_vector(&self, vector: &Vec64) -> Vec64 {
        vector - self.normal * (2.0 * vector.dot(&self.normal))
    }

    /// The mirror image of a point, at rest.
    #[must_use]
    pub fn mirrored_point(&self, point: &Point64) -> Point64 {
        point - self.normal * (2.0 * (point - self.point).dot(&self.normal))
    }

    /// The mirrored pose: all joints, or these and their partners.
    ///
    /// With [`MirrorHow::Copy`] the given joints stay and their partners follow; a joint that is
    /// its own partner stays. Without given joints nothing changes.
    #[must_use]
    pub fn mirrored(
        &self,
        skeleton: &Skeleton,
        pose: &Pose,
        joints: Option<&[usize]>,
        how: MirrorHow,
    ) -> Pose {
        let mut out = pose.clone();
        if pose.locals.len() != skeleton.len() || self.partner.len() != skeleton.len() {
            return out;
        }
        let all: Vec<usize> = (0..skeleton.len()).collect();
        for &joint in joints.unwrap_or(&all) {
            let partner = self.partner(joint);
            match how {
                _ if joint >= skeleton.len() => {}
                MirrorHow::Flip => {
                    out.locals[partner] = self.seen_from(skeleton, pose, joint, partner);
                    out.locals[joint] = self.seen_from(skeleton, pose, partner, joint);
                }
                MirrorHow::Copy if joints.is_some() && partner != joint => {
                    out.locals[partner] = self.seen_from(skeleton, pose, joint, partner);
                }
                MirrorHow::Copy => {}
            }
        }
        out
    }

    /// The transform of `to` that mirrors that of `from`.
    fn seen_from(&self, skeleton: &Skeleton, pose: &Pose, from: usize, to: usize) -> Trs {
        let (rest_from, rest_to) = (&skeleton.joints()[from].rest, &skeleton.joints()[to].rest);
        let local = &pose.locals[from];
        let (base_from, base_to) = (
            rotation(&self.base_linear[from]),
            rotation(&self.base_linear[to]),
        );
        let turn =
            base_from * (local.rotation * rest_from.rotation.inverse()) * base_from.inverse();
        // A reflection reverses the rotation about the reflected axis.
        let axis = turn.imag();
        let mirrored = axis - self.normal * (2.0 * axis.dot(&self.normal));
        let turn = Quat::new_unchecked(nalgebra::Quaternion::from_parts(turn.w, -mirrored));
        let shift = self.base_linear[from] * (local.translation - rest_from.translation);
        let shift = shift - self.normal * (2.0 * shift.dot(&self.normal));
        let shift = self.base_linear[to]
            .try_inverse()
            .map_or_else(Vec64::zeros, |inverse| inverse * shift);
        Trs {
            translation: rest_to.translation + shift,
            rotation: base_to.inverse() * turn * base_to * rest_to.rotation,
            scale: rest_to.scale + (local.scale - rest_from.scale),
        }
    }
}

fn rotation(linear: &nalgebra::Matrix3<f64>) -> Quat {
    Trs::from_affine(&crate::math::affine(linear, &Vec64::zeros())).rotation
}

fn base(skeleton: &Skeleton, world: &[Affine], joint: usize) -> Affine {
    let own = &skeleton.joints()[joint];
    own.parent.map_or(own.parent_from_base, |parent| {
        world[parent] * own.parent_from_base
    })
}

/// The name on the other side.
#[must_use]
pub fn mirrored_name(name: &str) -> Option<String> {
    const WORDS: [(&str, &str); 3] = [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")];
    for (left, right) in WORDS {
        if name.contains(left) {
            return Some(name.replacen(left, right, 1));
        }
        if name.contains(right) {
            return Some(name.replacen(right, left, 1));
        }
    }
    // A single L or R: at an end or between separators; or before a capital, as in lHand, but not
    // in "Rib" or "Leg".
    let letters: Vec<char> = name.chars().collect();
    let separator = |at: Option<&char>| at.is_none_or(|c| !c.is_alphanumeric());
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let alone =
            separator(before) && (separator(after) || after.is_some_and(char::is_ascii_digit));
        let grown =
            letter.is_lowercase() && separator(before) && after.is_some_and(|c| c.is_uppercase());
        if alone || grown {
            let other = match letter {
                'L' => 'R',
                'R' => 'L',
                'l' => 'r',
                'r' => 'l',
                _ => continue,
            };
            let mut mirrored = letters.clone();
            mirrored[at] = other;
            return Some(mirrored.into_iter().collect());
        }
    }
    None
}

fn by_names(skeleton: &Skeleton) -> Vec<Option<usize>> {
    let index: std::collections::HashMap<&str, usize> = skeleton
        .joints()
        .iter()
        .enumerate()
        .map(|(joint, found)| (found.name.as_str(), joint))
        .collect();
    let partner =
        |name: &str| mirrored_name(name).and_then(|other| index.get(other.as_str()).copied());
    let found: Vec<Option<usize>> = skeleton
        .joints()
        .iter()
        .map(|joint| partner(&joint.name))
        .collect();
    // Only pairs that agree in both directions.
    found
        .iter()
        .enumerate()
        .map(|(joint, other)| other.filter(|&other| other != joint && found[other] == Some(joint)))
        .collect()
}

/// The plane between pairs, perpendicular to the mean difference of partners.
fn plane_of(places: &[Vec64], partner: &[Option<usize>]) -> Option<(Vec64, Vec64)> {
    let pairs = || {
        partner.iter().enumerate().filter_map(|(joint, other)| {
            other
                .filter(|&other| joint < other)
                .map(|other| (joint, other))
        })
    };
    // Orients all differences alike, by the first one.
    let widest = pairs()
        .map(|(a, b)| places[a] - places[b])
        .max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    let between: Vec64 = pairs()
        .map(|(a, b)| {
            let across = places[a] - places[b];
            if across.dot(&widest) < 0.0 {
                -across
            } else {
                across
            }
        })
        .sum();
    let normal = between.try_normalize(1e-12)?;
    let count = pairs().count() as f64;
    let middle: Vec64 = pairs()
        .map(|(a, b)| (places[a] + places[b]) / 2.0)
        .sum::<Vec64>()
        / count;
    // An almost axis-aligned normal is made axis-aligned.
    let straight = [Vec64::x(), Vec64::y(), Vec64::z()]
        .into_iter()
        .find(|axis| axis.dot(&normal).abs() > 0.9995);
    Some((
        straight.map_or(normal, |axis| axis * axis.dot(&normal).signum()),
        middle,
    ))
}

/// Without names: the axis-aligned plane through the centre that matches most joints.
fn best_plane(skeleton: &Skeleton, places: &[Vec64]) -> (Vec64, Vec64) {
    let roots = (0..skeleton.len()).filter(|&joint| skeleton.joints()[joint].parent.is_none());
    let middle = roots
        .map(|joint| places[joint])
        .next()
        .unwrap_or_else(Vec64::zeros);
    let tolerance = tolerance(places);
    let score = |normal: &Vec64| {
        let mirrored = |place: &Vec64| place - normal * (2.0 * (place - middle).dot(normal));
        let off_plane = |place: &Vec64| (place - middle).dot(normal).abs() > tolerance;
        places
            .iter()
            .filter(|place| {
                off_plane(place) && nearest(places, &mirrored(place), tolerance).is_some()
            })
            .count()
    };
    // The first if equal: left and right are usually along X.
    let axes = [Vec64::z(), Vec64::y(), Vec64::x()];
    let normal = axes.into_iter().max_by_key(score).unwrap_or_else(Vec64::x);
    (normal, middle)
}

fn by_places(
    skeleton: &Skeleton,
    places: &[Vec64],
    normal: &Vec64,
    point: &Vec64,
    partner: &mut [Option<usize>],
) {
    let tolerance = tolerance(places);
    // Parents come first: children of partners are partners.
    for joint in 0..places.len() {
        let off = (places[joint] - point).dot(normal);
        if partner[joint].is_some() || off.abs() <= tolerance {
            continue;
        }
        let mirrored = places[joint] - normal * (2.0 * off);
        let parent = skeleton.joints()[joint].parent;
        let parent = parent.map(|parent| partner[parent].unwrap_or(parent));
        let fits = |other: usize| {
            partner[other].is_none()
                && other != joint
                && skeleton.joints()[other].parent == parent
                && skeleton.children(other).len() == skeleton.children(joint).len()
        };
        let found = (0..places.len())
            .filter(|&other| fits(other))
            .map(|other| (other, (places[other] - mirrored).norm()))
            .filter(|(_, distance)| *distance <= tolerance)
            .min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((other, _)) = found {
            partner[joint] = Some(other);
            partner[other] = Some(joint);
        }
    }
}

fn nearest(places: &[Vec64], to: &Vec64, within: f64) -> Option<usize> {
    places
        .iter()
        .position(|place| (place - to).norm() <= within)
}

/// Maximum distance of a partner from the mirror image.
fn tolerance(places: &[Vec64]) -> f64 {
    let least = places
        .iter()
        .fold(Vec64::repeat(f64::INFINITY), |a, b| a.inf(b));
    let most = places
        .iter()
        .fold(Vec64::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    if places.is_empty() {
        0.0
    } else {
        0.015 * (most - least).norm()
    }
}

#[cfg(test)]
mod tests;
