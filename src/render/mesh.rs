//! Meshes on the device.
//!
//! | lifetime      | type                                                               |
//! |---------------|--------------------------------------------------------------------|
//! | per character | [`MeshModel`]: indices, texture coordinates, materials; shared      |
//! | per state     | [`MeshFrame`]: positions, normals; written every frame, or computed on the device |
//! | per viewport  | [`MeshColors`]: vertex colours of a viewport                        |

use std::ops::Range;
use std::sync::Arc;

use wgpu::util::DeviceExt;

use super::material::{self, GpuMaterial};
use super::renderer::Renderer;
use crate::character::Character;
use crate::gpu::{GpuContext, GrowBuffer};
use crate::math::{Point, Vec3};
use crate::mesh::Bounds;

/// Triangles of one material.
#[derive(Debug)]
pub(super) struct MaterialRange {
    pub indices: Range<u32>,
    pub material: usize,
}

/// All data of a surface that does not depend on the pose.
#[derive(Debug)]
pub struct MeshModel {
    pub(super) parts: Vec<MaterialRange>,
    pub(super) materials: Vec<GpuMaterial>,
    pub(super) indices: wgpu::Buffer,
    pub(super) tex_coords: wgpu::Buffer,
    /// Default colours for meshes drawn without colours.
    pub(super) no_colors: wgpu::Buffer,
    vertices: usize,
}

impl MeshModel {
    /// The character's source vertices, one mesh after the other, as [`Character::bind_positions`]
    /// returns them.
    #[must_use]
    pub fn of_character(renderer: &Renderer, character: &Character) -> Arc<Self> {
        let clay = character.materials.len();
        let mut indices = Vec::with_capacity(character.source_triangles());
        let mut tex_coords = Vec::with_capacity(character.source_vertices());
        let mut parts = Vec::new();
        for mesh in &character.meshes {
            let (first, count) = (tex_coords.len() as u32, mesh.positions.len());
            for (range, material) in mesh.sections() {
                let start = indices.len() as u32 * 3;
                let triangles = mesh.triangles.get(range).unwrap_or_default();
                let sound = triangles
                    .iter()
                    .filter(|t| t.iter().all(|&v| (v as usize) < count));
                indices.extend(sound.map(|t| t.map(|v| v + first)));
                parts.push(MaterialRange {
                    indices: start..indices.len() as u32 * 3,
                    material: material.filter(|&m| m < clay).unwrap_or(clay),
                });
            }
            let uv = mesh.tex_coords.as_deref().unwrap_or_default();
            tex_coords.extend((0..count).map(|v| uv.get(v).copied().unwrap_or_default()));
        }
        Self::new(
            renderer,
            parts,
            material::upload(
                renderer.gpu(),
                &renderer.layouts().material,
                &character.materials,
            ),
            &indices,
            &tex_coords,
        )
    }

    /// A surface of clay.
    #[must_use]
    pub fn of_triangles(renderer: &Renderer, triangles: &[[u32; 3]], vertices: usize) -> Arc<Self> {
        let sound: Vec<_> = triangles
            .iter()
            .copied()
            .filter(|t| t.iter().all(|&v| (v as usize) < vertices))
            .collect();
        let parts = vec![MaterialRange {
            indices: 0..sound.len() as u32 * 3,
            material: 0,
        }];
        let materials = material::upload(renderer.gpu(), &renderer.layouts().material, &[]);
        Self::new(
            renderer,
            parts,
            materials,
            &sound,
            &vec![[0.0; 2]; vertices],
        )
    }

