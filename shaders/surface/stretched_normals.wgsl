// Normals under stretches, given by their diagonal and their xy, xz, yz.

// The unit image of a normal under a stretch.
fn unit_stretched(diagonal: vec3<f32>, beside: vec3<f32>, n: vec3<f32>) -> vec3<f32> {
    return unit_cofactor(
        vec3(diagonal.x, beside.x, beside.y),
        vec3(beside.x, diagonal.y, beside.z),
        vec3(beside.y, beside.z, diagonal.z),
        n,
    );
}

// 2 Im(b ā) of quaternions.
fn twice_imag(a: vec4<f32>, b: vec4<f32>) -> vec3<f32> {
    return 2.0 * (b.xyz * a.w - a.xyz * b.w + cross(a.xyz, b.xyz));
}
