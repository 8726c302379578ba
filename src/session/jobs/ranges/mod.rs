//! Simulation of the scrubbed range.
//!
//! *Settled*: each time shows its pose, held until still. *Dynamic*: the range is simulated once from its start, in the background and
//! with the steps of a bake, so that every time shows the bit-equal frame of a bake of the range, in any order of
//! scrubbing. Each method that simulates in some view has its own simulation, the active view's first. Results are kept in
//! memory while their inputs, which are compared by value, do not change.

mod simulated;

use std::sync::Arc;

use super::JobContext;
use super::basis::FrameBasis;
use super::stages::DerivedStages;
use crate::rig::KeyedClip;
use crate::session::views::Need;
use crate::session::{ChannelId, Channels, Document, Level, Snapshot, Views, Waker};
use simulated::{Basis, SimulatedRange, make_room};

/// What scrubbing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scrubbing {
    /// The pose of the present time, held until still.
    #[default]
    Settled,
    /// The frame of a simulation that starts with the range.
    Dynamic,
}

/// Progress of the simulation of the range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedFrames {
    /// Time of the first frame, seconds of the clip.
    pub from_secs: f64,
    /// Frames per second.
    pub fps: f64,
    /// Frames that are ready.
    pub done: u32,
    /// Frames of the range.
    pub total: u32,
    /// Progress over the simulations of all views, 0..=1.
    pub of_all: f64,
}
/// A simulation starts only after its inputs have not changed for this long.
const PAUSE_SECS: f64 = 0.25;

/// The simulations of the range while scrubbing is dynamic: one per method that simulates in some view.
#[derive(Default)]
pub struct Ranges {
    scrubbing: Scrubbing,
    list: Vec<SimulatedRange>,
}

/// The present inputs of a simulation; `None` if nothing simulates.
fn basis_of(
    need: Need,
    document: &Document,
    channels: &Channels,
    stages: &DerivedStages,
) -> Option<Basis> {
    let playback = channels.playback_in(need.channel)?;
    stages.bound_worker(need)?;
    Some(Basis {
        need,
        frames: FrameBasis::of(need, playback.clip?, document)?,
        range_secs: playback.range_secs,
    })
}

impl Ranges {
    /// What scrubbing shows.
    #[must_use]
    pub fn scrubbing(&self) -> Scrubbing {
        self.scrubbing
    }

    /// Progress of the simulation of the range; `None` unless scrubbing is dynamic and a view of the active clock simulates.
    /// The frame counts are those of the active view if it simulates.
    #[must_use]
    pub fn frames(&self, views: &Views) -> Option<SimulatedFrames> {
        let active = views.active().need();
        let all: Vec<_> = self
            .list
            .iter()
            .filter(|simulated| simulated.basis.need.channel == active.channel)
            .collect();
        let first = all
            .iter()
            .find(|simulated| simulated.basis.need == active)
            .or(all.first())?;
        let done: u64 = all
            .iter()
            .map(|simulated| u64::from(simulated.shown_frames()))
            .sum();
        let total: u64 = all.iter().map(|simulated| u64::from(simulated.total)).sum();
        Some(SimulatedFrames {
            from_secs: first.basis.start_secs(),
            fps: first.basis.fps(),
            done: first.shown_frames(),
            total: first.total,
            of_all: done as f64 / total as f64,
        })
    }

    /// The stored state to show in a view instead of its worker's. `None` for the channel
    /// that is being recorded.
    #[must_use]
    pub(in crate::session) fn snapshot_of(
        &self,
        need: Need,
        channels: &Channels,
        recording: bool,
    ) -> Option<Arc<Snapshot>> {
        let simulated = self
            .list
            .iter()
            .find(|simulated| simulated.basis.need == need)?;
        let playback = channels.playback_in(need.channel)?;
        let records = recording && need.channel == channels.active_id();
        let may = playback.clip == Some(simulated.basis.frames.clip)
            && !records
            && (!playback.playing || simulated.plays);
        simulated.at(playback.time_secs).filter(|_| may).cloned()
    }

    /// Sets what scrubbing shows. Returns whether it changed.
    pub(in crate::session) fn set_scrubbing(&mut self, scrubbing: Scrubbing) -> bool {
        if self.scrubbing == scrubbing {
            return false;
        }
        self.scrubbing = scrubbing;
        self.list.clear();
        true
    }

    /// Resets it for another character.
    pub(in crate::session) fn start_over(&mut self) {
        self.list.clear();
    }

    /// Cancels the running simulation; finished frames are kept.
    pub(in crate::session) fn cancel(&mut self) {
        self.list.iter_mut().for_each(SimulatedRange::stop);
    }

