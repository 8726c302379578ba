//! Recorded frames: the simulation of a clip is kept while the clip plays, so that scrubbing back shows exactly what was simulated, and
//! playing from there continues it with the same bits.
//!
//! The workers record ([`super::worker`]); a frame of a channel has the same number in all of them. Frames of another character, other
//! parameters, or a changed clip are dropped. Times that were not simulated settle, as without recording.

use super::views::Need;
use super::{Scrubbing, Session};
use crate::session::moment::Moment;

/// Memory for recorded frames unless set otherwise, bytes.
pub const RECORDING_BYTES: u64 = 512 << 20;

/// A recorded frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedFrame {
    /// Seconds of the clip.
    pub time_secs: f64,
    /// Whether its state is kept; otherwise it is simulated again from an earlier one.
    pub kept: bool,
}

/// The recorded frames of the active view's clip.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedFrames {
    /// In order of time.
    pub frames: Vec<RecordedFrame>,
    /// Memory used by all views, bytes.
    pub bytes: u64,
    /// Largest memory, bytes; at 0 nothing is recorded.
    pub budget_bytes: u64,
}

/// The recording of all simulations.
#[derive(Debug)]
pub(super) struct Recorder {
    shown: RecordedFrames,
    /// The worker and the revision of its trace that are shown.
    of: Option<(Need, u64)>,
}

impl Default for Recorder {
    fn default() -> Self {
        let shown = RecordedFrames {
            budget_bytes: RECORDING_BYTES,
            ..RecordedFrames::default()
        };
        Self { shown, of: None }
    }
}

impl Session {
    /// The recorded frames of the active view's clip.
    #[must_use]
    pub fn recorded(&self) -> &RecordedFrames {
        &self.recorder.shown
    }

    /// Sets the largest memory for recorded frames, bytes; at 0 nothing is recorded. Cheap to call with every frame.
    pub fn set_recording_bytes(&mut self, bytes: u64) {
        self.recorder.shown.budget_bytes = bytes;
    }

    /// The simulations of the active channel, the active view's first.
    fn recording_needs(&self) -> Vec<Need> {
        let channel = self.channels.active_id();
        let mut needs = self.views.simulating();
        needs.retain(|need| need.channel == channel);
        needs
    }

    /// Bounds the memory, and updates what is shown of the recording. Returns whether that changed.
    pub(super) fn follow_recording(&mut self) -> bool {
        let stages = &self.jobs.stages;
        let shown = &mut self.recorder.shown;
        stages.share_recording(&self.channels, shown.budget_bytes);
        let bytes = stages.workers().map(|worker| worker.trace().bytes()).sum();
        let mut changed = std::mem::replace(&mut shown.bytes, bytes) != bytes;
        let plays_clip = self.channels.active().playback().clip.is_some();
        let worker = self
            .recording_needs()
            .into_iter()
            .filter(|_| plays_clip)
            .find_map(|need| Some((need, self.jobs.stages.bound_worker(need)?)));
        let shown = &mut self.recorder.shown;
        let Some((need, worker)) = worker else {
            changed |= !shown.frames.is_empty();
            shown.frames.clear();
            self.recorder.of = None;
            return changed;
        };
        let trace = worker.trace();
        let of = Some((need, trace.revision()));
        if self.recorder.of != of {
            self.recorder.of = of;
            shown.frames.clear();
            let frames = trace.shown().map(|(moment, kept)| RecordedFrame {
                time_secs: moment.time_secs,
                kept,
            });
            shown.frames.extend(frames);
            shown
                .frames
                .sort_by(|a, b| a.time_secs.total_cmp(&b.time_secs));
            changed = true;
        }
        changed
    }

    /// The recorded frame of the active channel that is nearest to its clock, within half a frame of the clip.
    fn nearest_recorded(&self) -> Option<Moment> {
        let channel = self.channels.active();
        let playback = channel.playback();
        let clips = self.editor.document.clips();
        let fps = clips
            .take(playback.clip?)
            .map_or(super::DEFAULT_FPS, |take| take.fps());
        let reach_secs = 0.5 / fps + 1e-6;
        let distance = |moment: &Moment| (moment.time_secs - playback.time_secs).abs();
        self.recording_needs().into_iter().find_map(|need| {
            let trace = self.jobs.stages.bound_worker(need)?.trace();
            let near = trace.shown().map(|(moment, _)| moment).filter(|moment| {
                moment.content == channel.content() && distance(moment) <= reach_secs
            });
            // Of equal ones the latest.
            near.min_by(|a, b| {
                let by_distance = distance(a).total_cmp(&distance(b));
                by_distance.then(b.number.cmp(&a.number))
            })
            .cloned()
        })
    }

    /// After the clock was moved by hand: shows what was simulated there, if it is recorded, and sets the clock to that frame. Returns whether it
    /// is.
    pub(super) fn show_recorded(&mut self) -> bool {
        if self.jobs.ranges.scrubbing() != Scrubbing::Settled {
            return false;
        }
        self.channels.active_mut().refresh(&self.editor.document);
        let Some(moment) = self.nearest_recorded() else {
            return false;
        };
        let id = self.channels.active_id();
        let channel = self.channels.active_mut();
        channel.show_moment(&moment, &self.editor.document);
        let frame = (moment.number, moment.content);
        let pose = (channel.world_from_joint(), &channel.pose().morphs);
        let (time_secs, workers) = (moment.time_secs, self.jobs.stages.live_workers());
        for (_, worker) in workers.filter(|(followed, _)| *followed == id) {
            worker.replay(frame, pose, time_secs);
        }
        true
    }
}
