//! Contacts in the global step.
//!
//! FPS 3.2.5 holds a colliding vertex by springs to the corners of a triangle and rebuilds the matrix when contacts change. Here a
//! contact is one spring between the vertex and the closest point of the triangle, with d = x − Σ β t, u = (1, −β) and normal n:
//!
//! ```text
//!     E_c(x) = w/2 max(0, ε − n·d)²
//! ```
//! translation invariant, without drag along the surface, and one-sided inside of the global step itself: an iteration solves
//!
//! ```text
//!     P Δ = r + Σ λ_c u_c n_c,     λ_c = w_c max(0, ε − n·d_c(x + Δ))
//! ```
//! exactly. With the plain solution y = P⁻¹ r, eliminating Δ leaves a complementarity problem for the loads λ alone (Schur
//! complement; Ichim et al., SIGGRAPH 2016, for two-sided contacts):
//!
//! ```text
//!     (S + W⁻¹) λ ≥ b,   λ ≥ 0,   S = Nᵀ Uᵀ P⁻¹ U N,   b = ε − n·d(x + y)
//! ```
//! P stays factored as it is; S needs P⁻¹ only between vertices in contact, see [`super::compliance`].
//!
//! # Departures
//! - The weight w is a multiple of the stiffness of the vertices involved instead of one number, so that it does not depend on scale
//!   or material.
//! - Deep contacts are pushed out over several steps rather than shot.

use std::sync::Arc;

use super::compliance::{Compliance, MOST};
use super::loads::Loads;
use super::touch::WindowSolver;
use super::{Params, System};
use crate::collision::{CollisionBody, Contact, ContactList, Feet};
use crate::math::{Affine, Point, Vec3};

/// Stiffness of a contact relative to that of the flesh at its vertices.
const HARDNESS: f32 = 30.0;
/// Contacts hold vertices this part of the local edge length above the surface (ε).
const MARGIN: f32 = 0.05;
/// A step pushes a contact out by no more than so many local edges.
const PUSH: f32 = 2.0;
/// Loads are exact to this part of the size.
const EXACT: f32 = 3e-8;

/// Which factor the compliance belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Factor {
    /// That of time steps.
    Dynamic,
    /// That of equilibria.
    Static,
}

/// What is in touch now.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ContactReport {
    /// Pairs that press on each other.
    pub pressing: usize,
    /// Pairs watched: pressing, or nearly.
    pub watched: usize,
    /// Deepest of their penetrations, world units…
    pub deepest: f32,
    /// …and in mean edge lengths.
    pub deepest_edges: f32,
    /// Multiplications in the solves for loads since the last step began.
    pub multiplications: usize,
    /// Milliseconds to find the contacts of the last step and prepare their solve.
    pub detection_ms: f64,
}

/// The contacts of one simulated skin.
pub struct Contacts {
    body: Arc<CollisionBody>,
    feet: Feet,
    list: ContactList,
    /// Diagonal of the stiffness matrix.
    stiffness: Vec<f32>,
    compliance: Compliance,
    factor: Factor,
    problem: Problem,
    tolerance: f32,
    report: ContactReport,
}

/// The complementarity problem of a step. Everything has one entry a contact.
#[derive(Default)]
struct Problem {
    slots: Vec<[u32; 4]>,
    /// u: 1 and −β.
    weights: Vec<[f32; 4]>,
    normals: Vec<Vec3>,
    /// ε, or less where the push is limited.
    targets: Vec<f32>,
    /// 1/w.
    softness: Vec<f32>,
    /// S + W⁻¹, row by row; empty if there are too many contacts to write it down.
    matrix: Vec<f32>,
    diagonal: Vec<f32>,
    b: Vec<f32>,
    loads: Loads,
    /// Uᵀ P⁻¹: slots × contacts.
    spread: Vec<f32>,
    /// Normals, coordinate by coordinate.
    split_normals: [Vec<f32>; 3],
    own_slots: Vec<u32>,
}

impl Contacts {
    /// No contacts yet.
    #[must_use]
    pub fn new(body: Arc<CollisionBody>, system: &System, params: &Params, size: f32) -> Self {
        let feet = Feet::at_rest(&body);
        let mut contacts = Self {
            body,
            feet,
            list: ContactList::default(),
            stiffness: Vec::new(),
            compliance: Compliance::default(),
            factor: Factor::Dynamic,
            problem: Problem::default(),
            tolerance: EXACT * size,
            report: ContactReport::default(),
        };
        contacts.set_params(system, params);
        contacts
    }

