//! Contacts in the global step.
//!
//! FPS 3.2.5 attaches a colliding vertex by springs to the corners of a triangle and rebuilds the matrix when contacts change. Here
//! a contact is one spring between the vertex and the closest point of the triangle. With d = x − Σ β t, u = (1, −β) and the normal
//! n, its energy is
//!
//! ```text
//!     E_c(x) = w/2 max(0, ε − n·d)²
//! ```
//! It is translation invariant, frictionless, and one-sided inside the global step itself: an iteration solves
//!
//! ```text
//!     P Δ = r + Σ λ_c u_c n_c,     λ_c = w_c max(0, ε − n·d_c(x + Δ))
//! ```
//! exactly. With the unconstrained increment y = P⁻¹ r, eliminating Δ leaves a complementarity problem for the loads λ alone (Schur
//! complement; Ichim et al., SIGGRAPH 2016, for two-sided contacts):
//!
//! ```text
//!     (S + W⁻¹) λ ≥ b,   λ ≥ 0,   S = Nᵀ Uᵀ P⁻¹ U N,   b = ε − n·d(x + y)
//! ```
//! The factor of P does not change. S needs P⁻¹ only between vertices in contact, see [`Compliance`].
//!
//! # Departures
//! - The weight w is a multiple of the stiffness of the vertices involved instead of one number, so that it does not depend on
//!   scale or material.
//! - Deep contacts are pushed out over several steps, which limits the velocity that they cause.

mod elsewhere;

use std::sync::Arc;

use super::contact_equations::ContactEquations;
use super::contact_problem::{ContactLimits, ContactProblem, gap};
use super::{Params, System};
use crate::collision::{CollisionBody, Contact, ContactList, JointPairs, PosedFootPoints, Refresh};
use crate::math::{Affine, Point};
use crate::numerics::compliance::{Compliance, MAX_COVERED};
use crate::numerics::window::WindowSolver;

/// Accuracy of gaps in a time step, as a fraction of the size.
const GAP_TOLERANCE: f32 = 1e-6;
/// Accuracy of gaps in an equilibrium, as a fraction of the size. It is smaller so that iterations can converge to
/// [`super::Simulation::settle`]'s tolerance.
const GAP_TOLERANCE_STATIC: f32 = 3e-8;

/// Targets that move less than this fraction of the size in a step count as static.
const MOVED_TOLERANCE: f32 = 1e-6;
/// Contacts press guided flesh in by at most this fraction of its depth.
const MAX_PRESS_FRACTION: f32 = 0.5;

/// The factor that the compliance was computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactorKind {
    /// The factor of time steps.
    Dynamic,
    /// The factor of the solve for an equilibrium.
    Static,
}

/// Counts and depths of the current contacts.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ContactReport {
    /// Number of pairs with a positive load.
    pub pressing: usize,
    /// Number of tracked pairs, with or without load.
    pub watched: usize,
    /// Largest penetration depth of the tracked pairs, world units.
    pub deepest: f32,
    /// Largest penetration depth in mean edge lengths.
    pub deepest_edges: f32,
    /// Number of matrix-vector products in the solves for loads since the last step began.
    pub multiplications: usize,
    /// Time to detect the contacts of the last step and to prepare their solve, ms.
    pub detection_ms: f64,
}

/// What the contacts of the next step depend on besides positions and parameters.
#[derive(Debug, Clone)]
pub struct SavedContacts {
    contacts: Vec<Contact>,
    limits: ContactLimits,
    report: ContactReport,
}

impl SavedContacts {
    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.contacts) + self.limits.heap_bytes()
    }
}

/// The contacts of one simulated skin.
pub struct Contacts {
    body: Arc<CollisionBody>,
    foot_points: PosedFootPoints,
    list: ContactList,
    /// Diagonal of the stiffness matrix, by unknown.
    stiffness: Vec<f32>,
    compliance: Compliance,
    factor: FactorKind,
    problem: ContactProblem,
    limits: ContactLimits,
    size: f32,
    report: ContactReport,
}

impl Contacts {
    /// Starts without contacts.
    #[must_use]
    pub fn new(body: Arc<CollisionBody>, system: &System, params: &Params, size: f32) -> Self {
        let foot_points = PosedFootPoints::at_rest(&body);
        let mut contacts = Self {
            body,
            foot_points,
            list: ContactList::default(),
            stiffness: Vec::new(),
            compliance: Compliance::default(),
            factor: FactorKind::Dynamic,
            problem: ContactProblem::default(),
            limits: ContactLimits::default(),
            size,
            report: ContactReport::default(),
        };
        contacts.set_params(system, params);
        contacts
    }

