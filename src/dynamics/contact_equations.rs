//! The contact problem of a step as flat arrays, for solvers on other devices; see [`super::contacts`] for the equations.

use super::contacts::FactorKind;
use super::simulation::Simulation;
use super::{Equations, State};
use crate::collision::Contact;
use crate::math::Point;

/// The complementarity problem (S + W⁻¹) λ ≥ b, λ ≥ 0 of one step. All arrays have one entry per contact.
#[derive(Debug, Clone, Copy)]
pub struct ContactEquations<'a> {
    /// The contact pairs, with the initial guess of the load λ.
    pub contacts: &'a [Contact],
    /// Coefficients u: 1 for the vertex, −β for the corners of the triangle.
    pub weights: &'a [[f32; 4]],
    /// Gap ε that a contact must keep, world units.
    pub target_gaps: &'a [f32],
    /// 1/w, the inverse stiffness of a contact.
    pub softness: &'a [f32],
    /// S + W⁻¹, row-major, symmetric.
    pub matrix: &'a [f32],
    /// Loads are accurate enough when gaps are accurate to this, world units.
    pub tolerance: f32,
}

/// Contacts found at the beginning of a step.
#[derive(Debug, Clone, Copy)]
pub enum StepContacts<'a> {
    /// No contacts, or collisions are disabled.
    Empty,
    /// The problem of these contacts.
    Contacts(ContactEquations<'a>),
    /// Too many contacts to store the dense matrix: only [`Simulation::step`] can make this step.
    TooMany,
}

impl State {
    /// Predicted positions at the beginning of a step, by vertex: the displacement of the base, plus the vertex's own velocity
    /// relative to the base times h.
    ///
    /// # Panics
    /// If there are fewer base points than vertices.
    pub fn predict_into(&self, equations: &Equations, base: &[Point], out: &mut Vec<Point>) {
        let h = equations.step_secs;
        out.clear();
        out.extend(self.position.iter().enumerate().map(|(v, position)| {
            let own = self.velocity[v] * h - self.base_velocity[v] * h;
            position + (base[v] - self.base[v] + own)
        }));
    }
}

impl Simulation {
    /// Detects contacts at the positions that a step begins with, for another solver of the same step. The foot points must have
    /// been moved first ([`super::Contacts::move_foot_points`]).
    ///
    /// # Panics
    /// If there are not as many positions as vertices.
    pub fn begin_contacts(&mut self, positions: &[Point]) -> StepContacts<'_> {
        let (system, contact_solver, factor) = self.contact_context();
        let Some(contact_solver) = contact_solver else {
            return StepContacts::Empty;
        };
        contact_solver.begin(&system.partition, factor, FactorKind::Dynamic, positions);
        match contact_solver.contacts.equations() {
            _ if contact_solver.contacts.is_empty() => StepContacts::Empty,
            Some(equations) => StepContacts::Contacts(equations),
            None => StepContacts::TooMany,
        }
    }

    /// Ends the step that [`Simulation::begin_contacts`] began. `positions` are the final positions of the skin; `loads` has one
    /// entry per contact.
    ///
    /// # Panics
    /// If there are not as many positions as vertices.
    pub fn end_contacts(&mut self, positions: &[Point], loads: &[f32]) {
        if let Some(contacts) = self.contacts_mut() {
            contacts.set_loads(loads);
            contacts.end(positions);
        }
    }
}
