// Normals from the transforms of joints (src/methods/blend_normals/mod.rs). The part before says how the method deforms: the images of the
// tangents, of the normal under the blend with constant weights, and of the normal under the strongest joint.

// Whether from the images of the tangents; else from the blend with constant weights.
override EXACT: bool = true;

// Squared sine of the angle between two tangents below which they span no plane.
const PARALLEL: f32 = 1e-11;

fn normal_of(vertex: u32, instance: u32) -> vec3<f32> {
    let own = vertices[vertex];
    var normal = own.normal;
    if own.first != UNMOVED {
        if EXACT {
            let tangents = deformed_tangents(vertex, own, instance);
            let across = cross(unit_or_zero(tangents.u), unit_or_zero(tangents.v));
            if dot(across, across) > PARALLEL {
                return normalize(across);
            }
        }
        normal = blended_normal(own, instance);
        // Opposite unit vectors leave some rounding behind.
        if !(length(normal) > 1e-4) {
            normal = strongest_normal(own, instance);
        }
    }
    let unit = unit_or_zero(normal);
    return select(unit, vec3(0.0, 1.0, 0.0), all(unit == vec3(0.0)));
}

@compute @workgroup_size(64)
fn write_blend_normals(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let n = normal_of(id.x, id.y);
    let at = (id.y * dims.vertices + id.x) * 3u;
    normals[at] = n.x;
    normals[at + 1u] = n.y;
    normals[at + 2u] = n.z;
}
