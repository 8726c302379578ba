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
//! | `z_f` | `Rows::x`, own rows          | n × 4        | world | unknown points; fourth column is padding      |
//! | `z_b` | `Rows::x`, behind the rows   | m × 4        | world | prescribed points: eliminated                 |
//! | v     | `Rows::velocity`             | n × 4        | world/s |                                             |
//! | M/h²  | `Rows::inertia`              | n (diagonal) | kg s⁻² | lumped from tets; see [`Materials`]          |
//! | h     | `Params::time_step_secs`     | 1            | s     |                                               |
//! | Qᵢ    | rest edges in `local.rs`     | 3 × 4        | 1/world | edges along a chain of tets (`chain.rs`)    |
//! | wᵢ    | `Params::stiffness_pa`       | 1            | Pa    | the energy per volume at ‖F − R‖² = 2          |
//!
//! An iteration (`solver.rs`) processes the subdomains of the mesh in parallel ([`crate::numerics`], `partition`): the local step
//! (`local.rs`, with `numerics::polar`), the quadratic energies that need no local step (`guidance/`), forward substitution,
//! contacts (`contact_solver.rs`, `contacts.rs`), backward substitution, and Anderson acceleration (`numerics::anderson`).
//! `simulation/` combines iterations into time steps.
//!
//! GPU solvers get the same equations as flat arrays (`equations.rs`).
//!
//! # Departures
//! - The global step solves for the increment: (M/h² + Qᵀ W Q) Δx = M/h² (y − x) + Qᵀ W (p − Q x). The minimiser is the papers',
//!   but later iterations correct rounding errors of the `f32` solve, and prescribed points need no matrix of their own.
//! - Lengths stay in world units: stiffness and mass are converted so that the equations are those in metres.
//! - Guided flesh has two additional energies with prescribed rotations (`guidance/`). The initial guess of a step moves it with
//!   its targets, and inertia may pull it back by at most a fraction of its depth: a jump of the pose must not invert elements.
//! - Damping acts on the velocity relative to the base, so that it does not damp the motion of the whole character.
//!
//! [`System`] is rebuilt when the tissue changes, its factor when parameters change. [`Simulation`] allocates nothing after its
//! first step.

mod blocks;
mod chain;
mod contact_equations;
mod contact_problem;
mod contact_solver;
mod contacts;
mod declared;
mod equations;
mod guidance;
mod guided_system;
mod iterations;
mod local;
mod materials;
mod params;
mod rows;
mod simulation;
mod solver;
mod system;
mod tet_state;
mod virtual_bones;
mod work;

pub use crate::numerics::FactorError;
pub use contact_equations::{ContactEquations, StepContacts};
pub use contacts::{ContactReport, Contacts, SavedContacts};
pub use declared::{GRAVITY, MAX_ACCELERATION, PHYSICS, ParamField, PhysicsParam, STIFFNESS};
pub use equations::{EquationChain, Equations, State};
pub use guidance::Target;
pub use materials::Materials;
pub use params::{Collisions, Params, Preset};
pub(crate) use simulation::{MAX_LAG, MAX_SPEED_SIZES_PER_S};
pub use simulation::{Settling, Simulation, StepReport};
pub use system::{System, TetModel};
pub use tet_state::TetState;
pub use virtual_bones::VirtualBones;
pub use work::Work;
