//! The tick: takes over jobs' results, advances the clocks, and posts to the threads.

use super::editing::Editor;
use super::jobs::crowd::Elapsed;
use super::{Gesture, KeysCommand, PoseChannel, Session};

/// Result of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// There is something new to draw.
    pub changed: bool,
    /// Something moves or a job runs: tick again with the next frame. Otherwise nothing changes without input.
    pub active: bool,
}

/// Limit of a step, so that a window that slept does not catch up.
const MAX_TICK_SECS: f64 = 0.1;

impl Session {
    /// Advances real time: takes over finished jobs, advances the clocks, and posts pose and time to the simulations.
    /// Call it with every frame; it never waits.
    pub fn tick(&mut self, dt_secs: f64) -> Tick {
        let mut changed = self.take_finished_jobs();
        let real_secs = if dt_secs.is_finite() {
            dt_secs.clamp(0.0, MAX_TICK_SECS)
        } else {
            0.0
        };
        let clock_secs = self.jobs.accept(real_secs);
        let mut cuts = Vec::new();
        for channel in self.channels.iter_mut() {
            if channel.advance(&self.editor.document, clock_secs).is_some() {
                cuts.push(channel.id());
            }
        }
        for id in cuts {
            self.settle_channel(id);
        }
        let playing = self.channels.iter().any(PoseChannel::is_moving);
        let records = self.editor.keying.is_recording();
        let (ranges, channels) = (&self.jobs.ranges, &self.channels);
        let moving = self.jobs.stages.post(channels, clock_secs, |need| {
            ranges.snapshot_of(need, channels, records)
        });
        changed |= self.follow_recording();
        let sequences = self.jobs.stages.live_sequences();
        changed |= sequences != self.last_sequences;
        self.last_sequences = sequences;
        self.with_jobs(|jobs, around| {
            jobs.stages.report_worker_faults(around);
            jobs.devices.follow(&jobs.stages, around);
        });
        changed |= self.follow_crowds(Elapsed {
            real_secs,
            clock_secs,
        });
        changed |= self.tick_timeline(real_secs);
        self.update_recovery_file();
        let works = self.jobs.is_busy()
            || self.editor.keying.is_busy()
            || self.rigging.is_busy()
            || self.projects.is_busy();
        Tick {
            changed,
            active: moving || playing || works || self.jobs.crowds.is_active(),
        }
    }

    /// The timeline's part of a tick. `real_secs` is real time.
    fn tick_timeline(&mut self, real_secs: f64) -> bool {
        if self.edit(|editor, with| editor.record(with, real_secs)) {
            self.apply_once(KeysCommand::StopRecording.into());
        }
        let copying = self.editor.keying.is_busy();
        let before = copying.then(|| (self.editor.document.clone(), self.seen()));
        let mut changed = self.edit(Editor::take_finished_copy);
        if let (true, Some((before, seen))) = (changed, before) {
            self.record(before, seen, "Copy clip", Gesture::Once);
        }
        changed |= self.with_jobs(|jobs, around| {
            jobs.ranges.follow(real_secs, &jobs.stages, around)
                | jobs.board.follow(real_secs, &jobs.stages, around)
                | jobs.pictures.follow(around.document, around.waker)
                | jobs.worst.follow()
                | jobs.follow_distilling(around)
        });
        self.take_restored_rig();
        let shown = self.snapshot().map(|snapshot| snapshot.sequence);
        changed | (std::mem::replace(&mut self.last_shown, shown) != shown)
    }
}
