// Takes an accelerated iterate back whose energy is higher than the last one's: the local step once more, at x + f of the last
// iteration. Where the energy fell, all threads leave at once.
@group(0) @binding(12) var<storage, read> memory: array<vec4f>;
@group(0) @binding(13) var<storage, read_write> states: array<Anderson>;

// An energy that is higher by no more than this part is so by rounding.
const ENERGY_TOLERANCE: f32 = 1e-5;

var<workgroup> rose: u32;

@compute @workgroup_size(96)
fn local_again(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let own = state_at(instance, turn.iteration);
    var energy = 0.0;
    for (var k = thread; k < energy_count(); k += TETS) {
        energy += energies[energies_at(turn.iteration & 1u, instance) + k];
    }
    energy_of[thread] = energy;
    for (var half = 64u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half && thread + half < TETS {
            energy_of[thread] += energy_of[thread + half];
        }
    }
    if thread == 0u {
        let last = states[own].energy;
        rose = select(0u, 1u, energy_of[0] > last + ENERGY_TOLERANCE * abs(last) + motion.energy_floor);
        if rose == 1u && workgroup.x == 0u {
            states[own].taken_back = 1u;
            states[own].taken_back_so_far += 1u;
        }
    }
    if workgroupUniformLoad(&rose) == 0u {
        return;
    }
    let row = skin_row(workgroup.x, thread);
    local_step(workgroup.x, instance, thread, memory[remembered_at(PLAIN, instance, row)].xyz, TAKEN_BACK);
}
