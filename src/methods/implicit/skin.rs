//! The skin in a pose: rigid guess, Newton steps to the iso-values, relaxation in the surface.

mod aims;
mod blend;
mod ends;
mod lift;
mod release;
mod step;

use rayon::prelude::*;

pub(super) use step::{Care, Step};

use super::known::Known;
use super::model::Model;
use super::motions::{columns, cross, dot, image};
use super::near::Near;
use super::posed::PosedFields;
use super::spot::{EXACT, Spot, at_rest, limited, newton, place};
use crate::math::{Affine, SplitTransform};
use crate::numerics::lanes::Padded;
use aims::wanted;
use step::{SIFT, STILL};

/// Newton steps before the relaxation.
const NEWTON_STEPS: usize = 4;
/// A vertex away from contacts whose value is wrong by less than this does without a Newton step in every second round: a short move in the
/// tangent plane hardly leaves the surface.
const NEARLY: f32 = 2e-3;
/// The part of the way back to rest that a frame takes, and the distance, in sizes, that is none.
const RETURN: f32 = 0.2;
const EXACT_REST: f32 = 1e-6;
/// The spectral radius that the Chebyshev semi-iteration assumes.
const RADIUS: f32 = 0.95;
/// What a vertex that turns back takes of its next move, at least, and how that grows while it goes on. Between two surfaces that meet in
/// a crease vertices would move to and fro for ever.
const CALMER: f32 = 0.6;
const CALMEST: f32 = 0.1;
const LIVELIER: f32 = 1.1;
/// Vertices of one task.
const CHUNK: usize = 64;

/// What a vertex needs during a step.
#[derive(Debug, Clone, Copy)]
struct Aim {
    near: Near,
    rotation: Padded,
    stretch: f32,
    /// Whether joints that influence it have moved relative to each other.
    bends: bool,
}

/// The skin and the memory of its steps.
pub(super) struct Skin {
    pub(super) spots: Vec<Spot>,
    aims: Vec<Aim>,
    /// Whether the fields near vertices are those of the step before.
    has_aims: bool,
    posed: PosedFields,
    /// From the positions before a step to those after, of every joint.
    increments: Vec<[Padded; 4]>,
    splits: Vec<SplitTransform>,
    /// Which vertices a step moves, and a round.
    whole: Vec<bool>,
    active: Vec<bool>,
    /// The next state of the active vertices.
    next: Vec<Spot>,
    /// What is known of the field around every vertex.
    known: Vec<Known>,
    /// Of every vertex of the step the sum `Σ ŵ ½ (R_i + R_j)(p_i − p_j)` of its edges at rest.
    offsets: Vec<[f32; 3]>,
    marks: [Vec<bool>; 2],
    /// How far the active vertices are lifted off contact surfaces.
    lifts: Vec<f32>,
    /// The spots before a step.
    earlier: Vec<Spot>,
    /// Where the skin is shown, and the vertices of it that are not shown where their spots are.
    pub(super) shown: Vec<Padded>,
    eased: Vec<ends::Eased>,
    /// Of every vertex, 0 to 1, how much too far it is from dual quaternions, how far it has left its contact, and that before a pass.
    away: Vec<f32>,
    released: Vec<f32>,
    before_pass: Vec<f32>,
    /// Whether that is so for the skin as it is now.
    is_shown: bool,
}

impl Skin {
    pub(super) fn new(model: &Model, joints: usize) -> Self {
        let count = model.rest.len();
        let aim = Aim {
            near: Near::NONE,
            rotation: [0.0, 0.0, 0.0, 1.0],
            stretch: 1.0,
            bends: false,
        };
        let mut skin = Self {
            spots: Vec::new(),
            aims: vec![aim; count],
            has_aims: false,
            posed: PosedFields::new(model.fields.len()),
            increments: vec![[[0.0; 4]; 4]; joints],
            splits: vec![SplitTransform::identity(); joints],
            whole: vec![false; count],
            active: vec![false; count],
            next: vec![at_rest([0.0; 4]); count],
            known: vec![Known::NOTHING; count],
            offsets: vec![[0.0; 3]; count],
            marks: [vec![false; count], vec![false; count]],
            lifts: vec![0.0; count],
            earlier: Vec::with_capacity(count),
            shown: Vec::with_capacity(count),
            eased: Vec::with_capacity(count),
            away: vec![0.0; count],
            released: vec![0.0; count],
            before_pass: Vec::with_capacity(count),
            is_shown: false,
        };
        skin.spots = vec![at_rest([0.0; 4]); count];
        skin.restart(model);
        skin
    }