    /// Sets the target positions of guided flesh and its depth (world units), by vertex.
    pub(super) fn set_guidance(&mut self, targets: impl Iterator<Item = Point>, depths: &[f32]) {
        self.limits.set_targets(targets);
        self.limits.count_down(MOVED_TOLERANCE * self.size);
        self.limits.count_static_step(self.size);
        self.limits.max_press.clear();
        self.limits
            .max_press
            .extend(depths.iter().map(|depth| depth * MAX_PRESS_FRACTION));
    }

    /// Restricts contacts to these precomputed pairs, without detection.
    #[must_use]
    pub fn around_joints(mut self, pairs: Arc<JointPairs>) -> Self {
        self.list = ContactList::around_joints(pairs);
        self
    }

    /// Applies changed parameters, which change the matrix.
    pub fn set_params(&mut self, system: &System, params: &Params) {
        let scale = system.stiffness_scale(params);
        self.stiffness.clear();
        self.stiffness.resize(system.unknowns(), f32::MIN_POSITIVE);
        for (stiffness, value) in self.stiffness.iter_mut().zip(&system.diagonal) {
            *stiffness = ((value * scale) as f32).max(f32::MIN_POSITIVE);
        }
        self.compliance.clear();
    }

    /// The skin as a collision object.
    #[must_use]
    pub fn body(&self) -> &Arc<CollisionBody> {
        &self.body
    }

    /// The posed foot points.
    #[must_use]
    pub fn foot_points(&self) -> &PosedFootPoints {
        &self.foot_points
    }

