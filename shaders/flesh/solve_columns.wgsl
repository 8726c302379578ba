// The transpose of a matrix in lines times vectors: a workgroup computes a block of sixteen columns and loops over all lines
// in it, sixteen at a time. All threads first load the multiplied entries into workgroup memory.

// Start of each block's lines; row and line of each.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> lines: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> vector: array<vec4<f32>>;
// The vector of the top's rows, which are marked.
@group(0) @binding(5) var<storage, read> top: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> result: array<f32>;

const TOP: u32 = 0x80000000u;

var<workgroup> staged: array<u32, THREADS>;
var<workgroup> range: vec2<u32>;

// Begin and end of a block's lines: uniform over the workgroup, declared so because of the barriers in the loop.
fn lines_of(block: u32, thread: u32) -> vec2<u32> {
    if thread == 0u {
        range = vec2<u32>(starts[block], starts[block + 1u]);
    }
    return workgroupUniformLoad(&range);
}

fn factor_at(instance: u32, row: u32) -> vec3<f32> {
    if (row & TOP) != 0u {
        return top[place(instance, row & ~TOP)].xyz;
    }
    return vector[place(instance, row)].xyz;
}

fn value_at(k: u32, lane: u32) -> f32 {
    return values[LINE * staged[k] + lane];
}

@compute @workgroup_size(THREADS)
fn columns_one(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let instance = group.y;
    let lane = thread % LINE;
    let all = lines_of(group.x, thread);
    let end = all.y;
    var sum = vec3<f32>();
    for (var chunk = all.x; chunk < end; chunk += THREADS) {
        let count = min(THREADS, end - chunk);
        workgroupBarrier();
        if thread < count {
            let line = lines[chunk + thread];
            staged[thread] = line.y;
            tiles[thread] = vec4<f32>(factor_at(instance, line.x), 0.0);
        }
        workgroupBarrier();
        var k = thread / LINE;
        // Four at a time, so that reads overlap.
        for (; k + 48u < count; k += 64u) {
            let v = vec4<f32>(value_at(k, lane), value_at(k + 16u, lane), value_at(k + 32u, lane), value_at(k + 48u, lane));
            sum += v.x * tiles[k].xyz;
            sum += v.y * tiles[k + 16u].xyz;
            sum += v.z * tiles[k + 32u].xyz;
            sum += v.w * tiles[k + 48u].xyz;
        }
        for (; k < count; k += 16u) {
            sum += value_at(k, lane) * tiles[k].xyz;
        }
    }
    workgroupBarrier();
    tiles[thread] = vec4<f32>(sum, 0.0);
    workgroupBarrier();
    if thread < 48u {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k++) {
            sum += tiles[16u * k + lane][thread / 16u];
        }
        result[4u * place(instance, LINE * group.x + lane) + thread / 16u] = sum;
    }
}

@compute @workgroup_size(THREADS)
fn columns_four(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = 4u * group.y;
    let lane = thread % LINE;
    let all = lines_of(group.x, thread);
    let end = all.y;
    var sum = mat3x4<f32>();
    for (var chunk = all.x; chunk < end; chunk += THREADS) {
        let count = min(THREADS, end - chunk);
        workgroupBarrier();
        if thread < count {
            let line = lines[chunk + thread];
            staged[thread] = line.y;
            put(thread, transpose(mat4x3<f32>(
                factor_at(first, line.x),
                factor_at(first + 1u, line.x),
                factor_at(first + 2u, line.x),
                factor_at(first + 3u, line.x),
            )));
        }
        workgroupBarrier();
        for (var k = thread / LINE; k < count; k += 16u) {
            let value = value_at(k, lane);
            sum += mat3x4<f32>(value * tiles[k], value * tiles[THREADS + k], value * tiles[2u * THREADS + k]);
        }
    }
    workgroupBarrier();
    put(thread, sum);
    workgroupBarrier();
    let component = thread / 16u;
    let instance = first + component % 4u;
    if component < 12u && instance < dims.instances {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k++) {
            sum += tiles[THREADS * (component / 4u) + 16u * k + lane][component % 4u];
        }
        result[4u * place(instance, LINE * group.x + lane) + component / 4u] = sum;
    }
}
