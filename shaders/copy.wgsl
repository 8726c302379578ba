// Copies a buffer, to measure how fast memory is.
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<f32>>;

@compute @workgroup_size(256)
fn copy_buffer(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
    let count = arrayLength(&source);
    for (var k = id.x; k < count; k += 256u * workgroups.x) {
        copied[k] = source[k];
    }
}
