//! The reference: the equilibrium of a hyperelastic body on volumetric bones, solved until nothing moves any more.
//!
//! Slow, and meant to be: other methods are measured against it. Nothing in it is tuned for looks, and a finer lattice or a smaller
//! tolerance only brings it closer to the solution of one problem, which is: find positions x(X) of the inside of the skin with
//!
//! ```text
//!     ∫ Ψ(∇x) dX  least,     x(X) = Mⱼ X  in the rod of bone j,     no part of the body in another
//! ```
//!
//! with the stable neo-Hookean energy density Ψ (`material`), without gravity or inertia. Mⱼ is the motion of the joint from the bind
//! pose. A rod is a cone with round ends around a bone, whose radius is a part of the distance from its axis to the skin; where two
//! joints' bones meet, rods end before the joint. The muscles, fat and skin around it are one material.
//!
//! The stages, in order: `thickness` (of the body under its skin), `inside`, `octree` and `pieces` (cells, as fine as the body is thin,
//! and what of the body lies in each), `joints_of_cells` and `lattice` (elements), `bones` (nodes that joints hold), `embed` (the skin in
//! the lattice); then per pose `blend` (guess), `elastic` and `newton` (equilibrium), `collide`, `contact` and `contact_terms`; `model` has all of it, and
//! `method` is the [`Skinner`](super::Skinner).
//!
//! | quantity                 | here                    | unit                                     |
//! |--------------------------|-------------------------|------------------------------------------|
//! | positions                | nodes, points           | world units of the file                  |
//! | energy                   | [`Elastic::energy`]     | shear modulus × cubic world unit         |
//! | force                    | [`Elastic::gradient`]   | shear modulus × square world unit        |
//!
//! # What the numbers mean
//! - It is solved relative to the first joint: a motion of the whole skeleton, a change of its scale included, is none of the body.
//! - Errors are those of trilinear elements of size h: of order h² inside, and of order h where the skin cuts cells and where rods begin.
//! - Bones are thinner and thicker by a part of a cell than they should be: their nodes are whole. On a limb with 6 cells through it this
//!   moves the skin by about 2 % of the limb's radius, against 12 cells.
//! - Large poses have more than one equilibrium. What is found is the one that the body reaches when all joints turn evenly from the
//!   bind pose.
//! - Contacts are penalties: flesh that is pressed together by a strain of ε overlaps by about ε/30 of a cell. Skin within 2
//!   cells at rest does not collide with itself, so the innermost part of a deep crease may overlap.
//!
//! # Departures
//! - A rod is at least as thick as an edge of its cells.
//! - An element that the body fills in part is as stiff as the part it fills, at least 5 %; the cut itself is not integrated over.

mod blend;
mod blocks;
mod bones;
mod collide;
mod contact;
mod contact_terms;
mod elastic;
mod embed;
mod inside;
mod joints_of_cells;
mod lattice;
mod material;
mod method;
mod model;
mod newton;
mod octree;
mod pieces;
mod thickness;

pub use contact::PenaltyContacts;
pub use elastic::{Elastic, SecondDerivative};
pub use embed::Embedding;
pub use lattice::{Element, Lattice, Resolution};
pub use material::NeoHookean;
pub use model::TOLERANCE;
pub use newton::{Newton, Solved, StopCriterion};

pub(super) use method::METHOD;
