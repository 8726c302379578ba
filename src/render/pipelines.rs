//! Bind group layouts and pipelines: created once.

mod params;

use self::params::{
    COLOR, COLOR_VERTEX, LINE, NORMAL, POSITION, PipelineParams, TEX_COORD, per_vertex,
};
use wgpu::{BindGroupLayout, BlendState, CompareFunction, RenderPipeline, ShaderStages};

use super::frame::{FrameUniform, StyleUniform};
use super::overlay::{ColorVertex, OverlayLine};
use super::target::OCCLUSION_FORMAT;
use crate::gpu::{GpuContext, shader};

/// Bind group layouts.
#[derive(Debug)]
pub struct Layouts {
    pub(super) frame: BindGroupLayout,
    pub(super) light: BindGroupLayout,
    pub(super) material: BindGroupLayout,
    pub(super) occlusion: BindGroupLayout,
    pub(super) blur: BindGroupLayout,
    /// `None` if vertex shaders support too few storage buffers: no wireframe then.
    pub(super) edges: Option<BindGroupLayout>,
}

/// Buffers that `vs_edges` reads.
const EDGE_BUFFERS: u32 = 5;

impl Layouts {
    pub(super) fn new(gpu: &GpuContext) -> Self {
        let both = ShaderStages::VERTEX_FRAGMENT;
        let uniform = |dynamic, size: usize| wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: dynamic,
            min_binding_size: std::num::NonZeroU64::new(size as u64),
        };
        let picture = |sample_type| wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let depth = picture(wgpu::TextureSampleType::Depth);
        let plain = picture(wgpu::TextureSampleType::Float { filterable: false });
        let filtered = picture(wgpu::TextureSampleType::Float { filterable: true });
        let storage = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let layout = |label, stages, types: &[wgpu::BindingType]| {
            let entries: Vec<_> = (0..)
                .zip(types)
                .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility: stages,
                    ty,
                    count: None,
                })
                .collect();
            gpu.device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some(label),
                    entries: &entries,
                })
        };
        let comparison = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison);
        let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let fragment = ShaderStages::FRAGMENT;
        let vertex_storage = gpu
            .adapter
            .get_downlevel_capabilities()
            .flags
            .contains(wgpu::DownlevelFlags::VERTEX_STORAGE);
        let edges = vertex_storage
            && gpu.device.limits().max_storage_buffers_per_shader_stage >= EDGE_BUFFERS;
        let sizes = (
            size_of::<FrameUniform>(),
            size_of::<StyleUniform>(),
            size_of::<super::frame::MaterialUniform>(),
        );
        Self {
            frame: layout(
                "frame",
                both,
                &[uniform(false, sizes.0), uniform(true, sizes.1)],
            ),
            light: layout(
                "light",
                fragment,
                &[depth, comparison, plain, plain, filtered, filtering],
            ),
            material: layout(
                "material",
                fragment,
                &[uniform(false, sizes.2), filtered, filtering, filtered],
            ),
            occlusion: layout("occlusion", fragment, &[plain]),
            blur: layout("occlusion blur", fragment, &[plain, plain]),
            edges: edges.then(|| {
                layout(
                    "edges",
                    ShaderStages::VERTEX,
                    &[storage; EDGE_BUFFERS as usize],
                )
            }),
        }
    }
}

/// The pipelines of a surface.
#[derive(Debug)]
pub(super) struct SkinPipelines {
    /// Opaque.
    pub solid: RenderPipeline,
    /// Transparent, after [`SkinPipelines::mask`].
    pub blended: RenderPipeline,
    /// As the two, with edges: `[solid, blended]`.
    pub edges: Option<[RenderPipeline; 2]>,
    /// Depth of the nearest layer only, so that a transparent surface does not show its own inside.
    pub mask: RenderPipeline,
}

/// Depth of all meshes from one viewpoint.
#[derive(Debug)]
pub(super) struct DepthPipelines {
    pub solid: RenderPipeline,
    pub cutout: RenderPipeline,
}

