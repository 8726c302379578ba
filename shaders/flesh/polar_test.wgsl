// The closest rotations of many matrices, for tests: nine numbers each, column by column.
@group(0) @binding(0) var<storage, read> matrices: array<f32>;
@group(0) @binding(1) var<storage, read_write> results: array<f32>;

@compute @workgroup_size(64)
fn closest_rotations(@builtin(global_invocation_id) id: vec3u) {
    let first = id.x * 9u;
    if first + 9u > arrayLength(&matrices) {
        return;
    }
    var f: mat3x3f;
    for (var k = 0u; k < 3u; k++) {
        f[k] = vec3f(matrices[first + 3u * k], matrices[first + 3u * k + 1u], matrices[first + 3u * k + 2u]);
    }
    let r = closest_rotation(f);
    for (var k = 0u; k < 3u; k++) {
        results[first + 3u * k] = r[k].x;
        results[first + 3u * k + 1u] = r[k].y;
        results[first + 3u * k + 2u] = r[k].z;
    }
}
