// Contact forces: the complementarity problem of `dynamics/contact_equations.rs`, solved by one workgroup per instance.
//
//     A l >= b,   l >= 0,   l (A l - b) = 0,     b = target - n . sum u (x + increment)
//
// by conjugate gradients on the contacts that are active or about to be, as in `numerics/complementarity.rs`. Contact i belongs to
// thread i modulo the number of threads; per-contact values stay in registers, and only the vector of the matrix product is
// shared.

const THREADS: u32 = 256u;
const PIECES: u32 = 16u;
// Maximum number of contacts per thread.
const OWN: u32 = MOST / THREADS;
const ROUNDS: u32 = 10u;
const ITERATIONS: u32 = 80u;

@group(0) @binding(0) var<uniform> press_dims: ContactKernelDims;
@group(0) @binding(1) var<storage, read> contacts: array<KernelContact>;
@group(0) @binding(2) var<storage, read> matrix: array<f32>;
// For every instance: number of contacts, number of touched rows, tolerance (bits of an f32), unused. Then three words per
// touched row: row, first force, end of its forces. Then the forces, contact * 4 + corner.
@group(0) @binding(3) var<storage, read> spread: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> increment: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> loads: array<f32>;
@group(0) @binding(7) var<storage, read_write> b: array<vec4<f32>>;
// Contact energy of each instance at x.
@group(0) @binding(8) var<storage, read_write> energies: array<f32>;

var<workgroup> multiplied: array<f32, MOST>;
var<workgroup> partial: array<vec2<f32>, THREADS>;
var<workgroup> pieces: array<vec2<f32>, PIECES>;
var<workgroup> reduced: vec2<f32>;

var<private> thread: u32;
var<private> count: u32;
// First contact and first matrix entry of the instance.
var<private> first_contact: u32;
var<private> first_entry: u32;
// State of the thread's own contacts.
var<private> value: array<f32, OWN>;
var<private> wanted: array<f32, OWN>;
var<private> residual: array<f32, OWN>;
var<private> direction: array<f32, OWN>;
var<private> image: array<f32, OWN>;
var<private> per_diagonal: array<f32, OWN>;
var<private> is_free: array<bool, OWN>;

// The sum of the first values of all threads and the maximum of the second ones: reduced from 256 to 16 to one, to save
// barriers.
fn over_all(own: vec2<f32>) -> vec2<f32> {
    partial[thread] = own;
    workgroupBarrier();
    if thread < PIECES {
        var piece = partial[thread];
        for (var k = PIECES; k < THREADS; k += PIECES) {
            piece = joined(piece, partial[thread + k]);
        }
        pieces[thread] = piece;
    }
    workgroupBarrier();
    if thread == 0u {
        var all = pieces[0];
        for (var k = 1u; k < PIECES; k++) {
            all = joined(all, pieces[k]);
        }
        reduced = all;
    }
    return workgroupUniformLoad(&reduced);
}

fn joined(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2(a.x + b.x, max(a.y, b.y));
}

fn sum(own: f32) -> f32 {
    return over_all(vec2(own, 0.0)).x;
}

fn largest(own: f32) -> f32 {
    return over_all(vec2(0.0, own)).y;
}

// Four entries of a row of the matrix.
fn entries(contact: u32, j: u32) -> vec4<f32> {
    let at = first_entry + j * count + contact;
    return vec4(matrix[at], matrix[at + count], matrix[at + 2u * count], matrix[at + 3u * count]);
}

fn factors(j: u32) -> vec4<f32> {
    return vec4(multiplied[j], multiplied[j + 1u], multiplied[j + 2u], multiplied[j + 3u]);
}

// A row of the matrix times the shared vector; the matrix is symmetric, so columns are read instead, which are coalesced.
fn product(contact: u32) -> f32 {
    var a = vec4(0.0);
    var b = vec4(0.0);
    var c = vec4(0.0);
    var d = vec4(0.0);
    var j = 0u;
    // Sixteen reads at a time: what takes long is to wait for them.
    for (; j + 16u <= count; j += 16u) {
        let own_a = entries(contact, j);
        let own_b = entries(contact, j + 4u);
        let own_c = entries(contact, j + 8u);
        let own_d = entries(contact, j + 12u);
        a = fma(own_a, factors(j), a);
        b = fma(own_b, factors(j + 4u), b);
        c = fma(own_c, factors(j + 8u), c);
        d = fma(own_d, factors(j + 12u), d);
    }
    for (; j + 4u <= count; j += 4u) {
        a = fma(entries(contact, j), factors(j), a);
    }
    let sums = (a + b) + (c + d);
    var result = (sums.x + sums.y) + (sums.z + sums.w);
    for (; j < count; j++) {
        result = fma(matrix[first_entry + j * count + contact], multiplied[j], result);
    }
    return result;
}

// Distance of a contact to its target, and its energy before the increment.
fn violation(contact: KernelContact, offset: u32) -> vec2<f32> {
    var gap = vec3(0.0);
    var change = vec3(0.0);
    for (var k = 0u; k < 4u; k++) {
        let row = offset + contact.rows[k];
        gap += contact.weights[k] * x[row].xyz;
        change += contact.weights[k] * increment[row].xyz;
    }
    let missing = contact.normal_target.w - dot(contact.normal_target.xyz, gap) - dot(contact.normal_target.xyz, change);
    return vec2(missing, contact_energy(contact, gap));
}

