// End of a step: the gaps that the next one continues from, and what is reported.
@group(0) @binding(5) var<storage, read> x: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(11) var<storage, read> loads: array<f32>;
@group(0) @binding(12) var<storage, read> contacts: array<KernelContact>;
@group(0) @binding(13) var<storage, read> header: array<u32>;

@compute @workgroup_size(256)
fn end_contacts(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= header[0] {
        return;
    }
    let contact = contacts[id.x];
    var apart = vec3f();
    for (var k = 0u; k < 4u; k++) {
        apart += contact.weights[k] * x[contact.rows[k]].xyz;
    }
    let gap = dot(contact.normal_target.xyz, apart);
    slots[contact.slot].gap = gap;
    atomicMax(&statistics[0].deepest, bitcast<u32>(max(-gap, 0.0)));
    atomicAdd(&statistics[0].pressing, select(0u, 1u, loads[id.x] > 0.0));
}
