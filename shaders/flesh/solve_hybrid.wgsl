// A row of the hybrid matrix times a vector that `operand` gives, and sums over workgroups. Every pass that includes this defines
// `operand(row) -> vec3<f32>` and sets `first_vector`, where the vectors of its instance begin.

struct HybridDims {
    // Unknowns, and the stride between instances in b and x.
    rows: u32,
    row_stride: u32,
    // Padded rows: the stride between columns of the ELL part and between instances of the vectors.
    stride: u32,
    // Entries of a row in ELL format.
    width: u32,
    // Start of the CRS part in `entries`.
    rest: u32,
    // Workgroups of an instance.
    groups: u32,
    // Stop when the squared residual falls below this fraction of the initial one.
    tolerance2: f32,
    unused: u32,
}

const THREADS: u32 = 128u;
const CHUNK: u32 = 256u;
// Statistics of an instance after the sums of its workgroups: `SolveProgress` as vectors.
const PROGRESS: u32 = 3u;

@group(0) @binding(0) var<uniform> dims: HybridDims;
// Column, and the bits of the value.
@group(0) @binding(1) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;

var<workgroup> scratch: array<vec4<f32>, CHUNK>;
var<workgroup> partial: array<f32, THREADS>;
var<workgroup> totals: array<f32, 8>;
// Begin and end of the remaining entries of the workgroup's rows.
var<workgroup> range: vec2<u32>;
var<private> first_vector: u32;

fn diagonal(row: u32) -> f32 {
    return bitcast<f32>(entries[row].y);
}

fn times(e: vec2<u32>) -> vec3<f32> {
    return bitcast<f32>(e.y) * operand(e.x);
}

// Must be called by all threads of the workgroup, whose first row is `first`.
fn product(row: u32, thread: u32, first: u32) -> vec3<f32> {
    var sum = vec3<f32>();
    for (var k = 0u; k < dims.width; k++) {
        sum += times(entries[k * dims.stride + row]);
    }
    // Uniform over the workgroup, declared so because of the barriers between.
    if thread == 0u {
        range = vec2<u32>(starts[first], starts[first + THREADS]);
    }
    let whole = workgroupUniformLoad(&range);
    let end = whole.y;
    let own = vec2<u32>(starts[row], starts[row + 1u]);
    for (var chunk = whole.x; chunk < end; chunk += CHUNK) {
        workgroupBarrier();
        for (var k = thread; k < min(CHUNK, end - chunk); k += THREADS) {
            scratch[k] = vec4<f32>(times(entries[dims.rest + chunk + k]), 0.0);
        }
        workgroupBarrier();
        for (var k = max(own.x, chunk); k < min(own.y, chunk + CHUNK); k++) {
            sum += scratch[k - chunk].xyz;
        }
    }
    return sum;
}

struct Sums {
    // At the start of a solve also the square of the reference residual.
    gamma: vec4<f32>,
    delta: vec3<f32>,
}

// Sums over all threads of the workgroup, for each component: eight components in sixteen pieces of eight threads.
fn total(thread: u32, gamma: vec4<f32>, delta: vec3<f32>) -> Sums {
    workgroupBarrier();
    scratch[thread] = gamma;
    scratch[THREADS + thread] = vec4<f32>(delta, 0.0);
    workgroupBarrier();
    let component = thread / 16u;
    let piece = THREADS * (component / 4u) + 8u * (thread % 16u);
    var sum = 0.0;
    for (var k = 0u; k < 8u; k++) {
        sum += scratch[piece + k][component % 4u];
    }
    partial[thread] = sum;
    workgroupBarrier();
    if thread < 8u {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k++) {
            sum += partial[16u * thread + k];
        }
        totals[thread] = sum;
    }
    workgroupBarrier();
    return Sums(vec4<f32>(totals[0], totals[1], totals[2], totals[3]), vec3<f32>(totals[4], totals[5], totals[6]));
}

// Start of an instance's sums.
fn sums_of(instance: u32) -> u32 {
    return instance * (2u * dims.groups + PROGRESS);
}
