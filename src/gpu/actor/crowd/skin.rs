//! The drawable surface of a crowd.

use crate::gpu::compute::fetch;
use crate::gpu::surface::Surface;
use crate::gpu::{GpuContext, GpuError};
use crate::math::Point;
use crate::mesh::Bounds;

/// Positions and normals of a crowd's source vertices on the device. The crowd keeps writing to the buffers; one submission
/// writes a whole frame.
#[derive(Debug, Clone)]
pub struct CrowdSkin {
    gpu: GpuContext,
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    instances: u32,
    vertices: usize,
    bounds: Bounds,
}

impl CrowdSkin {
    pub(super) fn new(gpu: &GpuContext, surface: &Surface, bounds: Bounds) -> Self {
        Self {
            gpu: gpu.clone(),
            positions: surface.positions().clone(),
            normals: surface.normals().clone(),
            instances: surface.instances() as u32,
            vertices: surface.vertices(),
            bounds,
        }
    }

    /// The device that it is on.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// World positions, instance after instance: `f32` triples, a vertex buffer.
    #[must_use]
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.positions
    }

    /// Unit normals, likewise.
    #[must_use]
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.normals
    }

    /// Number of instances.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.instances
    }

    /// Reads back the positions of all instances in order. Waits: for tests and files, not for display.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn fetch_positions(&self) -> Result<Vec<Point>, GpuError> {
        let positions: Vec<[f32; 3]> = fetch(
            &self.gpu,
            &self.positions,
            self.vertices * self.instances as usize,
        )?;
        Ok(positions.into_iter().map(Point::from).collect())
    }

    /// A box around all instances, slightly enlarged.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }
}
