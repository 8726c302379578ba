//! What simulated flesh has to say about a vertex: strain, contacts, and its share of the energy.

use super::Projective;
use crate::collision::Contact;
use crate::dynamics::TetState;
use crate::math::Point;
use crate::methods::explain::{length, nearest_simulated};
use crate::methods::{Term, TermValue};

impl Projective {
    /// The terms of a source vertex, from the simulated vertex next to it at rest. `simulated` are the positions of the simulation mesh
    /// in the last frame. Empty for cloth and props, which are not simulated.
    pub(super) fn explain(&self, source: usize, simulated: &[Point]) -> Vec<Term> {
        let Some((vertex, rest_distance)) = nearest_simulated(&self.subject, source) else {
            return Vec::new();
        };
        let mut terms = vec![Term::new(
            "simulated_distance",
            "To the nearest simulated vertex",
            TermValue::Length(f64::from(rest_distance)),
            "Distance at rest; the strain below is that of the tets at this simulated vertex, and detail between is upsampled.",
        )];
        self.add_strain(vertex as u32, simulated, &mut terms);
        if let Some(target) = self.simulation.targets().get(vertex) {
            terms.push(Term::new(
                "from_guide",
                "Moved by elasticity and contact",
                length(&simulated[vertex], &target.position),
                "Distance of the simulated vertex from where the skin's weights alone would put it.",
            ));
        }
        self.add_contacts(vertex as u32, simulated, &mut terms);
        terms
    }

    /// Stretches, volume and energy of the tets at a simulated vertex.
    fn add_strain(&self, vertex: u32, simulated: &[Point], terms: &mut Vec<Term>) {
        let simulation = &self.simulation;
        // Interior unknowns come after the vertices of the mesh; a device moves only what it presents.
        let mut unknowns = simulation.positions().to_vec();
        for (own, at) in unknowns.iter_mut().zip(simulated) {
            *own = *at;
        }
        let tets = simulation.tets(&unknowns, simulation.base());
        let total: f64 = tets.iter().map(|tet| tet.weight * tet.energy).sum();
        let is_here = |tet: &&TetState| {
            let mut corners = tet.corners.iter();
            corners.any(|corner| corner.as_unknown() == Some(vertex))
        };
        let here: Vec<&TetState> = tets.iter().filter(is_here).collect();
        let weight: f64 = here.iter().map(|tet| tet.weight).sum();
        if weight <= 0.0 {
            return;
        }
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for tet in &here {
            let stretches = tet.gradient.singular_values();
            least = least.min(stretches.min());
            most = most.max(stretches.max());
        }
        let volume = here
            .iter()
            .map(|tet| tet.weight * tet.gradient.determinant());
        let inverted = here.iter().filter(|tet| tet.gradient.determinant() <= 0.0);
        terms.push(Term::new(
            "least_stretch",
            "Smallest stretch of the flesh",
            TermValue::Factor(least),
            "Smallest principal stretch of the tets at the vertex: below 1 they are squeezed.",
        ));
        terms.push(Term::new(
            "most_stretch",
            "Largest stretch of the flesh",
            TermValue::Factor(most),
            "Largest principal stretch of the tets at the vertex.",
        ));
        terms.push(Term::new(
            "flesh_volume",
            "Volume of the flesh",
            TermValue::Factor(volume.sum::<f64>() / weight),
            "Mean volume of the tets at the vertex, relative to rest.",
        ));
        terms.push(Term::new(
            "inverted_tets",
            "Inverted tets",
            TermValue::Count(inverted.count()),
            "Tets at the vertex that are turned inside out; 0 is sound.",
        ));
        if total > 0.0 {
            let own: f64 = here.iter().map(|tet| tet.weight * tet.energy).sum();
            terms.push(Term::new(
                "energy_share",
                "Share of the elastic energy",
                TermValue::Part(own / total),
                "Part of the body's elastic energy that is stored in the tets at the vertex.",
            ));
        }
    }

    /// Contacts that the vertex takes part in, deepest first.
    fn add_contacts(&self, vertex: u32, simulated: &[Point], terms: &mut Vec<Term>) {
        let Some(contacts) = self.simulation.contacts() else {
            return;
        };
        let mine = |contact: &&Contact| {
            contact.load > 0.0 && (contact.vertex == vertex || contact.corners.contains(&vertex))
        };
        let mut found: Vec<(&Contact, f32)> = contacts
            .contacts()
            .iter()
            .filter(mine)
            .map(|contact| (contact, gap(contact, simulated)))
            .collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        terms.push(Term::new(
            "contacts",
            "Contacts",
            TermValue::Count(found.len()),
            "Pairs of this place with other skin that press now.",
        ));
        let Some(&(contact, gap)) = found.first() else {
            return;
        };
        let partner = if contact.vertex == vertex {
            contact.corners[0]
        } else {
            contact.vertex
        };
        let skin = self.subject.sim().skin_from_sim[partner as usize] as usize;
        let joint = self.subject.skin_weights().strongest(skin);
        let name = joint.map(|joint| &self.subject.character.skeleton.joints()[joint].name);
        let label = name.map_or_else(
            || "Depth of the contact".to_owned(),
            |name| format!("Depth of the contact with the skin of \"{name}\""),
        );
        terms.push(Term::new(
            "contact_depth",
            label,
            TermValue::Length(f64::from((-gap).max(0.0))),
            "How far the deepest of them overlaps in the simulated flesh; 0: they just touch.",
        ));
    }
}

/// Gap of a contact at the present positions.
fn gap(contact: &Contact, positions: &[Point]) -> f32 {
    let on_triangle: crate::math::Vec3 = contact
        .corners
        .iter()
        .zip(contact.weights)
        .map(|(&corner, weight)| positions[corner as usize].coords * weight)
        .sum();
    contact
        .normal
        .dot(&(positions[contact.vertex as usize].coords - on_triangle))
}
