//! The base under the flesh: only transforms of bones and nodes are uploaded.

use nalgebra::Matrix3x4;
use rayon::prelude::*;

use super::layout::{BaseAnchor, BaseDims, HELD, RIGID};
use super::{SurfaceError, check_groups, check_size};
use crate::gpu::GpuContext;
use crate::gpu::compute::{Dispatch, Kernel, storage_of, uniform_of, workgroups};
use crate::gpu::shader;
use crate::math::{Point, Vec3};
use crate::tissue::anchors::PlainAnchor;
use crate::tissue::{Anchors, BaseFrame};

/// Sizes of a bone and of a node in the frame buffer, in elements.
const BONE: usize = 8;
const NODE: usize = 4;
/// Threads per workgroup.
const GROUP: usize = 64;

/// The anchors of a character's base points.
#[derive(Debug)]
pub struct BaseModel {
    kernel: Kernel,
    anchors: wgpu::Buffer,
    axes: wgpu::Buffer,
    points: usize,
    bones: usize,
    nodes: usize,
}

/// The base points of several instances, for several steps in one submission.
#[derive(Debug)]
pub struct Base {
    frames: wgpu::Buffer,
    values: Vec<[f32; 4]>,
    /// Elements per instance.
    stride: usize,
    bones: usize,
    instances: usize,
    steps: Vec<Dispatch>,
}

impl BaseModel {
    /// Uploads anchors.
    ///
    /// # Errors
    /// [`SurfaceError::TooLarge`].
    pub fn new(gpu: &GpuContext, anchors: &Anchors) -> Result<Self, SurfaceError> {
        let packed: Vec<BaseAnchor> = anchors.plain().iter().map(pack).collect();
        check_size::<BaseAnchor>(gpu, "the anchors of a character", packed.len())?;
        check_groups(gpu, "base points", packed.len().div_ceil(GROUP))?;
        let axes = anchors.bone_axes();
        let axes: Vec<[f32; 4]> = axes
            .as_flattened()
            .iter()
            .map(|p| [p.x, p.y, p.z, 0.0])
            .collect();
        Ok(Self {
            kernel: Kernel::new(gpu, &shader::SURFACE_BASE, "place_base", &[]),
            anchors: storage_of(gpu, "anchors", &packed),
            axes: storage_of(gpu, "axes of bones", &axes),
            points: packed.len(),
            bones: axes.len() / 2,
            nodes: anchors.node_count(),
        })
    }

    /// Number of points: those under all skin vertices, then those of carried vertices.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// Stride between instances in elements of `vec4<f32>`, as in the buffers of the simulation.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.points.next_multiple_of(64)
    }

    /// Bytes uploaded per instance and step.
    #[must_use]
    pub fn bytes_per_step(&self) -> u64 {
        ((self.bones * BONE + self.nodes * NODE) * size_of::<[f32; 4]>()) as u64
    }

    /// Binds the output buffer of the points: `vec4`s, instance after instance, with a stride of [`BaseModel::stride`]. Up to `steps` bases can be
    /// computed in one submission.
    ///
    /// # Errors
    /// [`SurfaceError`] if it is too small for all instances, or a limit of the device is exceeded.
    pub fn on(
        &self,
        gpu: &GpuContext,
        points: &wgpu::Buffer,
        instances: usize,
        steps: usize,
    ) -> Result<Base, SurfaceError> {
        let room = (points.size() / 16) as usize;
        if room < self.stride() * instances {
            return Err(SurfaceError::Rows {
                expected: self.stride() * instances,
                actual: room,
            });
        }
        check_groups(gpu, "characters", instances)?;
        let stride = self.bones * BONE + self.nodes * NODE;
        let values = vec![[0.0; 4]; stride * instances * steps];
        check_size::<[f32; 4]>(gpu, "the bones of all characters", values.len())?;
        let frames = storage_of(gpu, "frames of bones", &values);
        let dispatch = |step: usize| {
            let dims = BaseDims {
                points: self.points as u32,
                base_stride: self.stride() as u32,
                frame_stride: stride as u32,
                first_frame: (step * instances * stride) as u32,
                bones: self.bones as u32,
                ..BaseDims::default()
            };
            let dims = uniform_of(gpu, "dims of a base", &dims);
            let buffers = [
                (0, &dims),
                (1, &self.anchors),
                (2, &self.axes),
                (3, &frames),
                (4, points),
            ];
            self.kernel.on(
                gpu,
                &buffers,
                [workgroups(self.points, GROUP), instances as u32, 1],
            )
        };
        let steps = (0..steps).map(dispatch).collect();
        Ok(Base {
            values,
            stride,
            bones: self.bones,
            instances,
            steps,
            frames,
        })
    }
}

