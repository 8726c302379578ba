//! Descriptions of render pipelines.

use wgpu::{BindGroupLayout, BlendState, CompareFunction, RenderPipeline, vertex_attr_array};

use super::super::target::{COLOR_FORMAT, DEPTH_FORMAT, SAMPLES};

/// All parameters in which pipelines differ.
#[derive(Clone, Copy)]
pub(super) struct PipelineParams<'a> {
    pub(super) label: &'static str,
    pub(super) module: &'a wgpu::ShaderModule,
    pub(super) groups: &'a [Option<&'a BindGroupLayout>],
    pub(super) vertex: &'static str,
    pub(super) buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    /// Entry point; `None` draws depth only.
    pub(super) fragment: Option<&'static str>,
    pub(super) format: Option<wgpu::TextureFormat>,
    pub(super) blend: Option<BlendState>,
    /// Comparison, and whether depth is written.
    pub(super) depth: Option<(CompareFunction, bool)>,
    pub(super) samples: u32,
    pub(super) writes: wgpu::ColorWrites,
    pub(super) strip: bool,
    pub(super) cull: Option<wgpu::Face>,
}

impl<'a> PipelineParams<'a> {
    /// A multisampled colour pipeline without vertex buffers, with depth test and write.
    pub(super) fn new(
        label: &'static str,
        module: &'a wgpu::ShaderModule,
        groups: &'a [Option<&'a BindGroupLayout>],
    ) -> Self {
        Self {
            label,
            module,
            groups,
            vertex: "vs_main",
            buffers: &[],
            fragment: Some("fs_main"),
            format: Some(COLOR_FORMAT),
            blend: None,
            depth: Some((CompareFunction::LessEqual, true)),
            samples: SAMPLES,
            writes: wgpu::ColorWrites::ALL,
            strip: false,
            cull: None,
        }
    }

    pub(super) fn build(&self, device: &wgpu::Device) -> RenderPipeline {
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(self.label),
            bind_group_layouts: self.groups,
            immediate_size: 0,
        });
        let topology = if self.strip {
            wgpu::PrimitiveTopology::TriangleStrip
        } else {
            wgpu::PrimitiveTopology::TriangleList
        };
        let targets: Vec<_> = self
            .format
            .iter()
            .map(|&format| {
                Some(wgpu::ColorTargetState {
                    format,
                    blend: self.blend,
                    write_mask: self.writes,
                })
            })
            .collect();
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(self.label),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some(self.vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: self.buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology,
                cull_mode: self.cull,
                ..Default::default()
            },
            depth_stencil: self.depth.map(|(compare, write)| wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(write),
                depth_compare: Some(compare),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: self.samples,
                ..Default::default()
            },
            fragment: self.fragment.map(|entry_point| wgpu::FragmentState {
                module: self.module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

pub(super) const POSITION: &[wgpu::VertexAttribute] = &vertex_attr_array![0 => Float32x3];

pub(super) const NORMAL: &[wgpu::VertexAttribute] = &vertex_attr_array![1 => Float32x3];

pub(super) const TEX_COORD: &[wgpu::VertexAttribute] = &vertex_attr_array![2 => Float32x2];

pub(super) const COLOR: &[wgpu::VertexAttribute] = &vertex_attr_array![3 => Unorm8x4];

pub(super) const LINE: &[wgpu::VertexAttribute] =
    &vertex_attr_array![0 => Float32x3, 1 => Float32, 2 => Float32x3, 3 => Unorm8x4];

pub(super) const COLOR_VERTEX: &[wgpu::VertexAttribute] =
    &vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Unorm8x4];

pub(super) fn per_vertex(
    array_stride: usize,
    attributes: &[wgpu::VertexAttribute],
) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout {
        array_stride: array_stride as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    }
}
