// b = M/h² (y − x) + the forces of all chains around a row, in the order of the chains, where x is the iteration's start.
// GPU version of dynamics/rows.rs.

@group(0) @binding(6) var<storage, read> forces: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> b: array<vec4f>;
@group(0) @binding(12) var<storage, read> memory: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

var<workgroup> energy_of: array<f32, ROWS>;

// A row that starts at `place`, with the forces of the local step. Returns the energy of inertia.
fn gather_row(instance: u32, row: u32, place: vec3f) -> f32 {
    var pull = vec3f();
    let end = link(row + 1u);
    for (var k = link(row); k < end; k++) {
        pull += forces[dims.pulled * dims.chain_stride * instance + link(k)].xyz;
    }
    return begin_row(instance, row, place, pull);
}

// The same, with the forces of all chains.
fn begin_row(instance: u32, row: u32, place: vec3f, pull: vec3f) -> f32 {
    let i = row_at(instance, row);
    let goal = memory[remembered_at(GOAL, instance, row)];
    if goal.w < 0.0 {
        x[i] = vec4f(goal.xyz, 0.0);
        b[i] = vec4f();
        return 0.0;
    }
    x[i] = vec4f(place, 0.0);
    b[i] = vec4f((goal.xyz - place) * goal.w + pull, 0.0);
    return inertia_energy(goal, place);
}

// Sums over all threads of the workgroup into `energy_of[0]`, for the first one.
fn add_up(thread: u32, energy: f32) {
    workgroupBarrier();
    energy_of[thread] = energy;
    for (var half = ROWS / 2u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half {
            energy_of[thread] += energy_of[thread + half];
        }
    }
}
