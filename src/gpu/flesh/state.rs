//! State of a character's instances on the device.

use super::error::FleshError;
use super::kernels::binding;
use super::layout::{
    AndersonState, BASE, BASE_VELOCITY, CHAINS, Dims, REGIONS, REMEMBERED, ROWS, StepStatistics,
    VECTORS, VELOCITY,
};
use super::model::FleshModel;
use crate::dynamics::State;
use crate::gpu::GpuContext;
use crate::gpu::compute::{fetch_from, storage, uniform_of};
use crate::math::{Point, Vec3};
use crate::numerics::lanes::Padded;

/// Positions, velocities and the temporaries of a step, for all instances of a character.
#[derive(Debug)]
pub struct FleshState {
    dims: Dims,
    vertex_of_row: Vec<u32>,
    /// Prescribed point that each row moves with.
    references: Vec<u32>,
    uniform: wgpu::Buffer,
    x: wgpu::Buffer,
    increment: wgpu::Buffer,
    b: wgpu::Buffer,
    base: wgpu::Buffer,
    forces: wgpu::Buffer,
    memory: wgpu::Buffer,
    states: wgpu::Buffer,
    energies: wgpu::Buffer,
    sums: wgpu::Buffer,
    statistics: wgpu::Buffer,
}

/// Base points, gathered for one upload.
const BLOCK: usize = 64;

impl FleshState {
    /// Allocates a number of instances, all at the origin until [`FleshState::upload`].
    ///
    /// # Errors
    /// [`FleshError::Count`] or [`FleshError::TooLarge`] if the device has no room for them.
    pub fn new(gpu: &GpuContext, model: &FleshModel, instances: u32) -> Result<Self, FleshError> {
        let dims = model.dims(instances);
        let limits = gpu.device.limits();
        if instances == 0 || instances > limits.max_compute_workgroups_per_dimension {
            let limit = limits.max_compute_workgroups_per_dimension as usize;
            return Err(FleshError::Count {
                what: "characters",
                wanted: instances as usize,
                limit,
            });
        }
        let limit = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        let of_all = |what: &'static str, label: &'static str, each: usize| {
            let bytes = each as u64 * u64::from(instances);
            if bytes > limit {
                return Err(FleshError::TooLarge {
                    what,
                    bytes,
                    limit,
                    rows: dims.rows as usize,
                    instances,
                });
            }
            Ok(storage::<u8>(gpu, label, each * instances as usize))
        };
        let [
            rows,
            base,
            forces,
            memory,
            states,
            energies,
            sums,
            statistics,
        ] = sizes(&dims);
        Ok(Self {
            dims,
            vertex_of_row: model.equations().vertex_of_row.clone(),
            references: model.equations().references.clone(),
            uniform: uniform_of(gpu, "flesh dims", &dims),
            x: of_all("positions", "flesh positions", rows)?,
            increment: of_all("increments", "flesh increments", rows)?,
            b: of_all("right-hand sides", "flesh right-hand sides", rows)?,
            base: of_all("bases", "flesh bases", base)?,
            forces: of_all("forces", "flesh forces", forces)?,
            memory: of_all("what a step remembers", "flesh memory", memory)?,
            states: of_all("states of the acceleration", "flesh acceleration", states)?,
            energies: of_all("energies", "flesh energies", energies)?,
            sums: of_all("products", "flesh products", sums)?,
            statistics: of_all("step statistics", "flesh statistics", statistics)?,
        })
    }

    /// Bytes per instance: total, and in the largest buffer.
    #[must_use]
    pub(crate) fn bytes_per_instance(model: &FleshModel) -> [u64; 2] {
        let sizes = sizes(&model.dims(1)).map(|size| size as u64);
        // Positions, increments and right-hand sides have the same size.
        [
            sizes.iter().sum::<u64>() + 2 * sizes[0],
            sizes.into_iter().max().unwrap_or(0),
        ]
    }

