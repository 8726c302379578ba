// A matrix in lines times vectors. A workgroup multiplies the groups of a batch, each with the same number of threads;
// sixteen adjacent threads read a line. One read of the vector serves four rows, one read of the matrix one instance or
// four.

struct LineGroup {
    row: u32,
    rows: u32,
    line: u32,
    block: u32,
    blocks: u32,
}

struct LineBatch {
    first: u32,
    groups: u32,
    threads: u32,
}

@group(0) @binding(2) var<storage, read> groups: array<LineGroup>;
@group(0) @binding(3) var<storage, read> batches: array<LineBatch>;
@group(0) @binding(4) var<storage, read> blocks: array<u32>;
@group(0) @binding(5) var<storage, read> vector: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> result: array<f32>;

var<workgroup> partial: array<f32, 192>;

// A thread's share of a group: one lane of every `step`th line from `first` on.
struct Work {
    lines: LineGroup,
    lane: u32,
    first: u32,
    step: u32,
}

fn work_of(batch: LineBatch, thread: u32) -> Work {
    let lines = groups[batch.first + min(thread / batch.threads, batch.groups - 1u)];
    return Work(lines, thread % LINE, (thread % batch.threads) / LINE, batch.threads / LINE);
}

fn column(work: Work, k: u32) -> u32 {
    return LINE * blocks[work.lines.block + k] + work.lane;
}

// The values of the rows in line k; the last row is repeated if there are fewer than four.
fn values_at(work: Work, k: u32) -> vec4<f32> {
    let last = work.lines.rows - 1u;
    let line = work.lines.line + k * work.lines.rows;
    return vec4<f32>(
        values[LINE * line + work.lane],
        values[LINE * (line + min(1u, last)) + work.lane],
        values[LINE * (line + min(2u, last)) + work.lane],
        values[LINE * (line + min(3u, last)) + work.lane],
    );
}

// Sums the tiles of the threads of each group. Afterwards the threads hold the sums of component `thread / 16` (four for
// each of x, y, z) of group `thread % 16` of the batch, if it exists.
fn reduced(batch: LineBatch, thread: u32, tile: mat3x4<f32>) -> f32 {
    workgroupBarrier();
    put(thread, tile);
    workgroupBarrier();
    let component = thread / 16u;
    let piece = thread % 16u;
    if component < 12u {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k++) {
            // Each piece starts at another offset, to avoid bank conflicts.
            sum += tiles[THREADS * (component / 4u) + 16u * piece + (k + piece) % 16u][component % 4u];
        }
        partial[thread] = sum;
    }
    workgroupBarrier();
    let pieces = batch.threads / 16u;
    var sum = 0.0;
    if component < 12u && piece < batch.groups {
        for (var k = 0u; k < pieces; k++) {
            sum += partial[16u * component + pieces * piece + k];
        }
    }
    return sum;
}

fn times(v: vec4<f32>, x: vec3<f32>) -> mat3x4<f32> {
    return mat3x4<f32>(v * x.x, v * x.y, v * x.z);
}

@compute @workgroup_size(THREADS)
fn rows_one(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let batch = batches[group.x];
    let work = work_of(batch, thread);
    let instance = group.y;
    var sum = mat3x4<f32>();
    var k = work.first;
    // Two at a time, so that reads overlap.
    for (; k + work.step < work.lines.blocks; k += 2u * work.step) {
        let x = vector[place(instance, column(work, k))].xyz;
        let y = vector[place(instance, column(work, k + work.step))].xyz;
        let v = values_at(work, k);
        let w = values_at(work, k + work.step);
        sum = (sum + times(v, x)) + times(w, y);
    }
    if k < work.lines.blocks {
        sum += times(values_at(work, k), vector[place(instance, column(work, k))].xyz);
    }
    let value = reduced(batch, thread, sum);
    let component = thread / 16u;
    if component < 12u && thread % 16u < batch.groups {
        let lines = groups[batch.first + thread % 16u];
        if component % 4u < lines.rows {
            result[4u * place(instance, lines.row + component % 4u) + component / 4u] = value;
        }
    }
}

// Row `row` of four instances at a column.
fn tile_at(first: u32, row: u32) -> mat3x4<f32> {
    return transpose(mat4x3<f32>(
        vector[place(first, row)].xyz,
        vector[place(first + 1u, row)].xyz,
        vector[place(first + 2u, row)].xyz,
        vector[place(first + 3u, row)].xyz,
    ));
}

@compute @workgroup_size(THREADS)
fn rows_four(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let batch = batches[group.x];
    let work = work_of(batch, thread);
    let first = 4u * group.y;
    var a = mat3x4<f32>();
    var b = mat3x4<f32>();
    var c = mat3x4<f32>();
    var d = mat3x4<f32>();
    for (var k = work.first; k < work.lines.blocks; k += work.step) {
        let v = values_at(work, k);
        let x = tile_at(first, column(work, k));
        a += x * v.x;
        b += x * v.y;
        c += x * v.z;
        d += x * v.w;
    }
    write_four(batch, thread, first, 0u, reduced(batch, thread, a));
    write_four(batch, thread, first, 1u, reduced(batch, thread, b));
    write_four(batch, thread, first, 2u, reduced(batch, thread, c));
    write_four(batch, thread, first, 3u, reduced(batch, thread, d));
}

fn write_four(batch: LineBatch, thread: u32, first: u32, row: u32, value: f32) {
    let component = thread / 16u;
    if component < 12u && thread % 16u < batch.groups {
        let lines = groups[batch.first + thread % 16u];
        let instance = first + component % 4u;
        if row < lines.rows && instance < dims.instances {
            result[4u * place(instance, lines.row + row) + component / 4u] = value;
        }
    }
}
