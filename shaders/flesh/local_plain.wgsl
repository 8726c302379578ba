// The local step at x + f, where the last iteration would go.
@group(0) @binding(7) var<storage, read> x: array<vec4f>;
@group(0) @binding(8) var<storage, read> increment: array<vec4f>;

@compute @workgroup_size(96)
fn local_plain(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = row_at(workgroup.y, chain_point(workgroup.x, thread));
    local_step(workgroup.x, workgroup.y, thread, x[i].xyz + increment[i].xyz);
}