    /// Goes back to the bind pose.
    pub(super) fn restart(&mut self, model: &Model) {
        self.posed.forget_swelling();
        for (spot, rest) in self.spots.iter_mut().zip(&model.rest) {
            *spot = at_rest(*rest);
        }
        (self.has_aims, self.is_shown) = (false, false);
    }

    /// Goes a part of what is left of the way to the bind pose, for a skeleton that is back there: relaxation alone would need long for the
    /// rest of it. Returns whether the skin is there.
    pub(super) fn return_to_rest(&mut self, model: &Model) -> bool {
        let mut farthest = 0.0_f32;
        self.is_shown = false;
        for (spot, rest) in self.spots.iter_mut().zip(&model.rest) {
            let left: [f32; 3] = std::array::from_fn(|c| rest[c] - spot.at[c]);
            farthest = farthest.max(dot(left, left));
            *spot = at_rest(std::array::from_fn(|c| {
                spot.at[c] + RETURN * (rest[c] - spot.at[c])
            }));
        }
        let is_there = farthest.sqrt() < EXACT_REST * model.size;
        if is_there {
            self.restart(model);
        }
        is_there
    }

    /// Remembers the skin before a step.
    pub(super) fn remember(&mut self) {
        self.earlier.clone_from(&self.spots);
    }

    /// Goes back to the skin before the step.
    pub(super) fn go_back(&mut self) {
        self.spots.clone_from(&self.earlier);
        self.has_aims = false;
    }

    /// Whether the last step has turned a triangle over: its normal has left the side of the surface that it was on.
    pub(super) fn has_flipped(&self, triangles: &[[u32; 3]]) -> bool {
        let marks = &self.marks[1];
        let is_turned = |spots: &[Spot], corners: [u32; 3]| {
            let [a, b, c] = corners.map(|v| &spots[v as usize]);
            let edge = |to: &Spot| -> [f32; 3] { std::array::from_fn(|k| to.at[k] - a.at[k]) };
            let normal = cross(edge(b), edge(c));
            // The gradients point inwards.
            [a, b, c]
                .iter()
                .all(|corner| dot(normal, corner.normal) > 0.0)
        };
        triangles.par_iter().any(|&corners| {
            corners.iter().any(|&v| marks[v as usize])
                && is_turned(&self.spots, corners)
                && !is_turned(&self.earlier, corners)
        })
    }

    /// Takes the state of the skin when the motions of the joints were those.
    pub(super) fn recall(&mut self, model: &Model, spots: &[Spot], now_from_bind: &[Affine]) {
        self.spots.copy_from_slice(spots);
        (self.has_aims, self.is_shown) = (false, false);
        self.posed.swell(&model.muscles, now_from_bind);
    }

    /// Moves the skin with the joints from where they were before the step.
    pub(super) fn carry(&mut self, step: &Step<'_>, before: &[Affine]) {
        self.is_shown = false;
        for ((increment, now), before) in self
            .increments
            .iter_mut()
            .zip(&step.motions.now_from_bind)
            .zip(before)
        {
            let back = before.try_inverse().unwrap_or_else(Affine::identity);
            let moved = now * back;
            let is_finite = moved
                .matrix()
                .iter()
                .all(|c| c.is_finite() && c.abs() < 1e6);
            *increment = columns(&if is_finite { moved } else { Affine::identity() });
        }
        let increments = &self.increments;
        self.spots
            .par_iter_mut()
            .with_min_len(CHUNK)
            .enumerate()
            .for_each(|(vertex, spot)| {
                let p = [spot.at[0], spot.at[1], spot.at[2]];
                let mut sum = p;
                for (joint, weight) in step.weights.of(vertex) {
                    let moved = image(&increments[joint], p);
                    for c in 0..3 {
                        sum[c] += weight * (moved[c] - p[c]);
                    }
                }
                place(spot, sum);
            });
    }

