//! What tests of pictures draw with, and a ball to draw.

use std::sync::LazyLock;

use sinew::gpu::{self, GpuContext, GpuError};
use sinew::math::Point;
use sinew::mesh::TriMesh;
use sinew::render::{MeshFrame, MeshModel, Renderer};

use super::skip;

/// One renderer for all tests of the process; `None` skips visibly, or fails where a device is promised.
pub fn renderer() -> Option<&'static Renderer> {
    static RENDERER: LazyLock<Result<Renderer, GpuError>> =
        LazyLock::new(|| GpuContext::headless().map(|gpu| Renderer::new(&gpu)));
    match &*RENDERER {
        Ok(renderer) => Some(renderer),
        Err(error) if gpu::is_required() => panic!("SINEW_REQUIRE_GPU is set, but {error}"),
        // Each test that does nothing says so.
        Err(error) => {
            skip::skipped(error);
            None
        }
    }
}

/// A ball of radius 1 about the origin, with outward normals equal to its positions.
pub fn ball() -> TriMesh {
    const AROUND: u32 = 64;
    const DOWN: u32 = 32;
    let mut mesh = TriMesh::default();
    for i in 0..=DOWN {
        for j in 0..AROUND {
            let (theta, phi) = (
                i as f32 / DOWN as f32 * std::f32::consts::PI,
                j as f32 / AROUND as f32 * std::f32::consts::TAU,
            );
            mesh.positions.push(Point::new(
                theta.sin() * phi.sin(),
                theta.cos(),
                theta.sin() * phi.cos(),
            ));
        }
    }
    for i in 0..DOWN {
        for j in 0..AROUND {
            let (a, b) = (i * AROUND + j, i * AROUND + (j + 1) % AROUND);
            mesh.triangles.push([a, a + AROUND, b]);
            mesh.triangles.push([b, a + AROUND, b + AROUND]);
        }
    }
    mesh
}

pub fn uploaded(renderer: &Renderer, mesh: &TriMesh) -> MeshFrame {
    let model = MeshModel::of_triangles(renderer, &mesh.triangles, mesh.positions.len());
    let mut frame = MeshFrame::new(renderer, &model);
    frame.update(renderer.gpu(), &mesh.positions, &mesh.vertex_normals());
    frame
}
