//! Projective dynamics on the device: the time steps of `dynamics::Simulation`, for many instances of a character at once.
//!
//! | lifetime                    | type                                                               |
//! |-----------------------------|--------------------------------------------------------------------|
//! | per character and parameters | [`FleshModel`]: kernels, tets, weights; shared by all instances    |
//! | per crowd                   | [`FleshState`]: positions, velocities, what a step remembers        |
//! | per crowd and solver        | [`FleshStep`]: the dispatches of a step; [`Watcher`]: what it did   |
mod error;
mod keep;
mod kernels;
mod layout;
mod model;
mod press;
pub mod solve;
mod state;
mod step;
mod watch;

pub use error::FleshError;
pub(super) use layout::struct_layouts;
pub use layout::{Dims, Watch};
pub use model::FleshModel;
pub use press::{MOST_CONTACTS, Press, PressBuffers};
pub use state::FleshState;
pub use step::FleshStep;
pub use watch::Watcher;
