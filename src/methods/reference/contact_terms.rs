//! Contacts in the matrix of a lattice: they couple unknowns that no element couples.

use super::contact::PenaltyContacts;
use super::elastic::Elastic;
use crate::math::Point64;
use crate::numerics::SymmetricMatrix;
use crate::numerics::pattern::Pattern;

/// A contact as a rank-one term of the matrix.
struct ContactRow {
    /// Derivative of its gap by the unknowns.
    entries: Vec<(u32, f64)>,
    stiffness: f64,
    /// Whether it pushes.
    is_active: bool,
}

/// Contacts as entries of a matrix.
#[derive(Default)]
pub(super) struct ContactTerms {
    rows: Vec<ContactRow>,
    /// Elements and contacts; none without contacts.
    matrix: Option<SymmetricMatrix>,
}

impl ContactTerms {
    /// Sets the contacts of a round. Returns whether the pattern of the matrix has changed.
    pub fn couple(&mut self, contacts: &PenaltyContacts, elastic: &Elastic) -> bool {
        let had = self.matrix.is_some();
        self.rows = (contacts.0.iter())
            .map(|contact| ContactRow {
                entries: (contact.nodes.iter())
                    .filter_map(|&(node, weight)| {
                        let first = 3 * elastic.unknown_of(node as usize)? as u32;
                        let normal = contact.normal;
                        Some((0..3).map(move |k| (first + k, weight * normal[k as usize])))
                    })
                    .flatten()
                    .collect(),
                stiffness: contact.stiffness,
                is_active: false,
            })
            .collect();
        if self.rows.is_empty() {
            self.matrix = None;
            return had;
        }
        let own = elastic.pattern();
        let of_elements = (0..own.unknowns()).flat_map(|column| {
            let rows = own.rows[own.column(column)].iter();
            rows.map(move |&row| [column as u32, row])
        });
        let of_contacts = self.rows.iter().flat_map(|row| {
            let all = || row.entries.iter().map(|&(unknown, _)| unknown);
            all().flat_map(move |a| all().map(move |b| [a, b]))
        });
        let pattern = Pattern::of_pairs(own.unknowns(), of_elements.chain(of_contacts));
        self.matrix = Some(SymmetricMatrix::zeros(pattern));
        true
    }

    /// Whether there are no contacts.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Determines which of the round's contacts push; the contacts are in the same order.
    pub fn set_active(&mut self, nodes: &[Point64], contacts: &PenaltyContacts) {
        for (row, contact) in self.rows.iter_mut().zip(&contacts.0) {
            row.is_active = contact.gap(nodes) < 0.0;
        }
    }

    /// The sum of a matrix of elements and the contacts that push.
    pub fn with_contacts<'a>(&'a mut self, elements: &'a SymmetricMatrix) -> &'a SymmetricMatrix {
        let Some(matrix) = &mut self.matrix else {
            return elements;
        };
        matrix.values_mut().fill(0.0);
        matrix.add(elements);
        for row in self.rows.iter().filter(|row| row.is_active) {
            for (k, &(a, value)) in row.entries.iter().enumerate() {
                for &(b, other) in &row.entries[..=k] {
                    matrix.add_at(a, b, row.stiffness * value * other);
                }
            }
        }
        matrix
    }
}
