//! Smoothing of the skin, which direct delta mush and delta mush share: the discrete surface, lengths that follow the thickness of limbs,
//! and what connects the welded skin with source vertices.
//!
//! Both methods smooth by implicit steps `(M + L_τ) y = M x`, one step of heat flow for the time τ (a squared length):
//!
//! | symbol | here                  | shape        | unit    | note                                                      |
//! |--------|-----------------------|--------------|---------|-----------------------------------------------------------|
//! | M      | [`Surface::areas`]    | n (diagonal) | length² | positive                                                  |
//! | `L_τ`  | [`Surface::implicit`] | n × n        | length² | `xᵀ L_τ x = Σ_edges ½ (τ_i + τ_j) k_ij (x_i − x_j)²`      |
//! | k      | [`Edge::conductance`] | edges        | –       | half the sum of the cotangents opposite an edge, positive |
//! | τ      | (c r)² / steps        | n            | length² | r: [`limb_radii`]; c: a parameter in limb radii           |
//!
//! Areas and cotangents make the result independent of the resolution of the mesh, and radii make it the same for a finger and a thigh.
//!
//! # Departures
//! - Conductances are at least [`surface::LEAST_CONDUCTANCE`]: negative cotangents would give negative weights, and a vertex with only
//!   such edges would be cut off.

mod bridges;
mod joints;
mod rotations;
mod sources;
mod surface;
mod thickness;

pub(super) use crate::numerics::lanes::Padded;
pub(super) use bridges::bridges;
pub(super) use joints::{BindJoints, product, stretched};
pub(super) use rotations::{BATCH, RotationBatch};
pub(super) use sources::Sources;
pub(super) use surface::{Edge, Surface};
pub(super) use thickness::limb_radii;

#[cfg(test)]
pub(super) mod tests;
