//! What takes part in a drag: decided once, when it begins.

use std::collections::BTreeSet;

use super::IkRig;
use super::drag::{EndTurn, Grip, Held};
use super::figure::Figure;
use super::limb::{Limb, is_below, path_up};
use super::minimise::Mover;
use super::toes::Toes;
use super::two_bone::TwoBone;
use crate::math::{Point64, Quat};

/// How the point held hangs on the body.
#[derive(Debug, Clone)]
pub(super) enum Unit {
    /// The joint is moved with everything on it.
    Whole { joint: usize },
    /// The joint and what carries it turn.
    Body { joint: usize },
    /// The point is carried by a limb's lower bone. What `stays`: the end's place at the start, and its turn.
    Limb { bones: TwoBone, stays: Option<(Point64, Quat)> },
    /// The point is carried by joints from a limb's end on: fingers.
    Beyond { bones: TwoBone, wrist: Point64, chain: Vec<Mover>, reach: f64 },
    /// The same beyond a foot, which the chain ends with.
    Toes { bones: TwoBone, ankle: Point64, chain: Vec<Mover>, toes: Toes },
    /// The point is on a limb whose end is pinned: the elbow swings about the line from shoulder to hand.
    Swivel { bones: TwoBone, wrist: Point64 },
}

/// A joint that stays where it is.
#[derive(Debug, Clone)]
pub(super) struct Pin {
    pub joint: usize,
    pub place: Point64,
    pub turn: Quat,
    /// The limb that it ends, which gives way.
    pub bones: Option<TwoBone>,
}

/// Everything that takes part.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub unit: Unit,
    pub movers: Vec<Mover>,
    pub pins: Vec<Pin>,
    /// Joints to refresh while solving, parents first.
    pub joints: Vec<usize>,
    /// Length of the skeleton's box.
    pub size: f64,
    /// What the body hangs on, and how far from it the point held can be; nothing if the hips move.
    pub tether: Option<(Point64, f64)>,
}

/// Growth of stiffness from a joint to the one that carries it.
const GROWTH: f64 = 1.7;
/// The same for what carries a limb: the torso gives way more evenly.
const CARRIER_GROWTH: f64 = 1.2;
/// The exponent of that growth, at most.
const MOST_STEPS: i32 = 12;
/// A lever counts as no shorter than this, sizes.
const SHORTEST_LEVER: f64 = 0.02;
/// Hips would rather not turn or move.
const HIPS: f64 = 4.0;
/// On the lower bone, nearer to the elbow than this part of the upper bone, the upper bone is held.
const AT_ELBOW: f64 = 0.3;

impl Plan {
    pub fn of(start: &Figure<'_>, rig: &IkRig, grip: Grip, holding: &Held) -> Option<Self> {
        let size = size_of(start);
        if grip.joint >= start.skeleton.len() || !size.is_finite() {
            return None;
        }
        // A pinned joint that is dragged itself goes along, turned as it is, and stays at its new place.
        let (mut pinned, mut end) = (holding.pins.clone(), holding.end);
        if pinned.remove(&grip.joint) {
            end = EndTurn::Stays;
        }
        let pinned = &pinned;
        let maker = Maker { start, rig, pinned, size };
        let held = start.point(grip.joint, &grip.point);
        let unit = maker.unit(grip, &held, end);
        let mut movers = Vec::new();
        let hips = maker.add_path(&unit, &held, &mut movers);
        let mut pins: Vec<Pin> = pinned.iter().filter(|&&pin| pin < start.skeleton.len()).map(|&pin| maker.pin(pin)).collect();
        if let Some(hips) = hips {
            maker.add_hips(hips, &unit, &pins, &held, &mut movers);
        }
        maker.add_pinned_paths(&pins, &mut movers);
        let moved = |joint: usize| path_up(start.skeleton, joint).any(|above| movers.iter().any(|mover| mover.joint == above));
        pins.retain(|pin| moved(pin.joint));
        let mut joints: BTreeSet<usize> = path_up(start.skeleton, grip.joint).collect();
        for pin in &pins {
            joints.extend(path_up(start.skeleton, pin.joint));
        }
        if let Unit::Limb { bones, .. } | Unit::Beyond { bones, .. } | Unit::Toes { bones, .. } | Unit::Swivel { bones, .. } = &unit {
            joints.extend(path_up(start.skeleton, bones.limb.end));
        }
        let tether = maker.tether(grip.joint, &held, &movers);
        Some(Self { unit, movers, pins, joints: joints.into_iter().collect(), size, tether })
    }
}

struct Maker<'a> {
    start: &'a Figure<'a>,
    rig: &'a IkRig,
    pinned: &'a BTreeSet<usize>,
    size: f64,
}

