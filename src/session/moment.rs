//! Moments: the frames of a running clock, by which the recording of the simulation finds them again.

use std::sync::Arc;

use crate::rig::PoseOffset;

/// An offset between two poses that decays to zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fading {
    pub(super) offset: PoseOffset,
    pub(super) age_secs: f64,
}

/// A frame of a running clock.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    /// Number in its channel, ascending.
    pub number: u64,
    /// Seconds of the clip.
    pub time_secs: f64,
    /// The clock before this frame, seconds of the clip: the frame replaces earlier ones of the time between.
    pub from_secs: f64,
    /// Whether the clock has jumped to `from_secs`, because the range started over.
    pub starts: bool,
    /// Number of the clip's content: moments of other content are of another motion.
    pub content: u64,
    /// The remaining offset of the previous motion.
    pub fading: Option<Arc<Fading>>,
}
