//! Meshes on the device.
//!
//! | lifetime      | type                                                               |
//! |---------------|--------------------------------------------------------------------|
//! | per character | [`MeshModel`]: indices, texture coordinates, materials; shared      |
//! | per state     | [`MeshFrame`]: positions, normals; written every frame, or made on the device |
//! | per viewport  | [`MeshColors`]: what a viewport colours vertices by                 |

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
pub(super) struct Part {
    pub indices: Range<u32>,
    pub material: usize,
}

/// All of a surface that no pose changes.
#[derive(Debug)]
pub struct MeshModel {
    pub(super) parts: Vec<Part>,
    pub(super) materials: Vec<GpuMaterial>,
    pub(super) indices: wgpu::Buffer,
    pub(super) tex_coords: wgpu::Buffer,
    /// For meshes that are drawn without colours.
    pub(super) no_colors: wgpu::Buffer,
    vertices: usize,
}

impl MeshModel {
    /// The character's source vertices, one mesh after the other, as [`Character::bind_positions`] gives them.
    #[must_use]
    pub fn of_character(renderer: &Renderer, character: &Character) -> Arc<Self> {
        let clay = character.materials.len();
        let mut indices = Vec::with_capacity(character.source_triangles());
        let mut tex_coords = Vec::with_capacity(character.source_vertices());
        let mut parts = Vec::new();
        for mesh in &character.meshes {
            let (first, count) = (tex_coords.len() as u32, mesh.positions.len());
            let start = indices.len() as u32 * 3;
            let sound = mesh.triangles.iter().filter(|t| t.iter().all(|&v| (v as usize) < count));
            indices.extend(sound.map(|t| t.map(|v| v + first)));
            let uv = mesh.tex_coords.as_deref().unwrap_or_default();
            tex_coords.extend((0..count).map(|v| uv.get(v).copied().unwrap_or_default()));
            let material = mesh.material.filter(|&m| m < clay).unwrap_or(clay);
            parts.push(Part { indices: start..indices.len() as u32 * 3, material });
        }
        Self::new(
            renderer,
            parts,
            material::upload(renderer.gpu(), &renderer.layouts().material, &character.materials),
            &indices,
            &tex_coords,
        )
    }

    /// A surface of clay.
    #[must_use]
    pub fn of_triangles(renderer: &Renderer, triangles: &[[u32; 3]], vertices: usize) -> Arc<Self> {
        let sound: Vec<_> = triangles.iter().copied().filter(|t| t.iter().all(|&v| (v as usize) < vertices)).collect();
        let parts = vec![Part { indices: 0..sound.len() as u32 * 3, material: 0 }];
        let materials = material::upload(renderer.gpu(), &renderer.layouts().material, &[]);
        Self::new(renderer, parts, materials, &sound, &vec![[0.0; 2]; vertices])
    }

    fn new(renderer: &Renderer, parts: Vec<Part>, materials: Vec<GpuMaterial>, indices: &[[u32; 3]], tex_coords: &[[f32; 2]]) -> Arc<Self> {
        let device = &renderer.gpu().device;
        let filled = |label, bytes: &[u8], usage| {
            // A buffer of no bytes can't be bound.
            let contents = if bytes.is_empty() { &[0; 16] } else { bytes };
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        Arc::new(Self {
            indices: filled("indices", bytemuck::cast_slice(indices), wgpu::BufferUsages::INDEX | storage),
            tex_coords: filled("texture coordinates", bytemuck::cast_slice(tex_coords), wgpu::BufferUsages::VERTEX | storage),
            no_colors: filled("no colours", &vec![0; tex_coords.len() * 4], wgpu::BufferUsages::VERTEX | storage),
            vertices: tex_coords.len(),
            parts,
            materials,
        })
    }

    /// How many vertices its frames have.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.vertices
    }
}

/// The present shape of a [`MeshModel`], or shapes of a crowd of them.
#[derive(Debug)]
pub struct MeshFrame {
    pub(super) model: Arc<MeshModel>,
    shape: Shape,
    /// What edges are fetched from, and the shapes of a crowd.
    pub(super) edges: Option<wgpu::BindGroup>,
    bounds: Bounds,
}

#[derive(Debug)]
enum Shape {
    /// By the CPU.
    Written { positions: GrowBuffer<[f32; 3]>, normals: GrowBuffer<[f32; 3]>, staging: Vec<[f32; 3]> },
    /// By passes of their own, instance after instance; some of these are drawn.
    OnDevice { positions: wgpu::Buffer, normals: wgpu::Buffer, instances: Range<u32> },
}

impl MeshFrame {
    /// A shape that is empty until the first [`MeshFrame::update`].
    #[must_use]
    pub fn new(renderer: &Renderer, model: &Arc<MeshModel>) -> Self {
        let gpu = renderer.gpu();
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
        let count = model.vertices;
        let positions = GrowBuffer::new(&gpu.device, "positions", usage, count);
        let normals = GrowBuffer::new(&gpu.device, "normals", usage, count);
        Self::with(renderer, model, Shape::Written { positions, normals, staging: vec![[0.0; 3]; count] })
    }

