//! The trace of a simulation: the frames of a clip that were simulated, with the states to go back to and to continue from.
//!
//! Each frame has its inputs (joints, morphs, time step), and its state or a way to it: the state of an earlier frame, from which the frames
//! between are simulated again. As a method is deterministic and its saved state complete, both give the same bits. Where the memory is used
//! up, states are thinned out, the oldest first, until [`MOST_STEPS`] frames share one; then the oldest frames are dropped.
//!
//! The trace holds one frame per time of the clip, the latest: a second round of a loop replaces the first one as it passes.

use std::collections::VecDeque;

use crate::math::Affine;
use crate::methods::ActorState;
use crate::rig::MorphWeights;
use crate::session::moment::Moment;

/// Most frames between two states.
const MOST_STEPS: usize = 16;

/// A frame of the trace.
pub(super) struct TraceFrame {
    pub moment: Moment,
    pub world_from_joint: Vec<Affine>,
    pub morphs: MorphWeights,
    pub dt_secs: f64,
    /// `None` for a frame that is simulated from the one before.
    pub state: Option<ActorState>,
    /// Whether it was simulated from the frame before it in the list.
    follows: bool,
    /// Whether its time still shows it; others are kept as a way to later frames.
    is_shown: bool,
}

impl TraceFrame {
    fn bytes(&self) -> u64 {
        let state = self.state.as_ref().map_or(0, ActorState::bytes);
        (state + size_of::<Self>() + size_of_val(&*self.world_from_joint)) as u64
    }
}

/// The way to a recorded frame.
pub(super) struct TracePath {
    /// The state to start from.
    pub state: ActorState,
    /// Joints, morphs and time steps of the frames after it, the one looked for last.
    pub steps: Vec<(Vec<Affine>, MorphWeights, f64)>,
}

/// The recorded frames of a worker, in the order in which they were simulated.
#[derive(Default)]
pub(in crate::session) struct Trace {
    frames: VecDeque<TraceFrame>,
    /// The content that all of its frames are of.
    content: u64,
    bytes: u64,
    /// Largest memory, bytes; at 0 nothing is recorded.
    budget: u64,
    /// Whether the next frame does not follow from the last one.
    broken: bool,
    /// Counts the changes.
    revision: u64,
}

impl Trace {
    /// Memory used, bytes.
    pub(in crate::session) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts the changes.
    pub(in crate::session) fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether frames are recorded at all.
    pub(super) fn is_on(&self) -> bool {
        self.budget > 0
    }

    /// Sets the content of the clip and the largest memory; frames of other content are dropped.
    pub(in crate::session) fn follow(&mut self, content: u64, budget: u64) {
        if self.content != content {
            self.clear();
            self.content = content;
        }
        if self.budget != budget {
            self.budget = budget;
            self.fit();
        }
    }

    /// Drops all frames.
    pub(in crate::session) fn clear(&mut self) {
        self.frames.clear();
        self.revision += 1;
        self.bytes = 0;
        self.broken = true;
    }

    /// The next frame does not follow from the last one.
    pub(super) fn interrupt(&mut self) {
        self.broken = true;
    }

    /// Another device computes from now on: only states are exact.
    pub(super) fn change_device(&mut self) {
        for frame in &mut self.frames {
            frame.is_shown &= frame.state.is_some();
            frame.follows = false;
        }
        self.broken = true;
        self.revision += 1;
        self.drop_unneeded();
    }

    /// Whether the next frame must have a state, if at most every `stride`-th has one.
    pub(super) fn needs_state(&self, stride: usize) -> bool {
        let since = self.frames.iter().rev().take(stride);
        self.broken || since.take_while(|frame| frame.state.is_none()).count() + 1 >= stride
    }

