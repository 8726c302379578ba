// Forces of a tet along its edges.
override VOLUME: bool = false;

@group(0) @binding(5) var<storage, read> base: array<vec4f>;

struct Pull {
    // One value per edge along the chain.
    columns: mat3x3f,
    energy: f32,
}

// With E the edges of the tet from a to d and F = E Ē⁻¹: the columns of w (F − R) Ē⁻ᵀ, and w/2 (‖F − R‖² + volume ‖F − F*‖²).
fn pull_of(group: u32, tet: u32, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Pull {
    let weight = element(group, tet, 9u);
    if weight <= 0.0 {
        return Pull();
    }
    let rest_inverse = mat3x3f(
        element(group, tet, 0u), element(group, tet, 1u), element(group, tet, 2u),
        element(group, tet, 3u), element(group, tet, 4u), element(group, tet, 5u),
        element(group, tet, 6u), element(group, tet, 7u), element(group, tet, 8u),
    );
    let f = mat3x3f(b - a, c - b, d - c) * rest_inverse;
    let strain = f - closest_rotation(f);
    var stress = strain;
    var energy = norm2(strain);
    if VOLUME {
        let bulge = f - project_volume(f);
        stress = stress + bulge * motion.volume;
        energy += motion.volume * norm2(bulge);
    }
    return Pull((stress * weight) * transpose(rest_inverse), 0.5 * weight * energy);
}

// A point of a chain: the prescribed position, or the unknown's in this iteration.
fn place_of(instance: u32, point: u32) -> vec3f {
    if (point & PRESCRIBED) != 0u {
        return base[instance * dims.base_stride + (point ^ PRESCRIBED)].xyz;
    }
    return unknown_place(instance, point);
}
