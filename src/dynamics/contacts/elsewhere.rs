//! What another device that finds contacts needs, and what it gives back.

use super::{ContactReport, Contacts, GAP_TOLERANCE};
use crate::collision::Contact;

impl Contacts {
    /// Whether all skin may touch all skin, rather than only precomputed pairs around the joints.
    #[must_use]
    pub fn are_global(&self) -> bool {
        self.list.is_global()
    }

    /// Number of searches since the contacts were last cleared, see [`crate::collision::Detector::searches`].
    #[must_use]
    pub fn searches(&self) -> usize {
        self.list.searches()
    }

    /// Stiffness of the flesh at every vertex, the diagonal of its matrix.
    #[must_use]
    pub fn stiffness(&self) -> &[f32] {
        &self.stiffness
    }

    /// Accuracy of gaps in a time step, world units.
    #[must_use]
    pub fn gap_tolerance(&self) -> f32 {
        GAP_TOLERANCE * self.size
    }

    /// Continues from contacts that another device found, sorted by vertex, then by triangle.
    pub fn set_contacts(&mut self, contacts: &[Contact]) {
        self.list.set_contacts(contacts);
    }

    /// Reports a step that another device made: number of pairs with a load, number of all pairs, and the largest depth, world units.
    pub fn report_step(&mut self, pressing: usize, watched: usize, deepest: f32) {
        self.report = ContactReport {
            pressing,
            watched,
            deepest,
            deepest_edges: deepest / self.body.mean_edge().max(f32::MIN_POSITIVE),
            multiplications: 0,
            detection_ms: 0.0,
        };
    }
}
