// At x + f of the last iteration.
override ENERGY: bool = false;

@group(0) @binding(8) var<storage, read> increment: array<vec4f>;

@compute @workgroup_size(64)
fn gather_plain(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let row = workgroup.x * ROWS + thread;
    let i = row_at(instance, row);
    var energy = 0.0;
    if row < dims.rows {
        energy = gather_row(instance, row, x[i].xyz + increment[i].xyz);
    }
    if ENERGY {
        add_up(thread, energy);
        if thread == 0u {
            energies[energies_at(turn.iteration & 1u, instance) + chain_groups() + workgroup.x] = energy_of[0];
        }
    }
}
