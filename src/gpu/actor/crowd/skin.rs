//! Where the surfaces of a crowd are drawn from.

use crate::gpu::compute::fetch;
use crate::gpu::surface::Surface;
use crate::gpu::{GpuContext, GpuError};
use crate::math::Point;
use crate::mesh::Bounds;

/// Positions and normals of a crowd's source vertices, on the device. The crowd goes on writing there: each frame all at once, by one
/// submission.
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

    /// How many characters there are.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.instances
    }

    /// Reads the positions of all instances back, one after the other. Waits: for tests and files, not for display.
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

    /// A box around all of them, somewhat too large.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }
}
