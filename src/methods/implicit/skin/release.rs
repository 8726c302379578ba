//! Parts that end up inside of others, as they are shown.
//!
//! No iso-surface near such a part looks like it: contacts press its vertices out of the way by more than the limb is thick, and tear it. It is
//! shown where dual quaternions put it, and cuts the other one.

use rayon::prelude::*;

use super::blend::blended_point;
use super::{CHUNK, Skin, Step};
use crate::math::smoothstep;
use crate::methods::implicit::composed::Field;
use crate::numerics::lanes::Padded;

/// Distance from dual quaternions, in parts of the depth of the limb's middle, from which on a vertex leaves its contact, and at which it has
/// left it.
const AWAY: [f32; 2] = [1.15, 1.5];
/// The value of a field inside of its part.
const INSIDE: f32 = 0.5;
/// Passes in which neighbours that are as far away follow, and as many in which those around them follow in part.
const PASSES: usize = 8;

impl Skin {
    /// Shows the vertices that contacts have pushed too far where dual quaternions put them, and those around them in between.
    pub(super) fn release(&mut self, step: &Step<'_>) {
        self.split(step.motions);
        let (splits, spots) = (&self.splits, &self.spots);
        let field = step.model.field(&self.posed);
        let released = self.released.par_iter_mut().with_min_len(CHUNK).enumerate();
        let away = self.away.par_iter_mut().zip(released);
        away.for_each(|(away, (v, released))| {
            let to = blended_point(step, splits, v);
            *away = how_far(step, &spots[v].at, &to, v);
            *released = if *away > 0.0 && is_inside(step, &field, &to, v) {
                *away
            } else {
                0.0
            };
        });
        if self.released.iter().all(|&part| part == 0.0) {
            return;
        }
        for pass in 0..2 * PASSES {
            self.before_pass.clone_from(&self.released);
            let (before, away) = (&self.before_pass, &self.away);
            let released = self.released.par_iter_mut().with_min_len(CHUNK).enumerate();
            released.for_each(|(v, released)| {
                let around = step.model.rings.around(v).iter();
                let around = around.map(|&(next, weight)| (before[next as usize], weight));
                let from_others = if pass < PASSES {
                    around
                        .map(|(part, _)| part)
                        .fold(0.0, f32::max)
                        .min(away[v])
                } else {
                    around.map(|(part, weight)| weight * part).sum()
                };
                *released = released.max(from_others);
            });
        }
        let shown = self.shown.par_iter_mut().zip(&self.released).enumerate();
        shown.with_min_len(CHUNK).for_each(|(v, (at, &part))| {
            if part > 0.0 {
                let to = blended_point(step, splits, v);
                *at = std::array::from_fn(|c| at[c] + part * (to[c] - at[c]));
            }
        });
    }
}

/// How far a vertex has left its contact, 0 to 1, by how far it is from where dual quaternions put it.
fn how_far(step: &Step<'_>, at: &Padded, to: &Padded, v: usize) -> f32 {
    let held = &step.model.held[v];
    let Some(part) = step.model.fields.get(usize::from(held.own)) else {
        return 0.0;
    };
    let squared: f32 = (0..3).map(|c| (at[c] - to[c]).powi(2)).sum();
    // Joints may be too far away for single precision.
    if !squared.is_finite() {
        return 0.0;
    }
    let depth = held.depth.min(part.radius).max(f32::MIN_POSITIVE);
    smoothstep(AWAY, squared.sqrt() / depth)
}

/// Whether a vertex would be inside of a part that does not join its own there.
fn is_inside(step: &Step<'_>, field: &Field<'_>, to: &Padded, v: usize) -> bool {
    let own = step.model.held[v].own;
    let at = [to[0], to[1], to[2]];
    let parent = |field: u16| step.model.folds[usize::from(field)].parent;
    let near = field.near(own, at);
    let mut others = near
        .fields()
        .iter()
        .filter(|&&other| other != own && parent(other) != own && parent(own) != other);
    others.any(|&other| field.value_of(other, at) > INSIDE)
}
