// The local step: for every tet the closest rotation, for every chain the forces on its unknowns. GPU version of
// dynamics/local.rs.
//
// A chain has six points; tet t has the points t … t + 3. A workgroup has 32 chains and one thread per tet: thread 32 t + c
// computes tet t of chain c, and the points t and t + 3 of it.

override ENERGY: bool = false;

// For each instance: forces on the first, second, … point of all chains, for as many points as may be unknown.
@group(0) @binding(6) var<storage, read_write> forces: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

var<workgroup> points: array<vec3f, 192>;
// The three columns of the first, second, third tet of all chains.
var<workgroup> pulls: array<vec3f, 288>;
var<workgroup> energy_of: array<f32, TETS>;

fn local_step(group: u32, instance: u32, thread: u32) {
    points[thread] = place_of(instance, chain_point(group, thread));
    points[TETS + thread] = place_of(instance, chain_point(group, TETS + thread));
    workgroupBarrier();
    let energy = pull(group, thread);
    workgroupBarrier();
    let chain = thread % CHAINS;
    for (var point = thread / CHAINS; point < dims.pulled; point += 3u) {
        let force = edge_pull(point, chain) - select(vec3f(), edge_pull(point - 1u, chain), point > 0u);
        forces[(dims.pulled * instance + point) * dims.chain_stride + group * CHAINS + chain] = vec4f(force, 0.0);
    }
    if ENERGY {
        add_energies(thread, energy, energies_at(turn.iteration & 1u, instance) + group);
    }
}

// Sum of all tets' forces of a chain along its edge from this point to the next.
fn edge_pull(edge: u32, chain: u32) -> vec3f {
    var sum = vec3f();
    for (var tet = 0u; tet < 3u; tet++) {
        if tet <= edge && edge < tet + 3u {
            sum += pulls[(2u * tet + edge) * CHAINS + chain];
        }
    }
    return sum;
}

// Returns the energy of the thread's tet.
fn pull(group: u32, thread: u32) -> f32 {
    let tet = thread / CHAINS;
    let chain = thread % CHAINS;
    var own = pull_of(group, thread, points[thread], points[thread + CHAINS], points[thread + 2u * CHAINS], points[thread + 3u * CHAINS]);
    for (var k = 0u; k < 3u; k++) {
        pulls[(3u * tet + k) * CHAINS + chain] = own.columns[k];
    }
    return own.energy;
}

// Writes the sum over all threads of the workgroup.
fn add_energies(thread: u32, energy: f32, place: u32) {
    workgroupBarrier();
    energy_of[thread] = energy;
    for (var half = 64u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half && thread + half < TETS {
            energy_of[thread] += energy_of[thread + half];
        }
    }
    if thread == 0u {
        energies[place] = energy_of[0];
    }
}
