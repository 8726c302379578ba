// The local step at x + f, the unaccelerated iterate.
@group(0) @binding(7) var<storage, read> x: array<vec4f>;
@group(0) @binding(8) var<storage, read> increment: array<vec4f>;

@compute @workgroup_size(96)
fn local_plain(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    local_step(workgroup.x, workgroup.y, thread);
}

fn unknown_place(instance: u32, row: u32) -> vec3f {
    let i = row_at(instance, row);
    return x[i].xyz + increment[i].xyz;
}