impl Maker<'_> {
    fn unit(&self, grip: Grip, held: &Point64, end: EndTurn) -> Unit {
        let skeleton = self.start.skeleton;
        let within = |joint: usize| grip.joint == joint || is_below(skeleton, joint, grip.joint);
        let at_origin = |joint: usize| (self.start.place(joint) - held).norm() < 1e-9 * self.size;
        if self.is_whole(grip.joint) {
            return Unit::Whole { joint: grip.joint };
        }
        let Some(limb) = self.rig.limbs.iter().copied().find(|limb| within(limb.upper)) else {
            return Unit::Body { joint: grip.joint };
        };
        if self.pinned.contains(&limb.end) && !within(limb.end) {
            return match TwoBone::begin(self.start, limb, &self.start.place(limb.end)) {
                Some(bones) if !at_origin(limb.upper) => Unit::Swivel { bones, wrist: self.start.place(limb.end) },
                _ => Unit::Body { joint: grip.joint },
            };
        }
        let between = |pin: usize| path_up(skeleton, grip.joint).take_while(|&joint| joint != limb.upper).any(|joint| joint == pin);
        if self.pinned.contains(&limb.upper) || self.pinned.iter().any(|&pin| between(pin)) {
            return Unit::Body { joint: grip.joint };
        }
        if within(limb.end) && grip.joint != limb.end {
            return self.beyond(limb, grip.joint, held).unwrap_or(Unit::Body { joint: grip.joint });
        }
        let [upper, elbow] = [limb.upper, limb.lower].map(|joint| self.start.place(joint));
        if !within(limb.lower) || (held - elbow).norm() < AT_ELBOW * (elbow - upper).norm() {
            // The elbow, or a point of the upper bone.
            let joint = if within(limb.lower) { limb.upper } else { grip.joint };
            return Unit::Body { joint };
        }
        let wrist = (end == EndTurn::Stays && grip.joint == limb.end)
            .then(|| (self.start.place(limb.end), super::figure::rotation_of(&self.start.world[limb.end])));
        match TwoBone::begin(self.start, limb, &wrist.map_or(*held, |(place, _)| place)) {
            Some(bones) => Unit::Limb { bones, stays: wrist },
            None => Unit::Body { joint: grip.joint },
        }
    }

    /// Whether a joint is moved rather than turned: the hips, what carries them, and the root of anything that branches at once.
    fn is_whole(&self, joint: usize) -> bool {
        match self.rig.hips {
            Some(hips) if joint == hips || is_below(self.start.skeleton, joint, hips) => true,
            _ => self.is_top(joint) && self.start.skeleton.children(joint).len() != 1,
        }
    }

    fn is_top(&self, joint: usize) -> bool {
        self.start.skeleton.joints()[joint].parent.is_none()
    }

    fn beyond(&self, limb: Limb, joint: usize, held: &Point64) -> Option<Unit> {
        let wrist = self.start.place(limb.end);
        let bones = TwoBone::begin(self.start, limb, &wrist)?;
        let (mut reach, mut at, mut chain) = (0.0, *held, Vec::new());
        for (above, step) in path_up(self.start.skeleton, joint).take_while(|&above| above != limb.lower).zip(0..) {
            let place = self.start.place(above);
            reach += (at - place).norm();
            at = place;
            chain.push(self.turner(above, held, step));
            if above == limb.end {
                break;
            }
        }
        // Above the foot's own place in the chain: what the toes turn about.
        let ball = chain.len().checked_sub(2).map(|below| chain[below].joint).filter(|_| limb.is_leg);
        Some(match ball {
            Some(ball) => Unit::Toes { bones, ankle: wrist, chain, toes: Toes::of(self.start, limb, ball, held) },
            None => Unit::Beyond { bones, wrist, chain, reach },
        })
    }

    fn turner(&self, joint: usize, held: &Point64, step: i32) -> Mover {
        let lever = ((held - self.start.place(joint)).norm() / self.size).max(SHORTEST_LEVER);
        Mover { joint, shifts: false, stiffness: lever * lever * GROWTH.powi(step.min(MOST_STEPS)), hinge: None }
    }

    /// What carries a limb: the torso takes more of it than the clavicle.
    fn carrier(&self, joint: usize, held: &Point64, step: i32) -> Mover {
        let lever = ((held - self.start.place(joint)).norm() / self.size).max(SHORTEST_LEVER);
        Mover { joint, shifts: false, stiffness: 0.2 * lever * CARRIER_GROWTH.powi(step.min(MOST_STEPS)), hinge: None }
    }

    /// The joints that carry the unit, up to the hips (which come back), a pin, or the root.
    fn add_path(&self, unit: &Unit, held: &Point64, movers: &mut Vec<Mover>) -> Option<usize> {
        let limb = matches!(unit, Unit::Limb { .. } | Unit::Beyond { .. } | Unit::Toes { .. });
        let (from, held) = match unit {
            Unit::Whole { joint } => {
                movers.push(Mover { joint: *joint, shifts: true, stiffness: 1.0, hinge: None });
                return None;
            }
            Unit::Swivel { .. } => return None,
            Unit::Body { joint } => (Some(*joint), *held),
            Unit::Limb { bones, .. } | Unit::Beyond { bones, .. } | Unit::Toes { bones, .. } => {
                (self.start.skeleton.joints()[bones.limb.upper].parent, self.start.place(bones.limb.upper))
            }
        };
        for (joint, step) in path_up(self.start.skeleton, from?).zip(0..) {
            if self.pinned.contains(&joint) {
                return None;
            }
            if Some(joint) == self.rig.hips || self.is_top(joint) {
                return Some(joint);
            }
            let turner = self.turner(joint, &held, step);
            movers.push(if limb { self.carrier(joint, &held, step) } else { turner });
        }
        None
    }

    fn tether(&self, joint: usize, held: &Point64, movers: &[Mover]) -> Option<(Point64, f64)> {
        if movers.iter().any(|mover| mover.shifts) {
            return None;
        }
        let last = movers.iter().map(|mover| mover.joint).min()?;
        let (mut at, mut reach) = (*held, 0.0);
        for above in path_up(self.start.skeleton, joint) {
            let place = self.start.place(above);
            reach += (at - place).norm();
            at = place;
            if above == last {
                return Some((at, reach));
            }
        }
        None
    }

    /// Hips move where something else than the limb held keeps the body in place; without that, they turn only if nothing else can.
    fn add_hips(&self, hips: usize, unit: &Unit, pins: &[Pin], held: &Point64, movers: &mut Vec<Mover>) {
        let skeleton = self.start.skeleton;
        let branch = |joint: usize| path_up(skeleton, joint).take_while(|&above| above != hips).last();
        let own = movers.last().map(|mover| mover.joint).or_else(|| match unit {
            Unit::Limb { bones, .. } | Unit::Beyond { bones, .. } | Unit::Toes { bones, .. } => branch(bones.limb.upper),
            Unit::Body { joint } => branch(*joint),
            Unit::Whole { .. } | Unit::Swivel { .. } => None,
        });
        let standing = pins.iter().any(|pin| is_below(skeleton, hips, pin.joint) && branch(pin.joint) != own);
        let steps = i32::try_from(movers.len()).unwrap_or(MOST_STEPS);
        let alone = movers.is_empty() && matches!(unit, Unit::Body { .. });
        if standing || alone || skeleton.children(hips).len() == 1 {
            let turner = self.turner(hips, held, steps);
            movers.push(Mover { stiffness: turner.stiffness * if alone { 1.0 } else { HIPS }, ..turner });
        }
        if standing {
            let stiffness = HIPS * GROWTH.powi(steps.min(MOST_STEPS));
            movers.push(Mover { joint: hips, shifts: true, stiffness, hinge: None });
        }
    }

    /// What lies between the body that moves and a pin helps to keep the pin.
    fn add_pinned_paths(&self, pins: &[Pin], movers: &mut Vec<Mover>) {
        let moving: BTreeSet<usize> = movers.iter().map(|mover| mover.joint).collect();
        for pin in pins {
            let (from, at) = match &pin.bones {
                Some(bones) => (self.start.skeleton.joints()[bones.limb.upper].parent, self.start.place(bones.limb.upper)),
                None => (self.start.skeleton.joints()[pin.joint].parent, pin.place),
            };
            let Some(from) = from else { continue };
            let path: Vec<usize> = path_up(self.start.skeleton, from).take_while(|joint| !moving.contains(joint)).collect();
            // Nothing that carries the pin moves.
            if path.last().is_some_and(|&top| self.is_top(top)) {
                continue;
            }
            for (&joint, step) in path.iter().zip(0..) {
                if !movers.iter().any(|mover| mover.joint == joint) && !self.pinned.contains(&joint) {
                    movers.push(self.turner(joint, &at, step));
                }
            }
        }
    }

    fn pin(&self, joint: usize) -> Pin {
        let place = self.start.place(joint);
        let limb = self.rig.limbs.iter().copied().find(|limb| limb.end == joint);
        let bones = limb
            .filter(|limb| !self.pinned.contains(&limb.upper) && !self.pinned.contains(&limb.lower))
            .and_then(|limb| TwoBone::begin(self.start, limb, &place));
        Pin { joint, place, turn: super::figure::rotation_of(&self.start.world[joint]), bones }
    }
}

/// Diagonal of the box around all joints.
fn size_of(figure: &Figure<'_>) -> f64 {
    let mut bounds = [crate::math::Vec64::repeat(f64::INFINITY), crate::math::Vec64::repeat(f64::NEG_INFINITY)];
    for joint in 0..figure.skeleton.len() {
        let at = figure.place(joint).coords;
        bounds = [bounds[0].inf(&at), bounds[1].sup(&at)];
    }
    let size = (bounds[1] - bounds[0]).norm();
    // One joint alone can be moved, too.
    if size > 0.0 { size } else { 1.0 }
}
