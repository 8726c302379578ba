//! One vertex: its state between two rounds, and the step that brings it to its iso-value or onto the contact surface.

use super::composed::{Composite, Field};
use super::known::Known;
use super::model::{Held, LEAST_DEPTH};
use super::motions::dot;
use super::near::Near;
use crate::numerics::lanes::Padded;

/// An error of the value below this is none.
pub(super) const EXACT: f32 = 1e-4;
/// How far above the iso-value the field may be on a contact surface, and how much farther than other moves one onto it may go.
const BEYOND: f32 = 0.03;
const CONTACT_REACH: f32 = 4.0;
/// The most that a vertex is lifted off a contact surface, in values of the fields.
pub(super) const MOST_LIFT: f32 = 0.06;
/// Values of a field so far above ½ are inside of a part.
const INSIDE: f32 = 0.02;

/// A vertex between two rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    /// Position, relative to the centre of the skin, seen from the main joint.
    pub(super) at: Padded,
    /// Position in the round before.
    pub(super) before: Padded,
    /// The unit normal of the tangent plane; zero where nothing holds the vertex.
    pub(super) normal: [f32; 3],
    /// |iso − f| at the last Newton step, and the part of the next one that is taken.
    pub(super) error: f32,
    pub(super) rate: f32,
    /// The part of its relaxation that is taken: less for a vertex that moves to and fro.
    pub(super) calm: f32,
    /// How far the vertex was moved in the last round.
    pub(super) moved: f32,
    /// How much farther than its margin it stays on its side of a contact, so that its triangles do as well.
    pub(super) lift: f32,
    /// Whether it is at a contact surface.
    pub(super) touches: bool,
    /// Whether it has been in no contact of any depth at the last Newton step.
    pub(super) is_apart: bool,
}

/// A vertex that nothing has moved.
pub(super) fn at_rest(at: Padded) -> Spot {
    Spot {
        at,
        before: at,
        normal: [0.0; 3],
        error: 0.0,
        rate: 1.0,
        calm: 1.0,
        moved: 0.0,
        lift: 0.0,
        touches: false,
        is_apart: false,
    }
}

/// Moves a vertex, but never out of the finite numbers.
pub(super) fn place(spot: &mut Spot, at: [f32; 3]) {
    if at.iter().all(|c| c.is_finite()) {
        spot.at = [at[0], at[1], at[2], 0.0];
    }
}

/// A vector of at most that length.
pub(super) fn limited(v: [f32; 3], length: f32) -> [f32; 3] {
    let squared = dot(v, v);
    if squared > length * length {
        let scale = length / squared.sqrt();
        v.map(|c| c * scale)
    } else {
        v
    }
}

/// One Newton step to the iso-value along the gradient. A vertex in contact stays on its own side of the contact surface.
pub(super) fn newton(
    spot: &mut Spot,
    known: &mut Known,
    field: &Field<'_>,
    near: &Near,
    held: &Held,
    reach: f32,
) {
    let at = [spot.at[0], spot.at[1], spot.at[2]];
    (spot.touches, spot.is_apart) = (false, false);
    if held.weak.is_infinite() {
        spot.error = 0.0;
        return;
    }
    let found = known.at(at, held.steady, || field.at(near, held.own, at));
    spot.is_apart = found.depth <= LEAST_DEPTH;
    let squared = dot(found.gradient, found.gradient);
    let is_weak = squared < held.weak * held.weak;
    let mut to = at;
    if is_weak {
        (spot.normal, spot.error) = ([0.0; 3], 0.0);
    } else {
        let error = held.iso - found.value;
        spot.rate = if error.abs() > spot.error && error.abs() > EXACT {
            (0.5 * spot.rate).max(0.125)
        } else {
            (1.25 * spot.rate).min(1.0)
        };
        spot.error = error.abs();
        let scale = spot.rate * error / squared;
        let shift = limited(found.gradient.map(|c| c * scale), reach);
        to = std::array::from_fn(|c| at[c] + shift[c]);
        spot.normal = found.gradient.map(|c| c / squared.sqrt());
    }
    let across = dot(found.side_gradient, found.side_gradient);
    if found.depth > LEAST_DEPTH && across > held.weak * held.weak {
        let margin = held.margin + spot.lift;
        spot.touches = found.side < margin + MOST_LIFT;
        let shift: [f32; 3] = std::array::from_fn(|c| to[c] - at[c]);
        // Skin that both parts cover is pressed, and stays on the surface between them from either side.
        let is_pressed = found.overlap > held.iso.max(0.5) + INSIDE;
        if is_pressed || found.side + dot(found.side_gradient, shift) < margin {
            let deeper = if is_pressed {
                (held.iso - 0.5).max(0.0)
            } else {
                0.0
            };
            let side = margin + deeper;
            to = on_contact(at, &found, held, reach, side - found.side);
            spot.normal = found.side_gradient.map(|c| c / across.sqrt());
            spot.error = 0.0;
        }
    }
    place(spot, to);
}

/// Where a vertex goes that the contact surface holds: onto its own side of it, where the difference of the fields is larger by `missing`.
/// It slides outwards along the surface only beyond the end of the contact; on it the iso-value of a vertex may be out of reach.
fn on_contact(at: [f32; 3], found: &Composite, held: &Held, reach: f32, missing: f32) -> [f32; 3] {
    let (n, g) = (found.side_gradient, found.gradient);
    let (across, squared) = (dot(n, n), dot(g, g));
    let beyond = held.iso.max(0.5) + BEYOND - found.value;
    let mut shift = [0.0; 3];
    if beyond < 0.0 && squared > held.weak * held.weak {
        let along = dot(g, n) / across;
        let slide: [f32; 3] = std::array::from_fn(|c| g[c] - along * n[c]);
        shift = limited(slide.map(|c| c * beyond / squared), reach);
    }
    let back = limited(n.map(|c| c * missing / across), CONTACT_REACH * reach);
    std::array::from_fn(|c| at[c] + shift[c] + back[c])
}
