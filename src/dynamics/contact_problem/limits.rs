//! Limits on contacts of guided flesh: which contacts are allowed, and how far they may press the flesh.

use nalgebra::Matrix3;

use super::{MARGIN, separation};
use crate::collision::{CollisionBody, Contact, Release};
use crate::math::{Point, Vec3, smoothstep};

/// Stiffness of a contact relative to that of the flesh at its vertices.
const RELATIVE_STIFFNESS: f32 = 30.0;
/// The same for guided flesh. It is lower so that a contact that begins or ends hardly moves the other contacts.
const GUIDED_RELATIVE_STIFFNESS: f32 = 5.0;
/// Overlap at which a contact of guided flesh reaches that stiffness, as a fraction of the local edge length.
const SOFT_RANGE: f32 = 0.1;
/// Gap that contacts of guided flesh keep, as a fraction of the local edge length. Between the simulated vertices the full-resolution
/// skin is displaced by interpolation, whose error in a fold is a good part of an edge: with [`MARGIN`] the simulated skins would
/// be apart and the full-resolution skins would still intersect.
const GUIDED_MARGIN: f32 = 0.4;
/// Contacts keep at most this fraction of the distance at rest, so that flesh always returns to its rest shape.
const MAX_REST_FRACTION: f32 = 0.5;
/// A contact is allowed only if the cosine between the normals of both surfaces at their targets is below this.
const MAX_FACING_COSINE: f32 = 0.3;
/// A contact is allowed only if, at the targets, the cosine between its normal and the triangle's normal is at least this, and the
/// cosine between its normal and the vertex's own normal at most this.
const NORMAL_COSINE: f32 = 0.2;
/// Overlaps of the targets deeper than the first of these multiples of `max_press` are reduced less and less, down to zero at the second:
/// with the full press they would still overlap, and the flesh would be crumpled. A contact is allowed only if its targets are at most
/// the second multiple apart.
const OVERLAPS: [f32; 2] = [0.7, 2.0];
/// So are overlaps deeper than the flesh under the triangle is thick, in multiples of that: the target of the vertex has passed the bone
/// of the other limb. Pressed on, the flesh would stick to that limb, and follow it when it leaves.
const PASSED_THROUGH: [f32; 2] = [1.0, 2.0];
/// A contact ends at once when its targets move relative to each other by more than this many times `max_press` in one step, or this
/// many local edge lengths where the flesh is thinner than those: there any motion is large compared with `max_press`.
const MAX_TARGET_JUMP: f32 = 2.0;
/// Number of steps with moving targets in which a vertex gets no new contact after a loaded contact was ended. Without it, flesh
/// over static targets would alternate between two states.
const COOLDOWN_STEPS: u8 = 20;

/// Largest increase of a contact's gap per step, as a fraction of `max_press`: contacts of guided flesh begin gradually.
const PRESS_RATE: f32 = 0.1;
/// Largest change of that increase from step to step, as a fraction of the local edge length: contacts begin without a jolt;
const PRESS_ACCELERATION: f32 = 6e-4;
/// or as a fraction of what its targets move relative to each other in the step: in fast motions they begin in time;
const PRESS_OF_MOTION: f32 = 3e-3;
/// or as a fraction of the change of that motion from step to step: where the targets themselves move with jolts, smaller ones of the
/// contacts are not seen, and they begin in time in motions that begin or turn within a few steps.
const PRESS_OF_CHANGE: f32 = 0.1;
/// A contact that is released loses this fraction of its stiffness in the first step,
const RELEASE_START: f32 = 5e-3;
/// more in each further step by this many times the logarithm of what it has lost, and at most this. So the release begins and ends
/// without a jolt, and deep contacts, which jumps leave behind, end in as many steps as shallow ones.
const RELEASE_GROWTH: f32 = 0.2;
const MAX_RELEASE_RATE: f32 = 0.2;
/// It ends when it has less than this fraction of its stiffness.
const MIN_HOLD: f32 = 1e-3;
/// Fraction of the remaining difference to the desired gap that is applied per step. The contact point follows the skin that it
/// presses; larger fractions make the two oscillate.
const GAP_RELAXATION: f32 = 0.1;
/// Contacts are frozen after the targets have been static for this many steps, so that held poses come to rest.
const STATIC_STEPS: u32 = 60;
/// Targets are static while they move less than this fraction of the size.
const STATIC_TOLERANCE: f32 = 1e-3;