impl Base {
    /// Sets the bone transforms of an instance at a step of the coming submission, as computed by [`Anchors::move_volumes`]. Steps and
    /// instances out of range are ignored.
    pub fn set(&mut self, step: usize, instance: usize, frame: &BaseFrame) {
        self.set_moved(step, instance, frame, &Vec3::zeros());
    }

    /// As [`Base::set`], for an instance with this offset from the frame's position.
    pub fn set_moved(&mut self, step: usize, instance: usize, frame: &BaseFrame, offset: &Vec3) {
        if step >= self.steps.len() || instance >= self.instances {
            return;
        }
        let first = (step * self.instances + instance) * self.stride;
        let values = &mut self.values[first..first + self.stride];
        write_frame(values, self.bones, frame, offset);
    }

    /// As [`Base::set_moved`] for all instances, in parallel.
    pub fn set_all<'a>(
        &mut self,
        step: usize,
        frame: impl Fn(usize) -> (&'a BaseFrame, Vec3) + Sync,
    ) {
        let bones = self.bones;
        let of_step = self.instances * self.stride;
        if step >= self.steps.len() || of_step == 0 {
            return;
        }
        let values = &mut self.values[step * of_step..(step + 1) * of_step];
        let instances = values.par_chunks_mut(self.stride).enumerate();
        instances.for_each(|(instance, values)| {
            let (frame, offset) = frame(instance);
            write_frame(values, bones, frame, &offset);
        });
    }

    /// Uploads the data of the first steps. They apply to everything submitted later.
    pub fn upload(&self, gpu: &GpuContext, steps: usize) {
        let count = (steps * self.instances * self.stride).min(self.values.len());
        if count > 0 {
            gpu.queue
                .write_buffer(&self.frames, 0, bytemuck::cast_slice(&self.values[..count]));
        }
    }

    /// The uploaded frames; those of the first step and instance come first: eight vectors a bone, of which the first three are the
    /// rows of its transform.
    #[must_use]
    pub(in crate::gpu) fn frames(&self) -> &wgpu::Buffer {
        &self.frames
    }

    /// The pass that computes the points of a step of the submission.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&Dispatch> {
        self.steps.get(step)
    }

    /// Bytes uploaded per step.
    #[must_use]
    pub fn bytes_per_step(&self) -> usize {
        self.instances * self.stride * 16
    }
}

/// Writes the elements of an instance at a step.
fn write_frame(values: &mut [[f32; 4]], bones: usize, frame: &BaseFrame, offset: &Vec3) {
    let rows = |matrix: &Matrix3x4<f32>| {
        let mut rows = rows(matrix);
        for (row, offset) in rows.iter_mut().zip(offset.iter()) {
            row[3] += offset;
        }
        rows
    };
    let with = |point: &Point, w: f32| with(&(point + offset), w);
    let (bones, nodes) = values.split_at_mut(bones * BONE);
    for (slots, bone) in bones.chunks_mut(BONE).zip(frame.plain_bones()) {
        slots[..3].copy_from_slice(&rows(&bone.stretched));
        slots[3..6].copy_from_slice(&rows(&bone.rigid));
        slots[6] = with(&bone.cylinder[0], bone.scale);
        slots[7] = with(&bone.cylinder[1], bone.twist);
    }
    for (slots, node) in nodes.chunks_mut(NODE).zip(frame.plain_nodes()) {
        slots[..3].copy_from_slice(&rows(&node.transform));
        slots[3] = with(&node.center, node.scale);
    }
}

fn pack(anchor: &PlainAnchor) -> BaseAnchor {
    let own = BaseAnchor {
        rest: anchor.rest.into(),
        bone: anchor.bone,
        ..BaseAnchor::default()
    };
    match &anchor.slide {
        Some(slide) => BaseAnchor {
            ring: slide.ring.into(),
            alpha: slide.alpha,
            joint_radius: slide.joint_radius,
            bone_radius: slide.bone_radius,
            node: slide.node,
            ..own
        },
        None => BaseAnchor {
            node: if anchor.held { HELD } else { RIGID },
            ..own
        },
    }
}

fn rows(matrix: &Matrix3x4<f32>) -> [[f32; 4]; 3] {
    std::array::from_fn(|row| std::array::from_fn(|column| matrix[(row, column)]))
}

fn with(point: &Point, w: f32) -> [f32; 4] {
    [point.x, point.y, point.z, w]
}
