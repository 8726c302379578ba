//! What the flesh has to say about a vertex.

use super::flesh::PositionBased;
use crate::methods::{Term, TermValue};

impl PositionBased {
    /// The terms of a source vertex, from the tets at the simulated vertex next to it at rest. Empty for cloth and props, which are not
    /// simulated.
    pub(super) fn explain(&self, source: usize) -> Vec<Term> {
        let subject = self.subject();
        let skin = subject.skin.skin_from_source.get(source).copied().flatten();
        let Some((vertex, rest_distance)) = skin.and_then(|skin| {
            let own = subject.skin.mesh.positions[skin as usize];
            let simulated = subject.sim().mesh.positions.iter();
            simulated
                .map(|at| (at - own).norm())
                .enumerate()
                .min_by(|a, b| a.1.total_cmp(&b.1))
        }) else {
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
