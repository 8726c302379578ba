//! What is seen while scrubbing.
//!
//! *Settled*: each moment is its pose, held until still. *Dynamic*: the range is simulated once from its start, in the background and
//! with the steps of a bake, so that every moment shows what a bake of the range writes, bit for bit, in whatever order it is looked
//! at. Each method that simulates in some view has a simulation of its own, the active view's first. What was simulated is kept in
//! memory for as long as nothing that it depends on changes: it is compared by value.

mod simulated;

use std::sync::Arc;

use crate::methods::Capability;
use crate::session::ChannelId;
use crate::session::views::Need;
use crate::session::{Level, Session, Snapshot};

pub(super) use simulated::Simulated;
use simulated::{Basis, make_room};

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

impl Session {
    /// How far the simulation of the range is, while scrubbing is dynamic and something that shares the active view's clock simulates.
    /// Frames are the active view's if it does.
    #[must_use]
    pub fn simulated_frames(&self) -> Option<SimulatedFrames> {
        let all: Vec<_> = self
            .timeline
            .simulated
            .iter()
            .filter(|simulated| simulated.basis.need.channel == self.channels.active_id())
            .collect();
        let active = self.views.active().need();
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

    /// The state that is kept for what a view shows, in place of what its worker made: the one hook of scrubbing.
    #[must_use]
    pub(in crate::session) fn scrubbed_snapshot(&self, need: Need) -> Option<Arc<Snapshot>> {
        let simulated = self
            .timeline
            .simulated
            .iter()
            .find(|simulated| simulated.basis.need == need)?;
        let playback = self.channels.playback_in(need.channel)?;
        let records = self.timeline.is_recording() && need.channel == self.channels.active_id();
        let may = playback.clip == Some(simulated.basis.clip)
            && !records
            && (!playback.playing || simulated.plays);
        simulated.at(playback.time_secs).filter(|_| may).cloned()
    }

    pub(super) fn set_scrubbing(&mut self, scrubbing: Scrubbing) {
        if self.timeline.scrubbing != scrubbing {
            self.timeline.scrubbing = scrubbing;
            self.timeline.simulated.clear();
            if !self.channels.active().playback.playing {
                self.settle();
            }
        }
    }

    /// The clock was moved by hand: what is seen there does not come from what was seen before.
    pub(in crate::session) fn settle_scrubbed(&mut self) {
        self.drop_stale_simulation();
        let seen = self
            .simulating()
            .into_iter()
            .filter(|need| need.channel == self.channels.active_id());
        let mut kept = seen.map(|need| self.scrubbed_snapshot(need).is_some());
        let all_kept = kept
            .next()
            .is_some_and(|first| first && kept.all(|kept| kept));
        if !all_kept && !self.timeline.is_recording() {
            self.settle();
        }
    }

    /// Whether something that shares the active view's clock simulates.
    #[must_use]
    pub fn simulates(&self) -> bool {
        self.simulating()
            .iter()
            .any(|need| need.channel == self.channels.active_id())
    }

    /// What views show or compare with that simulates, the active view's first.
    fn simulating(&self) -> Vec<Need> {
        let mut needs = self.views.needs();
        needs.retain(|need| need.method.has(Capability::State));
        needs
    }

    /// What a simulation would depend on now; none where there is nothing to simulate.
    fn basis_of(&self, need: Need) -> Option<Basis> {
        if self.timeline.scrubbing == Scrubbing::Settled {
            return None;
        }
        let playback = self.channels.playback_in(need.channel)?;
        let (subject, clip) = self.document.subject.clone().zip(playback.clip)?;
        let clips = self.document.clips();
        let simulates = self.stages.bound_worker(need).is_some() && clips.get(clip).is_some();
        simulates.then(|| Basis {
            subject,
            need,
            params: self.document.params,
            bones: self.document.flesh.bones.clone(),
            clip,
            take: clips.take(clip).cloned(),
            range_secs: playback.range_secs,
        })
    }

    /// Lets go of what no longer fits. While the pose made by hand is shown, or flesh is made, what there is stays.
    pub(in crate::session) fn drop_stale_simulation(&mut self) {
        if self.timeline.simulated.is_empty() {
            return;
        }
        let wanted = self.simulating();
        let settled = self.timeline.scrubbing == Scrubbing::Settled;
        let mut kept = std::mem::take(&mut self.timeline.simulated);
        kept.retain_mut(|simulated| {
            let need = simulated.basis.need;
            if !wanted.contains(&need) {
                return false;
            }
            match self.basis_of(need) {
                Some(basis) if basis == simulated.basis => {
                    // Clips may have come before it.
                    simulated.basis.clip = basis.clip;
                    true
                }
                None => {
                    !settled
                        && self
                            .channels
                            .playback_in(need.channel)
                            .is_some_and(|playback| playback.clip.is_none())
                }
                Some(_) => false,
            }
        });
        self.timeline.simulated = kept;
    }

    /// Brings the simulations of the range on their way, one after the other. Returns whether there is more to see.
    pub(super) fn follow_scrubbing(&mut self, dt_secs: f64) -> bool {
        self.drop_stale_simulation();
        let known: Vec<Need> = self
            .timeline
            .simulated
            .iter()
            .map(|simulated| simulated.basis.need)
            .collect();
        let missing = self
            .simulating()
            .into_iter()
            .filter(|need| !known.contains(need));
        let missing: Vec<_> = missing
            .filter_map(|need| self.basis_of(need))
            .map(Simulated::of)
            .collect();
        let mut changed = false;
        let mut failed = Vec::new();
        for simulated in &mut self.timeline.simulated {
            simulated.age_secs += dt_secs;
            let (more, why) = simulated.poll();
            changed |= more;
            failed.extend(why);
        }
        self.timeline.simulated.extend(missing);
        failed.extend(self.begin_next_simulation());
        self.let_simulations_play();
        for why in failed {
            self.tell(
                Level::Warning,
                format!("The range could not be simulated: {why}."),
            );
        }
        changed
    }

    /// Begins what waits, unless something is under way. Returns what went wrong.
    fn begin_next_simulation(&mut self) -> Option<String> {
        let all = &mut self.timeline.simulated;
        if all.iter().any(|simulated| simulated.job.is_some()) {
            return None;
        }
        let active = self.views.active().need();
        let ready = |&index: &usize| all[index].is_waiting() && all[index].age_secs >= PAUSE_SECS;
        let next = (0..all.len())
            .filter(ready)
            .max_by_key(|&index| (all[index].basis.need == active, std::cmp::Reverse(index)))?;
        make_room(all, next);
        let error = all[next]
            .start(
                &self.document.takes,
                self.stages.sequences(),
                self.waker.clone(),
            )
            .err()?;
        all[next].ended = true;
        Some(format!("no thread could be started: {error}"))
    }

    /// Where a clock stands still, playing will go through what is kept, if that is all there for every view that follows it.
    fn let_simulations_play(&mut self) {
        let incomplete: Vec<ChannelId> = self
            .timeline
            .simulated
            .iter()
            .filter(|simulated| !simulated.is_complete())
            .map(|simulated| simulated.basis.need.channel)
            .collect();
        let playing: Vec<ChannelId> = self
            .views
            .channels()
            .filter(|&channel| {
                self.channels
                    .playback_in(channel)
                    .is_some_and(|playback| playback.playing)
            })
            .collect();
        for simulated in &mut self.timeline.simulated {
            let channel = simulated.basis.need.channel;
            if !playing.contains(&channel) {
                simulated.plays = !incomplete.contains(&channel);
            }
        }
    }
}