    /// Shapes that are made on the device: `f32` triples of positions and of unit normals, those of an instance one after the other, one
    /// instance after the other (see [`crate::gpu::surface::Surface`]). All `instances` are drawn at once, as far as the buffers have them;
    /// nothing is drawn before [`MeshFrame::set_bounds`]. The buffers must be made for vertices and for storage.
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
        Self::with(renderer, model, Shape::OnDevice { positions: positions.clone(), normals: normals.clone(), instances })
    }

    fn with(renderer: &Renderer, model: &Arc<MeshModel>, shape: Shape) -> Self {
        let mut frame = Self { model: Arc::clone(model), shape, edges: None, bounds: Bounds::of([]) };
        frame.edges = frame.edges_with(renderer, &model.no_colors);
        frame
    }

    fn buffers(&self) -> [&wgpu::Buffer; 2] {
        match &self.shape {
            Shape::Written { positions, normals, .. } => [positions.buffer(), normals.buffer()],
            Shape::OnDevice { positions, normals, .. } => [positions, normals],
        }
    }

    /// Positions and normals of one instance.
    pub(super) fn vertices_of(&self, instance: u32) -> [wgpu::BufferSlice<'_>; 2] {
        let start = u64::from(instance) * self.model.vertices as u64 * 12;
        self.buffers().map(|buffer| buffer.slice(start..))
    }

    /// Which instances are drawn; the only one of a shape that the CPU writes is 0.
    pub(super) fn instances(&self) -> Range<u32> {
        match &self.shape {
            Shape::Written { .. } => 0..1,
            Shape::OnDevice { instances, .. } => instances.clone(),
        }
    }

    /// Where many instances are fetched from in one draw.
    pub(super) fn crowd(&self) -> Option<&wgpu::BindGroup> {
        self.edges.as_ref().filter(|_| self.instances().len() > 1)
    }

    /// What the shader that draws edges fetches its corners from.
    pub(super) fn edges_with(&self, renderer: &Renderer, colors: &wgpu::Buffer) -> Option<wgpu::BindGroup> {
        let layout = renderer.layouts().edges.as_ref()?;
        let model = &self.model;
        let [positions, normals] = self.buffers();
        let buffers = [&model.indices, positions, normals, &model.tex_coords, colors];
        let entries: Vec<_> =
            (0..).zip(buffers).map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() }).collect();
        let descriptor = wgpu::BindGroupDescriptor { label: Some("edges"), layout, entries: &entries };
        Some(renderer.gpu().device.create_bind_group(&descriptor))
    }

    /// Takes positions and unit normals, one per vertex of the model. A position that is not finite keeps its last good value.
    /// Too few or too many are cut or left as they were; shapes that are made on the device stay as they are. Allocates nothing.
    pub fn update(&mut self, gpu: &GpuContext, new_positions: &[Point], new_normals: &[Vec3]) {
        let Shape::Written { positions, normals, staging } = &mut self.shape else { return };
        for (kept, new) in staging.iter_mut().zip(new_positions) {
            if new.iter().all(|c| c.is_finite()) {
                *kept = (*new).into();
            }
        }
        self.bounds = Bounds::of(new_positions);
        positions.write(&gpu.device, &gpu.queue, staging);
        let count = self.model.vertices.min(new_normals.len());
        normals.write(&gpu.device, &gpu.queue, bytemuck::cast_slice(&new_normals[..count]));
    }

    /// Says where shapes that are made on the device are: for shadows, which must know before the device does. Somewhat too large is
    /// no harm.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// The box around the present positions, or the one that was set.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What it is a shape of.
    #[must_use]
    pub fn model(&self) -> &Arc<MeshModel> {
        &self.model
    }

    pub(super) fn is_drawn(&self) -> bool {
        let is_there = match &self.shape {
            Shape::Written { positions, .. } => !positions.is_empty(),
            Shape::OnDevice { instances, .. } => !instances.is_empty() && self.model.vertices > 0,
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
    /// Colours that show nothing until the first [`MeshColors::update`].
    #[must_use]
    pub fn new(renderer: &Renderer, model: &MeshModel) -> Self {
        let gpu = renderer.gpu();
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
        let mut colors = Self { buffer: GrowBuffer::new(&gpu.device, "colours", usage, model.vertices), vertices: model.vertices };
        colors.update(gpu, &vec![[0; 4]; model.vertices]);
        colors
    }

    /// Takes sRGB colours, one per vertex; alpha says how much of the material each covers. Too few leave the others as they were.
    pub fn update(&mut self, gpu: &GpuContext, colors: &[[u8; 4]]) {
        let count = self.vertices.min(colors.len());
        self.buffer.write(&gpu.device, &gpu.queue, &colors[..count]);
    }
}
