//! Many of a character: where they stand and what they do, and where a device has placed them.

mod motion;

pub use motion::CrowdMotion;

use std::sync::Arc;

use crate::gpu::actor::CrowdSkin;
use crate::mesh::Bounds;
use crate::methods::{MethodId, Subject};

/// The state of a crowd, to be drawn.
#[derive(Debug, Clone)]
pub struct CrowdFrame {
    /// No two frames and snapshots of a session have the same.
    pub sequence: u64,
    /// The character that is shown many times.
    pub subject: Arc<Subject>,
    /// Which method moves them.
    pub method: MethodId,
    /// Where they are on the device.
    pub skin: CrowdSkin,
    /// What a frame takes, milliseconds: placing joints, all steps, and all surfaces. Not known before they move.
    pub frame_ms: Option<f64>,
    /// How many frames a second there are, while they move.
    pub frames_per_s: Option<f64>,
}

impl CrowdFrame {
    /// A box around all of them, somewhat too large.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.skin.bounds()
    }
}
