// Contacts of the instances; the twin of dynamics/contact_equations.rs.
struct PressDims {
    row_stride: u32,
    contact_stride: u32,
    matrix_stride: u32,
    spread_stride: u32,
}

struct PressContact {
    // The vertex and the corners of the triangle.
    rows: vec4<u32>,
    // u: 1 and minus the barycentric coordinates.
    weights: vec4<f32>,
    // Normal, and the gap that it holds.
    normal_target: vec4<f32>,
    // How stiffly it holds it.
    stiffness: f32,
    unused_a: f32,
    unused_b: f32,
    unused_c: f32,
}

// Contacts of an instance at most; the same number is in gpu/flesh/press.rs.
const MOST: u32 = 2048u;
// Words before an instance's list of touched rows.
const HEADER: u32 = 4u;
