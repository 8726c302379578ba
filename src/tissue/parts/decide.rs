//! The decisions, part by part.

use super::evidence::{Evidence, Nearness};
use super::{PartMap, Parts, Place, Skin, clusters, layers};

/// A part is flesh if this much of its size are bones inside of it.
const BONES: f64 = 0.2;
/// Smaller parts than this part of the character are no flesh.
const SMALL: f64 = 0.005;
/// A tail makes flesh only of a part of at least this part of the character,
const TAIL_SIZE: f64 = 0.015;
/// and this mean thickness (six volumes over the area) for its size: a head, not a sword.
const TAIL_BULK: f64 = 0.2;
/// A part moves with one joint if the joint has this part of it.
const ALONE: f64 = 0.95;
/// A part is hard if one joint has this part of it by the file's weights: the file means it to keep its shape.
const HARD: f64 = 0.999;
/// What moves with a joint that moves less than this part of the flesh next to it, parents and children included, does not ride on it.
const RELATED: f64 = 0.1;
/// A joint that has less than this part of what it moves in the flesh moves no flesh.
const NO_FLESH: f64 = 0.02;
/// Parts that have less flesh near than this become flesh themselves.
const UNCOVERED: f64 = 0.5;
/// What lies on flesh of which more than this part moves with the same joint follows the flesh rather than the joint.
const SAME: f64 = 0.4;
/// If all flesh is less than this part of the area, the bones inside say nothing.
const ENOUGH: f64 = 0.25;

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
    let said: Vec<Option<Place>> = (0..parts.parts.len())
        .map(|index| {
            parts.said(overrides, index).filter(
                |place| !matches!(place, Place::Rigid { joint } if *joint >= skin.skeleton.len()),
            )
        })
        .collect();
    let size = f64::from(skin.mesh.bounds().size());
    let decided = {
        let evidence = Evidence::gather(skin, parts);
        let decision = Decision {
            evidence: &evidence,
            parts,
            said: &said,
            size,
        };
        let mut decided = decision.all();
        clusters::join(&mut decided, &evidence, parts);
        decided
    };
    for (part, (decided, said)) in parts.parts.iter_mut().zip(decided.into_iter().zip(&said)) {
        (part.place, part.reason, part.cluster) = (decided.place, decided.reason, decided.cluster);
        part.by_user = said.is_some();
    }
}

/// What was decided about one part.
pub(super) struct PartDecision {
    pub(super) place: Place,
    pub(super) reason: String,
    /// It rides as one stiff thing.
    pub(super) stiff: bool,
    /// The joint that it moves with alone, if parts that touch it shall do the same.
    pub(super) alone: Option<usize>,
    /// With which others it moves as one.
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
            alone: None,
            cluster: None,
        }
    }
}

struct Decision<'a> {
    evidence: &'a Evidence<'a>,
    parts: &'a Parts,
    said: &'a [Option<Place>],
    size: f64,
}

