//! What contacts of guided flesh may do: which are allowed, and how far they press.

use super::{MARGIN, separation};
use crate::collision::{CollisionBody, Contact};
use crate::math::{Point, Vec3, smoothstep};

/// Stiffness of a contact relative to that of the flesh at its vertices.
const RELATIVE_STIFFNESS: f32 = 30.0;
/// The same of guided flesh, so that what begins or ends to press hardly moves what presses already.
const GUIDED_RELATIVE_STIFFNESS: f32 = 5.0;
/// Surfaces in contact have targets with a cosine between their normals below this…
const MAX_FACING_COSINE: f32 = 0.3;
/// …the normal of the contact agrees with theirs by this cosine…
const MIN_NORMAL_COSINE: f32 = 0.2;
/// …and they are at most so many times as far from each other there as contacts may press them in. What overlaps by more than it can be
/// pressed in is pressed less and less, down to nothing here: pressed as far as it goes, it would still overlap, and be crumpled.
const MAX_OVERLAP: f32 = 3.0;
/// A contact ends when its targets move past each other by more than so many times that in one step.
const MAX_TARGET_JUMP: f32 = 2.0;
/// A vertex whose contact was ended while it pressed begins no other for so many steps in which targets move: flesh that stands would
/// go back and forth between two states for ever.
const COOLDOWN_STEPS: u8 = 20;

/// Contacts of guided flesh press it out of what it overlaps by this part of how far they may press it in, per step; and ones that
/// are to end let it back by so many times that. So they begin and end softly.
const PRESS_RATE: f32 = 0.1;
const RELEASE_FACTOR: f32 = 2.0;
/// The part of what the gap to be held lacks that is made up in a step: the place of a contact follows what it presses, and would
/// otherwise go to and fro with it.
const GAP_RELAXATION: f32 = 0.1;
/// Where targets have stood for so many steps, contacts stay as they are, so that flesh comes to rest…
const STATIC_STEPS: u32 = 60;
/// …and stood means within this part of the size.
const STATIC_TOLERANCE: f32 = 1e-3;

/// How far guided flesh may be pressed in.
///
/// Where targets lie inside each other, the base under them does, too, and there is no place for all of the flesh. So contacts press it
/// in by a part of its depth, and leave the rest of the overlap.
#[derive(Debug, Default)]
pub(in crate::dynamics) struct ContactLimits {
    /// Targets by vertex; empty without guidance.
    pub(in crate::dynamics) targets: Vec<Point>,
    /// Those of the step before.
    pub(in crate::dynamics) previous_targets: Vec<Point>,
    /// How far each may be pressed in, world units.
    pub(in crate::dynamics) max_press: Vec<f32>,
    /// By vertex for how many more steps it is in no contact; empty without guidance.
    pub(in crate::dynamics) cooldown: Vec<u8>,
    /// Where the targets were when they last moved, and for how many steps they have stood there.
    static_targets: Vec<Point>,
    static_steps: u32,
}

impl ContactLimits {
    /// Whether a contact may stay. One that may not, but presses, stays until it presses no more, if `softly`; its vertex is then in
    /// no other contact for a while.
    pub(in crate::dynamics) fn should_keep(
        &mut self,
        contact: &mut Contact,
        body: &CollisionBody,
        gradual: bool,
    ) -> bool {
        let vertex = contact.vertex as usize;
        let Some(&remaining) = self.cooldown.get(vertex) else {
            return true;
        };
        let loaded = contact.load > 0.0;
        let has_jumped = self.has_jumped(contact);
        if !has_jumped && !contact.ending && remaining == 0 && self.is_consistent(contact, body) {
            return true;
        }
        if loaded || contact.ending {
            self.cooldown[vertex] = COOLDOWN_STEPS;
        }
        contact.ending = loaded && gradual && !has_jumped;
        contact.ending
    }

    /// Whether the targets of a contact moved past each other in this step.
    fn has_jumped(&self, contact: &Contact) -> bool {
        if self.previous_targets.len() != self.targets.len() {
            return false;
        }
        let moved =
            separation(contact, &self.targets) - separation(contact, &self.previous_targets);
        moved.norm() > MAX_TARGET_JUMP * self.max_press_of(contact)
    }

    /// The gap that a contact is made to hold in this step.
    pub(in crate::dynamics) fn next_min_gap(&self, contact: &Contact, gradual: bool) -> f32 {
        let goal = (MARGIN * contact.edge).min(self.max_gap(contact));
        if self.targets.is_empty() || !gradual {
            return goal;
        }
        let rate = PRESS_RATE * self.max_press_of(contact);
        if contact.ending {
            return contact.min_gap - RELEASE_FACTOR * rate;
        }
        let moved = if self.previous_targets.len() == self.targets.len() {
            separation(contact, &self.targets) - separation(contact, &self.previous_targets)
        } else {
            Vec3::zeros()
        };
        let min_gap = contact.min_gap + contact.normal.dot(&moved).min(0.0);
        min_gap + (GAP_RELAXATION * (goal - min_gap)).min(rate)
    }

