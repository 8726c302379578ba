//! Surfaces on the device beside their twins on the CPU.

use std::sync::Arc;

use crate::common::moved::worst;
use sinew::dynamics::Params;
use sinew::gpu::GpuContext;
use sinew::gpu::compute::{Dispatch, storage_of};
use sinew::gpu::surface::{Simulated, Surface, SurfaceModel, row_of_vertex};
use sinew::math::{Affine, Point, Vec3};
use sinew::methods::{Actor, MethodId, Recipe, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;

/// Positions agree to this part of the size.
pub const POSITION_TOL: f32 = 1e-6;
/// Unit normals agree to this where the triangles around are no splinters.
pub const NORMAL_TOL: f32 = 1e-4;

/// Normals from the transforms of joints agree to this, rad. Both sides round in `f32`, which counts where joints nearly collapse the skin;
/// the worst seen are 5e-4 there, and 1e-5 in usual poses.
pub const BLEND_NORMAL_TOL: f32 = 1e-3;

/// How far positions by a method may be off, as a part of the size. Direct delta mush turns a vertex as flat neighbourhoods do.
pub fn position_tol(method: MethodId) -> f32 {
    if method == MethodId::DDM {
        5e-5
    } else if [MethodId::COR, MethodId::SWING_TWIST].contains(&method) {
        1e-5
    } else {
        POSITION_TOL
    }
}

/// The choices of normals that a method has; only `None` if there is no choice.
pub fn choices_of_normals(method: MethodId) -> Vec<Option<&'static str>> {
    let specs = method.descriptor().params;
    if specs.iter().any(|spec| spec.key == "normals") {
        vec![Some("exact"), Some("blended"), Some("triangles")]
    } else {
        vec![None]
    }
}

/// An actor with its default parameters.
pub fn bound(subject: &Arc<Subject>, method: MethodId) -> Actor {
    bound_with(subject, method, None)
}

/// An actor with a choice of normals.
pub fn bound_with(subject: &Arc<Subject>, method: MethodId, normals: Option<&str>) -> Actor {
    let mut values = ParamValues::default();
    if let Some(name) = normals {
        values
            .set_text(method.descriptor().params, "normals", name)
            .expect("a name");
    }
    let (physics, progress) = (Params::default(), Progress::new());
    Actor::bind_with(subject, method, &physics, &values, &progress).expect("binds")
}

/// How far normals that are made of edges may be off where both ends of each edge are off by a length.
fn add_slack_of_edges(recipe: &Recipe, off: f32, positions: &[Point], slack: &mut [f32]) {
    let edges = recipe.blend_normals.as_ref().and_then(|n| n.edges.as_ref());
    let Some(edges) = edges else { return };
    for (vertex, row) in edges.rows.iter().enumerate() {
        let [begin, end] = row.edges;
        let (mut tangents, mut shares) = ([Vec3::zeros(); 2], [0.0; 2]);
        for edge in &edges.edges[begin as usize..end as usize] {
            let along = positions[edge.to as usize] - positions[vertex];
            for k in 0..2 {
                tangents[k] += along * edge.along[k];
                shares[k] += edge.along[k].abs();
            }
        }
        let [u, v] = tangents.map(|tangent| tangent.norm());
        let across = tangents[0].cross(&tangents[1]).norm();
        slack[vertex] = 2.0 * off * (shares[0] * v + shares[1] * u) / across.max(f32::MIN_POSITIVE);
    }
}

/// One instance's input: simulated vertices and joints.
pub struct Input<'a> {
    pub simulated: &'a [Point],
    pub world_from_joint: &'a [Affine],
}

/// Positions and normals of all instances, one after the other.
pub struct Output {
    pub positions: Vec<Point>,
    pub normals: Vec<Vec3>,
    pub passes: usize,
}

/// Rows in another order than vertices.
pub fn some_rows(count: usize) -> Vec<u32> {
    row_of_vertex(&(0..count as u32).rev().collect::<Vec<_>>())
}

/// Encodes passes and submits them.
pub fn submit<'a>(gpu: &GpuContext, dispatches: impl IntoIterator<Item = &'a Dispatch>) {
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for dispatch in dispatches {
            dispatch.encode(&mut pass);
        }
    }
    gpu.queue.submit([encoder.finish()]);
}

