// What is left of b after the increment of the last solve: b − A x.

@group(0) @binding(4) var<storage, read_write> left: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> increment: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read> b: array<vec4<f32>>;

fn operand(row: u32) -> vec3<f32> {
    return usable(increment[first_vector + row]).xyz;
}

@compute @workgroup_size(THREADS)
fn residual(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.x * THREADS;
    let row = first + thread;
    first_vector = group.y * dims.row_stride;
    let covered = product(row, thread, first);
    if row < dims.rows {
        left[first_vector + row] = vec4<f32>(b[first_vector + row].xyz - covered, 0.0);
    }
}
