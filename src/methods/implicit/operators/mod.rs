//! Composition operators: the value of two compact fields together, as tables.
//!
//! Vaillant, Guennebaud, Barthe, Wyvill, Cani, "Robust Iso-Surface Tracking for Interactive Character Skinning", SIGGRAPH Asia 2014,
//! section 4.2. A table holds g(f₁, f₂, d) for values in 0…1 and a depth d of contact: its slices are biharmonic functions with given
//! values on the border of the square and g = ½ on a profile curve ([`profile`]).
//!
//! | paper       | here                | shape          | note                                                              |
//! |-------------|---------------------|----------------|-------------------------------------------------------------------|
//! | g           | [`Table`]           | slices × 65²   | no unit; inside above ½                                           |
//! | d           | [`Operator::depth`] | 1              | 0 to 1, from the angle between the gradients                      |
//! | fig. 4a, 4b | [`Operator::depth`] | cos α → d      | smooth steps, since the paper gives only curves                   |
//!
//! # Departures
//! - Contact is full from 120° on, not only at 180°: a shallower one pushes what overlaps in a fold out at its sides.
//! - The control points of bulges and of the blend are not published; these are our own.
//! - A contact line ends one cell before the corner (1, 1), where g is 1.

mod profile;
mod solve;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::character::Meeting;
use crate::math::smoothstep;
use crate::numerics::FactorError;

/// Cells along an axis of a table.
pub(super) const CELLS: usize = 64;
/// Nodes along an axis.
const NODES: usize = CELLS + 1;
/// Slices of a table in d.
const SLICES: usize = 16;
/// Cells from the middle to the end of the longest contact line.
const LONGEST: usize = CELLS / 2 - 1;

/// How two fields are composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// Clean union: a crease where the surfaces meet.
    Union,
    /// Clean union that becomes a smooth one with the angle between the gradients: the crease is filled, and straight limbs do not swell.
    Blend,
    /// Clean union that becomes a contact surface where the gradients are opposed.
    Contact,
    /// Contact with bulges beside the fold, from small angles on.
    Bulge,
}

/// g and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Composed {
    /// g.
    pub(super) value: f32,
    /// ∂g/∂f₁ and ∂g/∂f₂.
    pub(super) slopes: [f32; 2],
}

/// g of one operator.
pub(super) struct Table {
    slices: usize,
    /// A slice after the other, f₂ fastest.
    values: Vec<f32>,
}

/// The tables of all operators.
pub(super) struct Tables {
    blend: Table,
    contact: Table,
    bulge: Table,
}

impl Operator {
    /// That of a joint which asks for one.
    pub(super) fn asked_for(meeting: Meeting) -> Option<Self> {
        match meeting {
            Meeting::Usual => None,
            Meeting::Contact => Some(Self::Contact),
            Meeting::Bulge => Some(Self::Bulge),
            Meeting::Union => Some(Self::Union),
            Meeting::Blend => Some(Self::Blend),
        }
    }

    /// All of them, in the order of the parameter.
    pub(super) const ALL: [Self; 4] = [Self::Contact, Self::Bulge, Self::Union, Self::Blend];

    /// Whether parts press each other where they meet.
    pub(super) fn has_contact(self) -> bool {
        matches!(self, Self::Contact | Self::Bulge)
    }

    /// d for the cosine of the angle α between the gradients: from 80° to 120° for contact, from 20° to 120° for bulges, from 10° to 60° for
    /// the blend (as Gourmel et al., "A Gradient-Based Implicit Blend", ACM TOG 2013), 0 for the union.
    pub(super) fn depth(self, cosine: f32) -> f32 {
        use std::f32::consts::PI;
        let angle = |cosine: f32| cosine.clamp(-1.0, 1.0).acos();
        match self {
            Self::Union => 0.0,
            Self::Blend if cosine >= 0.985 => 0.0,
            Self::Blend => smoothstep([PI / 18.0, PI / 3.0], angle(cosine)),
            Self::Contact if cosine >= 0.18 => 0.0,
            Self::Contact => smoothstep([PI / 2.25, PI / 1.5], angle(cosine)),
            Self::Bulge if cosine >= 0.95 => 0.0,
            Self::Bulge => smoothstep([PI / 9.0, PI / 1.5], angle(cosine)),
        }
    }
}

impl Tables {
    /// The tables, computed by the first caller of the process.
    pub(super) fn shared() -> Result<&'static Self, FactorError> {
        static SHARED: OnceLock<Result<Tables, FactorError>> = OnceLock::new();
        SHARED
            .get_or_init(Self::solve)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn solve() -> Result<Self, FactorError> {
        Ok(Self {
            blend: Table::of(&profile::blend())?,
            contact: Table::of(&profile::contact())?,
            bulge: Table::of(&profile::bulge())?,
        })
    }

    /// g(f₁, f₂, d).
    pub(super) fn at(&self, operator: Operator, f1: f32, f2: f32, depth: f32) -> Composed {
        match operator {
            Operator::Union => self.contact.at(f1, f2, 0.0),
            Operator::Contact => self.contact.at(f1, f2, depth),
            Operator::Blend => self.blend.at(f1, f2, depth),
            Operator::Bulge => self.bulge.at(f1, f2, depth),
        }
    }
}

impl Table {
    fn of(profiles: &[profile::Profile]) -> Result<Self, FactorError> {
        let slices: Result<Vec<Vec<f32>>, FactorError> =
            profiles.par_iter().map(solve::slice).collect();
        let slices = slices?;
        Ok(Self {
            slices: slices.len(),
            values: slices.concat(),
        })
    }

    /// g and its derivatives by the trilinear interpolant.
    fn at(&self, f1: f32, f2: f32, depth: f32) -> Composed {
        let last = self.slices - 1;
        let at = (depth / deepest()).clamp(0.0, 1.0) * last as f32;
        let slice = (at as usize).min(last);
        let part = at - slice as f32;
        let lower = self.in_slice(slice, f1, f2);
        if part <= 0.0 || slice == last {
            return lower;
        }
        let upper = self.in_slice(slice + 1, f1, f2);
        let mixed = |a: f32, b: f32| a + part * (b - a);
        Composed {
            value: mixed(lower.value, upper.value),
            slopes: [
                mixed(lower.slopes[0], upper.slopes[0]),
                mixed(lower.slopes[1], upper.slopes[1]),
            ],
        }
    }

    fn in_slice(&self, slice: usize, f1: f32, f2: f32) -> Composed {
        let place = |f: f32| {
            let at = f.clamp(0.0, 1.0) * CELLS as f32;
            let cell = (at as usize).min(CELLS - 1);
            (cell, at - cell as f32)
        };
        let ((i, s), (j, t)) = (place(f1), place(f2));
        let first = (slice * NODES + i) * NODES + j;
        let v = &self.values[first..first + NODES + 2];
        let (v00, v01, v10, v11) = (v[0], v[1], v[NODES], v[NODES + 1]);
        let (low, high) = (v00 + t * (v01 - v00), v10 + t * (v11 - v10));
        let along = (v01 - v00) + s * ((v11 - v10) - (v01 - v00));
        Composed {
            value: low + s * (high - low),
            slopes: [(high - low) * CELLS as f32, along * CELLS as f32],
        }
    }
}

/// The depth of the last slice: the length of the longest contact line.
fn deepest() -> f32 {
    LONGEST as f32 / CELLS as f32 * std::f32::consts::SQRT_2
}
