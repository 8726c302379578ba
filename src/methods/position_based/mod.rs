//! Position-based skinning, `pbd` and `xpbd`: constraints on the edges and tets of the flesh, solved one after the other.
//!
//! Abu Rumman, Fratarcangeli, "Position-Based Skinning for Soft Articulated Characters", CGF 2015 (RF15); Müller, Heidelberger, Hennix,
//! Ratcliff, "Position Based Dynamics", JVCIR 2007; Macklin, Müller, Chentanez, "XPBD", MIG 2016; Macklin et al., "Small Steps in Physics
//! Simulation", SCA 2019; Macklin, Müller, "A Constraint-based Formulation of Stable Neo-Hookean Materials", MIG 2021.
//!
//! ```text
//!     x ← x + h v + h² g;     n sweeps over all constraints;     v ← (x − x_before)/h,     w = 1/m, 0 on the base
//! ```
//!
//! | what                                  | `pbd` (`plain.rs`)                 | `xpbd` (`compliant.rs`)                          |
//! |---------------------------------------|------------------------------------|--------------------------------------------------|
//! | constraints                           | length of edges, volume of tets    | strain and volume of tets                        |
//! | stiffness                             | k in 0…1 per step                  | k in Pa: compliance 1/(k V)                      |
//! | time step                             | one, n sweeps                      | n sweeps, divided among substeps                 |
//! | inverted tets                         | stay                               | opened by a guard after each step                |
//! | bind to LBS (RF15; `binding.rs`)      | part of the way per step           | spring of b k V/d² per vertex, d its depth        |
//!
//! `pbd` is what the comparisons of Komaritzan & Botsch (PS figure 6, thesis figure 3.18) used: one distance constraint per edge and one
//! volume constraint per tet, on the tissue of projective skinning. In slivers these contradict each other, and tets stay inverted. The
//! stiffness per sweep is 1 − (1 − k)^{1/n}; what comes out depends on n all the same, because constraints that share vertices add up.
//! `xpbd` has the elastic energy of projective dynamics (`crate::dynamics`) without its guidance, and a volume energy besides.
//!
//! Constraints are coloured (`coloring.rs`): those of a colour share no vertex that they move, so that they are solved in parallel, and the
//! result does not depend on the number of threads. The base follows the pose as that of `pd` (`base_motion.rs`), and upsampling is the same.
//!
//! XPBD forgets the multipliers λ after every step, and what is left over of the constraints after a few sweeps makes the flesh stiffer or
//! softer. Here a step starts where the multipliers of strain of the step before push the points, y + W Jᵀ λ, which is allowed because J is
//! constant: at rest the forces balance exactly, however few the sweeps. Only the volume constraints, whose J changes, start anew, and keep
//! a small error (measured: the sag of a bar changes by 2 % between 1 and 20 sweeps in each of 4 substeps, and not at all at a Poisson's
//! ratio of 0).
//!
//! Equilibria (`body/equilibrium.rs`) are reached by steps without velocities. `pbd` has none that would not depend on the sweeps.
//!
//! # Departures
//! - RF15 has tets between the skin and the bone lines, and binds all skin to linear blend skinning by painted stiffnesses. Here the tets
//!   are the tissue's, and binding is an option with one stiffness.
//! - The strain constraint is F − R = 0 instead of |F| = √3 (Macklin & Müller 2021): its rest state needs no correction of the volume.
//! - Multipliers of strain are kept from step to step, as above; those of tets that are inverted, or nearly so, are not, as their closest
//!   rotation may have become another one.
//! - As in `pd`, inertia may leave the skin behind its reference by a limited way, and damping acts relative to the base.
//! - No self-contact. Volume is not restored by bulges of the base, as in `pd`.

mod base_motion;
mod binding;
mod block;
mod body;
mod coloring;
mod compliant;
mod explain;
mod flesh;
mod method;
mod model;
mod options;
mod physics;
mod plain;
mod points;
#[cfg(test)]
mod tests;

pub(super) use method::{PBD, XPBD};