    /// Brings the skin to its iso-values and relaxes it in the surface. Returns whether it is still.
    pub(super) fn settle(&mut self, step: &Step<'_>) -> bool {
        let (model, motions) = (step.model, step.motions);
        self.posed
            .follow(&model.bound(), &motions.now_from_bind, &motions.rotations);
        self.find_near(step);
        self.find_active(step);
        if !self.whole.contains(&true) {
            return true;
        }
        self.is_shown = false;
        self.find_rotations(step);
        self.find_offsets(step);
        self.project(step);
        let limit = step.limit();
        let mut omega = 1.0;
        let mut largest = f32::INFINITY;
        for round in 0..step.rounds {
            omega = match round {
                0 => 1.0,
                1 => 2.0 / (2.0 - RADIUS * RADIUS),
                _ => 4.0 / (4.0 - RADIUS * RADIUS * omega),
            };
            largest = self.relax(step, omega, round % 2 == 1 && round + 1 < step.rounds);
            if largest < limit {
                break;
            }
            if round % SIFT == SIFT - 1 {
                if step.lifts_after(round) {
                    self.lift(step, limit);
                }
                self.sift(step, limit);
            }
        }
        largest < STILL * step.model.size
    }

    /// Newton steps without relaxation.
    fn project(&mut self, step: &Step<'_>) {
        let field = step.model.field(&self.posed);
        let aims = &self.aims;
        let of_spots = self.spots.par_iter_mut().with_min_len(CHUNK);
        let of_spots = of_spots.zip(&mut self.known).zip(&self.active).enumerate();
        of_spots.for_each(|(v, ((spot, known), &is_active))| {
            if !is_active {
                return;
            }
            let (held, reach) = (&step.model.held[v], step.model.rings.reaches[v]);
            (spot.error, spot.rate, spot.calm) = (f32::INFINITY, 1.0, 1.0);
            for _ in 0..NEWTON_STEPS {
                newton(spot, known, &field, &aims[v].near, held, reach);
                if spot.error < EXACT {
                    break;
                }
            }
            spot.before = spot.at;
        });
    }

    /// One round: towards the Jacobi target in the tangent plane, then a Newton step; a short one only where that is needed. Returns the
    /// longest move.
    fn relax(&mut self, step: &Step<'_>, omega: f32, is_short: bool) -> f32 {
        let field = step.model.field(&self.posed);
        let (spots, aims, offsets) = (&self.spots, &self.aims, &self.offsets);
        let next = self.next.par_iter_mut().with_min_len(CHUNK);
        let next = next.zip(&mut self.known).zip(&self.active).enumerate();
        next.for_each(|(v, ((next, known), &is_active))| {
            if !is_active {
                return;
            }
            let (own, aim) = (&spots[v], &aims[v]);
            let (held, reach) = (&step.model.held[v], step.model.rings.reaches[v]);
            *next = *own;
            next.before = own.at;
            let target = wanted(step, v, &offsets[v], |other| &spots[other].at);
            let mut shift: [f32; 3] = std::array::from_fn(|c| {
                let momentum = (omega - 1.0) * (own.at[c] - own.before[c]);
                omega * (target[c] - own.at[c]) + momentum
            });
            let across = dot(shift, own.normal);
            shift = std::array::from_fn(|c| shift[c] - across * own.normal[c]);
            let taken = own.calm * held.relaxation;
            shift = limited(shift, reach).map(|c| taken * c);
            place(next, std::array::from_fn(|c| own.at[c] + shift[c]));
            if !(is_short && own.is_apart && own.error < NEARLY) {
                newton(next, known, &field, &aim.near, held, reach);
            }
            let total: [f32; 3] = std::array::from_fn(|c| next.at[c] - own.at[c]);
            let last: [f32; 3] = std::array::from_fn(|c| own.at[c] - own.before[c]);
            if dot(total, last) < 0.0 {
                next.calm = (CALMER * own.calm).max(CALMEST);
                next.before = next.at;
            } else {
                next.calm = (LIVELIER * own.calm).min(1.0);
            }
            next.moved = dot(total, total).sqrt();
        });
        let spots = self.spots.par_iter_mut().with_min_len(CHUNK);
        let moves = spots.zip(&self.next).zip(&self.active);
        let moved = moves.map(|((spot, next), &is_active)| {
            if !is_active {
                return 0.0;
            }
            *spot = *next;
            next.moved
        });
        moved.reduce(|| 0.0, f32::max)
    }

    /// The composed field at a vertex where it is.
    pub(super) fn value_at(&self, model: &Model, vertex: usize) -> f32 {
        let [x, y, z, _] = self.spots[vertex].at;
        let own = model.held[vertex].own;
        let field = model.field(&self.posed);
        field.at(&self.aims[vertex].near, own, [x, y, z]).value
    }
}
