//! Asynchronous copies of the watched numbers.

use std::collections::VecDeque;

use super::layout::Watch;
use super::state::FleshState;
use crate::gpu::waiting::{PendingMap, ask, is_there, lost};
use crate::gpu::{GpuContext, GpuError};

/// Copies in flight at most; a step beyond that is not copied, and the next copy reports its errors.
const COPIES: usize = 3;

/// Brings [`Watch`]es to the host some steps late, and never waits.
///
/// Every submission: [`Watcher::copy`] while encoding, [`Watcher::submitted`] after it, and [`Watcher::poll`] whenever one likes.
#[derive(Debug)]
pub struct Watcher {
    free: Vec<wgpu::Buffer>,
    encoded: Option<wgpu::Buffer>,
    /// In the order of their submission.
    under_way: VecDeque<(wgpu::Buffer, PendingMap, u64)>,
    /// Submissions so far, and the one that the latest is of.
    submissions: u64,
    heard: u64,
    latest: Vec<Watch>,
}

impl Watcher {
    /// A watcher of all instances of a state.
    #[must_use]
    pub fn new(gpu: &GpuContext, state: &FleshState) -> Self {
        let size = state.watch().size();
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
            heard: 0,
            latest: vec![Watch::default(); state.dims().instances as usize],
        }
    }

    /// Encodes a copy behind the steps that were encoded before, if there is room for one.
    pub fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, state: &FleshState) {
        if let Some(buffer) = self.encoded.take().or_else(|| self.free.pop()) {
            encoder.copy_buffer_to_buffer(state.watch(), 0, &buffer, 0, buffer.size());
            self.encoded = Some(buffer);
        }
    }

    /// To be called after the encoded commands were submitted.
    pub fn submitted(&mut self) {
        self.submissions += 1;
        if let Some(buffer) = self.encoded.take() {
            let answer = ask(&buffer);
            self.under_way.push_back((buffer, answer, self.submissions));
        }
    }

    /// How many submissions there were.
    #[must_use]
    pub fn submissions(&self) -> u64 {
        self.submissions
    }

    /// The submission, from 1 on, that is known of by now; 0 if none is.
    #[must_use]
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// What is known by now, an entry an instance.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn poll(&mut self, gpu: &GpuContext) -> Result<&[Watch], GpuError> {
        gpu.device
            .poll(wgpu::PollType::Poll)
            .map_err(|error| lost(&error))?;
        while let Some((buffer, answer, number)) = self.under_way.pop_front() {
            if !is_there(&answer)? {
                self.under_way.push_front((buffer, answer, number));
                break;
            }
            let mapped = buffer.get_mapped_range(..).map_err(|error| lost(&error))?;
            for (watch, bytes) in self
                .latest
                .iter_mut()
                .zip(mapped.chunks_exact(size_of::<Watch>()))
            {
                *watch = bytemuck::pod_read_unaligned(bytes);
            }
            drop(mapped);
            buffer.unmap();
            self.free.push(buffer);
            self.heard = number;
        }
        Ok(&self.latest)
    }
}
