//! Projective dynamics: alternate per-element projections with one constant linear solve.
//!
//! Bouaziz, Martin, Liu, Kavan, Pauly, "Projective Dynamics", SIGGRAPH 2014; Komaritzan's thesis, sections 2.2–2.2.3 and 3.2.2.
//!
//! ```text
//!     E(x) = 1/(2h²) ‖M^½ (x − y)‖² + Σᵢ wᵢVᵢ/2 ‖Fᵢ − Rᵢ‖²,     y = x₀ + h v₀ + h² g,     Rᵢ = rotation closest to Fᵢ
//! ```
//!
//! | paper | here                         | shape        | unit  | note                                     |
//! |-------|------------------------------|--------------|-------|------------------------------------------|
//! | `z_f` | `State::position`            | n × 3        | world | skin vertices: the only unknowns         |
//! | `z_b` | `State::base`                | n × 3        | world | base vertices: eliminated, prescribed    |
//! | v     | `State::velocity`            | n × 3        | world/s |                                        |
//! | M     | `System::mass`               | n (diagonal) | kg    | lumped from tets                         |
//! | h     | `Params::time_step_secs`     | 1            | s     |                                          |
//! | Qᵢ    | columns of D⁻ᵀ, see `local.rs` | 3 × 4       | 1/world |                                        |
//! | wᵢ    | `Params::stiffness_pa`       | 1            | Pa    | the energy per volume at ‖F − R‖² = 2     |
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
mod contact_problem;
mod contacts;
mod factor;
mod lanes;
mod loads;
mod local;
mod materials;
mod params;
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

pub use contacts::{ContactReport, Contacts};
pub use factor::FactorError;
pub use materials::Materials;
pub use params::{Collisions, MAX_ACCELERATION, Params, Preset};
pub use simulation::{Simulation, StepReport};
pub use system::System;
pub use virtual_bones::VirtualBones;
pub use work::Work;