// Largest residual of the thread's active contacts.
fn own_worst() -> f32 {
    var most = 0.0;
    for (var k = 0u; k < OWN; k++) {
        if is_free[k] {
            most = max(most, abs(residual[k]));
        }
    }
    return most;
}

// Residuals at the current loads, and the active set.
fn restart() {
    for (var k = 0u; k < OWN; k++) {
        let i = thread + k * THREADS;
        if i < count {
            multiplied[i] = value[k];
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < OWN; k++) {
        let i = thread + k * THREADS;
        is_free[k] = false;
        if i < count {
            residual[k] = wanted[k] - product(i);
            is_free[k] = value[k] > 0.0 || residual[k] > 0.0;
        }
    }
}

fn descend(tolerance: f32) {
    var own = 0.0;
    for (var k = 0u; k < OWN; k++) {
        direction[k] = select(0.0, residual[k] * per_diagonal[k], is_free[k]);
        own += direction[k] * residual[k];
    }
    var rz = sum(own);
    for (var iteration = 0u; iteration < ITERATIONS; iteration++) {
        for (var k = 0u; k < OWN; k++) {
            let i = thread + k * THREADS;
            if i < count {
                multiplied[i] = direction[k];
            }
        }
        workgroupBarrier();
        own = 0.0;
        for (var k = 0u; k < OWN; k++) {
            let i = thread + k * THREADS;
            image[k] = 0.0;
            if i < count {
                image[k] = product(i);
                own += direction[k] * image[k];
            }
        }
        let curvature = sum(own);
        if curvature <= 0.0 || !is_finite(curvature) {
            return;
        }
        let alpha = rz / curvature;
        own = 0.0;
        for (var k = 0u; k < OWN; k++) {
            value[k] += alpha * direction[k];
            residual[k] -= alpha * image[k];
            if is_free[k] {
                own += residual[k] * residual[k] * per_diagonal[k];
            }
        }
        let left = over_all(vec2(own, own_worst()));
        if left.y <= 0.5 * tolerance {
            return;
        }
        let next = left.x;
        let beta = next / rz;
        rz = next;
        for (var k = 0u; k < OWN; k++) {
            direction[k] = select(0.0, residual[k] * per_diagonal[k], is_free[k]) + beta * direction[k];
        }
    }
}

// Removes contacts with negative force. Returns whether any was removed, or any inactive one must become active.
fn sort_out(tolerance: f32) -> bool {
    var again = 0.0;
    for (var k = 0u; k < OWN; k++) {
        let i = thread + k * THREADS;
        if i < count {
            if value[k] < 0.0 || (!is_free[k] && residual[k] > tolerance) {
                again = 1.0;
            }
            value[k] = max(value[k], 0.0);
        }
    }
    return largest(again) > 0.0;
}

@compute @workgroup_size(256)
fn press(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>) {
    thread = index;
    let instance = group.y;
    let header = instance * press_dims.spread_stride;
    // Uniform across the workgroup, as the barriers below require.
    if thread == 0u {
        reduced = vec2(bitcast<f32>(spread[header + 2u]), 0.0);
    }
    let tolerance = workgroupUniformLoad(&reduced).x;
    let offset = instance * press_dims.row_stride;
    count = min(spread[header], MOST);
    first_contact = instance * press_dims.contact_stride;
    first_entry = instance * press_dims.matrix_stride;
    var energy = 0.0;
    for (var k = 0u; k < OWN; k++) {
        let i = thread + k * THREADS;
        if i < count {
            let missing = violation(contacts[first_contact + i], offset);
            wanted[k] = missing.x;
            energy += missing.y;
            value[k] = max(loads[first_contact + i], 0.0);
            per_diagonal[k] = 1.0 / matrix[first_entry + i * count + i];
        }
    }
    energy = sum(energy);
    if thread == 0u {
        energies[instance] = energy;
    }
    for (var round = 0u; round < ROUNDS; round++) {
        restart();
        if largest(own_worst()) <= tolerance {
            break;
        }
        descend(tolerance);
        if !sort_out(tolerance) {
            break;
        }
    }
    for (var k = 0u; k < OWN; k++) {
        let i = thread + k * THREADS;
        if i < count {
            // A non-finite force is set to zero.
            let load = select(0.0, value[k], value[k] > 0.0 && is_finite(value[k]));
            multiplied[i] = load;
            loads[first_contact + i] = load;
        }
    }
    workgroupBarrier();
    let touched = spread[header + 1u];
    for (var t = thread; t < touched; t += THREADS) {
        let at = header + HEADER + 3u * t;
        var force = vec3(0.0);
        for (var p = spread[at + 1u]; p < spread[at + 2u]; p++) {
            let push = spread[header + p];
            let contact = contacts[first_contact + push / 4u];
            force += contact.normal_target.xyz * (contact.weights[push % 4u] * multiplied[push / 4u]);
        }
        b[offset + spread[at]] += vec4(force, 0.0);
    }
}
