//! Decision about the place of every part.

use super::measurements::{FleshProximity, PartMeasurements};
use super::{PartMap, Parts, Place, Skin, clusters, layers};

/// Minimum length of bones inside a part of flesh, relative to its size.
const MIN_BONE_LENGTH: f64 = 0.2;
/// Minimum size of a part of flesh, relative to the character.
const MIN_FLESH_SIZE: f64 = 0.005;
/// A tail makes only those parts flesh that have at least this size relative to the character,
const MIN_TAIL_SIZE: f64 = 0.015;
/// and this mean thickness (six volumes over the area) relative to their size: a head, but not a sword.
const MIN_TAIL_BULK: f64 = 0.2;
/// Minimum share of one joint in a part that moves with this joint alone.
const SINGLE_JOINT_SHARE: f64 = 0.95;
/// Minimum share of one joint, by the file's weights, in a part that is rigid: the file means it to keep its shape.
const RIGID_SHARE: f64 = 0.999;
/// A part of one joint does not ride if its joint, with parent and children, moves less than this share of the flesh
/// next to it.
const MIN_RELATED_SHARE: f64 = 0.1;
/// A joint moves no flesh if less than this share of what it moves is flesh.
const MIN_FLESH_SHARE: f64 = 0.02;
/// A part becomes flesh if less than this share of its area has flesh near it.
const MIN_COVERED_SHARE: f64 = 0.5;
/// A part of one joint rides on the flesh if that joint moves more than this share of the flesh next to it.
const SAME_JOINT_SHARE: f64 = 0.4;
/// Minimum share of flesh in the total area; with less the bones inside are not used for the decision.
const MIN_FLESH_AREA: f64 = 0.25;

/// Fills in `place`, `cluster`, `by_user` and `reason`.
pub(super) fn decide(parts: &mut Parts, skin: &Skin<'_>, overrides: &PartMap) {
    let all_flesh = |parts: &mut Parts, reason: &str| {
        for part in &mut parts.parts {
            part.place = Place::Flesh;
            reason.clone_into(&mut part.reason);
        }
    };
    if skin.skeleton.is_empty() {
        return all_flesh(parts, "there are no bones");
    }
    if parts.parts.len() < 2 && overrides.is_empty() {
        return all_flesh(parts, "the skin is in one piece");
    }
    let chosen_place: Vec<Option<Place>> = (0..parts.parts.len())
        .map(|index| {
            parts.override_for(overrides, index).filter(
                |place| !matches!(place, Place::Rigid { joint } if *joint >= skin.skeleton.len()),
            )
        })
        .collect();
    let size = f64::from(skin.mesh.bounds().size());
    let decided = {
        let measured = PartMeasurements::new(skin, parts);
        let decision = Decision {
            measured: &measured,
            parts,
            chosen_place: &chosen_place,
            size,
        };
        let mut decided = decision.decide_all();
        clusters::assign_clusters(&mut decided, &measured, parts);
        decided
    };
    for (part, (decided, chosen_place)) in parts
        .parts
        .iter_mut()
        .zip(decided.into_iter().zip(&chosen_place))
    {
        (part.place, part.reason, part.cluster) = (decided.place, decided.reason, decided.cluster);
        part.by_user = chosen_place.is_some();
    }
}

/// The decision about one part.
pub(super) struct PartDecision {
    pub(super) place: Place,
    pub(super) reason: String,
    /// Whether it rides as a rigid whole.
    pub(super) stiff: bool,
    /// The joint that it moves with alone, if touching parts shall have the same place.
    pub(super) only_joint: Option<usize>,
    /// Number of its cluster.
    pub(super) cluster: Option<u32>,
}

impl PartDecision {
    fn flesh(reason: &str) -> Self {
        Self::new(Place::Flesh, reason)
    }

    fn new(place: Place, reason: impl Into<String>) -> Self {
        Self {
            place,
            reason: reason.into(),
            stiff: false,
            only_joint: None,
            cluster: None,
        }
    }
}

struct Decision<'a> {
    measured: &'a PartMeasurements<'a>,
    parts: &'a Parts,
    chosen_place: &'a [Option<Place>],
    size: f64,
}

