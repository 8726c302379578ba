//! The contacts of a step as plain numbers, for solvers that run elsewhere; see [`super::contacts`] for the equations.

use super::contacts::FactorKind;
use super::simulation::Simulation;
use super::{Equations, State};
use crate::collision::Contact;
use crate::math::Point;

/// The complementarity problem (S + W⁻¹) λ ≥ b, λ ≥ 0 of one step. Everything has one entry a contact.
#[derive(Debug, Clone, Copy)]
pub struct ContactEquations<'a> {
    /// Who touches whom, with the load λ to start from.
    pub contacts: &'a [Contact],
    /// u: 1 for the vertex, −β for the corners of the triangle.
    pub weights: &'a [[f32; 4]],
    /// The gap ε that a contact holds, world units.
    pub target_gaps: &'a [f32],
    /// 1/w.
    pub softness: &'a [f32],
    /// S + W⁻¹, row by row; symmetric.
    pub matrix: &'a [f32],
    /// Loads are exact enough when gaps are to this, world units.
    pub tolerance: f32,
}

/// What a step meets.
#[derive(Debug, Clone, Copy)]
pub enum StepContacts<'a> {
    /// Nothing touches, or nothing may.
    Empty,
    /// These contacts.
    Contacts(ContactEquations<'a>),
    /// More than can be written down: only [`Simulation::step`] does it.
    TooMany,
}

impl State {
    /// Where a step over the base begins, by vertex: carried along by the base, with what each vertex had of its own motion.
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
    /// Finds what touches at the positions that a step begins with, for another solver of the same step. The foot points must have
    /// been moved ([`super::Contacts::place_feet`]).
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

    /// Ends the step that [`Simulation::begin_contacts`] began: the loads that were found, one a contact, and where the skin is now.
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
