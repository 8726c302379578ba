//! Surfaces that are drawn from the buffers they were computed in.

use std::sync::{Arc, Mutex, PoisonError};

use crate::gpu::compute::{fetch, storage};
use crate::gpu::flesh::FleshState;
use crate::gpu::surface::{Simulated, Surface, SurfaceError, SurfaceModel};
use crate::gpu::{GpuContext, GpuError};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::Bounds;
use crate::methods::SurfaceMut;

/// Skin may bulge out of the box of its joints by this fraction of the box.
const BULGE: f32 = 0.15;

/// One frame's positions and normals of all source vertices on the device. They are not overwritten while a handle exists.
#[derive(Debug)]
pub struct DeviceSkin {
    gpu: GpuContext,
    surface: Surface,
    rows: Option<SimulatedRows>,
    ahead_secs: f32,
    bounds: Bounds,
}

/// The simulation that a skin follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Followed<'a> {
    pub state: &'a FleshState,
    pub row_of_vertex: &'a [u32],
}

/// The simulated rows of a frame.
#[derive(Debug)]
struct SimulatedRows {
    /// Row positions, followed by their velocities.
    buffer: wgpu::Buffer,
    row_of_vertex: Vec<u32>,
    stride: usize,
}

impl DeviceSkin {
    pub(super) fn new(
        gpu: &GpuContext,
        model: &Arc<SurfaceModel>,
        followed: Option<Followed<'_>>,
    ) -> Result<Self, SurfaceError> {
        let stride = |state: &FleshState| state.dims().row_stride as usize;
        let simulated = followed.map(|Followed { state, .. }| Simulated {
            positions: state.positions(),
            velocities: Some(state.velocities()),
            stride: stride(state),
        });
        let rows = |Followed {
                        state,
                        row_of_vertex,
                    }: Followed<'_>| SimulatedRows {
            buffer: storage::<[f32; 4]>(gpu, "rows of a frame", 2 * stride(state)),
            row_of_vertex: row_of_vertex.to_vec(),
            stride: stride(state),
        };
        Ok(Self {
            gpu: gpu.clone(),
            surface: Surface::new(gpu, model, simulated, 1)?,
            rows: followed.map(rows),
            ahead_secs: 0.0,
            bounds: Bounds::of([]),
        })
    }

    pub(super) fn prepare(&mut self, world_from_joint: &[Affine], ahead_secs: f32) {
        self.surface.set_pose(0, world_from_joint);
        self.surface.set_ahead(0, ahead_secs);
        self.surface.upload(&self.gpu);
        self.ahead_secs = ahead_secs;
        let tight = self.surface.model().recipe().reach.bounds(world_from_joint);
        let bulge = (tight.max - tight.min) * BULGE;
        self.bounds = if tight.is_empty() {
            tight
        } else {
            Bounds {
                min: tight.min - bulge,
                max: tight.max + bulge,
            }
        };
    }

    pub(super) fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Encodes the copy of the simulated rows.
    pub(super) fn copy_rows(&self, encoder: &mut wgpu::CommandEncoder, state: &FleshState) {
        let Some(SimulatedRows { buffer, stride, .. }) = &self.rows else {
            return;
        };
        let size = (stride * size_of::<[f32; 4]>()) as u64;
        encoder.copy_buffer_to_buffer(state.positions(), 0, buffer, 0, size);
        encoder.copy_buffer_to_buffer(state.velocities(), 0, buffer, size, size);
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// World positions: `f32` triples, a vertex buffer.
    #[must_use]
    pub fn positions(&self) -> &wgpu::Buffer {
        self.surface.positions()
    }

    /// Unit normals, likewise.
    #[must_use]
    pub fn normals(&self) -> &wgpu::Buffer {
        self.surface.normals()
    }

    /// A box around the skin, slightly enlarged.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Numbers of source vertices and simulated vertices.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (
            self.surface.vertices(),
            self.rows
                .as_ref()
                .map_or(0, |rows| rows.row_of_vertex.len()),
        )
    }

    /// Reads back the skin. Waits for the device.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn fetch_into(&self, out: &mut SurfaceMut<'_>) -> Result<(), GpuError> {
        if self.gpu.is_lost() {
            return Err(GpuError::Readback {
                reason: "the device was lost".to_owned(),
            });
        }
        let (positions, normals) = self.surface.fetch(&self.gpu)?;
        for (out, new) in out.positions.iter_mut().zip(positions) {
            *out = new;
        }
        for (out, new) in out.normals.iter_mut().zip(normals) {
            *out = new;
        }
        if let Some(SimulatedRows {
            buffer,
            row_of_vertex,
            stride,
        }) = &self.rows
        {
            let rows: Vec<[f32; 4]> = fetch(&self.gpu, buffer, 2 * stride)?;
            let vector = |[x, y, z, _]: [f32; 4]| Vec3::new(x, y, z);
            for (out, &row) in out.simulated.iter_mut().zip(row_of_vertex) {
                let row = row as usize;
                *out =
                    Point::from(vector(rows[row]) + vector(rows[stride + row]) * self.ahead_secs);
            }
        }
        Ok(())
    }
}

/// Handle to the latest skin.
#[derive(Debug, Default)]
pub struct LatestSkin {
    latest: Mutex<Option<Arc<DeviceSkin>>>,
}

impl LatestSkin {
    /// The latest skin, if there is one.
    #[must_use]
    pub fn latest(&self) -> Option<Arc<DeviceSkin>> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn set(&self, skin: Arc<DeviceSkin>) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(skin);
    }
}
