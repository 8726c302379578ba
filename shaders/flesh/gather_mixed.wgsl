// Where the acceleration goes: x + f − Σ γₖ Δ(x + f)ₖ. If the energy is higher there than the last iterate's, that is taken back: the
// iteration then begins at x + f, and the pulls there are made by the rows themselves. That is three times the work of a local step, but
// rare; passes of their own would be waited for in every iteration.
@group(0) @binding(13) var<storage, read_write> states: array<Anderson>;

// An energy that is higher by no more than this part is so by rounding.
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
        energies[energies_at(TAKEN_BACK, instance) + prism_groups() + workgroup.x] = energy_of[0];
    }
}

// Whether the energy rose. Every workgroup adds up for itself, in the same order; the first of an instance writes it down.
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
            states[own].taken_back = 1u;
            states[own].taken_back_so_far += 1u;
        }
    }
}

fn mixed_place(instance: u32, row: u32) -> vec3f {
    let own = state_at(instance, turn.iteration);
    var place = memory[remembered_at(PLAIN, instance, row)].xyz;
    for (var k = 0u; k < states[own].count; k++) {
        place -= states[own].gamma[k] * memory[remembered_at(DIFFERENCES + dims.memory + k, instance, row)].xyz;
    }
    return place;
}

fn plain_place(instance: u32, row: u32) -> vec3f {
    return memory[remembered_at(PLAIN, instance, row)].xyz;
}

// A row with the pulls of the prisms around it at x + f. Returns the energy of its inertia, and of the prisms whose first corner it is.
fn gather_anew(instance: u32, row: u32) -> f32 {
    var pull = vec3f();
    var energy = 0.0;
    let end = link(row + 1u);
    for (var k = link(row); k < end; k++) {
        let place = link(k);
        let corner = place / dims.prism_stride;
        let of_prism = pull_on(instance, place % dims.prism_stride, corner);
        pull += of_prism.xyz;
        energy += select(0.0, of_prism.w, corner == 0u);
    }
    return begin_row(instance, row, plain_place(instance, row), pull) + energy;
}

// The pull of a prism on one of its skin points, as the local step makes it, and the energy of the prism.
fn pull_on(instance: u32, prism: u32, corner: u32) -> vec4f {
    let group = prism / PRISMS;
    let lane = prism % PRISMS;
    var a = vec3f();
    var b = plain_place(instance, chain_point(group, lane));
    var c = plain_place(instance, chain_point(group, PRISMS + lane));
    var d = plain_place(instance, chain_point(group, 2u * PRISMS + lane));
    var edges = mat3x3f();
    var energy = 0.0;
    for (var tet = 0u; tet < 3u; tet++) {
        a = b;
        b = c;
        c = d;
        d = base_point(instance, group, tet * PRISMS + lane);
        let own = pull_of(group, tet * PRISMS + lane, a, b, c, d);
        energy += own.energy;
        // Tet t begins at point t; edges behind the third one do not end at a skin point.
        if tet == 0u {
            edges = own.columns;
        } else if tet == 1u {
            edges[1] += own.columns[0];
            edges[2] += own.columns[1];
        } else {
            edges[2] += own.columns[0];
        }
    }
    var force = edges[0];
    if corner == 1u {
        force = edges[1] - edges[0];
    } else if corner == 2u {
        force = edges[2] - edges[1];
    }
    return vec4f(force, energy);
}
