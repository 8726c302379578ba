//! Crowds: positions and motion of many instances of a character, and their results on a device.

mod motion;

pub use motion::CrowdMotion;

use std::sync::Arc;

use crate::gpu::actor::CrowdSkin;
use crate::mesh::Bounds;
use crate::methods::{MethodId, Subject};

/// The state of a crowd, for drawing.
#[derive(Debug, Clone)]
pub struct CrowdFrame {
    /// Unique among all frames and snapshots of a session.
    pub sequence: u64,
    /// The character of all instances.
    pub subject: Arc<Subject>,
    /// The method.
    pub method: MethodId,
    /// The results on the device.
    pub skin: CrowdSkin,
    /// Computation time of a frame, milliseconds: joints, steps and surfaces. Unknown before the first frame.
    pub frame_ms: Option<f64>,
    /// Frames per second, while they move.
    pub frames_per_s: Option<f64>,
}

impl CrowdFrame {
    /// Bounding box of all instances, slightly enlarged.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.skin.bounds()
    }
}
