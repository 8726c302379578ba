// At the accelerated iterate x + f − Σ γₖ Δ(x + f)ₖ. If its energy is higher than the last iterate's, it is rejected: the
// iteration then starts at x + f, and every row recomputes the forces of its chains. That costs three local steps, but is
// rare; separate passes would cost their latency in every iteration.
@group(0) @binding(13) var<storage, read_write> states: array<Anderson>;

// Relative increases of the energy up to this are attributed to rounding.
const ENERGY_TOLERANCE: f32 = 1e-5;

var<workgroup> rose: u32;

@compute @workgroup_size(64)
fn gather_mixed(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let row = workgroup.x * ROWS + thread;
    decide(instance, thread, workgroup.x == 0u);
    if workgroupUniformLoad(&rose) == 0u {
        if row < dims.rows {
            gather_row(instance, row, mixed_place(instance, row));
        }
        return;
    }
    var energy = 0.0;
    if row < dims.rows {
        energy = gather_anew(instance, row);
    }
    add_up(thread, energy);
    if thread == 0u {
        energies[energies_at(TAKEN_BACK, instance) + chain_groups() + workgroup.x] = energy_of[0];
    }
}

// Whether the energy increased. Every workgroup computes the sum in the same order; the first of an instance stores the
// result.
fn decide(instance: u32, thread: u32, writes: bool) {
    var energy = 0.0;
    for (var k = thread; k < energy_count(); k += ROWS) {
        energy += energies[energies_at(turn.iteration & 1u, instance) + k];
    }
    add_up(thread, energy);
    if thread == 0u {
        let own = state_at(instance, turn.iteration);
        let last = states[own].energy;
        rose = select(0u, 1u, energy_of[0] > last + ENERGY_TOLERANCE * abs(last) + motion.energy_floor);
        if rose == 1u && writes {
            states[own].rejected = 1u;
            states[own].rejected_so_far += 1u;
        }
    }
}

fn unknown_place(instance: u32, row: u32) -> vec3f {
    return plain_place(instance, row);
}

fn plain_place(instance: u32, row: u32) -> vec3f {
    return memory[remembered_at(PLAIN, instance, row)].xyz;
}

// A row with the forces of the chains around it at x + f. Returns the energy of its inertia, and of the chains whose first
// unknown it is.
fn gather_anew(instance: u32, row: u32) -> f32 {
    var pull = vec3f();
    var energy = 0.0;
    let end = link(row + 1u);
    for (var k = link(row); k < end; k++) {
        let place = link(k);
        let corner = place / dims.chain_stride;
        let of_chain = pull_on(instance, place % dims.chain_stride, corner);
        pull += of_chain.xyz;
        energy += of_chain.w;
    }
    return begin_row(instance, row, plain_place(instance, row), pull) + energy;
}

// The force of a chain on one of its points, as in the local step; and the energy of the chain, if that is its first
// unknown.
fn pull_on(instance: u32, chain: u32, corner: u32) -> vec4f {
    let group = chain / CHAINS;
    let lane = chain % CHAINS;
    var is_first = true;
    for (var point = 0u; point < corner; point++) {
        is_first = is_first && (chain_point(group, point * CHAINS + lane) & PRESCRIBED) != 0u;
    }
    var a = vec3f();
    var b = place_of(instance, chain_point(group, lane));
    var c = place_of(instance, chain_point(group, CHAINS + lane));
    var d = place_of(instance, chain_point(group, 2u * CHAINS + lane));
    // Forces along the edges to and from the point.
    var behind = vec3f();
    var ahead = vec3f();
    var energy = 0.0;
    for (var tet = 0u; tet < 3u; tet++) {
        a = b;
        b = c;
        c = d;
        d = place_of(instance, chain_point(group, (3u + tet) * CHAINS + lane));
        var own = pull_of(group, tet * CHAINS + lane, a, b, c, d);
        energy += own.energy;
        // Tet t has the edges t to t + 2.
        if tet <= corner && corner < tet + 3u {
            ahead += own.columns[corner - tet];
        }
        if tet < corner && corner <= tet + 3u {
            behind += own.columns[corner - 1u - tet];
        }
    }
    return vec4f(ahead - behind, select(0.0, energy, is_first));
}
