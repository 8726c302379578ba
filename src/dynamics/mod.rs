//! Projective dynamics: alternate per-element projections with one constant linear solve.
//!
//! Bouaziz, Martin, Liu, Kavan, Pauly, "Projective Dynamics", SIGGRAPH 2014; Komaritzan's thesis, sections 2.2–2.2.3 and 3.2.2.
//!
//! ```text
//!     E(x) = 1/(2h²) ‖M^½ (x − y)‖² + Σᵢ wᵢVᵢ/2 ‖Fᵢ − Rᵢ‖²,     y = x₀ + h v₀ + h² g,     Rᵢ = rotation closest to Fᵢ
//! ```
//!
//! | paper | here                         | shape        | unit  | note                                          |
//! |-------|------------------------------|--------------|-------|-----------------------------------------------|
//! | `z_f` | `Rows::x`, own rows          | n × 4        | world | skin vertices: the only unknowns; a pad       |
//! | `z_b` | `Rows::x`, behind the rows   | n × 4        | world | base vertices: eliminated, prescribed         |
//! | v     | `Rows::velocity`             | n × 4        | world/s |                                             |
//! | M/h²  | `Rows::inertia`              | n (diagonal) | kg s⁻² | lumped from tets; see [`Materials`]          |
//! | h     | `Params::time_step_secs`     | 1            | s     |                                               |
//! | Qᵢ    | rest edges in `local.rs`     | 3 × 4        | 1/world | edges along the chain of a prism            |
//! | wᵢ    | `Params::stiffness_pa`       | 1            | Pa    | the energy per volume at ‖F − R‖² = 2          |
//!
//! The way of an iteration: `solver.rs` drives parts of the mesh that threads own (`structure.rs`) through the local step (`local.rs`,
//! rotations in `polar.rs`, vectors in `lanes/`), forward substitution (`substitution.rs`, with the tiles of `factor.rs`), contacts
//! (`touch.rs`, `contacts.rs`, with solves between a few vertices in `window.rs`), backward substitution, and acceleration
//! (`anderson.rs`). `simulation/` makes time steps of iterations.
//!
//! What solves the same equations elsewhere takes them as plain numbers (`equations.rs`); for the global step there, the matrix for
//! conjugate gradients (`hybrid.rs`) or inverse factors (`inverse.rs`, computed by `multifrontal.rs`, laid out by `lines.rs`).
//!
//! # Departures
//! - The global step solves for the increment: (M/h² + Qᵀ W Q) Δx = M/h² (y − x) + Qᵀ W (p − Q x). The same minimiser as the papers',
//!   but rounding errors of the `f32` solve correct themselves, and the base needs no matrix of its own.
//! - Lengths stay in world units: stiffness and mass are converted so that the equations are those in metres.
//! - Damping acts on the velocity relative to the base, so that it never brakes the character itself.
//!
//! [`System`] is rebuilt when the tissue changes, its factor when parameters change; [`Simulation`] allocates nothing after its first
//! step.

mod anderson;
mod compliance;
mod contact_equations;
mod contact_problem;
mod contacts;
mod cut;
mod equations;
mod factor;
mod hybrid;
mod inverse;
mod lanes;
mod lines;
mod loads;
mod local;
mod materials;
mod multifrontal;
mod ordering;
mod params;
mod pattern;
mod polar;
mod rows;
mod simulation;
mod solver;
mod structure;
mod substitution;
mod system;
mod touch;
mod virtual_bones;
mod volume;
mod window;
mod work;

pub use contact_equations::{ContactEquations, Meeting};
pub use contacts::{ContactReport, Contacts};
pub use equations::{Elimination, EquationMatrix, EquationPrism, Equations, State};
pub use factor::FactorError;
pub use hybrid::{Entry, HYBRID_ROWS, HybridMatrix};
pub use inverse::{Inverse, InverseError, Plan};
pub use lines::{GROUP, LINE, LINE_THREADS, LineBatch, LineColumns, LineGroup, LineMatrix};
pub use materials::Materials;
pub use params::{Collisions, MAX_ACCELERATION, Params, Preset};
pub use simulation::{Simulation, StepReport};
pub use system::System;
pub use virtual_bones::VirtualBones;
pub use work::Work;