    /// Whether a simulation waits to be started. While one runs, every frame wakes the window, and the timeline shows the
    /// progress.
    pub(in crate::session) fn is_busy(&self) -> bool {
        let simulates = self.list.iter().any(|simulated| simulated.job.is_some());
        !simulates && self.list.iter().any(SimulatedRange::is_waiting)
    }

    /// Drops simulations whose inputs changed. While the pose made by hand is shown, or flesh is being made, all are kept.
    pub(in crate::session) fn drop_stale(
        &mut self,
        stages: &DerivedStages,
        context: &JobContext<'_>,
    ) {
        if self.list.is_empty() {
            return;
        }
        let wanted = context.views.simulating();
        let settled = self.scrubbing == Scrubbing::Settled;
        self.list.retain_mut(|simulated| {
            let need = simulated.basis.need;
            if !wanted.contains(&need) || settled {
                return false;
            }
            match basis_of(need, context.document, context.channels, stages) {
                Some(basis) if basis == simulated.basis => {
                    // Clips may have been inserted before it.
                    simulated.basis.frames.clip = basis.frames.clip;
                    true
                }
                None => context
                    .channels
                    .playback_in(need.channel)
                    .is_some_and(|playback| playback.clip.is_none()),
                Some(_) => false,
            }
        });
    }

    /// Starts the simulations of the range, one after the other. Returns whether there is more to show.
    pub(in crate::session) fn follow(
        &mut self,
        dt_secs: f64,
        stages: &DerivedStages,
        context: &mut JobContext<'_>,
    ) -> bool {
        self.drop_stale(stages, context);
        let mut changed = false;
        let mut failed = Vec::new();
        let missing = self.missing(stages, context);
        for simulated in &mut self.list {
            simulated.age_secs += dt_secs;
            let (more, why) = simulated.poll();
            changed |= more;
            failed.extend(why);
        }
        self.list.extend(missing);
        failed.extend(self.begin_next(
            context.views.active().need(),
            &context.document.takes,
            stages,
            context.waker,
        ));
        self.update_stored_playback(context.views, context.channels);
        for why in failed {
            context.add_message(
                Level::Warning,
                format!("The range could not be simulated: {why}."),
            );
        }
        changed
    }

    /// Adds the methods that simulate and are not in the list.
    fn missing(&self, stages: &DerivedStages, context: &JobContext<'_>) -> Vec<SimulatedRange> {
        if self.scrubbing == Scrubbing::Settled {
            return Vec::new();
        }
        let known = |need: &Need| {
            self.list
                .iter()
                .any(|simulated| simulated.basis.need == *need)
        };
        context
            .views
            .simulating()
            .into_iter()
            .filter(|need| !known(need))
            .filter_map(|need| basis_of(need, context.document, context.channels, stages))
            .map(SimulatedRange::of)
            .collect()
    }

    /// Starts a waiting simulation, unless one is running. Returns the error.
    fn begin_next(
        &mut self,
        active: Need,
        takes: &[Arc<KeyedClip>],
        stages: &DerivedStages,
        waker: Option<&Waker>,
    ) -> Option<String> {
        let all = &mut self.list;
        if all.iter().any(|simulated| simulated.job.is_some()) {
            return None;
        }
        let ready = |&index: &usize| all[index].is_waiting() && all[index].age_secs >= PAUSE_SECS;
        let next = (0..all.len())
            .filter(ready)
            .max_by_key(|&index| (all[index].basis.need == active, std::cmp::Reverse(index)))?;
        make_room(all, next);
        let error = all[next]
            .start(takes, stages.sequences(), waker.cloned())
            .err()?;
        all[next].ended = true;
        Some(format!("no thread could be started: {error}"))
    }

    /// While a clock stands still: whether playing will show stored frames, which requires all frames of all views that follow it.
    fn update_stored_playback(&mut self, views: &Views, channels: &Channels) {
        let incomplete: Vec<ChannelId> = self
            .list
            .iter()
            .filter(|simulated| !simulated.is_complete())
            .map(|simulated| simulated.basis.need.channel)
            .collect();
        let playing: Vec<ChannelId> = views
            .channels()
            .filter(|&channel| {
                channels
                    .playback_in(channel)
                    .is_some_and(|playback| playback.playing)
            })
            .collect();
        for simulated in &mut self.list {
            let channel = simulated.basis.need.channel;
            if !playing.contains(&channel) {
                simulated.plays = !incomplete.contains(&channel);
            }
        }
    }
}