impl Decision<'_> {
    fn all(&self) -> Vec<PartDecision> {
        let (mut is_flesh, layer) = self.flesh();
        let mut promoted = vec![false; is_flesh.len()];
        // The largest first, so that small ones may ride on them.
        let mut order: Vec<usize> = (0..is_flesh.len())
            .filter(|&part| !is_flesh[part] && self.said[part].is_none())
            .collect();
        order.sort_by(|&a, &b| {
            self.parts.parts[b]
                .area
                .total_cmp(&self.parts.parts[a].area)
                .then(a.cmp(&b))
        });
        for part in order {
            let alone = self
                .evidence
                .leader(part)
                .is_some_and(|(_, share)| share >= ALONE);
            if !alone && !layer[part] && self.parts.parts[part].size() > SMALL * self.size {
                let near = self.evidence.nearness(part, &is_flesh, self.size);
                promoted[part] = near.is_none_or(|near| near.covered < UNCOVERED);
                is_flesh[part] |= promoted[part];
            }
        }
        let held = self.held_in_flesh(&is_flesh);
        (0..is_flesh.len())
            .map(|part| match (self.said[part], is_flesh[part]) {
                (Some(Place::Flesh), _) => PartDecision::flesh("you said so"),
                (_, true) if promoted[part] => {
                    PartDecision::flesh("there is no flesh near that it could ride on")
                }
                (_, true) => PartDecision::flesh("bones run through it"),
                (said, false) => self.other(
                    part,
                    said,
                    layer[part],
                    self.evidence.nearness(part, &is_flesh, self.size),
                    &held,
                ),
            })
            .collect()
    }

    /// Which parts are flesh by the bones inside of them, and which of those are layers over others instead.
    fn flesh(&self) -> (Vec<bool>, Vec<bool>) {
        let parts = &self.parts.parts;
        let through = self.evidence.through(
            &parts
                .iter()
                .map(super::SkinComponent::size)
                .collect::<Vec<_>>(),
        );
        let mut is_flesh: Vec<bool> = (0..parts.len())
            .map(|part| {
                let (this, bones) = (&parts[part], &through[part]);
                let bulk =
                    6.0 * self.evidence.volume[part].abs() / this.area.max(f64::MIN_POSITIVE);
                let tailed = this.size() > TAIL_SIZE * self.size && bulk > TAIL_BULK * this.size();
                let inside = bones.bones + if tailed { bones.tails } else { 0.0 };
                this.size() > SMALL * self.size && inside > BONES * this.size()
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
        if area_of(&is_flesh) < ENOUGH * total {
            // The bones are not where the skin is, or the skin is a soup: what moves with several joints is flesh.
            let several = |part: usize| {
                self.evidence
                    .leader(part)
                    .is_none_or(|(_, share)| share < ALONE)
            };
            (0..parts.len()).for_each(|part| is_flesh[part] |= several(part));
            if area_of(&is_flesh) < ENOUGH * total {
                is_flesh.fill(true);
            }
        }
        for (flesh, said) in is_flesh.iter_mut().zip(self.said) {
            *flesh = said.map_or(*flesh, |place| place == Place::Flesh);
        }
        self.harden(&mut is_flesh);
        let mut layer = layers::layers(self.evidence, &is_flesh);
        for part in 0..parts.len() {
            layer[part] &= self.said[part].is_none();
            is_flesh[part] &= !layer[part];
        }
        (is_flesh, layer)
    }

    /// Takes hard parts out of the flesh, unless nothing would be left of it.
    fn harden(&self, is_flesh: &mut [bool]) {
        let soft: Vec<bool> = (0..is_flesh.len())
            .map(|part| is_flesh[part] && (self.said[part].is_some() || !self.is_hard(part)))
            .collect();
        if soft.contains(&true) {
            is_flesh.copy_from_slice(&soft);
        }
    }

    /// Whether the file binds a part to one joint alone.
    fn is_hard(&self, part: usize) -> bool {
        self.evidence.skin.weights.is_some()
            && self
                .evidence
                .leader(part)
                .is_some_and(|(_, share)| share >= HARD)
    }

    /// Per joint which part of what it moves is flesh.
    fn held_in_flesh(&self, is_flesh: &[bool]) -> Vec<f64> {
        let mut held = vec![[0.0_f64; 2]; self.evidence.skin.skeleton.len()];
        for (movers, &flesh) in self.evidence.movers.iter().zip(is_flesh) {
            for &(joint, area) in movers {
                held[joint][0] += if flesh { area } else { 0.0 };
                held[joint][1] += area;
            }
        }
        held.into_iter()
            .map(|[flesh, all]| if all > 0.0 { flesh / all } else { 0.0 })
            .collect()
    }

    /// Whether a joint moves no flesh itself but is moved by one that does: an eye's or a weapon's, not the root of everything.
    fn hangs_on_flesh(&self, joint: usize, held: &[f64]) -> bool {
        let joints = self.evidence.skin.skeleton.joints();
        let mut above = std::iter::successors(joints[joint].parent, |&above| joints[above].parent);
        held[joint] < NO_FLESH && above.any(|above| held[above] >= NO_FLESH)
    }

    /// A part that is no flesh.
    fn other(
        &self,
        part: usize,
        said: Option<Place>,
        layer: bool,
        near: Option<Nearness>,
        held: &[f64],
    ) -> PartDecision {
        let size = self.parts.parts[part].size();
        let percent = 100.0 * size / self.size.max(f64::MIN_POSITIVE);
        let thickness = near.map_or(0.0, |near| near.thickness);
        let leader = self.evidence.leader(part);
        let alone = leader
            .filter(|&(_, share)| share >= ALONE)
            .map(|(joint, _)| joint);
        let name = |joint: usize| &self.evidence.skin.skeleton.joints()[joint].name;
        let stiff = size < thickness && !layer;
        let near = match (said, near) {
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
                let joint = leader.map_or(0, |(joint, _)| joint);
                return PartDecision::new(Place::Rigid { joint }, "there is no flesh to ride on");
            }
            (None, Some(near)) => near,
        };
        if let Some(joint) = alone {
            let with = |place: Place, why: &str| {
                let reason = format!("it moves with joint {} alone{why}", name(joint));
                PartDecision {
                    stiff: place == Place::Rides,
                    alone,
                    ..PartDecision::new(place, reason)
                }
            };
            let rigid = Place::Rigid { joint };
            let hard = self.is_hard(part) && size > thickness;
            return if hard {
                with(rigid, " in the file, as a hard thing does")
            } else if self.hangs_on_flesh(joint, held) {
                with(rigid, ", which moves no flesh")
            } else if near.distance > 0.5 * thickness {
                with(rigid, " and stands off the flesh")
            } else if near.same > SAME {
                with(Place::Rides, ", and so does the flesh next to it")
            } else if size > thickness {
                with(rigid, " and is as large as the limb")
            } else if near.related < RELATED {
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
