//! The ends of contacts, as they are shown.
//!
//! Vaillant et al. 2014, section 4.3: vertices near the boundary of a contact are smoothed once more. Their surface is held on one side of the
//! boundary and free on the other, and would be crumpled there.

use rayon::prelude::*;

use super::aims::wanted;
use super::{CHUNK, Skin, Step};
use crate::methods::implicit::composed::Field;
use crate::methods::implicit::known::Known;
use crate::methods::implicit::model::LEAST_DEPTH;
use crate::methods::implicit::motions::dot;
use crate::methods::implicit::near::Near;
use crate::methods::implicit::spot::{Spot, limited};
use crate::numerics::lanes::Padded;

/// Vertices at most so many edges from one across the boundary of a contact are smoothed, so many times.
const RINGS: usize = 3;
const PASSES: usize = 5;

type V = [f32; 3];

/// A vertex near the boundary of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eased {
    vertex: u32,
    near: Near,
    known: Known,
    at: Padded,
    /// Whether it may be across the contact.
    is_released: bool,
}

impl Skin {
    /// Shows the skin: the vertices near the ends of contacts where their neighbours ask for them, out of the surface but not across contacts,
    /// all others where they are.
    pub(in super::super) fn show(&mut self, step: &Step<'_>) {
        if self.is_shown {
            return;
        }
        self.is_shown = true;
        self.shown.clear();
        self.shown.extend(self.spots.iter().map(|spot| spot.at));
        // After a state has been restored the fields are elsewhere.
        let (bound, motions) = (step.model.bound(), step.motions);
        self.posed
            .follow(&bound, &motions.now_from_bind, &motions.rotations);
        self.release(step);
        if !self.spots.iter().any(|spot| spot.touches) {
            return;
        }
        self.find_ends(step);
        let field = step.model.field(&self.posed);
        for _ in 0..PASSES {
            let (shown, spots, offsets) = (&self.shown, &self.spots, &self.offsets);
            let eased = self.eased.par_iter_mut().with_min_len(CHUNK);
            eased.for_each(|eased| {
                let v = eased.vertex as usize;
                let [x, y, z] = eased.next(step, &field, shown, &spots[v], &offsets[v]);
                if [x, y, z].iter().all(|c| c.is_finite()) {
                    eased.at = [x, y, z, 0.0];
                }
            });
            for eased in &self.eased {
                self.shown[eased.vertex as usize] = eased.at;
            }
        }
    }

    /// Finds the vertices near the ends of contacts, and what their edges should be.
    fn find_ends(&mut self, step: &Step<'_>) {
        let model = step.model;
        self.mark_ends(step);
        for _ in 0..RINGS {
            self.grow_marks(step);
        }
        self.eased.clear();
        let marked = self.marks[0].iter().enumerate();
        let marked = marked.filter(|(_, mark)| **mark);
        self.eased.extend(marked.map(|(v, _)| Eased {
            vertex: v as u32,
            near: self.aims[v].near,
            known: self.known[v],
            at: self.shown[v],
            is_released: self.released[v] > 0.0,
        }));
        // The last step has found the fields for the vertices that are still where it left them.
        let field = model.field(&self.posed);
        let has_aims = self.has_aims;
        let eased = self.eased.par_iter_mut().with_min_len(CHUNK);
        let moved = eased.filter(|eased| !has_aims || eased.is_released);
        moved.for_each(|eased| {
            let (own, [x, y, z, _]) = (model.held[eased.vertex as usize].own, eased.at);
            eased.near = field.near(own, [x, y, z]);
            eased.known = Known::NOTHING;
        });
        self.find_rotations(step);
        self.find_offsets(step);
    }

    /// Marks the vertices with an edge across the boundary of a contact.
    fn mark_ends(&mut self, step: &Step<'_>) {
        let spots = &self.spots;
        let marks = self.marks[0].par_iter_mut().with_min_len(CHUNK).enumerate();
        marks.for_each(|(v, mark)| {
            let differs = |next: u32| spots[next as usize].touches != spots[v].touches;
            let around = step.model.rings.around(v);
            *mark = around.iter().any(|&(next, _)| differs(next));
        });
    }
}

impl Eased {
    /// Where the vertex is after the next pass.
    fn next(
        &mut self,
        step: &Step<'_>,
        field: &Field<'_>,
        shown: &[Padded],
        spot: &Spot,
        offset: &V,
    ) -> V {
        let v = self.vertex as usize;
        let (held, reach) = (&step.model.held[v], step.model.rings.reaches[v]);
        let at = shown[v];
        let wanted = wanted(step, v, offset, |other| &shown[other]);
        let shift = std::array::from_fn(|c| held.relaxation * (wanted[c] - at[c]));
        let shift = limited(shift, reach);
        let at: V = std::array::from_fn(|c| at[c] + shift[c]);
        let near = &self.near;
        let found = self
            .known
            .at(at, held.steady, || field.at(near, held.own, at));
        let across = dot(found.side_gradient, found.side_gradient);
        let missing = held.margin + spot.lift - found.side;
        let crosses = !self.is_released && found.depth > LEAST_DEPTH && missing > 0.0;
        if !crosses || across <= held.weak * held.weak {
            return at;
        }
        let back = limited(found.side_gradient.map(|c| c * missing / across), reach);
        std::array::from_fn(|c| at[c] + back[c])
    }
}
