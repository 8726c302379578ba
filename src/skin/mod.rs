//! Skinning methods behind one trait, and the [`Actor`] that turns any of them into full-resolution output.
//!
//! A method is bound once (everything that does not depend on the pose) and then only follows poses. Methods that cost little per
//! vertex (`rigid`, `lbs`, `dqs`) bind the source vertices; simulated ones (`pd`) bind the simulation mesh and are upsampled.

mod actor;
mod body;
mod computed;
pub mod device;
mod direct;
mod dqs;
mod follower;
mod kept;
mod lbs;
mod projective;
mod reach;
pub mod recipe;
pub mod riding;
pub mod score;
mod subject;

pub use actor::{Actor, StepTimes};
pub use body::Body;
pub use device::{Colliding, Device, DeviceError, DeviceStep, DeviceTimes, SurfaceDevice, SurfaceMut, Watched};
pub use dqs::SplitTransform;
pub use projective::{Projective, Settled, Walker};
pub use reach::Reach;
pub use recipe::Recipe;
pub use riding::Riding;
pub use score::{Score, Scorer};
pub use subject::{BindError, Flesh, SetupTimes, Subject};

use serde::{Deserialize, Serialize};

use crate::math::{Affine, Point};

/// A way of skinning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every vertex follows its strongest joint.
    Rigid,
    /// Linear blend skinning.
    Lbs,
    /// Dual quaternion skinning (Kavan et al. 2008).
    Dqs,
    /// Projective skinning: the simulated flesh.
    #[default]
    Pd,
}

impl Method {
    /// All methods, simplest first.
    pub const ALL: [Self; 4] = [Self::Rigid, Self::Lbs, Self::Dqs, Self::Pd];

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Lbs => "lbs",
            Self::Dqs => "dqs",
            Self::Pd => "pd",
        }
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Rigid => "Rigid",
            Self::Lbs => "Linear blend",
            Self::Dqs => "Dual quaternion",
            Self::Pd => "Projective dynamics",
        }
    }

    /// Name where there is little room.
    #[must_use]
    pub fn short_label(self) -> &'static str {
        match self {
            Self::Rigid => "Rigid",
            Self::Lbs => "LBS",
            Self::Dqs => "DQS",
            Self::Pd => "PD",
        }
    }

    /// The method with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.id() == id)
    }

    /// Whether the method has a state of its own, so that the way to a pose matters.
    #[must_use]
    pub fn is_simulated(self) -> bool {
        matches!(self, Self::Pd)
    }
}

/// One frame of input.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Where every joint of the skeleton is now.
    pub world_from_joint: &'a [Affine],
    /// Seconds since the last frame; 0 means "settle, do not simulate": the equilibrium of this pose.
    pub dt_secs: f64,
}

/// Why a frame could not be skinned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The frame belongs to another skeleton.
    #[error("the pose has {actual} joints, the skeleton {expected}")]
    JointCount {
        /// Joints bound.
        expected: usize,
        /// Joints given.
        actual: usize,
    },
    /// A joint transform with NaN or infinity; nothing was moved.
    #[error("the pose contains numbers that are not finite")]
    BadPose,
    /// A position became NaN or infinite; the output holds the last good frame and the solver has been restarted.
    #[error("the simulation left the finite numbers and was restarted")]
    Diverged,
}

/// Deforms bound vertices to follow a pose.
///
/// # Contract (checked for every method by the conformance suite in `tests/skinners.rs`)
/// - **rest**: the bind pose with `dt = 0` returns the bind positions;
/// - **rigid**: one rigid motion of all joints, with `dt = 0`, moves the whole skin by it;
/// - **deterministic**: `reset`, then equal frames, gives bit-equal output.
pub trait Skinner: Send {
    /// Writes the deformed position (world space) of every bound vertex into `out`.
    ///
    /// # Errors
    /// [`SkinError::JointCount`] if `frame` is of another skeleton; [`SkinError::Diverged`] on a non-finite position.
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError>;

    /// Forgets velocities and warm starts; nothing to do for methods without a state.
    fn reset(&mut self) {}
}