/// Vertices of all instances by row.
pub fn upload_rows(
    gpu: &GpuContext,
    vertices: &[&[Point]],
    row_of_vertex: &[u32],
) -> (wgpu::Buffer, usize) {
    let stride = row_of_vertex.len().next_multiple_of(64);
    let mut rows = vec![[f32::NAN; 4]; stride * vertices.len()];
    for (own, vertices) in rows.chunks_mut(stride.max(1)).zip(vertices) {
        for (vertex, &row) in vertices.iter().zip(row_of_vertex) {
            own[row as usize] = [vertex.x, vertex.y, vertex.z, 0.0];
        }
    }
    (storage_of(gpu, "rows", &rows), stride)
}

/// The surface of some instances, not submitted yet.
pub fn surface(gpu: &GpuContext, recipe: Recipe, inputs: &[Input<'_>]) -> Surface {
    let rows = some_rows(recipe.simulated);
    let model = Arc::new(SurfaceModel::new(gpu, Arc::new(recipe), &rows).expect("fits the device"));
    let vertices: Vec<&[Point]> = inputs.iter().map(|input| input.simulated).collect();
    let (positions, stride) = upload_rows(gpu, &vertices, &rows);
    let simulated = Simulated {
        positions: &positions,
        velocities: None,
        stride,
    };
    let mut surface = Surface::new(
        gpu,
        &model,
        (!rows.is_empty()).then_some(simulated),
        inputs.len(),
    )
    .expect("fits the device");
    for (instance, input) in inputs.iter().enumerate() {
        surface.set_pose(instance, input.world_from_joint);
    }
    surface.upload(gpu);
    surface
}

/// Makes the surface of all instances on the device.
pub fn output(gpu: &GpuContext, recipe: Recipe, inputs: &[Input<'_>]) -> Output {
    let surface = surface(gpu, recipe, inputs);
    submit(gpu, surface.dispatches());
    let (positions, normals) = surface.fetch(gpu).expect("is read back");
    Output {
        positions,
        normals,
        passes: surface.dispatches().len(),
    }
}

/// Asserts that positions and normals are those of the CPU. A gathered normal may turn by what moves a corner against the height of its
/// triangles; `position_tol` is a part of the size.
pub fn assert_agrees(
    what: &str,
    recipe: &Recipe,
    size: f32,
    position_tol: f32,
    device: (&[Point], &[Vec3]),
    cpu: (&[Point], &[Vec3]),
) {
    let apart = worst(device.0, cpu.0) / size;
    assert!(
        apart <= position_tol,
        "{what}: positions are {apart} of the size apart"
    );
    let mut slack = vec![0.0_f32; cpu.0.len()];
    for target in &recipe.normal_targets {
        let [begin, end] = target.triangles.map(|t| t as usize);
        let (mut sum, mut edges) = (Vec3::zeros(), 0.0);
        for corners in &recipe.corners[begin..end] {
            let [a, b, c] = corners.map(|v| cpu.0[v as usize]);
            sum += (b - a).cross(&(c - a));
            edges += (b - a).norm() + (c - a).norm();
        }
        // Both ends of two edges are off by the tolerance.
        slack[target.vertex as usize] =
            4.0 * position_tol * size * edges / sum.norm().max(f32::MIN_POSITIVE);
    }
    add_slack_of_edges(recipe, position_tol * size, cpu.0, &mut slack);
    let tol = if recipe.blend_normals.is_some() {
        BLEND_NORMAL_TOL
    } else {
        NORMAL_TOL
    };
    for (vertex, ((device, cpu), slack)) in device.1.iter().zip(cpu.1).zip(slack).enumerate() {
        assert!(
            (device.norm() - 1.0).abs() < 1e-5,
            "{what}: the normal of vertex {vertex} is {device}"
        );
        let turned = (device - cpu).norm();
        assert!(
            turned <= tol + slack,
            "{what}: the normal of vertex {vertex} is off by {turned}, {device} for {cpu}"
        );
    }
}