    /// Takes over other parameters: another matrix.
    pub fn set_params(&mut self, system: &System, params: &Params) {
        let scale = system.stiffness_scale(params);
        self.stiffness.clear();
        self.stiffness.resize(system.unknowns(), f32::MIN_POSITIVE);
        for (stiffness, value) in self.stiffness.iter_mut().zip(&system.diagonal) {
            *stiffness = ((value * scale) as f32).max(f32::MIN_POSITIVE);
        }
        self.compliance.clear();
    }

    /// The skin as an obstacle.
    #[must_use]
    pub fn body(&self) -> &Arc<CollisionBody> {
        &self.body
    }

    /// Where the foot points are.
    #[must_use]
    pub fn feet(&self) -> &Feet {
        &self.feet
    }

    /// The pairs watched.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        self.list.contacts()
    }

    /// What is in touch now.
    #[must_use]
    pub fn report(&self) -> ContactReport {
        self.report
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.list.clear();
        self.report = ContactReport::default();
    }

    /// Moves the foot points with the bones: `posed_from_bind` of every bone.
    pub fn place_feet(&mut self, posed_from_bind: &[Affine]) {
        if posed_from_bind.is_empty() {
            return; // Nothing was posed yet: the feet are at rest.
        }
        self.feet.place(&self.body, posed_from_bind);
    }

    /// Holds base vertices on their side of the planes between the bones that meet in a joint, so that flesh in a sharp bend has
    /// room to give way.
    pub fn part_base(&self, base: &mut [Point]) {
        self.body.part(&self.feet, base);
    }

    /// Finds the contacts at `positions` and prepares to solve for them with a factor. Returns whether a pair began or ended.
    pub(super) fn begin(&mut self, positions: &[Point], solver: &mut WindowSolver<'_>, factor: Factor) -> bool {
        let start = std::time::Instant::now();
        if self.factor != factor {
            self.compliance.clear();
            self.factor = factor;
        }
        let before = self.list.contacts().len();
        self.list.refresh(&self.body, positions, &self.feet);
        let contacts = self.list.contacts();
        let changed = before != contacts.len() || contacts.iter().any(|c| !c.old);
        self.report.multiplications = 0;
        if !contacts.is_empty() {
            self.prepare(solver);
        }
        self.report.detection_ms = start.elapsed().as_secs_f64() * 1e3;
        changed
    }

    fn prepare(&mut self, solver: &mut WindowSolver<'_>) {
        let contacts = self.list.contacts();
        self.problem.take(contacts, &self.stiffness);
        let corners = contacts.iter().flat_map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]]);
        // Distinct vertices are at most this many; mostly about half.
        self.problem.own_slots.clear();
        self.problem.own_slots.extend(corners.clone());
        self.problem.own_slots.sort_unstable();
        self.problem.own_slots.dedup();
        if self.problem.own_slots.len() > MOST {
            self.compliance.clear();
            solver.set_window(&self.problem.own_slots);
            let Problem { own_slots, slots, .. } = &mut self.problem;
            let slot = |v: u32| own_slots.partition_point(|&own| own < v) as u32;
            slots.extend(contacts.iter().map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]].map(slot)));
            self.problem.matrix.clear();
            self.problem.rough_diagonal(contacts, &self.stiffness);
            return;
        }
        self.compliance.cover(corners, solver);
        let compliance = &self.compliance;
        let slot = |v: u32| compliance.slot(v) as u32;
        self.problem.slots.extend(contacts.iter().map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]].map(slot)));
        self.problem.assemble(compliance);
    }

    /// Whether there is nothing to solve for.
    pub(super) fn is_empty(&self) -> bool {
        self.list.contacts().is_empty()
    }

    /// What the contacts add to the right-hand side of a global step: `window` holds the increments of the window's vertices without
    /// them, and gets forces. `positions` need only be right at contacts. Returns whether there are any forces.
    pub(super) fn press(&mut self, positions: &[Point], window: &mut [[f32; 4]], solver: &mut WindowSolver<'_>) -> bool {
        let (contacts, problem) = (self.list.contacts(), &mut self.problem);
        problem.violations(contacts, positions, window);
        self.report.multiplications += if problem.matrix.is_empty() {
            problem.solve_by_windows(window, solver, self.tolerance)
        } else {
            problem.solve_dense(self.tolerance)
        };
        for (contact, &load) in self.list.contacts_mut().iter_mut().zip(&self.problem.loads.values) {
            contact.load = load;
        }
        self.problem.forces(window)
    }

    /// Measures the gaps at the end of a step.
    pub(super) fn end(&mut self, positions: &[Point]) {
        self.report.watched = self.list.contacts().len();
        (self.report.pressing, self.report.deepest) = (0, 0.0);
        for contact in self.list.contacts_mut() {
            contact.gap = gap(contact, positions);
            self.report.pressing += usize::from(contact.load > 0.0);
            self.report.deepest = self.report.deepest.max(-contact.gap);
        }
        self.report.deepest_edges = self.report.deepest / self.body.mean_edge().max(f32::MIN_POSITIVE);
    }

    /// E_c(x), J up to the unit of length.
    pub(super) fn energy(&self, positions: &[Point]) -> f64 {
        let contacts = self.list.contacts().iter().zip(&self.problem.targets).zip(&self.problem.softness);
        contacts
            .map(|((contact, target), softness)| {
                0.5 * f64::from((target - gap(contact, positions)).max(0.0)).powi(2) / f64::from(*softness)
            })
            .sum()
    }
}

