//! Readback of a whole state in one copy.

use super::layout::{BASE_VELOCITY, VELOCITY};
use super::state::FleshState;
use crate::dynamics::State;
use crate::math::{Point, Vec3};
use crate::numerics::lanes::Padded;

const SLOT: u64 = size_of::<Padded>() as u64;

impl FleshState {
    /// Bytes of the first instance's state.
    pub(in crate::gpu) fn kept_bytes(&self) -> u64 {
        let dims = self.dims();
        (3 * u64::from(dims.row_stride) + u64::from(dims.base_stride)) * SLOT
    }

    /// Encodes a copy of the first instance's state to a buffer of [`FleshState::kept_bytes`] from `offset` on.
    pub(in crate::gpu) fn keep(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        to: &wgpu::Buffer,
        offset: u64,
    ) {
        let dims = self.dims();
        let rows = u64::from(dims.row_stride) * SLOT;
        let region = |which: usize| which as u64 * u64::from(dims.instances) * rows;
        let parts = [
            (self.positions(), 0, rows),
            (self.velocities(), region(VELOCITY), rows),
            (self.velocities(), region(BASE_VELOCITY), rows),
            (self.base(), 0, u64::from(dims.base_stride) * SLOT),
        ];
        let mut at = offset;
        for (buffer, from, size) in parts {
            encoder.copy_buffer_to_buffer(buffer, from, to, at, size);
            at += size;
        }
    }

    /// Decodes a saved state from its bytes. Allocates nothing if `state` already has that many vertices.
    pub(in crate::gpu) fn decode(&self, kept: &[u8], state: &mut State) {
        let dims = self.dims();
        let stride = dims.row_stride as usize;
        let rows = self.vertex_of_row();
        let slots = |first: usize| {
            kept.chunks_exact(SLOT as usize)
                .skip(first)
                .map(bytemuck::pod_read_unaligned::<Padded>)
        };
        state.position.resize(rows.len(), Point::origin());
        state.velocity.resize(rows.len(), Vec3::zeros());
        state.base_velocity.resize(rows.len(), Vec3::zeros());
        let by_row = slots(0).zip(slots(stride)).zip(slots(2 * stride));
        for (((position, velocity), base_velocity), &vertex) in by_row.zip(rows) {
            let vertex = vertex as usize;
            state.position[vertex] = Point::from(vector(position));
            state.velocity[vertex] = vector(velocity);
            state.base_velocity[vertex] = vector(base_velocity);
        }
        state.base.clear();
        state.base.extend(
            slots(3 * stride)
                .take(dims.base_points as usize)
                .map(|slot| Point::from(vector(slot))),
        );
    }
}

fn vector([x, y, z, _]: Padded) -> Vec3 {
    Vec3::new(x, y, z)
}