    fn new(
        renderer: &Renderer,
        parts: Vec<MaterialRange>,
        materials: Vec<GpuMaterial>,
        indices: &[[u32; 3]],
        tex_coords: &[[f32; 2]],
    ) -> Arc<Self> {
        let device = &renderer.gpu().device;
        let filled = |label, bytes: &[u8], usage| {
            // Buffers of zero bytes cannot be bound.
            let contents = if bytes.is_empty() { &[0; 16] } else { bytes };
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents,
                usage,
            })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        Arc::new(Self {
            indices: filled(
                "indices",
                bytemuck::cast_slice(indices),
                wgpu::BufferUsages::INDEX | storage,
            ),
            tex_coords: filled(
                "texture coordinates",
                bytemuck::cast_slice(tex_coords),
                wgpu::BufferUsages::VERTEX | storage,
            ),
            no_colors: filled(
                "no colours",
                &vec![0; tex_coords.len() * 4],
                wgpu::BufferUsages::VERTEX | storage,
            ),
            vertices: tex_coords.len(),
            parts,
            materials,
        })
    }

    /// Number of vertices of its frames.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.vertices
    }
}

/// The present shape of a [`MeshModel`], or several instances of it.
#[derive(Debug)]
pub struct MeshFrame {
    pub(super) model: Arc<MeshModel>,
    shape: ShapeSource,
    /// Storage view of the vertices, for edges and instances.
    pub(super) edges: Option<wgpu::BindGroup>,
    bounds: Bounds,
}

#[derive(Debug)]
enum ShapeSource {
    /// Written by the CPU.
    Written {
        positions: GrowBuffer<[f32; 3]>,
        normals: GrowBuffer<[f32; 3]>,
        staging: Vec<[f32; 3]>,
    },
    /// Computed by GPU passes, instance after instance; a subset is drawn.
    OnDevice {
        positions: wgpu::Buffer,
        normals: wgpu::Buffer,
        instances: Range<u32>,
    },
}

impl MeshFrame {
    /// An empty shape until the first [`MeshFrame::update`].
    #[must_use]
    pub fn new(renderer: &Renderer, model: &Arc<MeshModel>) -> Self {
        let gpu = renderer.gpu();
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
        let count = model.vertices;
        let positions = GrowBuffer::new(&gpu.device, "positions", usage, count);
        let normals = GrowBuffer::new(&gpu.device, "normals", usage, count);
        Self::with(
            renderer,
            model,
            ShapeSource::Written {
                positions,
                normals,
                staging: vec![[0.0; 3]; count],
            },
        )
    }

    /// Shapes computed on the device: `f32` triples of positions and of unit normals, instance
    /// after instance (see [`crate::gpu::surface::Surface`]). All `instances` are drawn, as far as
    /// the buffers contain them; nothing is drawn before [`MeshFrame::set_bounds`]. The buffers
    /// need vertex and storage usage.
    #[must_use]
    pub fn on_device(
        renderer: &Renderer,
        model: &Arc<MeshModel>,
        positions: &wgpu::Buffer,
        normals: &wgpu::Buffer,
        instances: Range<u32>,
    ) -> Self {
        let room = positions.size().min(normals.size()) / (12 * model.vertices.max(1) as u64);
        let end = instances.end.min(u32::try_from(room).unwrap_or(u32::MAX));
        let instances = instances.start.min(end)..end;
        Self::with(
            renderer,
            model,
            ShapeSource::OnDevice {
                positions: positions.clone(),
                normals: normals.clone(),
                instances,
            },
        )
    }

    fn with(renderer: &Renderer, model: &Arc<MeshModel>, shape: ShapeSource) -> Self {
        let mut frame = Self {
            model: Arc::clone(model),
            shape,
            edges: None,
            bounds: Bounds::of([]),
        };
        frame.edges = frame.edges_with(renderer, &model.no_colors);
        frame
    }

    fn buffers(&self) -> [&wgpu::Buffer; 2] {
        match &self.shape {
            ShapeSource::Written {
                positions, normals, ..
            } => [positions.buffer(), normals.buffer()],
            ShapeSource::OnDevice {
                positions, normals, ..
            } => [positions, normals],
        }
    }

    /// Positions and normals of one instance.
    pub(super) fn vertices_of(&self, instance: u32) -> [wgpu::BufferSlice<'_>; 2] {
        let start = u64::from(instance) * self.model.vertices as u64 * 12;
        self.buffers().map(|buffer| buffer.slice(start..))
    }

