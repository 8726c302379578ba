//! Meshes in a pass: colour and depth.

use std::ops::Range;

use super::Renderer;
use crate::render::mesh::MeshFrame;
use crate::render::pipelines::{CrowdPipelines, DepthPipelines, SkinPipelines};
use crate::render::scene::MeshDraw;
use crate::render::target::{RenderTarget, style_stride};

/// Viewpoint of a depth pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum DepthViewpoint {
    FromLight,
    FromEye,
}

impl Renderer {
    /// Draws the opaque parts of all meshes, or the transparent ones.
    pub(super) fn draw_skins(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        target: &RenderTarget,
        meshes: &[&MeshDraw<'_>],
        blended: bool,
    ) {
        let stride = style_stride(&self.gpu);
        for (slot, draw) in (0..).zip(meshes) {
            pass.set_bind_group(0, &target.frame_group, &[slot * stride]);
            pass.set_bind_group(1, &target.light_group, &[]);
            let all = draw.style.opacity < 1.0;
            let chosen: Vec<_> = (draw.mesh.model().parts.iter())
                .filter(|part| !part.indices.is_empty())
                .filter(|part| {
                    blended
                        == (all
                            || draw.style.materials
                                && draw.mesh.model().materials[part.material].blended)
                })
                .map(|part| {
                    (
                        part.indices.clone(),
                        &draw.mesh.model().materials[part.material].bind_group,
                    )
                })
                .collect();
            if !chosen.is_empty() {
                self.draw_skin(pass, draw, &chosen, blended);
            }
        }
    }

    /// Draws the material ranges of one mesh.
    fn draw_skin(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: &MeshDraw<'_>,
        parts: &[(Range<u32>, &wgpu::BindGroup)],
        blended: bool,
    ) {
        let mesh = draw.mesh;
        let pipelines = self.skin_pipelines(mesh);
        bind_vertices(pass, draw);
        if blended {
            pass.set_pipeline(&pipelines.mask);
            bind_crowd(pass, mesh, 3);
            for (indices, material) in parts {
                pass.set_bind_group(2, *material, &[]);
                draw_instances(pass, mesh, indices, true);
            }
        }
        let colored = draw
            .style
            .wireframe
            .and(draw.colors)
            .and_then(|colors| mesh.edges_with(self, colors.buffer.buffer()));
        let edges = draw
            .style
            .wireframe
            .and(colored.as_ref().or(mesh.edges.as_ref()))
            .zip(self.pipelines.skin.edges.as_ref());
        if let Some((group, pipelines)) = edges {
            pass.set_pipeline(&pipelines[usize::from(blended)]);
            pass.set_bind_group(3, group, &[]);
        } else {
            pass.set_pipeline(if blended {
                &pipelines.blended
            } else {
                &pipelines.solid
            });
            bind_crowd(pass, mesh, 3);
        }
        for (indices, material) in parts {
            pass.set_bind_group(2, *material, &[]);
            if edges.is_some() {
                pass.draw(indices.clone(), mesh.instances());
            } else {
                draw_instances(pass, mesh, indices, true);
            }
        }
    }

    /// Draws only the depth of all meshes.
    pub(super) fn draw_depth(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        target: &RenderTarget,
        seen: DepthViewpoint,
        meshes: &[&MeshDraw<'_>],
    ) {
        pass.set_bind_group(0, &target.frame_group, &[0]);
        for draw in meshes {
            let (mesh, model) = (draw.mesh, draw.mesh.model());
            let pipelines = self.depth_pipelines(mesh, seen);
            pass.set_vertex_buffer(0, mesh.vertices_of(mesh.instances().start)[0]);
            pass.set_vertex_buffer(1, model.tex_coords.slice(..));
            pass.set_index_buffer(model.indices.slice(..), wgpu::IndexFormat::Uint32);
            for part in model.parts.iter().filter(|part| !part.indices.is_empty()) {
                let material = &model.materials[part.material];
                if material.blended && draw.style.materials {
                    continue;
                }
                let has_holes = material.cutout && draw.style.materials;
                pass.set_pipeline(if has_holes {
                    &pipelines.cutout
                } else {
                    &pipelines.solid
                });
                if has_holes || mesh.crowd().is_some() {
                    pass.set_bind_group(1, &material.bind_group, &[]);
                }
                bind_crowd(pass, mesh, 2);
                draw_instances(pass, mesh, &part.indices, false);
            }
        }
    }

    /// The pipelines for many instances, if the mesh has many.
    fn crowd_pipelines(&self, mesh: &MeshFrame) -> Option<&CrowdPipelines> {
        mesh.crowd()?;
        self.crowd
            .get_or_init(|| CrowdPipelines::new(&self.gpu.device, &self.layouts))
            .as_ref()
    }

    fn skin_pipelines(&self, mesh: &MeshFrame) -> &SkinPipelines {
        self.crowd_pipelines(mesh)
            .map_or(&self.pipelines.skin, |crowd| &crowd.skin)
    }

    fn depth_pipelines(&self, mesh: &MeshFrame, seen: DepthViewpoint) -> &DepthPipelines {
        match (seen, self.crowd_pipelines(mesh)) {
            (DepthViewpoint::FromLight, None) => &self.pipelines.shadow,
            (DepthViewpoint::FromEye, None) => &self.pipelines.eye_depth,
            (DepthViewpoint::FromLight, Some(crowd)) => &crowd.shadow,
            (DepthViewpoint::FromEye, Some(crowd)) => &crowd.eye_depth,
        }
    }
}

/// Binds the vertex buffers of the first instance.
fn bind_vertices(pass: &mut wgpu::RenderPass<'_>, draw: &MeshDraw<'_>) {
    let mesh = draw.mesh;
    let colors = draw
        .colors
        .map_or(&mesh.model().no_colors, |colors| colors.buffer.buffer());
    let [positions, normals] = mesh.vertices_of(mesh.instances().start);
    pass.set_vertex_buffer(0, positions);
    pass.set_vertex_buffer(1, normals);
    pass.set_vertex_buffer(2, mesh.model().tex_coords.slice(..));
    pass.set_vertex_buffer(3, colors.slice(..));
    pass.set_index_buffer(mesh.model().indices.slice(..), wgpu::IndexFormat::Uint32);
}

/// The storage buffers of positions and normals for the crowd pipelines.
fn bind_crowd(pass: &mut wgpu::RenderPass<'_>, mesh: &MeshFrame, group: u32) {
    if let Some(crowd) = mesh.crowd() {
        pass.set_bind_group(group, crowd, &[]);
    }
}

/// Draws triangles of all instances: in one draw call or, if vertex shaders cannot read storage
/// buffers, one after the other. The first one is already bound.
fn draw_instances(
    pass: &mut wgpu::RenderPass<'_>,
    mesh: &MeshFrame,
    indices: &Range<u32>,
    with_normals: bool,
) {
    let instances = mesh.instances();
    if mesh.crowd().is_some() {
        return pass.draw_indexed(indices.clone(), 0, instances);
    }
    let many = instances.len() > 1;
    for instance in instances {
        if many {
            let [positions, normals] = mesh.vertices_of(instance);
            pass.set_vertex_buffer(0, positions);
            if with_normals {
                pass.set_vertex_buffer(1, normals);
            }
        }
        pass.draw_indexed(indices.clone(), 0, 0..1);
    }
}
