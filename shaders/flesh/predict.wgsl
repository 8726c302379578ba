// Start of a step: rows move with the base and with their own velocity. GPU version of predict in
// dynamics/simulation/step.rs.
@group(0) @binding(5) var<storage, read> base: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> increment: array<vec4f>;
@group(0) @binding(10) var<storage, read> rows: array<vec4u>;
@group(0) @binding(12) var<storage, read_write> memory: array<vec4f>;
@group(0) @binding(13) var<storage, read_write> states: array<Anderson>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

// Upper bound of any norm and energy.
const NONE: f32 = 1e37;

@compute @workgroup_size(64)
fn predict(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    let instance = id.y;
    if row == 0u {
        begin(instance);
    }
    if row >= dims.rows {
        return;
    }
    let point = rows[row].w & ~CARRIED;
    let place = base[instance * dims.base_stride + point].xyz;
    let i = row_at(instance, row);
    let h = motion.step_secs;
    let before = x[i].xyz;
    let along = place - memory[remembered_at(BASE, instance, row)].xyz;
    let way = memory[remembered_at(VELOCITY, instance, row)].xyz * h;
    let own = way - memory[remembered_at(BASE_VELOCITY, instance, row)].xyz * h;
    var goal = before + way + motion.gravity * bitcast<f32>(rows[row].y);
    var now = before + (along + own);
    var inertia = bitcast<f32>(rows[row].x);
    if (rows[row].w & CARRIED) != 0u {
        goal = place;
        now = place;
        inertia = -1.0;
    }
    memory[remembered_at(BEFORE, instance, row)] = vec4f(before, 0.0);
    memory[remembered_at(GOAL, instance, row)] = vec4f(goal, inertia);
    memory[remembered_at(BASE, instance, row)] = vec4f(place, 0.0);
    memory[remembered_at(BASE_VELOCITY, instance, row)] = vec4f(along * (1.0 / h), 0.0);
    x[i] = vec4f(now, 0.0);
    increment[i] = vec4f();
}

fn begin(instance: u32) {
    let state = state_at(instance, 0u);
    states[state].count = 0u;
    states[state].slot = 0u;
    states[state].started = 0u;
    states[state].rejected = 0u;
    states[state].rejected_so_far = 0u;
    states[state].norm = NONE;
    states[state].energy = NONE;
    // Without contacts no contact energy is written.
    energies[instance] = 0.0;
    for (var region = 0u; region < TAKEN_BACK; region++) {
        energies[energies_at(region, instance) + energy_count() - 1u] = 0.0;
    }
    atomicStore(&statistics[instance].farthest, 0u);
    atomicStore(&statistics[instance].last_change, 0u);
    atomicStore(&statistics[instance].rejected, 0u);
    atomicStore(&statistics[instance].watched, 0u);
    atomicStore(&statistics[instance].pressing, 0u);
    atomicStore(&statistics[instance].deepest, 0u);
}
