// The local step: for every tet the closest rotation, for every prism the pulls towards it on its three skin points. The twin of
// dynamics/local.rs.
//
// A prism is a chain of six points; tet t is made of the points t … t + 3. A workgroup has 32 prisms, a thread one tet: thread
// 32 t + p works on tet t of prism p, and on the t-th skin and base point of its chain.

override ENERGY: bool = false;

// Instances: pulls on the first, second, third skin point of all prisms.
@group(0) @binding(6) var<storage, read_write> forces: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

var<workgroup> points: array<vec3f, 192>;
var<workgroup> pulls: array<vec3f, 192>;
var<workgroup> energy_of: array<f32, TETS>;

// All of it, where the thread's skin point is at `corner`.
fn local_step(group: u32, instance: u32, thread: u32, corner: vec3f) {
    points[thread] = corner;
    points[TETS + thread] = base_point(instance, group, thread);
    workgroupBarrier();
    let energy = pull(group, thread);
    workgroupBarrier();
    // Only the edges that end at a skin point pull on one.
    let prism = thread % PRISMS;
    let edge0 = pulls[prism];
    let edge1 = pulls[PRISMS + prism] + pulls[3u * PRISMS + prism];
    let edge2 = pulls[2u * PRISMS + prism] + pulls[4u * PRISMS + prism] + pulls[5u * PRISMS + prism];
    let corner_index = thread / PRISMS;
    var force = edge0;
    if corner_index == 1u {
        force = edge1 - edge0;
    } else if corner_index == 2u {
        force = edge2 - edge1;
    }
    forces[(3u * instance + corner_index) * dims.prism_stride + group * PRISMS + prism] = vec4f(force, 0.0);
    if ENERGY {
        add_energies(thread, energy, energies_at(turn.iteration & 1u, instance) + group);
    }
}

// Returns the energy of the thread's tet.
fn pull(group: u32, thread: u32) -> f32 {
    let tet = thread / PRISMS;
    let prism = thread % PRISMS;
    let first = points[thread];
    let own = pull_of(group, thread, first, points[thread + PRISMS], points[thread + 2u * PRISMS], points[thread + 3u * PRISMS]);
    // Places 0 1 2 are of the first tet's edges, 3 4 of the second's, 5 of the third's.
    if tet == 0u {
        pulls[prism] = own.columns[0];
        pulls[PRISMS + prism] = own.columns[1];
        pulls[2u * PRISMS + prism] = own.columns[2];
    } else if tet == 1u {
        pulls[3u * PRISMS + prism] = own.columns[0];
        pulls[4u * PRISMS + prism] = own.columns[1];
    } else {
        pulls[5u * PRISMS + prism] = own.columns[0];
    }
    return own.energy;
}

// Writes the sum of what all threads of the workgroup have.
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