    /// Sizes and strides of the buffers.
    #[must_use]
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// World positions: a row array.
    #[must_use]
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.x
    }

    /// Velocities, world units per simulated second: begins with a row array.
    #[must_use]
    pub fn velocities(&self) -> &wgpu::Buffer {
        &self.memory
    }

    /// Base positions at the end of the next step, world: an array of vec4 by base point, instance after instance.
    #[must_use]
    pub fn base(&self) -> &wgpu::Buffer {
        &self.base
    }

    /// Right-hand side of the global step: a row array; the solver may overwrite it.
    #[must_use]
    pub fn right_hand_side(&self) -> &wgpu::Buffer {
        &self.b
    }

    /// Unknown of the global step: a row array. Zero when a step begins, then the increment of the last iteration.
    #[must_use]
    pub fn increment(&self) -> &wgpu::Buffer {
        &self.increment
    }

    /// One [`StepStatistics`] per instance.
    #[must_use]
    pub fn statistics(&self) -> &wgpu::Buffer {
        &self.statistics
    }

    /// Sets the base of an instance for the next step.
    ///
    /// # Errors
    /// [`FleshError::State`] or [`FleshError::Instance`].
    pub fn move_base(
        &self,
        gpu: &GpuContext,
        instance: u32,
        base: &[Point],
    ) -> Result<(), FleshError> {
        self.check(instance, "base points", base.len(), self.dims.base_points)?;
        let size = (base.len() * size_of::<Padded>()) as u64;
        let offset = u64::from(instance * self.dims.base_stride) * size_of::<Padded>() as u64;
        let room = wgpu::BufferSize::new(size)
            .and_then(|size| gpu.queue.write_buffer_with(&self.base, offset, size));
        // Out-of-memory is reported by the device's error callback.
        if let Some(mut room) = room {
            for (block, points) in base.chunks(BLOCK).enumerate() {
                let mut slots = [Padded::default(); BLOCK];
                slots
                    .iter_mut()
                    .zip(points)
                    .for_each(|(slot, point)| *slot = self::slot(&point.coords));
                let bytes: &[u8] = bytemuck::cast_slice(&slots[..points.len()]);
                let at = block * size_of_val(&slots);
                room.slice(at..at + bytes.len()).copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    /// Sets the state of an instance and clears its error flag.
    ///
    /// # Errors
    /// [`FleshError::State`] or [`FleshError::Instance`].
    pub fn upload(&self, gpu: &GpuContext, instance: u32, state: &State) -> Result<(), FleshError> {
        let State {
            position,
            velocity,
            base_velocity,
            base,
        } = state;
        for count in [position.len(), velocity.len(), base_velocity.len()] {
            self.check(instance, "vertices", count, self.dims.rows)?;
        }
        self.move_base(gpu, instance, base)?;
        let by_row = |of: &dyn Fn(usize) -> Padded| {
            self.vertex_of_row
                .iter()
                .map(|&v| of(v as usize))
                .collect::<Vec<Padded>>()
        };
        write(
            gpu,
            &self.x,
            self.row_at(0, instance),
            &by_row(&|v| slot(&position[v].coords)),
        );
        write(
            gpu,
            &self.memory,
            self.row_at(VELOCITY, instance),
            &by_row(&|v| slot(&velocity[v])),
        );
        write(
            gpu,
            &self.memory,
            self.row_at(BASE_VELOCITY, instance),
            &by_row(&|v| slot(&base_velocity[v])),
        );
        write(
            gpu,
            &self.memory,
            self.row_at(BASE, instance),
            &self
                .references
                .iter()
                .map(|&point| slot(&base[point as usize].coords))
                .collect::<Vec<Padded>>(),
        );
        write(
            gpu,
            &self.statistics,
            instance as usize,
            &[StepStatistics::default()],
        );
        Ok(())
    }

    /// The state of an instance. Waits for all steps submitted before.
    ///
    /// # Errors
    /// [`FleshError::Instance`], or [`FleshError::Gpu`] if the device was lost.
    pub fn download(&self, gpu: &GpuContext, instance: u32) -> Result<State, FleshError> {
        self.check(
            instance,
            "vertices",
            self.vertex_of_row.len(),
            self.dims.rows,
        )?;
        let rows = |buffer: &wgpu::Buffer, first: usize| -> Result<Vec<Padded>, FleshError> {
            let slots: Vec<Padded> = fetch_from(gpu, buffer, first, self.vertex_of_row.len())?;
            let mut by_vertex = vec![[0.0; 4]; slots.len()];
            for (slot, &vertex) in slots.into_iter().zip(&self.vertex_of_row) {
                by_vertex[vertex as usize] = slot;
            }
            Ok(by_vertex)
        };
        let points = |slots: Vec<Padded>| {
            slots
                .into_iter()
                .map(|[x, y, z, _]| Point::new(x, y, z))
                .collect()
        };
        let vectors = |slots: Vec<Padded>| {
            slots
                .into_iter()
                .map(|[x, y, z, _]| Vec3::new(x, y, z))
                .collect()
        };
        let base = fetch_from(
            gpu,
            &self.base,
            (instance * self.dims.base_stride) as usize,
            self.dims.base_points as usize,
        )?;
        Ok(State {
            position: points(rows(&self.x, self.row_at(0, instance))?),
            velocity: vectors(rows(&self.memory, self.row_at(VELOCITY, instance))?),
            base_velocity: vectors(rows(&self.memory, self.row_at(BASE_VELOCITY, instance))?),
            base: points(base),
        })
    }

    pub(super) fn vertex_of_row(&self) -> &[u32] {
        &self.vertex_of_row
    }

    /// Energies; those of contacts come first, one number per instance.
    pub(super) fn energies(&self) -> &wgpu::Buffer {
        &self.energies
    }

    pub(super) fn buffer(&self, number: u32) -> Option<&wgpu::Buffer> {
        match number {
            binding::DIMS => Some(&self.uniform),
            binding::BASE => Some(&self.base),
            binding::FORCES => Some(&self.forces),
            binding::X => Some(&self.x),
            binding::INCREMENT => Some(&self.increment),
            binding::B => Some(&self.b),
            binding::MEMORY => Some(&self.memory),
            binding::STATES => Some(&self.states),
            binding::ENERGIES => Some(&self.energies),
            binding::SUMS => Some(&self.sums),
            binding::STATISTICS => Some(&self.statistics),
            _ => None,
        }
    }

    /// First row of an instance in the given one of consecutive row arrays.
    fn row_at(&self, which: usize, instance: u32) -> usize {
        (which * self.dims.instances as usize + instance as usize) * self.dims.row_stride as usize
    }

    fn check(
        &self,
        instance: u32,
        what: &'static str,
        actual: usize,
        expected: u32,
    ) -> Result<(), FleshError> {
        if instance >= self.dims.instances {
            return Err(FleshError::Instance {
                instance,
                last: self.dims.instances - 1,
            });
        }
        if actual != expected as usize {
            return Err(FleshError::State {
                what,
                actual,
                expected: expected as usize,
            });
        }
        Ok(())
    }
}

/// Bytes per instance: a row array, the base, forces, history, acceleration state, energies, dot products and statistics.
fn sizes(dims: &Dims) -> [usize; 8] {
    let slot = size_of::<Padded>();
    let rows = dims.row_stride as usize;
    let groups = rows / ROWS;
    let energies = 1 + REGIONS * (groups + dims.chain_stride as usize / CHAINS + 1);
    let remembered = REMEMBERED + 2 * dims.memory as usize;
    [
        rows * slot,
        dims.base_stride as usize * slot,
        (dims.pulled * dims.chain_stride) as usize * slot,
        remembered * rows * slot,
        2 * size_of::<AndersonState>(),
        energies * size_of::<f32>(),
        groups * VECTORS * slot,
        size_of::<StepStatistics>(),
    ]
}

fn slot(v: &Vec3) -> Padded {
    [v.x, v.y, v.z, 0.0]
}

fn write<T: bytemuck::NoUninit>(gpu: &GpuContext, buffer: &wgpu::Buffer, first: usize, data: &[T]) {
    gpu.queue.write_buffer(
        buffer,
        (first * size_of::<T>()) as u64,
        bytemuck::cast_slice(data),
    );
}
