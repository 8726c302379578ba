//! Durations of passes by the device's clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::gpu::GpuContext;
use crate::methods::DeviceTimes;

/// Timestamps per submission; further passes are not measured.
const STAMPS: u32 = 2048;

/// The kind of work before a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Begin,
    Anchors,
    Local,
    Global,
    Contacts,
    OtherStep,
    Surface,
}

/// The timestamps of a submission: the kind of work before each, and the name of the pass.
pub(super) type Marks = Vec<(Mark, &'static str)>;

/// Timestamps between the passes of a submission.
#[derive(Debug)]
pub(super) struct Profile {
    set: wgpu::QuerySet,
    resolved: Arc<wgpu::Buffer>,
    marks: Marks,
    ms_per_tick: f64,
}

impl Profile {
    /// Bytes of timestamps per frame.
    pub(super) const BYTES: u64 = STAMPS as u64 * 8;

    /// `None` if the device has no timestamps between passes.
    pub(super) fn new(gpu: &GpuContext) -> Option<Self> {
        let needed =
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        if !gpu.device.features().contains(needed) {
            return None;
        }
        let set = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("passes"),
            ty: wgpu::QueryType::Timestamp,
            count: STAMPS,
        });
        let resolved = Arc::new(gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("times of passes"),
            size: Self::BYTES,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        }));
        Some(Self {
            set,
            resolved,
            marks: Vec::new(),
            ms_per_tick: f64::from(gpu.queue.get_timestamp_period()) * 1e-6,
        })
    }

    pub(super) fn begin(&mut self, pass: &mut wgpu::ComputePass<'_>) {
        self.marks.clear();
        self.stamp(pass, Mark::Begin, "");
    }

    /// Writes a timestamp after a pass; `above` if the pass belongs to the surface.
    pub(super) fn mark(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        label: &'static str,
        above: bool,
    ) {
        let mark = match label {
            _ if above => Mark::Surface,
            "place_base" => Mark::Anchors,
            _ if label.starts_with("local") || label.starts_with("gather") => Mark::Local,
            "predict" | "record" | "mix_iterates" | "finish" => Mark::OtherStep,
            "separate" | "pose" | "boxes_of_patches" | "find_hits" | "refresh"
            | "list_contacts" | "assemble" | "press" | "push" | "end_contacts" => Mark::Contacts,
            _ => Mark::Global,
        };
        self.stamp(pass, mark, label);
    }

    fn stamp(&mut self, pass: &mut wgpu::ComputePass<'_>, mark: Mark, label: &'static str) {
        if self.marks.len() < STAMPS as usize {
            pass.write_timestamp(&self.set, self.marks.len() as u32);
            self.marks.push((mark, label));
        }
    }

    /// Encodes the copy of the timestamps; returns what they mark.
    pub(super) fn resolve(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        to: &wgpu::Buffer,
        offset: u64,
    ) -> Marks {
        let marks = std::mem::take(&mut self.marks);
        if !marks.is_empty() {
            encoder.resolve_query_set(&self.set, 0..marks.len() as u32, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, to, offset, marks.len() as u64 * 8);
        }
        marks
    }

    /// Sums the durations of a readback by kind. Logs them by pass.
    pub(super) fn times(&self, stamps: &[u8], marks: &[(Mark, &'static str)]) -> DeviceTimes {
        let ticks: Vec<u64> = stamps
            .chunks_exact(8)
            .take(marks.len())
            .map(bytemuck::pod_read_unaligned)
            .collect();
        let mut times = DeviceTimes::default();
        let mut by_pass: BTreeMap<&str, (u32, f64)> = BTreeMap::new();
        for (pair, (mark, label)) in ticks.windows(2).zip(marks.iter().skip(1)) {
            let ms = pair[1].saturating_sub(pair[0]) as f64 * self.ms_per_tick;
            let of_pass = by_pass.entry(label).or_default();
            *of_pass = (of_pass.0 + 1, of_pass.1 + ms);
            let slot = match mark {
                Mark::Anchors => &mut times.anchors_ms,
                Mark::Surface => &mut times.surface_ms,
                Mark::Local => &mut times.local_ms,
                Mark::Global => &mut times.global_ms,
                Mark::Contacts => &mut times.contacts_ms,
                Mark::Begin | Mark::OtherStep => &mut times.step_ms,
            };
            *slot += ms;
            times.total_ms += ms;
        }
        let passes = by_pass
            .iter()
            .map(|(label, (count, ms))| format!("{count} x {label} {:.1}", ms * 1e3));
        log::trace!("µs: {}", passes.collect::<Vec<_>>().join(", "));
        times.step_ms += times.local_ms + times.global_ms + times.contacts_ms;
        times
    }
}