impl Decision<'_> {
    fn decide_all(&self) -> Vec<PartDecision> {
        let (mut is_flesh, layer) = self.flesh();
        let mut promoted = vec![false; is_flesh.len()];
        // In descending order of area, so that small parts may ride on large ones.
        let mut order: Vec<usize> = (0..is_flesh.len())
            .filter(|&part| !is_flesh[part] && self.chosen_place[part].is_none())
            .collect();
        order.sort_by(|&a, &b| {
            self.parts.parts[b]
                .area
                .total_cmp(&self.parts.parts[a].area)
                .then(a.cmp(&b))
        });
        for part in order {
            let has_single_joint = self
                .measured
                .strongest_joint(part)
                .is_some_and(|(_, share)| share >= SINGLE_JOINT_SHARE);
            if !has_single_joint
                && !layer[part]
                && self.parts.parts[part].size() > MIN_FLESH_SIZE * self.size
            {
                let near = self.measured.flesh_proximity(part, &is_flesh, self.size);
                promoted[part] = near.is_none_or(|near| near.covered < MIN_COVERED_SHARE);
                is_flesh[part] |= promoted[part];
            }
        }
        let flesh_share = self.flesh_share_of_joints(&is_flesh);
        (0..is_flesh.len())
            .map(|part| match (self.chosen_place[part], is_flesh[part]) {
                (Some(Place::Flesh), _) => PartDecision::flesh("you said so"),
                (_, true) if promoted[part] => {
                    PartDecision::flesh("there is no flesh near that it could ride on")
                }
                (_, true) => PartDecision::flesh("bones run through it"),
                (chosen_place, false) => self.decide_non_flesh(
                    part,
                    chosen_place,
                    layer[part],
                    self.measured.flesh_proximity(part, &is_flesh, self.size),
                    &flesh_share,
                ),
            })
            .collect()
    }

    /// For every part whether it is flesh by the bones inside it, and whether it is a layer over other flesh instead.
    fn flesh(&self) -> (Vec<bool>, Vec<bool>) {
        let parts = &self.parts.parts;
        let bone_lengths = self.measured.bone_lengths(
            &parts
                .iter()
                .map(super::SkinComponent::size)
                .collect::<Vec<_>>(),
        );
        let mut is_flesh: Vec<bool> = (0..parts.len())
            .map(|part| {
                let (this, bones) = (&parts[part], &bone_lengths[part]);
                let bulk =
                    6.0 * self.measured.volume[part].abs() / this.area.max(f64::MIN_POSITIVE);
                let tailed =
                    this.size() > MIN_TAIL_SIZE * self.size && bulk > MIN_TAIL_BULK * this.size();
                let inside = bones.bones + if tailed { bones.tails } else { 0.0 };
                this.size() > MIN_FLESH_SIZE * self.size && inside > MIN_BONE_LENGTH * this.size()
            })
            .collect();
        let area_of = |marked: &[bool]| {
            parts
                .iter()
                .zip(marked)
                .filter(|(_, flesh)| **flesh)
                .map(|(part, _)| part.area)
                .sum::<f64>()
        };
        let total: f64 = parts.iter().map(|part| part.area).sum();
        if area_of(&is_flesh) < MIN_FLESH_AREA * total {
            // The bones do not fit the skin, or the skin is a triangle soup: parts moved by several joints are flesh.
            let several = |part: usize| {
                self.measured
                    .strongest_joint(part)
                    .is_none_or(|(_, share)| share < SINGLE_JOINT_SHARE)
            };
            (0..parts.len()).for_each(|part| is_flesh[part] |= several(part));
            if area_of(&is_flesh) < MIN_FLESH_AREA * total {
                is_flesh.fill(true);
            }
        }
        for (flesh, chosen_place) in is_flesh.iter_mut().zip(self.chosen_place) {
            *flesh = chosen_place.map_or(*flesh, |place| place == Place::Flesh);
        }
        self.exclude_rigid_parts(&mut is_flesh);
        let mut layer = layers::layers(self.measured, &is_flesh);
        for part in 0..parts.len() {
            layer[part] &= self.chosen_place[part].is_none();
            is_flesh[part] &= !layer[part];
        }
        (is_flesh, layer)
    }

    /// Removes rigid parts from the flesh, unless none would be left.
    fn exclude_rigid_parts(&self, is_flesh: &mut [bool]) {
        let soft: Vec<bool> = (0..is_flesh.len())
            .map(|part| {
                is_flesh[part]
                    && (self.chosen_place[part].is_some() || !self.is_bound_to_one_joint(part))
            })
            .collect();
        if soft.contains(&true) {
            is_flesh.copy_from_slice(&soft);
        }
    }

    /// Whether the file binds a part to one joint alone.
    fn is_bound_to_one_joint(&self, part: usize) -> bool {
        self.measured.skin.weights.is_some()
            && self
                .measured
                .strongest_joint(part)
                .is_some_and(|(_, share)| share >= RIGID_SHARE)
    }

    /// For every joint the share of flesh in what it moves.
    fn flesh_share_of_joints(&self, is_flesh: &[bool]) -> Vec<f64> {
        let mut flesh_share = vec![[0.0_f64; 2]; self.measured.skin.skeleton.len()];
        for (moving_joints, &flesh) in self.measured.moving_joints.iter().zip(is_flesh) {
            for &(joint, area) in moving_joints {
                flesh_share[joint][0] += if flesh { area } else { 0.0 };
                flesh_share[joint][1] += area;
            }
        }
        flesh_share
            .into_iter()
            .map(|[flesh, all]| if all > 0.0 { flesh / all } else { 0.0 })
            .collect()
    }

    /// Whether a joint moves no flesh but has an ancestor that does: the joint of an eye or a weapon, but not the root.
    fn is_below_flesh_joint(&self, joint: usize, flesh_share: &[f64]) -> bool {
        let joints = self.measured.skin.skeleton.joints();
        let mut above = std::iter::successors(joints[joint].parent, |&above| joints[above].parent);
        flesh_share[joint] < MIN_FLESH_SHARE
            && above.any(|above| flesh_share[above] >= MIN_FLESH_SHARE)
    }

    /// Decides about a part that is not flesh.
    fn decide_non_flesh(
        &self,
        part: usize,
        chosen_place: Option<Place>,
        layer: bool,
        near: Option<FleshProximity>,
        flesh_share: &[f64],
    ) -> PartDecision {
        let size = self.parts.parts[part].size();
        let percent = 100.0 * size / self.size.max(f64::MIN_POSITIVE);
        let thickness = near.map_or(0.0, |near| near.thickness);
        let strongest_joint = self.measured.strongest_joint(part);
        let only_joint = strongest_joint
            .filter(|&(_, share)| share >= SINGLE_JOINT_SHARE)
            .map(|(joint, _)| joint);
        let name = |joint: usize| &self.measured.skin.skeleton.joints()[joint].name;
        let stiff = size < thickness && !layer;
        let near = match (chosen_place, near) {
            (Some(Place::Rigid { joint }), _) => {
                return PartDecision::new(Place::Rigid { joint }, "you said so");
            }
            (Some(_), Some(_)) => {
                return PartDecision {
                    stiff,
                    ..PartDecision::new(Place::Rides, "you said so")
                };
            }
            (_, None) => {
                let joint = strongest_joint.map_or(0, |(joint, _)| joint);
                return PartDecision::new(Place::Rigid { joint }, "there is no flesh to ride on");
            }
            (None, Some(near)) => near,
        };
        if let Some(joint) = only_joint {
            let with = |place: Place, why: &str| {
                let reason = format!("it moves with joint {} alone{why}", name(joint));
                PartDecision {
                    stiff: place == Place::Rides,
                    only_joint,
                    ..PartDecision::new(place, reason)
                }
            };
            let rigid = Place::Rigid { joint };
            let hard = self.is_bound_to_one_joint(part) && size > thickness;
            return if hard {
                with(rigid, " in the file, as a hard thing does")
            } else if self.is_below_flesh_joint(joint, flesh_share) {
                with(rigid, ", which moves no flesh")
            } else if near.distance > 0.5 * thickness {
                with(rigid, " and stands off the flesh")
            } else if near.same > SAME_JOINT_SHARE {
                with(Place::Rides, ", and so does the flesh next to it")
            } else if size > thickness {
                with(rigid, " and is as large as the limb")
            } else if near.related < MIN_RELATED_SHARE {
                with(rigid, ", and the flesh next to it with others")
            } else {
                with(Place::Rides, " and is small")
            };
        }
        let reason = match (layer, stiff) {
            (true, _) => "it lies over other flesh as a layer".to_owned(),
            (false, true) => format!("small ({percent:.1} % of the size) and next to the flesh"),
            (false, false) => "no bone runs through it, and it lies on the flesh".to_owned(),
        };
        PartDecision {
            stiff,
            ..PartDecision::new(Place::Rides, reason)
        }
    }
}
