//! Asynchronous readback of step statistics.

use std::collections::VecDeque;

use super::layout::StepStatistics;
use super::state::FleshState;
use crate::gpu::waiting::{PendingMap, is_there, lost_error, request_map};
use crate::gpu::{GpuContext, GpuError};

/// Maximum number of copies in flight; further steps are not copied, and the next copy reports their errors.
const COPIES: usize = 3;

/// Copies [`StepStatistics`]es to the host a few steps late, without waiting.
///
/// For every submission call [`StatisticsReader::copy`] while encoding and [`StatisticsReader::submitted`] afterwards; [`StatisticsReader::poll`] at
/// any time.
#[derive(Debug)]
pub struct StatisticsReader {
    free: Vec<wgpu::Buffer>,
    encoded: Option<wgpu::Buffer>,
    /// In order of submission.
    under_way: VecDeque<(wgpu::Buffer, PendingMap, u64)>,
    /// Number of submissions, and the one that `latest` belongs to.
    submissions: u64,
    last_received: u64,
    latest: Vec<StepStatistics>,
}

impl StatisticsReader {
    /// A reader for all instances of a state.
    #[must_use]
    pub fn new(gpu: &GpuContext, state: &FleshState) -> Self {
        let size = state.statistics().size();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = || {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("flesh watched"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            free: (0..COPIES).map(|_| buffer()).collect(),
            encoded: None,
            under_way: VecDeque::with_capacity(COPIES),
            submissions: 0,
            last_received: 0,
            latest: vec![StepStatistics::default(); state.dims().instances as usize],
        }
    }

    /// Encodes a copy after the steps encoded so far, unless too many are in flight.
    pub fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, state: &FleshState) {
        if let Some(buffer) = self.encoded.take().or_else(|| self.free.pop()) {
            encoder.copy_buffer_to_buffer(state.statistics(), 0, &buffer, 0, buffer.size());
            self.encoded = Some(buffer);
        }
    }

    /// Must be called after the encoded commands were submitted.
    pub fn submitted(&mut self) {
        self.submissions += 1;
        if let Some(buffer) = self.encoded.take() {
            let answer = request_map(&buffer);
            self.under_way.push_back((buffer, answer, self.submissions));
        }
    }

    /// Number of submissions.
    #[must_use]
    pub(crate) fn submissions(&self) -> u64 {
        self.submissions
    }

    /// The last submission (from 1) whose statistics have arrived; 0 for none.
    #[must_use]
    pub(crate) fn last_received(&self) -> u64 {
        self.last_received
    }

    /// The statistics that have arrived, one entry per instance.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn poll(&mut self, gpu: &GpuContext) -> Result<&[StepStatistics], GpuError> {
        gpu.device
            .poll(wgpu::PollType::Poll)
            .map_err(|error| lost_error(&error))?;
        while let Some((buffer, answer, number)) = self.under_way.pop_front() {
            if !is_there(&answer)? {
                self.under_way.push_front((buffer, answer, number));
                break;
            }
            let mapped = buffer
                .get_mapped_range(..)
                .map_err(|error| lost_error(&error))?;
            for (statistics, bytes) in self
                .latest
                .iter_mut()
                .zip(mapped.chunks_exact(size_of::<StepStatistics>()))
            {
                *statistics = bytemuck::pod_read_unaligned(bytes);
            }
            drop(mapped);
            buffer.unmap();
            self.free.push(buffer);
            self.last_received = number;
        }
        Ok(&self.latest)
    }
}
