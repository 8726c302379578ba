// Transforms of the palette: the rows of 3 × 4 matrices.

// The image of a point (w = 1) or of a vector (w = 0) under the transform whose rows begin there.
fn moved_by(at: u32, p: vec4<f32>) -> vec3<f32> {
    return vec3(dot(palette[at], p), dot(palette[at + 1u], p), dot(palette[at + 2u], p));
}
