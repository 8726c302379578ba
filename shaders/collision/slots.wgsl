// A contact of a vertex, kept from step to step; the last ones of a vertex may be absent.
struct Slot {
    // Barycentric coordinates of the contact point.
    weights: vec3f,
    // NONE if the slot is empty.
    triangle: u32,
    // Unit normal, away from the triangle.
    normal: vec3f,
    load: f32,
    // Normal distance of the vertex from the contact point, world units.
    gap: f32,
    // Its number among the contacts of the last step; NONE before the first one.
    index: u32,
    unused_a: u32,
    unused_b: u32,
}
