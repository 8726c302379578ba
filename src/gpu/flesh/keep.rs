//! Whole states in one copy, decoded where they arrive.

use super::layout::{BASE_VELOCITY, VELOCITY};
use super::state::FleshState;
use crate::dynamics::State;
use crate::math::{Point, Vec3};

type Slot = [f32; 4];
const SLOT: u64 = size_of::<Slot>() as u64;

impl FleshState {
    /// Bytes of the first instance's state.
    pub(in crate::gpu) fn kept_bytes(&self) -> u64 {
        let dims = self.dims();
        (3 * u64::from(dims.row_stride) + u64::from(dims.base_stride)) * SLOT
    }

    /// Encodes a copy of the first instance's state to a buffer of [`FleshState::kept_bytes`] from `offset` on.
    pub(in crate::gpu) fn keep(&self, encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer, offset: u64) {
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

    /// The state that was kept.
    pub(in crate::gpu) fn decode(&self, vertex_of_row: &[u32], kept: &[Slot]) -> State {
        let dims = self.dims();
        let stride = dims.row_stride as usize;
        let by_vertex = |which: usize| {
            let mut values = vec![[0.0; 4]; vertex_of_row.len()];
            for (slot, &vertex) in kept.iter().skip(which * stride).zip(vertex_of_row) {
                values[vertex as usize] = *slot;
            }
            values
        };
        let point = |[x, y, z, _]: Slot| Point::new(x, y, z);
        let vector = |[x, y, z, _]: Slot| Vec3::new(x, y, z);
        State {
            position: by_vertex(0).into_iter().map(point).collect(),
            velocity: by_vertex(1).into_iter().map(vector).collect(),
            base_velocity: by_vertex(2).into_iter().map(vector).collect(),
            base: kept.iter().skip(3 * stride).take(dims.base_points as usize).copied().map(point).collect(),
        }
    }
}