    /// The instances to draw; a shape written by the CPU has only instance 0.
    pub(super) fn instances(&self) -> Range<u32> {
        match &self.shape {
            ShapeSource::Written { .. } => 0..1,
            ShapeSource::OnDevice { instances, .. } => instances.clone(),
        }
    }

    /// Storage buffers for drawing many instances in one draw call.
    pub(super) fn crowd(&self) -> Option<&wgpu::BindGroup> {
        self.edges.as_ref().filter(|_| self.instances().len() > 1)
    }

    /// Storage buffers from which the edge shader reads the corners.
    pub(super) fn edges_with(
        &self,
        renderer: &Renderer,
        colors: &wgpu::Buffer,
    ) -> Option<wgpu::BindGroup> {
        let layout = renderer.layouts().edges.as_ref()?;
        let model = &self.model;
        let [positions, normals] = self.buffers();
        let buffers = [
            &model.indices,
            positions,
            normals,
            &model.tex_coords,
            colors,
        ];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, b)| wgpu::BindGroupEntry {
                binding,
                resource: b.as_entire_binding(),
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor {
            label: Some("edges"),
            layout,
            entries: &entries,
        };
        Some(renderer.gpu().device.create_bind_group(&descriptor))
    }

    /// Sets positions and unit normals, one per vertex of the model. A non-finite position keeps
    /// its last valid value. Surplus entries are ignored, missing ones unchanged; shapes computed
    /// on the device are unchanged. Does not allocate.
    pub fn update(&mut self, gpu: &GpuContext, new_positions: &[Point], new_normals: &[Vec3]) {
        let ShapeSource::Written {
            positions,
            normals,
            staging,
        } = &mut self.shape
        else {
            return;
        };
        for (kept, new) in staging.iter_mut().zip(new_positions) {
            if new.iter().all(|c| c.is_finite()) {
                *kept = (*new).into();
            }
        }
        self.bounds = Bounds::of(new_positions);
        positions.write(&gpu.device, &gpu.queue, staging);
        let count = self.model.vertices.min(new_normals.len());
        normals.write(
            &gpu.device,
            &gpu.queue,
            bytemuck::cast_slice(&new_normals[..count]),
        );
    }

    /// Sets the bounds of shapes computed on the device, which the shadow pass needs in advance.
    /// Bounds may be slightly too large.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// The bounding box of the present positions, or the one that was set.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The model of this shape.
    #[must_use]
    pub fn model(&self) -> &Arc<MeshModel> {
        &self.model
    }

    pub(super) fn is_drawn(&self) -> bool {
        let is_there = match &self.shape {
            ShapeSource::Written { positions, .. } => !positions.is_empty(),
            ShapeSource::OnDevice { instances, .. } => {
                !instances.is_empty() && self.model.vertices > 0
            }
        };
        is_there && !self.bounds.is_empty()
    }
}

/// Colours of the vertices of a [`MeshModel`].
#[derive(Debug)]
pub struct MeshColors {
    pub(super) buffer: GrowBuffer<[u8; 4]>,
    vertices: usize,
}

impl MeshColors {
    /// Transparent colours until the first [`MeshColors::update`].
    #[must_use]
    pub fn new(renderer: &Renderer, model: &MeshModel) -> Self {
        let gpu = renderer.gpu();
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
        let mut colors = Self {
            buffer: GrowBuffer::new(&gpu.device, "colours", usage, model.vertices),
            vertices: model.vertices,
        };
        colors.update(gpu, &vec![[0; 4]; model.vertices]);
        colors
    }

    /// Sets sRGB colours, one per vertex; alpha is the coverage of the material. Missing entries
    /// leave the others unchanged.
    pub fn update(&mut self, gpu: &GpuContext, colors: &[[u8; 4]]) {
        let count = self.vertices.min(colors.len());
        self.buffer.write(&gpu.device, &gpu.queue, &colors[..count]);
    }
}
