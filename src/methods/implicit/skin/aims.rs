//! Which vertices a step moves, and what they need for it.

use rayon::prelude::*;

use super::{CHUNK, STILL, Skin, Step};
use crate::methods::implicit::field::PartField;
use crate::methods::implicit::known::Known;
use crate::methods::implicit::motions::rotated;
use crate::methods::implicit::near::Near;
use crate::numerics::lanes::Padded;

impl Skin {
    /// Near fields, and whether a vertex bends. Where everything near has moved alike and no muscle swells, the same fields are near as
    /// before.
    pub(super) fn find_near(&mut self, step: &Step<'_>) {
        let field = step.model.field(&self.posed);
        let has_aims = self.has_aims && !self.posed.swells();
        let spots = &self.spots;
        let of_field = |field: &PartField| step.classes[field.joint as usize];
        let known = self.known.par_iter_mut().with_min_len(CHUNK);
        self.aims
            .par_iter_mut()
            .zip(known)
            .enumerate()
            .for_each(|(vertex, (aim, known))| {
                let held = &step.model.held[vertex];
                *known = Known::NOTHING;
                let [x, y, z, _] = spots[vertex].at;
                let mut weights = step.weights.of(vertex).map(|(j, _)| step.classes[j]);
                let first = weights.next();
                let differs = |class: u32| first.is_some_and(|first| first != class);
                aim.bends = weights.any(differs);
                let is_other = |field: &PartField| differs(of_field(field));
                let bends = |near: &Near| {
                    let fields = near.fields().iter();
                    fields
                        .map(|&field| &step.model.fields[usize::from(field)])
                        .any(is_other)
                };
                let is_kept = has_aims
                    && first.is_some()
                    && !bends(&aim.near)
                    && !field.is_reached([x, y, z], is_other);
                if !is_kept {
                    let found;
                    (aim.near, found) = field.near_and_value(held.own, [x, y, z]);
                    *known = Known::of([x, y, z], held.steady, found);
                    aim.bends |= bends(&aim.near);
                }
                aim.bends |= field.swells_at(&aim.near, [x, y, z]);
            });
        self.has_aims = true;
    }

    /// The vertices that bend or were not still, and two rings around them.
    pub(super) fn find_active(&mut self, step: &Step<'_>) {
        let limit = STILL * step.model.size;
        for ((mark, aim), spot) in self.marks[0].iter_mut().zip(&self.aims).zip(&self.spots) {
            *mark = aim.bends || spot.moved > limit;
        }
        for _ in 0..2 {
            self.grow_marks(step);
        }
        self.whole.clone_from(&self.marks[0]);
        self.active.clone_from(&self.whole);
    }

    /// Marks the neighbours of marked vertices as well.
    pub(super) fn grow_marks(&mut self, step: &Step<'_>) {
        let [from, to] = &mut self.marks;
        to.par_iter_mut()
            .with_min_len(CHUNK)
            .enumerate()
            .for_each(|(vertex, mark)| {
                let around = step.model.rings.around(vertex);
                *mark = from[vertex] || around.iter().any(|&(next, _)| from[next as usize]);
            });
        self.marks.swap(0, 1);
    }

    /// Leaves out the vertices of the step that are still, as all of their neighbours are.
    pub(super) fn sift(&mut self, step: &Step<'_>, limit: f32) {
        let spots = &self.spots;
        let moves = |vertex: usize| spots[vertex].moved > limit;
        let active = self.active.par_iter_mut().with_min_len(CHUNK);
        let active = active.zip(&self.whole).enumerate();
        active.for_each(|(v, (is_active, is_of_step))| {
            let mut around = step.model.rings.around(v).iter();
            *is_active = *is_of_step && (moves(v) || around.any(|&(next, _)| moves(next as usize)));
        });
    }

    /// Rotations of the vertices of the step and of their neighbours.
    pub(super) fn find_rotations(&mut self, step: &Step<'_>) {
        self.grow_marks(step);
        self.aims
            .par_iter_mut()
            .zip(&self.marks[0])
            .with_min_len(CHUNK)
            .enumerate()
            .filter(|(_, (_, mark))| **mark)
            .for_each(|(vertex, (aim, _))| {
                (aim.rotation, aim.stretch) = blended_rotation(step, vertex);
            });
    }

    /// What the edges of active vertices should be.
    pub(super) fn find_offsets(&mut self, step: &Step<'_>) {
        let (aims, marks) = (&self.aims, &self.marks[1]);
        let offsets = self.offsets.par_iter_mut().zip(marks).enumerate();
        let marked = offsets.with_min_len(CHUNK).filter(|(_, (_, mark))| **mark);
        marked.for_each(|(v, (offset, _))| {
            *offset = [0.0; 3];
            let own = &aims[v];
            let rest = step.model.rest[v];
            for &(other, weight) in step.model.rings.around(v) {
                let (aim, at) = (&aims[other as usize], step.model.rest[other as usize]);
                let edge = [rest[0] - at[0], rest[1] - at[1], rest[2] - at[2]];
                let (a, b) = (rotated(&own.rotation, edge), rotated(&aim.rotation, edge));
                for c in 0..3 {
                    offset[c] += 0.5 * weight * (own.stretch * a[c] + aim.stretch * b[c]);
                }
            }
        });
    }
}

/// Where the neighbours of a vertex ask for it: q of eq. 3. `offset`: what its edges should be; `at`: where a vertex is.
#[inline]
pub(super) fn wanted<'p>(
    step: &Step<'_>,
    v: usize,
    offset: &[f32; 3],
    at: impl Fn(usize) -> &'p Padded,
) -> [f32; 3] {
    let mut target = *offset;
    for &(other, weight) in step.model.rings.around(v) {
        let at = at(other as usize);
        for c in 0..3 {
            target[c] += weight * at[c];
        }
    }
    target
}

/// The rotation and the stretch of a vertex, blended by its weights.
fn blended_rotation(step: &Step<'_>, vertex: usize) -> (Padded, f32) {
    let (mut sum, mut stretch) = ([0.0_f32; 4], 0.0);
    let mut first: Option<Padded> = None;
    for (joint, weight) in step.weights.of(vertex) {
        let q = step.motions.rotations[joint];
        let first = *first.get_or_insert(q);
        let cosine: f32 = (0..4).map(|c| q[c] * first[c]).sum();
        let signed = if cosine < 0.0 { -weight } else { weight };
        for c in 0..4 {
            sum[c] += signed * q[c];
        }
        stretch += weight * step.motions.stretches[joint];
    }
    let length = sum.iter().map(|c| c * c).sum::<f32>().sqrt();
    if length > 1e-6 {
        (sum.map(|c| c / length), stretch)
    } else {
        (first.unwrap_or([0.0, 0.0, 0.0, 1.0]), 1.0)
    }
}
