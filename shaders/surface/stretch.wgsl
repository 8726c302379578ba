// Stretches and turns of a vector.

// A symmetric matrix, given by its diagonal and its xy, xz, yz, times a vector.
fn stretched(diagonal: vec3<f32>, beside: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    return diagonal * v + vec3(
        beside.x * v.y + beside.y * v.z,
        beside.x * v.x + beside.z * v.z,
        beside.y * v.x + beside.z * v.y,
    );
}

// The vector turned by a quaternion of length 1.
fn turned(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w);
}
