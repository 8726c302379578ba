//! Vertices at contact surfaces stay so far from them that their triangles do not cut through those of the other side.

use rayon::prelude::*;

use super::{CHUNK, Skin, Step};
use crate::methods::implicit::model::middle;
use crate::methods::implicit::spot::{EXACT, MOST_LIFT};

/// The deepest place of a triangle under a curved surface, relative to the middles of its edges.
const SAG: f32 = 4.0 / 3.0;
/// Contacts of less depth than this do not lift vertices.
const PRESSED: f32 = 0.5;
/// The part of its margin that a triangle may come nearer to a contact surface than its corners without being lifted, and the part of the way
/// to where it should be that it is lifted at a time.
const LEFT: f32 = 0.5;
const CLOSER: f32 = 0.6;

impl Skin {
    /// Lifts vertices off contact surfaces so far that the middles of their edges are on the same side: triangles of both sides would cut
    /// through each other where the surface is curved.
    pub(super) fn lift(&mut self, step: &Step<'_>, limit: f32) {
        let field = step.model.field(&self.posed);
        let (spots, aims) = (&self.spots, &self.aims);
        let lifts = self.lifts.par_iter_mut().with_min_len(CHUNK);
        let lifts = lifts.zip(&self.active).enumerate();
        lifts.for_each(|(v, (lift, &is_active))| {
            if !is_active {
                return;
            }
            let (own, held) = (&spots[v], &step.model.held[v]);
            *lift = 0.0;
            if !(own.touches && held.can_lift) {
                return;
            }
            let near = &aims[v].near;
            for &(other, _) in step.model.rings.around(v) {
                let at = middle(own.at, spots[other as usize].at);
                let found = field.at(near, held.own, at);
                let lifted = 0.5 * (own.lift + spots[other as usize].lift);
                let sag = held.margin + lifted - found.side;
                // Deeper than that it is not the curvature of the surface.
                if found.depth <= PRESSED || sag >= MOST_LIFT {
                    continue;
                }
                let others = step.model.held[other as usize].own;
                // An edge around the end of a contact has its ends on both sides.
                let crosses =
                    others != held.own && found.side * field.at(near, others, at).side < 0.0;
                if !crosses {
                    *lift = lift.max(SAG * sag - LEFT * held.margin);
                }
            }
            *lift = own.lift + CLOSER * (*lift - own.lift);
            *lift = lift.min(MOST_LIFT);
        });
        let lifted = self.spots.iter_mut().zip(&self.lifts).zip(&self.active);
        for ((spot, &lift), _) in lifted.filter(|(_, is_active)| **is_active) {
            if (lift - spot.lift).abs() > EXACT {
                spot.moved = spot.moved.max(2.0 * limit);
            }
            spot.lift = lift;
        }
    }
}
