// The point of the skin closest to a vertex, by local search over the surface: collision/closest_point.rs.
@group(0) @binding(5) var<storage, read> x: array<vec4f>;
@group(0) @binding(6) var<storage, read> posed: array<PosedRow>;

// Largest number of steps of a search.
const MAX_STEPS: u32 = 24u;

struct Closest {
    triangle: u32,
    weights: vec3f,
    // From the query point.
    offset: vec3f,
    distance2: f32,
}

// Barycentric coordinates of the point of a triangle closest to the origin (Ericson, "Real-Time Collision Detection", 5.1.5).
fn closest_to_origin(a: vec3f, b: vec3f, c: vec3f) -> vec3f {
    let ab = b - a;
    let ac = c - a;
    let d1 = -dot(ab, a);
    let d2 = -dot(ac, a);
    if d1 <= 0.0 && d2 <= 0.0 {
        return vec3f(1.0, 0.0, 0.0);
    }
    let d3 = -dot(ab, b);
    let d4 = -dot(ac, b);
    if d3 >= 0.0 && d4 <= d3 {
        return vec3f(0.0, 1.0, 0.0);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = quotient(d1, d1 - d3);
        return vec3f(1.0 - t, t, 0.0);
    }
    let d5 = -dot(ab, c);
    let d6 = -dot(ac, c);
    if d6 >= 0.0 && d5 <= d6 {
        return vec3f(0.0, 0.0, 1.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = quotient(d2, d2 - d6);
        return vec3f(1.0 - t, 0.0, t);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = quotient(d4 - d3, (d4 - d3) + (d5 - d6));
        return vec3f(0.0, 1.0 - t, t);
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        return vec3f(va, vb, vc) / sum;
    }
    return vec3f(1.0, 0.0, 0.0);
}

fn quotient(a: f32, b: f32) -> f32 {
    return select(0.0, a / b, b != 0.0);
}

fn closest_on(triangle: u32, p: vec3f) -> Closest {
    let corners = corners_of(triangle);
    let a = x[corners.x].xyz - p;
    let b = x[corners.y].xyz - p;
    let c = x[corners.z].xyz - p;
    let weights = closest_to_origin(a, b, c);
    let offset = a * weights.x + b * weights.y + c * weights.z;
    return Closest(triangle, weights, offset, dot(offset, offset));
}

// The one of two that is closer, if the other may be stepped to.
fn closer(best: Closest, candidate: u32, p: vec3f, row: u32, restricted: bool) -> Closest {
    let found = closest_on(candidate, p);
    if found.distance2 < best.distance2 * (1.0 - 1e-6) && (!restricted || may_collide(row, candidate)) {
        return found;
    }
    return best;
}

// Local search from a triangle. With `restricted` only triangles that may collide with the vertex are stepped to.
fn closest_from(p: vec3f, start: u32, row: u32, restricted: bool) -> Closest {
    var best = closest_on(start, p);
    for (var step = 0u; step < MAX_STEPS; step++) {
        let here = best.triangle;
        let zero = best.weights <= vec3f();
        let zeros = select(0u, 1u, zero.x) + select(0u, 1u, zero.y) + select(0u, 1u, zero.z);
        if zeros == 2u {
            let corners = corners_of(here);
            let corner = select(select(corners.z, corners.y, !zero.y), corners.x, !zero.x);
            for (var k = tables[dims.fans_at + corner]; k < tables[dims.fans_at + corner + 1u]; k++) {
                if tables[k] != here {
                    best = closer(best, tables[k], p, row, restricted);
                }
            }
        } else if zeros == 1u {
            // Corner 0 is opposite to the edge (1, 2), and so on.
            let across = neighbor_of(here, select(select(0u, 2u, zero.y), 1u, zero.x));
            if across != NONE {
                best = closer(best, across, p, row, restricted);
            }
        }
        if best.triangle == here {
            break;
        }
    }
    return best;
}

// Unit normal at a point of a triangle, interpolated between the vertex normals.
fn smooth_normal(triangle: u32, weights: vec3f) -> vec3f {
    let corners = corners_of(triangle);
    let sum = unit_or_zero(posed[corners.x].normal.xyz, 1e-30) * max(weights.x, 0.0)
        + unit_or_zero(posed[corners.y].normal.xyz, 1e-30) * max(weights.y, 0.0)
        + unit_or_zero(posed[corners.z].normal.xyz, 1e-30) * max(weights.z, 0.0);
    let norm = length(sum);
    if norm > 1e-6 {
        return sum / norm;
    }
    let a = x[corners.x].xyz;
    let flat = cross(x[corners.y].xyz - a, x[corners.z].xyz - a);
    let area = length(flat);
    return select(vec3f(0.0, 1.0, 0.0), flat / max(area, 1e-30), area > 1e-30);
}
