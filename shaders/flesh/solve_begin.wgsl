// First pass of conjugate gradients, from zero: û = D⁻¹b, ŵ = D⁻¹Aû, and the sums of the first iteration.

@group(0) @binding(4) var<storage, read_write> after: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> increment: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> sums_after: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read> b: array<vec4<f32>>;

fn operand(row: u32) -> vec3<f32> {
    return b[first_vector + row].xyz / diagonal(row);
}

@compute @workgroup_size(THREADS)
fn begin(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let instance = group.y;
    let first = group.x * THREADS;
    let row = first + thread;
    let inside = row < dims.rows;
    first_vector = instance * dims.row_stride;
    let w = product(row, thread, first);
    var gamma = vec4<f32>();
    var delta = vec3<f32>();
    if inside {
        let u = operand(row);
        let vector = 3u * (instance * dims.stride + row);
        after[vector] = vec4<f32>(u, 0.0);
        after[vector + 1u] = vec4<f32>(w / diagonal(row), 0.0);
        after[vector + 2u] = vec4<f32>();
        let whole = b[first_vector + row].xyz;
        increment[first_vector + row] = vec4<f32>();
        gamma = vec4<f32>(diagonal(row) * u * u, dot(whole, whole) / diagonal(row));
        delta = w * u;
    }
    let sums = total(thread, gamma, delta);
    if thread == 0u {
        let place = sums_of(instance);
        sums_after[place + 2u * group.x] = sums.gamma;
        sums_after[place + 2u * group.x + 1u] = vec4<f32>(sums.delta, 0.0);
        if group.x == 0u {
            let progress = place + 2u * dims.groups;
            sums_after[progress] = vec4<f32>();
            sums_after[progress + 1u] = vec4<f32>();
            sums_after[progress + 2u] = vec4<f32>();
        }
    }
}
