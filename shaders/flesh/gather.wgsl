// b = M/h² (y − x) + the pulls of all prisms around a row, in the order of the prisms; x where the iteration begins. The twin of
// dynamics/rows.rs.

override ENERGY: bool = false;

@group(0) @binding(6) var<storage, read> forces: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> b: array<vec4f>;
// Per row: the bits of inertia, heaviness and kept, and its base point, which is none of a row's where it is carried.
@group(0) @binding(10) var<storage, read> rows: array<vec4u>;
// Where the list of each row begins, and the end; then where in an instance's forces the pulls on it are.
@group(0) @binding(11) var<storage, read> links: array<u32>;
@group(0) @binding(12) var<storage, read> memory: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

var<workgroup> energy_of: array<f32, ROWS>;

fn gather(group: u32, instance: u32, thread: u32, place: vec3f, region: u32) {
    let row = group * ROWS + thread;
    var energy = 0.0;
    if row < dims.rows {
        energy = gather_row(instance, row, place);
    }
    if ENERGY {
        energy_of[thread] = energy;
        for (var half = ROWS / 2u; half > 0u; half >>= 1u) {
            workgroupBarrier();
            if thread < half {
                energy_of[thread] += energy_of[thread + half];
            }
        }
        if thread == 0u {
            energies[energies_at(region, instance) + prism_groups() + group] = energy_of[0];
        }
    }
}

// Returns the energy of inertia.
fn gather_row(instance: u32, row: u32, place: vec3f) -> f32 {
    let i = row_at(instance, row);
    let goal = memory[remembered_at(GOAL, instance, row)].xyz;
    if rows[row].w >= dims.rows {
        x[i] = vec4f(goal, 0.0);
        b[i] = vec4f();
        return 0.0;
    }
    let way = goal - place;
    let inertia = bitcast<f32>(rows[row].x);
    var pull = way * inertia;
    let energy = 0.5 * dot(pull, way);
    let end = links[row + 1u];
    for (var k = links[row]; k < end; k++) {
        pull += forces[3u * dims.prism_stride * instance + links[k]].xyz;
    }
    x[i] = vec4f(place, 0.0);
    b[i] = vec4f(pull, 0.0);
    return energy;
}
