//! The complementarity problem of the contacts of one step; see [`super::contacts`] for the equations.

use pulp::{Arch, Simd, WithSimd};

use crate::collision::{CollisionBody, Contact};
use crate::math::{Point, Vec3, smoothstep};
use crate::numerics::complementarity::Complementarity;
use crate::numerics::compliance::Compliance;
use crate::numerics::window::WindowSolver;

/// Stiffness of a contact relative to that of the flesh at its vertices.
const HARDNESS: f32 = 30.0;
/// The same of guided flesh, so that what begins or ends to press hardly moves what presses already.
const GUIDED_HARDNESS: f32 = 5.0;
/// Contacts hold vertices this part of the local edge length above the surface (ε).
const MARGIN: f32 = 0.05;
/// A step pushes a contact out by no more than so many local edges.
const PUSH: f32 = 2.0;

/// The complementarity problem of a step. Everything has one entry a contact.
#[derive(Default)]
pub(super) struct Problem {
    pub(super) slots: Vec<[u32; 4]>,
    /// u: 1 and −β.
    pub(super) weights: Vec<[f32; 4]>,
    normals: Vec<Vec3>,
    /// ε, or less where the push is limited.
    pub(super) targets: Vec<f32>,
    /// 1/w.
    pub(super) softness: Vec<f32>,
    /// S + W⁻¹, row by row; empty if there are too many contacts to write it down.
    pub(super) matrix: Vec<f32>,
    diagonal: Vec<f32>,
    b: Vec<f32>,
    pub(super) loads: Complementarity,
    /// Uᵀ P⁻¹: slots × contacts.
    spread: Vec<f32>,
    /// Normals, coordinate by coordinate.
    split_normals: [Vec<f32>; 3],
    pub(super) own_slots: Vec<u32>,
}

/// n · d at other positions than those of the last refresh.
pub(super) fn gap(contact: &Contact, positions: &[Point]) -> f32 {
    contact.normal.dot(&way(contact, positions))
}

/// From the place of a contact to its vertex.
fn way(contact: &Contact, positions: &[Point]) -> Vec3 {
    let mut way = positions[contact.vertex as usize].coords;
    for (&v, &w) in contact.corners.iter().zip(&contact.weights) {
        way -= positions[v as usize].coords * w;
    }
    way
}

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
pub(super) struct Room {
    /// Targets by vertex; empty without guidance.
    pub(super) targets: Vec<Point>,
    /// Those of the step before.
    pub(super) before: Vec<Point>,
    /// How far each may be pressed in, world units.
    pub(super) give: Vec<f32>,
    /// By vertex for how many more steps it is in no contact; empty without guidance.
    pub(super) bans: Vec<u8>,
    /// Where the targets were when they last moved, and for how many steps they have stood there.
    stood_at: Vec<Point>,
    stood: u32,
}