    /// The tracked pairs.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        self.list.contacts()
    }

    /// Counts and depths of the current contacts.
    #[must_use]
    pub fn report(&self) -> ContactReport {
        self.report
    }

    /// A copy of the state.
    #[must_use]
    pub fn save(&self) -> SavedContacts {
        SavedContacts {
            contacts: self.list.contacts().to_vec(),
            limits: self.limits.clone(),
            report: self.report,
        }
    }

    /// Continues from a saved state of the same skin.
    pub fn restore(&mut self, saved: &SavedContacts) {
        self.list.set_contacts(&saved.contacts);
        self.limits.clone_from(&saved.limits);
        self.report = saved.report;
        self.compliance.clear();
    }

    /// Removes all contacts, and all that later ones could depend on.
    pub fn clear(&mut self) {
        self.list.clear();
        self.compliance.clear();
        self.limits.forget();
        self.report = ContactReport::default();
    }

    /// Moves the foot points with the bones. `posed_from_bind`: one transform per bone.
    pub fn move_foot_points(&mut self, posed_from_bind: &[Affine]) {
        if posed_from_bind.is_empty() {
            return; // Nothing was posed yet: the foot_points are at rest.
        }
        self.foot_points.update(&self.body, posed_from_bind);
    }

    /// Separates base vertices of adjacent bones in sharp bends, see `collision/base_separation.rs`.
    pub fn separate_base(&self, base: &mut [Point]) {
        self.body.separate_base(&self.foot_points, base);
    }

    /// Detects the contacts at `positions` and prepares their solve with a factor. Returns whether a pair began or ended, or
    /// changed its softness.
    pub(super) fn begin(
        &mut self,
        positions: &[Point],
        solver: &mut WindowSolver<'_>,
        factor: FactorKind,
    ) -> bool {
        let start = std::time::Instant::now();
        if self.factor != factor {
            self.compliance.clear();
            self.factor = factor;
        }
        // An equilibrium uses the final gaps at once: it is the state that gradual changes converge to.
        let gradual = factor == FactorKind::Dynamic;
        let (body, limits) = (&self.body, &mut self.limits);
        if gradual && limits.is_frozen() {
            self.list.retain(ContactLimits::keep_frozen);
            for contact in self.list.contacts_mut() {
                contact.gap = gap(contact, positions);
            }
        } else {
            let refresh = if !gradual {
                Refresh::Equilibrium
            } else if limits.keeps_a_gap() {
                Refresh::GradualStep
            } else {
                Refresh::Step
            };
            self.list
                .refresh(body, positions, &self.foot_points, refresh);
            self.list
                .retain(|contact| limits.should_keep(contact, body, gradual));
            for contact in self.list.contacts_mut() {
                limits.update_min_gap(contact, body, gradual);
            }
        }
        if !gradual {
            limits.freeze();
        }
        let contacts = self.list.contacts();
        let loaded = contacts.iter().filter(|c| c.load > 0.0).count();
        let mut changed = contacts.iter().any(|c| !c.old) || loaded != self.report.pressing;
        self.report.pressing = loaded;
        self.report.multiplications = 0;
        if !contacts.is_empty() {
            changed |= self.prepare(solver);
        }
        self.report.detection_ms = start.elapsed().as_secs_f64() * 1e3;
        changed
    }

    /// Returns whether the softness of a pair has changed.
    fn prepare(&mut self, solver: &mut WindowSolver<'_>) -> bool {
        let contacts = self.list.contacts();
        let relative_stiffness = self.limits.relative_stiffness();
        let changed = self.problem.set_contacts(
            contacts,
            &self.stiffness,
            relative_stiffness,
            self.limits.soft_range(),
        );
        let corners = contacts
            .iter()
            .flat_map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]]);
        // Upper bound of the number of distinct vertices; mostly about half remain.
        self.problem.window_vertices.clear();
        self.problem.window_vertices.extend(corners.clone());
        self.problem.window_vertices.sort_unstable();
        self.problem.window_vertices.dedup();
        if self.problem.window_vertices.len() > MAX_COVERED {
            self.compliance.clear();
            solver.set_window(&self.problem.window_vertices);
            let ContactProblem {
                window_vertices,
                slots,
                ..
            } = &mut self.problem;
            let slot = |v: u32| window_vertices.partition_point(|&own| own < v) as u32;
            slots.extend(
                contacts
                    .iter()
                    .map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]].map(slot)),
            );
            self.problem.matrix.clear();
            self.problem
                .estimate_diagonal(contacts, &self.stiffness, relative_stiffness);
            return changed;
        }
        self.compliance.cover(corners, solver);
        let compliance = &self.compliance;
        let slot = |v: u32| compliance.slot(v) as u32;
        self.problem.slots.extend(
            contacts
                .iter()
                .map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]].map(slot)),
        );
        self.problem.assemble(compliance);
        changed
    }

    /// The problem that [`Contacts::begin`] prepared; `None` if its dense matrix is too large to be stored.
    pub(super) fn equations(&self) -> Option<ContactEquations<'_>> {
        let ContactProblem {
            weights,
            target_gaps,
            softness,
            matrix,
            ..
        } = &self.problem;
        let tolerance = GAP_TOLERANCE * self.size;
        let contacts = self.list.contacts();
        (!matrix.is_empty()).then_some(ContactEquations {
            contacts,
            weights,
            target_gaps,
            softness,
            matrix,
            tolerance,
        })
    }

    /// Sets the loads that another solver found, one per contact.
    pub(super) fn set_loads(&mut self, loads: &[f32]) {
        for (contact, &load) in self.list.contacts_mut().iter_mut().zip(loads) {
            contact.load = if load.is_finite() { load.max(0.0) } else { 0.0 };
        }
    }

    /// Whether there are no contacts.
    pub(super) fn is_empty(&self) -> bool {
        self.list.contacts().is_empty()
    }

    /// Computes the contact forces of a global step. `window` holds the unconstrained increments of the window's vertices, and is
    /// overwritten with forces. `positions` need only be valid at contacts. Returns whether there are any forces.
    pub(super) fn solve_loads(
        &mut self,
        positions: &[Point],
        window: &mut [[f32; 4]],
        solver: &mut WindowSolver<'_>,
    ) -> bool {
        let (contacts, problem) = (self.list.contacts(), &mut self.problem);
        let exact = if self.factor == FactorKind::Static {
            GAP_TOLERANCE_STATIC
        } else {
            GAP_TOLERANCE
        };
        let tolerance = exact * self.size;
        problem.compute_violations(contacts, positions, window);
        self.report.multiplications += if problem.matrix.is_empty() {
            problem.solve_matrix_free(window, solver, tolerance)
        } else {
            problem.solve_dense(tolerance)
        };
        self.report.pressing = 0;
        for (contact, &load) in self
            .list
            .contacts_mut()
            .iter_mut()
            .zip(&self.problem.loads.values)
        {
            contact.load = load;
            self.report.pressing += usize::from(load > 0.0);
        }
        self.problem.write_forces(window)
    }

    /// Updates gaps and the report at the end of a step.
    pub(super) fn end(&mut self, positions: &[Point]) {
        self.report.watched = self.list.contacts().len();
        (self.report.pressing, self.report.deepest) = (0, 0.0);
        for contact in self.list.contacts_mut() {
            contact.gap = gap(contact, positions);
            self.report.pressing += usize::from(contact.load > 0.0);
            self.report.deepest = self.report.deepest.max(-contact.gap);
        }
        self.report.deepest_edges =
            self.report.deepest / self.body.mean_edge().max(f32::MIN_POSITIVE);
    }

    /// `E_c(x)` summed over all contacts, J up to the unit of length.
    pub(super) fn energy(&self, positions: &[Point]) -> f64 {
        let contacts = self
            .list
            .contacts()
            .iter()
            .zip(&self.problem.target_gaps)
            .zip(&self.problem.softness);
        contacts
            .map(|((contact, target_gap), softness)| {
                0.5 * f64::from((target_gap - gap(contact, positions)).max(0.0)).powi(2)
                    / f64::from(*softness)
            })
            .sum()
    }
}
