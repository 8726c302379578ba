// At x + f of the last iteration, if this iteration's iterate was taken back.
@group(0) @binding(13) var<storage, read> states: array<Anderson>;

@compute @workgroup_size(64)
fn gather_again(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let row = workgroup.x * ROWS + thread;
    if thread == 0u {
        taken_back = states[state_at(instance, turn.iteration)].taken_back;
    }
    if workgroupUniformLoad(&taken_back) == 0u {
        return;
    }
    gather(workgroup.x, instance, thread, memory[remembered_at(PLAIN, instance, row)].xyz, TAKEN_BACK);
}

var<workgroup> taken_back: u32;