    /// Records a frame. It must have a state where [`Self::needs_state`] says so.
    pub(super) fn push(
        &mut self,
        moment: Moment,
        (world_from_joint, morphs): (&[Affine], &MorphWeights),
        dt_secs: f64,
        state: Option<ActorState>,
    ) {
        if moment.content != self.content {
            self.clear();
            self.content = moment.content;
        }
        if self.broken && state.is_none() {
            return;
        }
        let (from, to) = (moment.from_secs, moment.time_secs);
        let [low, high] = [from.min(to), from.max(to)];
        for frame in &mut self.frames {
            let at = frame.moment.time_secs;
            let passed = (low..=high).contains(&at) && (moment.starts || at != from || from == to);
            frame.is_shown &= !passed;
        }
        let frame = TraceFrame {
            moment,
            world_from_joint: world_from_joint.to_vec(),
            morphs: morphs.clone(),
            dt_secs,
            state,
            follows: !self.broken,
            is_shown: true,
        };
        self.broken = false;
        self.bytes += frame.bytes();
        self.frames.push_back(frame);
        self.drop_unneeded();
        self.fit();
    }

    /// The frames that are shown, with whether each has its state.
    pub(in crate::session) fn shown(&self) -> impl Iterator<Item = (&Moment, bool)> {
        self.frames
            .iter()
            .filter(|frame| frame.is_shown)
            .map(|frame| (&frame.moment, frame.state.is_some()))
    }

    /// The way to a frame, by number and content; `None` if it is not recorded.
    pub(super) fn path_to(&self, number: u64, content: u64) -> Option<TracePath> {
        let is_it = |frame: &TraceFrame| {
            frame.is_shown && (frame.moment.number, frame.moment.content) == (number, content)
        };
        let last = self.frames.iter().rposition(is_it)?;
        let first = (0..=last)
            .rev()
            .find(|&at| self.frames[at].state.is_some())?;
        let step = |frame: &TraceFrame| {
            (
                frame.world_from_joint.clone(),
                frame.morphs.clone(),
                frame.dt_secs,
            )
        };
        Some(TracePath {
            state: self.frames[first].state.clone()?,
            steps: self.frames.range(first + 1..=last).map(step).collect(),
        })
    }

    /// Drops frames that are neither shown nor on the way to one that is.
    fn drop_unneeded(&mut self) {
        let mut needed = false;
        for at in (0..self.frames.len()).rev() {
            let frame = &self.frames[at];
            let keep = frame.is_shown || needed;
            needed = keep && frame.state.is_none();
            if !keep {
                self.bytes -= frame.bytes();
                self.frames.remove(at);
                if let Some(next) = self.frames.get_mut(at) {
                    next.follows = false;
                }
            }
        }
    }

    /// Thins out states and drops the oldest frames until the memory suffices.
    fn fit(&mut self) {
        self.revision += 1;
        while self.bytes > self.budget && !self.frames.is_empty() {
            if !self.drop_a_state() {
                self.drop_oldest();
            }
        }
    }

    /// Drops the oldest of the states that are closest to each other. Returns whether there was one to drop.
    fn drop_a_state(&mut self) -> bool {
        let states: Vec<usize> = (0..self.frames.len())
            .filter(|&at| self.frames[at].state.is_some())
            .collect();
        // Without the state in the middle, the frames up to the next one are simulated from the one before. The newest state is kept.
        let droppable = states
            .windows(3)
            .filter(|near| self.frames[near[1]].follows && near[2] - near[0] <= MOST_STEPS)
            .min_by_key(|near| near[2] - near[0]);
        let Some(at) = droppable.map(|near| near[1]) else {
            return false;
        };
        let frame = &mut self.frames[at];
        self.bytes -= frame.bytes();
        frame.state = None;
        self.bytes += frame.bytes();
        true
    }

    /// Drops the oldest state with the frames that are simulated from it.
    fn drop_oldest(&mut self) {
        let mut first = true;
        while let Some(frame) = self.frames.front() {
            if !first && frame.state.is_some() {
                break;
            }
            first = false;
            self.bytes -= frame.bytes();
            self.frames.pop_front();
        }
        if self.frames.is_empty() {
            self.broken = true;
        }
    }
}
