//! The participants of a drag, determined once at its start.

mod freedom;

use std::collections::BTreeSet;

use super::IkRig;
use super::drag::{DragConstraints, DraggedPoint, EndRotation};
use super::figure::Figure;
use super::limb::Limb;
use super::minimise::DegreeOfFreedom;
use super::toes::{PinnedFoot, Toes};
use super::two_bone::TwoBone;
use crate::math::{Point64, Quat};

/// How the dragged point is attached to the body.
#[derive(Debug, Clone)]
pub(super) enum DragUnit {
    /// The joint moves with its descendants.
    Whole { joint: usize },
    /// The joint and its ancestors rotate.
    Body { joint: usize },
    /// The point is on a limb's lower bone. `stays`: position and rotation of the limb's end at the
    /// start.
    Limb {
        bones: TwoBone,
        stays: Option<(Point64, Quat)>,
    },
    /// The point is on a chain beyond a limb's end: fingers.
    Beyond {
        bones: TwoBone,
        wrist: Point64,
        chain: Vec<DegreeOfFreedom>,
        reach: f64,
    },
    /// The same beyond a foot, which is the last joint of the chain.
    Toes {
        bones: TwoBone,
        ankle: Point64,
        chain: Vec<DegreeOfFreedom>,
        toes: Toes,
    },
    /// The point is on a limb with a pinned end: the elbow swivels about the line from shoulder to
    /// hand, and the hand keeps its rotation `turn`.
    Swivel {
        bones: TwoBone,
        wrist: Point64,
        turn: Quat,
    },
}

/// A pinned joint.
#[derive(Debug, Clone)]
pub(super) struct Pin {
    pub joint: usize,
    pub place: Point64,
    pub turn: Quat,
    /// The limb that ends in it, or in the foot that carries it, which adapts.
    pub bones: Option<TwoBone>,
    /// The foot, of pinned toes.
    pub foot: Option<PinnedFoot>,
}

/// All participants.
#[derive(Debug, Clone)]
pub(super) struct DragPlan {
    pub unit: DragUnit,
    pub movers: Vec<DegreeOfFreedom>,
    pub pins: Vec<Pin>,
    /// Joints to update during solving, parents first.
    pub joints: Vec<usize>,
    /// Diagonal of the skeleton's bounding box.
    pub size: f64,
    /// The joint that anchors the body, and the maximum distance of the dragged point from it;
    /// `None` if the hips move.
    pub reach_from_last: Option<(Point64, f64)>,
}

/// Growth factor of stiffness from a joint to its parent.
const GROWTH: f64 = 1.7;
/// The same beyond a limb: the torso shares the motion more evenly.
const CARRIER_GROWTH: f64 = 1.2;
/// Maximum exponent of that growth.
const MOST_STEPS: i32 = 12;
/// Minimum length of a lever, sizes.
const SHORTEST_LEVER: f64 = 0.02;
/// Additional stiffness of the hips.
const HIPS: f64 = 4.0;
/// On the lower bone, a point nearer to the elbow than this fraction of the upper bone drags the
/// upper bone.
const AT_ELBOW: f64 = 0.3;
/// A point of a leg with a pinned foot nearer to the hip joint than this fraction of the thigh pulls the hips.
const TOP_OF_LEG: f64 = 0.5;

