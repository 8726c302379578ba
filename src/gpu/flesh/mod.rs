//! Projective dynamics on the device: the time steps of `dynamics::Simulation`, for many instances of a character at once.
//!
//! ```text
//!     predict        x ← x + displacement of the base + relative velocity; y ← inertial prediction
//!     K iterations:
//!         mix            coefficients of the accelerated iterate; from the second iteration on
//!         local          32 chains per workgroup, one tet per thread: closest rotations, forces on the skin points of every chain;
//!                        all energies for the acceleration
//!         gather         one row per thread: b = M/h² (y − x) + forces; if the energy rose, with forces recomputed at the last plain iterate
//!         S passes       P Δ = b (`solve`, or any other); with contacts: press, and S passes again or a product with P⁻¹
//!         record         history of the Anderson acceleration and its scalar products; not in the last iteration
//!     finish         x ← x + Δ, velocities; maximum displacement, and a check for finite values
//! ```
//!
//! Passes that would only move rows are merged into those that read them: local and gather start with x + Δ or with the
//! accelerated iterate. Every workgroup of *gather* sums the energies, and if they increased, each row
//! recomputes the forces of the chains around it (each chain is computed three times). Rejections are rare; separate passes
//! for them would cost their latency in every iteration. Everything is gathered and summed in a fixed order: equal steps
//! give bit-equal results.
//!
//! | lifetime                     | type                                                               |
//! |------------------------------|--------------------------------------------------------------------|
//! | per character and parameters | [`FleshModel`]: kernels, tets, weights; shared by all instances    |
//! | per crowd                    | [`FleshState`]: positions, velocities, temporaries of a step       |
//! | per crowd and solver         | [`FleshStep`]: the dispatches of a step; [`StatisticsReader`]: its statistics |
//!
//! # Passes and bytes
//! A plain step of K iterations has 2 + K (2 + S) passes, an accelerated one 2 (K − 1) more, and K (1 + S) more with contacts from
//! the CPU, 2 K + 8 more with contacts that the device finds. With S = 2:
//!
//! | step                                           | passes | with separate passes for rejection and for energies       |
//! |------------------------------------------------|--------|-----------------------------------------------------------|
//! | ten plain iterations                           | 42     | 42                                                        |
//! | seven accelerated ones (converge further)      | 42     | 54                                                        |
//! | the same with contacts from the CPU            | 63     | 88                                                        |
//! | the same with contacts found by the device     | 64     | 80                                                        |
//!
//! The CUDA version of the thesis (3.2.3) had 310. On an NVIDIA H200 a dependent pass takes 5–10 µs.
//!
//! | pass   | bytes of constants        | bytes of every instance (m: memory of the acceleration)       |
//! |--------|---------------------------|---------------------------------------------------------------|
//! | local  | 144 per chain             | 48 per chain written; corners, 16 (2, or 1 + m), mostly cached |
//! | gather | 12 per chain, 4 per row   | 48 per chain; 80 per row, or 64 + 16 m                        |
//! | record |                           | 112 + 16 m per row                                            |
//!
//! For 5 000 rows and 10 000 chains that is 1.7 MB of constants and 1.5 (plain) or 2.6 MB (m = 3) per iteration: a few µs if
//! they fit the last-level cache. A hundred instances with seven iterations each move 1.8 GB per step, about 1 ms at 2 TB/s.
//! The solve is not included.
//!
//! # Departures
//! - Everything is `f32`, sums too, in blocks. The solve computes the increment, so that rounding errors are corrected by
//!   later iterations. The normal equations are scaled to a unit diagonal before they are regularised (by 1e-6; the CPU uses
//!   1e-10 of the trace in `f64`).
//! - For nearly rank-one matrices the rotation is computed from a line and a plane; the CPU falls back to an SVD in `f64`.
//! - A step always runs all of its iterations: there is no deadline and no search for equilibrium. `dynamics::Simulation`
//!   settles a state, and [`FleshState::upload`] continues from it.

mod contact_kernel;
mod error;
mod keep;
mod kernels;
mod layout;
mod model;
pub mod solve;
mod state;
mod statistics;
mod step;

pub use contact_kernel::{ContactKernel, ContactKernelBuffers, MOST_CONTACTS};
pub use error::FleshError;
pub(super) use layout::struct_layouts;
pub use layout::{Dims, StepStatistics};
pub use model::FleshModel;
pub use state::FleshState;
pub use statistics::StatisticsReader;
pub(in crate::gpu) use step::ContactPasses;
pub use step::FleshStep;
