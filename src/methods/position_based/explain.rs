//! What the flesh has to say about a vertex.

use super::flesh::PositionBased;
use crate::methods::explain::nearest_simulated;
use crate::methods::{Term, TermValue};

impl PositionBased {
    /// The terms of a source vertex, from the tets at the simulated vertex next to it at rest. Empty for cloth and props, which are not
    /// simulated.
    pub(super) fn explain(&self, source: usize) -> Vec<Term> {
        let Some((vertex, rest_distance)) = nearest_simulated(self.subject(), source) else {
            return Vec::new();
        };
        let mut terms = vec![Term::new(
            "simulated_distance",
            "To the nearest simulated vertex",
            TermValue::Length(f64::from(rest_distance)),
            "Distance at rest; the volume below is that of the tets at this simulated vertex, and detail between is upsampled.",
        )];
        let (mut volume, mut total, mut inverted) = (0.0, 0.0, 0);
        let body = self.body();
        for (tet, ratio) in body.model().tets.iter().zip(body.volume_ratios()) {
            if tet.corners.contains(&(vertex as u32)) {
                volume += ratio * tet.volume;
                total += tet.volume;
                inverted += usize::from(ratio <= 0.0);
            }
        }
        if total > 0.0 {
            terms.push(Term::new(
                "flesh_volume",
                "Volume of the flesh",
                TermValue::Factor(volume / total),
                "Mean volume of the tets at the vertex, relative to rest.",
            ));
            terms.push(Term::new(
                "inverted_tets",
                "Inverted tets",
                TermValue::Count(inverted),
                "Tets at the vertex that are turned inside out; 0 is sound.",
            ));
        }
        terms
    }
}