impl DragPlan {
    pub fn of(
        start: &Figure<'_>,
        rig: &IkRig,
        grip: DraggedPoint,
        holding: &DragConstraints,
    ) -> Option<Self> {
        let size = size_of(start);
        if grip.joint >= start.skeleton.len() || !size.is_finite() {
            return None;
        }
        // A pinned joint that is dragged itself moves with unchanged rotation, and is pinned at its
        // new position.
        let (mut pinned, mut end) = (holding.pins.clone(), holding.end);
        if pinned.remove(&grip.joint) {
            end = EndRotation::Stays;
        }
        let pinned = &pinned;
        let maker = PlanBuilder {
            start,
            rig,
            pinned,
            size,
        };
        let held = start.point(grip.joint, &grip.point);
        let unit = maker.unit(grip, &held, end);
        let mut movers = Vec::new();
        let hips = maker.add_path(&unit, &held, &mut movers);
        let mut pins: Vec<Pin> = pinned
            .iter()
            .filter(|&&pin| pin < start.skeleton.len() && !maker.is_on_pinned_foot(pin))
            .map(|&pin| maker.pin(pin))
            .collect();
        if let Some(hips) = hips {
            maker.add_hips(hips, &unit, &pins, &held, &mut movers);
        }
        maker.add_pinned_paths(&pins, &mut movers);
        let moved = |joint: usize| {
            start
                .skeleton
                .path_up(joint)
                .any(|above| movers.iter().any(|mover| mover.joint == above))
        };
        pins.retain(|pin| moved(pin.joint));
        let mut joints: BTreeSet<usize> = start.skeleton.path_up(grip.joint).collect();
        for pin in &pins {
            joints.extend(start.skeleton.path_up(pin.joint));
        }
        if let DragUnit::Limb { bones, .. }
        | DragUnit::Beyond { bones, .. }
        | DragUnit::Toes { bones, .. }
        | DragUnit::Swivel { bones, .. } = &unit
        {
            joints.extend(start.skeleton.path_up(bones.limb.end));
        }
        let reach_from_last = maker.reach_from_last(grip.joint, &held, &movers);
        Some(Self {
            unit,
            movers,
            pins,
            joints: joints.into_iter().collect(),
            size,
            reach_from_last,
        })
    }
}

struct PlanBuilder<'a> {
    start: &'a Figure<'a>,
    rig: &'a IkRig,
    pinned: &'a BTreeSet<usize>,
    size: f64,
}

