// Contacts of the instances; GPU version of dynamics/contact_equations.rs.
struct ContactKernelDims {
    row_stride: u32,
    contact_stride: u32,
    matrix_stride: u32,
    spread_stride: u32,
}

struct KernelContact {
    // The vertex and the corners of the triangle.
    rows: vec4<u32>,
    // u: 1 and minus the barycentric coordinates.
    weights: vec4<f32>,
    // Normal, and the target gap.
    normal_target: vec4<f32>,
    // Stiffness.
    stiffness: f32,
    // Number of contacts of the instance; set in its first contact only.
    count: u32,
    // Where the device keeps the contact between steps, if it found it.
    slot: u32,
    unused: u32,
}

// Maximum number of contacts per instance; equal to the constant in gpu/flesh/press.
const MOST: u32 = 2048u;
// Words in front of an instance's list of touched rows.
const HEADER: u32 = 4u;

// w/2 max(0, target − gap)² of a contact with this vector from triangle to vertex.
fn contact_energy(contact: KernelContact, apart: vec3f) -> f32 {
    let missing = max(contact.normal_target.w - dot(contact.normal_target.xyz, apart), 0.0);
    return 0.5 * contact.stiffness * missing * missing;
}
