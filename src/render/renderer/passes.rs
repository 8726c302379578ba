//! Render passes and their attachments.

use super::PixelColumns;
use crate::render::target::AttachmentViews;

pub(super) fn depth_pass<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    label: &str,
    view: &wgpu::TextureView,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        depth_stencil_attachment: Some(depth_attachment(view, wgpu::StoreOp::Store)),
        ..Default::default()
    })
}

pub(super) fn depth_attachment(
    view: &wgpu::TextureView,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations {
            load: wgpu::LoadOp::Clear(1.0),
            store,
        }),
        stencil_ops: None,
    }
}

pub(super) fn plain_attachment(view: &wgpu::TextureView) -> wgpu::RenderPassColorAttachment<'_> {
    let ops = wgpu::Operations {
        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
        store: wgpu::StoreOp::Store,
    };
    wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops,
    }
}

pub(super) fn picture_attachment<'v>(
    views: &'v AttachmentViews,
    columns: &PixelColumns,
) -> wgpu::RenderPassColorAttachment<'v> {
    let load = if columns.first {
        wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT)
    } else {
        wgpu::LoadOp::Load
    };
    // Resolved attachments need not be stored.
    let (resolved, store) = if columns.last {
        (Some(&views.resolved), wgpu::StoreOp::Discard)
    } else {
        (None, wgpu::StoreOp::Store)
    };
    let ops = wgpu::Operations { load, store };
    wgpu::RenderPassColorAttachment {
        view: &views.multisampled,
        depth_slice: None,
        resolve_target: resolved,
        ops,
    }
}
