//! Meshes in a pass: what is seen of them, and their depth.

use super::Renderer;
use crate::render::pipelines::DepthPipelines;
use crate::render::scene::MeshDraw;
use crate::render::target::{Target, style_stride};

impl Renderer {
    /// The solid parts of all meshes, or the see-through ones.
    pub(super) fn draw_skins(&self, pass: &mut wgpu::RenderPass<'_>, target: &Target, meshes: &[&MeshDraw<'_>], blended: bool) {
        let stride = style_stride(&self.gpu);
        for (slot, draw) in (0..).zip(meshes) {
            pass.set_bind_group(0, &target.frame_group, &[slot * stride]);
            pass.set_bind_group(1, &target.light_group, &[]);
            let all = draw.style.opacity < 1.0;
            let chosen: Vec<_> = (draw.mesh.model().parts.iter())
                .filter(|part| !part.indices.is_empty())
                .filter(|part| blended == (all || draw.style.materials && draw.mesh.model().materials[part.material].blended))
                .map(|part| (part.indices.clone(), &draw.mesh.model().materials[part.material].bind_group))
                .collect();
            if chosen.is_empty() {
                continue;
            }
            bind_vertices(pass, draw);
            if blended {
                pass.set_pipeline(&self.pipelines.skin.mask);
                for (indices, material) in &chosen {
                    pass.set_bind_group(2, *material, &[]);
                    pass.draw_indexed(indices.clone(), 0, 0..1);
                }
            }
            let colored = draw.style.wireframe.and(draw.colors).and_then(|colors| draw.mesh.edges_with(self, colors.buffer.buffer()));
            let edges = draw.style.wireframe.and(colored.as_ref().or(draw.mesh.edges.as_ref())).zip(self.pipelines.skin.edges.as_ref());
            if let Some((group, pipelines)) = edges {
                pass.set_pipeline(&pipelines[usize::from(blended)]);
                pass.set_bind_group(3, group, &[]);
            } else {
                pass.set_pipeline(if blended { &self.pipelines.skin.blended } else { &self.pipelines.skin.solid });
            }
            for (indices, material) in chosen {
                pass.set_bind_group(2, material, &[]);
                if edges.is_some() {
                    pass.draw(indices, 0..1);
                } else {
                    pass.draw_indexed(indices, 0, 0..1);
                }
            }
        }
    }
}

/// Only the depth of all meshes.
pub(super) fn draw_depth(pass: &mut wgpu::RenderPass<'_>, target: &Target, pipelines: &DepthPipelines, meshes: &[&MeshDraw<'_>]) {
    pass.set_bind_group(0, &target.frame_group, &[0]);
    for draw in meshes {
        let model = draw.mesh.model();
        pass.set_vertex_buffer(0, draw.mesh.positions.buffer().slice(..));
        pass.set_vertex_buffer(1, model.tex_coords.slice(..));
        pass.set_index_buffer(model.indices.slice(..), wgpu::IndexFormat::Uint32);
        for part in model.parts.iter().filter(|part| !part.indices.is_empty()) {
            let material = &model.materials[part.material];
            if material.blended && draw.style.materials {
                continue;
            }
            if material.cutout && draw.style.materials {
                pass.set_pipeline(&pipelines.cutout);
                pass.set_bind_group(1, &material.bind_group, &[]);
            } else {
                pass.set_pipeline(&pipelines.solid);
            }
            pass.draw_indexed(part.indices.clone(), 0, 0..1);
        }
    }
}

fn bind_vertices(pass: &mut wgpu::RenderPass<'_>, draw: &MeshDraw<'_>) {
    let mesh = draw.mesh;
    let colors = draw.colors.map_or(&mesh.model().no_colors, |colors| colors.buffer.buffer());
    pass.set_vertex_buffer(0, mesh.positions.buffer().slice(..));
    pass.set_vertex_buffer(1, mesh.normals.buffer().slice(..));
    pass.set_vertex_buffer(2, mesh.model().tex_coords.slice(..));
    pass.set_vertex_buffer(3, colors.slice(..));
    pass.set_index_buffer(mesh.model().indices.slice(..), wgpu::IndexFormat::Uint32);
}
