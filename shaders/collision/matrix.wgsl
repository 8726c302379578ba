// S + W⁻¹ of the contacts, from the inverse of the system's matrix: S = Nᵀ Uᵀ P⁻¹ U N.
@group(0) @binding(12) var<storage, read> contacts: array<KernelContact>;
@group(0) @binding(13) var<storage, read> header: array<u32>;
@group(0) @binding(14) var<storage, read> inverse: array<f32>;
@group(0) @binding(15) var<storage, read_write> matrix: array<f32>;

@compute @workgroup_size(256)
fn assemble(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    let count = header[0];
    let all = count * count;
    for (var entry = id.x; entry < all; entry += 256u * workgroups.x) {
        let a = entry / count;
        let b = entry % count;
        let of_b = contacts[b];
        let rows = contacts[a].rows;
        let weights = contacts[a].weights;
        var sum = 0.0;
        for (var k = 0u; k < 4u; k++) {
            let at = rows[k] * dims.rows;
            let line = vec4f(inverse[at + of_b.rows.x], inverse[at + of_b.rows.y], inverse[at + of_b.rows.z], inverse[at + of_b.rows.w]);
            sum += weights[k] * dot(line, of_b.weights);
        }
        sum *= dot(contacts[a].normal_target.xyz, of_b.normal_target.xyz);
        matrix[entry] = sum + select(0.0, 1.0 / of_b.stiffness, a == b);
    }
}
