//! Readback of frames: late, and in order.

use std::collections::VecDeque;

use super::FRAMES_BEHIND;
use super::profile::{Marks, Profile};
use crate::gpu::flesh::{FleshState, MOST_CONTACTS, StepStatistics};
use crate::gpu::waiting::{PendingMap, is_there, lost_error, request_map, wait_a_little};
use crate::gpu::{GpuContext, GpuError};
use crate::methods::{DeviceFrameReport, DeviceTimes, FoundContacts};

/// Interval in frames between readbacks of the whole state, which is needed after a device loss.
const KEEP_EVERY: u64 = 4;
/// Bytes before the timestamps, and before the state.
const STATISTICS_BYTES: u64 = size_of::<StepStatistics>() as u64;

/// One frame's readback.
#[derive(Debug)]
struct FrameReadback {
    buffer: wgpu::Buffer,
    answer: PendingMap,
    steps: u64,
    host_ms: f64,
    has_state: bool,
    finds_contacts: bool,
    labels: Marks,
}

/// The frames in flight.
#[derive(Debug)]
pub(super) struct FrameReadbacks {
    free: Vec<wgpu::Buffer>,
    encoded: Option<(wgpu::Buffer, bool, Marks)>,
    under_way: VecDeque<FrameReadback>,
    known: VecDeque<DeviceFrameReport>,
    frames: u64,
    state_bytes: u64,
    /// Bytes of the latest state that was read back.
    kept: Vec<u8>,
    /// Frames in flight whose copies show a state from before another one was set.
    stale: usize,
}

impl FrameReadbacks {
    /// For frames over that state, or of the surface only.
    pub(super) fn new(gpu: &GpuContext, state: Option<&FleshState>) -> Self {
        let state_bytes = state.map_or(0, FleshState::kept_bytes);
        let size = STATISTICS_BYTES + Profile::BYTES + state_bytes;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = || {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("echo"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            free: (0..FRAMES_BEHIND).map(|_| buffer()).collect(),
            encoded: None,
            under_way: VecDeque::with_capacity(FRAMES_BEHIND),
            known: VecDeque::new(),
            frames: 0,
            state_bytes,
            kept: Vec::new(),
            stale: 0,
        }
    }

    /// Waits until another frame may be sent: at most [`FRAMES_BEHIND`] are in flight.
    pub(super) fn make_room(
        &mut self,
        gpu: &GpuContext,
        profile: Option<&Profile>,
    ) -> Result<(), GpuError> {
        while self.free.is_empty() && !self.under_way.is_empty() {
            gpu.device
                .poll(wgpu::PollType::Poll)
                .map_err(|error| lost_error(&error))?;
            if !self.decode_next(profile)? {
                wait_a_little(gpu)?;
            }
        }
        Ok(())
    }

    /// Encodes the readback of this frame.
    pub(super) fn copy(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        state: Option<&FleshState>,
        profile: Option<&mut Profile>,
    ) {
        let Some(buffer) = self.free.pop() else {
            return;
        };
        match state {
            Some(state) => {
                encoder.copy_buffer_to_buffer(state.statistics(), 0, &buffer, 0, STATISTICS_BYTES);
            }
            // Only the completion is of interest: the submission must use the buffer for that.
            None => encoder.clear_buffer(&buffer, 0, Some(STATISTICS_BYTES)),
        }
        let labels = profile
            .map(|profile| profile.resolve(encoder, &buffer, STATISTICS_BYTES))
            .unwrap_or_default();
        let kept = state.filter(|_| self.frames.is_multiple_of(KEEP_EVERY));
        if let Some(state) = kept {
            state.keep(encoder, &buffer, STATISTICS_BYTES + Profile::BYTES);
        }
        let has_state = kept.is_some();
        self.frames += 1;
        self.encoded = Some((buffer, has_state, labels));
    }

    /// Must be called after the encoded commands were submitted. `steps` counts the steps so far, `host_ms` is the CPU time
    /// of this frame, and `finds_contacts` says whether the device found the contacts of its last step.
    pub(super) fn submitted(&mut self, steps: u64, host_ms: f64, finds_contacts: bool) {
        let Some((buffer, has_state, labels)) = self.encoded.take() else {
            return;
        };
        let answer = request_map(&buffer);
        self.under_way.push_back(FrameReadback {
            buffer,
            answer,
            steps,
            host_ms,
            has_state,
            finds_contacts,
            labels,
        });
    }

    /// Another state was set: readbacks in flight are obsolete.
    pub(super) fn forget_kept(&mut self) {
        self.kept.clear();
        self.stale = self.under_way.len();
        self.frames = 0;
    }

    /// The latest state that was read back, even if no more will be.
    pub(super) fn kept(&mut self) -> Option<&[u8]> {
        while let Ok(true) = self.decode_next(None) {}
        (!self.kept.is_empty()).then_some(&self.kept[..])
    }

    /// The report of the next finished frame.
    pub(super) fn next(
        &mut self,
        gpu: &GpuContext,
        profile: Option<&Profile>,
    ) -> Option<DeviceFrameReport> {
        if !gpu.is_lost() && gpu.device.poll(wgpu::PollType::Poll).is_ok() {
            while let Ok(true) = self.decode_next(profile) {}
        }
        self.known.pop_front()
    }

    /// Decodes the oldest frame if its readback has arrived. Returns whether it had.
    fn decode_next(&mut self, profile: Option<&Profile>) -> Result<bool, GpuError> {
        let Some(FrameReadback {
            buffer,
            answer,
            steps,
            host_ms,
            has_state,
            finds_contacts,
            labels,
        }) = self.under_way.pop_front()
        else {
            return Ok(false);
        };
        if !is_there(&answer)? {
            self.under_way.push_front(FrameReadback {
                buffer,
                answer,
                steps,
                host_ms,
                has_state,
                finds_contacts,
                labels,
            });
            return Ok(false);
        }
        let mapped = buffer
            .get_mapped_range(..)
            .map_err(|error| lost_error(&error))?;
        let (statistics, rest) = mapped.split_at(STATISTICS_BYTES as usize);
        let (stamps, state) = rest.split_at(Profile::BYTES as usize);
        let statistics: StepStatistics = bytemuck::pod_read_unaligned(statistics);
        let work_ms = profile.map_or_else(DeviceTimes::default, |profile| {
            profile.times(stamps, &labels)
        });
        let is_stale = self.stale > 0;
        self.stale = self.stale.saturating_sub(1);
        if has_state && !is_stale && statistics.broken == 0 {
            self.kept.clear();
            self.kept
                .extend_from_slice(&state[..self.state_bytes as usize]);
        }
        drop(mapped);
        buffer.unmap();
        self.free.push(buffer);
        self.known.push_back(DeviceFrameReport {
            steps,
            farthest: statistics.farthest,
            finite: statistics.broken == 0,
            contacts: finds_contacts.then(|| found(&statistics)),
            work_ms,
            host_ms,
        });
        Ok(true)
    }
}

fn found(statistics: &StepStatistics) -> FoundContacts {
    FoundContacts {
        pressing: statistics.pressing as usize,
        watched: statistics.watched as usize,
        deepest: statistics.deepest,
        crowded: statistics.watched as usize > MOST_CONTACTS,
    }
}
