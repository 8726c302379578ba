//! Surfaces of a crowd: positions and normals on the device, and the passes that compute them.

use std::sync::Arc;

use super::layout::SurfaceDims;
use super::palette::Palette;
use super::passes::{StateBuffer, SurfacePass};
use super::{SurfaceError, SurfaceModel, check_groups, check_size};
use crate::gpu::compute::{Dispatch, fetch, filled, storage, storage_of, uniform_of};
use crate::gpu::{GpuContext, GpuError};
use crate::math::{Affine, Point, Vec3};
use crate::upsample::PlainUpsampling;

/// The simulated vertices that a surface follows, as `vec4`s by row.
#[derive(Debug, Clone, Copy)]
pub struct Simulated<'a> {
    /// Positions.
    pub positions: &'a wgpu::Buffer,
    /// Velocities, world units per simulated second, if frames between two steps are extrapolated.
    pub velocities: Option<&'a wgpu::Buffer>,
    /// Stride between instances, in elements.
    pub stride: usize,
}

/// The surfaces of several instances of one character, initially in the bind pose.
///
/// Positions and normals are `f32` triples, instance after instance, in vertex buffers.
#[derive(Debug)]
pub struct Surface {
    model: Arc<SurfaceModel>,
    instances: usize,
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    palette: Palette,
    palette_buffer: wgpu::Buffer,
    palette_changed: bool,
    ahead: Vec<f32>,
    ahead_buffer: wgpu::Buffer,
    /// Passes that show the last step.
    at_step: Vec<Dispatch>,
    /// Passes that extrapolate from it, if there are velocities.
    between: Vec<Dispatch>,
}

