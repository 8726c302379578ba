//! What contacts of guided flesh may do: which are allowed, and how far they press.

use super::{MARGIN, way};
use crate::collision::{CollisionBody, Contact};
use crate::math::{Point, Vec3, smoothstep};

/// Stiffness of a contact relative to that of the flesh at its vertices.
const HARDNESS: f32 = 30.0;
/// The same of guided flesh, so that what begins or ends to press hardly moves what presses already.
const GUIDED_HARDNESS: f32 = 5.0;
/// Surfaces in contact have targets with a cosine between their normals below this…
const FACING: f32 = 0.3;
/// …the normal of the contact agrees with theirs by this cosine…
const AGREEING: f32 = 0.2;
/// …and they are at most so many times as far from each other there as contacts may press them in. What overlaps by more than it can be
/// pressed in is pressed less and less, down to nothing here: pressed as far as it goes, it would still overlap, and be crumpled.
const NEAR: f32 = 3.0;
/// A contact ends when its targets move past each other by more than so many times that in one step.
const JUMP: f32 = 2.0;
/// A vertex whose contact was ended while it pressed begins no other for so many steps in which targets move: flesh that stands would
/// go back and forth between two states for ever.
const BAN_STEPS: u8 = 20;

/// Contacts of guided flesh press it out of what it overlaps by this part of how far they may press it in, per step; and ones that
/// are to end let it back by so many times that. So they begin and end softly.
const PRESS_OUT: f32 = 0.1;
const LET_BACK: f32 = 2.0;
/// The part of what the gap to be held lacks that is made up in a step: the place of a contact follows what it presses, and would
/// otherwise go to and fro with it.
const MAKE_UP: f32 = 0.1;
/// Where targets have stood for so many steps, contacts stay as they are, so that flesh comes to rest…
const STOOD: u32 = 60;
/// …and stood means within this part of the size.
const STANDS: f32 = 1e-3;

/// How far guided flesh may be pressed in.
///
/// Where targets lie inside each other, the base under them does, too, and there is no place for all of the flesh. So contacts press it
/// in by a part of its depth, and leave the rest of the overlap.
#[derive(Debug, Default)]
pub(in crate::dynamics) struct Room {
    /// Targets by vertex; empty without guidance.
    pub(in crate::dynamics) targets: Vec<Point>,
    /// Those of the step before.
    pub(in crate::dynamics) before: Vec<Point>,
    /// How far each may be pressed in, world units.
    pub(in crate::dynamics) give: Vec<f32>,
    /// By vertex for how many more steps it is in no contact; empty without guidance.
    pub(in crate::dynamics) bans: Vec<u8>,
    /// Where the targets were when they last moved, and for how many steps they have stood there.
    stood_at: Vec<Point>,
    stood: u32,
}

impl Room {
    /// Whether a contact may stay. One that may not, but presses, stays until it presses no more, if `softly`; its vertex is then in
    /// no other contact for a while.
    pub(in crate::dynamics) fn admits(
        &mut self,
        contact: &mut Contact,
        body: &CollisionBody,
        softly: bool,
    ) -> bool {
        let vertex = contact.vertex as usize;
        let Some(&steps) = self.bans.get(vertex) else {
            return true;
        };
        let pressing = contact.load > 0.0;
        let jumped = self.has_jumped(contact);
        if !jumped && !contact.ends && steps == 0 && self.allows(contact, body) {
            return true;
        }
        if pressing || contact.ends {
            self.bans[vertex] = BAN_STEPS;
        }
        contact.ends = pressing && softly && !jumped;
        contact.ends
    }

    /// Whether the targets of a contact moved past each other in this step.
    fn has_jumped(&self, contact: &Contact) -> bool {
        if self.before.len() != self.targets.len() {
            return false;
        }
        let moved = way(contact, &self.targets) - way(contact, &self.before);
        moved.norm() > JUMP * self.give_of(contact)
    }

    /// The gap that a contact is made to hold in this step.
    pub(in crate::dynamics) fn held(&self, contact: &Contact, softly: bool) -> f32 {
        let goal = (MARGIN * contact.edge).min(self.gap(contact));
        if self.targets.is_empty() || !softly {
            return goal;
        }
        let rate = PRESS_OUT * self.give_of(contact);
        if contact.ends {
            return contact.held - LET_BACK * rate;
        }
        let moved = if self.before.len() == self.targets.len() {
            way(contact, &self.targets) - way(contact, &self.before)
        } else {
            Vec3::zeros()
        };
        let held = contact.held + contact.normal.dot(&moved).min(0.0);
        held + (MAKE_UP * (goal - held)).min(rate)
    }