/// Limits on contacts of guided flesh.
///
/// Where the targets of two surfaces overlap, the base surfaces below them overlap, too, and there is not enough space for all of
/// the flesh. So contacts press the flesh in only by a fraction of its depth, and leave the rest of the overlap.
#[derive(Debug, Clone, Default)]
pub(in crate::dynamics) struct ContactLimits {
    /// Target positions by vertex, world units; empty without guidance.
    pub(in crate::dynamics) targets: Vec<Point>,
    /// Target positions of the previous step; empty in the first one.
    previous_targets: Vec<Point>,
    /// Those of the step before it; empty in the first two.
    older_targets: Vec<Point>,
    /// Whether the next targets are those of a first step.
    is_first_step: bool,
    /// Largest distance by which each vertex may be pressed in, world units.
    pub(in crate::dynamics) max_press: Vec<f32>,
    /// Per vertex, the number of steps left in which it gets no contact; empty without guidance.
    pub(in crate::dynamics) cooldown: Vec<u8>,
    /// Reference positions for [`Self::count_static_step`], and the number of steps since the targets last left them.
    static_targets: Vec<Point>,
    static_steps: u32,
}

impl ContactLimits {
    /// Approximate memory of its vectors.
    pub(in crate::dynamics) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.targets)
            + size_of_val(&*self.previous_targets)
            + size_of_val(&*self.older_targets)
            + size_of_val(&*self.max_press)
            + size_of_val(&*self.cooldown)
            + size_of_val(&*self.static_targets)
    }

    /// Whether a contact is kept. A contact that is not allowed any more but carries a load is kept until its load is zero if
    /// `gradual` is set. Its vertex then gets no other contact for [`COOLDOWN_STEPS`].
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
        let loaded = is_loaded(contact);
        let has_jumped = self.has_jumped(contact);
        let stays = loaded && gradual && !has_jumped;
        if contact.release == Release::Replaced {
            return stays;
        }
        let released = contact.release == Release::Refused;
        if !has_jumped && !released && remaining == 0 && self.is_consistent(contact, body) {
            return true;
        }
        if loaded || released {
            self.cooldown[vertex] = COOLDOWN_STEPS;
        }
        contact.release = Release::Refused;
        stays
    }

    /// Whether the targets of a contact moved relative to each other by more than [`MAX_TARGET_JUMP`] in this step.
    fn has_jumped(&self, contact: &Contact) -> bool {
        self.moved(contact).norm() > MAX_TARGET_JUMP * self.max_press_of(contact).max(contact.edge)
    }

    /// How far the vertex of a contact has moved relative to its contact point in this step, at the targets.
    fn moved(&self, contact: &Contact) -> Vec3 {
        if self.previous_targets.len() == self.targets.len() {
            separation(contact, &self.targets) - separation(contact, &self.previous_targets)
        } else {
            Vec3::zeros()
        }
    }

    /// By how much that motion differs from the motion in the step before; zero in the first two steps.
    fn change_of_motion(&self, contact: &Contact) -> Vec3 {
        if self.older_targets.len() == self.targets.len() {
            separation(contact, &self.targets) - 2.0 * separation(contact, &self.previous_targets)
                + separation(contact, &self.older_targets)
        } else {
            Vec3::zeros()
        }
    }

    /// Whether contacts keep the skins a good part of an edge apart; only those of guided flesh do.
    pub(in crate::dynamics) fn keeps_a_gap(&self) -> bool {
        !self.targets.is_empty()
    }

    /// Sets the gap that a contact is constrained to keep in this step, or softens the contact if it is being released.
    pub(in crate::dynamics) fn update_min_gap(
        &self,
        contact: &mut Contact,
        body: &CollisionBody,
        gradual: bool,
    ) {
        let goal = |contact: &Contact| {
            let margin = self.margin(contact, body);
            margin.min(self.max_gap(contact, body))
        };
        if self.targets.is_empty() || !gradual {
            contact.min_gap = goal(contact);
            return;
        }
        let moved = self.moved(contact);
        contact.min_gap += contact.normal.dot(&moved).min(0.0);
        if contact.release != Release::No {
            soften(contact);
            return;
        }
        let rate = PRESS_RATE * self.max_press_of(contact);
        contact.increase = (GAP_RELAXATION * (goal(contact) - contact.min_gap))
            .min(rate)
            .min(contact.increase.max(0.0) + self.press_acceleration(contact, moved));
        contact.min_gap += contact.increase;
    }

    /// Largest change of the increase of a contact's gap in this step, world units, where its targets have moved by `moved`.
    fn press_acceleration(&self, contact: &Contact, moved: Vec3) -> f32 {
        (PRESS_ACCELERATION * contact.edge)
            .max(PRESS_OF_MOTION * moved.norm())
            .max(PRESS_OF_CHANGE * self.change_of_motion(contact).norm())
    }

    /// The gap that a contact keeps if the flesh has room for it, world units.
    fn margin(&self, contact: &Contact, body: &CollisionBody) -> f32 {
        let least = MARGIN * contact.edge;
        if self.targets.is_empty() {
            return least;
        }
        let at_rest = separation(contact, body.rest_positions()).norm();
        (GUIDED_MARGIN * contact.edge)
            .min(MAX_REST_FRACTION * at_rest)
            .max(least)
    }

    /// Whether the set of contacts is frozen: none begins, and only those that are being released end.
    pub(in crate::dynamics) fn is_frozen(&self) -> bool {
        self.static_steps >= STATIC_STEPS && !self.targets.is_empty()
    }

    /// Goes on with the release of a contact of a frozen set. Returns whether it is kept.
    pub(in crate::dynamics) fn keep_frozen(contact: &mut Contact) -> bool {
        contact.old = true;
        if contact.release == Release::No {
            return true;
        }
        soften(contact);
        is_loaded(contact)
    }

    /// Freezes the contacts, which are those of an equilibrium, until the targets move.
    pub(in crate::dynamics) fn freeze(&mut self) {
        self.static_steps = STATIC_STEPS;
        self.static_targets.clone_from(&self.targets);
    }

    /// Forgets the steps before: contacts may change, and the next targets have not moved.
    pub(in crate::dynamics) fn forget(&mut self) {
        self.cooldown.fill(0);
        self.static_steps = 0;
        self.static_targets.clear();
        self.previous_targets.clear();
        self.older_targets.clear();
        self.is_first_step = true;
    }

    /// Sets the targets of a step.
    pub(in crate::dynamics) fn set_targets(&mut self, targets: impl Iterator<Item = Point>) {
        std::mem::swap(&mut self.previous_targets, &mut self.older_targets);
        std::mem::swap(&mut self.targets, &mut self.previous_targets);
        if std::mem::take(&mut self.is_first_step) {
            self.previous_targets.clear();
            self.older_targets.clear();
        }
        self.targets.clear();
        self.targets.extend(targets);
        self.cooldown.resize(self.targets.len(), 0);
    }

    /// Counts a step in which the targets are static, or restarts the count if they moved.
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

    /// Decreases the cooldown of all vertices by one step if any target moved by more than `tolerance`, world units.
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

    /// Whether a contact agrees with the targets: there the two surfaces face each other, and their distance is at most
    /// what [`OVERLAPS`] allow. Other contacts are remains of a tangled state and would preserve it.
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
        // The normals of tangled skin differ from those of its targets.
        let normals_agree = contact.normal.dot(&other) >= NORMAL_COSINE * other.norm()
            && contact.normal.dot(&own) <= NORMAL_COSINE * own.norm();
        if !normals_agree {
            return false;
        }
        separation(contact, &self.targets).norm() <= OVERLAPS[1] * max_press + contact.edge
    }

    /// Stiffness of contacts relative to that of the flesh at their vertices.
    pub(in crate::dynamics) fn relative_stiffness(&self) -> f32 {
        if self.targets.is_empty() {
            RELATIVE_STIFFNESS
        } else {
            GUIDED_RELATIVE_STIFFNESS
        }
    }

    /// Overlap at which a contact reaches its full stiffness, as a fraction of the local edge length; 0 if all are hard.
    pub(in crate::dynamics) fn soft_range(&self) -> f32 {
        if self.targets.is_empty() {
            0.0
        } else {
            SOFT_RANGE
        }
    }

    /// Largest distance by which both surfaces together may be pressed in, world units.
    fn max_press_of(&self, contact: &Contact) -> f32 {
        let corners = contact.corners.iter().zip(&contact.weights);
        let other: f32 = corners.map(|(&v, &w)| self.max_press[v as usize] * w).sum();
        self.max_press[contact.vertex as usize] + other
    }

    /// The largest gap that a contact may be constrained to keep, world units: the gap between its targets, plus `max_press` where
    /// the targets overlap. Targets that are laterally apart rather than opposite do not overlap; for them nothing is added, so
    /// that the flesh can always return to its targets. Nor is more added than the targets have moved relative to each other since
    /// rest: in the rest pose no contact presses, so none that a pose left behind can outlive that pose.
    fn max_gap(&self, contact: &Contact, body: &CollisionBody) -> f32 {
        if self.targets.is_empty() {
            return f32::INFINITY;
        }
        let separation = separation(contact, &self.targets);
        let gap = contact.normal.dot(&separation);
        let lateral = (separation - contact.normal * gap).norm();
        let alignment = 2.0 - lateral / (gap.abs() + 0.5 * contact.edge).max(f32::MIN_POSITIVE);
        let max_press = self.max_press_of(contact);
        let overlap = -gap / max_press.max(f32::MIN_POSITIVE);
        let moved = relative_motion(contact, body.rest_positions(), &self.targets);
        let corners = contact.corners.iter().zip(&contact.weights);
        let thickness: f32 = corners.map(|(&v, &w)| body.thickness(v) * w).sum();
        let thickness = thickness.max(f32::MIN_POSITIVE);
        gap + max_press.min(moved)
            * alignment.clamp(0.0, 1.0)
            * (1.0 - smoothstep(OVERLAPS, overlap))
            * (1.0 - smoothstep(PASSED_THROUGH, -gap / thickness))
    }
}