/// Every pipeline of a picture.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub background: RenderPipeline,
    pub ground: RenderPipeline,
    pub floor_shadow: RenderPipeline,
    pub skin: SkinPipelines,
    pub shadow: DepthPipelines,
    pub eye_depth: DepthPipelines,
    pub floor_depth: RenderPipeline,
    pub occlusion: RenderPipeline,
    pub blur: RenderPipeline,
    pub lines: RenderPipeline,
    /// Write depth.
    pub triangles: RenderPipeline,
    /// Without depth write, front faces only.
    pub glass: RenderPipeline,
}

/// Pipelines for many instances in one draw call: positions and normals are read from storage
/// buffers.
#[derive(Debug)]
pub(super) struct CrowdPipelines {
    pub skin: SkinPipelines,
    pub shadow: DepthPipelines,
    pub eye_depth: DepthPipelines,
}

impl CrowdPipelines {
    /// `None` if vertex shaders support too few storage buffers.
    pub(super) fn new(device: &wgpu::Device, layouts: &Layouts) -> Option<Self> {
        let pulled = layouts.edges.as_ref()?;
        let depth = shader::DEPTH.compile(device);
        let groups = [Some(&layouts.frame), Some(&layouts.material), Some(pulled)];
        let buffers = [None, Some(per_vertex(8, TEX_COORD))];
        let depth = |vertex| depth_pipelines(device, &depth, vertex, &buffers, [&groups, &groups]);
        let module = shader::SKIN.compile(device);
        let groups = [
            Some(&layouts.frame),
            Some(&layouts.light),
            Some(&layouts.material),
            Some(pulled),
        ];
        let buffers = [
            None,
            None,
            Some(per_vertex(8, TEX_COORD)),
            Some(per_vertex(4, COLOR)),
        ];
        let solid = PipelineParams {
            vertex: "vs_crowd",
            buffers: &buffers,
            ..PipelineParams::new("crowd", &module, &groups)
        };
        Some(Self {
            skin: skin_pipelines(device, &solid, None),
            shadow: depth("vs_light_crowd"),
            eye_depth: depth("vs_eye_crowd"),
        })
    }
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, layouts: &Layouts) -> Self {
        let compiled = |source: shader::ShaderSource| source.compile(device);
        let plain = [Some(&layouts.frame)];
        let lit = [Some(&layouts.frame), Some(&layouts.light)];
        let coarse = |module, label, groups| PipelineParams {
            format: Some(OCCLUSION_FORMAT),
            depth: None,
            samples: 1,
            ..PipelineParams::new(label, module, groups)
        };
        let over = Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        let (depth, triangles) = (compiled(shader::DEPTH), compiled(shader::TRIANGLES));
        let corners = [Some(per_vertex(size_of::<ColorVertex>(), COLOR_VERTEX))];
        let line = wgpu::VertexBufferLayout {
            array_stride: size_of::<OverlayLine>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: LINE,
        };
        let colored = PipelineParams {
            buffers: &corners,
            blend: over,
            ..PipelineParams::new("triangles", &triangles, &plain)
        };
        let glass = PipelineParams {
            depth: Some((CompareFunction::LessEqual, false)),
            cull: Some(wgpu::Face::Back),
            ..colored
        };
        Self {
            background: PipelineParams {
                depth: Some((CompareFunction::Always, false)),
                ..PipelineParams::new("background", &compiled(shader::BACKGROUND), &plain)
            }
            .build(device),
            ground: PipelineParams {
                strip: true,
                blend: over,
                depth: Some((CompareFunction::LessEqual, false)),
                ..PipelineParams::new("ground", &compiled(shader::GROUND), &lit)
            }
            .build(device),
            floor_shadow: coarse(
                &compiled(shader::FLOOR_SHADOW),
                "floor shadow",
                &[Some(&layouts.frame), Some(&layouts.occlusion)],
            )
            .build(device),
            skin: skin(device, layouts),
            shadow: depth_only(device, layouts, &depth, "vs_light"),
            eye_depth: depth_only(device, layouts, &depth, "vs_eye"),
            floor_depth: PipelineParams {
                vertex: "vs_floor",
                strip: true,
                fragment: None,
                format: None,
                samples: 1,
                ..PipelineParams::new("floor", &depth, &plain)
            }
            .build(device),
            occlusion: coarse(
                &compiled(shader::OCCLUSION),
                "occlusion",
                &[Some(&layouts.frame), Some(&layouts.occlusion)],
            )
            .build(device),
            blur: coarse(
                &compiled(shader::OCCLUSION_BLUR),
                "occlusion blur",
                &[Some(&layouts.frame), Some(&layouts.blur)],
            )
            .build(device),
            lines: PipelineParams {
                buffers: &[Some(line)],
                strip: true,
                blend: over,
                depth: Some((CompareFunction::LessEqual, false)),
                ..PipelineParams::new("lines", &compiled(shader::LINES), &plain)
            }
            .build(device),
            glass: glass.build(device),
            triangles: PipelineParams {
                depth: Some((CompareFunction::LessEqual, true)),
                cull: None,
                ..glass
            }
            .build(device),
        }
    }
}

