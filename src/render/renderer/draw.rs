//! Draw calls of the passes.

use super::passes::{depth_attachment, depth_pass, picture_attachment, plain_attachment};
use super::skins::DepthViewpoint;
use super::{FRONT_RANGE, OverlayRanges, PixelColumns, Renderer};
use crate::render::camera::Camera;
use crate::render::overlay::OverlayLayer;
use crate::render::scene::{MeshDraw, Scene};
use crate::render::target::RenderTarget;

impl Renderer {
    pub(super) fn draw_occlusion(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &RenderTarget,
        meshes: &[&MeshDraw<'_>],
        camera: &Camera,
        scene: &Scene<'_>,
    ) {
        {
            let mut pass = depth_pass(encoder, "depth", &target.views.eye_depth);
            self.draw_depth(&mut pass, target, DepthViewpoint::FromEye, meshes);
            if scene
                .ground
                .is_some_and(|ground| camera.eye().coords.dot(&camera.up()) > ground.height)
            {
                pass.set_pipeline(&self.pipelines.floor_depth);
                pass.draw(0..4, 0..1);
            }
        }
        let passes = [
            (
                "occlusion",
                &target.views.rough,
                &self.pipelines.occlusion,
                &target.occlusion_group,
            ),
            (
                "occlusion blur",
                &target.views.smooth,
                &self.pipelines.blur,
                &target.blur_group,
            ),
        ];
        for (label, view, pipeline, group) in passes {
            self.draw_coarse(encoder, target, label, view, (pipeline, group));
        }
    }

    /// Clears a single-channel texture.
    #[expect(clippy::unused_self, reason = "one of the passes")]
    pub(super) fn draw_coarse(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &RenderTarget,
        label: &str,
        view: &wgpu::TextureView,
        (pipeline, group): (&wgpu::RenderPipeline, &wgpu::BindGroup),
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(label),
            color_attachments: &[Some(plain_attachment(view))],
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &target.frame_group, &[0]);
        pass.set_bind_group(1, group, &[]);
        pass.draw(0..3, 0..1);
    }

    pub(super) fn draw_picture(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &RenderTarget,
        scene: &Scene<'_>,
        (meshes, ranges): (&[&MeshDraw<'_>], &OverlayRanges),
        columns: &PixelColumns,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(picture_attachment(&target.views, columns))],
            depth_stencil_attachment: Some(depth_attachment(
                &target.views.depth,
                wgpu::StoreOp::Discard,
            )),
            ..Default::default()
        });
        let [width, height] = target.size().map(|s| s as f32);
        pass.set_viewport(0.0, 0.0, width, height, FRONT_RANGE, 1.0);
        let [_, rows] = target.size();
        pass.set_scissor_rect(
            columns.range.start,
            0,
            columns.range.end - columns.range.start,
            rows,
        );
        pass.set_bind_group(0, &target.frame_group, &[0]);
        pass.set_bind_group(1, &target.light_group, &[]);
        if scene.background.visible {
            pass.set_pipeline(&self.pipelines.background);
            pass.draw(0..3, 0..1);
        }
        self.draw_skins(&mut pass, target, meshes, false);
        self.draw_layer(&mut pass, target, ranges, OverlayLayer::Solid);
        if scene.ground.is_some() {
            pass.set_pipeline(&self.pipelines.ground);
            pass.set_bind_group(0, &target.frame_group, &[0]);
            pass.set_bind_group(1, &target.light_group, &[]);
            pass.draw(0..4, 0..1);
        }
        self.draw_skins(&mut pass, target, meshes, true);
        self.draw_layer(&mut pass, target, ranges, OverlayLayer::Glass);
        pass.set_viewport(0.0, 0.0, width, height, 0.0, FRONT_RANGE);
        self.draw_layer(&mut pass, target, ranges, OverlayLayer::FrontGlass);
        self.draw_layer(&mut pass, target, ranges, OverlayLayer::Front);
    }

    fn draw_layer(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        target: &RenderTarget,
        ranges: &OverlayRanges,
        layer: OverlayLayer,
    ) {
        let Some(index) = OverlayLayer::DRAW_ORDER.iter().position(|&l| l == layer) else {
            return;
        };
        let (lines, triangles) = (ranges.lines[index].clone(), ranges.triangles[index].clone());
        pass.set_bind_group(0, &target.frame_group, &[0]);
        if !triangles.is_empty() {
            let glass = matches!(layer, OverlayLayer::Glass | OverlayLayer::FrontGlass);
            pass.set_pipeline(if glass {
                &self.pipelines.glass
            } else {
                &self.pipelines.triangles
            });
            pass.set_vertex_buffer(0, target.triangles.buffer().slice(..));
            pass.draw(triangles, 0..1);
        }
        if !lines.is_empty() {
            pass.set_pipeline(&self.pipelines.lines);
            pass.set_vertex_buffer(0, target.lines.buffer().slice(..));
            pass.draw(0..4, lines);
        }
    }
}