impl PlanBuilder<'_> {
    fn unit(&self, grip: DraggedPoint, held: &Point64, end: EndRotation) -> DragUnit {
        let skeleton = self.start.skeleton;
        let within = |joint: usize| grip.joint == joint || skeleton.is_below(grip.joint, joint);
        let at_origin = |joint: usize| (self.start.place(joint) - held).norm() < 1e-9 * self.size;
        if self.is_whole(grip.joint) {
            return DragUnit::Whole { joint: grip.joint };
        }
        let Some(limb) = self
            .rig
            .limbs
            .iter()
            .copied()
            .find(|limb| within(limb.upper))
        else {
            return DragUnit::Body { joint: grip.joint };
        };
        if self.is_end_pinned(limb) && !within(limb.end) {
            if limb.is_leg
                && !within(limb.lower)
                && let Some(hips) = self.hips_at_top_of(limb, held)
            {
                return DragUnit::Whole { joint: hips };
            }
            return match TwoBone::begin(self.start, limb, &self.start.place(limb.end)) {
                Some(bones) if !at_origin(limb.upper) => DragUnit::Swivel {
                    bones,
                    wrist: self.start.place(limb.end),
                    turn: super::figure::rotation_of(&self.start.world[limb.end]),
                },
                _ => DragUnit::Body { joint: grip.joint },
            };
        }
        let between = |pin: usize| {
            skeleton
                .path_up(grip.joint)
                .take_while(|&joint| joint != limb.upper)
                .any(|joint| joint == pin)
        };
        if self.pinned.contains(&limb.upper) || self.pinned.iter().any(|&pin| between(pin)) {
            return DragUnit::Body { joint: grip.joint };
        }
        if within(limb.end) && grip.joint != limb.end {
            return self
                .beyond(limb, grip.joint, held)
                .unwrap_or(DragUnit::Body { joint: grip.joint });
        }
        let [upper, elbow] = [limb.upper, limb.lower].map(|joint| self.start.place(joint));
        if !within(limb.lower) || (held - elbow).norm() < AT_ELBOW * (elbow - upper).norm() {
            // The elbow, or a point of the upper bone.
            let joint = if within(limb.lower) {
                limb.upper
            } else {
                grip.joint
            };
            return DragUnit::Body { joint };
        }
        let wrist = (end == EndRotation::Stays && grip.joint == limb.end).then(|| {
            (
                self.start.place(limb.end),
                super::figure::rotation_of(&self.start.world[limb.end]),
            )
        });
        match TwoBone::begin(self.start, limb, &wrist.map_or(*held, |(place, _)| place)) {
            Some(bones) => DragUnit::Limb {
                bones,
                stays: wrist,
            },
            None => DragUnit::Body { joint: grip.joint },
        }
    }

    /// The hips, if a point of a leg is so far up that they are pulled by it.
    fn hips_at_top_of(&self, limb: Limb, held: &Point64) -> Option<usize> {
        let [hip, knee] = [limb.upper, limb.lower].map(|joint| self.start.place(joint));
        let near = (held - hip).norm() < TOP_OF_LEG * (knee - hip).norm();
        let above = |&hips: &usize| self.start.skeleton.is_below(limb.upper, hips);
        self.rig
            .hips
            .filter(above)
            .filter(|hips| near && !self.pinned.contains(hips))
    }

    /// Whether a joint is translated rather than rotated: the hips, their ancestors, and a root
    /// that branches immediately.
    fn is_whole(&self, joint: usize) -> bool {
        match self.rig.hips {
            Some(hips) if joint == hips || self.start.skeleton.is_below(hips, joint) => true,
            _ => self.is_top(joint) && self.start.skeleton.children(joint).len() != 1,
        }
    }

    fn is_top(&self, joint: usize) -> bool {
        self.start.skeleton.joints()[joint].parent.is_none()
    }

    fn beyond(&self, limb: Limb, joint: usize, held: &Point64) -> Option<DragUnit> {
        let wrist = self.start.place(limb.end);
        let bones = TwoBone::begin(self.start, limb, &wrist)?;
        let (mut reach, mut at, mut chain) = (0.0, *held, Vec::new());
        for (above, step) in self
            .start
            .skeleton
            .path_up(joint)
            .take_while(|&above| above != limb.lower)
            .zip(0..)
        {
            let place = self.start.place(above);
            reach += (at - place).norm();
            at = place;
            chain.push(self.turner(above, held, step));
            if above == limb.end {
                break;
            }
        }
        // Before the foot's own position in the chain: the joint about which the toes rotate.
        let ball = chain
            .len()
            .checked_sub(2)
            .map(|below| chain[below].joint)
            .filter(|_| limb.is_leg);
        Some(match ball {
            Some(ball) => DragUnit::Toes {
                bones,
                ankle: wrist,
                chain,
                toes: Toes::of(self.start, limb, ball, held),
            },
            None => DragUnit::Beyond {
                bones,
                wrist,
                chain,
                reach,
            },
        })
    }

    fn pin(&self, joint: usize) -> Pin {
        let skeleton = self.start.skeleton;
        let carries = |end: usize| skeleton.is_below(joint, end);
        let limb = self
            .rig
            .limbs
            .iter()
            .copied()
            .find(|limb| limb.end == joint || limb.is_leg && carries(limb.end));
        let bones = limb
            .filter(|limb| {
                let between = skeleton.ancestors(joint);
                between
                    .take_while(|&above| above != limb.upper)
                    .chain([limb.upper])
                    .all(|above| !self.pinned.contains(&above))
            })
            .and_then(|limb| TwoBone::begin(self.start, limb, &self.start.place(limb.end)));
        let foot = bones
            .as_ref()
            .filter(|bones| bones.limb.end != joint)
            .map(|bones| PinnedFoot::of(self.start, bones.limb.end, joint));
        Pin {
            joint,
            place: self.start.place(joint),
            turn: super::figure::rotation_of(&self.start.world[joint]),
            bones,
            foot,
        }
    }

    /// Whether a joint is carried by another one of its foot that is pinned.
    fn is_on_pinned_foot(&self, joint: usize) -> bool {
        let skeleton = self.start.skeleton;
        self.rig.limbs.iter().any(|limb| {
            let of_foot = |&above: &usize| above == limb.end || skeleton.is_below(above, limb.end);
            let above = skeleton.ancestors(joint).take_while(of_foot);
            limb.is_leg && above.into_iter().any(|above| self.pinned.contains(&above))
        })
    }

    /// Whether the end of a limb is pinned, or toes of its foot are.
    fn is_end_pinned(&self, limb: Limb) -> bool {
        self.pinned.iter().any(|&pin| {
            pin == limb.end || limb.is_leg && self.start.skeleton.is_below(pin, limb.end)
        })
    }
}

/// Diagonal of the box around all joints.
fn size_of(figure: &Figure<'_>) -> f64 {
    let mut bounds = [
        crate::math::Vec64::repeat(f64::INFINITY),
        crate::math::Vec64::repeat(f64::NEG_INFINITY),
    ];
    for joint in 0..figure.skeleton.len() {
        let at = figure.place(joint).coords;
        bounds = [bounds[0].inf(&at), bounds[1].sup(&at)];
    }
    let size = (bounds[1] - bounds[0]).norm();
    // A single joint can also be moved.
    if size > 0.0 { size } else { 1.0 }
}