fn skin(device: &wgpu::Device, layouts: &Layouts) -> SkinPipelines {
    let module = shader::SKIN.compile(device);
    let groups = [
        Some(&layouts.frame),
        Some(&layouts.light),
        Some(&layouts.material),
    ];
    let buffers = [
        per_vertex(12, POSITION),
        per_vertex(12, NORMAL),
        per_vertex(8, TEX_COORD),
        per_vertex(4, COLOR),
    ]
    .map(Some);
    let solid = PipelineParams {
        buffers: &buffers,
        ..PipelineParams::new("skin", &module, &groups)
    };
    skin_pipelines(device, &solid, layouts.edges.as_ref())
}

/// The variants of an opaque surface; with edges if there is a layout for them.
fn skin_pipelines(
    device: &wgpu::Device,
    solid: &PipelineParams<'_>,
    edges: Option<&BindGroupLayout>,
) -> SkinPipelines {
    let blended = PipelineParams {
        blend: Some(BlendState::ALPHA_BLENDING),
        ..*solid
    };
    let edges = edges.map(|layout| {
        let groups = [
            solid.groups[0],
            solid.groups[1],
            solid.groups[2],
            Some(layout),
        ];
        [*solid, blended].map(|recipe| {
            PipelineParams {
                vertex: "vs_edges",
                buffers: &[],
                groups: &groups,
                ..recipe
            }
            .build(device)
        })
    });
    SkinPipelines {
        solid: solid.build(device),
        blended: blended.build(device),
        edges,
        mask: PipelineParams {
            writes: wgpu::ColorWrites::empty(),
            ..*solid
        }
        .build(device),
    }
}

fn depth_only(
    device: &wgpu::Device,
    layouts: &Layouts,
    module: &wgpu::ShaderModule,
    vertex: &'static str,
) -> DepthPipelines {
    let buffers = [per_vertex(12, POSITION), per_vertex(8, TEX_COORD)].map(Some);
    let groups = [Some(&layouts.frame), Some(&layouts.material)];
    depth_pipelines(device, module, vertex, &buffers, [&groups[..1], &groups])
}

/// Depth of opaque surfaces and of those with alpha cutout, with the bind groups of each.
fn depth_pipelines<'a>(
    device: &wgpu::Device,
    module: &'a wgpu::ShaderModule,
    vertex: &'static str,
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    [solid, cutout]: [&'a [Option<&'a BindGroupLayout>]; 2],
) -> DepthPipelines {
    let of = |label, groups| PipelineParams {
        vertex,
        buffers,
        fragment: None,
        format: None,
        samples: 1,
        ..PipelineParams::new(label, module, groups)
    };
    DepthPipelines {
        solid: of("depth", solid).build(device),
        cutout: PipelineParams {
            fragment: Some("fs_cutout"),
            ..of("depth with holes", cutout)
        }
        .build(device),
    }
}
