//! Work for one frame.

use super::Successor;
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::param::ParamValues;
use crate::session::moment::Moment;
use crate::studio::SnapshotContent;

/// Work for one frame.
pub(super) struct FrameTask {
    pub dt_secs: f64,
    /// The frame that it finishes.
    pub finishes: Option<u64>,
    pub moved: bool,
    pub reset: bool,
    pub keep: Option<u64>,
    pub recall: Option<u64>,
    /// A recorded frame to go back to, by number and content.
    pub replay: Option<(u64, u64)>,
    /// The clock's moment, if the frame is recorded.
    pub moment: Option<Moment>,
    pub params: Option<Params>,
    pub values: Option<ParamValues>,
    pub factors: Option<FleshFactors>,
    pub wants: Option<SnapshotContent>,
    pub device: Option<Successor>,
}

impl FrameTask {
    pub fn changes_numbers(&self) -> bool {
        self.params.is_some() || self.values.is_some() || self.factors.is_some()
    }
}
