// The closest rotations of many matrices, for tests: nine values each, column by column.
@group(0) @binding(0) var<storage, read> matrices: array<f32>;
@group(0) @binding(1) var<storage, read_write> results: array<f32>;

fn column_at(first: u32) -> vec3f {
    return vec3f(matrices[first], matrices[first + 1u], matrices[first + 2u]);
}

@compute @workgroup_size(64)
fn closest_rotations(@builtin(global_invocation_id) id: vec3u) {
    let first = id.x * 9u;
    if first + 9u > arrayLength(&matrices) {
        return;
    }
    let r = closest_rotation(mat3x3f(column_at(first), column_at(first + 3u), column_at(first + 6u)));
    for (var k = 0u; k < 3u; k++) {
        results[first + 3u * k] = r[k].x;
        results[first + 3u * k + 1u] = r[k].y;
        results[first + 3u * k + 2u] = r[k].z;
    }
}