    /// Whether contacts are to stay as they are.
    pub(in crate::dynamics) fn is_frozen(&self) -> bool {
        self.static_steps >= STATIC_STEPS && !self.targets.is_empty()
    }

    /// Contacts are those of an equilibrium: they stay as they are until targets move.
    pub(in crate::dynamics) fn freeze(&mut self) {
        self.static_steps = STATIC_STEPS;
        self.static_targets.clone_from(&self.targets);
    }

    /// Contacts may change again.
    pub(in crate::dynamics) fn unfreeze(&mut self) {
        self.static_steps = 0;
        self.static_targets.clear();
    }

    /// Counts a step in which targets stand.
    pub(in crate::dynamics) fn count_static_step(&mut self, size: f32) {
        let is_static = self.static_targets.len() == self.targets.len()
            && self
                .static_targets
                .iter()
                .zip(&self.targets)
                .all(|(before, now)| (now - before).norm() <= STATIC_TOLERANCE * size);
        if is_static {
            self.static_steps = self.static_steps.saturating_add(1);
        } else {
            self.static_steps = 0;
            self.static_targets.clone_from(&self.targets);
        }
    }

    /// Counts a step down, unless all targets stand still.
    pub(in crate::dynamics) fn count_down(&mut self, tolerance: f32) {
        let moved = self.previous_targets.len() != self.targets.len()
            || self
                .previous_targets
                .iter()
                .zip(&self.targets)
                .any(|(before, now)| (now - before).norm() > tolerance);
        if moved {
            for remaining in &mut self.cooldown {
                *remaining = remaining.saturating_sub(1);
            }
        }
    }

    /// Whether the guide allows a contact: at their targets the two surfaces face each other, are no farther apart than their flesh is
    /// deep. Others are left from a tangle and would keep it.
    fn is_consistent(&self, contact: &Contact, body: &CollisionBody) -> bool {
        if body.are_opposite_sides(contact.vertex, contact.corners, contact.weights) {
            return false;
        }
        let [a, b, c] = contact.corners.map(|v| self.targets[v as usize]);
        let own = body.area_normal(contact.vertex, &self.targets);
        let other = (b - a).cross(&(c - a));
        if own.dot(&other) >= MAX_FACING_COSINE * own.norm() * other.norm() {
            return false;
        }
        let max_press = self.max_press_of(contact);
        // Tangled skin has other normals than its targets.
        let normals_agree = contact.normal.dot(&other) >= MIN_NORMAL_COSINE * other.norm()
            && contact.normal.dot(&own) <= MIN_NORMAL_COSINE * own.norm();
        if !normals_agree {
            return false;
        }
        separation(contact, &self.targets).norm() <= MAX_OVERLAP * max_press + contact.edge
    }

    /// Stiffness of contacts relative to that of the flesh at their vertices.
    pub(in crate::dynamics) fn relative_stiffness(&self) -> f32 {
        if self.targets.is_empty() {
            RELATIVE_STIFFNESS
        } else {
            GUIDED_RELATIVE_STIFFNESS
        }
    }

    /// How far both surfaces together may be pressed in.
    fn max_press_of(&self, contact: &Contact) -> f32 {
        let corners = contact.corners.iter().zip(&contact.weights);
        let other: f32 = corners.map(|(&v, &w)| self.max_press[v as usize] * w).sum();
        self.max_press[contact.vertex as usize] + other
    }

    /// The largest gap that a contact may hold: that of its targets, and more where those lie inside each other. Targets that stand
    /// beside each other rather than opposite have no overlap to give way to, so that flesh always finds its way back to them.
    fn max_gap(&self, contact: &Contact) -> f32 {
        if self.targets.is_empty() {
            return f32::INFINITY;
        }
        let separation = separation(contact, &self.targets);
        let gap = contact.normal.dot(&separation);
        let lateral = (separation - contact.normal * gap).norm();
        let alignment = 2.0 - lateral / (gap.abs() + 0.5 * contact.edge).max(f32::MIN_POSITIVE);
        let max_press = self.max_press_of(contact);
        let overlap = -gap / max_press.max(f32::MIN_POSITIVE);
        gap + max_press
            * alignment.clamp(0.0, 1.0)
            * (1.0 - smoothstep([1.0, MAX_OVERLAP], overlap))
    }
}
