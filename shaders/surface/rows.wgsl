// Passes over simulated rows that come before the source vertices are placed.

@group(0) @binding(1) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> moved: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> velocities: array<vec4<f32>>;
// Of every instance: seconds of simulated time since its last step.
@group(0) @binding(4) var<storage, read> ahead: array<f32>;

// Between two steps the skin goes on as it went.
@compute @workgroup_size(64)
fn extrapolate(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let at = id.y * dims.row_stride + id.x;
    moved[at] = rows[at] + velocities[at] * ahead[id.y];
}

// Of every row the begin and end of the triangles around it.
@group(0) @binding(5) var<storage, read> around: array<vec2<u32>>;
// Rows of their corners.
@group(0) @binding(6) var<storage, read> corners: array<u32>;

fn corner_at(instance: u32, corner: u32) -> vec3<f32> {
    return rows[instance * dims.row_stride + corners[corner]].xyz;
}

// Vertex normals of the simulated mesh, area-weighted.
@compute @workgroup_size(64)
fn row_normals(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let own = around[id.x];
    moved[id.y * dims.row_stride + id.x] = vec4(normal_around(id.y, own.x, own.y), 0.0);
}
