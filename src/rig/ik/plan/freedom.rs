//! Which joints a drag may move, and how stiff each of them is.

use std::collections::BTreeSet;

use super::{CARRIER_GROWTH, DragUnit, GROWTH, HIPS, MOST_STEPS, Pin, PlanBuilder, SHORTEST_LEVER};
use crate::math::Point64;
use crate::rig::ik::minimise::DegreeOfFreedom;

/// Rotation of the torso in one drag of a hand or foot, radians: a hand that is pulled away stretches the arm and leans
/// the body, and does not fold it. The next drag leans from there.
const LEAN: f64 = 0.7;

/// Divides the rotation among the joints of the torso.
fn share_lean(carriers: &mut [DegreeOfFreedom]) {
    let count = carriers.len().max(1) as f64;
    for carrier in carriers
        .iter_mut()
        .filter(|carrier| carrier.most.is_finite())
    {
        carrier.most = LEAN / count;
    }
}

impl PlanBuilder<'_> {
    pub(super) fn turner(&self, joint: usize, held: &Point64, step: i32) -> DegreeOfFreedom {
        let lever = ((held - self.start.place(joint)).norm() / self.size).max(SHORTEST_LEVER);
        DegreeOfFreedom {
            joint,
            shifts: false,
            stiffness: lever * lever * GROWTH.powi(step.min(MOST_STEPS)),
            hinge: None,
            most: f64::INFINITY,
        }
    }

    /// Ancestors of a limb: the torso takes a larger share than the clavicle.
    fn carrier(&self, joint: usize, held: &Point64, step: i32) -> DegreeOfFreedom {
        let lever = ((held - self.start.place(joint)).norm() / self.size).max(SHORTEST_LEVER);
        DegreeOfFreedom {
            joint,
            shifts: false,
            stiffness: 0.2 * lever * CARRIER_GROWTH.powi(step.min(MOST_STEPS)),
            hinge: None,
            most: LEAN,
        }
    }

    /// The ancestors of the unit, up to the hips (which are returned), a pin, or the root.
    pub(super) fn add_path(
        &self,
        unit: &DragUnit,
        held: &Point64,
        movers: &mut Vec<DegreeOfFreedom>,
    ) -> Option<usize> {
        let limb = matches!(
            unit,
            DragUnit::Limb { .. } | DragUnit::Beyond { .. } | DragUnit::Toes { .. }
        );
        let (from, held) = match unit {
            DragUnit::Whole { joint } => {
                movers.push(DegreeOfFreedom {
                    joint: *joint,
                    shifts: true,
                    stiffness: 1.0,
                    hinge: None,
                    most: f64::INFINITY,
                });
                return None;
            }
            DragUnit::Swivel { .. } => return None,
            DragUnit::Body { joint } => (Some(*joint), *held),
            DragUnit::Limb { bones, .. }
            | DragUnit::Beyond { bones, .. }
            | DragUnit::Toes { bones, .. } => (
                self.start.skeleton.joints()[bones.limb.upper].parent,
                self.start.place(bones.limb.upper),
            ),
        };
        let first = movers.len();
        for (joint, step) in self.start.skeleton.path_up(from?).zip(0..) {
            let pinned = self.pinned.contains(&joint);
            if pinned || Some(joint) == self.rig.hips || self.is_top(joint) {
                share_lean(&mut movers[first..]);
                return (!pinned).then_some(joint);
            }
            let turner = self.turner(joint, &held, step);
            movers.push(if limb {
                self.carrier(joint, &held, step)
            } else {
                turner
            });
        }
        None
    }

    pub(super) fn reach_from_last(
        &self,
        joint: usize,
        held: &Point64,
        movers: &[DegreeOfFreedom],
    ) -> Option<(Point64, f64)> {
        if movers.iter().any(|mover| mover.shifts) {
            return None;
        }
        let last = movers.iter().map(|mover| mover.joint).min()?;
        let (mut at, mut reach) = (*held, 0.0);
        for above in self.start.skeleton.path_up(joint) {
            let place = self.start.place(above);
            reach += (at - place).norm();
            at = place;
            if above == last {
                return Some((at, reach));
            }
        }
        None
    }

    /// Hips translate if something other than the dragged limb holds the body in place; otherwise
    /// they rotate only if nothing else helps.
    pub(super) fn add_hips(
        &self,
        hips: usize,
        unit: &DragUnit,
        pins: &[Pin],
        held: &Point64,
        movers: &mut Vec<DegreeOfFreedom>,
    ) {
        let skeleton = self.start.skeleton;
        let branch = |joint: usize| {
            skeleton
                .path_up(joint)
                .take_while(|&above| above != hips)
                .last()
        };
        let own = movers
            .last()
            .map(|mover| mover.joint)
            .or_else(|| match unit {
                DragUnit::Limb { bones, .. }
                | DragUnit::Beyond { bones, .. }
                | DragUnit::Toes { bones, .. } => branch(bones.limb.upper),
                DragUnit::Body { joint } => branch(*joint),
                DragUnit::Whole { .. } | DragUnit::Swivel { .. } => None,
            });
        let standing = pins
            .iter()
            .any(|pin| skeleton.is_below(pin.joint, hips) && branch(pin.joint) != own);
        let steps = i32::try_from(movers.len()).unwrap_or(MOST_STEPS);
        let alone = movers.is_empty() && matches!(unit, DragUnit::Body { .. });
        if standing || alone || skeleton.children(hips).len() == 1 {
            let turner = self.turner(hips, held, steps);
            movers.push(DegreeOfFreedom {
                stiffness: turner.stiffness * if alone { 1.0 } else { HIPS },
                ..turner
            });
        }
        if standing {
            let stiffness = HIPS * GROWTH.powi(steps.min(MOST_STEPS));
            movers.push(DegreeOfFreedom {
                joint: hips,
                shifts: true,
                stiffness,
                hinge: None,
                most: f64::INFINITY,
            });
        }
    }

    /// Joints between the moving body and a pin help to keep the pin.
    pub(super) fn add_pinned_paths(&self, pins: &[Pin], movers: &mut Vec<DegreeOfFreedom>) {
        let moving: BTreeSet<usize> = movers.iter().map(|mover| mover.joint).collect();
        for pin in pins {
            let (from, at) = match &pin.bones {
                Some(bones) => (
                    self.start.skeleton.joints()[bones.limb.upper].parent,
                    self.start.place(bones.limb.upper),
                ),
                None => (self.start.skeleton.joints()[pin.joint].parent, pin.place),
            };
            let Some(from) = from else { continue };
            let path: Vec<usize> = self
                .start
                .skeleton
                .path_up(from)
                .take_while(|joint| !moving.contains(joint))
                .collect();
            // Ancestors of the pin do not move.
            if path.last().is_some_and(|&top| self.is_top(top)) {
                continue;
            }
            for (&joint, step) in path.iter().zip(0..) {
                if !movers.iter().any(|mover| mover.joint == joint) && !self.pinned.contains(&joint)
                {
                    movers.push(self.turner(joint, &at, step));
                }
            }
        }
    }
}
