@group(0) @binding(0) var<storage, read> inverse: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> increment: array<vec4f>;

override COUNT: u32;
override STRIDE: u32;

@compute @workgroup_size(64)
fn dense(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= COUNT {
        return;
    }
    var sum = vec4f();
    for (var k = 0u; k < COUNT; k++) {
        // The inverse is symmetric: neighbours read neighbours.
        sum += inverse[k * COUNT + id.x] * b[id.y * STRIDE + k];
    }
    increment[id.y * STRIDE + id.x] = sum;
}