    /// Whether contacts are to stay as they are.
    pub(in crate::dynamics) fn has_stood(&self) -> bool {
        self.stood >= STOOD && !self.targets.is_empty()
    }

    /// Contacts are those of an equilibrium: they stay as they are until targets move.
    pub(in crate::dynamics) fn settle(&mut self) {
        self.stood = STOOD;
        self.stood_at.clone_from(&self.targets);
    }

    /// Contacts may change again.
    pub(in crate::dynamics) fn wake(&mut self) {
        self.stood = 0;
        self.stood_at.clear();
    }

    /// Counts a step in which targets stand.
    pub(in crate::dynamics) fn count_stood(&mut self, size: f32) {
        let stand = self.stood_at.len() == self.targets.len()
            && self
                .stood_at
                .iter()
                .zip(&self.targets)
                .all(|(stood, now)| (now - stood).norm() <= STANDS * size);
        if stand {
            self.stood = self.stood.saturating_add(1);
        } else {
            self.stood = 0;
            self.stood_at.clone_from(&self.targets);
        }
    }

    /// Counts a step down, unless all targets stand still.
    pub(in crate::dynamics) fn lift_bans(&mut self, still: f32) {
        let moved = self.before.len() != self.targets.len()
            || self
                .before
                .iter()
                .zip(&self.targets)
                .any(|(before, now)| (now - before).norm() > still);
        if moved {
            for steps in &mut self.bans {
                *steps = steps.saturating_sub(1);
            }
        }
    }

    /// Whether the guide allows a contact: at their targets the two surfaces face each other, are no farther apart than their flesh is
    /// deep. Others are left from a tangle and would keep it.
    fn allows(&self, contact: &Contact, body: &CollisionBody) -> bool {
        if body.are_back_to_back(contact.vertex, contact.corners, contact.weights) {
            return false;
        }
        let [a, b, c] = contact.corners.map(|v| self.targets[v as usize]);
        let own = body.area_normal(contact.vertex, &self.targets);
        let other = (b - a).cross(&(c - a));
        if own.dot(&other) >= FACING * own.norm() * other.norm() {
            return false;
        }
        let give = self.give_of(contact);
        // Tangled skin has other normals than its targets.
        let agrees = contact.normal.dot(&other) >= AGREEING * other.norm()
            && contact.normal.dot(&own) <= AGREEING * own.norm();
        if !agrees {
            return false;
        }
        way(contact, &self.targets).norm() <= NEAR * give + contact.edge
    }

    /// Stiffness of contacts relative to that of the flesh at their vertices.
    pub(in crate::dynamics) fn hardness(&self) -> f32 {
        if self.targets.is_empty() {
            HARDNESS
        } else {
            GUIDED_HARDNESS
        }
    }

    /// How far both surfaces together may be pressed in.
    fn give_of(&self, contact: &Contact) -> f32 {
        let corners = contact.corners.iter().zip(&contact.weights);
        let other: f32 = corners.map(|(&v, &w)| self.give[v as usize] * w).sum();
        self.give[contact.vertex as usize] + other
    }

    /// The largest gap that a contact may hold: that of its targets, and more where those lie inside each other. Targets that stand
    /// beside each other rather than opposite have no overlap to give way to, so that flesh always finds its way back to them.
    fn gap(&self, contact: &Contact) -> f32 {
        if self.targets.is_empty() {
            return f32::INFINITY;
        }
        let way = way(contact, &self.targets);
        let gap = contact.normal.dot(&way);
        let beside = (way - contact.normal * gap).norm();
        let opposite = 2.0 - beside / (gap.abs() + 0.5 * contact.edge).max(f32::MIN_POSITIVE);
        let give = self.give_of(contact);
        let overlap = -gap / give.max(f32::MIN_POSITIVE);
        gap + give * opposite.clamp(0.0, 1.0) * (1.0 - smoothstep([1.0, NEAR], overlap))
    }
}
