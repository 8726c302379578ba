// The inverse of the system's matrix, by columns: the solver is given unit vectors, three columns an instance.
struct ColumnDims {
    rows: u32,
    row_stride: u32,
    // First column of this batch, and instances of the solver.
    first: u32,
    instances: u32,
}

@group(0) @binding(0) var<uniform> dims: ColumnDims;
@group(0) @binding(1) var<storage, read_write> units: array<vec4f>;
@group(0) @binding(2) var<storage, read> solved: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> inverse: array<f32>;

@compute @workgroup_size(64)
fn write_units(@builtin(global_invocation_id) id: vec3u) {
    if id.x < dims.row_stride {
        let first = dims.first + 3u * id.y;
        units[id.y * dims.row_stride + id.x] = vec4f(select(vec3f(), vec3f(1.0), vec3u(id.x) == vec3u(first, first + 1u, first + 2u)), 0.0);
    }
}

@compute @workgroup_size(64)
fn take_columns(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= dims.rows {
        return;
    }
    let first = dims.first + 3u * id.y;
    let values = solved[id.y * dims.row_stride + id.x];
    for (var k = 0u; k < 3u; k++) {
        if first + k < dims.rows {
            inverse[(first + k) * dims.rows + id.x] = values[k];
        }
    }
}