impl Surface {
    /// Allocates instances; `simulated` are the rows given to [`SurfaceModel::new`], for methods that simulate.
    ///
    /// # Errors
    /// [`SurfaceError`] if the rows are too few, or the device is too small.
    pub fn new(
        gpu: &GpuContext,
        model: &Arc<SurfaceModel>,
        simulated: Option<Simulated<'_>>,
        instances: usize,
    ) -> Result<Self, SurfaceError> {
        let recipe = &model.recipe;
        let expected = recipe.simulated;
        let given = simulated.map_or(0, |s| {
            if s.positions.size() / 16 >= (s.stride * instances) as u64 {
                s.stride
            } else {
                0
            }
        });
        if given < expected {
            return Err(SurfaceError::Rows {
                expected,
                actual: given,
            });
        }
        check_groups(gpu, "characters", instances)?;
        let palette = Palette::new(recipe, instances);
        check_size::<[f32; 3]>(
            gpu,
            "the positions of all characters",
            recipe.positions.len() * instances,
        )?;
        check_size::<[f32; 4]>(gpu, "the joints of all characters", palette.values().len())?;
        let controls = recipe
            .cloth
            .as_ref()
            .map_or(0, |cloth| cloth.controls.len());
        check_size::<[[f32; 4]; 3]>(
            gpu,
            "the control points of all characters",
            controls * instances,
        )?;
        let (positions, normals) = at_rest(model);
        let buffers = Buffers {
            positions: drawn(gpu, "positions", &positions, instances),
            normals: drawn(gpu, "normals", &normals, instances),
            palette: storage_of(gpu, "joints", palette.values()),
            ahead: storage::<f32>(gpu, "seconds since the last step", instances),
            frames: storage_of(
                gpu,
                "frames of control points",
                &UNTURNED.repeat(controls * instances),
            ),
            row_normals: needs(model, StateBuffer::RowNormals)
                .then(|| rows(gpu, "normals of rows", simulated, instances)),
            moved: simulated
                .and_then(|s| s.velocities)
                .map(|_| rows(gpu, "rows between two steps", simulated, instances)),
            simulated,
        };
        let strides = SurfaceDims {
            row_stride: simulated.map_or(0, |s| s.stride as u32),
            palette_stride: palette.stride() as u32,
            frame_stride: 3 * controls as u32,
            ..SurfaceDims::default()
        };
        let bound =
            |pass: &SurfacePass, moved: bool| buffers.bound(gpu, pass, &strides, moved, instances);
        let at_step = model
            .passes
            .iter()
            .filter_map(|pass| bound(pass, false))
            .collect();
        let all = model.extrapolate.iter().chain(&model.passes);
        let between = if buffers.moved.is_some() {
            all.filter_map(|pass| bound(pass, true)).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            model: model.clone(),
            instances,
            positions: buffers.positions,
            normals: buffers.normals,
            palette,
            palette_buffer: buffers.palette,
            palette_changed: false,
            ahead: vec![0.0; instances],
            ahead_buffer: buffers.ahead,
            at_step,
            between,
        })
    }

    /// Sets an instance's pose. Ignored if there is no such instance.
    pub fn set_pose(&mut self, instance: usize, world_from_joint: &[Affine]) {
        if instance < self.instances {
            self.palette
                .set(&self.model.recipe, instance, world_from_joint);
            self.palette_changed = true;
        }
    }

    /// As [`Surface::set_pose`] for all instances, in parallel.
    pub fn set_poses(&mut self, world_from_joint: impl Fn(usize) -> Vec<Affine> + Sync) {
        self.palette.set_all(&self.model.recipe, world_from_joint);
        self.palette_changed = true;
    }

    /// Sets how long after its last step an instance is shown, s of simulated time. It is extrapolated linearly, if there are velocities.
    pub fn set_ahead(&mut self, instance: usize, secs: f32) {
        if let Some(slot) = self.ahead.get_mut(instance) {
            *slot = secs;
        }
    }

    /// Uploads poses and times. They apply to everything submitted later.
    pub fn upload(&mut self, gpu: &GpuContext) {
        if std::mem::take(&mut self.palette_changed) && !self.palette.values().is_empty() {
            gpu.queue.write_buffer(
                &self.palette_buffer,
                0,
                bytemuck::cast_slice(self.palette.values()),
            );
        }
        if self.is_between() {
            gpu.queue
                .write_buffer(&self.ahead_buffer, 0, bytemuck::cast_slice(&self.ahead));
        }
    }

    fn is_between(&self) -> bool {
        !self.between.is_empty() && self.ahead.iter().any(|&secs| secs != 0.0)
    }

    /// The passes of a frame, in order.
    #[must_use]
    pub fn dispatches(&self) -> &[Dispatch] {
        if self.is_between() {
            &self.between
        } else {
            &self.at_step
        }
    }

    /// Encodes them.
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        for dispatch in self.dispatches() {
            dispatch.encode(pass);
        }
    }

    /// Positions of all instances.
    #[must_use]
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.positions
    }

    /// Unit normals of all instances.
    #[must_use]
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.normals
    }

    /// Number of instances.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Source vertices of an instance.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.model.recipe.sources.len()
    }

    /// The model of this surface.
    #[must_use]
    pub fn model(&self) -> &Arc<SurfaceModel> {
        &self.model
    }

    /// Reads back positions and normals of all instances. Waits for all work submitted before: for files, not for display.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn fetch(&self, gpu: &GpuContext) -> Result<(Vec<Point>, Vec<Vec3>), GpuError> {
        let count = self.vertices() * self.instances;
        let positions: Vec<[f32; 3]> = fetch(gpu, &self.positions, count)?;
        let normals: Vec<[f32; 3]> = fetch(gpu, &self.normals, count)?;
        Ok((
            positions.into_iter().map(Point::from).collect(),
            normals.into_iter().map(Vec3::from).collect(),
        ))
    }
}

/// The identity frame of a control point.
const UNTURNED: [[[f32; 4]; 3]; 1] = [[
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
]];

/// All buffers that passes bind.
struct Buffers<'a> {
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    palette: wgpu::Buffer,
    ahead: wgpu::Buffer,
    frames: wgpu::Buffer,
    row_normals: Option<wgpu::Buffer>,
    moved: Option<wgpu::Buffer>,
    simulated: Option<Simulated<'a>>,
}

