// At x + f of the last iteration.
@group(0) @binding(8) var<storage, read> increment: array<vec4f>;

@compute @workgroup_size(64)
fn gather_plain(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = row_at(workgroup.y, workgroup.x * ROWS + thread);
    gather(workgroup.x, workgroup.y, thread, x[i].xyz + increment[i].xyz, turn.iteration & 1u);
}
