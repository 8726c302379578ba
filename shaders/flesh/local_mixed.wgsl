// The local step at the accelerated iterate, and all energies there. `add_contacts` adds the contact energy.
@group(0) @binding(12) var<storage, read> memory: array<vec4f>;
@group(0) @binding(13) var<storage, read> states: array<Anderson>;

fn unknown_place(instance: u32, row: u32) -> vec3f {
    return mixed_place(instance, row);
}

@compute @workgroup_size(96)
fn local_mixed(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    local_step(workgroup.x, instance, thread);
    // Groups of rows are distributed over workgroups.
    for (var rows = workgroup.x; rows < row_groups(); rows += chain_groups()) {
        let row = rows * ROWS + thread;
        var energy = 0.0;
        if thread < ROWS && row < dims.rows {
            energy = inertia_energy(memory[remembered_at(GOAL, instance, row)], mixed_place(instance, row));
        }
        add_energies(thread, energy, energies_at(turn.iteration & 1u, instance) + chain_groups() + rows);
    }
    add_contacts(workgroup.x, instance, thread);
}
