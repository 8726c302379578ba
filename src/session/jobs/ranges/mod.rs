//! What is seen while scrubbing.
//!
//! *Settled*: each moment is its pose, held until still. *Dynamic*: the range is simulated once from its start, in the background and
//! with the steps of a bake, so that every moment shows what a bake of the range writes, bit for bit, in whatever order it is looked
//! at. Each method that simulates in some view has a simulation of its own, the active view's first. What was simulated is kept in
//! memory for as long as nothing that it depends on changes: it is compared by value.

mod simulated;

use std::sync::Arc;

use super::Around;
use super::stages::Stages;
use crate::rig::KeyedClip;
use crate::session::views::Need;
use crate::session::{ChannelId, Channels, Document, Level, Snapshot, Views, Waker};
use simulated::{Basis, SimulatedRange, make_room};

/// What is seen while scrubbing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scrubbing {
    /// The pose of the moment, held until still.
    #[default]
    Settled,
    /// The moment of a simulation that began with the range.
    Dynamic,
}

/// How far the simulation of the range is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedFrames {
    /// When the first frame is, seconds of the clip.
    pub from_secs: f64,
    /// Frames per second.
    pub fps: f64,
    /// Frames that can be shown.
    pub done: u32,
    /// Frames of the range.
    pub total: u32,
    /// How much of what all views show is simulated, 0..=1.
    pub of_all: f64,
}
/// What was changed a moment ago will be changed again.
const PAUSE_SECS: f64 = 0.25;

/// The simulations of the range: one for each method that simulates in some view, while scrubbing is dynamic.
#[derive(Default)]
pub struct Ranges {
    scrubbing: Scrubbing,
    list: Vec<SimulatedRange>,
}

/// What a simulation would depend on now; none where there is nothing to simulate.
fn basis_of(
    need: Need,
    document: &Document,
    channels: &Channels,
    stages: &Stages,
) -> Option<Basis> {
    let playback = channels.playback_in(need.channel)?;
    let (subject, clip) = document.subject.clone().zip(playback.clip)?;
    let clips = document.clips();
    let simulates = stages.bound_worker(need).is_some() && clips.get(clip).is_some();
    simulates.then(|| Basis {
        subject,
        need,
        params: document.params,
        values: document.method_values.of(need.method),
        bones: document.flesh.bones.clone(),
        clip,
        take: clips.take(clip).cloned(),
        range_secs: playback.range_secs,
    })
}

impl Ranges {
    /// What is seen while scrubbing.
    #[must_use]
    pub fn scrubbing(&self) -> Scrubbing {
        self.scrubbing
    }

    /// How far the simulation of the range is, while scrubbing is dynamic and something that shares the active view's clock simulates.
    /// Frames are the active view's if it does.
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

    /// The state that is kept for what a view shows, in place of what its worker made: the one hook of scrubbing. None of the channel
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
        let may = playback.clip == Some(simulated.basis.clip)
            && !records
            && (!playback.playing || simulated.plays);
        simulated.at(playback.time_secs).filter(|_| may).cloned()
    }

    /// Changes what is seen while scrubbing. Returns whether it was something else.
    pub(in crate::session) fn set_scrubbing(&mut self, scrubbing: Scrubbing) -> bool {
        if self.scrubbing == scrubbing {
            return false;
        }
        self.scrubbing = scrubbing;
        self.list.clear();
        true
    }

    /// Another character has come.
    pub(in crate::session) fn start_over(&mut self) {
        self.list.clear();
    }

    /// Gives up what is under way; what is there stays.
    pub(in crate::session) fn cancel(&mut self) {
        self.list.iter_mut().for_each(SimulatedRange::stop);
    }

    /// Whether something waits to be begun. While a simulation goes on, every frame wakes the window, and the timeline shows how far
    /// it is.
    pub(in crate::session) fn is_busy(&self) -> bool {
        let simulates = self.list.iter().any(|simulated| simulated.job.is_some());
        !simulates && self.list.iter().any(SimulatedRange::is_waiting)
    }

    /// Lets go of what no longer fits. While the pose made by hand is shown, or flesh is made, what there is stays.
    pub(in crate::session) fn drop_stale(&mut self, stages: &Stages, around: &Around<'_>) {
        if self.list.is_empty() {
            return;
        }
        let wanted = around.views.simulating();
        let settled = self.scrubbing == Scrubbing::Settled;
        self.list.retain_mut(|simulated| {
            let need = simulated.basis.need;
            if !wanted.contains(&need) || settled {
                return false;
            }
            match basis_of(need, around.document, around.channels, stages) {
                Some(basis) if basis == simulated.basis => {
                    // Clips may have come before it.
                    simulated.basis.clip = basis.clip;
                    true
                }
                None => around
                    .channels
                    .playback_in(need.channel)
                    .is_some_and(|playback| playback.clip.is_none()),
                Some(_) => false,
            }
        });
    }

    /// Brings the simulations of the range on their way, one after the other. Returns whether there is more to see.
    pub(in crate::session) fn follow(
        &mut self,
        dt_secs: f64,
        stages: &Stages,
        around: &mut Around<'_>,
    ) -> bool {
        self.drop_stale(stages, around);
        let mut changed = false;
        let mut failed = Vec::new();
        let missing = self.missing(stages, around);
        for simulated in &mut self.list {
            simulated.age_secs += dt_secs;
            let (more, why) = simulated.poll();
            changed |= more;
            failed.extend(why);
        }
        self.list.extend(missing);
        failed.extend(self.begin_next(
            around.views.active().need(),
            &around.document.takes,
            stages,
            around.waker,
        ));
        self.let_them_play(around.views, around.channels);
        for why in failed {
            around.tell(
                Level::Warning,
                format!("The range could not be simulated: {why}."),
            );
        }
        changed
    }

    /// What simulates, or could, and is not on the list.
    fn missing(&self, stages: &Stages, around: &Around<'_>) -> Vec<SimulatedRange> {
        if self.scrubbing == Scrubbing::Settled {
            return Vec::new();
        }
        let known = |need: &Need| {
            self.list
                .iter()
                .any(|simulated| simulated.basis.need == *need)
        };
        around
            .views
            .simulating()
            .into_iter()
            .filter(|need| !known(need))
            .filter_map(|need| basis_of(need, around.document, around.channels, stages))
            .map(SimulatedRange::of)
            .collect()
    }

    /// Begins what waits, unless something is under way. Returns what went wrong.
    fn begin_next(
        &mut self,
        active: Need,
        takes: &[Arc<KeyedClip>],
        stages: &Stages,
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

    /// Where a clock stands still, playing will go through what is kept, if that is all there for every view that follows it.
    fn let_them_play(&mut self, views: &Views, channels: &Channels) {
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