impl Buffers<'_> {
    fn of(&self, slot: StateBuffer, moved: bool) -> Option<&wgpu::Buffer> {
        let rows = self.simulated.map(|simulated| simulated.positions);
        match slot {
            StateBuffer::Rows => rows,
            StateBuffer::Velocities => self.simulated.and_then(|simulated| simulated.velocities),
            StateBuffer::Ahead => Some(&self.ahead),
            StateBuffer::Moved => self.moved.as_ref(),
            StateBuffer::Simulated => self.moved.as_ref().filter(|_| moved).or(rows),
            StateBuffer::RowNormals => self.row_normals.as_ref(),
            StateBuffer::Palette => Some(&self.palette),
            StateBuffer::Positions => Some(&self.positions),
            StateBuffer::Normals => Some(&self.normals),
            StateBuffer::Frames => Some(&self.frames),
        }
    }

    /// A pass with its buffers; `None` if it has nothing to do.
    fn bound(
        &self,
        gpu: &GpuContext,
        pass: &SurfacePass,
        strides: &SurfaceDims,
        moved: bool,
        instances: usize,
    ) -> Option<Dispatch> {
        let SurfaceDims {
            row_stride,
            palette_stride,
            frame_stride,
            ..
        } = *strides;
        let dims = uniform_of(
            gpu,
            "dims of a surface",
            &SurfaceDims {
                row_stride,
                palette_stride,
                frame_stride,
                ..pass.dims
            },
        );
        let mut buffers = vec![(0, &dims)];
        buffers.extend(
            pass.constants
                .iter()
                .map(|(binding, buffer)| (*binding, buffer)),
        );
        for &(binding, slot) in &pass.state {
            buffers.push((binding, self.of(slot, moved)?));
        }
        Some(
            pass.kernel
                .on(gpu, &buffers, [pass.workgroups, instances as u32, 1]),
        )
    }
}

fn needs(model: &SurfaceModel, slot: StateBuffer) -> bool {
    model
        .passes
        .iter()
        .flat_map(|pass| &pass.state)
        .any(|&(_, needed)| needed == slot)
}

fn rows(
    gpu: &GpuContext,
    label: &'static str,
    simulated: Option<Simulated<'_>>,
    instances: usize,
) -> wgpu::Buffer {
    storage::<[f32; 4]>(gpu, label, simulated.map_or(0, |s| s.stride) * instances)
}

/// Positions and normals of one instance at rest; flesh without simulation keeps its upsampled rest shape.
fn at_rest(model: &SurfaceModel) -> (Vec<[f32; 3]>, Vec<[f32; 3]>) {
    let recipe = &model.recipe;
    let mut positions: Vec<[f32; 3]> = recipe.positions.iter().map(|&p| p.into()).collect();
    let mut normals: Vec<[f32; 3]> = recipe.normals.iter().map(|&n| n.into()).collect();
    if let Some(PlainUpsampling::Constant(still)) = &recipe.upsampling {
        for ((position, normal), source) in
            positions.iter_mut().zip(&mut normals).zip(&recipe.sources)
        {
            if let crate::methods::recipe::VertexSource::Flesh {
                vertex,
                normal: own,
            } = source
            {
                *position = still[*vertex as usize].into();
                *normal = Vec3::from(*own)
                    .try_normalize(f32::MIN_POSITIVE)
                    .unwrap_or_else(Vec3::z)
                    .into();
            }
        }
    }
    (positions, normals)
}

/// A buffer that is computed and drawn from.
fn drawn(
    gpu: &GpuContext,
    label: &'static str,
    one: &[[f32; 3]],
    instances: usize,
) -> wgpu::Buffer {
    let all = one.repeat(instances);
    // A buffer of zero bytes cannot be bound.
    let contents: &[u8] = if all.is_empty() {
        &[0; 16]
    } else {
        bytemuck::cast_slice(&all)
    };
    filled(
        gpu,
        label,
        contents,
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC,
    )
}
