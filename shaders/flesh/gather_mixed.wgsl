// Where the acceleration goes: x + f − Σ γₖ Δ(x + f)ₖ.
@group(0) @binding(13) var<storage, read> states: array<Anderson>;

@compute @workgroup_size(64)
fn gather_mixed(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let row = workgroup.x * ROWS + thread;
    let own = state_at(instance, turn.iteration);
    var place = memory[remembered_at(PLAIN, instance, row)].xyz;
    for (var k = 0u; k < states[own].count; k++) {
        place -= states[own].gamma[k] * memory[remembered_at(DIFFERENCES + dims.memory + k, instance, row)].xyz;
    }
    gather(workgroup.x, instance, thread, place, turn.iteration & 1u);
}
