//! Composition operators: the value of two compact fields together, as tables.
//!
//! Vaillant, Guennebaud, Barthe, Wyvill, Cani, "Robust Iso-Surface Tracking for Interactive Character Skinning", SIGGRAPH Asia 2014,
//! section 4.2. A table holds g(f₁, f₂, d) for values in 0…1 and a depth d of contact: its slices are biharmonic functions with given
//! values on the border of the square and g = ½ on a profile curve ([`profile`]).
//!
//! | paper       | here                | shape          | note                                                              |
//! |-------------|---------------------|----------------|-------------------------------------------------------------------|
//! | g           | [`Table`]           | slices × 65²   | no unit; inside above ½                                           |
//! | d           | [`Meets::depth`]    | 1              | 0 to 1, from the angle between the gradients                      |
//! | fig. 4a, 4b | [`Meets::depth`]    | cos α → d      | smooth steps, since the paper gives only curves                   |
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

use crate::character::{BoneSettings, Meeting};
use crate::math::smoothstep;
use crate::numerics::FactorError;

/// Cells along an axis of a table.
pub(super) const CELLS: usize = 64;
/// Nodes along an axis.
pub(super) const NODES: usize = CELLS + 1;
/// Slices of a table in d.
const SLICES: usize = 16;
/// Cells from the middle to the end of the longest contact line.
const LONGEST: usize = CELLS / 2 - 1;

/// Cosines are compared with those of angles within this.
const ROUNDING: f32 = 1e-3;

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
    fn asked_for(meeting: Meeting) -> Option<Self> {
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

    /// The angles α between the gradients between which d grows from 0 to 1, rad: 80° and 120° for contact, 20° and 120° for bulges, 10° and
    /// 60° for the blend (as Gourmel et al., "A Gradient-Based Implicit Blend", ACM TOG 2013).
    fn opening(self) -> [f32; 2] {
        use std::f32::consts::PI;
        match self {
            Self::Union | Self::Contact => [PI / 2.25, PI / 1.5],
            Self::Blend => [PI / 18.0, PI / 3.0],
            Self::Bulge => [PI / 9.0, PI / 1.5],
        }
    }

    /// The choice that asks for it.
    pub(super) fn meeting(self) -> Meeting {
        match self {
            Self::Union => Meeting::Union,
            Self::Blend => Meeting::Blend,
            Self::Contact => Meeting::Contact,
            Self::Bulge => Meeting::Bulge,
        }
    }
}

/// How two groups of fields meet: an operator, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meets {
    pub(super) operator: Operator,
    /// The angles between which d grows to its largest value, rad.
    pub(super) opening: [f32; 2],
    /// That value, 0 to 1.
    pub(super) deepest: f32,
    /// How much of the bulges there is, 0 to 1; of the other operators 1.
    pub(super) bulge: f32,
    /// From this cosine on d is 0.
    closed: f32,
}

impl From<Operator> for Meets {
    fn from(operator: Operator) -> Self {
        Self::new(operator, operator.opening(), 1.0, 1.0)
    }
}

impl Meets {
    fn new(operator: Operator, opening: [f32; 2], deepest: f32, bulge: f32) -> Self {
        Self {
            operator,
            opening,
            deepest,
            bulge,
            closed: opening[0].cos() + ROUNDING,
        }
    }

    /// That of a joint with these settings. `usual`: its operator if it does not ask for one.
    pub(super) fn asked_for(usual: Operator, bone: &BoneSettings) -> Self {
        let operator = Operator::asked_for(bone.meeting).unwrap_or(usual);
        let opening = bone
            .opening
            .map(|opening| opening.map(|angle| angle as f32));
        let has_bulge = operator == Operator::Bulge;
        let bulge = if has_bulge { bone.bulge as f32 } else { 1.0 };
        let opening = opening.unwrap_or_else(|| operator.opening());
        Self::new(operator, opening, bone.depth as f32, bulge)
    }

    /// d for the cosine of the angle between the gradients; at least that of a fold, 0 to 1. 0 for the union.
    pub(super) fn depth(&self, cosine: f32, folded: f32) -> f32 {
        if self.operator == Operator::Union {
            return 0.0;
        }
        let opened = if cosine >= self.closed {
            0.0
        } else {
            smoothstep(self.opening, cosine.clamp(-1.0, 1.0).acos())
        };
        self.deepest * opened.max(folded)
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

    /// g(f₁, f₂, d). Less bulges are a mean with the contact, which has the same contact line.
    pub(super) fn at(&self, meets: &Meets, f1: f32, f2: f32, depth: f32) -> Composed {
        match meets.operator {
            Operator::Union => self.contact.at(f1, f2, 0.0),
            Operator::Contact => self.contact.at(f1, f2, depth),
            Operator::Blend => self.blend.at(f1, f2, depth),
            Operator::Bulge if meets.bulge < 1.0 => {
                let plain = self.contact.at(f1, f2, depth);
                plain.mixed(&self.bulge.at(f1, f2, depth), meets.bulge)
            }
            Operator::Bulge => self.bulge.at(f1, f2, depth),
        }
    }
}

impl Composed {
    /// `part` of the way to another one.
    fn mixed(&self, other: &Self, part: f32) -> Self {
        let mixed = |a: f32, b: f32| a + part * (b - a);
        Self {
            value: mixed(self.value, other.value),
            slopes: [
                mixed(self.slopes[0], other.slopes[0]),
                mixed(self.slopes[1], other.slopes[1]),
            ],
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
        lower.mixed(&self.in_slice(slice + 1, f1, f2), part)
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
pub(super) fn deepest() -> f32 {
    LONGEST as f32 / CELLS as f32 * std::f32::consts::SQRT_2
}