impl Room {
    /// Whether a contact may stay. One that may not, but presses, stays until it presses no more, if `softly`; its vertex is then in
    /// no other contact for a while.
    pub(super) fn admits(
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
    pub(super) fn held(&self, contact: &Contact, softly: bool) -> f32 {
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
    pub(super) fn has_stood(&self) -> bool {
        self.stood >= STOOD && !self.targets.is_empty()
    }

    /// Contacts are those of an equilibrium: they stay as they are until targets move.
    pub(super) fn settle(&mut self) {
        self.stood = STOOD;
        self.stood_at.clone_from(&self.targets);
    }

    /// Contacts may change again.
    pub(super) fn wake(&mut self) {
        self.stood = 0;
        self.stood_at.clear();
    }

    /// Counts a step in which targets stand.
    pub(super) fn count_stood(&mut self, size: f32) {
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
    pub(super) fn lift_bans(&mut self, still: f32) {
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
    pub(super) fn hardness(&self) -> f32 {
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

impl Problem {
    /// What does not depend on P.
    pub(super) fn take(&mut self, contacts: &[Contact], stiffness: &[f32], hardness: f32) {
        self.slots.clear();
        self.weights.clear();
        self.normals.clear();
        self.targets.clear();
        self.softness.clear();
        self.loads.values.clear();
        for c in contacts {
            let [a, b, d] = c.weights;
            self.weights.push([1.0, -a, -b, -d]);
            self.normals.push(c.normal);
            self.targets.push(c.held.min(c.gap + PUSH * c.edge));
            self.softness.push(compliance_of(c, stiffness) / hardness);
            self.loads.values.push(c.load);
        }
    }

    /// S + W⁻¹.
    pub(super) fn assemble(&mut self, compliance: &Compliance) {
        let m = self.slots.len();
        let slots = compliance.slots();
        // Row s: P⁻¹ between slot s and every contact.
        self.spread.clear();
        self.spread.resize(slots * m, 0.0);
        for (a, (own, weights)) in self.slots.iter().zip(&self.weights).enumerate() {
            let [r0, r1, r2, r3] = own.map(|slot| compliance.row(slot as usize));
            let [w0, w1, w2, w3] = *weights;
            for s in 0..slots {
                self.spread[s * m + a] = w0 * r0[s] + w1 * r1[s] + w2 * r2[s] + w3 * r3[s];
            }
        }
        for (c, split) in self.split_normals.iter_mut().enumerate() {
            split.clear();
            split.extend(self.normals.iter().map(|n| n[c]));
        }
        self.matrix.resize(m * m, 0.0);
        self.diagonal.resize(m, 0.0);
        let [nx, ny, nz] = &self.split_normals;
        for (b, row) in self.matrix.chunks_exact_mut(m).enumerate() {
            let [r0, r1, r2, r3] =
                self.slots[b].map(|slot| &self.spread[slot as usize * m..(slot as usize + 1) * m]);
            let [w0, w1, w2, w3] = self.weights[b];
            let n = self.normals[b];
            for a in 0..m {
                let facing = nx[a] * n.x + ny[a] * n.y + nz[a] * n.z;
                row[a] = facing * (w0 * r0[a] + w1 * r1[a] + w2 * r2[a] + w3 * r3[a]);
            }
            row[b] += self.softness[b];
            self.diagonal[b] = row[b];
        }
    }

    pub(super) fn rough_diagonal(
        &mut self,
        contacts: &[Contact],
        stiffness: &[f32],
        hardness: f32,
    ) {
        self.diagonal.clear();
        self.diagonal.extend(
            contacts
                .iter()
                .map(|c| compliance_of(c, stiffness) * (1.0 + 1.0 / hardness)),
        );
    }

    /// b from the plain solution at the window's vertices.
    pub(super) fn violations(
        &mut self,
        contacts: &[Contact],
        positions: &[Point],
        window: &[[f32; 4]],
    ) {
        self.b.clear();
        for (index, contact) in contacts.iter().enumerate() {
            let change = relative(&self.slots[index], &self.weights[index], window);
            self.b.push(
                self.targets[index] - gap(contact, positions) - change.dot(&self.normals[index]),
            );
        }
    }

    pub(super) fn solve_dense(&mut self, tolerance: f32) -> usize {
        let matrix = &self.matrix;
        let arch = Arch::new();
        self.loads
            .solve(&self.b, &self.diagonal, tolerance, |x, y| {
                arch.dispatch(Multiply { matrix, x, y });
            })
    }

    /// Puts the forces of the loads in place of the window's values; whether there are any.
    pub(super) fn forces(&self, window: &mut [[f32; 4]]) -> bool {
        window.fill([0.0; 4]);
        spread(
            &self.slots,
            &self.weights,
            &self.normals,
            &self.loads.values,
            window,
        );
        self.loads.values.iter().any(|&load| load > 0.0)
    }

    /// The same as [`Self::solve_dense`] without writing the matrix down: a solve at the window's vertices for each multiplication.
    pub(super) fn solve_by_windows(
        &mut self,
        window: &mut [[f32; 4]],
        solver: &mut WindowSolver<'_>,
        tolerance: f32,
    ) -> usize {
        let Self {
            slots,
            weights,
            normals,
            softness,
            loads,
            b,
            diagonal,
            ..
        } = self;
        loads.solve(b, diagonal, tolerance, |x, y| {
            window.fill([0.0; 4]);
            spread(slots, weights, normals, x, window);
            solver.solve_window(window);
            for (index, y) in y.iter_mut().enumerate() {
                *y = relative(&slots[index], &weights[index], window).dot(&normals[index])
                    + softness[index] * x[index];
            }
        })
    }
}

/// Uᵀ u: how easily the vertices of a contact give way, each on its own.
fn compliance_of(contact: &Contact, stiffness: &[f32]) -> f32 {
    let of = |v: u32, w: f32| w * w / stiffness[v as usize];
    let [a, b, c] = contact.corners;
    let [wa, wb, wc] = contact.weights;
    of(contact.vertex, 1.0) + of(a, wa) + of(b, wb) + of(c, wc)
}

/// Σ u x over the four vertices of a contact.
fn relative(slots: &[u32; 4], weights: &[f32; 4], window: &[[f32; 4]]) -> Vec3 {
    let mut sum = Vec3::zeros();
    for (&slot, &w) in slots.iter().zip(weights) {
        let [x, y, z, _] = window[slot as usize];
        sum += Vec3::new(x, y, z) * w;
    }
    sum
}

/// Adds u n λ of all contacts.
fn spread(
    slots: &[[u32; 4]],
    weights: &[[f32; 4]],
    normals: &[Vec3],
    loads: &[f32],
    window: &mut [[f32; 4]],
) {
    for (index, &load) in loads.iter().enumerate() {
        let force = normals[index] * load;
        for (&slot, &w) in slots[index].iter().zip(&weights[index]) {
            let value = &mut window[slot as usize];
            value[0] += force.x * w;
            value[1] += force.y * w;
            value[2] += force.z * w;
        }
    }
}

/// y = A x, row by row.
struct Multiply<'a> {
    matrix: &'a [f32],
    x: &'a [f32],
    y: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (x, x_tail) = S::as_simd_f32s(self.x);
        let (x_pairs, x_odd) = x.as_chunks::<2>();
        for (row, y) in self.matrix.chunks_exact(self.x.len()).zip(self.y) {
            let (row, row_tail) = S::as_simd_f32s(row);
            let (row_pairs, row_odd) = row.as_chunks::<2>();
            let mut sums = [simd.splat_f32s(0.0); 2];
            for (a, x) in row_pairs.iter().zip(x_pairs) {
                sums[0] = simd.mul_add_e_f32s(a[0], x[0], sums[0]);
                sums[1] = simd.mul_add_e_f32s(a[1], x[1], sums[1]);
            }
            for (a, x) in row_odd.iter().zip(x_odd) {
                sums[0] = simd.mul_add_e_f32s(*a, *x, sums[0]);
            }
            let mut sum = simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]));
            for (a, x) in row_tail.iter().zip(x_tail) {
                sum += a * x;
            }
            *y = sum;
        }
    }
}

#[cfg(test)]
mod tests;
