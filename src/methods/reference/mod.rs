//! Reference solution: the converged equilibrium of a hyperelastic body on volumetric bones.
//!
//! It is slow; other methods are measured against it. Nothing in it is tuned for appearance: a finer lattice or a
//! smaller tolerance only brings it closer to the solution of one problem. That problem is to find positions x(X) of
//! the inside of the skin with
//!
//! ```text
//!     ∫ Ψ(∇x) dX → min,     x(X) = Mⱼ X  in the rod of bone j,     no part of the body in another
//! ```
//!
//! with the stable neo-Hookean energy density Ψ (`material`), without gravity or inertia. Mⱼ is the motion of the joint
//! from the bind pose. A rod is a cone with round ends around a bone; its radius is a fraction of the distance from its
//! axis to the skin. Where the bones of two joints meet, rods end before the joint. Muscles, fat and skin around the
//! rods are one material.
//!
//! The stages, in order: `thickness` (of the body under its skin); `inside`, `octree` and `pieces` (cells, finer where
//! the body is thin, and the pieces of the body in each); `cell_connectivity` and `lattice` (elements); `bones`
//! (prescribed nodes); `embed` (the skin in the lattice). Then per pose: `blend` (initial guess), `elastic` and
//! `newton` (equilibrium), `collide`, `contact` and `contact_terms`. `model` combines all of them, and `method` is the
//! [`Skinner`](super::Skinner).
//!
//! | quantity                 | here                    | unit                                     |
//! |--------------------------|-------------------------|------------------------------------------|
//! | positions                | nodes, points           | world units of the file                  |
//! | energy                   | [`Elastic::energy`]     | shear modulus × cubic world unit         |
//! | force                    | [`Elastic::gradient`]   | shear modulus × square world unit        |
//!
//! # Accuracy
//! - The pose is solved relative to the first joint: a motion of the whole skeleton, including its scale, does not
//!   deform the body.
//! - Errors are those of trilinear elements of size h: of order h² inside, and of order h where the skin cuts cells and
//!   where rods begin.
//! - Rods consist of whole nodes, so that their radius is wrong by a fraction of a cell. On a limb with 6 cells across
//!   its thickness this moves the skin by about 2 % of the limb's radius, compared with 12 cells.
//! - Large poses have more than one equilibrium. The one found is reached when all joints rotate uniformly from the
//!   bind pose.
//! - Contacts are penalties: flesh compressed to a strain of ε overlaps by about ε/30 of a cell. Skin within 2 cells at
//!   rest does not collide with itself, so the innermost part of a deep crease may overlap.
//!
//! # Departures
//! - The radius of a rod is at least the edge of its cells.
//! - The stiffness of a partly filled element is scaled by its fill fraction, at least 5 %; the cut surface is not
//!   integrated over.

mod blend;
mod blocks;
mod bones;
mod cell_connectivity;
mod collide;
mod contact;
mod contact_terms;
mod elastic;
mod embed;
mod inside;
mod lattice;
mod material;
mod method;
mod model;
mod newton;
mod octree;
mod pieces;

pub use contact::PenaltyContacts;
pub use elastic::{Elastic, SecondDerivative};
pub use embed::Embedding;
pub use lattice::{Element, Lattice, Resolution};
pub use material::NeoHookean;
pub use model::TOLERANCE;
pub use newton::{Newton, Solved, StopCriterion};

pub(super) use method::METHOD;
