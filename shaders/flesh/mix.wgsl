// The coefficients of the accelerated iterate, from the products of the last iteration: one workgroup an instance. It also decides
// whether the history is reset. GPU version of numerics/anderson.rs.
@group(0) @binding(13) var<storage, read_write> states: array<Anderson>;
@group(0) @binding(14) var<storage, read> energies: array<f32>;
// Groups of rows: partial products, four at a time.
@group(0) @binding(15) var<storage, read> sums: array<vec4f>;

override MEMORY: u32 = 3u;
const THREADS: u32 = 256u;
// Newest difference with all, all with the increment, and the increment's square.
const VECTORS: u32 = 5u;
// A residual that grows by this factor resets the history.
const GROWTH: f32 = 1.5;
// Regularisation of the normal equations, whose diagonal is scaled to 1: the rounding error of products in single precision.
const REGULARIZATION: f32 = 1e-6;

var<workgroup> products: array<vec4f, THREADS>;
var<workgroup> energy_of: array<f32, THREADS>;
var<private> gamma: array<f32, 8>;

@compute @workgroup_size(THREADS)
fn mix_iterates(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let old = state_at(instance, turn.iteration + 1u);
    add_up(instance, thread, old);
    if thread == 0u {
        mix_state(instance, old);
    }
}

// Sums the products, and the energy at the start of the last iteration.
fn add_up(instance: u32, thread: u32, old: u32) {
    let vectors = (2u * MEMORY + 4u) / 4u;
    // The vectors are distributed over threads, with equal numbers of lanes.
    let lanes = THREADS / vectors;
    let vector = thread / lanes;
    let lane = thread % lanes;
    var product = vec4f();
    if vector < vectors {
        for (var group = lane; group < row_groups(); group += lanes) {
            product += sums[(instance * row_groups() + group) * VECTORS + vector];
        }
    }
    let region = select((turn.iteration + 1u) & 1u, TAKEN_BACK, states[old].rejected == 1u);
    var energy = select(0.0, energies[instance], thread == 0u);
    for (var k = thread; k < chain_groups() + row_groups(); k += THREADS) {
        energy += energies[energies_at(region, instance) + k];
    }
    products[thread] = product;
    energy_of[thread] = energy;
    for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if lane < half && lane + half < lanes && vector < vectors {
            products[thread] += products[thread + half];
        }
        if thread < half && thread + half < THREADS {
            energy_of[thread] += energy_of[thread + half];
        }
    }
    workgroupBarrier();
}

fn product_at(k: u32) -> f32 {
    let lanes = THREADS / ((2u * MEMORY + 4u) / 4u);
    return products[(k / 4u) * lanes][k % 4u];
}

// γ = argmin ‖f − ΔF γ‖ by the normal equations, and the state of this iteration.
fn mix_state(instance: u32, old: u32) {
    let started = states[old].started == 1u;
    let forgotten = states[old].rejected == 1u;
    let slot = select(states[old].slot, 0u, forgotten);
    var count = select(states[old].count, 0u, forgotten);
    var next_slot = slot;
    let norm = sqrt(max(product_at(2u * MEMORY), 0.0));
    for (var k = 0u; k < MEMORY; k++) {
        gamma[k] = 0.0;
    }
    let misled = norm > GROWTH * states[old].norm;
    if misled {
        count = 0u;
        next_slot = 0u;
    } else if started {
        count = min(count + 1u, MEMORY);
        next_slot = (slot + 1u) % MEMORY;
        solve(old, slot, count);
    }
    let own = state_at(instance, turn.iteration);
    states[own].count = count;
    states[own].slot = next_slot;
    states[own].started = select(1u, states[old].started, misled);
    states[own].rejected = 0u;
    states[own].rejected_so_far = states[old].rejected_so_far;
    states[own].norm = norm;
    states[own].energy = energy_of[0];
    for (var i = 0u; i < MEMORY; i++) {
        states[own].gamma[i] = gamma[i];
        for (var j = 0u; j < MEMORY; j++) {
            states[own].gram[i * MAX_MEMORY + j] = gram_at(old, slot, i, j);
        }
    }
}

// ⟨Δfᵢ, Δfⱼ⟩ with the newest ones in their slot.
fn gram_at(old: u32, slot: u32, i: u32, j: u32) -> f32 {
    if i == slot {
        return product_at(j);
    }
    if j == slot {
        return product_at(i);
    }
    return states[old].gram[i * MAX_MEMORY + j];
}

// Cholesky's method on the equations scaled to a unit diagonal; γ stays 0 if there is no solution.
fn solve(old: u32, slot: u32, count: u32) {
    var l: array<array<f32, MAX_MEMORY>, MAX_MEMORY>;
    var scale: array<f32, MAX_MEMORY>;
    var y: array<f32, MAX_MEMORY>;
    for (var i = 0u; i < count; i++) {
        let own = gram_at(old, slot, i, i);
        scale[i] = select(0.0, inverseSqrt(own), own > 1e-36);
    }
    for (var i = 0u; i < count; i++) {
        var rhs = product_at(MEMORY + i) * scale[i];
        for (var j = 0u; j <= i; j++) {
            var entry = 1.0 + REGULARIZATION;
            if j < i {
                entry = gram_at(old, slot, i, j) * scale[i] * scale[j];
            }
            for (var k = 0u; k < j; k++) {
                entry -= l[i][k] * l[j][k];
            }
            if j < i {
                l[i][j] = entry / l[j][j];
                rhs -= l[i][j] * y[j];
            } else {
                if entry < 0.5 * REGULARIZATION {
                    return;
                }
                l[i][i] = sqrt(entry);
                y[i] = rhs / l[i][i];
            }
        }
    }
    for (var below = 0u; below < count; below++) {
        let i = count - 1u - below;
        for (var k = i + 1u; k < count; k++) {
            y[i] -= l[k][i] * y[k];
        }
        y[i] /= l[i][i];
    }
    for (var i = 0u; i < count; i++) {
        gamma[i] = select(0.0, y[i] * scale[i], is_finite(y[i] * scale[i]));
    }
}
