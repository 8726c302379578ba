//! One clock: all views of a channel present the same frame.
//!
//! Methods take different times for a frame. Where several of them follow a channel, a frame is posted only when all have
//! finished the one before, and their states are presented together then: between two presentations every view shows the
//! frame of the last one. The clock waits for the slowest. A method that is alone in its channel presents every state.

use std::sync::Arc;

use super::DerivedStages;
use crate::session::views::Need;
use crate::session::worker::{SLICE_SECS, SimWorker};
use crate::session::{ChannelId, Channels, PoseChannel, Snapshot};

/// The frame that the views of a channel present.
#[derive(Default)]
pub(super) struct ChannelFrame {
    channel: ChannelId,
    /// Whether several methods follow the channel.
    together: bool,
    /// The state of each method.
    presented: Vec<(Need, Arc<Snapshot>)>,
    /// States of the posted frame that are known without being computed: of a simulated range.
    known: Vec<(Need, Arc<Snapshot>)>,
    /// Time since the last post, seconds.
    unposted_secs: f64,
    /// Number of the clock's last moment that was posted.
    moment: u64,
}

impl ChannelFrame {
    fn state(&self, need: Need) -> Option<&Arc<Snapshot>> {
        let own = self.presented.iter().find(|(of, _)| *of == need);
        own.map(|(_, state)| state)
    }
}

impl DerivedStages {
    /// The state that a view of several in its channel presents; of another method until its own has a frame of the same time.
    pub(in crate::session) fn presented(&self, need: Need) -> Option<&Arc<Snapshot>> {
        let frame = self
            .frames
            .iter()
            .find(|frame| frame.channel == need.channel && frame.together)?;
        let any = frame.presented.first().map(|(_, state)| state);
        frame.state(need).or(any)
    }

    /// How much of `dt_secs` the clock may advance in channels that present together.
    pub(super) fn accept_together(&self, dt_secs: f64) -> f64 {
        let most = dt_secs.max(SLICE_SECS);
        self.frames
            .iter()
            .filter(|frame| frame.together)
            .fold(dt_secs, |dt, frame| {
                dt.min((most - frame.unposted_secs).max(0.0))
            })
    }

    /// Presents finished frames, and posts joints and time to the workers that some view shows. `known`: a state that a view
    /// presents instead of its worker's. Returns whether any of them moves.
    pub(in crate::session) fn post(
        &mut self,
        channels: &Channels,
        dt_secs: f64,
        known: impl Fn(Need) -> Option<Arc<Snapshot>>,
    ) -> bool {
        let mut followed: Vec<ChannelId> = Vec::new();
        for need in self.live_needs() {
            if !followed.contains(&need.channel) {
                followed.push(need.channel);
            }
        }
        let mut frames = std::mem::take(&mut self.frames);
        frames.retain(|frame| followed.contains(&frame.channel));
        let mut moving = false;
        for channel in followed {
            let index = frames.iter().position(|frame| frame.channel == channel);
            let index = index.unwrap_or_else(|| {
                frames.push(ChannelFrame {
                    channel,
                    ..ChannelFrame::default()
                });
                frames.len() - 1
            });
            moving |= self.post_channel(&mut frames[index], channels, dt_secs, &known);
        }
        self.frames = frames;
        moving
    }

    fn post_channel(
        &self,
        frame: &mut ChannelFrame,
        channels: &Channels,
        dt_secs: f64,
        known: &impl Fn(Need) -> Option<Arc<Snapshot>>,
    ) -> bool {
        let live = || {
            self.bound
                .iter()
                .filter(|bound| bound.live && bound.need.channel == frame.channel)
                .map(|bound| (bound.need, &bound.worker))
        };
        let workers: Vec<(Need, &SimWorker)> = live().collect();
        let joints = channels.joints_in(frame.channel);
        let morphs = channels.morphs_in(frame.channel);
        let time_secs = channels
            .playback_in(frame.channel)
            .and_then(|playback| playback.clip.map(|_| playback.time_secs));
        let moment = channels
            .get(frame.channel)
            .and_then(PoseChannel::moment)
            .filter(|moment| time_secs.is_some() && moment.number != frame.moment);
        let number = moment.map_or(frame.moment, |moment| moment.number);
        let post = |dt_secs: f64| {
            for (_, worker) in &workers {
                worker.post(joints, &morphs, dt_secs, time_secs, moment);
            }
            workers.iter().any(|(_, worker)| !worker.is_idle())
        };
        frame.together = workers.len() > 1;
        if !frame.together {
            frame.presented = workers
                .iter()
                .map(|(need, worker)| (*need, worker.snapshot()))
                .collect();
            (frame.unposted_secs, frame.known) = (0.0, Vec::new());
            frame.moment = number;
            return post(dt_secs);
        }
        frame.unposted_secs += dt_secs;
        if !frame.present(&workers) {
            return true;
        }
        frame.known = workers
            .iter()
            .filter_map(|(need, _)| Some((*need, known(*need)?)))
            .collect();
        let mut moving = false;
        if frame.unposted_secs > 0.0 {
            moving = post(std::mem::take(&mut frame.unposted_secs));
            frame.moment = number;
        }
        // Nothing had to be computed.
        !frame.present(&workers) || moving
    }

    /// Forgets what is presented, for another subject.
    pub(super) fn forget_frames(&mut self) {
        self.frames.clear();
    }
}

impl ChannelFrame {
    /// Presents the posted frame if all methods have finished it. Returns whether they have.
    fn present(&mut self, workers: &[(Need, &SimWorker)]) -> bool {
        let known = |need: Need| self.known.iter().find(|(of, _)| *of == need);
        let waits =
            |(need, worker): &(Need, &SimWorker)| known(*need).is_none() && !worker.has_finished();
        if workers.iter().any(waits) {
            return false;
        }
        let state = |(need, worker): &(Need, &SimWorker)| match known(*need) {
            Some((_, state)) => (*need, state.clone()),
            None => (*need, worker.snapshot()),
        };
        self.presented = workers.iter().map(state).collect();
        true
    }
}