/// Whether a contact carries a load, and has not been softened to nothing.
fn is_loaded(contact: &Contact) -> bool {
    contact.load > 0.0 && contact.hold >= MIN_HOLD
}

/// Softens a pair that is being released by one step.
fn soften(contact: &mut Contact) {
    let lost = -contact.hold.ln();
    let rate = (RELEASE_START + RELEASE_GROWTH * lost).min(MAX_RELEASE_RATE);
    contact.hold *= 1.0 - rate;
}

/// How far the vertex of a contact has moved relative to its triangle, world units: |d − R d₀|, with d the vector from the contact
/// point to the vertex, d₀ the same at rest, and R the rotation of the triangle since rest. Infinite for degenerate triangles.
fn relative_motion(contact: &Contact, rest: &[Point], positions: &[Point]) -> f32 {
    let frame = |positions: &[Point]| {
        let [a, b, c] = contact.corners.map(|v| positions[v as usize]);
        let x = (b - a).try_normalize(f32::MIN_POSITIVE)?;
        let z = x.cross(&(c - a)).try_normalize(f32::MIN_POSITIVE)?;
        Some(Matrix3::from_columns(&[x, z.cross(&x), z]))
    };
    let (Some(before), Some(now)) = (frame(rest), frame(positions)) else {
        return f32::INFINITY;
    };
    let turned = now * before.transpose() * separation(contact, rest);
    (separation(contact, positions) - turned).norm()
}

#[cfg(test)]
mod tests;