/// n · d at other positions than those of the last refresh.
fn gap(contact: &Contact, positions: &[Point]) -> f32 {
    let mut d = positions[contact.vertex as usize].coords;
    for (&v, &w) in contact.corners.iter().zip(&contact.weights) {
        d -= positions[v as usize].coords * w;
    }
    contact.normal.dot(&d)
}

impl Problem {
    /// What does not depend on P.
    fn take(&mut self, contacts: &[Contact], stiffness: &[f32]) {
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
            self.targets.push((MARGIN * c.edge).min(c.gap + PUSH * c.edge));
            self.softness.push(compliance_of(c, stiffness) / HARDNESS);
            self.loads.values.push(c.load);
        }
    }

    /// S + W⁻¹.
    fn assemble(&mut self, compliance: &Compliance) {
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
            let [r0, r1, r2, r3] = self.slots[b].map(|slot| &self.spread[slot as usize * m..(slot as usize + 1) * m]);
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

    fn rough_diagonal(&mut self, contacts: &[Contact], stiffness: &[f32]) {
        self.diagonal.clear();
        self.diagonal.extend(contacts.iter().map(|c| compliance_of(c, stiffness) * (1.0 + 1.0 / HARDNESS)));
    }

    /// b from the plain solution at the window's vertices.
    fn violations(&mut self, contacts: &[Contact], positions: &[Point], window: &[[f32; 4]]) {
        self.b.clear();
        for (index, contact) in contacts.iter().enumerate() {
            let change = relative(&self.slots[index], &self.weights[index], window);
            self.b.push(self.targets[index] - gap(contact, positions) - change.dot(&self.normals[index]));
        }
    }

    fn solve_dense(&mut self, tolerance: f32) -> usize {
        let m = self.b.len();
        let matrix = &self.matrix;
        self.loads.solve(&self.b, &self.diagonal, tolerance, |x, y| {
            for (row, y) in matrix.chunks_exact(m).zip(y) {
                *y = dot(row, x);
            }
        })
    }

    /// Puts the forces of the loads in place of the window's values; whether there are any.
    fn forces(&self, window: &mut [[f32; 4]]) -> bool {
        window.fill([0.0; 4]);
        spread(&self.slots, &self.weights, &self.normals, &self.loads.values, window);
        self.loads.values.iter().any(|&load| load > 0.0)
    }

    /// The same without writing the matrix down: a solve at the window's vertices for each multiplication.
    fn solve_by_windows(&mut self, window: &mut [[f32; 4]], solver: &mut WindowSolver<'_>, tolerance: f32) -> usize {
        let Self { slots, weights, normals, softness, loads, b, diagonal, .. } = self;
        loads.solve(b, diagonal, tolerance, |x, y| {
            window.fill([0.0; 4]);
            spread(slots, weights, normals, x, window);
            solver.solve_window(window);
            for (index, y) in y.iter_mut().enumerate() {
                *y = relative(&slots[index], &weights[index], window).dot(&normals[index]) + softness[index] * x[index];
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
fn spread(slots: &[[u32; 4]], weights: &[[f32; 4]], normals: &[Vec3], loads: &[f32], window: &mut [[f32; 4]]) {
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

/// With partial sums in a fixed order, so that they fit vector registers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (chunks_a, chunks_b) = (a.chunks_exact(16), b.chunks_exact(16));
    let tail: f32 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks_a.zip(chunks_b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}
