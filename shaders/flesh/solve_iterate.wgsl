// One iteration of conjugate gradients (Chronopoulos, Gear) in one pass. The vectors of the previous pass are complete, its
// scalar products are stored as one sum per workgroup: each workgroup adds all of them up, and computes the new û of its
// neighbours itself.
//
// A row of the vectors is (û, p.x), (ŵ, p.y), (ŝ, p.z).
// Progress of an instance: (α, 1 if it has stopped), (γ, (b, D⁻¹b)), (iterations, γ over that, -, -).

@group(0) @binding(3) var<storage, read> before: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> after: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> increment: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> sums_before: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> sums_after: array<vec4<f32>>;

var<workgroup> stopped: u32;
var<private> alpha: vec3<f32>;
var<private> beta: vec3<f32>;

fn operand(row: u32) -> vec3<f32> {
    let vector = first_vector + 3u * row;
    return before[vector].xyz - alpha * (before[vector + 1u].xyz + beta * before[vector + 2u].xyz);
}

// a / b, and 0 where b is not positive.
fn quotient(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let positive = b > vec3<f32>();
    return select(vec3<f32>(), a / select(vec3<f32>(1.0), b, positive), positive);
}

// The sums of all workgroups of the previous pass.
fn gather(place: u32, thread: u32) -> Sums {
    var gamma = vec4<f32>();
    var delta = vec3<f32>();
    for (var k = thread; k < dims.groups; k += THREADS) {
        gamma += sums_before[place + 2u * k];
        delta += sums_before[place + 2u * k + 1u].xyz;
    }
    return total(thread, gamma, delta);
}

@compute @workgroup_size(THREADS)
fn iterate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let instance = group.y;
    let place = sums_of(instance);
    let progress = place + 2u * dims.groups;
    let writes_progress = group.x == 0u && thread == 0u;
    let last_alpha = sums_before[progress];
    let last_gamma = sums_before[progress + 1u];
    let done = sums_before[progress + 2u];
    // Uniform over the workgroup, declared so for the compiler.
    if thread == 0u {
        stopped = select(0u, 1u, last_alpha.w > 0.0);
    }
    if workgroupUniformLoad(&stopped) != 0u {
        if writes_progress {
            sums_after[progress] = last_alpha;
            sums_after[progress + 1u] = last_gamma;
            sums_after[progress + 2u] = done;
        }
        return;
    }
    let sums = gather(place, thread);
    let whole = sums.gamma.x + sums.gamma.y + sums.gamma.z;
    let start = select(last_gamma.w, sums.gamma.w, done.x == 0.0);
    let stops = whole <= dims.tolerance2 * start;
    beta = quotient(sums.gamma.xyz, last_gamma.xyz);
    alpha = quotient(sums.gamma.xyz, sums.delta - quotient(beta * sums.gamma.xyz, last_alpha.xyz));
    if writes_progress {
        sums_after[progress] = vec4<f32>(alpha, select(0.0, 1.0, stops));
        sums_after[progress + 1u] = vec4<f32>(sums.gamma.xyz, start);
        sums_after[progress + 2u] = vec4<f32>(done.x + select(1.0, 0.0, stops), whole / max(start, 1e-30), 0.0, 0.0);
    }
    if thread == 0u {
        stopped = select(0u, 1u, stops);
    }
    if workgroupUniformLoad(&stopped) != 0u {
        return;
    }
    first_vector = 3u * instance * dims.stride;
    let first = group.x * THREADS;
    let row = first + thread;
    let w = product(row, thread, first);
    var gamma = vec4<f32>();
    var delta = vec3<f32>();
    if row < dims.rows {
        let vector = first_vector + 3u * row;
        let a = before[vector];
        let b = before[vector + 1u];
        let c = before[vector + 2u];
        let p = a.xyz + beta * vec3<f32>(a.w, b.w, c.w);
        let s = b.xyz + beta * c.xyz;
        let u = a.xyz - alpha * s;
        let d = diagonal(row);
        after[vector] = vec4<f32>(u, p.x);
        after[vector + 1u] = vec4<f32>(w / d, p.y);
        after[vector + 2u] = vec4<f32>(s, p.z);
        let place = instance * dims.row_stride + row;
        increment[place] += vec4<f32>(alpha * p, 0.0);
        gamma = vec4<f32>(d * u * u, 0.0);
        delta = w * u;
    }
    let next = total(thread, gamma, delta);
    if thread == 0u {
        sums_after[place + 2u * group.x] = next.gamma;
        sums_after[place + 2u * group.x + 1u] = vec4<f32>(next.delta, 0.0);
    }
}
